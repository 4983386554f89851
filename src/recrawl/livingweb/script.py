"""What a living web is made of: hosts, documents, redirects, and how each of them behaves.

Everything a script says is kept by the server, and what it cannot keep is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from yarl import URL

from recrawl.errors import BadSettingError
from recrawl.livingweb.kinds import (
    BOARDS,
    FEEDS,
    LISTINGS,
    SHOWS_NOISE,
    SHOWS_STAMP,
    Disguise,
    Form,
    Markup,
    Noise,
    Query,
    Validators,
)
from recrawl.simulate.processes import Never, Process

Place = tuple[str, str]  # host name without port, path
ROBOTS_PATH = "/robots.txt"
POSTS_PER_PAGE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Spells in which `status` is answered. Each event of `starts` begins one; None: from the beginning.

    404 and 410 say that the thing is not there, which is a change; any other status is a failure and
    changes nothing. With a disguise the status is 200, and something else is shown.
    """

    status: int = 200
    disguise: Disguise | None = None
    starts: Process | None = None
    lasts_s: float = inf
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        low, high = (200, 200) if self.disguise else (400, 599)
        _refuse(
            not low <= self.status <= high, f"{self.status} is no trouble", "use a status from 400 to 599"
        )

    @property
    def gone(self) -> bool:
        return self.status in (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Something that answers with content.

    A listing changes when what it lists does. A sitemap may have a process all the same: then it lies, and
    says at each event that everything it lists was modified just now.
    """

    host: str
    path: str
    form: Form = Form.PAGE
    process: Process = field(default_factory=Never)
    noise: Noise = Noise.NONE
    validators: Validators = Validators.NONE
    troubles: tuple[Trouble, ...] = ()
    slow_s: float = 0.0
    query: Query | None = None  # SPARQL alone has one
    max_rows: int | None = None  # SPARQL: no more are given at a time, and nobody is told
    markup: Markup = Markup.PLAIN  # of a thread or a board; a board lists threads in its own
    posts_per_page: int = POSTS_PER_PAGE
    edits: Process = field(default_factory=Never)  # forum software: a recent post says something else
    removals: Process = field(default_factory=Never)  # forum software: a recent post is taken out

    def __post_init__(self) -> None:
        what = f"{self.host}{self.path}"
        _refuse(not self.path.startswith("/"), f"{what} has no path", "begin the path with a slash")
        _refuse(self.path == ROBOTS_PATH, f"{what} is the host's own", "describe it with Host(robots=…)")
        _refuse(
            self.form in LISTINGS - {Form.SITEMAP} and self.process != Never(),
            f"{what} lists others and changes when they do",
            "leave out its process",
        )
        _refuse(
            self.noise is not Noise.NONE and self.form is Form.RDF,
            f"{what} has no place for noise",
            "use the form turtle",
        )
        _refuse(
            self.noise.seen
            and self.form not in (SHOWS_STAMP if self.noise is Noise.VISIBLE else SHOWS_NOISE),
            f"{what} has no place for visible noise",
            "make it hidden, or use another form",
        )
        _refuse(
            (self.form is Form.SPARQL) != (self.query is not None),
            f"{what}: a query and the form sparql go together",
            "give both or neither",
        )
        _refuse(
            self.max_rows is not None and self.query is not Query.ALL,
            f"{what} has no rows to hold back",
            "give max_rows to the query for all of them",
        )
        _refuse(
            self.markup is not Markup.PLAIN and self.form not in {Form.THREAD, *BOARDS},
            f"{what} is no part of a forum",
            "leave out its markup, or use the form thread, board or board-feed",
        )
        _refuse(
            (self.edits, self.removals) != (Never(), Never()) and not self.spoken,
            f"{what} has no posts that can be edited or removed",
            "use the form thread and the markup of forum software",
        )
        _refuse(
            self.spoken and self.markup is Markup.XENFORO and not self.path.endswith("/"),
            f"{what} has pages below it",
            "end the path with a slash",
        )

    @property
    def spoken(self) -> bool:
        """Whether it is a thread of forum software."""
        return self.form is Form.THREAD and self.markup is not Markup.PLAIN

    @property
    def place(self) -> Place:
        return (self.host, self.path)

    @property
    def target(self) -> str:
        """Path and query string, spelt as `urls.canonical` spells them."""
        return str(URL.build(path=self.path, query={"query": self.query})) if self.query else self.path

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0] + "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Something that sends on to another place, which may be a redirect too."""

    host: str
    path: str
    to: Place
    status: int = 301
    troubles: tuple[Trouble, ...] = ()

    def __post_init__(self) -> None:
        _refuse(
            self.status not in (301, 302, 303, 307, 308),
            f"{self.status} does not redirect",
            "use 301, 302, 303, 307 or 308",
        )

    @property
    def place(self) -> Place:
        return (self.host, self.path)

    @property
    def target(self) -> str:
        return self.path


Entry = Document | Redirect


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """What robots.txt asks of everybody."""

    disallow: tuple[str, ...] = ()
    crawl_delay_s: float | None = None

    def text(self) -> str:
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in self.disallow or ("",))]
        if self.crawl_delay_s is not None:
            lines.append(f"Crawl-delay: {self.crawl_delay_s:g}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host name. `robots` None: it has no robots.txt. Its troubles are those of all it holds."""

    name: str
    robots: Robots | None = field(default_factory=Robots)
    troubles: tuple[Trouble, ...] = ()
    slow_s: float = 0.0


@dataclass(frozen=True)
class Script:
    """A whole web. A host that is named by an entry alone is an ordinary one that allows everything."""

    entries: tuple[Entry, ...]
    described: tuple[Host, ...] = ()

    def __post_init__(self) -> None:
        for place, entries in self.places.items():
            first, *others = entries
            for other in others:
                _refuse(not _share(first, other), f"{''.join(place)} is there twice", "give one another path")
        for entry in self.entries:
            self.destination(entry)

    @cached_property
    def hosts(self) -> dict[str, Host]:
        said = {host.name: host for host in self.described}
        names = dict.fromkeys([*said, *(entry.host for entry in self.entries)])
        return {name: said.get(name) or Host(name=name) for name in names}

    @cached_property
    def places(self) -> dict[Place, tuple[Entry, ...]]:
        """What is where; several entries share a place only where it is a SPARQL endpoint."""
        found: dict[Place, tuple[Entry, ...]] = {}
        for entry in self.entries:
            found[entry.place] = (*found.get(entry.place, ()), entry)
        return found

    def documents(self) -> Iterator[Document]:
        return (entry for entry in self.entries if isinstance(entry, Document))

    def destination(self, entry: Entry) -> Document:
        """Where one arrives from here, over all redirects."""
        seen: list[Place] = []
        while isinstance(entry, Redirect):
            _refuse(
                entry.place in seen, f"{''.join(entry.place)} leads back to itself", "let it end somewhere"
            )
            seen.append(entry.place)
            _refuse(entry.to not in self.places, f"{''.join(entry.to)} is not there", "add it to the script")
            entry = self.places[entry.to][0]
        return entry

    def listed(self, listing: Document) -> Iterator[Document]:
        """What a listing is about."""
        for document in self.documents():
            here = document.host == listing.host
            below = here and document.path.startswith(listing.folder)
            match listing.form:
                case Form.BOARD | Form.BOARD_FEED:
                    wanted = below and document.form is Form.THREAD and document.markup is listing.markup
                case Form.SITEMAP:
                    wanted = below and document.form not in (Form.SITEMAP, Form.SITEMAP_INDEX)
                case Form.SITEMAP_INDEX:
                    wanted = here and document.form is Form.SITEMAP
                case Form.OPML:
                    wanted = document.form in FEEDS
                case _:
                    wanted = False
            if wanted:
                yield document


def _share(one: Entry, other: Entry) -> bool:
    """Queries at one endpoint ask one dataset: it has one life."""
    return (
        isinstance(one, Document)
        and isinstance(other, Document)
        and one.form is other.form is Form.SPARQL
        and one.query != other.query
        and (one.process, one.troubles) == (other.process, other.troubles)
    )


def _refuse(wrong: bool, what: str, remedy: str) -> None:
    if wrong:
        raise BadSettingError(f"{what}; {remedy}.")
