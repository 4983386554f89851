"""What predictor and policy know of each resource, as the one row that the store keeps.

A row is made of sections: the predictor's, the policy's where that learns too, and what visits weigh where
that matters; of a predictor that is made of others, one of each, and of all but the first only where there is
something to keep. Each begins with the signature of whoever it belongs to, so that nobody is given another's
memory for their own; and whoever stays keeps theirs when the other is exchanged. A predictor may go on from
what another one kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol
from zlib import crc32

import numpy as np

from recrawl.contracts import Heir, Learner, Policy, Predictor
from recrawl.costs import Costs
from recrawl.finding import Chain, Finding, seen
from recrawl.learn.parted import parts_of
from recrawl.model import Bools, Floats, Ints, Lease, Seen

_NOBODY = np.zeros(1, dtype=np.int64)  # no resource has this number


class _Keeper(Protocol):
    """Whoever has a section."""

    width: int

    def memory(self, ids: Ints) -> Floats: ...
    def recall(self, ids: Ints, rows: Floats) -> None: ...


class Memories:
    """Of a predictor, and of a policy where it remembers."""

    def __init__(self, predictor: Predictor, policy: Policy, costs: Costs | None = None) -> None:
        self._predictor = predictor
        self._policy = policy if isinstance(policy, Learner) else None
        self._costs = costs
        first, *others = ((_signature(type(part).__qualname__), part) for part in parts_of(predictor))
        self._keepers: list[tuple[float, _Keeper]] = [first]
        self._spare: list[tuple[float, _Keeper]] = list(others)
        if self._policy is not None:
            signature = _signature(f"{type(policy).__qualname__} {policy.name} {self._policy.width}")
            self._keepers.append((signature, self._policy))
        if costs is not None:
            self._keepers.append((_signature("bytes"), costs))

    def learn(self, visits: Seen) -> None:
        self._predictor.learn(visits)
        if self._policy is not None:
            self._policy.learn(visits.folded())  # a rule takes a step a visit

    def weigh(self, findings: Sequence[Finding]) -> None:
        if self._costs is not None:
            self._costs.weigh(findings)

    def rows(self, ids: Ints) -> list[tuple[float, ...]]:
        """As the store keeps them."""
        parts = [
            np.column_stack([np.full(len(ids), signature), keeper.memory(ids)])
            for signature, keeper in self._keepers
        ]
        rows = [tuple(row) for row in np.hstack(parts).tolist()]
        for signature, keeper in self._spare:
            kept, blank = keeper.memory(ids), keeper.memory(_NOBODY)
            nothing = ((kept == blank) | (np.isnan(kept) & np.isnan(blank))).all(axis=1)
            for row in np.flatnonzero(~nothing).tolist():
                rows[row] += (signature, *kept[row].tolist())
        return rows

    def blocks(self, ids: Ints) -> Iterator[tuple[Ints, Floats]]:
        """The same as columns: those of one length together, with their places among the ids."""
        rows = self.rows(ids)
        length = np.array([len(row) for row in rows], dtype=np.int64)
        for one in np.unique(length).tolist():
            places = np.flatnonzero(length == one)
            yield places, np.array([rows[place] for place in places.tolist()])

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept, each section to whoever it belongs to."""
        for signature, keeper in (*self._keepers, *self._spare):
            if isinstance(keeper, Heir):
                for name, width in keeper.forebears:
                    _put_back(keeper, ids, rows, _signature(name), width)
            _put_back(keeper, ids, rows, signature, keeper.width)

    def remember(self, leases: Sequence[Lease]) -> None:
        """The store's memory of a resource is the truth: another worker may have learned since."""
        by_length: dict[int, list[Lease]] = {}
        for lease in leases:
            by_length.setdefault(len(lease.standing.memory), []).append(lease)
        for length, alike in by_length.items():
            if length:
                ids = np.array([lease.resource.id for lease in alike], dtype=np.int64)
                self.recall(ids, np.array([lease.standing.memory for lease in alike]))

    def adopt(self, chains: Sequence[Chain], fresh: Callable[[], Predictor]) -> Seen:
        """Learn from visits made elsewhere; where later ones are recorded, from the whole past anew. The
        former come back."""
        self.remember([chain.findings[0].lease for chain in chains])
        learned = seen([f for chain in chains if chain.told is None for f in chain.findings])
        self.learn(learned)
        for chain in chains:
            if chain.told is None:
                continue
            told = replace(chain.told, id=np.zeros_like(chain.told.id))
            ids = np.array([chain.findings[0].visit.resource_id], dtype=np.int64)
            anew = fresh()
            anew.learn(told)
            self._predictor.recall(ids, anew.memory(_NOBODY))
            if self._policy is not None:  # which knows each resource by itself alone
                blank = self._policy.memory(_NOBODY).copy()
                self._policy.learn(told.folded())
                self._policy.recall(ids, self._policy.memory(_NOBODY))
                self._policy.recall(_NOBODY, blank)
        return learned


def _put_back(keeper: _Keeper, ids: Ints, rows: Floats, signature: float, width: int) -> None:
    """The section under this signature, wherever it begins: others before it may have been exchanged."""
    for start in range(rows.shape[1] - width):
        end = start + 1 + width
        ours = rows[:, start] == signature
        if ours.any():
            ours &= _ends(rows, end)
            keeper.recall(ids[ours], rows[ours, start + 1 : end])


def _signature(name: str) -> float:
    return float(crc32(name.encode()))


def _ends(rows: Floats, end: int) -> Bools:
    """Whether a section ends here: with the row, or with the next one's signature, a whole number. Another
    length would mean that it was written by another release of its owner."""
    if rows.shape[1] == end:
        return np.ones(len(rows), dtype=np.bool_)
    after = rows[:, end]
    return np.asarray(np.isnan(after) | (after == np.floor(after)), dtype=np.bool_)
