"""What was edited between two texts, and how to show it in a few words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

# Aligning takes a bit for every pair of words: 25 MB and some 10 ms at most.
_MOST_PAIRS = 200_000_000
N_AROUND = 3  # words shown on either side of an edit
_N_SHOWN = 3  # edits
_N_ALIGNED = 1_000  # words of changed lines that are aligned for it
_N_WORDS = 8  # of what came or went
_SHOWN_CHARACTERS = 24  # of a word


@dataclass(frozen=True, slots=True)
class Edit:
    """`old[i1:i2]` became `new[j1:j2]`; one of them may be empty."""

    i1: int
    i2: int
    j1: int
    j2: int


def edits(old: Sequence[str], new: Sequence[str]) -> list[Edit] | None:
    """The fewest that lead from one to the other, in order; None where there is too much to align."""
    n_head = _n_common(old, new)
    n_tail = _n_common(old[n_head:][::-1], new[n_head:][::-1])
    before, after = old[n_head : len(old) - n_tail], new[n_head : len(new) - n_tail]
    if len(before) * len(after) > _MOST_PAIRS:
        return None
    found: list[Edit] = []
    for step in Indel.opcodes(before, after):
        if step.tag == "equal":
            continue
        i1, i2, j1, j2 = (
            at + n_head for at in (step.src_start, step.src_end, step.dest_start, step.dest_end)
        )
        if found and found[-1].i2 == i1 and found[-1].j2 == j1:
            found[-1] = Edit(found[-1].i1, i2, found[-1].j1, j2)
        else:
            found.append(Edit(i1, i2, j1, j2))
    return found


def marked(words: Sequence[str], went: Sequence[str], came: Sequence[str]) -> Iterator[str]:
    """Words that stay, then those that went and those that came, each in their marks."""
    yield from words
    if went:
        yield f"[-{' '.join(went)}-]"
    if came:
        yield f"{{+{' '.join(came)}+}}"


def shown(
    old: Sequence[str],
    new: Sequence[str],
    changes: Sequence[Edit],
    telling: Callable[[Sequence[str], Sequence[str]], bool],
) -> str:
    """A few of the changes of these lines, word by word and with the words around them: those that are
    `telling`."""
    said: list[str] = []
    n_left = _N_SHOWN
    for change in changes:
        went, came = words(old[change.i1 : change.i2]), words(new[change.j1 : change.j2])
        if not telling(went, came):
            continue
        found = [
            edit for edit in _finer(went, came) if telling(went[edit.i1 : edit.i2], came[edit.j1 : edit.j2])
        ]
        groups = _grouped(found, n_left)
        around = _Around(_last(old, change.i1), _first(old, change.i2))
        said += [_in_context(group, went, came, around) for group in groups]
        n_left -= len(groups)
        more = len(found) > sum(map(len, groups))
        if more or not n_left:
            return " ".join(said) if not more or said[-1].endswith("…") else f"{' '.join(said)} …"
    return " ".join(said)


def words(lines: Sequence[str]) -> list[str]:
    return " ".join(lines).split()


@dataclass(frozen=True, slots=True)
class _Around:
    """The words before and after changed lines, one more of each than are shown."""

    above: list[str]
    below: list[str]


def _last(lines: Sequence[str], end: int) -> list[str]:
    found: list[str] = []
    while end > 0 and len(found) <= N_AROUND:
        end -= 1
        found = [*lines[end].split(), *found]
    return found[-N_AROUND - 1 :]


def _first(lines: Sequence[str], start: int) -> list[str]:
    found: list[str] = []
    while start < len(lines) and len(found) <= N_AROUND:
        found += lines[start].split()
        start += 1
    return found[: N_AROUND + 1]


def _finer(went: Sequence[str], came: Sequence[str]) -> list[Edit]:
    """The edits within lines that changed; of many lines those at their beginning."""
    old, new = went[:_N_ALIGNED], came[:_N_ALIGNED]
    found = edits(old, new) or []
    cut = len(old) < len(went) or len(new) < len(came)
    return found[:-1] if cut and len(found) > 1 else found  # the last of them leads to what was cut off


def _grouped(found: Sequence[Edit], most: int) -> list[list[Edit]]:
    """The first edits; those that lie close together share their context."""
    groups: list[list[Edit]] = []
    for edit in found[: 2 * most]:
        if groups and edit.i1 - groups[-1][-1].i2 <= 2 * N_AROUND:
            groups[-1].append(edit)
        elif len(groups) < most:
            groups.append([edit])
    return groups


def _in_context(group: Sequence[Edit], went: Sequence[str], came: Sequence[str], around: _Around) -> str:
    first, last = group[0], group[-1]
    before = [*around.above, *went[: first.i1]][-N_AROUND - 1 :]
    after = [*went[last.i2 : last.i2 + N_AROUND + 1], *around.below][: N_AROUND + 1]
    pieces = ["…"] if len(before) > N_AROUND else []
    stayed = before[-N_AROUND:]
    for i, edit in enumerate(group):
        stayed = stayed if i == 0 else list(went[group[i - 1].i2 : edit.i1])
        gone, new = _few(went[edit.i1 : edit.i2]), _few(came[edit.j1 : edit.j2])
        pieces += marked([clipped(word) for word in stayed], gone, new)
    pieces += [clipped(word) for word in after[:N_AROUND]]
    return " ".join([*pieces, "…"] if len(after) > N_AROUND else pieces)


def _few(words: Sequence[str]) -> list[str]:
    few = [clipped(word) for word in words[:_N_WORDS]]
    return [*few, "…"] if len(words) > _N_WORDS else few


def clipped(word: str) -> str:
    """Evidence is read on terminals too: nothing in it may steer one."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in word[:_SHOWN_CHARACTERS])
    return f"{clean}…" if len(word) > _SHOWN_CHARACTERS else clean


def _n_common(one: Sequence[str], other: Sequence[str]) -> int:
    n = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        n += 1
    return n
