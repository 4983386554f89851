"""Puts the parts together: the only place that knows which ones there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl import __version__
from recrawl.app import config as configuration
from recrawl.app.access import FILE_NAME as SECRETS_FILE
from recrawl.app.access import Secrets
from recrawl.app.beside import carried, placed
from recrawl.app.config import Config
from recrawl.app.mending import mended
from recrawl.app.parts import premises
from recrawl.app.policies import policy_of
from recrawl.app.presence import Presence
from recrawl.app.quantity import Budget
from recrawl.contracts import Archive, Clock, Detector, Fetcher, Handler, Store
from recrawl.errors import RecrawlError, StoreError
from recrawl.live.clock import WallClock
from recrawl.live.room import Room
from recrawl.model import DAY_S, GLOBAL, Settings
from recrawl.registry import made, names, part
from recrawl.terms import noted_terms

# What only a visit needs is imported when one is made: listing what is watched must not wait for it.
if TYPE_CHECKING:
    from recrawl.live.runner import Landed, Runner
    from recrawl.live.worker import Worker
    from recrawl.loop import Loop
    from recrawl.observe.browser import Browser
    from recrawl.observe.http import HttpFetcher
    from recrawl.observe.route import Route

STORE_FILE = "recrawl.sqlite"
ARCHIVE_FOLDER = "archive"
PRESENCE_FOLDER = "running"


@dataclass
class House:
    """Everything that lives under one home folder, opened when it is first needed."""

    home: Path
    config: Config
    clock: Clock
    recovered: Sequence[str] = ()  # what was mended when the archive was opened
    reading: bool = False  # whoever only reads makes no folder, and says nothing of the settings

    @property
    def kept(self) -> bool:
        """Whether anything was ever recorded here."""
        return (self.home / STORE_FILE).exists()

    @cached_property
    def store(self) -> Store:
        if self.reading and not self.kept:
            nothing: Store = part("stores", "memory")()
            return nothing
        store = self._opened_store()
        if not self.reading:
            self._say_defaults(store)
        return store

    def _opened_store(self) -> Store:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StoreError(
                f"The folder {self.home} cannot be made ({problem.strerror}); choose another with --home."
            ) from None
        store: Store = part("stores", "sqlite")(self.home / STORE_FILE)
        return store

    def _say_defaults(self, store: Store) -> None:
        """What the configuration says of all resources, where that is not what was said last."""
        gaps = self.config.gaps
        wanted = Settings(weight=gaps.weight, min_gap_s=gaps.min_gap, max_gap_s=gaps.max_gap)
        said = next((settings for scope, settings in store.said() if scope == GLOBAL), Settings())
        if (said.weight, said.min_gap_s, said.max_gap_s) != (gaps.weight, gaps.min_gap, gaps.max_gap):
            store.say(GLOBAL, wanted, self.clock.now())

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(self.home / SECRETS_FILE)

    @cached_property
    def archive(self) -> Archive:
        """The archive; before anything is written, what a crash left torn is cut off."""
        archiving = self.config.archiving
        archive: Archive = part("archives", "warc")(
            self.home / ARCHIVE_FOLDER,
            now=self.clock.now,
            max_bytes=archiving.max_file_bytes,
            max_age_s=archiving.max_file_age,
            carried=partial(carried, self.home / STORE_FILE),
            placed=partial(placed, self.home / STORE_FILE),
            software=f"recrawl/{__version__}",
            operator=archiving.operator,
            user_agent=self.config.fetching.user_agent,
        )
        if not self.reading:
            self.recovered = mended(archive, self.store)
        return archive

    @property
    def room(self) -> Room:
        return Room(self.home, self.config.archiving.min_free_bytes, self.config.archiving.min_free_share)

    @cached_property
    def worker(self) -> Worker:
        from recrawl.live.worker import Worker

        return Worker()

    @property
    def tail_s(self) -> float:
        """In the last part of a lease nothing is sent: what was sent before may take its whole time, and then
        the host may want to be left alone for minutes, which a killed process can tell nobody."""
        from recrawl.observe.pacing import MAX_CRAWL_DELAY_S

        fetching = self.config.fetching
        return (fetching.total_timeout + 30.0) * self.clock.speed + max(fetching.min_delay, MAX_CRAWL_DELAY_S)

    @property
    def lease_s(self) -> float:
        """A fetch may take its whole time on the wall, and the host may ask for minutes between its parts."""
        from recrawl.observe.limits import Limits

        return self.config.fetching.total_timeout * self.clock.speed + Limits().wait_s + self.tail_s

    @cached_property
    def presence(self) -> Presence:
        """This process among those that visit; the leases of the dead are ended when it comes."""
        from recrawl.observe.pacing import MAX_CRAWL_DELAY_S

        presence = Presence(self.home / PRESENCE_FOLDER)
        if dead := presence.dead():
            # A server may still be at what the dead had asked for; its rest begins when that must be over.
            over_at = self.clock.now() + self.config.fetching.total_timeout * self.clock.speed
            rest_s = max(self.config.fetching.min_delay, MAX_CRAWL_DELAY_S)
            self.store.abandon(dead, now=over_at, rest_s=rest_s)
            presence.buried(dead)
        return presence

    @cached_property
    def detectors(self) -> dict[str, Detector]:
        return {name: part("detectors", name)() for name in names("detectors")}

    def loop(
        self,
        *,
        policy: str | None = None,
        goal: str | None = None,
        per_day: float | None = None,
        bytes_per_day: float | None = None,
        as_last: bool = False,
    ) -> Loop:
        """The loop, with the configuration's choices unless others are given; with `as_last` it keeps to the
        terms of the last run, so that one visit changes no other plan."""
        from recrawl.live.study import elsewhere
        from recrawl.loop import Loop

        schedule = self.config.schedule
        name, goal_name = policy or schedule.policy, goal or schedule.goal
        budget = Budget(per_day, bytes_per_day).otherwise(schedule.limits)
        if as_last and (last := noted_terms(self.store)) is not None:
            name, _, goal_name = last.rule.partition(":")
            budget = Budget(last.per_day, last.bytes_per_day).otherwise(budget)
        chosen, rule = policy_of(name, goal_name, asked=goal is not None)
        return Loop(
            store=self.store,
            predictor=made("predictors", schedule.predictor),
            policy=chosen,
            rule=rule,
            per_day=budget.visits_per_day,
            bytes_per_day=budget.bytes_per_day,
            reprice_every_s=schedule.reprice_every,
            fit_priors_every_s=DAY_S,
            train_every_s=DAY_S if self.clock.speed == 1.0 else inf,  # it takes seconds of the wall's
            study=elsewhere,
            lease_s=self.lease_s,
            by=self.presence.name,
        )

    def fetcher(self) -> Route:
        """Everything that can be looked at, each in its own way, all of it over one path to the web."""
        from recrawl.observe.route import Route

        given = premises(self.config, self.clock, self.home)
        handlers: dict[str, Handler] = {name: part("handlers", name)(given) for name in names("handlers")}
        return Route(self._web(), handlers, clock=self.clock, browser=self._browser())

    def _browser(self) -> Browser:
        from recrawl.observe.browser import Browser, RenderLimits

        fetching = self.config.fetching
        return Browser(
            clock=self.clock,
            user_agent=fetching.user_agent,
            limits=RenderLimits(
                total_s=fetching.render_timeout,
                n_requests=fetching.render_requests,
                body_bytes=fetching.max_decoded_bytes,
                n_browsers=fetching.browsers,
            ),
        )

    def _web(self) -> HttpFetcher:
        from recrawl.live.gates import StoreGates
        from recrawl.observe.http import HttpFetcher, Limits

        fetching = self.config.fetching
        return HttpFetcher(
            clock=self.clock,
            user_agent=fetching.user_agent,
            min_delay_s=fetching.min_delay,
            spool=self.home,
            slow_factor=fetching.slow_factor,
            gates=StoreGates(
                store=self.store,
                worker=self.worker,
                clock=self.clock,
                lease_s=self.lease_s,
                tail_s=self.tail_s,
                by=self.presence.name,
            ),
            limits=Limits(
                total_s=fetching.total_timeout,
                wire_bytes=fetching.max_bytes,
                body_bytes=fetching.max_decoded_bytes,
            ),
        )

    def runner(
        self,
        loop: Loop,
        fetcher: Fetcher,
        *,
        allow_private: bool = False,
        watch: Callable[[Landed], object] = lambda _: None,
        tell: Callable[[str], object] = lambda _: None,
    ) -> Runner:
        from recrawl.detect.choose import detector_name
        from recrawl.live.runner import Runner

        return Runner(
            loop=loop,
            fetcher=fetcher,
            archive=self.archive,
            detectors=self.detectors,
            choose=detector_name,
            clock=self.clock,
            min_delay_s=self.config.fetching.min_delay,
            tail_s=self.tail_s,
            worker=self.worker,
            concurrency=self.config.fetching.concurrency,
            allow_private=allow_private,
            access_for=self.secrets.access_for,
            watch=watch,
            lack=self.room.lack,
            tell=tell,
        )

    def close(self) -> None:
        for name in ("worker", "presence", "archive", "store"):
            if name in self.__dict__:  # it was opened
                getattr(self, name).close()


@contextmanager
def open_house(
    home: Path | None = None,
    *,
    config: Config | None = None,
    clock: Clock | None = None,
    reading: bool = False,
) -> Iterator[House]:
    """The house at this home, closed at the end whatever happens."""
    place = (home or configuration.default_home()).expanduser()
    if place.exists() and not place.is_dir():
        raise RecrawlError(f"{place} is a file, not a folder; choose another with --home.")
    house = House(place, config or configuration.load(place), clock or WallClock(), reading=reading)
    try:
        yield house
    finally:
        house.close()
