"""Other people's WARC files taken into a home, and what came of it."""

from __future__ import annotations

import gzip
import re
from math import isnan
from pathlib import Path

from tests.foreign import URL, page

from recrawl.app import imports
from recrawl.app.build import House
from recrawl.app.imports import Choice
from recrawl.app.pasts import Imported
from recrawl.model import Resource, Version, Visit

ADD = Choice(add=True)
MON, TUE, WED = page("Monday"), page("Tuesday"), page("Wednesday")


def taken(house: House, *paths: Path, choice: Choice = ADD, strict: bool = False) -> Imported:
    result = Imported()
    imports.run(house, paths, choice, result, strict=strict)
    return result


def resource(house: House, url: str = URL) -> Resource:
    found = house.store.find(url)
    assert found is not None
    return found


def visits(house: House, url: str = URL) -> list[Visit]:
    """Oldest first."""
    return list(house.store.visits(resource(house, url).id))[::-1]


def versions(house: House, url: str = URL) -> list[Version]:
    return list(house.store.versions(resource(house, url).id))


def bodies(house: House, url: str = URL) -> list[bytes]:
    kept = [version for version in versions(house, url) if not version.flag]
    return [bytes(house.archive.snapshot(version).body) for version in kept]


def told(house: House, url: str = URL) -> list[tuple[float, str, int]]:
    return [(visit.at, visit.outcome.value, int(visit.changed)) for visit in visits(house, url)]


def sound(house: House) -> None:
    """Times rise, `since` is the informative visit before, and the archive holds what it should."""
    for found, standing, _ in house.store.resources():
        history = list(house.store.visits(found.id))[::-1]
        assert [visit.at for visit in history] == sorted({visit.at for visit in history})
        ends = [visit.at for visit in history if visit.informative]
        for visit in history:
            if not isnan(visit.since_at):
                assert visit.since_at == max(at for at in ends if at < visit.at)
        assert standing.n_informative == len(ends)
        kept = list(house.store.versions(found.id))
        assert [version.seq for version in kept] == list(range(1, len(kept) + 1))
        assert [version.at for version in kept] == sorted(version.at for version in kept)
    assert list(house.archive.verify(house.store.versions())) == []


def archived(house: House) -> dict[str, int]:
    """How many answers of which kind our own archive has of them."""
    files = (house.home / "archive").glob("*.warc.gz")
    kinds = re.findall(rb"WARC-Type: (\w+)", b"".join(gzip.decompress(file.read_bytes()) for file in files))
    return {kind.decode(): kinds.count(kind) for kind in (b"response", b"revisit")}
