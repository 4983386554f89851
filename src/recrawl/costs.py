"""What a visit to each resource weighs, learned from its own visits. Part of the row that the store keeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.finding import Finding
from recrawl.model import Floats, Ints

LEAST = 1_000.0  # bytes: headers are not counted, and a visit without a body is not free
UNKNOWN = 50_000.0  # where no visit has told anything of any resource
RECENT = 0.3  # the weight of the newest visit


class Costs:
    """Bytes of a visit: a mean of those that were made, the newest counting most."""

    width = 1

    def __init__(self) -> None:
        self._rows = np.empty((0, 1))

    def weigh(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            visit = finding.visit
            if not visit.informative:
                continue
            self._reach(visit.resource_id)
            before = self._rows[visit.resource_id, 0]
            known = visit.n_bytes if np.isnan(before) else before
            self._rows[visit.resource_id, 0] = known + RECENT * (visit.n_bytes - known)

    def n_bytes(self, ids: Ints) -> Floats:
        """As far as is known; what was never visited weighs as much as the others."""
        found = self.memory(ids)[:, 0]
        known = np.isfinite(found)
        usual = float(found[known].mean()) if known.any() else UNKNOWN
        return np.maximum(np.where(known, found, usual), LEAST)

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        if len(ids) and rows.shape[1] == self.width:
            self._reach(int(ids.max()))
            kept = np.isfinite(rows).all(axis=1)
            self._rows[ids[kept]] = rows[kept]

    def _reach(self, highest: int) -> None:
        if highest >= len(self._rows):
            grown = np.full((max(64, 2 * len(self._rows), highest + 1), 1), np.nan)
            grown[: len(self._rows)] = self._rows
            self._rows = grown
