"""Pages for people. What comes from the web stands in them escaped, and none of them runs a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlencode

from recrawl.app.quantity import iso
from recrawl.model import Resource, Version
from recrawl.web.memento import Paths, TimeMap

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .8rem .2rem 0}"
    "td:first-child{overflow-wrap:anywhere}"
)


def index(found: Sequence[tuple[Resource, Version | None]], *, origin: str, text: str, more: bool) -> str:
    """One page of all that is watched, with its newest copy."""
    rows = []
    for resource, version in found:
        paths = Paths(origin, resource.url)
        newest = "no copy yet"
        if version is not None:
            gone = " (gone)" if version.gone else ""
            newest = f"{_anchor(paths.memento(version.at), iso(version.at) or '')}{gone}"
        name = _anchor(paths.timemap("html"), resource.url)
        rows.append(f"<tr><td>{name}<td>{newest}<td>{escape(version.media_type if version else '')}")
    search = f'<form><input name="text" value="{escape(text)}"> <button>Search URLs</button></form>'
    table = f"<table><tr><th>resource<th>newest copy<th>media type{''.join(rows)}</table>"
    nothing = "<p>Nothing here." if not rows else ""
    onwards = ""
    if more:
        query = {"after": str(found[-1][0].id), **({"text": text} if text else {})}
        onwards = f"<p>{_anchor(f'{origin}/?{urlencode(query)}', 'More')}"
    return _page("What is archived", search + table + nothing + onwards)


def timemap(page: TimeMap, versions: Sequence[Version]) -> str:
    """The copies of one resource, oldest first."""
    paths = page.paths
    rows = []
    for version in versions:
        what = f"gone ({version.status})" if version.gone else f"{version.n_bytes:,} bytes"
        at = _anchor(paths.memento(version.at), iso(version.at) or "")
        rows.append(f"<tr><td>{at}<td>v{version.seq}<td>{what}<td>{escape(version.media_type)}")
    forms = " · ".join(_anchor(paths.timemap(form), f"TimeMap ({form})") for form in ("link", "json"))
    onwards = ""
    if page.next_at is not None:
        onwards = f"<p>{_anchor(paths.timemap('html', page.next_at), 'More')}"
    body = f"<p>Copies of {_live(paths.url)}.<table>{''.join(rows)}</table>{onwards}<p>{forms}"
    return _page(f"Copies of {paths.url}", f"{body}<p>{_anchor(f'{paths.origin}/', 'All that is archived')}")


def unknown(url: str, origin: str, near: Iterable[str]) -> str:
    """Nothing is known of this URL; what is of others."""
    items = "".join(f"<li>{_anchor(Paths(origin, known).timemap('html'), known)}" for known in near)
    others = f"<p>Archived of the same host:<ul>{items}</ul>" if items else ""
    text = f"<p>{_live(url)} is not archived here.{others}"
    return _page("Not archived", f"{text}<p>{_anchor(f'{origin}/', 'All that is archived')}")


def empty(url: str, origin: str, erased_at: float | None) -> str:
    text = f"<p>{_live(url)} is watched, and there is no copy of it yet."
    if erased_at is not None:
        text = f"<p>All copies of {_live(url)} were taken out of this archive for good ({iso(erased_at)})."
    return _page("No copy", f"{text}<p>{_anchor(f'{origin}/', 'All that is archived')}")


def trouble(title: str, text: str) -> str:
    return _page(title, f"<p>{escape(text)}")


def _live(url: str) -> str:
    """A link to the web as it is now; only there for what is an address on it."""
    return _anchor(url, url) if url.startswith(("http://", "https://")) else escape(url)


def _anchor(target: str, text: str) -> str:
    return f'<a href="{escape(target)}" rel="noreferrer">{escape(text)}</a>'


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
