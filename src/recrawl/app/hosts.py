"""Hosts as people ask for them: whether they may be asked now, what went wrong there, what waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

from recrawl.app.names import host_named
from recrawl.app.pauses import Rested, pause, resume
from recrawl.app.quantity import away, iso
from recrawl.app.rows import Row, number
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError, NotWatchedError
from recrawl.model import (
    DAY_S,
    Failures,
    HostStanding,
    Outcome,
    Plan,
    Resource,
    Scope,
    ScopeKind,
    Sought,
    Standing,
    Visit,
    Which,
)
from recrawl.terms import noted_terms

if TYPE_CHECKING:
    from recrawl.app.build import House

LATELY_DAYS = 7.0
N_KINDS = 20  # of failures
N_FAILED = 10  # visits that are shown one by one
REACH = 10_000  # failures that are looked through for them
_WORDS = {
    Outcome.TRUNCATED: "cut short",
    Outcome.UNREADABLE: "could not be read",
    Outcome.SUSPECT: "not what it seemed",
    Outcome.HTTP_ERROR: "answered with an error",
    Outcome.NET_ERROR: "could not be reached",
    Outcome.BLOCKED: "not allowed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Where it stands, and what its price is where more is wanted of it than it can give."""

    standing: HostStanding
    price: float | None
    goal: str  # that the price is for
    paused: bool  # said of the host itself

    def row(self, now: float) -> Row:
        one = self.standing
        return {
            "host": one.name,
            "state": state(one, now),
            "resources": one.n_resources,
            "planned": one.n_planned,
            "paused": self.paused,
            "gate_until": iso(one.gate_at) if one.gate_at > now else None,
            "asked_until": iso(one.lease_until_at) if one.lease_until_at > now else None,
            "rest_s": number(one.rest_s),
            "failures_in_a_row": one.n_failures,
            "next_visit_at": iso(one.due_at),
            "price": self.price,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPage:
    """One host, with all that is shown of it."""

    host: Host
    failures: Sequence[Failures]  # lately, by how
    failed: Sequence[tuple[Visit, Resource]]  # the newest
    resources: Sequence[tuple[Resource, Standing, Plan | None]]  # the first of them


def state(host: HostStanding, now: float) -> str:
    """In words, whether it may be asked now."""
    if host.lease_until_at > now:
        return "being asked now"
    if host.gate_at > now:
        return f"left alone, asked again {away(host.gate_at, now)}"
    return "not asked from here yet" if isnan(host.rest_s) else "may be asked"


def how(failures: Failures) -> str:
    """What went wrong, in words."""
    said = _WORDS.get(failures.outcome, failures.outcome.value)
    return said if failures.status is None else f"{said} ({failures.status})"


def listed(house: House, text: str = "", after: str = "", limit: int = 50) -> list[Host]:
    """By name, those with this text in it, after that name."""
    found = house.store.host_standings(text=text or None, after=after, limit=limit)
    return _told(house, found)


def in_trouble(house: House, limit: int = 20) -> tuple[list[Host], int]:
    found, n = house.store.troubled(limit)
    return _told(house, found), n


def _told(house: House, standings: Sequence[HostStanding]) -> list[Host]:
    terms = noted_terms(house.store)
    dear = {} if terms is None else terms.dear
    goal = "" if terms is None else terms.rule.partition(":")[2]
    scopes = [Scope(ScopeKind.HOST, one.name) for one in standings]
    paused = {scope.name for scope, said in house.store.said(scopes) if said.paused}
    return [
        Host(
            standing=one,
            price=number(dear[str(one.id)]) if str(one.id) in dear else None,
            goal=goal,
            paused=one.name in paused,
        )
        for one in standings
    ]


def failures(house: House, host: str | None = None, limit: int = 200) -> Sequence[Failures]:
    """Of the last days, by host and by how, the most first."""
    return house.store.failures(house.clock.now() - LATELY_DAYS * DAY_S, host=host, limit=limit)


def host_page(house: House, name: str, n_resources: int = 50, after: int = 0) -> HostPage:
    standing = _standing(house, name)
    known = standing.name
    visits, _ = house.store.stream(
        Sought(which=Which.FAILED, host=known, from_at=house.clock.now() - LATELY_DAYS * DAY_S),
        limit=N_FAILED,
        reach=REACH,
    )
    whose = {one.id: one for one, _, _ in house.store.these([visit.resource_id for visit in visits])}
    return HostPage(
        host=_told(house, [standing])[0],
        failures=failures(house, known, N_KINDS),
        failed=[(visit, whose[visit.resource_id]) for visit in visits if visit.resource_id in whose],
        resources=list(house.store.resources(host=known, limit=n_resources, after=after)),
    )


def _standing(house: House, name: str) -> HostStanding:
    try:
        known = host_named(name)
    except BadInputError:  # whatever it is, it is not watched
        known = name
    standing = house.store.host_standing(known)
    if standing is None:
        raise NotWatchedError(f"Nothing of {known} is watched; add something with `recrawl add URL`.")
    return standing


def rest(house: House, name: str, *, paused: bool) -> Rested:
    """Pause a host, or resume it."""
    standing = _standing(house, name)
    choice = Choice(host=standing.name)
    return (pause if paused else resume)(house.store, choice, house.clock.now())


def failures_row(found: Failures) -> Row:
    return {
        "host": found.host,
        "outcome": found.outcome.value,
        "status": found.status,
        "how": how(found),
        "visits": found.n,
        "last_at": iso(found.last_at) if isfinite(found.last_at) else None,
    }
