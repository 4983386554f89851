"""Visits that were made elsewhere, in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from recrawl.model import Adoption, Completion, Lease, Version
from recrawl.remember.bags import MemoryBags
from recrawl.remember.sights import MemorySights
from recrawl.remember.watched import Record


def completed(adoption: Adoption) -> Completion:
    """As if the last of the visits had just been made: where the resource stands then."""
    lease = Lease(resource=adoption.resource, standing=adoption.before, token=0, claimed_at=0.0, until_at=0.0)
    return Completion(
        lease=lease,
        visit=adoption.visits[-1],
        standing=adoption.standing,
        plan=adoption.plan,
        gate_at=0.0,
        sight=adoption.sight,
        bags=adoption.bags,
    )


class MemoryAdopting(MemorySights, MemoryBags):
    def recorded(self, fetch_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(self._fetch_ids.intersection(fetch_ids))

    def adopt(
        self, past: Sequence[Adoption], *, now: float, files: Mapping[str, int] | None = None
    ) -> list[bool]:
        for name, length in (files or {}).items():
            self._files[name] = max(length, self._files.get(name, 0))
        return [self._adopted(adoption, now) for adoption in past]

    def _adopted(self, adoption: Adoption, now: float) -> bool:
        record = self._watched.records.get(adoption.resource.id)
        if record is None or not _stands_so(record, adoption) or record.host.lease_until_at > now:
            return False
        if self.recorded([visit.fetch_id for visit in adoption.visits]):
            return False
        record.host.lease(-inf, "")
        for visit in adoption.visits:
            self._keep(record, visit)
        moments = {visit.fetch_id: visit.moments for visit in adoption.restated}
        for visits in (record.visits, self._recorded) if moments else ():
            visits[:] = [
                replace(visit, moments=moments.get(visit.fetch_id, visit.moments)) for visit in visits
            ]
        for version in adoption.versions:
            self._n_versions += 1
            self._insert(record, replace(version, resource_id=adoption.resource.id))
        kept = [version for _, version in record.versions if not version.flag]
        record.standing = replace(adoption.standing, version=kept[-1] if kept else None)
        self._columns.set_done(completed(adoption))
        self._see([completed(adoption)])
        self._bag([completed(adoption)])
        self._heeded(record)
        self._queue(record)
        self._line.place([record.host])
        return True

    def _insert(self, record: Record, version: Version) -> None:
        """Where its time belongs; later ones make way."""
        n_before = bisect_right([kept.at for _, kept in record.versions], version.at)
        record.versions.insert(n_before, (self._n_versions, version))
        record.versions[n_before:] = [
            (order, replace(kept, seq=n_before + 1 + i))
            for i, (order, kept) in enumerate(record.versions[n_before:])
        ]
        for order, kept in record.versions[n_before:]:
            self._payloads.keep(order, kept)


def _stands_so(record: Record, adoption: Adoption) -> bool:
    stands, before = record.standing, adoption.before
    return repr((stands.last_at, stands.n_informative, stands.n_failures)) == repr(
        (before.last_at, before.n_informative, before.n_failures)
    )
