"""Which blank nodes of two graphs are the same, so that it can be told which statements differ.

The canonical names of RDFC-1.0 are no help here: one statement more may change them all. So nodes are matched
by what is said of them, at first by all of it, then by less and less. Every node has at most one
counterpart, so two graphs that differ also differ in their statements under these names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat

from pyoxigraph import DefaultGraph, Quad

from recrawl.parse.rdf import Statements

Statement = tuple[str, str, str, str]  # graph (empty: the default one), subject, predicate, object
_Names = dict[str, str]  # of matched nodes: the same in both graphs

_About = dict[str, list[Statement]]

_N_ROUNDS = 3
# How closely nodes are looked at: with literals or not, how many steps far, only at what leads to them.
_LEVELS = ((True, _N_ROUNDS, False), (False, _N_ROUNDS, False), (False, 1, True), (False, 0, False))
_N_STEPS = 20
_N_CLOSE = 30  # of so many that look alike, the nearest are found by trying all


@dataclass(frozen=True, slots=True)
class Difference:
    """Statements of one graph that are not in the other; `n` are those of both together. `held` tells of
    blank nodes in them which subject has them, and as what."""

    removed: set[Statement]
    added: set[Statement]
    n: int
    held: Mapping[str, tuple[str, str]]


def difference(before: Statements, after: Statements) -> Difference:
    ground, other_ground = before.ground, after.ground
    blank, other_blank = (list(dict.fromkeys(map(statement, side.blank))) for side in (before, after))
    removed = {statement(ground[line]) for line in ground.keys() - other_ground.keys()}
    added = {statement(other_ground[line]) for line in other_ground.keys() - ground.keys()}
    names, other_names = _matched(blank, other_blank)
    had, has = _renamed(blank, names), _renamed(other_blank, other_names)
    n = len(ground) + len(other_ground) + len(had) + len(has)
    removed |= had - has
    added |= has - had
    nodes = {term for found in (removed, added) for said in found for term in said if term.startswith("_:")}
    held: dict[str, tuple[str, str]] = {}
    for _, subject, predicate, term in chain(had, has) if nodes else ():
        if term in nodes:  # of several that have it, always the same one is named
            held[term] = min(held.get(term, (subject, predicate)), (subject, predicate))
    return Difference(removed, added, n, held)


def statement(quad: Quad) -> Statement:
    graph = "" if isinstance(quad.graph_name, DefaultGraph) else str(quad.graph_name)
    return graph, str(quad.subject), str(quad.predicate), str(quad.object)


def _renamed(statements: Iterable[Statement], names: Mapping[str, str]) -> set[Statement]:
    return {
        (names.get(graph, graph), names.get(subject, subject), predicate, names.get(term, term))
        for graph, subject, predicate, term in statements
    }


def _matched(before: list[Statement], after: list[Statement]) -> tuple[_Names, _Names]:
    """New names for the blank nodes of both: `_:1` … for those in both, others for the rest."""
    old, new = _about(before), _about(after)
    names: _Names = {}
    other_names: _Names = {}
    for level in _LEVELS:
        for step in range(_N_STEPS):
            if len(names) == min(len(old), len(new)):
                break
            alike, others = _alike(old, names, *level), _alike(new, other_names, *level)
            both = [(nodes, others[key]) for key, nodes in alike.items() if key in others]
            pairs = _certain(both, old) or _likely(both, old, new, only_one=step < _N_STEPS - 1)
            if not pairs:
                break
            for node, other in pairs:
                names[node] = other_names[other] = f"_:{len(names) + 1}"
    for kept, about, mark in ((names, old, "gone"), (other_names, new, "new")):
        for n, node in enumerate([node for node in about if node not in kept], start=1):
            kept[node] = f"_:{mark}{n}"
    return names, other_names


def _about(statements: Iterable[Statement]) -> _About:
    """What is said of every blank node."""
    about: dict[str, list[Statement]] = defaultdict(list)
    for said in statements:
        graph, subject, _, term = said
        if subject[:2] == "_:":
            about[subject].append(said)
        if term[:2] == "_:" and term != subject:
            about[term].append(said)
        if graph[:2] == "_:" and graph not in (subject, term):
            about[graph].append(said)
    return dict(about)


def _alike(
    about: _About, names: _Names, literals: bool, n_rounds: int, incoming: bool
) -> dict[int, list[str]]:
    """Nodes without a counterpart, by a digest of what is said of them so many steps far. Literals change
    most often: without them a node is known by what it is linked to.

    What is said of a node and of no other is the same in every round: it is looked at once.
    """
    alone: dict[str, int] = {}
    linked: dict[str, list[Statement]] = {}
    for node in about if n_rounds else ():
        if node in names:
            continue
        total, links = 0, []
        for said in about[node]:
            graph, subject, predicate, term = said
            if incoming and term != node:
                continue
            if graph[:2] == "_:" or (subject[:2] == "_:" and term[:2] == "_:"):
                links.append(said)
            elif subject == node:
                total += hash((graph, predicate, term if literals or term[0] != '"' else 2))
            else:
                total += hash((graph, subject, predicate))
        alone[node], linked[node] = total, links
    digests = {node: hash(name) for node, name in names.items()} | alone

    def named(term: str, node: str) -> object:
        return 0 if term == node else digests.get(term, 1) if term[:2] == "_:" else term

    for _ in range(n_rounds):
        digests |= {
            node: hash(
                (
                    alone[node],
                    sum(hash((named(g, node), named(s, node), p, named(o, node))) for g, s, p, o in links),
                )
            )
            for node, links in linked.items()
            if links
        }
    groups: dict[int, list[str]] = defaultdict(list)
    for node in about:
        if node not in names:
            groups[digests.get(node, 0)].append(node)
    return dict(groups)


def _certain(both: list[tuple[list[str], list[str]]], old: _About) -> list[tuple[str, str]]:
    """Pairs of which there is no doubt: nodes that look like one other each, and nodes that look like several
    but are linked to no other blank node, so that it is all the same which of them go together."""
    return [
        pair
        for nodes, others in both
        if len(nodes) == len(others) and (len(nodes) == 1 or not any(map(_linked, nodes, repeat(old))))
        for pair in zip(nodes, others, strict=True)
    ]


def _linked(node: str, about: _About) -> bool:
    return any(
        term[:2] == "_:" and term != node
        for graph, subject, _, object_ in about[node]
        for term in (graph, subject, object_)
    )


def _likely(
    both: list[tuple[list[str], list[str]]], old: _About, new: _About, only_one: bool
) -> list[tuple[str, str]]:
    """Pairs out of groups that look alike. One at a time is best: it makes others certain."""
    groups = both[:1] if only_one else both
    pairs = [pair for nodes, others in groups for pair in _nearest(nodes, others, old, new)]
    return pairs[:1] if only_one and pairs and _linked(pairs[0][0], old) else pairs


def _nearest(
    nodes: list[str], others: list[str], old: dict[str, list[Statement]], new: _About
) -> Iterable[tuple[str, str]]:
    """Pairs out of two groups that look alike: those that share most go together."""
    if max(len(nodes), len(others)) > _N_CLOSE or len(nodes) == len(others) == 1:
        return list(zip(nodes, others, strict=False))
    said = {node: {(p, o) for _, s, p, o in old[node] if s == node} for node in nodes}
    also = {node: {(p, o) for _, s, p, o in new[node] if s == node} for node in others}
    ranked = sorted(
        (
            (len(said[node] & also[other]), -i, -j)
            for i, node in enumerate(nodes)
            for j, other in enumerate(others)
        ),
        reverse=True,
    )
    taken: dict[int, int] = {}
    used: set[int] = set()
    for _, i, j in ranked:
        if -i not in taken and -j not in used:
            taken[-i] = -j
            used.add(-j)
    return [(nodes[i], others[j]) for i, j in taken.items()]
