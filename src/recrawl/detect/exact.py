"""Bytes: every bit counts."""

from __future__ import annotations

import hashlib
from bisect import bisect_left

from recrawl.model import Changed, Snapshot, Verdict


class Exact:
    """Two snapshots are the same when their bytes are."""

    name = "exact"

    def fingerprint(self, snapshot: Snapshot) -> str:
        return f"sha256:{hashlib.sha256(snapshot.body).hexdigest()}"

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        """The magnitude is the share of the longer one between the first and the last difference."""
        old, new = before.body, after.body
        if old == new:
            return Verdict(changed=Changed.NO, evidence="the same bytes")
        n_head = _n_common(old, new)
        n_tail = _n_common(old[n_head:][::-1], new[n_head:][::-1])
        n_longer = max(len(old), len(new))
        n_between = n_longer - n_head - n_tail
        evidence = f"{n_between:,} of {n_longer:,} bytes differ, from byte {n_head:,} on"
        if len(old) != len(new):
            evidence += f"; {len(old):,} bytes before, {len(new):,} now"
        return Verdict(changed=Changed.YES, magnitude=n_between / n_longer, evidence=evidence)


def _n_common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with; halving finds it with a few fast comparisons."""
    n_most = min(len(one), len(other))
    return bisect_left(range(1, n_most + 1), True, key=lambda n: one[:n] != other[:n])
