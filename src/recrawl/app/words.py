"""The words of versions, read from the archive anew: where they were lost, or kept by another release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recrawl.app.build import House
from recrawl.detect import noise as noises
from recrawl.detect.choose import START_BYTES, detector_name
from recrawl.errors import ArchiveError
from recrawl.live.bench import named, plain
from recrawl.live.words import words_of
from recrawl.model import Bag, Lens, Resource, Version, packed
from recrawl.remember.bags import surplus


@dataclass(slots=True)
class Reread:
    n_resources: int = 0  # with words
    n_versions: int = 0  # whose words are kept
    n_unread: int = 0  # that the archive does not give back, or that hold no words


def reread(house: House, tell: Callable[[str], object] = lambda _: None) -> Reread:
    """Of every resource the versions that would be kept had they come one by one, seen through what is known
    to be noise by now."""
    done = Reread()
    if not house.kept:
        return done
    for resource, standing, _ in house.store.resources():
        versions = [one for one in house.store.versions(resource.id) if not (one.flag or one.gone)]
        if not versions:
            continue
        slight = {visit.at for visit in house.store.visits(resource.id) if visit.significant is False}
        lens = noises.lens(resource.effective.manner, standing.noise)
        bags = []
        for version in kept(versions, slight):
            bag = _bag(house, resource, version, lens, base=version.at not in slight)
            if bag is None:
                done.n_unread += 1
            else:
                bags.append(bag)
        done.n_versions += house.store.rebag(resource.id, bags, versions[-1].at)
        done.n_resources += bool(bags)
        tell(f"{done.n_versions:,} versions of {done.n_resources:,} resources")
    return done


def kept(versions: Sequence[Version], slight: set[float]) -> list[Version]:
    left: dict[float, Version] = {}
    for version in versions:
        left[version.at] = version
        for at in surplus([(at, at not in slight) for at in left]):
            del left[at]
    return list(left.values())


def _bag(house: House, resource: Resource, version: Version, lens: Lens, *, base: bool) -> Bag | None:
    try:
        snapshot = replace(house.archive.snapshot(version), lens=lens, memo={})
    except ArchiveError:
        return None
    start = bytes(snapshot.body[:START_BYTES])
    chosen = detector_name(resource.effective.kind, version.media_type, start, url=resource.url)
    detector = house.detectors.get(plain(version.detector) or chosen)
    words = None if detector is None else words_of(detector, snapshot)
    if detector is None or words is None:
        return None
    return Bag(at=version.at, packed=packed(words), detector=named(detector, lens), base=base)
