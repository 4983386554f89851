"""Indexes of web archives: when somebody looked at a page, and the digest of what was there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from recrawl.corpora.importers.archives.indexes import Capture, Index, json_rows, url_of
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import Batch, unusable
from recrawl.corpora.sources.files import files, is_url, open_bytes
from recrawl.corpora.sources.lines import Flaw, lines, pieces, split
from recrawl.corpora.sources.moments import stamp
from recrawl.errors import BadInputError
from recrawl.remember.cdx import surt

ENDINGS = tuple(
    f".{name}{packing}"
    for name in ("cdx", "cdxj", "json", "txt")
    for packing in ("", ".gz", ".bz2", ".xz", ".zst")
)
N_ASKED = 20_000  # captures in one answer of a server
N_DIGESTS = 100_000  # of one page that are remembered
REVISIT = "warc/revisit"


class Cdx:
    name = "cdx"
    summary = "indexes of web archives: CDX, CDXJ, or a CDX server's URL"
    options: tuple[Option, ...] = (
        Option("status", "word", "Which answers count, such as `200,404`; 200 unless said."),
        Option("all", "flag", "All answers count, errors and redirects too."),
        Option("media-types", "word", "Only these, such as `text/html,application/pdf`."),
        Option("by", "word", "What makes two captures the same page: `key` (unless said) or `original` URL."),
        Option("since", "moment", "Leave earlier captures out."),
        Option("until", "moment", "Leave captures from this moment on out."),
    )

    def __init__(
        self,
        *,
        status: str = "200",
        all: bool = False,  # noqa: A002  # the option's name
        media_types: str | None = None,
        by: str = "key",
        since: float = float("-inf"),
        until: float = float("inf"),
    ) -> None:
        if by not in ("key", "original"):
            raise BadInputError(f"--by {by} is not known; use key or original.")
        self._status = None if all else frozenset(one.strip() for one in status.split(","))
        self._media_types = media_types and frozenset(one.strip().lower() for one in media_types.split(","))
        self._by_key = by == "key"
        self._since, self._until = since, until
        self._key = self._name = ""  # of the page that the index is at
        self._wanted: dict[str, bool] = {}  # by digest, whether its captures of this page count

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="page", observation="visits", resolution_s=1)
        if is_url(source) and any(name == "url" for name, _ in parse_qsl(urlsplit(source).query)):
            self._ask(source, into)
            return
        found = files(into.local(source), *ENDINGS)
        first, after = into.position or (0, 0)
        for index in range(first, len(found)):
            into.progress(index, len(found), "files")
            self._read(found[index], index, after if index == first else 0, into)
            into.reached([index + 1, 0])

    def _read(self, path: Path, index: int, after: int, into: Intake) -> None:
        batch = Batch(into)
        for n, (line, capture) in enumerate(_captures(path), 1):
            if n > after:
                self._take(capture, f"{path.name}:{line}", batch, into)
                if batch.is_full:
                    batch.hand_over()
                    into.reached([index, n])
        batch.hand_over()

    def _ask(self, source: str, into: Intake) -> None:
        """A server's captures, one answer after the other."""
        said = dict(parse_qsl(urlsplit(source).query, keep_blank_values=True))
        is_bounded = "limit" in said
        asked = {"output": "json", "limit": str(N_ASKED), "showResumeKey": "true"} | said
        address = f"{source.partition('?')[0]}?{urlencode(asked)}"
        key, n_captures = into.position or ("", 0)
        while True:
            # The server gives its key escaped already.
            body = into.ask(address + (f"&resumeKey={quote(key, safe='%+')}" if key else ""))
            index, batch = Index(), Batch(into)
            n_before = n_captures
            for line, capture in _answered(body, index):
                n_captures += isinstance(capture, Capture)
                self._take(capture, f"the answer after {key or 'nothing'}:{line}", batch, into)
            batch.hand_over()
            into.progress(n_captures, unit="captures")
            if not index.resume_key or is_bounded or index.resume_key == key:
                break
            key = index.resume_key
            into.reached([key, n_captures])
        if not is_bounded and n_captures - n_before >= N_ASKED:
            into.note(
                f"The server gave {N_ASKED:,} captures and no key to go on with; there may be more. "
                "Ask for a shorter stretch with from= and to= in the URL."
            )

    def _take(self, capture: Capture | Flaw, where: str, batch: Batch, into: Intake) -> None:
        if isinstance(capture, Flaw):
            into.skip(where, capture)
            return
        try:
            at = stamp(capture.stamp)
            key = capture.key or surt(capture.url)
            digest = capture.digest.removeprefix("sha1:").encode("ascii").decode()
        except ValueError as problem:
            why = "the digest cannot be read" if isinstance(problem, UnicodeError) else str(problem)
            into.skip(where, why if capture.stamp else "there is no time")
            return
        if key != self._key:
            self._key = key
            self._wanted.clear()
            self._name = url_of(key)
            if self._by_key and unusable(self._name) is None and unusable(capture.url) is None:
                into.resource(self._name, original=capture.url)
        why_not = self._refused(capture, digest)
        if why_not:
            into.leave_out(why_not)
        elif not self._since <= at < self._until:
            into.leave_out("captures outside --since and --until")
        else:
            batch.row(self._name if self._by_key else capture.url, at, digest, where=where)

    def _refused(self, capture: Capture, digest: str) -> str:
        """Why a sound capture is not wanted. A revisit says only which digest it saw again: it counts unless
        what had that digest did not."""
        if not digest:
            return "captures without a digest"
        is_status = self._status is None or capture.status in self._status
        if capture.media_type == REVISIT:
            if capture.status and not is_status:
                return "captures with another status"
            return "" if self._wanted.get(digest, True) else "revisits of captures that are not wanted"
        is_type = not self._media_types or capture.media_type.lower() in self._media_types
        if len(self._wanted) >= N_DIGESTS:
            self._wanted.clear()
        self._wanted[digest] = self._wanted.get(digest, False) or (is_status and is_type)
        if not is_status:
            return "captures with another status"
        return "" if is_type else "captures of another media type"


def _captures(path: Path) -> Iterator[tuple[int, Capture | Flaw]]:
    with open_bytes(path) as stream:
        head = b"".join(piece for piece in islice(pieces(stream, 1024), 1) if not isinstance(piece, Flaw))
    index = Index()
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
        with open_bytes(path) as stream:
            yield from _found(json_rows(pieces(stream)), index)
    else:
        yield from _found(lines(path), index)


def _answered(body: bytes, index: Index) -> Iterator[tuple[int, Capture | Flaw]]:
    is_json = body.lstrip()[:1] == b"["
    yield from _found(json_rows([body]) if is_json else split(iter([body])), index)


def _found(items: Iterator[tuple[int, object]], index: Index) -> Iterator[tuple[int, Capture | Flaw]]:
    for line, item in items:
        if isinstance(item, Flaw):
            yield line, item
        elif (capture := index.capture(item) if isinstance(item, bytes) else index.row(item)) is not None:
            yield line, capture
