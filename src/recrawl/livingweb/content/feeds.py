"""Lists for machines: feeds, sitemaps, and the list of all feeds."""

from __future__ import annotations

from email.utils import formatdate
from html import escape

from recrawl.livingweb.content.noise import hidden, visible
from recrawl.livingweb.content.posts import author, text
from recrawl.livingweb.content.scene import Listed, Scene, iso
from recrawl.livingweb.content.words import name, sentence, title

_N_ENTRIES = 20
_SITEMAP_NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def rss(scene: Scene) -> str:
    built = visible(scene.document, formatdate(scene.made_at(scene.version), usegmt=True))
    items = "".join(
        f"<item><title>{title(scene.key, 'entry', i)}</title><link>{scene.url}#{i}</link>"
        f'<guid isPermaLink="false">{scene.document.host}/{i}</guid>'
        f"<pubDate>{formatdate(scene.made_at(i), usegmt=True)}</pubDate>"
        f"<description>{sentence(scene.key, 'entry', i)}</description></item>\n"
        for i in _newest(scene)
    )
    return _xml(
        scene,
        f'<rss version="2.0"><channel><title>{title(scene.key)}</title><link>{scene.url}</link>'
        f"<description>{sentence(scene.key)}</description><lastBuildDate>{built}</lastBuildDate>\n"
        f"{items}</channel></rss>",
    )


def atom(scene: Scene) -> str:
    updated = visible(scene.document, iso(scene.made_at(scene.version)))
    entries = "".join(
        f"<entry><title>{title(scene.key, 'entry', i)}</title><id>{scene.url}#{i}</id>"
        f'<link href="{scene.url}#{i}"/><updated>{iso(scene.made_at(i))}</updated>'
        f"<author><name>{name(scene.key, i)}</name></author>"
        f"<summary>{sentence(scene.key, 'entry', i)}</summary></entry>\n"
        for i in _newest(scene)
    )
    return _xml(
        scene,
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{title(scene.key)}</title><id>{scene.url}</id>'
        f"<updated>{updated}</updated>\n{entries}</feed>",
    )


def board_feed(scene: Scene) -> str:
    """The threads of a board, the one with the newest post first; an entry tells of that post."""
    rows = sorted(scene.listed, key=lambda row: row.changed_at, reverse=True)
    entries = "".join(
        f"<entry><title>{row.title}</title><id>{escape(row.url)}</id>"
        f'<link href="{escape(row.url)}"/><updated>{iso(row.changed_at)}</updated>'
        f"<author><name>{_last_author(row)}</name></author>"
        f"<summary>{_last_text(row)} Replies: {row.n_changes}</summary></entry>\n"
        for row in rows
    )
    updated = iso(rows[0].changed_at if rows else scene.born_at)
    return _xml(
        scene,
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{title(scene.key)}</title><id>{scene.url}</id>'
        f"<updated>{updated}</updated>\n{entries}</feed>",
    )


def sitemap(scene: Scene) -> str:
    return _xml(scene, f'<urlset xmlns="{_SITEMAP_NS}">\n{_locations(scene, "url")}</urlset>')


def sitemap_index(scene: Scene) -> str:
    return _xml(scene, f'<sitemapindex xmlns="{_SITEMAP_NS}">\n{_locations(scene, "sitemap")}</sitemapindex>')


def opml(scene: Scene) -> str:
    outlines = "".join(
        f'<outline type="rss" text="{row.title}" xmlUrl="{escape(row.url)}"/>\n' for row in scene.listed
    )
    head = f"<head><title>{title(scene.key)}</title></head>"
    return _xml(scene, f'<opml version="2.0">{head}<body>\n{outlines}</body></opml>')


def _newest(scene: Scene) -> range:
    return range(scene.version, max(-1, scene.version - _N_ENTRIES), -1)


def _locations(scene: Scene, element: str) -> str:
    return "".join(
        f"<{element}><loc>{escape(row.url)}</loc><lastmod>{iso(row.changed_at)}</lastmod></{element}>\n"
        for row in scene.listed
    )


def _last_author(row: Listed) -> str:
    return author(row.key, row.last) if row.last else ""


def _last_text(row: Listed) -> str:
    return text(row.key, row.last) if row.last else ""


def _xml(scene: Scene, root: str) -> str:
    token = hidden(scene.document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + (f"<!-- {token} -->\n" if token else "") + root + "\n"
