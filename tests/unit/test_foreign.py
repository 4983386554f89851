"""WARC files by any writer, and files that only look like it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from recrawl.remember import foreign
from recrawl.remember.foreign import Damage, Entry, Source
from recrawl.remember.records import Unreadable

N = 5


def plain_record(n: int, *, version: str = "1.0", end: str = "\r\n", body: bytes | None = None) -> bytes:
    body = f"page {n}".encode() * 40 if body is None else body
    block = f"HTTP/1.1 200 OK{end}Content-Type: text/html{end}{end}".encode() + body
    head = end.join(
        (
            f"WARC/{version}",
            "WARC-Type: response",
            f"WARC-Target-URI: http://example.org/{n}",
            f"WARC-Date: 2020-01-0{n + 1}T00:00:00Z",
            f"WARC-Record-ID: <urn:test:{n}>",
            f"Content-Length: {len(block)}",
            "",
            "",
        )
    )
    return head.encode() + block + (end * 2).encode()


PLAIN = [plain_record(n) for n in range(N)]


def read(path: Path) -> tuple[list[tuple[Source, Entry]], list[Damage]]:
    found, damaged = [], []
    for source in foreign.sources([path]):
        if isinstance(source, Damage):
            damaged.append(source)
            continue
        for entry in foreign.entries(source):
            if isinstance(entry, Damage):
                damaged.append(entry)
            else:
                found.append((source, entry))
    return found, damaged


def written(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def urls(found: list[tuple[Source, Entry]]) -> list[str]:
    return [foreign.target(entry.record) for _, entry in found]


ALL = [f"http://example.org/{n}" for n in range(N)]


def with_dictionary(records: list[bytes]) -> bytes:
    dictionary = zstandard.train_dictionary(2048, [record[i:] for record in records for i in range(60)])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    data = dictionary.as_bytes()
    top = b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data
    return top + b"".join(map(packer.compress, records))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("plain.warc", b"".join(PLAIN)),
        ("member.warc.gz", b"".join(map(gzip.compress, PLAIN))),
        ("frame.warc.zst", b"".join(map(zstandard.ZstdCompressor().compress, PLAIN))),
        ("dictionary.warc.zst", with_dictionary(PLAIN)),
        ("old.warc", b"".join(plain_record(n, version="0.18") for n in range(N))),
        ("unix.warc", b"".join(plain_record(n, end="\n") for n in range(N))),
        ("loose.warc", b"\r\n".join(PLAIN) + b"\r\n\r\n"),
    ],
)
def test_records_are_read_however_they_are_packed(tmp_path: Path, name: str, data: bytes) -> None:
    found, damaged = read(written(tmp_path, name, data))
    assert damaged == []
    assert urls(found) == ALL
    for n, (source, entry) in enumerate(found):
        record = foreign.read(source, entry.offset)
        parts = foreign.split(record)
        assert parts is not None
        assert parts[0] == "HTTP/1.1 200 OK"
        assert bytes(parts[2].block) == f"page {n}".encode() * 40


@pytest.mark.parametrize("names", [["one.warc"], ["one.warc", "two.warc"]])
def test_a_wacz_whose_entries_are_longer_than_it_is_or_lie_one_over_the_other_is_refused(
    names: list[str], tmp_path: Path
) -> None:
    """Else a small file would be read for ever, or ten thousand times."""
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as packed:
        for name in names:
            packed.writestr(f"archive/{name}", b"".join(PLAIN))
    data = bytearray(path.read_bytes())
    entry = data.find(b"PK\x01\x02")  # the first one's, in the list at the end
    if len(names) == 1:
        data[entry + 20 : entry + 28] = (1 << 30).to_bytes(4, "little") * 2
    else:
        other = data.find(b"PK\x01\x02", entry + 1)
        data[other + 42 : other + 46] = data[entry + 42 : entry + 46]  # where the first begins
        for at in (entry, other):
            data[at + 20 : at + 28] = (len(data) - 100).to_bytes(4, "little") * 2
    path.write_bytes(data)
    found, damaged = read(path)
    assert len(found) <= 2 * N  # what there is, once
    assert "one over the other" in damaged[-1].problem


def test_a_file_that_is_cut_while_it_is_read_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, PLAIN)))
    source = Source(path, "a", 0, path.stat().st_size)
    entries = foreign.entries(source)
    next(entries)
    path.write_bytes(path.read_bytes()[:-300])
    assert isinstance(list(entries)[-1], Damage)


def test_a_wacz_is_read_where_it_lies_and_only_if_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("datapackage.json", "{}")
        packed.writestr("archive/one.warc.gz", b"".join(map(gzip.compress, PLAIN)))
        packed.writestr("archive/two.warc", b"".join(PLAIN[:1]), zipfile.ZIP_DEFLATED)
    found, damaged = read(path)
    assert urls(found) == ALL
    assert [found.name for found in damaged] == [f"{path}:archive/two.warc"]
    assert b"page 3" in bytes(foreign.read(found[3][0], found[3][1].offset).block)


def test_folders_are_gone_through_in_order_and_other_files_left(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    written(tmp_path, "deep/er/b.warc", PLAIN[1])
    written(tmp_path, "a.warc", PLAIN[0])
    written(tmp_path, "note.txt", b"WARC/1.0")
    assert urls(read(tmp_path)[0]) == ALL[:2]


@pytest.mark.parametrize("packed", [False, True])
def test_after_a_damaged_record_reading_goes_on_at_the_next(tmp_path: Path, packed: bool) -> None:
    parts = [gzip.compress(record) if packed else record for record in PLAIN]
    at = len(parts[0]) + len(parts[1])
    half = len(parts[2]) // 2
    parts[2] = parts[2][:half] + bytes(20) + parts[2][half + 20 :] if packed else parts[2][:half]
    found, damaged = read(written(tmp_path, "a.warc.gz" if packed else "a.warc", b"".join(parts)))
    assert [url for url in urls(found) if url != ALL[2]] == [*ALL[:2], *ALL[3:]]
    assert [found.offset for found in damaged] == [at]


def test_a_torn_end_is_told_with_its_place(tmp_path: Path) -> None:
    parts = list(map(gzip.compress, PLAIN))
    for n_cut in (1, 8, 30, len(parts[-1]) - 1):
        found, damaged = read(written(tmp_path, "a.warc.gz", b"".join(parts)[:-n_cut]))
        assert urls(found) == ALL[:-1]
        assert [found.offset for found in damaged] == [sum(map(len, parts[:-1]))]


def test_records_compressed_as_one_are_told_with_the_remedy(tmp_path: Path) -> None:
    found, damaged = read(written(tmp_path, "a.warc.gz", gzip.compress(b"".join(PLAIN))))
    assert found == []
    assert "gunzip" in damaged[0].problem


def test_a_block_that_does_not_match_its_digest_is_damaged(tmp_path: Path) -> None:
    digest = b"WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nContent-Length"
    path = written(tmp_path, "a.warc", PLAIN[0].replace(b"Content-Length", digest, 1))
    ((source, entry),), _ = read(path)
    with pytest.raises(Unreadable, match="digest"):
        foreign.read(source, entry.offset)


def test_a_bomb_costs_its_limit_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_RECORD_BYTES", 1 << 20)
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999\r\n\r\n"
    bomb = gzip.compress(head + bytes(99_999_999), 6)
    endless = gzip.compress(b"WARC/1.0\r\nX: " + b"a" * 9_999_999, 6)
    longer = gzip.compress(PLAIN[0] + bytes(50_000_000), 6)
    found, damaged = read(written(tmp_path, "a.warc.gz", bomb + endless + longer + gzip.compress(PLAIN[1])))
    assert urls(found) == [ALL[1]]
    assert len(damaged) == 1  # one stretch
    assert "longer than" in damaged[0].problem


def test_a_file_made_to_be_read_again_and_again_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "_SLACK_BYTES", 1 << 16)
    start = b"WARC/1.0\r\nContent-Length: 999999\r\n\r\n"
    found, damaged = read(written(tmp_path, "a.warc", start * 20_000))
    assert found == []
    assert "the rest was not read" in damaged[-1].problem


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400), cut=st.integers(0, 800), packed=st.booleans())
def test_no_bytes_make_it_fail(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int, packed: bool
) -> None:
    whole = gzip.compress(PLAIN[0]) if packed else PLAIN[0]
    path = written(tmp_path_factory.mktemp("any"), "a.warc", whole[:cut] + data + whole)
    for found in (read(path), read(written(path.parent, "b.wacz", data))):
        assert isinstance(found, tuple)


def sha1(data: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"


def test_what_warcio_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    with path.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for n in range(N):
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
            body = b"x" * n
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
            digests = {"WARC-Block-Digest": sha1(block), "WARC-Payload-Digest": sha1(body)}
            record = writer.create_warc_record(
                ALL[n],
                "response",
                payload=io.BytesIO(body),
                length=len(body),
                http_headers=headers,
                warc_headers_dict=digests,
            )
            writer.write_record(record)
    found, damaged = read(path)
    assert (urls(found), damaged) == (ALL, [])
    for source, entry in found:
        foreign.read(source, entry.offset)  # their digests hold


def test_a_folder_that_is_named_like_a_file_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").mkdir()
    assert read(tmp_path) == ([], [])
    assert read(tmp_path / "missing.warc")[1][0].problem == "No such file or directory"
