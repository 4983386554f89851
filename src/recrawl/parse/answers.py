"""What the headers of an answer say about how long it may stay as it is, and what sort of content it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import nan

from recrawl.model import DAY_S, Body
from recrawl.parse import charset as charsets
from recrawl.parse import dates, html

MOST_DATA_BYTES = html.TAME_BYTES  # of what is no page: so much of it is searched for dates, in this process
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,10})", re.IGNORECASE)
_UNCACHED = re.compile(r"(?:^|[,\s])no-(?:store|cache)\b", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]{1,10}")
_MOST_HEADER = 1_000  # characters of one header that are read

_RECENT_DAYS = {"dates_month": 30, "dates_year": 365}
_MEDIA = ("html", "feed", "json", "xml", "csv", "plain")
_BY_NAME = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
    "text/turtle": "xml",
    "application/n-triples": "xml",
    "application/n-quads": "xml",
    "application/trig": "xml",
    "application/ld+json": "xml",
    "application/json": "json",
    "application/x-ndjson": "json",
    "application/geo+json": "json",
    "text/json": "json",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/csv": "csv",
    "application/javascript": "plain",
    "application/yaml": "plain",
}
_HEAD_BYTES = 2_048
_NO_TYPE = frozenset({"", "application/octet-stream", "unknown/unknown", "content/unknown"})
_FEED_ROOT = re.compile(rb"<(?:rss|feed|urlset|sitemapindex)[\s>]|xmlns=\"http://purl.org/rss/1.0/\"")
# Turtle and its kin, after comments: a prefix, a base, or an address in brackets and what is said of it.
_RDF = re.compile(
    rb"(?:#[^\n]*\n\s*)*(?:@(?:prefix|base)\s|prefix\s+[^\s:]{0,100}:\s*<|base\s+<|"
    rb"<(?:[a-z][a-z0-9+.-]{0,30}:|#)[^<>\"\s]{0,1000}>\s+[<\w])",
    re.IGNORECASE,
)
_PAGE = re.compile(
    rb"<(?:!doctype html|html|head|body|title|meta|div|p|h1|table|script|a)[\s>/]", re.IGNORECASE
)


def media(content_type: str, body: Body) -> str:
    """What sort of content it is: html, feed, json, xml, csv, plain or other. Where the header does not say
    it, it is told from how the content begins; empty where that says nothing either."""
    name = content_type[:_MOST_HEADER].partition(";")[0].strip().lower()
    head = body[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    if name in _NO_TYPE:
        return _sniffed(head)
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in ("text/xml", "application/xml") or name.endswith("+xml"):
        if name.startswith("image/"):
            return "other"
        return "feed" if _FEED_ROOT.search(head) else "xml"
    if name.endswith("+json"):
        return "json"
    return "plain" if name.startswith("text/") else "other"


def media_features(media: str) -> dict[str, float]:
    return {name: float(name == media) for name in _MEDIA} if media else {}


def header_features(headers: Mapping[str, str], now: float) -> dict[str, float]:
    """Those features of a sight that headers tell, named in lower case; none where there are none."""
    if not headers:
        return {}
    said = {name: value[:_MOST_HEADER] for name, value in headers.items()}
    control = said.get("cache-control", "")
    max_age = _MAX_AGE.search(control)
    age = _SECONDS.fullmatch(said.get("age", "").strip())
    uncached = _UNCACHED.search(control) or "no-cache" in said.get("pragma", "").lower()
    return {
        "last_modified": float("last-modified" in said),
        "max_age_s": float(max_age[1]) if max_age else nan,
        "uncached": float(bool(uncached)),
        "expires_s": _expires_s(said, now),
        "etag": float("etag" in said),
        "age_s": float(age[0]) if age else nan,
        "cookies": float("set-cookie" in said),
        "modified_days": age_days(dates.instant(said.get("last-modified", "")), now),
    }


def data_features(body: Body, charset: str | None, media: str, now: float) -> dict[str, float]:
    """What there is to know of content that is no page, without parsing it."""
    if media == "other":
        return {}
    # Lists grow at either end: a feed at its beginning, a table of values mostly at its end.
    named = list(dates.in_text(charsets.ends(body, MOST_DATA_BYTES // 2, charset)))
    told = {"dates": float(len(named)), **dated_features(named, now)}
    return told | ({"text_bytes": float(len(body))} if media in ("json", "csv", "plain") else {})


def dated_features(instants: Iterable[float], now: float) -> dict[str, float]:
    """What the dates in a content tell of its past: where all that is added has its date, how often that was.
    None of them where no date lies in the past."""
    past = [at for at in instants if at <= now]
    if not past:
        return {}
    days = {now // DAY_S - at // DAY_S for at in past}
    return {
        "newest_days": newest_days(past, now),
        **{name: float(sum(day < n_days for day in days)) for name, n_days in _RECENT_DAYS.items()},
    }


def newest_days(instants: Iterable[float], now: float) -> float:
    """The age of the newest of those that are not in the future."""
    past = [at for at in instants if at <= now]
    return (now - max(past)) / DAY_S if past else nan


def age_days(at: float, now: float) -> float:
    """How long ago it was. Clocks differ: what is less than a day ahead is taken for now; what lies further
    in the future tells nothing."""
    age = (now - at) / DAY_S
    return max(age, 0.0) if age > -1 else nan


def _expires_s(said: Mapping[str, str], now: float) -> float:
    if "expires" not in said:
        return nan
    at = dates.instant(said["expires"])
    sent_at = dates.instant(said.get("date", ""))
    if at != at:  # what is no date, such as 0, means that the answer has expired
        return 0.0
    return max(at - (sent_at if sent_at == sent_at else now), 0.0)


def _sniffed(head: bytes) -> str:
    if not head:
        return ""
    if head.startswith(b"<") and _FEED_ROOT.search(head) and not _PAGE.match(head):
        return "feed"
    if _RDF.match(head):
        return "xml"
    if head.startswith(b"<"):
        return "html" if _PAGE.search(head) else "xml" if head.startswith((b"<?xml", b"<rdf")) else "html"
    if head[:1] in (b"{", b"["):
        return "json"
    if b"\0" in head:
        return "other"
    return "html" if _PAGE.search(head) else "plain"
