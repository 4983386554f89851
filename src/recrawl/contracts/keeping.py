"""The plug points for what is kept: bodies, and everything else."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from math import inf
from typing import BinaryIO, Protocol

from recrawl.contracts.listing import Listing
from recrawl.contracts.streaming import Stream
from recrawl.model import (
    Adoption,
    Bag,
    Bags,
    Batch,
    Bits,
    Completion,
    Erasure,
    Fetch,
    Floats,
    Hold,
    Hosts,
    Hunch,
    Ints,
    KinTable,
    Lease,
    Looked,
    NewResource,
    Plan,
    Planned,
    Plans,
    Prospects,
    Replacement,
    Resource,
    Scope,
    Seen,
    Settings,
    Sight,
    Signal,
    Snapshot,
    Standing,
    Took,
    Version,
    Visit,
)


class Archive(Protocol):
    """Bodies, for ever. What `put` returns may be recorded in the store only after `sync`."""

    def put(self, fetch: Fetch, version: Version, same_as: Version | None = None) -> Version:
        """Write the fetch's records; the version comes back with its place filled in."""

    def sync(self) -> Mapping[str, int]:
        """Make all that was put durable; the length of every file that grew, by name."""

    def recording(self) -> AbstractContextManager[None]:
        """Held from the first `put` until that is recorded: meanwhile no file is exchanged for another."""

    def recover(
        self, committed: Callable[[], Mapping[str, int]], doomed: Callable[[], Container[str]] = tuple
    ) -> Sequence[str]:
        """Cut every file that no living process writes to what the store knows of; say what was cut. Those
        that are doomed are left alone. Once a file is locked, `doomed` is asked and then `committed`, so that
        nothing recorded just before is lost."""

    def snapshot(self, version: Version) -> Snapshot: ...
    def opened(self, name: str) -> BinaryIO: ...  # a whole file, to read, wherever it lies
    def cdxj(self) -> Iterator[str]: ...  # the index of all files, in order, wherever they lie
    def verify(self, versions: Iterable[Version]) -> Iterator[tuple[Version, str]]: ...
    def close(self) -> None: ...


class Store(Listing, Stream, Protocol):
    """Resources, settings, visits, versions, plans and leases.

    A visit is acknowledged when `complete` has returned; nothing acknowledged is lost by a crash."""

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
    ) -> Iterator[tuple[Resource, Standing, Plan | None]]:
        """In the order of their numbers; `text` stands in the URL, in whatever case of letters."""

    def say(
        self, scope: Scope, settings: Settings, now: float, *, forget: Sequence[str] = ()
    ) -> int: ...  # how many resources it reaches
    def said(self, scopes: Sequence[Scope] | None = None) -> Iterator[tuple[Scope, Settings]]:
        """Every layer, from the widest to the nearest; or those of them that are of these scopes, in their
        order."""

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
    def adopt(
        self, past: Sequence[Adoption], *, now: float, files: Mapping[str, int] | None = None
    ) -> list[bool]:
        """Record visits that were made elsewhere; gates stay as they are. Versions are numbered in the order
        of time: later ones make way. Of recorded visits that are restated the moments alone become others.
        Refused where the host is leased, or the resource was visited meanwhile
        or removed."""

    def hold(self, host: str, *, now: float, lease_s: float, by: str = "") -> Hold | None:
        """Lease a host alone; None while it is leased or gated."""

    def let_go(self, hold: Hold, *, gate_at: float, n_host_failures: int) -> None: ...
    def abandon(self, by: Sequence[str], *, now: float, rest_s: float) -> int:
        """End the leases of processes that are known to be dead. Their hosts are left alone for as long as
        after their last visit, or `rest_s` where there was none."""

    def set_back(self, now: float, *, lease_s: float, rest_s: float) -> int:
        """The clock was set back to `now`: nothing lies further ahead of it than it can, from then on. Leases
        end after `lease_s`; gates open after as long as the host was left alone after its last visit, or
        `rest_s` where that is more, and those of hosts in trouble after a day; what was visited in the future
        was visited now, and is due after its gap. How many resources that concerned."""

    def gate_at(self, host: str) -> float: ...  # when its gate opens; -inf: it never had one
    def ready_at(self, now: float, *, due_by: float = inf) -> float:
        """When `claim` will next have something; inf: never. Of hosts alone that have something due by
        `due_by`, where that is said."""

    def held(self, leases: Sequence[Lease]) -> list[bool]: ...  # not those completed, released, taken over
    def batch(self) -> tuple[Batch, Floats]: ...  # all that are not paused, with their memory rows
    def told_of(self, visits: Sequence[Visit]) -> tuple[Batch, Floats]: ...  # a batch of whom these told of
    def replan(self, plans: Plans) -> None:
        """A plan by the rule `ASKED` stands until it is visited: only another such takes its place."""

    # what happened
    def visits(
        self,
        resource_id: int,
        limit: int | None = None,
        *,
        from_at: float = -inf,
        until_at: float = inf,
    ) -> Iterator[Visit]:
        """Newest first; `until_at` itself is not among them."""

    def signals(self, resource_id: int, limit: int | None = None) -> Iterator[Signal]: ...  # newest first
    def told(self) -> Iterator[Seen]:
        """All visits that teach, in pages, in the order of their times; `unfolded`, so that one that tells of
        moments has a row for each."""

    def lately(self, ids: Ints, n_each: int) -> Seen: ...  # of those rows, the newest of these resources
    def heard(self, mark: int, limit: int) -> tuple[Seen, int]:
        """Of those rows, in the order of their visits, what was recorded since this mark was given, with the
        mark to ask with next; at most `limit`, the newest. 0 is the mark of those who never asked."""

    def recorded_since(self, mark: int | None, limit: int) -> tuple[Sequence[Visit], int]:
        """All visits of what is watched, whatever came of them, in the order of recording: at most `limit` of
        those since this mark was given, the first ones, with the mark to ask with next. None gives no visit,
        and the mark of this moment."""

    def looked(self, from_at: float, until_at: float, *, every: int = 1) -> Iterator[Looked]:
        """All visits from the one moment until just before the other, in pages, in the order of their times;
        or those of resources whose numbers are divisible by `every`.
        Of each, `complete` kept what its plan had forecast, where that was still the one for its `due_at`."""

    def tally(self, from_at: float, until_at: float, step_s: float) -> Ints:
        """Those visits counted, a row for each step of time back from `until_at`: all of them, those that
        found a change, those that told nothing, and those with a second look."""

    def sights(self) -> Iterator[tuple[Ints, Floats]]:
        """All that can be compared, in pages, in the order of their numbers: a row of `FEATURES` for each."""

    def sight(self, resource_id: int) -> Sight | None: ...
    def sighted_at(self, ids: Ints) -> Floats: ...  # when each one's was taken; NaN: none can be compared
    def hunches(self, model: str, ids: Ints, per_day: Floats, gap_s: Floats, at: float) -> None:
        """Keep what this model expects of these, beside what others did, and let them stand with it; what is
        not finite is none. Of models before the last few nothing is kept."""

    def hunches_of(self, resource_id: int) -> Sequence[tuple[str, float, Hunch]]:
        """What models expected of it, each with its name and when that was; the newest first."""

    def bags(self, ids: Ints | None = None) -> Iterator[tuple[Ints, Floats, Bags]]:
        """The words that are kept of versions of these resources, or of all: each resource, when its version
        came, and a row for it; in pages, in that order. Of versions that were pruned there are none."""

    def base(self, resource_id: int, until_at: float = inf) -> Bag | None: ...  # the newest, before then
    def rebag(self, resource_id: int, bags: Sequence[Bag], until_at: float) -> int:
        """Keep these in place of those up to this moment, as far as their versions are there; how many."""

    def connect(self, from_ids: Ints, to_ids: Ints) -> None: ...  # those link to these; once is enough
    def links(self) -> tuple[Ints, Ints]: ...  # from, to
    def in_links(self, ids: Ints) -> Ints: ...  # how many others link to each
    def kin(self, ids: Ints | None = None) -> KinTable: ...  # of these, or of all; in order
    def note_kin(self, ids: Ints, table: KinTable) -> None:
        """The kin of these resources; what was noted of them before is forgotten."""

    def prospects(self) -> Prospects: ...  # the present plans of all, paused ones too
    def remind(self, ids: Ints, since_at: Floats, rows: Floats) -> int: ...  # new memory, unless visited
    def recount(self, ids: Ints, since_at: Floats, n_changes: Ints, bits: Bits) -> int: ...  # likewise
    def recorded(self, fetch_ids: Sequence[str]) -> frozenset[str]: ...  # those of them that are
    def versions(self, resource_id: int | None = None) -> Iterator[Version]: ...  # oldest first
    def version(self, resource_id: int, seq: int) -> Version | None: ...  # by its number
    def history(
        self,
        resource_id: int,
        *,
        from_at: float = -inf,
        until_at: float = inf,
        newest_first: bool = False,
        limit: int,
    ) -> Sequence[Version]:
        """By time, the versions that are part of its history, `until_at` itself not among them."""

    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]: ...
    def n_visits_since(self, at: float) -> int: ...
    def n_second_since(self, at: float) -> int: ...  # those of them with a second look
    def took(self, limit: int) -> Took: ...  # the newest of those that were made here
    def hosts(self) -> Hosts: ...
    def planned(self) -> Planned: ...
    def counts(self, now: float) -> Mapping[str, int]: ...
    def files(self) -> Mapping[str, int]: ...  # committed length of every archive file
    def holding(self, digests: Sequence[str]) -> Mapping[str, Version]: ...  # the newest `worth_sharing`
    def carried(self) -> Mapping[str, str]: ...  # the address of every archive file that was carried away
    def carry(self, name: str, address: str) -> None: ...  # it lies there now; empty: in the folder again

    # what is taken out
    def wanted(self, leases: Sequence[Lease]) -> list[bool]: ...  # not those removed or erased since
    def placed(self, file: str, offset: int | None = None) -> Sequence[Version]: ...  # payloads in this file
    def crowded(self) -> Iterator[int]: ...  # resources with more than two versions, flagged ones counted
    def replace(self, made: Replacement) -> bool:
        """Record that files were written anew; the old ones are doomed. Nothing is recorded, and the answer
        is False, where a version lies in an old file that was neither moved nor dropped."""

    def doom(self, names: Sequence[str]) -> None: ...  # files to be deleted for good, whoever comes next
    def doomed(self) -> Mapping[str, str]: ...  # with the addresses of those that were carried away
    def bury(self, names: Sequence[str]) -> None: ...  # they are deleted
    def settle(self) -> None: ...  # what a process killed while it recorded left open is decided for good
    def begin_erasure(self, url: str, why: str, now: float) -> None:
        """From now on no visit that was claimed before is recorded; what its visits said is blanked."""

    def end_erasure(
        self, url: str, *, n_records: int, n_bytes: int, shared: Sequence[str] = (), done: bool = True
    ) -> None:
        """All its versions are tombstones then, with the flag `erased` and nothing of their content. It is
        not `done` while the store itself may hold a trace."""

    def erasures(self, url: str | None = None) -> Sequence[Erasure]: ...
    def scrub(self) -> None: ...  # leave no trace of what was blanked or deleted

    # the rest
    def note(self, key: str, value: str | None = None) -> str | None: ...  # small facts: the price …
    def exchange(self, key: str, expected: str | None, value: str) -> bool:
        """Note `value` if what is noted is still `expected`; all processes together see one order.
        The note `said` is the store's own: it changes whenever resources, tags or settings do."""

    def together(self) -> AbstractContextManager[None]:
        """What this thread writes within is written in one go, so that the disk is waited for once. A store
        that can fail writes all of it or nothing."""

    def until(self, over: Callable[[], bool]) -> AbstractContextManager[None]:
        """What is only read within is broken off with `TooLongError` soon after `over()`; what is written is
        written."""

    def close(self) -> None: ...
