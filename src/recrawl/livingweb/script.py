"""What a living web is made of: hosts, documents, redirects, and how each of them behaves.

Everything a script says is kept by the server, and what it cannot keep is refused here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf

from yarl import URL

from recrawl.errors import BadSettingError
from recrawl.simulate.processes import Never, Process

Place = tuple[str, str]  # host name without port, path
ROBOTS_PATH = "/robots.txt"


class Form(StrEnum):
    """What a document is."""

    PAGE = "page"
    JSON = "json"
    CSV = "csv"
    TURTLE = "turtle"
    RDF = "rdf"  # one graph in the serialisation that is asked for; where all the same, they take turns
    SPARQL = "sparql"  # one query, watched at its endpoint
    THREAD = "thread"  # every change is one more post
    RSS = "rss"  # every change is one more entry
    ATOM = "atom"
    BOARD = "board"  # the threads at or below its folder
    SITEMAP = "sitemap"  # the documents at or below its folder
    SITEMAP_INDEX = "sitemap-index"  # the sitemaps of its host
    OPML = "opml"  # the feeds of all hosts


LISTINGS = frozenset({Form.BOARD, Form.SITEMAP, Form.SITEMAP_INDEX, Form.OPML})
FEEDS = frozenset({Form.RSS, Form.ATOM})


class Query(StrEnum):
    """What a SPARQL endpoint can be asked. Its dataset gets one more item with every change."""

    ITEMS = (
        "SELECT ?item ?label ?amount WHERE { ?item rdfs:label ?label ; <#amount> ?amount }"
        " ORDER BY DESC(?item) LIMIT 50"
    )
    ALL = "SELECT ?item ?label ?amount WHERE { ?item rdfs:label ?label ; <#amount> ?amount } ORDER BY ?item"
    COUNT = "SELECT (COUNT(?item) AS ?n) WHERE { ?item <#amount> ?amount }"
    EVEN = (
        "ASK { { SELECT (COUNT(?item) AS ?n) WHERE { ?item <#amount> ?amount } }"
        " FILTER (?n / 2 = FLOOR(?n / 2)) }"
    )


class Noise(StrEnum):
    """What differs from answer to answer although nothing changed."""

    NONE = "none"
    HIDDEN = "hidden"  # where no reader looks: nonces, comments, scripts, white space, quoting
    VISIBLE = "visible"  # in what is read: a stamp, a counter, an advertisement


_SHOWS_NOISE = FEEDS | {Form.PAGE, Form.THREAD, Form.BOARD, Form.JSON}


class Validators(StrEnum):
    """What the server says so that a client may ask "has it changed?", and whether that is true."""

    NONE = "none"
    BOTH = "both"  # honest ETag and Last-Modified
    ETAG = "etag"
    DATE = "date"
    STUCK = "stuck"  # never move, so that 304 is said although it changed
    FICKLE = "fickle"  # a new ETag with every answer, so that 304 is never said


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Spells in which `status` is answered. Each event of `starts` begins one; None: from the beginning.

    404 and 410 say that the thing is not there, which is a change; any other status is a failure and
    changes nothing.
    """

    status: int
    starts: Process | None = None
    lasts_s: float = inf
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        _refuse(not 400 <= self.status <= 599, f"{self.status} is no trouble", "use a status from 400 to 599")

    @property
    def gone(self) -> bool:
        return self.status in (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Something that answers with content."""

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

    def __post_init__(self) -> None:
        what = f"{self.host}{self.path}"
        _refuse(not self.path.startswith("/"), f"{what} has no path", "begin the path with a slash")
        _refuse(self.path == ROBOTS_PATH, f"{what} is the host's own", "describe it with Host(robots=…)")
        _refuse(
            self.form in LISTINGS and self.process != Never(),
            f"{what} lists others and changes when they do",
            "leave out its process",
        )
        _refuse(
            self.noise is not Noise.NONE and self.form is Form.RDF,
            f"{what} has no place for noise",
            "use the form turtle",
        )
        _refuse(
            self.noise is Noise.VISIBLE and self.form not in _SHOWS_NOISE,
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
                case Form.BOARD:
                    wanted = below and document.form is Form.THREAD
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
