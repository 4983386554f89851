"""Puts the parts together: the only place that knows which ones there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl import __version__
from recrawl.app import config as configuration
from recrawl.app.config import Config
from recrawl.app.registry import names, part
from recrawl.contracts import Archive, Clock, Detector, Fetcher, Store
from recrawl.errors import RecrawlError, StoreError
from recrawl.live.clock import WallClock
from recrawl.model import GLOBAL, Settings

# What only a visit needs is imported when one is made: listing what is watched must not wait for it.
if TYPE_CHECKING:
    from recrawl.live.runner import Landed, Runner
    from recrawl.loop import Loop
    from recrawl.observe.http import HttpFetcher

STORE_FILE = "recrawl.sqlite"
ARCHIVE_FOLDER = "archive"


@dataclass
class House:
    """Everything that lives under one home folder, opened when it is first needed."""

    home: Path
    config: Config
    clock: Clock
    recovered: Sequence[str] = ()  # what was mended when the archive was opened

    @cached_property
    def store(self) -> Store:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StoreError(
                f"The folder {self.home} cannot be made ({problem.strerror}); choose another with --home."
            ) from None
        store: Store = part("stores", "sqlite")(self.home / STORE_FILE)
        gaps = self.config.gaps
        wanted = Settings(weight=gaps.weight, min_gap_s=gaps.min_gap, max_gap_s=gaps.max_gap)
        said = next((settings for scope, settings in store.said() if scope == GLOBAL), Settings())
        if (said.weight, said.min_gap_s, said.max_gap_s) != (gaps.weight, gaps.min_gap, gaps.max_gap):
            store.say(GLOBAL, wanted, self.clock.now())
        return store

    @cached_property
    def archive(self) -> Archive:
        """The archive, with what a crash left torn cut off."""
        archiving = self.config.archiving
        archive: Archive = part("archives", "warc")(
            self.home / ARCHIVE_FOLDER,
            now=self.clock.now,
            max_bytes=archiving.max_file_bytes,
            software=f"recrawl/{__version__}",
            operator=archiving.operator,
            user_agent=self.config.fetching.user_agent,
        )
        self.recovered = archive.recover(self.store.files)
        return archive

    @cached_property
    def detectors(self) -> dict[str, Detector]:
        return {name: part("detectors", name)() for name in names("detectors")}

    def loop(self, *, goal: str | None = None, per_day: float | None = None) -> Loop:
        """The loop, with the configuration's choices unless others are given."""
        from recrawl.loop import Loop

        schedule = self.config.schedule
        goal = goal or schedule.goal
        if schedule.policy == "index":
            policy, rule = part("policies", "index")(part("goals", goal)()), f"index:{goal}"
        else:
            policy, rule = part("policies", schedule.policy)(), schedule.policy
        return Loop(
            store=self.store,
            predictor=part("predictors", schedule.predictor)(),
            policy=policy,
            rule=rule,
            per_day=schedule.budget if per_day is None else per_day,
            reprice_every_s=schedule.reprice_every,
            # a fetch may take its whole time on the wall, and the host may ask for minutes between its parts
            lease_s=(self.config.fetching.total_timeout + 30.0) * self.clock.speed + 300.0,
        )

    def fetcher(self) -> HttpFetcher:
        from recrawl.observe.http import HttpFetcher, Limits

        fetching = self.config.fetching
        return HttpFetcher(
            clock=self.clock,
            user_agent=fetching.user_agent,
            min_delay_s=fetching.min_delay,
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
            concurrency=self.config.fetching.concurrency,
            allow_private=allow_private,
            watch=watch,
        )

    def close(self) -> None:
        opened = self.__dict__
        if "archive" in opened:
            self.archive.close()
        if "store" in opened:
            self.store.close()


@contextmanager
def open_house(
    home: Path | None = None, *, config: Config | None = None, clock: Clock | None = None
) -> Iterator[House]:
    """The house at this home, closed at the end whatever happens."""
    place = (home or configuration.default_home()).expanduser()
    if place.exists() and not place.is_dir():
        raise RecrawlError(f"{place} is a file, not a folder; choose another with --home.")
    house = House(place, config or configuration.load(place), clock or WallClock())
    try:
        yield house
    finally:
        house.close()
