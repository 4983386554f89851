"""The plug points. Each has a conformance suite in `recrawl.checks`; built-ins pass it like any other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recrawl.model import (
    Batch,
    Completion,
    Fetch,
    Floats,
    Hold,
    Ints,
    Kind,
    Lease,
    NewResource,
    Plan,
    Plans,
    Request,
    Resource,
    Scope,
    Seen,
    Settings,
    Snapshot,
    Standing,
    Verdict,
    Version,
    Visit,
)


class Clock(Protocol):
    """The only source of time; a fast one makes days pass in seconds for everything that asks it."""

    speed: float  # seconds on this clock per second on the wall

    def now(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...


class Fetcher(Protocol):
    """The only asynchronous contract. Remote trouble comes back as a value."""

    async def fetch(self, request: Request) -> Fetch: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What a handler is made with."""

    clock: Clock
    max_bytes: int  # the largest body, where the request's manner says nothing else
    total_s: float  # the longest that one fetch may take, on the wall
    folders: tuple[Path, ...] = ()  # files may be visited in these and below them
    spool: Path | None = None  # where large bodies may lie while they are worked on


class Handler(Protocol):
    """Looks at resources that take more than one plain request. A request comes here for its URL's scheme,
    else for its kind, else (where the kind is auto) for the media type of the copy held.

    Whatever it needs of the web it asks of `web`, so that robots.txt, the shield, the delays and the limits
    hold for it too. Remote trouble comes back as a value.
    """

    schemes: frozenset[str]  # http and https cannot be claimed
    kinds: frozenset[Kind]
    media_types: frozenset[str]

    async def fetch(self, request: Request, web: Fetcher) -> Fetch: ...
    async def aclose(self) -> None: ...


class Gates(Protocol):
    """Who may ask a host that a fetch is led to and that its caller's lease does not cover: one at a time,
    whatever leads there and in whichever process."""

    async def enter(self, host: str, *, holding: Collection[str], patience_s: float) -> Hold | float:
        """Wait for the host, for `patience_s` on the clock at most, less where waiting while `holding` others
        might be a circle. A number instead of the hold: the host must still be left alone for so long."""

    async def leave(self, hold: Hold, gate_at: float, answered: bool | None) -> None:
        """Let the host go; it is left alone until `gate_at`, and longer where it did not answer (None: it was
        not asked)."""


class Detector(Protocol):
    """Judges two snapshots. Pure."""

    name: str

    def fingerprint(self, snapshot: Snapshot) -> str:
        """A digest of what counts: two snapshots with equal ones have not changed."""

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict: ...


class Forecasts(Protocol):
    """What may happen within `t_s` seconds after each resource's last informative visit.

    The last axis of `t_s` and of what comes back runs over the resources.
    """

    def survival(self, t_s: Floats) -> Floats: ...  # S(t) = P(no change within t)
    def survival_integral(self, t_s: Floats) -> Floats: ...  # integral of S from 0 to t
    def survival_slope(self, t_s: Floats) -> Floats: ...  # dS/dt
    def n_expected(self, t_s: Floats) -> Floats: ...  # M(t) = expected number of changes
    def n_expected_integral(self, t_s: Floats) -> Floats: ...  # integral of M from 0 to t
    def pick(self, rows: Ints) -> Forecasts: ...


class Predictor(Protocol):
    """Learns from visits, forecasts changes. Forecasting changes no state and sees nothing after `now`.

    What it keeps of one resource is a row of `width` numbers, so that the store can carry it from run to
    run and from worker to worker.
    """

    width: int

    def learn(self, seen: Seen) -> None: ...
    def forecast(self, batch: Batch, now: float) -> Forecasts: ...
    def memory(self, ids: Ints) -> Floats: ...  # shape (n, width)
    def recall(self, ids: Ints, rows: Floats) -> None: ...


class Goal(Protocol):
    """The worth U(t) of a visit `t_s` after the last one (DESIGN: one index, four goals, one price)."""

    name: str

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats: ...


class Quote(Protocol):
    """A policy's answer for any price: gaps in seconds from the last informative visit, within each
    resource's bounds, never sooner when dearer."""

    def gaps(self, price: float) -> Floats: ...


class Policy(Protocol):
    """Quotes gaps. What does not depend on the price is worked out once, since the budget tries many
    prices. Pure. Rules that know no price quote the same gaps at every one."""

    name: str

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote: ...


class Archive(Protocol):
    """Bodies, for ever. What `put` returns may be recorded in the store only after `sync`."""

    def put(self, fetch: Fetch, version: Version, same_as: Version | None = None) -> Version:
        """Write the fetch's records; the version comes back with its place filled in."""

    def sync(self) -> Mapping[str, int]:
        """Make all that was put durable; the length of every file that grew, by name."""

    def recover(self, committed: Callable[[], Mapping[str, int]]) -> Sequence[str]:
        """Cut every file that no living process writes to what the store knows of; say what was cut.

        The store is asked once a file is locked, so that nothing recorded just before is lost."""

    def snapshot(self, version: Version) -> Snapshot: ...
    def verify(self, versions: Iterable[Version]) -> Iterator[tuple[Version, str]]: ...
    def close(self) -> None: ...


class Store(Protocol):
    """Resources, settings, visits, versions, plans and leases.

    A visit is acknowledged when `complete` has returned; nothing acknowledged is lost by a crash.
    """

    # what is watched
    def add(self, new: Iterable[NewResource], now: float) -> tuple[int, int]: ...  # added, known before
    def remove(self, ids: Sequence[int]) -> int: ...
    def find(self, url: str) -> Resource | None: ...
    def resources(
        self,
        *,
        tag: str | None = None,
        host: str | None = None,
        text: str | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Iterator[tuple[Resource, Standing, Plan | None]]: ...
    def say(
        self, scope: Scope, settings: Settings, now: float, *, forget: Sequence[str] = ()
    ) -> int: ...  # how many resources it reaches
    def said(self) -> Iterator[tuple[Scope, Settings]]: ...
    def tag(self, ids: Sequence[int], add: Sequence[str], drop: Sequence[str], now: float) -> None: ...
    def moved(self) -> Iterator[tuple[Resource, Standing]]: ...  # those whose standing says `has_moved`
    def move(self, resource_id: int, url: str, host: str, now: float) -> None:
        """Give it another address; its history, tags and settings stay. Refused where that is watched."""

    # the loop
    def claim(
        self, *, now: float, limit: int, lease_s: float, only: int | None = None, by: str = ""
    ) -> list[Lease]: ...
    def release(self, leases: Sequence[Lease], gate_at: float) -> None: ...  # hosts left alone until then
    def complete(self, done: Sequence[Completion], files: Mapping[str, int] | None = None) -> list[bool]: ...
    def hold(self, host: str, *, now: float, lease_s: float, by: str = "") -> Hold | None:
        """Lease a host alone; None while it is leased or gated."""

    def let_go(self, hold: Hold, *, gate_at: float, n_host_failures: int) -> None: ...
    def abandon(self, by: Sequence[str], *, now: float, rest_s: float) -> int:
        """End the leases of processes that are known to be dead. Their hosts are left alone for as long as
        after their last visit, or `rest_s` where there was none."""

    def gate_at(self, host: str) -> float: ...  # when its gate opens; -inf: it never had one
    def ready_at(self, now: float) -> float: ...  # when `claim` will next have something; inf: never
    def batch(self) -> tuple[Batch, Floats]: ...  # all that are not paused, with their memory rows
    def replan(self, plans: Plans) -> None: ...

    # what happened
    def visits(self, resource_id: int, limit: int | None = None) -> Iterator[Visit]: ...  # newest first
    def versions(self, resource_id: int | None = None) -> Iterator[Version]: ...  # oldest first
    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]: ...
    def n_visits_since(self, at: float) -> int: ...
    def counts(self, now: float) -> Mapping[str, int]: ...
    def files(self) -> Mapping[str, int]: ...  # committed length of every archive file
    def note(self, key: str, value: str | None = None) -> str | None: ...  # small facts: the price …
    def exchange(self, key: str, expected: str | None, value: str) -> bool:
        """Note `value` if what is noted is still `expected`; all processes together see one order.

        The note `said` is the store's own: it changes whenever resources, tags or settings do."""

    def close(self) -> None: ...
