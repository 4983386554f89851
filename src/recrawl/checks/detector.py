"""What every detector must do. For plug-in authors: run each of `CHECKS` on a function that makes yours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from recrawl.contracts import Detector
from recrawl.model import Changed, Snapshot

MakeDetector = Callable[[], Detector]


def sample_snapshots() -> list[Snapshot]:
    """Documents of every sort: alike, unlike, empty, broken, lying about what they are."""
    page = b"<!doctype html><title>Weather</title><p>Sun today, <b>rain</b> tomorrow."
    return [
        Snapshot(body=page, media_type="text/html", charset="utf-8"),
        Snapshot(body=page.replace(b"<p>", b"<p class=x>"), media_type="text/html", charset="utf-8"),
        Snapshot(body=page.replace(b"Sun", b"Fog"), media_type="text/html", charset="utf-8"),
        Snapshot(body=page, media_type="application/pdf"),
        Snapshot(body="Žluťoučký kůň".encode("cp1250"), media_type="text/plain", charset="windows-1250"),
        Snapshot(body="Žluťoučký kůň".encode("cp1250"), media_type="text/html", charset="no-such-charset"),
        Snapshot(body=b"a,b\n1,2\n", media_type="text/csv"),
        Snapshot(body=b'{"a": 1}', media_type="application/json"),
        Snapshot(body=b""),
        Snapshot(body=b"", media_type="text/html"),
        Snapshot(body=bytes(range(256)) * 4, media_type="text/html"),
        Snapshot(body=b"<" * 500, media_type="text/html"),
    ]


def sample_pairs() -> Iterator[tuple[Snapshot, Snapshot]]:
    return product(sample_snapshots(), sample_snapshots())


def check_it_has_a_name(make: MakeDetector) -> None:
    assert make().name.strip()


def check_a_snapshot_never_differs_from_itself(make: MakeDetector) -> None:
    detector = make()
    for snapshot in sample_snapshots():
        assert detector.compare(snapshot, snapshot).changed is not Changed.YES


def check_equal_fingerprints_mean_no_change(make: MakeDetector) -> None:
    """And different ones never do; an empty one says that the document could not be read."""
    detector = make()
    for before, after in sample_pairs():
        prints = detector.fingerprint(before), detector.fingerprint(after)
        changed = detector.compare(before, after).changed
        if not all(prints):
            assert changed is Changed.UNKNOWN
        elif prints[0] == prints[1]:
            assert changed is Changed.NO
        else:
            assert changed is not Changed.NO


def check_the_magnitude_is_a_share(make: MakeDetector) -> None:
    """Between 0 and 1, and 0 where nothing changed."""
    detector = make()
    for before, after in sample_pairs():
        verdict = detector.compare(before, after)
        assert 0.0 <= verdict.magnitude <= 1.0
        assert verdict.changed is Changed.YES or verdict.magnitude == 0.0


def check_a_change_comes_with_evidence(make: MakeDetector) -> None:
    """One that a person can read, and a terminal can show."""
    detector = make()
    for before, after in sample_pairs():
        verdict = detector.compare(before, after)
        assert verdict.evidence or verdict.changed is Changed.NO
        assert verdict.evidence.isprintable()
        assert len(verdict.evidence) <= 1_000


def check_judging_is_pure(make: MakeDetector) -> None:
    """Two of its kind agree, and asking again changes nothing."""
    one, other = make(), make()
    for before, after in sample_pairs():
        assert one.compare(before, after) == other.compare(before, after) == one.compare(before, after)
        assert one.fingerprint(before) == other.fingerprint(before)


CHECKS = [
    check_it_has_a_name,
    check_a_snapshot_never_differs_from_itself,
    check_equal_fingerprints_mean_no_change,
    check_the_magnitude_is_a_share,
    check_a_change_comes_with_evidence,
    check_judging_is_pure,
]
