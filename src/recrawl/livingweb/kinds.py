"""Kinds of documents, of noise, of walls and of validators that a living web knows."""

from __future__ import annotations

from enum import StrEnum


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
    BOARD_FEED = "board-feed"  # the same as Atom: an entry for each thread, as new as its last post
    SITEMAP = "sitemap"  # the documents at or below its folder
    SITEMAP_INDEX = "sitemap-index"  # the sitemaps of its host
    OPML = "opml"  # the feeds of all hosts


BOARDS = frozenset({Form.BOARD, Form.BOARD_FEED})
LISTINGS = frozenset({*BOARDS, Form.SITEMAP, Form.SITEMAP_INDEX, Form.OPML})
FEEDS = frozenset({Form.RSS, Form.ATOM})


class Markup(StrEnum):
    """What a thread or a board is written in. All but the plain one are those of forum software: posts have
    signatures and can be edited and removed, and times are told as such software tells them."""

    PLAIN = "plain"
    PHPBB = "phpbb"  # HTML; local times to the minute, in a zone that the page states; `?start=10`
    XENFORO = "xenforo"  # HTML; times with their zone, for machines; `page-2`
    DISCOURSE = "discourse"  # JSON; ISO 8601; `?page=2`


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
    CLOCK = "clock"  # the time to the minute: a second look finds the same as often as not
    AGE = "age"  # how long ago, in words
    NONCE = "nonce"
    COUNTER = "counter"  # of visitors
    ADVERT = "advert"
    FLAP = "flap"  # two contents in turn, as the dice fall

    @property
    def seen(self) -> bool:
        """Whether readers see it."""
        return self not in (Noise.NONE, Noise.HIDDEN)


SHOWS_NOISE = {Form.PAGE, Form.THREAD, Form.BOARD, Form.JSON, Form.CSV, Form.TURTLE}
SHOWS_STAMP = FEEDS | SHOWS_NOISE  # feeds have a place for a time, and for nothing else


class Disguise(StrEnum):
    """What is answered with 200 in place of the thing itself."""

    SOFT_404 = "soft-404"
    LOGIN = "login"
    CHALLENGE = "challenge"
    CONSENT = "consent"
    EMPTY = "empty"


class Validators(StrEnum):
    """What the server says so that a client may ask "has it changed?", and whether that is true."""

    NONE = "none"
    BOTH = "both"  # honest ETag and Last-Modified
    ETAG = "etag"
    DATE = "date"
    STUCK = "stuck"  # never move, so that 304 is said although it changed
    FICKLE = "fickle"  # a new ETag with every answer, so that 304 is never said
