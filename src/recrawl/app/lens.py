"""Whether what is said of a resource's lens concerns what the resource is."""

from __future__ import annotations

from collections.abc import Iterator

from recrawl.detect.choose import detector_name
from recrawl.detect.selectors import PAGE, Language, read
from recrawl.model import Kind, Manner, Version

# by detector: what it judges, the languages of selectors that speak of it, and how they are written
_SPOKEN: dict[str, tuple[str, tuple[Language, ...], str]] = {
    "text": ("a page", PAGE, "CSS or XPath"),
    "json": ("JSON", (Language.JSON,), "JSONPath, as in $.items[*].price"),
    "table": ("a table", (Language.COLUMN,), "column:NAME"),
    "results": ("a query's result", (Language.COLUMN,), "column:VARIABLE"),
    # JSON-LD whose context is elsewhere is judged as JSON
    "rdf": ("RDF", (Language.PREDICATE, Language.JSON), "predicate:<IRI>"),
    "feed": ("a feed or sitemap", (Language.FIELD,), "field:NAME"),
    "thread": ("a thread", (Language.FIELD,), "field:author or field:text"),
    "board": ("a board", (Language.FIELD,), "field:title, field:n_posts or field:last_at"),
    "exact": ("compared byte by byte", (), "CSS or XPath, and say --kind page"),
}


def idle(kind: Kind, version: Version | None, manner: Manner) -> Iterator[str]:
    """What was said that chooses nothing there, as sentences. What the resource is, its kind tells, else its
    newest version; where neither does, nobody knows."""
    judged = version.detector.partition("~")[0] if version else ""
    certain = kind is not Kind.AUTO and not (kind is Kind.SPARQL and judged)  # a query may construct a graph
    detector = detector_name(kind, "") if certain else judged
    if detector not in _SPOKEN:
        return
    what, languages, how = _SPOKEN[detector]
    for selector in (*(manner.include or ()), *(manner.ignore or ())):
        if read(selector).language not in languages:
            yield f"{selector} chooses nothing there, since it is {what}; write {how}."
    if manner.keys and detector not in ("table", "results"):
        yield f"--keys says nothing there, since it is {what}; it is for tables."
    if manner.main and detector != "text":
        yield f"--main says nothing there, since it is {what}; it is for pages."
