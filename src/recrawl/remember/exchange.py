"""A fetch as WARC records: what came back, what was asked, and what else is worth keeping of it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from yarl import URL

from recrawl.model import Body, Fetch, Header, Hop, Outcome, digest
from recrawl.parse.spool import MEMORY_BYTES, Joined
from recrawl.remember.records import HTTP_ENCODING, Record, head, lines, record
from recrawl.urls import is_file_url

_PROFILES = "http://netpreserve.org/warc/1.1/revisit"
_PROTOCOLS = {"HTTP/2": "h2", "HTTP/2.0": "h2", "HTTP/3": "h3", "HTTP/3.0": "h3"}
_CUTS = frozenset({"length", "time", "disconnect"})
_VIA = re.compile(rb"via: (\d{3}) (\S+) ->(?: ([^\r\n]*))?\r\n")
_NOTE_BYTES = 1 << 20
_ANSWER = "application/http; msgtype=response"
_QUESTION = "application/http; msgtype=request"

_Fields = list[tuple[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The record whose payload a revisit repeats."""

    id: str
    url: str
    date: str
    payload_digest: str
    n_payload: int
    codings: Sequence[str]

    @classmethod
    def of(cls, kept: Record) -> Origin:
        return cls(
            id=kept.id,
            url=kept.field("WARC-Target-URI"),
            date=kept.field("WARC-Date"),
            payload_digest=kept.field("WARC-Payload-Digest"),
            n_payload=kept.n_payload,
            codings=kept.http().codings,
        )


def exchange(fetch: Fetch, origin: Origin | None) -> list[Record]:
    """The answer first: a response, or a revisit where `origin` holds the payload; then the request."""
    common = _common(fetch)
    if origin is None:
        answer = _response(fetch, common)
    elif fetch.outcome is Outcome.NOT_MODIFIED:
        answer = _not_modified(common, origin)
    else:
        answer = _same_payload(fetch, common, origin)
    records = [answer]
    common.append(("WARC-Concurrent-To", answer.id))
    if not is_file_url(fetch.url) and not fetch.source:  # nobody was asked for a file, nor by us
        records.append(_request(fetch, common))
    facts = [("via", f"{hop.status} {hop.url} -> {hop.location}") for hop in fetch.hops]
    if fetch.unverified:
        facts.append(("tls", "the server's certificate was not verified"))
    if fetch.source:
        facts.append(("imported-from", fetch.source))
    if answer.kind == "revisit" and not len(answer.block):
        facts += [("http-status", f"{fetch.status} {fetch.http_reason}"), *fetch.headers]
    if facts:
        block = lines(facts)
        # As fields: a block of any other type would be indexed by replay tools, and shown for the answer.
        records.append(record("metadata", common, block=block, block_type="application/warc-fields"))
    return records


def hops_of(beside: Record) -> list[Hop]:
    """The redirects that led to an answer, as the note beside it says. They come first in it: what follows
    may be a server's own words."""
    hops: list[Hop] = []
    if beside.kind == "metadata":
        block, at = beside.block[:_NOTE_BYTES], 0
        while found := _VIA.match(block, at):
            status, url, location = (part.decode("utf-8", "replace") for part in found.groups(b""))
            hops.append(Hop(url=url, status=int(status), location=location))
            at = found.end()
    return hops


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def codings(fetch: Fetch) -> list[str]:
    """Of the payload as it will be archived, in the order in which they were applied."""
    said = [value for name, value in _kept_headers(fetch) if name.lower() == "content-encoding"]
    return [part.strip().lower() for value in said for part in value.split(",")]


def _response(fetch: Fetch, common: _Fields) -> Record:
    payload = _payload(fetch)
    cut = fetch.failure.reason if fetch.failure and fetch.failure.reason in _CUTS else "unspecified"
    fields = [
        *common,
        ("WARC-Payload-Digest", digest(payload)),
        ("WARC-Truncated", cut if fetch.outcome is Outcome.TRUNCATED else None),
    ]
    top = _response_head(fetch, len(payload))
    small = len(payload) <= MEMORY_BYTES
    block = top + bytes(payload) if small else Joined(top, payload)
    return record("response", fields, block=block, block_type=_ANSWER)


def _same_payload(fetch: Fetch, common: _Fields, origin: Origin) -> Record:
    fields = [
        *common,
        *_refers(origin, "identical-payload-digest"),
        ("WARC-Truncated", "length"),
    ]
    # The headers speak of the payload that a reader will find, and that is the origin's.
    block = _response_head(fetch, origin.n_payload)
    return record("revisit", fields, block=block, block_type=_ANSWER)


def _not_modified(common: _Fields, origin: Origin) -> Record:
    """Without a block: with one, replay tools would answer 304 and show nothing."""
    fields = [*common, *_refers(origin, "server-not-modified")]
    return record("revisit", fields, block=b"", block_type=_ANSWER)


def _request(fetch: Fetch, common: _Fields) -> Record:
    url = URL(fetch.url, encoded=True)
    headers = fetch.request_headers
    if not any(name.lower() == "host" for name, _ in headers):
        headers = (("Host", url.host_port_subcomponent or ""), *headers)
    method = "GET" if fetch.form is None else "POST"
    block = head(f"{method} {url.raw_path_qs} HTTP/1.1", headers, HTTP_ENCODING) + (fetch.form or "").encode()
    return record("request", common, block=block, block_type=_QUESTION)


def _common(fetch: Fetch) -> _Fields:
    version = fetch.http_version.upper()
    return [
        ("WARC-Target-URI", fetch.url),
        ("WARC-Date", stamp(fetch.started_at)),
        ("WARC-IP-Address", _address(fetch.ip)),
        ("WARC-Protocol", _PROTOCOLS.get(version, version.lower())),
    ]


def _refers(origin: Origin, profile: str) -> _Fields:
    return [
        ("WARC-Profile", f"{_PROFILES}/{profile}"),
        ("WARC-Refers-To", origin.id),
        ("WARC-Refers-To-Target-URI", origin.url),
        ("WARC-Refers-To-Date", origin.date),
        ("WARC-Payload-Digest", origin.payload_digest),
    ]


@lru_cache(maxsize=1024)
def _address(ip: str | None) -> str | None:
    try:
        return str(ipaddress.ip_address(ip)) if ip else None
    except ValueError:
        return None


def _payload(fetch: Fetch) -> Body:
    return fetch.wire if len(fetch.wire) else fetch.body


def _response_head(fetch: Fetch, n_payload: int) -> bytes:
    """The answer's head, with a Content-Length that fits the payload."""
    # The form of HTTP/1 whatever was spoken: readers know no other; WARC-Protocol says what it was.
    version = "HTTP/1.0" if fetch.http_version.upper() == "HTTP/1.0" else "HTTP/1.1"
    headers = _kept_headers(fetch)
    if [value for name, value in headers if _is_length(name)] != [str(n_payload)]:
        headers = [(f"X-Crawler-{name}" if _is_length(name) else name, value) for name, value in headers]
        headers.append(("Content-Length", str(n_payload)))
    return head(f"{version} {fetch.status} {fetch.http_reason}", headers, HTTP_ENCODING)


def _is_length(name: str) -> bool:
    return name.lower() == "content-length"


def _kept_headers(fetch: Fetch) -> list[Header]:
    """The real headers; those that would make a reader undo what is undone already are renamed."""
    undone = {"transfer-encoding"}
    if not len(fetch.wire) and len(fetch.body):  # a fetcher that keeps no wire: the body is archived decoded
        undone.add("content-encoding")
    return [(f"X-Crawler-{name}" if name.lower() in undone else name, value) for name, value in fetch.headers]
