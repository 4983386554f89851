"""A record of somebody's WARC file as the fetch that it tells of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from recrawl.errors import ArchiveError
from recrawl.model import Body, Fetch, Header, Hop, Outcome, Request, Resource, Snapshot, Version
from recrawl.observe.exchange import Reply
from recrawl.observe.outcome import amounts_to
from recrawl.parse.coding import Decoded, Ending, decoded
from recrawl.parse.spool import Spool
from recrawl.remember import foreign
from recrawl.remember.catalogue import REDIRECTS, Catalogue, Listed
from recrawl.remember.records import Record, Unreadable, agrees
from recrawl.urls import resource_url

NO_TARGET = "a redirect to what is not in these files"
NO_ORIGIN = "a revisit of what is not in these files"
N_HOPS = 10
N_CHUNKS = 1_000_000  # more are not looked at: a chunk for every byte would take for ever
_CUTS = frozenset({"length", "time", "disconnect"})
_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_MAX_LINE_BYTES = 8192
_STEP_BYTES = 1 << 20

Load = Callable[[Version], Snapshot]


class Replies:
    """Reads the records that a catalogue lists. `most_bytes` is the largest body."""

    def __init__(self, catalogue: Catalogue, *, spool: Path, most_bytes: int, load: Load) -> None:
        self._catalogue = catalogue
        self._spool = spool
        self._most_bytes = most_bytes
        self._load = load

    def fetch(self, listed: Listed, resource: Resource, before: Version | None) -> Fetch | str:
        """The fetch, or why it tells nothing. Raises `Unreadable` where the record is damaged.

        `before` is the copy of that time: what the server may have said was not modified.
        """
        hops = self._catalogue.hops(listed)
        answer = listed
        while answer.status in REDIRECTS and answer.kind != "revisit":
            found = self._catalogue.led_to(answer) if answer.location else None
            if found is None or len(hops) == N_HOPS:
                return NO_TARGET
            hops += (Hop(url=answer.url, status=answer.status, location=answer.location),)
            answer = found
        record = self._read(answer)
        reply = self._reply(answer, record, before)
        if isinstance(reply, str):
            return reply
        conditional = reply.status == 304
        limit = max(self._most_bytes, resource.effective.manner.max_bytes or 0)
        wire, opened = self._opened(reply, limit)
        amount = amounts_to(reply, opened, conditional=conditional, n_hops=len(hops))
        return Fetch(
            request=Request(url=resource.url, kind=resource.effective.kind),
            outcome=amount.outcome,
            url=resource_url(foreign.target(record)),
            started_at=listed.at,
            ended_at=listed.at,
            status=reply.status,
            http_reason=reply.reason,
            headers=reply.headers,
            body=amount.body,
            wire=wire if amount.outcome is not Outcome.NOT_MODIFIED else b"",
            ip=reply.ip,
            hops=hops,
            failure=amount.failure,
            http_version=reply.version,
            source=f"{self._catalogue.sources[answer.source].name.rpartition('/')[2]} {answer.record_id}",
        )

    def _read(self, listed: Listed) -> Record:
        return foreign.read(self._catalogue.sources[listed.source], listed.offset, self._spool)

    def _reply(self, listed: Listed, record: Record, before: Version | None) -> Reply | str:
        ip = record.field("WARC-IP-Address") or None
        if listed.kind == "resource":
            return self._origin(listed, ip)
        own = foreign.split(record)
        not_modified = listed.status == 304 or record.field("WARC-Profile").endswith("server-not-modified")
        if not_modified:
            if before is None or before.gone:
                return NO_ORIGIN
            headers = own[1] if own else ()
            return Reply(
                status=304,
                reason="Not Modified",
                version="HTTP/1.1",
                headers=headers,
                request_headers=(),
                ip=ip,
            )
        if listed.kind == "revisit":
            return self._again(listed, record, before)
        if own is None:
            raise Unreadable("it holds no HTTP answer")
        return self._sent(own[0], own[1], own[2].block, ip, cut=_cut(record))

    def _again(self, listed: Listed, record: Record, before: Version | None) -> Reply | str:
        """The payload is where it was kept first; the headers are this answer's, where it has any."""
        own = foreign.split(record)
        ip = record.field("WARC-IP-Address") or None
        origin = self._catalogue.origin(listed)
        if origin is not None:
            sent = self._origin(origin, ip)
            if own is None or sent.cut:
                return sent
            # What was undone on the way to the payload was undone for these headers too.
            codings = [(name, value) for name, value in sent.headers if name.lower() in _FRAMING]
            rest = [(name, value) for name, value in own[1] if name.lower() not in _FRAMING]
            return Reply(
                status=listed.status or sent.status,
                reason=_line(own[0])[2],
                version=sent.version,
                headers=(*rest, *codings),
                request_headers=(),
                ip=ip,
                wire=sent.wire,
            )
        if before is None or before.gone or not listed.payload:
            return NO_ORIGIN
        try:
            body = self._load(before).body
        except ArchiveError:
            return NO_ORIGIN
        if ":" not in listed.payload or not agrees(listed.payload, body):
            return NO_ORIGIN
        headers: tuple[Header, ...] = (("Content-Type", before.media_type),)
        if own is not None:
            headers = tuple((name, value) for name, value in own[1] if name.lower() not in _FRAMING)
        return Reply(
            status=listed.status or before.status or 200,
            reason="OK",
            version="HTTP/1.1",
            headers=headers,
            request_headers=(),
            ip=ip,
            wire=body,
        )

    def _origin(self, listed: Listed, ip: str | None) -> Reply:
        record = self._read(listed)
        parts = foreign.split(record) if listed.kind == "response" else None
        if parts is not None:
            return self._sent(parts[0], parts[1], parts[2].block, ip, cut=_cut(record))
        headers = (("Content-Type", record.field("Content-Type")),)
        return self._sent("HTTP/1.1 200 OK", headers, record.block, ip, cut=_cut(record))

    def _sent(
        self, line: str, headers: tuple[Header, ...], payload: Body, ip: str | None, *, cut: str
    ) -> Reply:
        version, status, reason = _line(line)
        said = {name.lower(): value for name, value in reversed(headers)}
        wire = payload
        if "chunked" in said.get("transfer-encoding", "").lower():
            joined = unchunked(payload, self._spool)
            if joined is not None:  # else the writer has undone it
                wire, whole = joined
                cut = cut or ("" if whole else "disconnect")
        elif not cut and _shorter(wire, said):
            cut = "disconnect"
        return Reply(
            status=status,
            reason=reason,
            version=version,
            headers=headers,
            request_headers=(),
            ip=ip,
            wire=wire,
            cut=cut,
        )

    def _opened(self, reply: Reply, limit: int) -> tuple[Body, Decoded]:
        """The wire, and what it says. Empty where the writer has undone the coding that the header names."""
        codings = reply.all("content-encoding").split(",")
        opened = decoded(reply.wire, codings, limit, spool=self._spool)
        undone = opened.ending is Ending.BROKEN and not len(opened.body)
        if not undone or reply.cut:
            return reply.wire, opened
        return b"", decoded(reply.wire, (), limit, spool=self._spool)


_FRAMING = frozenset({"transfer-encoding", "content-encoding", "content-length"})


def _line(line: str) -> tuple[str, int, str]:
    version, _, rest = line.partition(" ")
    status, _, reason = rest.strip().partition(" ")
    if not re.fullmatch(r"[1-5][0-9]{2}", status):
        raise Unreadable("it holds no HTTP answer")
    return version, int(status), reason.strip()


def _cut(record: Record) -> str:
    said = record.field("WARC-Truncated").lower()
    return "" if not said else said if said in _CUTS else "unspecified"


def _shorter(wire: Body, said: dict[str, str]) -> bool:
    """Whether it is less than was announced. Where a coding was undone, the length is of something else."""
    length = said.get("content-length", "")
    return (
        length.isascii()
        and length.isdecimal()
        and len(wire) < int(length[:18])
        and (said.get("content-encoding", "identity").lower() in ("", "identity"))
    )


def unchunked(payload: Body, spool: Path | None) -> tuple[Body, bool] | None:
    """What the chunks hold, and whether the last one is there. None: these are no chunks.

    >>> unchunked(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\n", None), unchunked(b"<p>", None)
    ((b'abc', True), None)
    """
    joined, at = Spool(spool), 0
    for _ in range(N_CHUNKS):
        line = payload[at : at + 32]
        found = _SIZE.match(line if b"\n" in line else payload[at : at + _MAX_LINE_BYTES])
        if found is None:
            return None if at == 0 else (joined.body(), False)
        n_bytes = int(found[1], 16)
        at += found.end()
        if n_bytes == 0:
            return joined.body(), True
        end = min(at + n_bytes, len(payload))
        for start in range(at, end, _STEP_BYTES):
            joined.write(payload[start : min(start + _STEP_BYTES, end)])
        if end - at < n_bytes:
            return joined.body(), False
        at = end + (2 if payload[end : end + 2] == b"\r\n" else 1 if payload[end : end + 1] == b"\n" else 0)
    return joined.body(), False


def fetch_id(listed: Listed) -> str:
    """The same for the same record, in whichever file it is."""
    said = "\n".join((listed.record_id, listed.url, f"{listed.at:.6f}", listed.payload))
    return f"warc-{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
