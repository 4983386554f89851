"""Whatever is done to them, in whatever order: the two stores answer alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from math import inf, nan, nextafter
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recrawl.contracts import Store
from recrawl.model import (
    GLOBAL,
    Changed,
    Completion,
    Hold,
    Kind,
    Lease,
    Looked,
    Manner,
    NewResource,
    Outcome,
    Plan,
    Plans,
    Prospects,
    Scope,
    ScopeKind,
    Seen,
    Settings,
    Standing,
    Telling,
    Version,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore

HOSTS = ["a.example", "b.example", "c.example"]
URLS = [f"http://{host}/{i}" for host in HOSTS for i in range(4)]
TAGS = ["x", "y", "z"]

ids = st.lists(st.integers(1, 15), max_size=5)
tags = st.lists(st.sampled_from(TAGS), max_size=2)
layers = st.builds(
    Settings,
    kind=st.none() | st.sampled_from(Kind),
    weight=st.none() | st.sampled_from([0.0, 1.0, 2.5]),
    min_gap_s=st.none() | st.sampled_from([0.0, 20.0, 200.0]),
    max_gap_s=st.none() | st.sampled_from([10.0, 100.0, inf]),
    paused=st.none() | st.booleans(),
    allow_private=st.none() | st.booleans(),
    manner=st.none()
    | st.builds(
        Manner,
        render=st.none() | st.booleans(),
        max_bytes=st.none() | st.sampled_from([1024, 4096]),
        user_agent=st.none() | st.sampled_from(["a", "b"]),
    ),
)
scopes = (
    st.just(GLOBAL)
    | st.sampled_from(HOSTS).map(lambda name: Scope(ScopeKind.HOST, name))
    | st.sampled_from(TAGS).map(lambda name: Scope(ScopeKind.TAG, name))
    | st.sampled_from(URLS).map(lambda name: Scope(ScopeKind.RESOURCE, name))
)
times = st.sampled_from([-5.0, 0.0, 1.0, 30.0, 150.0, inf, nan])


class Agreement(RuleBasedStateMachine):
    """`now` mostly goes forward; a small step back is another process's clock."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = MemoryStore()
        self.sqlite = SqliteStore(Path(self.folder.name) / "store.db")
        self.now = 1_000.0
        self.leases: list[Lease] = []
        self.holds: list[Hold] = []
        self.n_visits = 0

    def teardown(self) -> None:
        self.sqlite.close()
        self.folder.cleanup()

    def both(self, ask: Callable[[Store], object]) -> object:
        answers = []
        for store in (self.memory, self.sqlite):
            try:
                answers.append(ask(store))
            except Exception as problem:  # both must refuse alike
                answers.append((type(problem).__name__, str(problem)))
        assert repr(answers[0]) == repr(answers[1])
        return answers[0]

    @rule(seconds=st.sampled_from([-3.0, 0.5, 7.0, 60.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(new=st.lists(st.tuples(st.sampled_from(URLS), layers, tags), max_size=6))
    def add(self, new: list[tuple[str, Settings, list[str]]]) -> None:
        given = [
            NewResource(url=url, host=url.split("/")[2], settings=said, tags=tuple(names))
            for url, said, names in new
        ]
        self.both(lambda store: store.add(given, self.now))

    @rule(chosen=ids)
    def remove(self, chosen: list[int]) -> None:
        self.both(lambda store: store.remove(chosen))

    @rule(
        scope=scopes,
        said=layers,
        forget=st.lists(st.sampled_from(["weight", "paused", "max_gap_s", "bad", "render", "manner"])),
    )
    def say(self, scope: Scope, said: Settings, forget: list[str]) -> None:
        self.both(lambda store: store.say(scope, said, self.now, forget=forget))

    @rule(chosen=ids, add=tags, drop=tags)
    def tag(self, chosen: list[int], add: list[str], drop: list[str]) -> None:
        self.both(lambda store: store.tag(chosen, add, drop, self.now))

    @rule(chosen=st.integers(1, 15), url=st.sampled_from(URLS))
    def move(self, chosen: int, url: str) -> None:
        self.both(lambda store: store.move(chosen, url, url.split("/")[2], self.now))

    @rule(limit=st.integers(0, 3), only=st.none() | st.integers(1, 15))
    def claim(self, limit: int, only: int | None) -> None:
        def ask(store: Store) -> list[Lease]:
            return store.claim(now=self.now, limit=limit, lease_s=50.0, only=only)

        leases = self.both(ask)
        assert isinstance(leases, list)
        assert len({lease.resource.host for lease in leases}) == len(leases)
        self.leases += leases

    @rule(which=st.integers(0, 5))
    def release(self, which: int) -> None:
        chosen = self.leases[-1 - which :][:1]
        self.both(lambda store: store.release(chosen, self.now + which - 2.0))

    @rule(back_s=st.sampled_from([0.0, 5.0, 40.0, 1e5]))
    def set_back(self, back_s: float) -> None:
        at = self.now - back_s  # for a moment
        self.both(lambda store: store.set_back(at, lease_s=40.0, rest_s=7.0))

    @rule(host=st.sampled_from([*HOSTS, "d.example"]))
    def hold(self, host: str) -> None:
        hold = self.both(lambda store: store.hold(host, now=self.now, lease_s=50.0))
        if isinstance(hold, Hold):
            self.holds.append(hold)

    @rule(which=st.integers(0, 3), gate_s=st.sampled_from([-10.0, 0.0, 90.0]), n=st.integers(0, 2))
    def let_go(self, which: int, gate_s: float, n: int) -> None:
        if not self.holds:
            return
        hold, gate_at = self.holds[-1 - which % len(self.holds)], self.now + gate_s
        self.both(lambda store: store.let_go(hold, gate_at=gate_at, n_host_failures=n))
        self.both(lambda store: store.gate_at(hold.host))

    @rule(
        which=st.lists(st.integers(0, 5), min_size=1, max_size=3),
        outcome=st.sampled_from([Outcome.OK, Outcome.OK, Outcome.GONE, Outcome.NET_ERROR]),
        flags=st.lists(st.sampled_from(["", "", "truncated"]), max_size=2),
        due_s=times,
        gate_s=st.sampled_from([-10.0, 0.0, 5.0, 90.0]),
        memory=st.lists(st.sampled_from([1.0, nan]), max_size=3),
        moved_to=st.none() | st.sampled_from(URLS[:2]),
        again=st.booleans(),
        told=st.lists(st.sampled_from(URLS), max_size=4),
        said_s=st.lists(st.sampled_from([0.0, 0.25, 5.0, 300.0]), max_size=3),
    )
    def complete(
        self,
        which: list[int],
        outcome: Outcome,
        flags: list[str],
        due_s: float,
        gate_s: float,
        memory: list[float],
        moved_to: str | None,
        again: bool,
        told: list[str],
        said_s: list[float],
    ) -> None:
        done = []
        for i in which:
            for lease in self.leases[-1 - i :][:1]:
                self.n_visits += not again
                resource_id = lease.resource.id
                known = lease.standing
                since_at = self.now if outcome.informative else known.since_at
                done.append(
                    Completion(
                        lease=lease,
                        visit=Visit(
                            fetch_id=f"fetch {self.n_visits}",
                            resource_id=resource_id,
                            at=self.now,
                            since_at=known.since_at,
                            outcome=outcome,
                            changed=Changed.YES if flags else Changed.UNKNOWN,
                            moved_to=moved_to,
                            second_bytes=int(due_s) if flags else None,
                            moments=tuple(self.now - ago_s for ago_s in sorted(said_s, reverse=True)),
                        ),
                        standing=Standing(
                            since_at=since_at,
                            last_at=self.now,
                            gap_s=due_s,
                            n_informative=known.n_informative + 1,
                            n_failures=0 if outcome.informative else known.n_failures + 1,
                            bits=(known.bits << 1 | 1) & 0xFFFF_FFFF_FFFF_FFFF,
                            memory=tuple(memory),
                            moved_to=moved_to,
                            moved_since_at=known.since_at,
                        ),
                        plan=Plan(resource_id=resource_id, due_at=self.now + due_s, rule="r"),
                        gate_at=self.now + gate_s,
                        n_host_failures=0 if outcome.informative else lease.n_host_failures + 1,
                        versions=tuple(
                            Version(resource_id=resource_id, seq=0, at=self.now, digest="d", flag=flag)
                            for flag in flags
                        ),
                        tells=tuple(Telling(url, self.now - 1.25) for url in told),
                    )
                )
        files = {"f": int(self.now), "g": self.n_visits}
        self.both(lambda store: store.complete(done, files))

    @rule(dues=st.dictionaries(st.integers(1, 15), times))
    def replan(self, dues: dict[int, float]) -> None:
        n = len(dues)
        plans = Plans(
            id=np.array(list(dues), np.int64),
            since_at=np.full(n, nan),
            due_at=self.now + np.array(list(dues.values()), np.float64),
            gap_s=np.arange(n, dtype=np.float64),
            p_changed=np.full(n, 0.5),
            per_day=np.full(n, nan),
            bound=np.resize(np.array([0, 1, -1], np.int8), n),
            price=1.5,
            rule="index",
            planned_at=self.now,
        )
        self.both(lambda store: store.replan(plans))

    @rule()
    def a_claim_succeeds_when_it_was_said_to_and_no_sooner(self) -> None:
        ready_at = self.both(lambda store: store.ready_at(self.now))
        assert isinstance(ready_at, float)
        before = 1e12 if ready_at == inf else nextafter(ready_at, -inf)
        if before >= self.now:
            assert self.both(lambda store: store.claim(now=before, limit=3, lease_s=50.0)) == []
        if ready_at < inf:
            leases = self.both(lambda store: store.claim(now=ready_at, limit=1, lease_s=50.0))
            assert isinstance(leases, list)
            assert leases
            self.both(lambda store: store.release(leases, ready_at))

    @invariant()
    def they_agree_on_what_is_next(self) -> None:
        self.both(lambda store: store.ready_at(self.now))
        self.both(lambda store: store.ready_at(self.now, due_by=self.now))
        self.both(lambda store: sorted(store.counts(self.now).items()))

    @rule(limit=st.none() | st.integers(0, 4), after=st.integers(0, 9), tag=st.none() | st.sampled_from(TAGS))
    def they_agree_on_what_is_watched(self, limit: int | None, after: int, tag: str | None) -> None:
        self.both(lambda store: list(store.resources(limit=limit, after=after, tag=tag)))
        self.both(lambda store: list(store.resources(text="/1", host=HOSTS[0])))
        self.both(lambda store: list(store.said()))
        self.both(lambda store: list(store.moved()))
        self.both(lambda store: store.find(URLS[after]))

    @rule(resource_id=st.integers(1, 15))
    def they_agree_on_what_happened(self, resource_id: int) -> None:
        self.both(lambda store: list(store.visits(resource_id, limit=3)))
        self.both(lambda store: list(store.versions()))
        self.both(lambda store: list(store.versions(resource_id)))
        self.both(lambda store: store.standing(resource_id))
        self.both(lambda store: store.n_visits_since(self.now - 50.0))
        self.both(lambda store: store.n_second_since(self.now - 50.0))
        self.both(lambda store: dict(store.files()))
        self.both(lambda store: [np.asarray(column).tolist() for column in _columns(store)])
        self.both(lambda store: list(store.signals(resource_id)))
        self.both(lambda store: [sorted(zip(*_lists(seen), strict=True)) for seen in store.told()])
        self.both(lambda store: sorted(zip(*_lists(store.lately(np.array([resource_id]), 3)), strict=True)))
        self.both(lambda store: sorted(zip(*_lists(store.heard(0, 5)[0]), strict=True)))
        since_at = self.now - 100.0
        self.both(lambda store: [sorted(map(repr, _rows(page))) for page in store.looked(since_at, self.now)])
        self.both(lambda store: store.tally(since_at, self.now, 30.0).tolist())
        self.both(lambda store: _rows(store.prospects()))


def _rows(columns: Looked | Prospects) -> list[tuple[object, ...]]:
    lists = [getattr(columns, name).tolist() for name in columns.__dataclass_fields__]
    return list(zip(*lists, strict=True))


def _columns(store: Store) -> list[object]:
    batch, memory = store.batch()
    columns = [getattr(batch, name) for name in batch.__dataclass_fields__]
    for column in (*columns, memory):
        assert len(column) == len(batch)
    return [*columns, memory, memory.shape, [column.dtype.str for column in columns]]


def _lists(seen: Seen) -> list[list[float]]:
    return [getattr(seen, name).tolist() for name in seen.__dataclass_fields__]


AgreementTest = Agreement.TestCase
AgreementTest.settings = hypothesis_settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True
)
