"""What documents say: text that depends on the seed, the place and the version, and on nothing else.

`drawn(scene)` writes a document once for a version. Where it is noisy, it holds slots that `noise.filled`
fills anew for every answer.
"""

from __future__ import annotations

from collections.abc import Callable

from recrawl.livingweb.content import data, feeds, graphs, pages
from recrawl.livingweb.content.scene import Listed, Scene
from recrawl.livingweb.kinds import Form

__all__ = ["MEDIA_TYPES", "SERIALISATIONS", "Listed", "Scene", "drawn"]

_HTML = "text/html; charset=utf-8"

MEDIA_TYPES = {
    Form.PAGE: _HTML,
    Form.BOARD: _HTML,
    Form.THREAD: _HTML,
    Form.JSON: "application/json",
    Form.CSV: "text/csv; charset=utf-8",
    Form.TURTLE: "text/turtle; charset=utf-8",
    Form.RDF: "text/turtle",  # unless another is asked for
    Form.SPARQL: "application/sparql-results+json",
    Form.RSS: "application/rss+xml; charset=utf-8",
    Form.ATOM: "application/atom+xml; charset=utf-8",
    Form.SITEMAP: "application/xml; charset=utf-8",
    Form.SITEMAP_INDEX: "application/xml; charset=utf-8",
    Form.OPML: "text/x-opml; charset=utf-8",
}

SERIALISATIONS = tuple(graphs.WRITERS)  # media types of an RDF document

_WRITERS: dict[Form, Callable[[Scene], str]] = {
    Form.PAGE: pages.page,
    Form.BOARD: pages.board,
    Form.THREAD: pages.thread,
    Form.JSON: data.json_table,
    Form.CSV: data.csv_table,
    Form.TURTLE: graphs.turtle,
    Form.SPARQL: data.sparql_results,
    Form.RSS: feeds.rss,
    Form.ATOM: feeds.atom,
    Form.SITEMAP: feeds.sitemap,
    Form.SITEMAP_INDEX: feeds.sitemap_index,
    Form.OPML: feeds.opml,
}


def drawn(scene: Scene, media_type: str = "") -> bytes:
    """The document as it stands in this version, its noise still to be filled in."""
    if scene.document.form is Form.RDF:
        return graphs.WRITERS[media_type](scene).encode()
    return _WRITERS[scene.document.form](scene).encode()
