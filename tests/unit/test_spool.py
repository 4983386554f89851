"""Bodies too large for memory behave like bytes, and leave nothing behind."""

from __future__ import annotations

import gc
import gzip
import hashlib
import pickle
from pathlib import Path

import pytest

from recrawl.model import Body, digest, pieces
from recrawl.parse.coding import decoded
from recrawl.parse.spool import MEMORY_BYTES, Joined, Spool, Spooled, part

LARGE = bytes(range(256)) * 5_000  # 1.28 MB


def spooled(data: bytes, folder: Path | None = None, n_step: int = 100_000) -> Body:
    spool = Spool(folder)
    for at in range(0, len(data), n_step):
        spool.write(data[at : at + n_step])
    return spool.body()


def n_open() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_is_small_stays_in_memory(tmp_path: Path) -> None:
    assert type(spooled(LARGE[:MEMORY_BYTES], tmp_path)) is bytes
    assert type(spooled(LARGE[: MEMORY_BYTES + 1], tmp_path)) is Spooled


def test_a_large_body_reads_as_the_bytes_that_it_is(tmp_path: Path) -> None:
    body = spooled(LARGE, tmp_path)
    assert len(body) == len(LARGE)
    assert bytes(body) == LARGE
    assert body == LARGE
    assert body == spooled(LARGE, n_step=7_777)
    assert b"".join(pieces(body)) == LARGE
    assert digest(body) == f"sha256:{hashlib.sha256(LARGE).hexdigest()}"


@pytest.mark.parametrize("data", [LARGE[:-1], LARGE[:-1] + b"x", b"", b"x" + LARGE[1:]])
def test_a_large_body_differs_from_other_bytes(data: bytes) -> None:
    assert spooled(LARGE) != data


@pytest.mark.parametrize(
    "where",
    [
        slice(None),
        slice(0, 0),
        slice(3, 9),
        slice(-9, None),
        slice(9, 3),
        slice(None, None, -1),
        slice(100, 2, -7),
        slice(2, 100, 7),
        slice(len(LARGE) - 3, len(LARGE) + 3),
        slice(len(LARGE) + 3, len(LARGE) + 9),
    ],
)
def test_slices_are_those_of_bytes(where: slice) -> None:
    body = spooled(LARGE)
    assert body[where] == LARGE[where]
    assert Joined(b"ab", body, b"", b"yz")[where] == (b"ab" + LARGE + b"yz")[where]


def test_a_part_of_a_part_needs_no_copy_and_keeps_the_file(tmp_path: Path) -> None:
    body: Body = spooled(LARGE, tmp_path)
    before = n_open()
    inner = part(part(body, 10, len(body) - 10), 5, 1_000)
    del body
    assert n_open() == before
    assert bytes(inner) == LARGE[15:1_010]
    assert inner[-4:] == LARGE[1_006:1_010]


def test_files_have_no_name_and_go_with_the_last_that_holds_them(tmp_path: Path) -> None:
    before = n_open()
    bodies = [spooled(LARGE, tmp_path) for _ in range(10)]
    assert n_open() == before + 10
    assert list(tmp_path.iterdir()) == []
    del bodies
    assert n_open() == before


def test_another_process_gets_the_bytes_and_not_a_number_of_some_file() -> None:
    assert pickle.loads(pickle.dumps(spooled(LARGE))) == LARGE  # noqa: S301  # our own


def test_a_folder_that_is_not_there_is_not_needed(tmp_path: Path) -> None:
    assert spooled(LARGE, tmp_path / "none") == LARGE


def test_the_beginning_of_a_large_body_can_be_small() -> None:
    spool = Spool()
    spool.write(LARGE)
    assert type(spool.body(10)) is bytes
    assert spool.body(10) == LARGE[:10]
    spool.write(b"more")
    assert spool.body() == LARGE + b"more"


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_a_large_body_is_decoded_from_the_disk_to_the_disk(coding: str, tmp_path: Path) -> None:
    noise = b"".join(hashlib.sha256(bytes([i % 256, i >> 8])).digest() for i in range(60_000))
    wire = spooled(gzip.compress(noise, 1) if coding == "gzip" else noise, tmp_path)
    assert isinstance(wire, Spooled)
    found = decoded(wire, [coding], len(noise), spool=tmp_path)
    assert found.whole
    assert isinstance(found.body, Spooled)
    assert found.body == noise
    cut = decoded(wire, [coding], len(noise) - 1, spool=tmp_path)
    assert (cut.ending.value, len(cut.body)) == ("limit", len(noise) - 1)
