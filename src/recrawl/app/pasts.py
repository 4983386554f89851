"""Other people's visits taken in: resource by resource, each in the order of time, many side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from recrawl.app.replies import Replies, fetch_id
from recrawl.detect.choose import detector_name
from recrawl.errors import BadInputError
from recrawl.live.adoption import Adopted, Adopter, Past
from recrawl.live.ground import Ground
from recrawl.registry import part
from recrawl.remember.catalogue import Catalogue, Listed
from recrawl.remember.foreign import Damage
from recrawl.remember.records import Unreadable

if TYPE_CHECKING:
    from recrawl.app.build import House

N_SIDE_BY_SIDE = 64  # one transaction serves them all
N_NAMED = 1_000  # damaged records that are named one by one
TOLD_EVERY = 200  # records
_PAGE = 256

KNOWN = "recorded already"
COVERED = "dated within the time that recorded visits speak of"
SAME_MOMENT = "of the same moment as another"
FUTURE = "dated in the future"
ERASED = "erased on request"
BUSY = "visited meanwhile"
DAMAGED = "damaged"


@dataclass(slots=True)
class Imported:
    """What came of an import; true at every moment."""

    adopted: Adopted = field(default_factory=Adopted)
    n_read: int = 0
    n_added: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    damaged: list[Damage] = field(default_factory=list)  # the first thousand

    def name(self, found: Damage) -> None:
        if len(self.damaged) < N_NAMED:
            self.damaged.append(found)


def damaged(found: Damage) -> BadInputError:
    return BadInputError(
        f"{found.name} is damaged at byte {found.offset}: {found.problem}. Mend it, or leave --strict out: "
        "then it is passed over and counted."
    )


class Work:
    """The second pass: resource by resource, each in the order of time, many side by side."""

    def __init__(
        self,
        house: House,
        catalogue: Catalogue,
        result: Imported,
        *,
        strict: bool,
        tell: Callable[[str], object],
        whole: Callable[[], AbstractContextManager[object]],
        n_answers: int,
    ) -> None:
        self._house = house
        self._catalogue = catalogue
        self._result = result
        self._strict = strict
        self._tell = tell
        self._whole = whole
        self._n_answers = n_answers
        self._n_seen = 0
        self._replies = Replies(
            catalogue,
            spool=house.home,
            most_bytes=house.config.fetching.max_decoded_bytes,
            load=house.archive.snapshot,
        )

    def through(self, urls: Iterator[str], *, last: bool) -> list[str]:
        """Take these in; those whose resources were visited meanwhile come back, to be tried again."""
        house = self._house
        loop = house.loop(as_last=True)
        loop.start(house.clock.now())
        ground = Ground(
            loop=loop,
            archive=house.archive,
            detectors=house.detectors,
            choose=detector_name,
            min_delay_s=0.0,
        )
        fresh = part("predictors", house.config.schedule.predictor)
        adopter = Adopter(ground, fresh=fresh, now=house.clock.now, done=self._result.adopted)
        busy: list[str] = []
        while together := list(islice(urls, N_SIDE_BY_SIDE)):
            busy += self._side_by_side(adopter, together, last=last)
        loop.finish()
        return busy

    def _side_by_side(self, adopter: Adopter, urls: Sequence[str], *, last: bool) -> list[str]:
        resources = [found for url in urls if (found := self._house.store.find(url)) is not None]
        walks = [_Walk(past=adopter.opened(resource)) for resource in resources]
        steps = [self._steps(adopter, walk) for walk in walks]
        while steps:
            steps = [step for step in steps if next(step, self) is None]
        with self._whole():
            adopter.flush()
        for walk in walks:
            if not walk.past.lost:
                self._result.skipped += walk.skipped
            elif last:
                self._result.skipped[BUSY] += walk.past.n_lost
        return [walk.past.resource.url for walk in walks if walk.past.lost]

    def _steps(self, adopter: Adopter, walk: _Walk) -> Iterator[None]:
        """One step for every answer of this resource."""
        past, store = walk.past, self._house.store
        erased_at = max((found.at for found in store.erasures(past.resource.url)), default=-inf)
        answers = self._catalogue.of(past.resource.url)
        while page := list(islice(answers, _PAGE)):
            ids = [fetch_id(listed) for listed in page]
            recorded = store.recorded(ids)
            for listed, name in zip(page, ids, strict=True):
                self._say()
                reason = (
                    KNOWN
                    if name in recorded
                    else ERASED
                    if listed.at <= erased_at
                    else FUTURE
                    if listed.at > self._house.clock.now()
                    else SAME_MOMENT
                    if listed.at <= walk.taken_at
                    else COVERED
                    if not past.room_for(listed.at)
                    else self._taken(adopter, past, listed, name)
                )
                if reason:
                    walk.skipped[reason] += 1
                else:
                    walk.taken_at = listed.at
                yield

    def _taken(self, adopter: Adopter, past: Past, listed: Listed, name: str) -> str:
        """Take it in; why not, where it cannot be."""
        with self._whole():
            before = adopter.reach(past, listed.at)
        try:
            fetch = self._replies.fetch(listed, past.resource, before)
        except Unreadable as problem:
            found = Damage(self._catalogue.sources[listed.source].name, listed.offset, str(problem))
            if self._strict:
                raise damaged(found) from None
            self._result.name(found)
            return DAMAGED
        if isinstance(fetch, str):
            return fetch
        with self._whole():
            adopter.take(past, fetch, name)
        return ""

    def _say(self) -> None:
        self._n_seen += 1
        if self._n_seen % TOLD_EVERY == 0:
            self._tell(f"Importing … {self._n_seen:,} of {self._n_answers:,} answers")


@dataclass(slots=True)
class _Walk:
    """How far one resource's past was gone through."""

    past: Past
    taken_at: float = -inf
    skipped: Counter[str] = field(default_factory=Counter)
