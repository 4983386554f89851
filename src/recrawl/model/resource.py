"""What is watched, and what its owner said about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from recrawl.model.units import DAY_S, HOUR_S


class Kind(StrEnum):
    """What a resource is taken for; it chooses how it is asked for and how it is judged."""

    AUTO = "auto"  # decided by the media type of what comes back
    PAGE = "page"  # a page for people: only its text counts
    JSON = "json"
    CSV = "csv"
    RDF = "rdf"  # in whatever serialisation the server has
    SPARQL = "sparql"  # a query to an endpoint; its result counts
    FEED = "feed"
    SITEMAP = "sitemap"
    THREAD = "thread"  # a discussion: its posts count, page after page
    BOARD = "board"  # a list of threads, which tells where somebody spoke
    FILE = "file"  # bytes: every bit counts


class Changes(StrEnum):
    """What counts as a change: what is learned from, planned for and counted. All are archived."""

    ANY = "any"
    SIGNIFICANT = "significant"  # and what nobody can test for that: a page that is gone, a file of bytes


class ScopeKind(StrEnum):
    """Where a setting can be said, from the nearest to the widest."""

    RESOURCE = "resource"
    TAG = "tag"
    HOST = "host"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Scope:
    """One layer of settings: a resource (by URL), a tag, a host, or everything."""

    kind: ScopeKind
    name: str = ""


GLOBAL = Scope(ScopeKind.GLOBAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How to look at a resource; None means "not said here". Nothing in it is secret (see `Access`)."""

    render: bool | None = None  # through a real browser
    insecure: bool | None = None  # do not verify the server's certificate
    max_bytes: int | None = None  # the largest body read off the wire
    page_rows: int | None = None  # SPARQL: ask for so many rows at a time
    user_agent: str | None = None
    include: tuple[str, ...] | None = None  # selectors: only what they choose counts
    ignore: tuple[str, ...] | None = None  # selectors: what they choose does not count
    keys: tuple[str, ...] | None = None  # the columns that tell the rows of a table apart
    main: bool | None = None  # of a page only its main content counts
    mask: bool | None = None  # whether what differs on every fetch is learned and left out; None: yes
    unmask: tuple[str, ...] | None = None  # places of masks that were undone: what is there counts


LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e9  # that can be said of a resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One layer of settings; None means "not said here, ask the next wider layer"."""

    kind: Kind | None = None
    weight: float | None = None
    min_gap_s: float | None = None
    max_gap_s: float | None = None
    paused: bool | None = None
    allow_private: bool | None = None
    manner: Manner | None = None
    changes: Changes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """What holds for a resource once all layers have been asked."""

    kind: Kind = Kind.AUTO
    weight: float = 1.0
    min_gap_s: float = HOUR_S
    max_gap_s: float = 180 * DAY_S
    paused: bool = False
    allow_private: bool = False
    manner: Manner = field(default_factory=Manner)
    changes: Changes = Changes.ANY


def settled(layers: Iterable[Settings], default: Settings | None = None) -> Effective:
    """The nearest layer that says something wins, setting by setting; `layers` come nearest first, and
    `default` is what holds for everything. A manner is settled field by field.

    Of several tags the first in alphabetical order is the nearest. A smallest gap that is no more than the
    default follows a largest one below it: somebody asked for that one. Where a layer itself puts it above
    the largest, the smallest wins: a server's owner asked for it more often than not.
    """
    near = list(layers)
    near_to_wide = near if default is None else [*near, default]
    said = _said(near_to_wide, Settings)
    manners = [layer.manner for layer in near_to_wide if layer.manner is not None]
    said["manner"] = Manner(**_said(manners, Manner))  # type: ignore[arg-type]
    effective = Effective(**said)  # type: ignore[arg-type]  # field by field the same types, less None
    if effective.max_gap_s >= effective.min_gap_s:
        return effective
    nearer = _said(near, Settings)
    if "max_gap_s" in nearer and "min_gap_s" not in nearer:
        return replace(effective, min_gap_s=effective.max_gap_s)
    return replace(effective, max_gap_s=effective.min_gap_s)


def _said(near_to_wide: Sequence[object], kind: type[Settings] | type[Manner]) -> dict[str, object]:
    said: dict[str, object] = {}
    for layer in near_to_wide:
        for item in fields(kind):
            value = getattr(layer, item.name)
            if value is not None:
                said.setdefault(item.name, value)
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResource:
    """A resource to be added: its canonical URL, its host key, and what was said about it."""

    url: str
    host: str
    settings: Settings = field(default_factory=Settings)
    tags: tuple[str, ...] = ()
    depth: int | None = None  # where it was found by following links: how many led there, the start being 1
    changefreq: str = ""  # what a sitemap says: how often it changes, one of `CHANGEFREQ`
    lastmod_at: float | None = None  # and when it last did


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource that is being watched."""

    id: int
    url: str
    host_id: int
    host: str
    added_at: float
    settings: Settings = field(default_factory=Settings)  # its own layer
    effective: Effective = field(default_factory=Effective)  # after inheritance
    tags: tuple[str, ...] = ()
    depth: int | None = None  # as above, by the shortest way that was found
    changefreq: str = ""  # as above, what was said last before anybody looked at it closely
    lastmod_at: float | None = None
