"""Worlds to simulate: what changes, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.model import Floats, NewResource
from recrawl.simulate.processes import Process


@dataclass(frozen=True, slots=True)
class TraceWorld:
    """Resources whose times of change are all known; `events[i]` is sorted and belongs to `resources[i]`."""

    resources: Sequence[NewResource]
    events: Sequence[Floats]

    def n_changes(self, index: int, since_at: float, at: float) -> int:
        """How often resource `index` changed in `(since_at, at]`."""
        times = self.events[index]
        return int(np.searchsorted(times, at, "right") - np.searchsorted(times, since_at, "right"))

    def version(self, index: int, at: float) -> int:
        """How many changes had come by then: 0 is what was there before the first."""
        return int(np.searchsorted(self.events[index], at, "right"))


def world_of(
    processes: Sequence[Process], *, start_at: float, end_at: float, seed: int, per_host: int = 10
) -> TraceWorld:
    """One resource per process, each with its own stream of randomness, `per_host` on every host."""
    streams = np.random.default_rng(seed).spawn(len(processes))
    return TraceWorld(
        [
            NewResource(url=f"http://h{i // per_host}.test/{i}", host=f"h{i // per_host}.test")
            for i in range(len(processes))
        ],
        [process.events(start_at, end_at, rng) for process, rng in zip(processes, streams, strict=True)],
    )
