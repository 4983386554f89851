"""What a generated world is made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from recrawl.errors import BadSettingError
from recrawl.model import DAY_S, HOUR_S
from recrawl.simulate.processes import Law
from recrawl.simulate.rates import Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredient:
    """Resources of one sort, and their share of the world.

    Where `rates` are given, each resource has its own; else all have those of `law`. A share `p_late` is born
    within the span, at a random moment; the others are there from the start. After `lifetime_s` on average
    (exponentially spread) a resource stops changing for good. A change brings the last content but one back
    with probability `p_back`: 1 is flapping between two contents.

    A share `p_noisy` has noise in its digest: it differs whenever two looks are more than `noise_s` apart,
    for every `noise_s` a change comes that means nothing. Traces cannot tell it from another change, and
    no more can a visitor that compares digests; `Piece.noise` can.
    """

    law: Law
    share: float = 1.0
    rates: Rates | None = None
    p_late: float = 0.0
    lifetime_s: float = inf
    p_back: float = 0.0
    p_noisy: float = 0.0
    noise_s: float = DAY_S

    def __post_init__(self) -> None:
        _refuse(self.share <= 0, "share", "above 0")
        _refuse(self.lifetime_s <= 0, "lifetime_s", "above 0")
        _refuse(self.noise_s <= 0, "noise_s", "above 0")
        for name in ("p_late", "p_back", "p_noisy"):
            _refuse(not 0 <= getattr(self, name) <= 1, name, "from 0 to 1")
        _refuse(
            self.rates is not None and not hasattr(self.law, "at_rates"),
            "law",
            "that has a rate, or no rates",
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """What happens to a whole host: a batch job, another template.

    `per_day` times a day (Poisson, for each host) a share of its resources changes, each at a random moment
    of the `within_s` that follow. With a `spread` hosts differ: it is the standard deviation of the rates'
    logarithm, and `per_day` their median.
    """

    per_day: float
    share: float = 0.5
    within_s: float = 600.0
    spread: float = 0.0

    def __post_init__(self) -> None:
        _refuse(self.per_day < 0, "per_day", "at least 0")
        _refuse(not 0 <= self.share <= 1, "share", "from 0 to 1")
        _refuse(self.within_s < 0, "within_s", "at least 0")
        _refuse(self.spread < 0, "spread", "at least 0")


@dataclass(frozen=True, slots=True)
class Kin:
    """Resources that follow another one, on any host: a share of all of them.

    Each repeats every change of its leader with probability `p_follow`, `lag_s` later on average
    (exponentially spread), besides those of its own, of which a share `p_own` is left. Where `lags_s` are
    given, each has one of them for good and keeps to it.
    """

    share: float = 0.2
    p_follow: float = 0.5
    lag_s: float = 3_600.0
    lags_s: tuple[float, ...] = ()
    p_own: float = 1.0

    def __post_init__(self) -> None:
        _refuse(not 0 <= self.share <= 1, "share", "from 0 to 1")
        _refuse(not 0 <= self.p_follow <= 1, "p_follow", "from 0 to 1")
        _refuse(not 0 <= self.p_own <= 1, "p_own", "from 0 to 1")
        _refuse(self.lag_s <= 0, "lag_s", "above 0")
        _refuse(any(lag_s < 0 for lag_s in self.lags_s), "lags_s", "of at least 0 each")


@dataclass(frozen=True, slots=True)
class Text:
    """What the contents say: `n_words` words, some of everybody's, some of the resource's own.

    A new content is the newest one so far with a share of its words drawn anew, `changed` on average: many
    changes are small and few are large. The first word differs in each content; noise changes no other.

    The last `n_told` words are a story, which every change replaces: some words of the subject of whoever is
    followed, each said several times. Who follows with a lag of its own tells the story that was told a lag
    before; so kin have words in common, and not at the same time.
    """

    n_words: int = 120
    changed: float = 0.1
    n_known: int = 5_000  # words that there are
    n_told: int = 0

    def __post_init__(self) -> None:
        _refuse(not 1 <= self.n_words <= 30_000, "n_words", "from 1 to 30,000")
        _refuse(not 0 < self.changed < 1, "changed", "between 0 and 1")
        _refuse(self.n_known < 1_000, "n_known", "of at least 1,000")
        _refuse(not 0 <= self.n_told < self.n_words, "n_told", "from 0 to less than n_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What posts say, and who says it: every version of a resource is a post of a thread then.

    Of the words of a post, `n_words` on average, some are everybody's and some its thread's own. Some posts
    ask: a few of their words are of a small set. Of those that are answered within `quick_s`, the share
    `p_asked` asks, of others the share `p_else`; so words foreshadow quick answers. A host has `n_authors`,
    some of whom speak far oftener than others; half of the posts are by somebody who spoke in the thread
    before, and nobody answers himself.
    """

    n_words: int = 25
    n_known: int = 2_000  # words that there are
    n_authors: int = 80
    quick_s: float = HOUR_S
    p_asked: float = 0.8
    p_else: float = 0.15

    def __post_init__(self) -> None:
        _refuse(not 5 <= self.n_words <= 1_000, "n_words", "from 5 to 1,000")
        _refuse(self.n_known < 1_000, "n_known", "of at least 1,000")
        _refuse(self.n_authors < 3, "n_authors", "of at least 3")
        _refuse(self.quick_s <= 0, "quick_s", "above 0")
        for name in ("p_asked", "p_else"):
            _refuse(not 0 <= getattr(self, name) <= 1, name, "from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A world of resources on hosts, `per_host` on each.

    Within each ingredient, static features explain the share `explained` of the variance of the log rates,
    and being on the same host the share `alike`; with `sighted` the features are those of a sight. Hosts are
    in one of the time zones, taken in turn. All times are rounded up to `resolution_s`, and of changes that
    then coincide one is left.
    """

    ingredients: tuple[Ingredient, ...]
    start_at: float
    end_at: float
    per_host: int = 10
    explained: float = 0.0
    alike: float = 0.0
    zones_s: tuple[float, ...] = (0.0,)
    shared: Shared | None = None
    kin: Kin | None = None
    text: Text | None = None
    talk: Talk | None = None
    sighted: bool = False
    resolution_s: float = 1.0

    def __post_init__(self) -> None:
        _refuse(not self.ingredients, "ingredients", "or more")
        _refuse(self.end_at <= self.start_at, "end_at", "after start_at")
        _refuse(self.per_host < 1, "per_host", "of at least 1")
        _refuse(min(self.explained, self.alike) < 0, "explained or alike", "at least 0")
        _refuse(self.explained + self.alike > 1, "explained and alike", "of at most 1 together")
        _refuse(not self.zones_s, "zones_s", "or more")
        _refuse(self.resolution_s <= 0, "resolution_s", "above 0")


def _refuse(wrong: bool, name: str, wanted: str) -> None:
    if wrong:
        raise BadSettingError(f"This {name} makes no world; choose one {wanted}.")
