"""What documents say: text that depends on the seed, the place and the version, and on nothing else.

`drawn(scene)` writes a document once for a version. Where it is noisy, it holds slots that `noise.filled`
fills anew for every answer.
"""

from __future__ import annotations

from collections.abc import Callable

from recrawl.livingweb.content import data, feeds, pages
from recrawl.livingweb.content.scene import Listed, Scene
from recrawl.livingweb.script import Form

__all__ = ["MEDIA_TYPES", "Listed", "Scene", "drawn"]

_HTML = "text/html; charset=utf-8"

MEDIA_TYPES = {
    Form.PAGE: _HTML,
    Form.BOARD: _HTML,
    Form.THREAD: _HTML,
    Form.JSON: "application/json",
    Form.CSV: "text/csv; charset=utf-8",
    Form.TURTLE: "text/turtle; charset=utf-8",
    Form.SPARQL: "application/sparql-results+json",
    Form.RSS: "application/rss+xml; charset=utf-8",
    Form.ATOM: "application/atom+xml; charset=utf-8",
    Form.SITEMAP: "application/xml; charset=utf-8",
    Form.SITEMAP_INDEX: "application/xml; charset=utf-8",
    Form.OPML: "text/x-opml; charset=utf-8",
}

_WRITERS: dict[Form, Callable[[Scene], str]] = {
    Form.PAGE: pages.page,
    Form.BOARD: pages.board,
    Form.THREAD: pages.thread,
    Form.JSON: data.json_table,
    Form.CSV: data.csv_table,
    Form.TURTLE: data.turtle,
    Form.SPARQL: data.sparql_results,
    Form.RSS: feeds.rss,
    Form.ATOM: feeds.atom,
    Form.SITEMAP: feeds.sitemap,
    Form.SITEMAP_INDEX: feeds.sitemap_index,
    Form.OPML: feeds.opml,
}


def drawn(scene: Scene) -> bytes:
    """The document as it stands in this version, its noise still to be filled in."""
    return _WRITERS[scene.document.form](scene).encode()
