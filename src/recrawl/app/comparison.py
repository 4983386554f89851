"""Two texts side by side, for people: line by line, or word by word."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from recrawl.detect.edits import edits

N_CONTEXT = 3
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
