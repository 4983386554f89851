"""WARC files as history: every capture is a look. Beside an index (CDXJ) the file itself need not be read."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from recrawl.corpora.importers.archives.captures import Listing, Look, common, listing, looks
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.files import is_url
from recrawl.corpora.sources.lines import Flaw
from recrawl.errors import BadInputError
from recrawl.model import pieces
from recrawl.remember.catalogue import Catalogue, Listed
from recrawl.remember.foreign import Damage, Source, read, sources, split
from recrawl.remember.records import Unreadable

GONE = "gone"  # the digest of a look that found nothing
_GONE_STATUS = frozenset({404, 410})
_UNUSABLE = "a record is damaged or cannot be used"
_OTHER_KIND = "its digest is of another kind than the others'"
_SAME = 304
_Unit = tuple[Listing | None, list[Source]]


class Warc:
    """A capture's digest is that of its payload: every bit of it counts. Statuses are read as a visit reads
    them: 404 and 410 are answers, other errors and redirects say nothing.
    """

    name = "warc"
    summary = "WARC and WACZ files, a folder of them, an archive of recrawl's: every capture a visit"
    options: tuple[Option, ...] = (
        Option("status", "words", "Only these answers: 200,404 or 2xx. Else 2xx, 404 and 410."),
        Option("media-types", "words", "Only these: text/html,'application/*'."),
        Option("match", "words", "Only URLs that match: 'https://example.org/*'."),
        Option("read-records", "flag", "Read the records, also where an index stands beside them."),
    )

    def __init__(
        self,
        *,
        status: Sequence[str] = (),
        media_types: Sequence[str] = (),
        match: Sequence[str] = (),
        read_records: bool = False,
    ) -> None:
        wanted = _words(status)
        for word in wanted:
            if len(word) != 3 or not word[0].isdigit() or not (word[1:].isdigit() or word[1:] == "xx"):
                raise BadInputError(f"{word!r} is no status; write --status 200, or --status 2xx.")
        self._status = wanted or ("2xx", "304", "404", "410")
        self._types = _words(media_types)
        self._match = tuple(match)
        self._read_records = read_records

    def read(self, source: str, into: Intake) -> None:
        path = into.local(source)
        if not path.exists():
            raise BadInputError(f"{source} is not there; name a WARC or WACZ file, or a folder of them.")
        into.about(kind="page", observation="visits", resolution_s=1, title=f"Captures in {path.name}")
        if is_url(source):
            into.about(source=source)
        seen = _Looks(into, self._status, self._types, self._match)
        files = _Files(into, read_records=self._read_records)
        by_file: dict[Path, list[Source]] = {}
        damaged: list[Damage] = []
        for one in sources([path]):
            if isinstance(one, Damage):
                damaged.append(one)
            else:
                by_file.setdefault(one.path, []).append(one)
        if not by_file and not damaged:
            raise BadInputError(f"{source} holds no WARC or WACZ file; name one, or another folder.")
        n_done, files.kind = into.position or (0, "")
        if not n_done:
            for one in damaged:
                files.damaged(one)
        for n, (index, parts) in enumerate(self._units(by_file), 1):
            # Those that are done are passed by once more where a type is asked for: what they held of it
            # says which revisits are wanted.
            files.known = n <= n_done
            if n > n_done or self._types:
                for look in files.looks(index, parts):
                    seen.see(look, known=files.known)
            if n > n_done:
                into.reached([n, files.kind])

    def _units(self, by_file: Mapping[Path, list[Source]]) -> list[_Unit]:
        """What is read in one go: a file, with its index or without; files that share one."""
        units: dict[Path, _Unit] = {}
        for path, parts in by_file.items():
            index = None if self._read_records else listing(path)
            shared = None if index or self._read_records else common(path)
            unit = units.setdefault(shared.path if shared else path, (index or shared, []))
            unit[1].extend(parts)
        return list(units.values())


class _Files:
    """Looks, out of an index where there is one, else out of the records."""

    def __init__(self, into: Intake, *, read_records: bool) -> None:
        self._into = into
        self._read_records = read_records
        self.known = False  # what is read now was told before
        self.kind = ""  # of digest, as in "sha1": that of the first one

    def looks(self, index: Listing | None, files: Sequence[Source]) -> Iterator[Look]:
        """What is in these files. Those that the index does not speak of are read."""
        listed: set[str] = set()
        for where, found in looks(index) if index else ():
            if isinstance(found, Flaw):
                self._skip(where, str(found))
                continue
            listed.add(found.file)
            if not found.digest or self._agrees(found.digest):
                yield found
            else:
                self._skip(where, _OTHER_KIND)
        for one in files:
            if index is None or (index.is_common and not {one.path.name, ""} & listed):
                yield from self._records(one)

    def _records(self, source: Source) -> Iterator[Look]:
        place = self._into.folder / f"records-{os.getpid()}.sqlite"
        with Catalogue(place) as catalogue:
            catalogue.take([source], self.damaged)
            for listed in catalogue.answers():
                where = f"{source.name}, byte {listed.offset}"
                digest = listed.payload
                if not digest or not self._agrees(digest):
                    try:
                        digest = self._digest(source, listed)
                    except Unreadable as problem:
                        self._skip(f"{where} ({problem})", _UNUSABLE)
                        continue
                    if listed.payload and not digest:
                        self._skip(where, _OTHER_KIND)
                        continue
                yield Look(
                    listed.url, listed.at, listed.status, listed.media_type, digest,
                    revisit=listed.kind == "revisit",
                )  # fmt: skip

    def _skip(self, where: str, why: str) -> None:
        if not self.known:
            self._into.skip(where, why)

    def damaged(self, found: Damage) -> None:
        self._skip(f"{found.name}, byte {found.offset} ({found.problem})", _UNUSABLE)

    def _agrees(self, digest: str) -> bool:
        kind = digest.partition(":")[0]
        self.kind = self.kind or kind
        return kind == self.kind

    def _digest(self, source: Source, listed: Listed) -> str:
        """Of a record that states none, or one that cannot be compared; empty for a revisit, whose payload is
        elsewhere."""
        if listed.kind == "revisit":
            return ""
        record = read(source, listed.offset, self._into.folder)
        parts = None if listed.kind == "resource" else split(record)
        payload = record.block if parts is None else parts[2].block
        self.kind = self.kind or "sha1"
        if self.kind not in ("sha1", "sha256", "md5"):
            return ""
        made = hashlib.new(self.kind, usedforsecurity=False)
        for piece in pieces(payload):
            made.update(piece)
        text = base64.b32encode(made.digest()).decode() if self.kind == "sha1" else made.hexdigest()
        return f"{self.kind}:{text}"


class _Looks:
    """What of the captures is wanted, and how it counts."""

    def __init__(
        self, into: Intake, status: Sequence[str], types: Sequence[str], match: Sequence[str]
    ) -> None:
        self._into = into
        self._status = frozenset(status)
        self._types = types
        self._match = match
        self._n = 0
        self._of_type: set[int] = set()  # URLs with an answer of a wanted type

    def see(self, look: Look, *, known: bool) -> None:
        """Add it, unless it is `known` already."""
        self._n += 1
        self._into.progress(self._n, None, "captures")
        why = self._unwanted(look)
        if known:
            return
        if why:
            self._into.leave_out(why)
        elif look.status in _GONE_STATUS:
            self._into.add(look.url, look.at, GONE)
        elif look.digest and (look.revisit or look.status != _SAME):
            self._into.add(look.url, look.at, look.digest)
        else:
            self._into.leave_out("captures without a digest (not modified, or revisits that name none)")

    def _unwanted(self, look: Look) -> str:
        if self._match and not any(fnmatchcase(look.url, glob) for glob in self._match):
            return "URLs that --match does not name"
        status = look.status or (200 if look.revisit else 0)
        if not {str(status), f"{status // 100}xx"} & self._status:
            return f"status {status}" if status else "no status"
        if not self._types:
            return ""
        url = hash(look.url)
        if look.revisit or status in _GONE_STATUS or status == _SAME:
            return "" if url in self._of_type else "revisits and errors of other or unknown media types"
        if not any(fnmatchcase(look.media_type, glob) for glob in self._types):
            return "other media types"
        self._of_type.add(url)
        return ""


def _words(said: Sequence[str]) -> tuple[str, ...]:
    """Said one by one, or with commas."""
    return tuple(word.strip().lower() for one in said for word in one.split(",") if word.strip())
