"""The shelf on S3: a real server of its protocol, asked by the real client."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from tests.shelves import Household
from tests.warcs import PAGE

from recrawl.errors import ShelfError
from recrawl.remember import cdx, heads, shelf

NOISE = random.Random(11).randbytes(12 << 20)  # more than one part of an upload


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ThreadedMotoServer]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "something",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    fresh_client()
    yield server
    fresh_client()
    server.stop()


def fresh_client() -> None:
    """Clients are kept for as long as the process runs, each with the server it was made for."""
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()


def on_the_shelf(house: Household) -> dict[str, int]:
    files, place = shelf.system(house.shelf)
    return {path.rpartition("/")[2]: int(files.size(path)) for path in files.find(place)}


def test_files_are_carried_to_a_bucket_and_read_from_it(server: ThreadedMotoServer, tmp_path: Path) -> None:
    house = Household(tmp_path / "archive", "s3://kept/warcs")
    versions = house.kept(PAGE, NOISE)
    name = versions[0].file
    with pytest.raises(ShelfError, match="What is here is safe"):
        house.carry()  # there is no such bucket, and we make none
    assert house.archive().snapshot(versions[0]).body == PAGE
    files, _ = shelf.system(house.shelf)
    files.mkdir("s3://kept")
    length = house.recorded[name]
    index = list(house.archive().cdxj())
    assert house.carry() == [name]
    there = on_the_shelf(house)
    assert there[name] == length > len(NOISE)
    assert set(there) == {name, cdx.index_path(Path(name)).name, heads.heads_path(Path(name)).name}
    assert not (house.folder / name).exists()
    archive = house.archive()
    assert archive.snapshot(versions[0]).body == PAGE
    assert bytes(archive.snapshot(versions[1]).body) == NOISE
    assert list(archive.cdxj()) == index
    assert not list(archive.verify(versions))
    assert house.carry() == []


def test_a_bucket_that_cannot_be_reached_costs_seconds_and_no_file(
    server: ThreadedMotoServer, tmp_path: Path
) -> None:
    house = Household(tmp_path / "archive", "s3://unsteady/warcs")
    shelf.system(house.shelf)[0].mkdir("s3://unsteady")
    (away,) = house.kept(PAGE)
    house.carry()
    (here,) = house.kept(b"later " * 200)
    server.stop()
    with pytest.raises(ShelfError, match="cannot be used"):
        house.carry()
    assert (house.folder / here.file).exists()
    archive = house.archive()
    with pytest.raises(ShelfError, match="cannot be used"):
        archive.snapshot(away)
    with pytest.raises(ShelfError, match="a moment ago"):
        archive.snapshot(away)
    assert archive.snapshot(here).body == b"later " * 200
