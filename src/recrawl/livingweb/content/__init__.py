"""What documents say: text that depends on the seed, the place and the version, and on nothing else.

`drawn(scene)` writes a document once for a version. Where it is noisy, it holds slots that `noise.filled`
fills anew for every answer.
"""

from __future__ import annotations

from collections.abc import Callable

from recrawl.livingweb.content import data, discourse, feeds, graphs, pages, phpbb, xenforo
from recrawl.livingweb.content.scene import Listed, Scene
from recrawl.livingweb.kinds import Form, Markup
from recrawl.livingweb.script import Document

__all__ = ["SERIALISATIONS", "Listed", "Scene", "drawn", "media_type_of"]

_HTML = "text/html; charset=utf-8"

_MEDIA_TYPES = {
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
    Form.BOARD_FEED: "application/atom+xml; charset=utf-8",
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
    Form.BOARD_FEED: feeds.board_feed,
    Form.SITEMAP: feeds.sitemap,
    Form.SITEMAP_INDEX: feeds.sitemap_index,
    Form.OPML: feeds.opml,
}

_FORUM_WRITERS: dict[tuple[Form, Markup], Callable[[Scene], str]] = {
    (Form.THREAD, Markup.PHPBB): phpbb.thread,
    (Form.BOARD, Markup.PHPBB): phpbb.board,
    (Form.THREAD, Markup.XENFORO): xenforo.thread,
    (Form.BOARD, Markup.XENFORO): xenforo.board,
    (Form.THREAD, Markup.DISCOURSE): discourse.thread,
    (Form.BOARD, Markup.DISCOURSE): discourse.board,
}


def media_type_of(document: Document) -> str:
    if document.markup is Markup.DISCOURSE and document.form is not Form.BOARD_FEED:
        return "application/json; charset=utf-8"
    return _MEDIA_TYPES[document.form]


def drawn(scene: Scene, media_type: str = "") -> bytes:
    """The document as it stands in this version, its noise still to be filled in."""
    if scene.document.form is Form.RDF:
        return graphs.WRITERS[media_type](scene).encode()
    form, markup = scene.document.form, scene.document.markup
    return (_FORUM_WRITERS.get((form, markup)) or _WRITERS[form])(scene).encode()
