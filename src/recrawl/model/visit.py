"""What a visit found, what it left behind, and what was planned next."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isnan, nan

from recrawl.model.bag import Bag
from recrawl.model.fetch import Outcome
from recrawl.model.lens import SILENCE, Noise
from recrawl.model.resource import Changes, Resource
from recrawl.model.sight import Hunch, Sight
from recrawl.model.signal import Telling
from recrawl.model.verdict import Changed

# Packed, a reference takes some 600 bytes, and a record with so much text in it 800 to 950.
MIN_SHARED_BYTES = 512
ASKED = "asked"  # the rule of a plan that a person made: as soon as it can be


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One visit. A change it reports lies somewhere in `(since_at, at]`.

    `since_at` is the last visit that told us something, NaN at the first. `event_at` is the change's own
    time where the content gives one, else NaN. `moments` are when each new thing was said, where the content
    gives the times of all of them: ascending, within `(since_at, at]`; of a first visit, all that is shown.
    """

    fetch_id: str  # unique: the same visit recorded twice counts once
    resource_id: int
    at: float
    since_at: float = nan
    due_at: float = nan  # when it had been planned for
    outcome: Outcome = Outcome.OK
    status: int | None = None
    changed: Changed = Changed.UNKNOWN
    significant: bool | None = None
    magnitude: float = 0.0
    event_at: float = nan
    moments: tuple[float, ...] = ()
    duration_s: float = 0.0
    n_bytes: int = 0
    second_bytes: int | None = None  # of a second look; None: there was none
    evidence: str = ""  # the verdict's, or why the fetch failed
    moved_to: str | None = None  # where nothing but permanent redirects led

    @property
    def informative(self) -> bool:
        """Whether it moves `since_at` on."""
        return self.outcome.informative

    @property
    def teaches(self) -> bool:
        """Whether it found out if there was a change since an earlier one, or, at the first, when there were
        any before. A gap that ends when it begins, or before, tells nothing: clocks can be set back."""
        if isnan(self.since_at):
            return self.informative and bool(self.moments)
        return self.informative and self.changed is not Changed.UNKNOWN and self.since_at < self.at

    def counted(self, changes: Changes) -> Changed:
        """Whether it found a change, where these are what counts. What was never tested counts as any."""
        slight = self.changed is Changed.YES and self.significant is False
        return Changed.NO if slight and changes is Changes.SIGNIFICANT else self.changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A distinct snapshot of a resource, and where the archive keeps it.

    A version with `gone` set is a tombstone: the resource answered that it is not there. One with a
    `flag` is kept as evidence and is not part of the resource's history (a truncated body, say).
    """

    resource_id: int
    seq: int  # 1, 2, 3 … within the resource; 0 while not recorded
    at: float
    digest: str  # "sha256:…" of the decoded body
    fingerprint: str = ""  # the detector's digest: equal means "no change in meaning"
    detector: str = ""
    media_type: str = ""
    charset: str | None = None
    status: int | None = None
    n_bytes: int = 0
    gone: bool = False
    flag: str = ""
    url: str = ""  # where the answer came from; empty: what its record says
    file: str = ""
    offset: int = 0
    length: int = 0

    @property
    def worth_sharing(self) -> bool:
        """Whether others with the same payload may refer to this one's instead of keeping it again."""
        return self.n_bytes >= MIN_SHARED_BYTES and not self.flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When to look again, with the figures that the reason is made of."""

    resource_id: int
    due_at: float
    gap_s: float = nan
    price: float = nan
    p_changed: float = nan  # P(changed by the time of the visit)
    per_day: float = nan  # expected changes a day until then
    rule: str = ""  # "index:fresh", "uniform", "first-look", "retry" …
    bound: str = ""  # "min" or "max" where a gap bound decided, "relook" where it had been given up
    planned_at: float = nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a resource stands: what is known before the next visit."""

    since_at: float = nan  # last informative visit
    last_at: float = nan  # last visit of any outcome
    gap_s: float = nan  # the present gap
    due_at: float = nan
    n_informative: int = 0
    n_changes: int = 0
    n_failures: int = 0  # in a row
    bits: int = 0  # recent change bits, newest lowest; at most 64 of them
    etag: str | None = None
    last_modified: str | None = None
    memory: tuple[float, ...] = ()  # what the predictor keeps of this resource
    moved_to: str | None = None  # where the last informative visit was permanently redirected to
    moved_since_at: float = nan  # the first of the visits in a row that were redirected there
    version: Version | None = None  # the newest that is part of its history
    noise: Noise = SILENCE
    told_at: float = nan  # the first signal since the last informative visit
    told_by: int = 0  # the source's number
    sight_at: float = nan  # when its sight was taken; NaN: it has none that can be compared with others
    # What that made the newest model expect. These three change with a completion's sight and hunch, and with
    # `Store.hunches`, whatever standing a completion carries.
    hunch_per_day: float = nan
    hunch_gap_s: float = nan

    @property
    def has_moved(self) -> bool:
        """Whether two informative visits in a row were permanently redirected to the same place."""
        return self.moved_to is not None and self.moved_since_at < self.since_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to visit one resource, and with it its host, until `until_at`.

    The token rises with every claim of the host; a completion that carries an older one is refused.
    """

    resource: Resource
    standing: Standing
    token: int
    claimed_at: float
    until_at: float
    n_host_failures: int = 0  # in a row, up to now: how often the host itself was in trouble
    base: Bag | None = None  # what the words of a new version are held against


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The right to ask a host until `until_at`, without a resource of its own: redirects lead there."""

    host: str
    token: int
    until_at: float
    not_after_at: float = inf  # no request is sent after this instant
    n_host_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """All that one visit leaves behind; recorded in one transaction or not at all."""

    lease: Lease
    visit: Visit
    standing: Standing
    plan: Plan
    gate_at: float  # the host is left alone until then
    n_host_failures: int = 0  # in a row, this visit included
    versions: tuple[Version, ...] = field(default=())
    tells: tuple[Telling, ...] = ()  # those are kept that are news of watched resources
    sight: Sight | None = None  # takes the place of an earlier one
    hunch: Hunch | None = None  # what `model` expects of it since this visit
    model: str = ""
    links: tuple[str, ...] = ()  # where it links to; those are kept that are watched
    bags: tuple[Bag, ...] = ()  # the words of `versions`, where they have some


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """Visits of one resource that were made elsewhere; recorded in one transaction, or not at all where the
    resource was visited since `before`."""

    resource: Resource
    before: Standing  # where it stood when this was worked out
    visits: tuple[Visit, ...]  # oldest first
    versions: tuple[Version, ...]  # oldest first
    standing: Standing  # where it stands with them
    plan: Plan
    sight: Sight | None = None  # where it had none
    bags: tuple[Bag, ...] = ()
    restated: tuple[
        Visit, ...
    ] = ()  # of those recorded: whose moments these visits tell of now, without them
