"""Who, when and what in blocks that are alike: the same place plays the same part in all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from recrawl.parse.threads.controls import control, idle, speaker
from recrawl.parse.threads.drafts import Draft
from recrawl.parse.threads.elements import attribute, line, lines
from recrawl.parse.threads.keys import told_apart
from recrawl.parse.threads.outline import Element, below, step

Path = tuple[str, ...]  # the way to an element from the block that owns it

_MOST_NAME = 40  # characters
_MOST_AROUND = 200
_MOST_STEPS = 12  # of a path
_LEAST_SHARE = 0.5  # of the blocks that have what all should have
_LEAST_UNNAMED = 0.9
_STRESSED = frozenset({"b", "cite", "em", "h3", "h4", "h5", "h6", "i", "strong"})
_PROSE_SHARE = 0.6  # of what is said: that much stands in the body of posts
_NAMING = re.compile(
    r"author|user|poster|nick|byline|commenter|login|owner|sender|profile|(?:^|[-_])(?:fn|name)(?:$|[-_])"
)
_PROFILE = re.compile(
    r"/(?:u|users?|members?|profiles?|people|authors?|~[^/]*|@[^/]*)(?:/|\?|\Z)|[?&](?:u|user|id|uid)=|/user"
)
_EDITED = re.compile(r"edit|bearbeitet|geändert|modifi|editad|aangepast|redig|zmien|изменен", re.IGNORECASE)
_QUIET = re.compile(
    r"(?:^|[-_])(?:signature|sig|adverts?|advertisement|ads?|sponsor|sponsored|share|sharing|votes?|voting|score|"
    r"likes?|reactions?|toolbar|controls|actions|buttons|avatar|badges?|sr-only|visually-hidden)(?:$|[-_])"
)
_NO_PROSE = frozenset({"button", "time"})
_HOLDING = frozenset({"article", "dd", "div", "main", "section", "td"})
WORDS = re.compile(r"[^\W\d_]+")
_SAID_BY = re.compile(r"(?:\bby|\bvon|\bpar|\bpor|\bdi|\bdoor)\s([^\s,|·•»:]{1,40})")


def drafted(elements: Sequence[Element], blocks: Sequence[tuple[int, ...]], url: str) -> list[Draft]:
    """The posts of blocks, each given as the places of its elements, the first being the block itself."""
    if not blocks:
        return []
    paths = [_paths(elements, block) for block in blocks]
    author = _author_path(elements, blocks, paths)
    body = _body_path(elements, blocks, paths)
    usual = _time_path(elements, blocks, paths, body)
    keys = told_apart(elements, blocks, url)
    beside = [""] * len(blocks) if author or not body else _beside(elements, blocks, paths, body)
    found: list[Draft] = []
    for block, named, key, first in zip(blocks, paths, keys, beside, strict=True):
        notes = _notes(elements, block, named, body)
        when, edited = _times(elements, block, named, usual, notes)
        if when < 0:
            continue
        who = next((i for i in block if named[i] == author), -1) if author else -1
        if edited >= 0 and not _said(elements, block, named, body, {who, when}, frozenset(notes.values())):
            edited = -1  # "Edited it yesterday." is all that the post says
        said = _said(elements, block, named, body, {who, when, edited})
        name = speaker(line(elements[who].node)) if who >= 0 else _said_by(elements, block) or first
        if said:
            edited_at = elements[edited].time if edited >= 0 else ""
            written = elements[when].time
            found.append(Draft(key=key, author=name, text=said, written=written, edited=edited_at))
    return found


def _paths(elements: Sequence[Element], block: tuple[int, ...]) -> dict[int, Path]:
    """By place. Below a certain depth all are one: paths are compared, and must not grow without end."""
    found: dict[int, Path] = {}
    n_cells: Counter[int] = Counter()
    for i in block:
        one = elements[i]
        above = found.get(one.parent)
        own = step(one)
        if own == "td":  # what a cell is, its column tells
            n_cells[one.parent] += 1
            own = f"td#{n_cells[one.parent]}"
        if above is None:
            found[i] = (own,) if found else ()
        else:
            found[i] = above if len(above) >= _MOST_STEPS else (*above, own)
    return found


def _time_path(
    elements: Sequence[Element],
    blocks: Sequence[tuple[int, ...]],
    paths: Sequence[dict[int, Path]],
    body: Path,
) -> Path | None:
    """Where most blocks tell a time: those in quotes are at other places."""
    n_with: Counter[Path] = Counter()
    for block, named in zip(blocks, paths, strict=True):
        notes = _notes(elements, block, named, body)
        told = (named[i] for i in block if elements[i].time and i not in notes)
        n_with.update(list(dict.fromkeys(told)))
    return max(n_with, key=lambda path: n_with[path], default=None)


def _times(
    elements: Sequence[Element],
    block: tuple[int, ...],
    named: dict[int, Path],
    usual: Path | None,
    notes: dict[int, int],
) -> tuple[int, int]:
    """The places where it says when it was said, and when it was edited; -1: it does not."""
    times = [i for i in block if elements[i].time]
    edited = next(iter(notes), -1)
    said = next((i for i in times if named[i] == usual), next((i for i in times if i != edited), edited))
    return said, edited if edited != said else -1


def _notes(
    elements: Sequence[Element], block: tuple[int, ...], named: dict[int, Path], body: Path
) -> dict[int, int]:
    """Times of edits, each with the place of the note that tells it. What holds the body is no note."""
    at = _body_at(block, named, body)
    found: dict[int, int] = {}
    for i in block:
        if not elements[i].time:
            continue
        if _EDITED.search(elements[i].time):
            note = i
        elif _EDITED.match(_around(elements, i)):
            note = elements[i].parent
        else:
            continue
        if note in named and not note <= at < elements[note].end:
            found[i] = note
    return found


def _around(elements: Sequence[Element], i: int) -> str:
    """The line that a time stands in; nothing where that is long."""
    parent = elements[i].parent
    short = parent >= 0 and elements[parent].n_said + elements[parent].n_linked < _MOST_AROUND
    return line(elements[parent].node) if short else ""


def _author_path(
    elements: Sequence[Element], blocks: Sequence[tuple[int, ...]], paths: Sequence[dict[int, Path]]
) -> Path:
    """Where most blocks have something short that is called a name, or leads to somebody."""
    n_with: Counter[Path] = Counter()
    worth: dict[Path, float] = {}
    names: dict[Path, set[str]] = {}
    for block, named in zip(blocks, paths, strict=True):
        seen: set[Path] = set()
        for i in block[1:]:
            one = elements[i]
            if named[i] in seen or one.time or not one.n_said + one.n_linked <= _MOST_NAME:
                continue
            if not (value := _naming(one)):
                continue
            name = line(one.node)
            if not name or len(name) > _MOST_NAME or not WORDS.search(name):
                continue
            seen.add(named[i])
            n_with[named[i]] += 1
            worth[named[i]] = max(worth.get(named[i], 0.0), value)
            names.setdefault(named[i], set()).add(name)
    likely = [path for path, n in n_with.items() if _likely(worth[path], names[path], n, len(blocks))]
    return max(likely, key=lambda path: (worth[path], n_with[path], len(path), path), default=())


def _likely(worth: float, names: set[str], n_with: int, n_blocks: int) -> bool:
    """What nothing calls a name must be there nearly always, and not be the same in all blocks. A word for
    what can be done is nobody."""
    if all(map(control, names)):
        return False
    if worth < 1.0:
        return n_with >= _LEAST_UNNAMED * n_blocks and len(names) > 1
    return n_with >= _LEAST_SHARE * n_blocks


def _naming(one: Element) -> float:
    if "author" in attribute(one.node, "rel") or "author" in attribute(one.node, "itemprop"):
        return 3.0
    by_class = any(_NAMING.search(word.lower()) for word in one.words)
    href = attribute(one.node, "href") if one.tag == "a" else ""
    worth = 2.0 * bool(href and _PROFILE.search(href)) + 1.5 * by_class
    return worth or (0.5 if one.tag in _STRESSED else 0.0)


def _said_by(elements: Sequence[Element], block: tuple[int, ...]) -> str:
    """The name beside the time, as in "by Ada, 3 hours ago"."""
    for i in block:
        if elements[i].time:
            for text in (elements[i].time, _around(elements, i)):
                if found := _SAID_BY.search(text):
                    return found[1]
            return ""
    return ""


def _beside(
    elements: Sequence[Element],
    blocks: Sequence[tuple[int, ...]],
    paths: Sequence[dict[int, Path]],
    body: Path,
) -> list[str]:
    """The first words of each block that are not in its body, where all have some and they vary."""
    found: list[str] = []
    for block, named in zip(blocks, paths, strict=True):
        apart = [
            i for i in block if elements[i].n_own and named[i][: len(body)] != body and not elements[i].time
        ]
        some = (i for i in apart if elements[i].n_said <= 2 * _MOST_NAME)
        rows = (row for i in some for row in lines(elements[i].node)[:1])
        found.append(next((row for row in rows if len(row) <= _MOST_NAME and not idle(row)), ""))
    return found if all(found) and len(set(found)) > 1 else [""] * len(blocks)


def _body_path(
    elements: Sequence[Element], blocks: Sequence[tuple[int, ...]], paths: Sequence[dict[int, Path]]
) -> Path:
    """The innermost place that holds most of what is said in all blocks together; that of the block itself
    where there is none."""
    held: Counter[Path] = Counter()
    n_all = 0
    for block, named in zip(blocks, paths, strict=True):
        inner = {i: elements[i].n_own for i in block}  # what members within it say is theirs
        for i in reversed(block):
            if elements[i].parent in inner:
                inner[elements[i].parent] += inner[i]
        n_all += sum(n for i, n in inner.items() if elements[i].parent not in inner)
        seen: set[Path] = set()
        for i in block:
            if named[i] not in seen and not _quiet(elements[i]):
                seen.add(named[i])
                held[named[i]] += inner[i]
    enough = [path for path, n in held.items() if n >= _PROSE_SHARE * n_all and n_all and _holds(path)]
    return max(enough, key=lambda path: (len(path), held[path], path), default=())


def _body_at(block: tuple[int, ...], named: dict[int, Path], body: Path) -> int:
    return next((i for i in block if named[i] == body), block[0])


def _holds(path: Path) -> bool:
    """A paragraph is a part of what is said, unless it has a class of its own."""
    return not path or "." in path[-1] or path[-1].partition("#")[0] in _HOLDING


def _quiet(one: Element) -> bool:
    return any(_QUIET.search(word.lower()) for word in one.words)


def _pressed(one: Element) -> bool:
    return one.tag == "a" and one.n_linked <= _MOST_NAME and control(line(one.node))


def _said(
    elements: Sequence[Element],
    block: tuple[int, ...],
    named: dict[int, Path],
    body: Path,
    known: set[int],
    without: frozenset[int] = frozenset(),
) -> str:
    """The text of its body, without what belongs to other blocks, or to none."""
    own = set(block)
    outside = {
        elements[i].node.mem_id
        for i in block
        if i in without
        or (i in known and elements[i].n_own <= _MOST_NAME)
        or elements[i].tag in _NO_PROSE
        or _quiet(elements[i])
        or _pressed(elements[i])
    }
    outside |= others(elements, block, own)
    at = _body_at(block, named, body)
    starts = [at] if body else [i for i in block if elements[i].parent not in own]
    outside.discard(elements[at].node.mem_id)
    shown = [i for i in starts if elements[i].node.mem_id not in outside]
    found = [row for i in shown for row in lines(elements[i].node, outside)]
    return "\n".join(row for row in found if not idle(row))


def others(elements: Sequence[Element], block: tuple[int, ...], own: set[int]) -> set[int]:
    """What stands right below a block's elements and belongs to other blocks."""
    return {elements[j].node.mem_id for i in block for j in below(elements, i) if j not in own}
