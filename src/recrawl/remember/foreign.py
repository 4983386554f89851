"""WARC files by any writer, read as they come.

Our own are read with every check that our own form allows (`records`). Others' have odd line ends, old
versions of the format, fields in any order: what can be told apart is read, and what is torn or damaged is
said with its place. Reading then goes on at the next record.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recrawl.model import Header
from recrawl.parse.spool import Spool, part
from recrawl.remember.packing import Packing, Stretch, Unpacked, first_at, next_at, packing, stored
from recrawl.remember.records import HTTP_ENCODING, TORN, Record, Unreadable, agrees

MAX_RECORD_BYTES = (1 << 30) + (1 << 20)  # no body is longer than a GiB; its heads come on top
MAX_HEAD_BYTES = 1 << 16
N_ZIP_ENTRIES = 10_000
_NAMES = (".warc", ".warc.gz", ".warc.zst")
_WACZ = ".wacz"
_SLACK_BYTES = 64 << 20  # read in vain before a damaged file is given up, beside some times its length
_BLANK = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(r"\r?\n")
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


@dataclass(frozen=True, slots=True)
class Source:
    """A WARC file: on its own, or stored in a WACZ."""

    path: Path
    name: str  # for people
    start: int
    n_bytes: int

    def opened(self) -> Stretch:
        return Stretch(self.path, self.start, self.n_bytes)


@dataclass(frozen=True, slots=True)
class Damage:
    """What cannot be read, and where."""

    name: str
    offset: int
    problem: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A record as it is passed by: its place, its fields and the beginning of its block."""

    offset: int
    record: Record


def sources(paths: Sequence[Path]) -> Iterator[Source | Damage]:
    """Every WARC file that these paths name or hold, in the order of their names."""
    for path in paths:
        found = _under(path) if path.is_dir() else [path]
        for file in found:
            try:
                yield from _in_wacz(file) if file.name.lower().endswith(_WACZ) else [_plain(file)]
            except (OSError, zipfile.BadZipFile, Unreadable, NotImplementedError) as problem:
                yield Damage(str(file), 0, _said(problem))


def _under(folder: Path) -> list[Path]:
    return sorted(
        Path(at) / name
        for at, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith((*_NAMES, _WACZ))
    )


def _plain(path: Path) -> Source:
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Unreadable("it is no file")
    return Source(path, str(path), 0, about.st_size)


def _in_wacz(path: Path) -> Iterator[Source | Damage]:
    left = _plain(path).n_bytes  # it is neither a pipe nor a device
    with zipfile.ZipFile(path) as packed, path.open("rb") as stream:
        entries = packed.infolist()
        if len(entries) > N_ZIP_ENTRIES:
            raise Unreadable(f"it has more than {N_ZIP_ENTRIES:,} entries")
        for entry in sorted(entries, key=lambda entry: entry.filename):
            name = f"{path}:{entry.filename}"
            if not entry.filename.lower().endswith(_NAMES):
                continue
            if entry.compress_type != zipfile.ZIP_STORED:
                yield Damage(name, 0, "it is compressed within the WACZ, which may not be; unzip it first")
                continue
            start = stored(stream, entry.header_offset)
            left -= entry.file_size
            if left < 0 or start + entry.file_size > path.stat().st_size:
                raise Unreadable("its entries are longer than it is, or lie one over the other")
            yield Source(path, name, start, entry.file_size)


def entries(source: Source) -> Iterator[Entry | Damage]:
    """Every record, in the order of the file. Of its block only the first bytes are kept."""
    try:
        with source.opened() as data:
            yield from _entries(source, data)
    except OSError as problem:
        yield Damage(source.name, 0, _said(problem))


def _entries(source: Source, data: Stretch) -> Iterator[Entry | Damage]:
    if not len(data):
        return
    try:
        form = packing(data)
        at = first_at(data)
    except Unreadable as problem:
        yield Damage(source.name, 0, str(problem))
        return
    n_vain, lost = 0, False
    while at < len(data):
        opened = form.open(at)
        try:
            record, at_end = _passed(form, opened, at)
        except Unreadable as problem:
            if not lost:  # what fails before the next good record belongs to the same damage
                yield Damage(source.name, at, str(problem))
            n_vain += opened.at - at
            if n_vain > 4 * len(data) + _SLACK_BYTES:
                yield Damage(source.name, at, "so much of it is damaged that the rest was not read")
                return
            at, lost = next_at(data, form.start, at + 1), True
        else:
            if record is not None:
                yield Entry(at, record)
            at, lost = at_end, False


def read(source: Source, offset: int, spool: Path | None = None) -> Record:
    """The whole record there, its block checked against its digest; a large one comes to lie in `spool`."""
    try:
        with source.opened() as data:
            form = packing(data)
            kept = Spool(spool)
            record, _ = _passed(form, form.open(offset), offset, kept)
    except OSError as problem:
        raise Unreadable(_said(problem)) from None
    if record is None:
        raise Unreadable(TORN)
    # Some writers state of a revisit the digest of the block that they left out.
    if record.kind != "revisit" and not agrees(record.field("WARC-Block-Digest"), record.block):
        raise Unreadable("its content does not match its digest")
    return record


def _passed(form: Packing, opened: Unpacked, at: int, kept: Spool | None = None) -> tuple[Record | None, int]:
    """The record that begins here and where it ends; None for white space at the end of a plain file."""
    plain = form.start == b"WARC/"
    top, seen = _top(opened)
    if top is None:
        if plain and not seen.strip():
            return None, at + len(seen)
        raise Unreadable(TORN if len(seen) < MAX_HEAD_BYTES else "its fields do not end")
    fields = _fields(seen[: top[0]])
    n_block = _length(fields)
    rest = seen[top[1] :]
    sink = Spool() if kept is None else kept
    n_taken = 0
    while n_taken < n_block:
        piece = rest if rest else opened.read()
        if not piece:
            raise Unreadable(TORN)
        used, rest = piece[: n_block - n_taken], piece[n_block - n_taken :]
        n_taken += len(used)
        if kept is not None:
            sink.write(used)
        elif len(sink) < MAX_HEAD_BYTES:
            sink.write(used[: MAX_HEAD_BYTES - len(sink)])
    record = Record(fields=fields, block=sink.body())
    if plain:
        rest = rest or opened.read()
        if rest and not rest.startswith((b"\r", b"\n")):
            raise Unreadable("its length is not the one it states")
        n_white = len(rest[:4]) - len(rest[:4].lstrip(b"\r\n"))
        return record, opened.at - len(rest) + n_white
    while len(rest) <= 64 and (piece := opened.read()):
        rest += piece
    if rest.strip():
        raise Unreadable(
            "several records are compressed as one; unpack the file (gunzip), and import that"
            if rest.lstrip().startswith(b"WARC/")
            else "its length is not the one it states"
        )
    if opened.read():
        raise Unreadable("its length is not the one it states")
    return record, opened.at


def _top(opened: Unpacked) -> tuple[tuple[int, int] | None, bytes]:
    """Where the named fields end and the block begins, and all that was read to find it."""
    seen = b""
    while len(seen) < MAX_HEAD_BYTES and (piece := opened.read()):
        seen += piece
        n_white = len(seen) - len(seen.lstrip(b"\r\n"))
        if found := _BLANK.search(seen, n_white):
            return found.span(), seen
    return None, seen


def _fields(head: bytes) -> tuple[Header, ...]:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        text = head.decode(HTTP_ENCODING)
    first, *named = _LINE.split(text.lstrip("\r\n"))
    if not first.startswith("WARC/"):
        raise Unreadable(f"it begins with {first[:20]!r}, not with WARC/1.1")
    return tuple(pairs(named))


def pairs(named: Sequence[str]) -> list[Header]:
    """Named fields; a line that begins with white space goes on with the one before."""
    found: list[Header] = []
    for line in named:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif colon:
            found.append((name.strip(), value.strip()))
    return found


def _length(fields: tuple[Header, ...]) -> int:
    said = next((value for name, value in fields if name.lower() == "content-length"), "")
    if not re.fullmatch(r"[0-9]{1,15}", said):
        raise Unreadable("it does not state its length")
    if int(said) > MAX_RECORD_BYTES:
        raise Unreadable(f"it is longer than {MAX_RECORD_BYTES:,} bytes")
    return int(said)


def target(record: Record) -> str:
    """Of which URL it speaks; some writers put it in angle brackets."""
    return record.field("WARC-Target-URI").removeprefix("<").removesuffix(">").strip()


def dated(text: str) -> float | None:
    """
    >>> dated("2024-02-03T04:05:06.25Z"), dated("yesterday")
    (1706933106.25, None)
    """
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
    except ValueError:
        return None
    fraction = (found[2] or "0")[:6].ljust(6, "0")
    return at.replace(microsecond=int(fraction)).timestamp()


def split(record: Record) -> tuple[str, tuple[Header, ...], Record] | None:
    """First line and headers of the HTTP message in the block, and a record of what follows them."""
    found = _BLANK.search(record.block[:MAX_HEAD_BYTES])
    if found is None and len(record.block) > MAX_HEAD_BYTES:
        return None
    end, start = found.span() if found else (len(record.block), len(record.block))
    first, *named = _LINE.split(record.block[:end].decode(HTTP_ENCODING))
    if not first.startswith("HTTP/"):
        return None
    rest = Record(fields=record.fields, block=part(record.block, start, len(record.block)))
    return first, tuple(pairs(named)), rest


def _said(problem: BaseException) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
