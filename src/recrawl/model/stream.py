"""What people ask of the visits of all resources: the newest of some, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf

from recrawl.model.fetch import Outcome
from recrawl.model.resource import Kind

# A visit's place among all, by which they are in order: its time, its resource, its fetch.
Place = tuple[float, int, str]


class Which(StrEnum):
    """The visits that are meant."""

    COUNTING = "counting"  # changes that count for their resources
    SIGNIFICANT = "significant"  # changes, less those that a test found to be slight
    ALL = "all"  # changes, slight ones too
    FAILED = "failed"  # those that told nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Which visits are asked for; None: whatever it is."""

    which: Which = Which.COUNTING
    from_at: float = -inf
    until_at: float = inf  # not itself
    tag: str | None = None
    host: str | None = None
    text: str | None = None  # stands in the URL, in whatever case of letters
    kind: Kind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Visits of a time, added up."""

    n_visits: int
    n_changes: int  # that count for their resources
    n_failures: int  # they told nothing
    n_second: int  # second looks, which are charged like visits
    n_bytes: int  # with those of the second looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Changer:
    """A resource that was found changed, how often, and by how many visits."""

    resource_id: int
    url: str
    n_changes: int  # that count for it
    n_visits: int  # in the same time
    last_at: float  # the newest change was found then


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Visits to a host that told nothing in the same way."""

    host: str
    outcome: Outcome
    status: int | None
    n: int
    last_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A visit that is planned."""

    resource_id: int
    url: str
    host: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStanding:
    """Where a host stands: when it may be asked again, and what waits for it."""

    id: int
    name: str
    n_resources: int
    n_planned: int  # of them not paused, and with a plan
    gate_at: float  # it is left alone until then; -inf: it never had a gate
    lease_until_at: float  # somebody is at it until then at the latest; -inf: nobody
    rest_s: float  # how long it was left alone after the last visit; NaN: never visited
    n_failures: int  # in a row: how often the host itself was in trouble
    due_at: float  # of its first resource in turn; NaN: none
