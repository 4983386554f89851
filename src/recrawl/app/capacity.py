"""How long a round over some resources would take, how many fetches at once it needs, and what would help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.app.ledger import past, spread
from recrawl.app.rows import Row
from recrawl.app.watchlist import Choice, chosen
from recrawl.contracts import Store
from recrawl.errors import BadInputError, BadUrlError
from recrawl.evaluate.card.rates import gammas
from recrawl.model import Bools, Floats, Hosts, Ints, Planned, Prospects
from recrawl.observe.pacing import MAX_SLOW_S
from recrawl.schedule.capacity.estimate import Estimate, Model, load_of
from recrawl.schedule.capacity.paces import Paces, Rule, paces
from recrawl.schedule.capacity.paper import USUAL_DELAY_S, USUAL_TOOK_S, Packed, packed
from recrawl.schedule.capacity.samples import places
from recrawl.urls import host_key, is_file_url, parsed, resource_url

if TYPE_CHECKING:
    from recrawl.app.build import House

N_TOOK = 200_000  # visits, the newest: more say little more, and take seconds to read
MOST_BEFORE = 0.8  # of a round: a host that takes so much of it alone is what it waits for


@dataclass(frozen=True, slots=True)
class Asked:
    """Visits by the places of their hosts; the places are those of all that the store knows, and after them
    those of hosts that it does not know."""

    place: Ints
    key: Floats
    fresh: Bools
    id: Ints  # 0: not watched


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of hosts, and their names by place."""

    hosts: Hosts
    names: tuple[str, ...]
    paces: Paces
    n_took: int
    now: float
    prospects: Prospects | None  # where nothing was ever visited twice, and forecasts are all there is

    def model(self, asked: Asked, *, asks_robots: bool = True) -> tuple[Model, Ints]:
        """Of a round that begins now; with the row of each of its visits."""
        p_changed = _forecast(self.prospects, asked.id, self.now)
        load, order = load_of(self.paces, asked.place, asked.key, asked.id, asked.fresh, p_changed, self.now)
        ready_s = np.zeros(len(self.names))
        ready_s[: len(self.hosts.id)] = np.maximum(self.hosts.gate_at - self.now, 0.0)
        return Model(load, self.paces, ready_s, asks_robots=asks_robots), order


def known(house: House, strangers: Sequence[str] = ()) -> Known:
    hosts, took = house.store.hosts(), house.store.took(N_TOOK)
    fetching = house.config.fetching
    group = np.concatenate([hosts.id, np.zeros(len(strangers), np.int64)])
    rule = Rule(fetching.min_delay, fetching.slow_factor, MAX_SLOW_S)
    found = paces(took, hosts, group, rule, n_workers=fetching.concurrency)
    prospects = house.store.prospects() if np.isnan(found.looks.p_changed) else None
    return Known(hosts, (*hosts.name, *strangers), found, len(took), house.clock.now(), prospects)


def _forecast(prospects: Prospects | None, ids: Ints, now: float) -> Floats:
    """How likely each has changed by now; 0: nothing is forecast."""
    p = np.zeros(len(ids))
    if prospects is None:
        return p
    at = places(ids, prospects.id)
    row = at[at >= 0]
    per_day, since_s = prospects.per_day[row], now - prospects.since_at[row]
    with np.errstate(invalid="ignore"):
        forecasts = gammas(prospects.p_changed[row], per_day, prospects.gap_s[row])
        p[at >= 0] = np.nan_to_num(1.0 - forecasts.survival(np.maximum(since_s, 0.0)))
    return p


def due_by(planned: Planned, hosts: Hosts, now: float) -> Asked:
    """What is due by then."""
    return _of(planned.pick(planned.due_at <= now), hosts)


def _of(planned: Planned, hosts: Hosts) -> Asked:
    place = np.searchsorted(hosts.id, planned.group)
    return Asked(place, planned.due_at, planned.fresh, planned.id)


def watched(store: Store, choice: Choice, hosts: Hosts) -> Asked:
    """Those that are meant and not paused."""
    planned = store.planned()
    if not choice.everything:
        ids = np.array([resource.id for resource in chosen(store, choice)], np.int64)
        planned = planned.pick(np.isin(planned.id, ids))
    return _of(planned, hosts)


def listed(hosts: Hosts, urls: Iterable[str]) -> tuple[Asked, list[str]]:
    """URLs whether they are watched or not; with the hosts that the store does not know."""
    places = {name: place for place, name in enumerate(hosts.name)}
    strangers: list[str] = []
    found: list[int] = []
    for text in urls:
        if is_file_url(text):
            raise BadUrlError(f"{text} is on this machine and waits for no host; leave it out.")
        name = host_key(parsed(resource_url(text)))
        if name not in places:
            places[name] = len(hosts.name) + len(strangers)
            strangers.append(name)
        found.append(places[name])
    n = len(found)
    none = np.zeros(n, np.int64)
    asked = Asked(
        place=np.array(found, np.int64),
        key=np.arange(n, dtype=np.float64),
        fresh=none > 0,
        id=none,
    )
    return asked, strangers


def capacity(
    house: House,
    *,
    choice: Choice | None = None,
    urls: Sequence[str] = (),
    within_s: float | None = None,
    n_workers: int | None = None,
    method: str = "ours",
) -> Row:
    """Either of what is chosen among the watched, or of these URLs."""
    if method not in ("ours", "paper"):
        raise BadInputError(f"{method!r} is no method; choose ours or paper.")
    if within_s is not None and within_s <= 0.0:
        raise BadInputError("A round cannot end within no time; write --within as 30m, 1h or 1d.")
    hosts = house.store.hosts()
    strangers: list[str] = []
    if choice is not None:
        asked = watched(house.store, choice, hosts)
    else:
        asked, strangers = listed(hosts, urls)
    if not len(asked.place):
        raise BadInputError(
            "There is nothing to visit: none is meant that is watched and not paused; name URLs, or add some "
            "with `recrawl add URL`."
        )
    have = known(house, strangers)
    n_workers = n_workers or house.config.fetching.concurrency
    place = np.unique(asked.place)
    shared: Row = {
        "method": method,
        "urls": len(asked.place),
        "hosts": len(place),
        "hosts_known": int(have.paces.known[place].sum()),
        "visits_known": have.n_took,
        "guessed": have.paces.guessed,
        "workers": n_workers,
        "within_s": within_s,
    }
    if method == "paper":
        return shared | _by_paper(have, asked, n_workers)
    chosen, _ = have.model(asked)
    model = chosen.in_turn()
    estimate = model.estimate(n_workers)
    shorter, longer = spread(past(house.store))
    row = shared | {
        "low_s": min(estimate.low_s, shorter * estimate.middle_s),
        "seconds": estimate.middle_s,
        "high_s": max(estimate.high_s, longer * estimate.middle_s),
        "in_the_air": estimate.n_in_the_air,
        "slowest": [
            {
                "host": have.names[slow.place],
                "urls": slow.n_visits,
                "seconds": slow.took_s,
                "alone_s": slow.alone_s,
                "rest_s": float(have.paces.base_s[slow.place]),
                "known": bool(have.paces.known[slow.place]),
            }
            for slow in estimate.slowest
        ],
    }
    if within_s is not None:
        row["workers_needed"] = model.n_workers_for(within_s)
        row["urls_within"] = int(chosen.fitting(within_s, n_workers).sum())
    return row | {"advice": _advice(house, row, model, estimate)}


def _by_paper(have: Known, asked: Asked, n_threads: int) -> Row:
    place, n_docs = np.unique(asked.place, return_counts=True)
    was_seen = have.paces.known[place]
    took_s = np.where(was_seen, have.paces.took_s.means()[place], USUAL_TOOK_S)
    delay_s = np.where(was_seen, have.paces.base_s[place], USUAL_DELAY_S)
    found: Packed = packed(n_docs, took_s, delay_s, n_threads)
    return {
        "seconds": found.took_s,
        "workers_needed": found.n_threads,
        "threads_per_domain": found.most_threads,
        "bins": found.n_bins,
    }


def _advice(house: House, row: Row, model: Model, estimate: Estimate) -> list[str]:
    """What would help, the most first."""
    from recrawl.schedule.reason import span

    said: list[str] = []
    first = row["slowest"][0]
    within_s = row["within_s"]
    min_delay_s = house.config.fetching.min_delay
    if first["alone_s"] >= MOST_BEFORE * estimate.middle_s:
        said.append(
            f"{first['host']} decides: {first['urls']:,} URLs one after the other, {span(first['rest_s'])} "
            "between them; more workers would not help, fewer of its URLs in a round would"
        )
        if 0.0 < first["rest_s"] <= 1.1 * min_delay_s:
            said.append(
                f"that rest is fetching.min_delay ({span(min_delay_s)}); shorten it if its owner agrees"
            )
    else:
        more = model.estimate(2 * row["workers"], n_draws=model.few_draws)
        said.append(
            f"there are too few workers: with {2 * row['workers']:,} (fetching.concurrency) it would take "
            f"about {span(more.middle_s)}"
        )
    if within_s is not None and row["workers_needed"] is None:
        said.append(
            f"no number of workers is enough: {row['urls_within']:,} of {row['urls']:,} URLs fit into "
            f"{span(within_s)}; the others need another round"
        )
    strange = row["hosts"] - row["hosts_known"]
    if strange:
        said.append(
            f"{strange:,} of {row['hosts']:,} hosts were never visited; once they were, the estimate is "
            "about them and not about others"
        )
    return said
