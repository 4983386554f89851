"""The words of a new version, and whether they differ significantly from those before.

A version is held against the last one that counted, not against the one before it: what is too little at a
time adds up. Where that one was seen through another lens, or its words are not kept, the newest version
takes its place, read anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from recrawl.contracts import Detector
from recrawl.detect.significance import significances
from recrawl.model import WORD_BITS, Bag, Bags, Snapshot, Verdict, Version, packed, unpacked
from recrawl.parse.bags import most, telling, word_number

# To those who read prose a number is noise; to those who read data it may be all that counts.
_PROSE = frozenset({"text", "feed", "thread"})
_SHIFT = 63 - WORD_BITS


def words_of(detector: Detector, snapshot: Snapshot) -> dict[int, int] | None:
    """By their numbers, how often each occurs, without the noisy ones; None where there are no words."""
    # Whoever reads words has this method; who judges bytes has none.
    words: Callable[[Snapshot], dict[str, int] | None] | None = getattr(detector, "words", None)
    found = None if words is None else words(snapshot)
    if found is None:
        return None
    numbered: dict[int, int] = {}
    for word, n in most(telling(found)).items():
        number = word_number(word) >> _SHIFT
        numbered[number] = numbered.get(number, 0) + n
    return numbered


def first_bag(detector: Detector, snapshot: Snapshot, version: Version) -> Bag | None:
    """Of a version that there is nothing to hold against."""
    words = words_of(detector, snapshot)
    return None if words is None else Bag(at=version.at, packed=packed(words), detector=version.detector)


def tested(
    verdict: Verdict,
    base: Bag | None,
    earlier: Snapshot | str,
    after: Snapshot,
    version: Version,
    detector: Detector,
) -> tuple[Verdict, Bag | None]:
    """The verdict on a change, with whether it is significant, where that can be tested; and the words."""
    words = words_of(detector, after)
    if words is None:
        return verdict, None
    known = base is not None and base.detector == version.detector
    before: Bags | None = None
    if base is not None and known:
        before = unpacked([base.packed])
    elif isinstance(earlier, Snapshot) and (read := words_of(detector, earlier)) is not None:
        before = Bags.of([read])
    significant: bool | None = True  # that somebody spoke is what who follows a thread wants to know
    if not verdict.posts:
        significant = None if before is None else _differ(before, Bags.of([words]), detector.name in _PROSE)
    bag = Bag(at=version.at, packed=packed(words), detector=version.detector, base=significant is not False)
    return replace(verdict, significant=significant), bag


def _differ(before: Bags, after: Bags, prose: bool) -> bool | None:
    """None where words cannot tell: there are none, or data differ in their numbers alone."""
    if not len(before.word) and not len(after.word):
        return None
    alike = np.array_equal(before.word, after.word) and np.array_equal(before.count, after.count)
    if alike and not prose:
        return None
    both = Bags(
        np.concatenate([before.bounds, before.bounds[-1] + after.bounds[1:]]),
        np.concatenate([before.word, after.word]),
        np.concatenate([before.count, after.count]),
    )
    return bool(significances(both, np.array([0]), np.array([1])).significant[0])
