"""The figures of the house as Prometheus and OpenMetrics have them.

Nothing here has a label for each host or resource: there may be a million. Sums over what is watched are
gauges, since they fall when a resource is removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from recrawl import __version__
from recrawl.app.overview import Day, Glance
from recrawl.app.vitals import Sizes


def exposition(accept: str, glance: Glance, day: Day, sizes: Sizes) -> tuple[bytes, str]:
    """In the format that was asked for; with its media type."""
    registry = CollectorRegistry()
    registry.register(_Figures(glance, day, sizes))
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class _Figures(Collector):
    def __init__(self, glance: Glance, day: Day, sizes: Sizes) -> None:
        self._rows = list(_rows(glance, day, sizes))

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("recrawl", "The release that answers.", {"version": __version__})
        for name, about, value in self._rows:
            if value is not None:
                yield GaugeMetricFamily(f"recrawl_{name}", about, float(value))


def _rows(glance: Glance, day: Day, sizes: Sizes) -> Iterator[tuple[str, str, float | None]]:
    """None: there is no such figure now."""
    next_at = glance.next_at if glance.next_at != float("inf") else None
    yield from (
        ("resources", "Resources that are watched.", glance.n_resources),
        ("resources_paused", "Resources that are paused.", glance.n_paused),
        ("resources_due", "Resources whose visit is due now.", glance.n_due),
        ("hosts", "Hosts with resources.", glance.n_hosts),
        ("hosts_asked", "Hosts that are being asked now.", glance.n_asked),
        ("hosts_in_trouble", "Hosts whose last visit found them in trouble.", day.n_troubled),
        ("visits", "Visits that are recorded of what is watched.", glance.n_visits),
        ("changes", "Visits among them that found a change.", glance.n_changes),
        ("failures", "Visits among them that told nothing.", glance.n_failures),
        ("versions", "Versions that are kept of what is watched.", glance.n_versions),
        ("day_visits", "Visits of the last 24 hours.", day.sums.n_visits),
        ("day_changes", "Changes that count, found in the last 24 hours.", day.sums.n_changes),
        ("day_failures", "Visits of the last 24 hours that told nothing.", day.sums.n_failures),
        ("day_second_looks", "Second looks of the last 24 hours, charged like visits.", day.sums.n_second),
        ("day_bytes", "Bytes that visits and second looks of the last 24 hours brought.", day.sums.n_bytes),
        ("budget_visits_per_day", "The budget of visits; absent where there is none.", glance.per_day),
        ("budget_bytes_per_day", "The budget of bytes; absent where there is none.", glance.bytes_per_day),
        ("price", "What a visit must be worth; absent before the first run.", glance.price),
        ("last_visit_timestamp_seconds", "When the newest visit ended.", glance.last_at),
        ("next_visit_timestamp_seconds", "When something can be visited next.", next_at),
        ("running", "Processes that visit.", glance.n_running),
        ("store_bytes", "What the store takes on the disk.", sizes.store),
        ("archive_bytes", "What the archive takes, wherever its files lie.", sizes.archive),
        ("archive_files", "Files of the archive.", sizes.n_files),
        ("disk_free_bytes", "What is free on the disk of the home folder.", sizes.free),
    )
