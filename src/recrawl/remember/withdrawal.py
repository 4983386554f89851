"""What is taken out again, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan

from recrawl.model import SILENCE, Erasure, Lease, Replacement, Version, Visit
from recrawl.remember.watched import Record
from recrawl.remember.watchlist import MemoryWatchlist


class MemoryWithdrawal(MemoryWatchlist):
    def __init__(self) -> None:
        super().__init__()
        self._doomed: dict[str, str] = {}

    def wanted(self, leases: Sequence[Lease]) -> list[bool]:
        return [self._wants(lease) for lease in leases]

    def _wants(self, lease: Lease) -> bool:
        record = self._watched.records.get(lease.resource.id)
        erasure = self._erasures.get(record.resource.url) if record is not None else None
        return record is not None and (erasure is None or erasure.at < lease.claimed_at)

    def placed(self, file: str, offset: int | None = None) -> list[Version]:
        found = [
            (version.offset, order, version)
            for record in self._watched.records.values()
            for order, version in record.versions
            if version.file == file and offset in (None, version.offset)
        ]
        return [version for _, _, version in sorted(found, key=lambda item: item[:2])]

    def crowded(self) -> Iterator[int]:
        yield from sorted(key for key, record in self._watched.records.items() if len(record.versions) > 2)

    def replace(self, made: Replacement) -> bool:
        dropped = {(v.resource_id, v.at, v.file, v.offset) for v in made.dropped}
        places = {moved[:2]: moved[2:] for moved in made.moved}
        handed_on = {moved[:2]: moved[2:] for moved in made.handed_on}
        after: dict[int, list[tuple[int, Version]]] = {}
        for key, record in self._watched.records.items():
            kept: list[tuple[int, Version]] = []
            for order, version in record.versions:
                if (key, version.at, version.file, version.offset) in dropped:
                    if made.erased:
                        kept.append((order, _blank(version)))
                    continue
                spot = (version.file, version.offset)
                to = places.get(spot) or (handed_on.get(spot) if key != made.owner_id else None)
                file, offset, length = to or (*spot, version.length)
                if file in made.old:
                    return False
                kept.append((order, replace(version, file=file, offset=offset, length=length)))
            after[key] = kept
        for key, kept in after.items():
            self._put(self._watched.records[key], kept)
        for gone in made.dropped:
            if not gone.flag:
                self._bags.get(gone.resource_id, {}).pop(gone.at, None)
        for name in made.old:
            if self._files.pop(name, None) is not None:
                self._doomed[name] = self._payloads.addresses.pop(name, "")
        self._files.update(made.new)
        self.bury(list(made.new))
        return True

    def doom(self, names: Sequence[str]) -> None:
        for name in names:
            self._doomed.setdefault(name, "")

    def doomed(self) -> dict[str, str]:
        return dict(sorted(self._doomed.items()))

    def bury(self, names: Sequence[str]) -> None:
        for name in names:
            self._doomed.pop(name, None)

    def settle(self) -> None:
        """Nobody else records here."""

    def begin_erasure(self, url: str, why: str, now: float) -> None:
        before = self._erasures.get(url, Erasure(url=url, at=now))
        self._erasures[url] = replace(before, at=now, why=why, done=False)
        for record in self._of(url):
            record.standing = replace(
                record.standing,
                etag=None,
                last_modified=None,
                moved_to=None,
                moved_since_at=nan,
                version=None,
                noise=SILENCE,
            )
            record.visits[:] = [_silent(visit) for visit in record.visits]
            self._recorded[:] = [
                _silent(visit) if visit.resource_id == record.resource.id else visit
                for visit in self._recorded
            ]
            self._unsay(record.resource.id)
            self._unsee(record.resource.id)
            self._bags.pop(record.resource.id, None)
            self._links = {pair for pair in self._links if pair[0] != record.resource.id}

    def end_erasure(
        self, url: str, *, n_records: int, n_bytes: int, shared: Sequence[str] = (), done: bool = True
    ) -> None:
        n_versions = 0
        for record in self._of(url):
            self._put(record, [(order, _blank(version)) for order, version in record.versions])
            n_versions = len(record.versions)
        begun = self._erasures[url]
        self._erasures[url] = replace(
            begun,
            done=done,
            n_versions=n_versions,
            n_records=begun.n_records + n_records,
            n_bytes=begun.n_bytes + n_bytes,
            shared=tuple(shared),
        )

    def erasures(self, url: str | None = None) -> list[Erasure]:
        found = [erasure for erasure in self._erasures.values() if url in (None, erasure.url)]
        return sorted(found, key=lambda erasure: (erasure.at, erasure.url))

    def scrub(self) -> None:
        """Nothing is left in memory that was not kept."""

    def _of(self, url: str) -> list[Record]:
        known = self._watched.ids.get(url)
        return [] if known is None else [self._watched.records[known]]

    def _put(self, record: Record, versions: list[tuple[int, Version]]) -> None:
        self._payloads.forget(record.versions)
        for order, version in versions:
            self._payloads.keep(order, version)
        record.versions[:] = versions
        current = record.standing.version
        if current is not None:
            by_seq = {version.seq: version for _, version in versions}
            record.standing = replace(record.standing, version=by_seq.get(current.seq))


def _silent(visit: Visit) -> Visit:
    return replace(visit, evidence="", moved_to=None, moments=())


def _blank(version: Version) -> Version:
    return Version(
        resource_id=version.resource_id,
        seq=version.seq,
        at=version.at,
        digest="",
        status=version.status,
        gone=version.gone,
        flag="erased",
    )
