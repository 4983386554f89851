"""Two texts side by side, for people: line by line, or word by word."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from recrawl.detect.edits import edits

N_CONTEXT = 3
N_PAIRS = 1_500  # lines that are set side by side …
N_CHARACTERS = 120_000  # … and all that is in them: a page must hold it
N_OF_LINE = 2_000
_BREAK = "\n"
_LEAST_ALIKE = 0.3  # of the words; where fewer stayed, one line went and another came


def compared(old: str, new: str, before: str, after: str, by_words: bool) -> list[str]:
    """A unified difference; by words, changed lines stand once, with [-what went-] and {+what came+}."""
    old_lines, new_lines = old.splitlines(), new.splitlines()
    if not by_words:
        return list(difflib.unified_diff(old_lines, new_lines, before, after, n=N_CONTEXT, lineterm=""))
    return [f"--- {before}", f"+++ {after}", *_by_words(old_lines, new_lines)]


def _by_words(old: list[str], new: list[str]) -> Iterator[str]:
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(N_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@"
        for operation, i1, i2, j1, j2 in group:
            if operation == "equal":
                yield from old[i1:i2]
            else:
                yield from _marked(old[i1:i2], new[j1:j2])


def _marked(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """These lines as one text in which words come and go."""
    before, after = _words(old), _words(new)
    found = edits(before, after)
    n_went = sum(edit.i2 - edit.i1 for edit in found or ())
    if found is None or len(before) - n_went <= _LEAST_ALIKE * max(len(before), len(after)):
        sides = _in_marks(before, "[-", "-]"), _in_marks(after, "{+", "+}")
        return [line for side in sides if side for line in side.split(_BREAK)]
    pieces: list[str] = []
    at = 0
    for edit in found:
        pieces += before[at : edit.i1]
        pieces += filter(None, [_in_marks(before[edit.i1 : edit.i2], "[-", "-]")])
        pieces += filter(None, [_in_marks(after[edit.j1 : edit.j2], "{+", "+}")])
        at = edit.i2
    pieces += before[at:]
    return [line.strip(" ") for line in " ".join(pieces).split(_BREAK)]


def _words(lines: Sequence[str]) -> list[str]:
    """All words, with the breaks between lines as words of their own."""
    found: list[str] = []
    for line in lines:
        found += [_BREAK] * bool(found) + line.split(" ")
    return found


def _in_marks(words: Sequence[str], opened: str, closed: str) -> str:
    """Marks do not reach over the end of a line."""
    lines = [line.strip(" ") for line in " ".join(words).split(_BREAK)] if words else []
    return _BREAK.join(f"{opened}{line}{closed}" if line else "" for line in lines)


Pieces = tuple[tuple[str, bool], ...]  # of a line: its words, and whether they differ from the other side's


@dataclass(frozen=True, slots=True)
class Pair:
    """A line before and after, by their numbers; 0: there is none on that side."""

    before: int
    after: int
    old: Pieces = ()
    new: Pieces = ()

    @property
    def same(self) -> bool:
        return bool(self.before and self.after) and not any(differs for _, differs in (*self.old, *self.new))


def beside(old: str, new: str) -> tuple[list[list[Pair]], bool]:
    """Stretches of lines that differ, each with some that do not around it; and whether that is all."""
    olds, news = old.splitlines(), new.splitlines()
    stretches: list[list[Pair]] = []
    n_pairs, n_characters = 0, 0
    for group in difflib.SequenceMatcher(None, olds, news).get_grouped_opcodes(N_CONTEXT):
        stretches.append([])
        for operation, i1, i2, j1, j2 in group:
            for pair in _pairs(operation == "equal", olds[i1:i2], news[j1:j2], i1 + 1, j1 + 1):
                n_pairs += 1
                n_characters += sum(len(text) for text, _ in (*pair.old, *pair.new))
                if n_pairs > N_PAIRS or n_characters > N_CHARACTERS:
                    return [one for one in stretches if one], False
                stretches[-1].append(pair)
    return stretches, True


def _pairs(same: bool, old: Sequence[str], new: Sequence[str], i: int, j: int) -> Iterator[Pair]:
    """What went beside what came, line by line, where the two have words in common; else one after the
    other."""
    for step, (before, after) in enumerate(zip_longest(old, new)):
        if before is None or after is None:
            yield _alone(before, after, i + step, j + step)
            continue
        before, after = before[:N_OF_LINE], after[:N_OF_LINE]
        if same:
            yield Pair(i + step, j + step, ((before, False),), ((after, False),))
            continue
        words, others = before.split(" "), after.split(" ")
        found = edits(words, others) or []
        n_stay = len(words) - sum(edit.i2 - edit.i1 for edit in found)
        if not found or n_stay <= _LEAST_ALIKE * max(len(words), len(others)):
            yield _alone(before, None, i + step, 0)
            yield _alone(None, after, 0, j + step)
        else:
            went, came = [(one.i1, one.i2) for one in found], [(one.j1, one.j2) for one in found]
            yield Pair(i + step, j + step, _pieces(words, went), _pieces(others, came))


def _alone(old: str | None, new: str | None, before: int, after: int) -> Pair:
    if old is not None:
        return Pair(before, 0, ((old[:N_OF_LINE], True),))
    return Pair(0, after, (), (((new or "")[:N_OF_LINE], True),))


def _pieces(words: Sequence[str], differing: Sequence[tuple[int, int]]) -> Pieces:
    found: list[tuple[str, bool]] = []
    at = 0
    for begin, end in (*differing, (len(words), len(words))):
        found += [
            (" ".join(words[a:b]), differs)
            for a, b, differs in ((at, begin, False), (begin, end, True))
            if a < b
        ]
        at = end
    return tuple(found)
