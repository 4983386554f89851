"""Worlds to simulate: what changes, and when; drawn from recipes, or one process at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import DAY_S, MOST_MOMENTS, Floats, Hunch, Ints, NewResource
from recrawl.simulate.blocks import Piece, block, block_size, joined
from recrawl.simulate.contents import digests
from recrawl.simulate.processes import Process
from recrawl.simulate.recipes import Recipe, Talk, Text
from recrawl.simulate.traces import Traces


@dataclass(frozen=True, slots=True)
class Quarter:
    """So many resources after one recipe."""

    recipe: Recipe
    n_resources: int

    @property
    def n_hosts(self) -> int:
        return -(-self.n_resources // self.recipe.per_host)


class World:
    """A generated world: quarter after quarter, the same for the same seed.

    A resource is the same whatever the size of its quarter and of the pieces that are read; only one piece
    and one block of about 250 resources are held at a time.
    """

    def __init__(self, quarters: Sequence[Quarter], *, seed: int) -> None:
        self.quarters = tuple(quarters)
        self.seed = seed
        self.start_at = min(quarter.recipe.start_at for quarter in self.quarters)
        self.end_at = max(quarter.recipe.end_at for quarter in self.quarters)

    def __len__(self) -> int:
        return sum(quarter.n_resources for quarter in self.quarters)

    def traces(self) -> Traces:
        return next(self.chunks(max(1, len(self))))

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        return (piece.traces for piece in self.pieces(n_resources))

    def pieces(self, n_resources: int) -> Iterator[Piece]:
        """So many resources at a time, with all that is known of them."""
        held: list[Piece] = []
        n_held = 0
        for piece in self._blocks():
            taken = 0
            while len(piece.traces) - taken >= n_resources - n_held:
                upto = taken + n_resources - n_held
                yield joined([*held, piece.pick(np.arange(taken, upto))])
                held, n_held, taken = [], 0, upto
            if taken < len(piece.traces):
                held.append(piece.pick(np.arange(taken, len(piece.traces))))
                n_held += len(piece.traces) - taken
        if held:
            yield joined(held)

    def text_of(self, resource: int) -> Text | None:
        """What the contents of this resource say, if its recipe has texts."""
        recipe = self._recipe_of(resource)
        return None if recipe is None else recipe.text

    def talk_of(self, resource: int) -> Talk | None:
        """What is said in this thread, if its recipe has talk."""
        recipe = self._recipe_of(resource)
        return None if recipe is None else recipe.talk

    def _recipe_of(self, resource: int) -> Recipe | None:
        for quarter in self.quarters:
            if resource < quarter.n_resources:
                return quarter.recipe
            resource -= quarter.n_resources
        return None

    def _blocks(self) -> Iterator[Piece]:
        before = hosts_before = 0
        for place, quarter in enumerate(self.quarters):
            size = block_size(quarter.recipe)
            for number in range(-(-quarter.n_resources // size)):
                piece = block(quarter.recipe, np.random.default_rng([self.seed, place, number]))
                n = min(size, quarter.n_resources - number * size)
                if n < size:
                    piece = piece.pick(np.arange(n))
                first_host = hosts_before + number * size // quarter.recipe.per_host
                yield self._placed(piece, before + number * size, first_host)
            before += quarter.n_resources
            hosts_before += quarter.n_hosts

    def _placed(self, piece: Piece, first: int, first_host: int) -> Piece:
        """With its numbers in the world."""
        traces = piece.traces
        resource = np.arange(first, first + len(traces))
        host = traces.host + first_host
        return replace(
            piece,
            traces=replace(
                traces,
                host=host,
                digest=digests(self.seed, np.repeat(resource, traces.n_changes), piece.content),
                first_digest=digests(self.seed, resource, np.zeros(len(traces), dtype=np.int64)),
                url=[
                    f"https://{host_of(h)}/{'d/' * (level - 1)}{i}"
                    for i, h, level in zip(
                        resource.tolist(), host.tolist(), _levels(piece).tolist(), strict=True
                    )
                ],
            ),
            follows=np.where(piece.follows < 0, -1, piece.follows + first),
        )


def _levels(piece: Piece) -> Ints:
    """How deep in its site's folders each resource is."""
    return piece.features["level"] if "level" in piece.features else piece.features["depth"]


def host_of(number: int) -> str:
    """The name of a generated world's host."""
    return f"h{number}.test"


@dataclass(frozen=True, slots=True)
class TraceWorld:
    """Resources whose times of change are all known; `events[i]` is sorted and belongs to `resources[i]`."""

    resources: Sequence[NewResource]
    events: Sequence[Floats]
    hunches: Sequence[Hunch] = ()  # what the first visit of each makes one expect; empty: nothing of any

    def n_changes(self, index: int, since_at: float, at: float) -> int:
        """How often resource `index` changed in `(since_at, at]`."""
        times = self.events[index]
        return int(np.searchsorted(times, at, "right") - np.searchsorted(times, since_at, "right"))

    def moments(self, index: int, since_at: float, at: float) -> tuple[float, ...]:
        """When it did so, the newest of very many; with NaN for `since_at`, all that came by then."""
        times = self.events[index]
        first = 0 if np.isnan(since_at) else int(np.searchsorted(times, since_at, "right"))
        last = int(np.searchsorted(times, at, "right"))
        return tuple(times[max(first, last - MOST_MOMENTS) : last].tolist())

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


def world_from(traces: Traces) -> TraceWorld:
    """A history as a world that the loop can visit; without URLs the resources are numbered."""
    hosts = [host_of(host) for host in traces.host.tolist()]
    urls = traces.url or [f"http://{host}/{i}" for i, host in enumerate(hosts)]
    return TraceWorld(
        [NewResource(url=url, host=host) for url, host in zip(urls, hosts, strict=True)],
        [traces.of(i) for i in range(len(traces))],
        _hunches(traces),
    )


def _hunches(traces: Traces) -> list[Hunch]:
    per_day, gap_s = traces.hunch_per_day, traces.hunch_gap_s
    if per_day is None:
        return []
    gaps = DAY_S / per_day if gap_s is None else gap_s
    return [Hunch(per_day=rate, gap_s=gap) for rate, gap in zip(per_day.tolist(), gaps.tolist(), strict=True)]
