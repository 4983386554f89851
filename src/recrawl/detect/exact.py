"""Bytes: every bit counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from recrawl.model import Body, Changed, Part, Snapshot, Verdict, digest

_STEP_BYTES = 1 << 20


class Exact:
    """Two snapshots are the same when their bytes are."""

    name = "exact"

    def fingerprint(self, snapshot: Snapshot) -> str:
        return digest(snapshot.body)

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        """The magnitude is the share of the longer one between the first and the last difference."""
        old, new = before.body, after.body
        n_head = _n_common(old, new)
        if n_head == len(old) == len(new):
            return Verdict(changed=Changed.NO, evidence=f"the same bytes{_retyped(before, after)}")
        n_tail = _n_common_last(old, new, min(len(old), len(new)) - n_head)
        n_longer = max(len(old), len(new))
        n_between = n_longer - n_head - n_tail
        evidence = f"{n_between:,} of {n_longer:,} bytes differ, from byte {n_head:,} on"
        if len(old) != len(new):
            evidence += f"; {len(old):,} bytes before, {len(new):,} now"
        evidence += _retyped(before, after)
        return Verdict(changed=Changed.YES, magnitude=n_between / n_longer, evidence=evidence)

    def at_once(self, snapshot: Snapshot) -> bool:
        return len(snapshot.body) <= _STEP_BYTES

    def differing(self, before: Snapshot, after: Snapshot) -> Sequence[Part]:  # noqa: ARG002
        return ()  # bytes have no parts


def _retyped(before: Snapshot, after: Snapshot) -> str:
    was, now = before.media_type or "no type", after.media_type or "no type"
    return f"; served as {now}, before as {was}" if was != now else ""


def _n_common(one: Body, other: Body) -> int:
    """How many bytes both begin with."""
    n_most = min(len(one), len(other))
    steps = ((at, min(at + _STEP_BYTES, n_most)) for at in range(0, n_most, _STEP_BYTES))
    return _n_same((one[at:end], other[at:end]) for at, end in steps)


def _n_common_last(one: Body, other: Body, n_most: int) -> int:
    """How many bytes both end with, at most `n_most`."""
    n_one, n_other = len(one), len(other)
    steps = ((at, min(at + _STEP_BYTES, n_most)) for at in range(0, n_most, _STEP_BYTES))
    return _n_same(
        (one[n_one - end : n_one - at][::-1], other[n_other - end : n_other - at][::-1]) for at, end in steps
    )


def _n_same(pairs: Iterator[tuple[bytes, bytes]]) -> int:
    """How many bytes go by before two pieces, equally long, differ."""
    n_bytes = 0
    for one, other in pairs:
        if one != other:
            return n_bytes + _first_difference(one, other)
        n_bytes += len(one)
    return n_bytes


def _first_difference(one: bytes, other: bytes) -> int:
    """Where they differ first; halving finds it with a few fast comparisons."""
    return bisect_left(range(1, len(one)), True, key=lambda n: one[:n] != other[:n])
