"""What the first visit shows of a resource: its look, its answer's headers and its address as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import nan

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import FEATURES, Body
from recrawl.model.sight import CHANGEFREQ
from recrawl.parse import addresses, answers, dates, html, outlinks, texts
from recrawl.parse import charset as charsets
from recrawl.parse.pool import ParseFailed, shared

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_COUNTED = {
    "images": ("img",),
    "scripts": ("script",),
    "forms": ("form",),
    "iframes": ("iframe",),
    "tables": ("table",),
    "headings": _HEADINGS,
    "list_items": ("li",),
    "inputs": ("input", "select", "textarea"),
    "media": ("video", "audio", "embed", "object"),
}
_READ = frozenset({"a", "area", "base", "html", "link", "meta", "script", "time"})  # whose attributes matter

_MOST_EMAIL = 320  # characters
_MOST_ADDRESSES = 100  # of one link

_PUBLISHED = frozenset({"article:published_time", "datepublished", "date", "dc.date", "dcterms.created"})
_REVISED = frozenset({"article:modified_time", "og:updated_time", "datemodified", "dcterms.modified"})
_LD_DATE = re.compile(r'"(datePublished|dateModified)"\s{0,20}:\s{0,20}"([^"\n]{1,64})"')
_LD_TYPE = re.compile(r'"@type"\s{0,20}:\s{0,20}(?:"([^"\n]{1,100})"|\[([^\[\]]{1,400})\])')
_TYPE_NAME = re.compile(r"[A-Za-z]{2,60}\Z")
_GROUPS = {
    "schema_article": re.compile(r"\w*article|\w*blog\w*|report|socialmediaposting"),
    "schema_product": re.compile(r"\w*(?:product|offer|review|rating|vehicle|softwareapplication)\w*"),
    "schema_event": re.compile(
        r"\w*event|eventseries|discussionforumposting|question|qapage|comment|liveblogposting"
    ),
    "schema_body": re.compile(
        r"\w*(?:organization|person|place|localbusiness|corporation|store|restaurant|postaladdress)"
    ),
}
_MOST_TYPES = 1_000
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
_COMMENTS = (
    "#comments, #comment, #commentform, #disqus_thread, .comments, .comment-list, .commentlist, "
    ".comment-form, .comments-area, .fb-comments"
)
_NAMING_COMMENTS = (b"comment", b"disqus")


@dataclass(frozen=True, slots=True)
class Look:
    """One value for each of `FEATURES`; NaN: not known, or there is no such thing in this content."""

    values: tuple[float, ...]
    links: tuple[str, ...] = ()  # addresses on the same site that may be followed


def page_sight(
    body: Body, charset: str | None, url: str, headers: Mapping[str, str], now: float
) -> tuple[float, ...] | ParseFailed:
    """The values of a look at a page of which nothing else is known."""
    look = page_look(body, charset, url, headers, now)
    return look if isinstance(look, ParseFailed) else look.values


def page_look(
    body: Body,
    charset: str | None,
    url: str,
    headers: Mapping[str, str],
    now: float,
    *,
    depth: float = nan,
    changefreq: str = "",
    lastmod_at: float = nan,
) -> Look | ParseFailed:
    """`charset` is what the Content-Type header said. No headers at all means that nobody kept them. `depth`
    is known from collecting, `changefreq` and `lastmod_at` from a sitemap.
    """
    said = {name.lower(): value for name, value in headers.items()}
    media = answers.media(said.get("content-type", ""), body)
    known = {
        **addresses.url_features(url),
        **answers.header_features(said, now),
        **answers.media_features(media),
        "bytes": float(len(body)),
        "depth": depth,
        "changefreq": float(CHANGEFREQ.index(changefreq)) if changefreq in CHANGEFREQ else nan,
        "lastmod_days": answers.age_days(lastmod_at, now),
    }
    links: tuple[str, ...] = ()
    if media == "html":
        if (large := html.too_large(body)) is not None:
            return large
        whole = bytes(body)
        shy = outlinks.forbids(said.items(), outlinks.AGENT)
        if html.tame(whole):
            look: tuple[dict[str, float], tuple[str, ...]] | ParseFailed = looked(whole, charset, url, now)
        else:
            look = shared().run(looked, whole, charset, url, now)
        if isinstance(look, ParseFailed):
            return look
        known |= look[0]
        links = () if shy else look[1]
    elif media:
        known |= answers.data_features(body, charset, media, now)
    return Look(tuple(known.get(feature.name, nan) for feature in FEATURES), links)


def looked(
    body: bytes, charset: str | None, url: str, now: float
) -> tuple[dict[str, float], tuple[str, ...]]:
    """What an HTML page shows, and the links within its site; here and now, for as long as it takes."""
    source = charsets.text(body, charset).encode("utf-8", "replace")
    lowered = source.lower()
    tree = LexborHTMLParser(source)
    seen = _elements(tree, lowered)
    text = _text(tree, lowered)
    told = texts.text_features(text, seen.emails, [*seen.times, *seen.published, *seen.revised], now)
    internal, n_internal, n_external = _leading(seen, addresses.site(url))
    shy = any(outlinks.asks(node, outlinks.AGENT) for node in seen.robots)
    links = () if shy else outlinks.resolved(internal, url, seen.base)
    told |= {name: float(sum(seen.tags[tag] for tag in tags)) for name, tags in _COUNTED.items()}
    types = {name.lower() for name in seen.types}
    features = told | {
        "links": float(len(seen.links)),
        "elements": float(sum(seen.tags.values())),
        "internal_links": n_internal,
        "external_links": n_external,
        "external_share": n_external / (n_internal + n_external) if n_internal + n_external > 0 else nan,
        "text_share": told["text_bytes"] / len(source) if source else nan,
        "published_days": answers.newest_days(seen.published, now),
        "revised_days": answers.newest_days(seen.revised, now),
        "feed_link": float(seen.feed),
        "canonical": float(seen.canonical),
        "viewport": float("viewport" in seen.metas),
        "generator": float("generator" in seen.metas),
        "refresh": float("refresh" in seen.metas),
        "comments": float(seen.comments),
        "language": float(bool(seen.language)),
        "english": float(seen.language == "en") if seen.language else nan,
        "schema_types": float(len(types)),
        **{
            name: float(any(group.fullmatch(each) is not None for each in types))
            for name, group in _GROUPS.items()
        },
    }
    return features, links


@dataclass(slots=True)
class _Seen:
    """What one walk over all elements finds."""

    tags: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)
    unfollowed: set[str] = field(default_factory=set)  # of those
    robots: list[LexborNode] = field(default_factory=list)
    emails: set[str] = field(default_factory=set)
    base: str = ""
    language: str = ""
    metas: set[str] = field(default_factory=set)
    feed: bool = False
    canonical: bool = False
    comments: bool = False
    types: set[str] = field(default_factory=set)
    times: list[float] = field(default_factory=list)
    published: list[float] = field(default_factory=list)
    revised: list[float] = field(default_factory=list)


def _elements(tree: LexborHTMLParser, lowered: bytes) -> _Seen:
    seen = _Seen()
    microdata = b"itemtype" in lowered or b"itemprop" in lowered
    nodes = tree.css("*")
    tags = [node.tag or "" for node in nodes]
    seen.tags.update(tags)
    for tag, node in zip(tags, nodes, strict=True):
        if microdata or tag in _READ:
            _read(seen, tag, node)
    named = any(name in lowered for name in _NAMING_COMMENTS)
    seen.comments = named and tree.css_first(_COMMENTS) is not None
    return seen


def _read(seen: _Seen, tag: str, node: LexborNode) -> None:
    said = node.attributes
    match tag:
        case "a" | "area":
            if "href" in said:
                link = said["href"] or ""
                seen.links.append(link)
                if "nofollow" in (said.get("rel") or "").lower():
                    seen.unfollowed.add(link)
                if link.lstrip()[:7].lower() == "mailto:":
                    _mail(seen, link)
        case "html":
            seen.language = (said.get("lang") or said.get("xml:lang") or "").strip().lower()[:2]
        case "base":
            seen.base = seen.base or said.get("href") or ""
        case "link":
            rel = (said.get("rel") or "").lower().split()
            seen.canonical |= "canonical" in rel
            seen.feed |= "alternate" in rel and (said.get("type") or "").strip().lower() in _FEEDS
        case "meta":
            name = (said.get("name") or said.get("property") or said.get("http-equiv") or "").strip().lower()
            seen.metas.add(name)
            if name in ("robots", outlinks.AGENT):
                seen.robots.append(node)
            _dated(seen, name, said.get("content"))
        case "script":
            if "ld+json" in (said.get("type") or "").lower():
                _linked_data(seen, node.text())
        case "time":
            if len(seen.times) < dates.MOST_DATES:
                seen.times.append(dates.instant(said.get("datetime") or ""))
    if kind := said.get("itemtype"):
        _add_types(seen, kind.split())
    if prop := said.get("itemprop"):
        _dated(seen, prop.strip().lower(), said.get("datetime") or said.get("content"))


def _mail(seen: _Seen, link: str) -> None:
    for address in link.partition(":")[2].partition("?")[0].split(",", _MOST_ADDRESSES)[:_MOST_ADDRESSES]:
        if "@" in address and len(address) <= _MOST_EMAIL:
            seen.emails.add(address.strip().lower())


def _dated(seen: _Seen, name: str, written: str | None) -> None:
    for names, found in ((_PUBLISHED, seen.published), (_REVISED, seen.revised)):
        if name in names and written and len(found) < dates.MOST_DATES:
            found.append(dates.instant(written))


def _linked_data(seen: _Seen, text: str) -> None:
    """Read without minding the syntax: much of it is broken, and names and dates stand there all the same."""
    for one, several in _LD_TYPE.findall(text):
        _add_types(seen, [one] if one else re.findall(r'"([^"\n]{1,100})"', several))
    for name, written in _LD_DATE.findall(text):
        _dated(seen, name.lower(), written)


def _add_types(seen: _Seen, names: Iterable[str]) -> None:
    for name in names:
        if len(seen.types) < _MOST_TYPES and (found := _TYPE_NAME.search(name[-60:])):
            seen.types.add(found[0])


def _text(tree: LexborHTMLParser, lowered: bytes) -> str:
    """What is read, with one space between words. What is not seen is cut out of the tree."""
    root = tree.root
    if root is None:
        return ""
    html.strip(root, lowered)
    title = html.title(tree)
    text = html.broken(root)
    lines = [line for _, line in html.below(root)] if text is None else [text.replace("\0", "\n")]
    return " ".join("\n".join(["" if title is None else title.text(), *lines]).split())


def _leading(seen: _Seen, site: str) -> tuple[list[str], float, float]:
    """Which links lead to the same site and may be followed; how many lead there, and how many to others:
    not known for a page of no site."""
    if not site:
        return [], nan, nan
    base = addresses.site(seen.base) or site
    leads = [addresses.external(link, site, base) for link in seen.links]
    internal = (link for link, away in zip(seen.links, leads, strict=True) if away is False)
    followed = [link for link in internal if link not in seen.unfollowed]
    return followed, float(leads.count(False)), float(leads.count(True))
