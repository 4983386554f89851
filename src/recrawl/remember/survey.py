"""Which records of the archive belong together, and to whom: found by the indexes, without reading it all.

The records of one visit stand together: the answer (a response, or a revisit that refers to one), then what
was asked and what else was noted. A visit belongs to the URL that it began with: where redirects led away
from it, a note beside the answer says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from recrawl.errors import ArchiveError
from recrawl.remember import cdx
from recrawl.remember.exchange import hops_of
from recrawl.remember.records import Record, places
from recrawl.remember.shelf import Files, opened

ANSWERS = frozenset({"response", "revisit", "resource"})
_DIGEST = re.compile(r'"digest": "([^"]*)"')
_NEAR_BYTES = 1 << 20  # what stands beside an answer is small


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an index."""

    file: str
    offset: int
    length: int
    url: str
    digest: str  # of the payload, as it was sent
    revisit: bool


@dataclass(frozen=True, slots=True)
class Sight:
    """One visit's records."""

    line: Line
    id: str
    owner: str  # the URL that the visit began with
    refers_to: str  # the id of the record that has the payload; empty: it has it itself
    date: str
    place: tuple[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", (self.line.file, self.line.offset))


class Survey:
    """`names` are the archive's recorded files. A file's index is the one beside it, wherever that is; of a
    file that has none, it is made."""

    def __init__(self, folder: Path, names: Collection[str], files: Files) -> None:
        self._folder = folder
        self._names = sorted(names)
        self._files = files

    def concerned(
        self, *, urls: Collection[str], payloads: Collection[tuple[str, int]]
    ) -> tuple[Mapping[tuple[str, int], Sight], Sequence[Line]]:
        """All visits that say they answered for one of these URLs, those whose answers lie at these places,
        and all that have the same payload as one of them; and the lines of those that cannot be read."""
        keys = {cdx.surt(url) for url in urls}
        first = {
            (line.file, line.offset): line
            for line in self._lines(keys, set())
            if line.url in urls or (line.file, line.offset) in payloads
        }
        for line in self._lines_of(sorted({file for file, _ in payloads})):
            if (line.file, line.offset) in payloads:
                first[line.file, line.offset] = line
        digests = {line.digest for line in first.values() if line.digest}
        for line in self._lines(set(), digests):
            first[line.file, line.offset] = line
        sights: dict[tuple[str, int], Sight] = {}
        for name, places_there in groupby(sorted(first), key=lambda place: place[0]):
            with self._opened(name) as stream:
                found = ((place, self._sight(first[place], stream)) for place in places_there)
                sights.update((place, sight) for place, sight in found if sight is not None)
        return sights, [line for place, line in first.items() if place not in sights]

    def _lines(self, keys: Collection[str], digests: Collection[str]) -> Iterator[Line]:
        """Those with one of these keys or payload digests."""
        if not keys and not digests:
            return
        for text, name in self._texts(self._names):
            said = _DIGEST.search(text) if digests else None
            if text.partition(" ")[0] in keys or (said and said[1] in digests):
                yield _line(text, name)

    def _lines_of(self, names: Iterable[str]) -> Iterator[Line]:
        yield from (_line(text, name) for text, name in self._texts(names))

    def _texts(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        for name in names:
            try:
                index = self._index(name)
            except FileNotFoundError:
                yield from ((text, name) for text in self._made(name))
                continue
            with index:
                yield from ((line.decode("ascii"), name) for line in index)

    def _index(self, name: str) -> BinaryIO:
        beside = cdx.index_path(self._folder / name)
        if (self._folder / name).exists() or (address := self._files.address(name)) is None:
            return beside.open("rb")
        return opened(address.removesuffix(name) + beside.name)

    def _made(self, name: str) -> Iterator[str]:
        with self._opened(name) as data:
            for place in places(data, data.seek(0, 2), self._folder):
                if place.record is not None:
                    yield from cdx.lines(place.record, name, place.offset, place.length)

    def _opened(self, name: str) -> BinaryIO:
        try:
            return self._files.open(name)
        except FileNotFoundError:
            raise ArchiveError(
                f"{name} is missing, and nobody can say what of it is concerned; put it back from a copy, "
                "and try again."
            ) from None

    def _sight(self, line: Line, stream: BinaryIO) -> Sight | None:
        """None where it cannot be read."""
        near = min(stream.seek(0, 2), line.offset + line.length + _NEAR_BYTES)
        group: list[Record] = []
        for place in places(stream, near, self._folder, line.offset):
            if place.record is None or (group and place.record.kind in ANSWERS):
                break
            group.append(place.record)
        return sight_of(line, group[0], group[1:]) if group else None


def sight_of(line: Line, answer: Record, beside: Iterable[Record | None]) -> Sight:
    owner = answer.field("WARC-Target-URI")
    for record in beside:
        if record is None or record.field("WARC-Concurrent-To") != answer.id:
            break
        if hops := hops_of(record):
            owner = hops[0].url
    return Sight(
        line,
        answer.id,
        owner,
        answer.field("WARC-Refers-To") if answer.kind == "revisit" else "",
        answer.field("WARC-Date"),
    )


def _line(text: str, name: str) -> Line:
    said = json.loads(text.split(" ", 2)[2])
    return Line(
        file=name,
        offset=int(said["offset"]),
        length=int(said["length"]),
        url=said["url"],
        digest=said.get("digest", ""),
        revisit=said["mime"] == "warc/revisit",
    )
