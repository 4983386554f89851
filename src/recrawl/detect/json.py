"""JSON: the order of members, white space and the spelling of numbers carry no meaning; all else does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from recrawl.detect import trees
from recrawl.detect.masks import Masks
from recrawl.detect.numbers import spelt
from recrawl.detect.paths import GONE, cut
from recrawl.detect.places import Pair
from recrawl.detect.places import parts as parts_of
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.structured import Differences, Form, Structured, Style, counted, hashed
from recrawl.model import Part, Snapshot
from recrawl.parse import charset

_LONG = 300  # digits
_DEEPEST = 500  # beyond it Python's own recursion limit is near


class Number(NamedTuple):
    """A number by its value: 1, 1.0 and 10e-1 are one, and no digit is lost."""

    text: str


@dataclass(frozen=True)
class Document:
    value: Any  # what counts of it; `GONE` where nothing does
    masks: Masks

    @cached_property
    def masked(self) -> Any:
        return trees.masked(self.value, self.masks, text) if self.masks else self.value


def Json() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `json`."""
    return Structured("json", Form(read, digest, differences, parts, empty, texts))


def read(snapshot: Snapshot) -> Document:
    value = parsed(bytes(snapshot.body), snapshot.charset)
    lens = snapshot.lens
    include, ignore = (
        tuple(selector.expression for selector in speaking(rules, Language.JSON))
        for rules in (lens.include, lens.ignore)
    )
    return Document(cut(value, _plain, trees.labels, include=include, ignore=ignore), Masks(lens.masks))


def texts(document: Document) -> Iterator[str]:
    return _strings(document.masked)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for item in value.values():
                yield from _strings(item)
        case list():
            for item in value:
                yield from _strings(item)
        case str():
            yield value


def digest(document: Document) -> str:
    value = document.masked
    return hashed(["" if value is GONE else canonical(value)])


def differences(before: Document, after: Document, style: Style) -> Differences:
    old, new = before.masked, after.masked
    n_changed = n_added = n_removed = 0
    changed, added, removed = [], [], []
    for step in trees.steps(old, new):
        where = style.clipped(step.exact)
        if step.before is GONE:
            n_added += trees.n_leaves(step.after)
            added.append(f"{style.added}{where}: {style.clipped(canonical(step.after))}")
        elif step.after is GONE:
            n_removed += trees.n_leaves(step.before)
            removed.append(f"{style.removed}{where}: {style.clipped(canonical(step.before))}")
        else:
            n_changed += 1
            changed.append(style.change(where, canonical(step.before), canonical(step.after)))
    lines = [*changed, *added, *removed]
    n_both = trees.n_leaves(old) + trees.n_leaves(new)
    return Differences(
        counts=(
            *counted(n_changed, "value", "values", "changed"),
            *counted(n_added, "value", "values", "added"),
            *counted(n_removed, "value", "values", "removed"),
        ),
        magnitude=min(1.0, (n_added + n_removed + 2 * n_changed) / max(n_both, 1)),
        lines=tuple(lines[: style.n_lines]),
        n_lines=len(lines),
        otherwise="the same values in another order",
    )


def parts(before: Document, after: Document) -> tuple[Part, ...]:
    return parts_of(_pairs(before.value, after.value))


def empty(document: Document) -> bool:
    """Whether no single value is left; brackets around nothing are nothing."""
    return document.value is GONE or not trees.holds_values(document.value)


def _pairs(old: Any, new: Any) -> Iterator[Pair]:
    """Of all single values. An element of an array that comes or goes is news and never noise."""
    for step in trees.steps(old, new, every=True):
        if step.before is GONE or step.after is GONE:
            if not step.element:
                for exact, general, value in trees.leaves(step):
                    said = None, text(value)
                    yield Pair(exact, general, *(said if step.before is GONE else reversed(said)))
        elif step.before == step.after or text(step.before) != text(step.after):
            yield Pair(step.exact, step.general, text(step.before), text(step.after))
        else:  # they differ in type alone
            yield Pair(step.exact, step.general, canonical(step.before), canonical(step.after))


def parsed(body: bytes, declared: str | None = None) -> Any:
    """The value in the document."""
    return json.loads(
        charset.text(body, declared or "utf-8").removeprefix("\ufeff"),
        parse_int=_integer,
        parse_float=_number,
        parse_constant=Number,
        object_pairs_hook=_members,
    )


def _integer(text: str) -> Number:
    """JSON knows one way to write most of them."""
    return Number(text) if len(text) < _LONG and text != "-0" else _number(text)


def _number(text: str) -> Number:
    return Number(spelt(text))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A member that is given again is kept too: which of them holds is anyone's guess."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    members.clear()
    n_given: Counter[str] = Counter()
    for name, item in pairs:
        label = name
        while label in members:
            n_given[name] += 1
            label = f"{name}#{n_given[name] + 1}"
        members[label] = item
    return members


def canonical(value: Any, depth: int = 0) -> str:
    """One text for one meaning."""
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        inner = [f"{encode_basestring(name)}:{canonical(value[name], depth + 1)}" for name in sorted(value)]
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ",".join([canonical(item, depth + 1) for item in value]) + "]"
    return json.dumps(value)


def text(value: Any) -> str:
    """A single value as a person would write it down, without quotes."""
    return value if isinstance(value, str) else canonical(value)


def _plain(value: Any) -> Any:
    """With numbers that can be compared."""
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case Number():
            try:
                return int(value.text)
            except ValueError:
                return float(value.text)
        case _:
            return value
