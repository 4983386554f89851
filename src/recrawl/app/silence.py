"""Who has been quiet for longer than was to be expected, and what may be behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.contracts import Alert, Store
from recrawl.errors import BadSettingError
from recrawl.learn.silence import silent
from recrawl.live.wording import BELIEVED, LIKENESS
from recrawl.model import Batch, Changed, Floats, Resource, Standing, Visit
from recrawl.schedule.reason import span

# So many visits in a row that told nothing are no hiccup: what they might have seen is missed too.
N_FAILED = 3
_N_READ = 100  # visits at most, back to the last change
_UNMATCHED = "nothing matches"  # as detectors say it where a lens finds nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    resource: Resource
    changed_at: float  # the last time that a change was seen
    until_at: float  # the last visit that told something; now, while visits fail
    p: float  # of no change meanwhile, by what was believed at the change
    cause: str  # `gone`, `moved`, `disguised`, `failing`, `selector`; empty: nothing is known
    words: str  # the same for people

    @property
    def length_s(self) -> float:
        return self.until_at - self.changed_at

    def row(self) -> Row:
        return {
            "url": self.resource.url,
            "p": self.p,
            "silent_s": self.length_s,
            "last_change_at": iso(self.changed_at),
            "until_at": iso(self.until_at),
            "cause": self.cause or None,
            "words": self.words,
        }


def silences(beliefs: Beliefs, batch: Batch, now: float) -> tuple[list[int], Floats, Floats, Floats]:
    """The rows of those that have fallen silent, the most improbable first; and of all rows when a change was
    last seen, until when no other was, and how probable that was."""
    if not isinstance(beliefs.predictor, Alert):
        raise BadSettingError(
            'This predictor does not say how probable a silence is; `schedule.predictor = "rhythm"` does.'
        )
    until_at = np.where(batch.n_failures >= N_FAILED, now, batch.since_at)
    changed_at, p = beliefs.predictor.silences(batch, until_at)
    rows = np.flatnonzero(silent(p) & np.isfinite(batch.since_at))
    return rows[np.argsort(p[rows], kind="stable")].tolist(), changed_at, until_at, p


def all_silent(beliefs: Beliefs, batch: Batch, now: float) -> tuple[int, Iterator[Silence]]:
    """How many have fallen silent, and each of them, the most improbable first."""
    rows, changed_at, until_at, p = silences(beliefs, batch, now)

    def each() -> Iterator[Silence]:
        for row in rows:
            found = beliefs.store.resources(after=int(batch.id[row]) - 1, limit=1)
            for resource, standing, _ in found:
                if resource.id == batch.id[row]:  # else it was removed meanwhile
                    figures = (float(column[row]) for column in (changed_at, until_at, p))
                    yield _silence(beliefs.store, resource, standing, *figures)

    return len(rows), each()


def silence_of(
    beliefs: Beliefs, resource: Resource, standing: Standing, batch: Batch, now: float
) -> Silence | None:
    """Of the only one in this batch; None where it is not silent, or nobody can say."""
    if not isinstance(beliefs.predictor, Alert) or resource.effective.paused:
        return None
    rows, changed_at, until_at, p = silences(beliefs, batch, now)
    if not rows:
        return None
    return _silence(beliefs.store, resource, standing, float(changed_at[0]), float(until_at[0]), float(p[0]))


def _silence(
    store: Store, resource: Resource, standing: Standing, changed_at: float, until_at: float, p: float
) -> Silence:
    cause, words = behind(resource, standing, list(_since_change(store, resource)))
    return Silence(resource=resource, changed_at=changed_at, until_at=until_at, p=p, cause=cause, words=words)


def _since_change(store: Store, resource: Resource) -> Iterator[Visit]:
    """Newest first, up to the last change that counts."""
    for visit in store.visits(resource.id, _N_READ):
        yield visit
        if visit.counted(resource.effective.changes) is Changed.YES:
            return


def behind(resource: Resource, standing: Standing, visits: list[Visit]) -> tuple[str, str]:
    """What may be behind a silence, by what its visits show; newest first, the last is that of the change."""
    version = standing.version
    if standing.n_failures >= N_FAILED and standing.noise.disguise:
        since = span(standing.last_at - standing.noise.disguised_at)
        looks = LIKENESS.get(standing.noise.disguise, standing.noise.disguise)
        return "disguised", f"for {since} its answers have looked like {looks}"
    if standing.n_failures >= N_FAILED:
        why = f": {visits[0].evidence}" if visits and visits[0].evidence else ""
        return "failing", f"its last {standing.n_failures} visits told nothing{why}"
    if version is not None and version.gone:
        return "gone", f"it is gone since {iso(version.at)}"
    if standing.moved_to and standing.moved_to != resource.url:
        return "moved", f"it has moved to {standing.moved_to}; see `recrawl moved`"
    believed = next((visit.evidence for visit in visits if BELIEVED in visit.evidence), None)
    if believed is not None:
        return "disguised", f"what stands there since is {believed.partition(BELIEVED)[0]}"
    if resource.effective.manner.include:
        missed = next((visit.evidence for visit in visits if _UNMATCHED in visit.evidence), None)
        if missed is not None:
            return "selector", f"what is looked for is not found any more: {missed}"
    return "", "its visits show nothing wrong: it has fallen silent"
