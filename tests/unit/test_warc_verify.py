"""Damage is found wherever it lies, and never handed out as good."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.errors import DamagedError
from recrawl.model import Fetch, Outcome, Request, Version
from recrawl.remember.warc import WarcArchive

AT = 1_794_734_100.0


def put(archive: WarcArchive, seq: int, body: bytes, same_as: Version | None = None) -> Version:
    fetch = Fetch(
        request=Request(url=f"http://h/{seq}"),
        outcome=Outcome.OK,
        url=f"http://h/{seq}",
        started_at=AT,
        ended_at=AT,
        status=200,
        headers=(("Content-Type", "text/plain"), ("Content-Encoding", "gzip")),
        body=body,
        wire=gzip.compress(body),
    )
    digest = f"sha256:{hashlib.sha256(bytes(body)).hexdigest()}"
    return archive.put(
        fetch, Version(resource_id=1, seq=seq, at=AT, digest=digest, n_bytes=len(body)), same_as
    )


@pytest.fixture
def archive(tmp_path: Path) -> WarcArchive:
    return WarcArchive(tmp_path, now=lambda: AT)


@pytest.fixture
def versions(archive: WarcArchive) -> list[Version]:
    texts = [f"version {seq} " * 40 for seq in range(1, 6)]
    kept = [put(archive, seq, text.encode()) for seq, text in enumerate(texts, 1)]
    archive.sync()
    put(archive, 1, texts[0].encode(), same_as=kept[0])
    archive.close()
    return kept


def only_file(archive: WarcArchive) -> Path:
    (path,) = archive.folder.glob("*.warc.gz")
    return path


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_sound_archive_has_nothing_to_report(archive: WarcArchive, versions: list[Version]) -> None:
    assert list(archive.verify(versions)) == []


def test_every_flipped_bit_is_found(archive: WarcArchive, versions: list[Version]) -> None:
    """A bit that no content depends on (compression leaves some) may pass, and nothing else may."""
    path = only_file(archive)
    whole = path.read_bytes()
    content = gzip.decompress(whole)
    n_harmless = 0
    for bit in np.random.default_rng(11).choice(len(whole) * 8, 600, replace=False):
        path.write_bytes(flipped(whole, int(bit)))
        found = list(archive.verify(versions))
        if found:
            assert len(found) == 1
            version, problem = found[0]
            assert str(path) in problem
            # It lies in the record that is named.
            later = [v.offset for v in versions if v.offset > version.offset]
            assert version.offset <= bit // 8 < min(later, default=len(whole))
        else:
            assert gzip.decompress(path.read_bytes()) == content, f"bit {bit} passed"
            n_harmless += 1
    assert n_harmless <= 6


def test_a_damaged_version_is_never_handed_out_and_the_others_are(
    archive: WarcArchive, versions: list[Version]
) -> None:
    path = only_file(archive)
    whole = path.read_bytes()
    victim = versions[2]
    for bit in np.random.default_rng(12).integers(
        victim.offset * 8, (victim.offset + victim.length) * 8, 200
    ):
        path.write_bytes(flipped(whole, int(bit)))
        for version in versions:
            try:
                body = archive.snapshot(version).body
            except DamagedError:
                assert version is victim
            else:
                assert hashlib.sha256(bytes(body)).hexdigest() == version.digest.removeprefix("sha256:")


def test_damage_between_versions_is_reported_with_its_place(
    archive: WarcArchive, versions: list[Version]
) -> None:
    path = only_file(archive)
    whole = path.read_bytes()
    request_at = versions[0].offset + versions[0].length
    path.write_bytes(flipped(whole, (request_at + 60) * 8))
    ((place, problem),) = archive.verify(versions)
    assert (place.resource_id, place.seq) == (0, 0)
    assert (place.file, place.offset) == (path.name, request_at)
    assert f"at byte {request_at}" in problem


def test_records_behind_damage_are_still_checked(archive: WarcArchive, versions: list[Version]) -> None:
    path = only_file(archive)
    data = path.read_bytes()
    for version in versions[1], versions[3]:
        data = flipped(data, (version.offset + version.length // 2) * 8)
    path.write_bytes(data)
    assert {version.seq for version, _ in archive.verify(versions)} == {2, 4}


def test_zeroed_and_missing_stretches_are_found(archive: WarcArchive, versions: list[Version]) -> None:
    path = only_file(archive)
    whole = path.read_bytes()
    start, end = versions[1].offset, versions[3].offset
    path.write_bytes(whole[:start] + bytes(end - start) + whole[end:])
    assert {version.seq for version, _ in archive.verify(versions)} >= {2, 3}
    path.write_bytes(whole[:end])
    assert {version.seq for version, _ in archive.verify(versions)} == {4, 5}
    path.unlink()
    assert {version.seq for version, _ in archive.verify(versions)} == {1, 2, 3, 4, 5}


def test_a_version_whose_digest_is_not_its_record_s_is_found(
    archive: WarcArchive, versions: list[Version]
) -> None:
    swapped = [replace(versions[0], digest=versions[1].digest), *versions[1:]]
    assert [version.seq for version, _ in archive.verify(swapped)] == [1]


def test_the_last_record_of_a_living_writer_may_be_on_its_way(tmp_path: Path, archive: WarcArchive) -> None:
    version = put(archive, 1, b"text")
    archive.sync()
    path = tmp_path / version.file
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:200])
    reader = WarcArchive(tmp_path, now=lambda: AT)
    assert list(reader.verify([version])) == []
    archive.close()
    assert [place.offset for place, _ in reader.verify([version])] == [len(whole)]


def test_damage_in_the_last_record_of_a_living_writer_is_found(tmp_path: Path, archive: WarcArchive) -> None:
    version = put(archive, 1, b"text")
    archive.sync()
    path = tmp_path / version.file
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, (len(whole) - 6) * 8))
    reader = WarcArchive(tmp_path, now=lambda: AT)
    assert [place.offset for place, _ in reader.verify([version])] == [version.offset + version.length]
    archive.close()
