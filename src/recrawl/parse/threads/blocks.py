"""Pages that nobody has described: posts are what repeats on them and has a time.

Elements that share a tag and a word of their class, or a tag and a parent, are a group. A group is one of
posts if most of its members tell a time and say something; of several the one counts that holds most of what
is said. Members may lie within each other, as answers do: each owns what is in it and in no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.parse.threads.boards import Row
from recrawl.parse.threads.drafts import MOST_POSTS, Draft, digest
from recrawl.parse.threads.elements import attribute
from recrawl.parse.threads.listings import listed
from recrawl.parse.threads.outline import Element, below, outline, step
from recrawl.parse.threads.roles import drafted

_TAGS = frozenset(
    {"article", "blockquote", "dd", "details", "div", "dl", "dt", "figure", "li", "p", "section", "table",
     "tbody", "td", "tr"}
)  # fmt: skip
_LEAST_SHARE = 0.6  # of a group that must tell a time
_LEAST_LIKENESS = 0.5  # of a group, in the parts that its members are made of
_CAP = 4.0  # one that says far more than the others counts for so many of them
_USUAL_TIMES = 2.0  # in one post: when it was said, and when it was edited
_ALIKE = 0.97  # groups that hold as much of the page: the outermost counts


@dataclass(frozen=True, slots=True)
class Block:
    """A post: one element, or several that stand in a row."""

    places: tuple[int, ...]
    inside: tuple[int, ...]  # all elements that it owns, its own places first


def drafts(root: LexborNode, url: str) -> list[Draft]:
    elements = outline(root)
    return drafted(elements, [block.inside for block in _best(elements, links=False)][:MOST_POSTS], url)


def following(before: str, text: str, url: str) -> list[Draft]:
    """Of a page that comes after another one of the same thread, and may show too little to repeat itself:
    what is made as the posts of the page before it are. Both are read as one."""
    mark = digest(before, text)  # no page holds a digest of itself
    root = LexborHTMLParser(f'{before}<hr id="{mark}">{text}').root
    elements = [] if root is None else outline(root)
    begins = (i for i, one in enumerate(elements) if one.tag == "hr" and attribute(one.node, "id") == mark)
    begin = next(begins, len(elements))
    blocks = _best(elements, links=False)[:MOST_POSTS]
    both = zip(blocks, drafted(elements, [block.inside for block in blocks], url), strict=True)
    return [draft for block, draft in both if block.places[0] > begin]


def rows(root: LexborNode, base: str) -> list[Row]:
    """Of a board that nobody has described: its threads are what is linked to beside a time."""
    elements = outline(root)
    return listed(elements, [block.inside for block in _best(elements, links=True)][:MOST_POSTS], base)


def _best(elements: Sequence[Element], *, links: bool) -> list[Block]:
    scored: list[tuple[float, int, list[tuple[int, ...]]]] = []
    for key, members in _groups(elements).items():
        # There are as many groups of siblings in a row as there are tags, and no more.
        for spans in _ways(elements, members, links, siblings=isinstance(key[1], int) and key[0] in _TAGS):
            score = _score(elements, spans, links)
            if score > 0:
                scored.append((score, elements[members[0]].depth, spans))
    if not scored:
        return []
    most = max(score for score, _, _ in scored)
    _, _, spans = min((one for one in scored if one[0] >= _ALIKE * most), key=lambda one: (one[1], -one[0]))
    return _owned(elements, spans)


def _groups(elements: Sequence[Element]) -> dict[tuple[object, ...], list[int]]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, one in enumerate(elements):
        if not one.n_times or one.mute or (one.tag not in _TAGS and "-" not in one.tag):
            continue
        for word in one.words:
            groups.setdefault((one.tag, word), []).append(i)
        groups.setdefault((one.tag, one.parent), []).append(i)
    return {key: members for key, members in groups.items() if len(members) > 1}


def _ways(
    elements: Sequence[Element], members: list[int], links: bool, *, siblings: bool
) -> Iterator[list[tuple[int, ...]]]:
    """Each by itself; or, where they stand in a row with others between them, each with those that follow it
    or, in lists, with those before it."""
    yield [(i,) for i in members]
    parent = elements[members[0]].parent
    if parent < 0 or not siblings or any(elements[i].parent != parent for i in members):
        return
    row = below(elements, parent)
    heads = set(members)
    places = [n for n, i in enumerate(row) if i in heads]
    step = min(later - earlier for earlier, later in pairwise(places))
    if step < 2:
        return
    ends = [*places[1:], min(len(row), places[-1] + step)]
    yield [tuple(row[begin:end]) for begin, end in zip(places, ends, strict=True)]
    if links:
        begins = [max(0, places[0] - step + 1), *(place + 1 for place in places[:-1])]
        yield [tuple(row[begin : end + 1]) for begin, end in zip(begins, places, strict=True)]


def _score(elements: Sequence[Element], spans: Sequence[tuple[int, ...]], links: bool) -> float:
    """How much of what is said the group holds, or of what is linked to."""
    n_times, n_said = _own(elements, spans, links)
    good = [said for times, said in zip(n_times, n_said, strict=True) if times and said]
    if len(good) < 2 or len(good) < _LEAST_SHARE * len(spans):
        return 0.0
    if _likeness(elements, spans) < _LEAST_LIKENESS:
        return 0.0
    cap = _CAP * median_low(good)
    mean_times = sum(n_times) / len(spans)
    crowded = max(1.0, mean_times / _USUAL_TIMES)
    single = 1.0 if len(spans[0]) == 1 else 0.5  # what stands in a row may do so by chance
    return single * sum(min(said, cap) for said in good) * (1.0 - 1.0 / len(good)) / crowded**2


def _likeness(elements: Sequence[Element], spans: Sequence[tuple[int, ...]]) -> float:
    """How far they are made of the same parts: what stands right below each, or in its row."""
    shapes = [
        frozenset(step(elements[i]) for i in (below(elements, span[0]) if len(span) == 1 else span))
        for span in spans
    ]
    n_with = Counter(part for shape in shapes for part in shape)
    common = {part for part, n in n_with.items() if 2 * n > len(spans)}
    alike = [len(shape & common) / len(shape | common) if shape | common else 1.0 for shape in shapes]
    return sum(alike) / len(alike)


def _own(
    elements: Sequence[Element], spans: Sequence[tuple[int, ...]], links: bool
) -> tuple[list[int], list[int]]:
    """Times and characters of each, less those of members within it, which follow it."""
    n_times = [sum(elements[i].n_times for i in span) for span in spans]
    said = [sum(elements[i].n_linked if links else elements[i].n_said for i in span) for span in spans]
    own_times, own_said = list(n_times), list(said)
    around: list[int] = []
    for n, span in enumerate(spans):
        while around and elements[spans[around[-1]][-1]].end <= span[0]:
            around.pop()
        if around:
            own_times[around[-1]] -= n_times[n]
            own_said[around[-1]] -= said[n]
        around.append(n)
    return own_times, own_said


def _owned(elements: Sequence[Element], spans: Sequence[tuple[int, ...]]) -> list[Block]:
    owner = [-1] * len(elements)
    heads = {i: n for n, span in enumerate(spans) for i in span}
    inside: list[list[int]] = [[] for _ in spans]
    for i, one in enumerate(elements):
        owner[i] = heads.get(i, owner[one.parent] if one.parent >= 0 else -1)
        if owner[i] >= 0:
            inside[owner[i]].append(i)
    return [Block(span, tuple(own)) for span, own in zip(spans, inside, strict=True)]
