"""Every coding, whole, cut, broken, padded and as a bomb."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import numpy as np
import pytest
import zstandard

from recrawl.parse.coding import Ending, decoded

LIMIT = 10_000_000


def bare_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "brotli": ("br", brotli.compress),
    "zstd": ("zstd", zstd),
}
every_coding = pytest.mark.parametrize(("name", "encode"), ENCODERS.values(), ids=ENCODERS.keys())


def some_bytes(n_random: int = 150_000) -> bytes:
    return np.random.default_rng(7).bytes(n_random) + b"the same again " * 50_000


@every_coding
def test_a_whole_stream_comes_back_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = some_bytes()
    result = decoded(encode(data), [name], LIMIT)
    assert result.whole
    assert result.body == data


@every_coding
def test_a_stream_cut_anywhere_is_never_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = some_bytes(2_000)
    wire = encode(data)
    for n_kept in [*range(1, 200), *range(200, len(wire), 37), *range(len(wire) - 12, len(wire))]:
        result = decoded(wire[:n_kept], [name], LIMIT)
        assert result.ending is Ending.SHORT, f"{n_kept} of {len(wire)} bytes"
        assert data.startswith(bytes(result.body))


@every_coding
def test_a_bomb_stops_at_the_limit(name: str, encode: Callable[[bytes], bytes]) -> None:
    bomb = encode(bytes(50_000_000))
    limit = 1_000_000
    tracemalloc.start()
    try:
        result = decoded(bomb, [name], limit)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.ending is Ending.LIMIT
    assert result.body == bytes(limit)
    assert peak_bytes < 4 * limit


@every_coding
def test_a_body_of_exactly_the_limit_is_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    assert decoded(encode(b"x" * 70_000), [name], 70_000).whole
    assert decoded(encode(b"x" * 70_001), [name], 70_000).ending is Ending.LIMIT


@every_coding
def test_plain_text_under_a_coding_is_broken(name: str, encode: Callable[[bytes], bytes]) -> None:
    result = decoded(b"<!doctype html><p>never compressed at all", [name], LIMIT)
    assert result.ending is Ending.BROKEN
    assert result.detail


@every_coding
def test_an_empty_payload_is_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    assert decoded(b"", [name], LIMIT).whole


@every_coding
def test_an_encoded_nothing_is_whole(name: str, encode: Callable[[bytes], bytes]) -> None:
    result = decoded(encode(b""), [name], LIMIT)
    assert (result.body, result.ending) == (b"", Ending.WHOLE)


@pytest.mark.parametrize("kind", ["gzip", "zlib", "bare deflate", "zstd"])
def test_bytes_behind_the_end_are_ignored(kind: str) -> None:
    name, encode = ENCODERS[kind]
    for tail in (b"\0" * 512, b"<!-- served by cache 7 -->"):
        result = decoded(encode(b"the page") + tail, [name], LIMIT)
        assert (result.body, result.ending) == (b"the page", Ending.WHOLE)


def test_brotli_with_bytes_behind_its_end_is_broken() -> None:
    assert decoded(brotli.compress(b"the page") + b"tail", ["br"], LIMIT).ending is Ending.BROKEN


def test_every_member_of_a_gzip_stream_counts() -> None:
    wire = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(b"three")
    assert decoded(wire, ["gzip"], LIMIT).body == b"one two three"
    assert decoded(wire[:-1], ["gzip"], LIMIT).ending is Ending.SHORT
    damaged = bytearray(wire)
    damaged[-6] ^= 1  # in the checksum of the last member
    assert decoded(bytes(damaged), ["gzip"], LIMIT).ending is Ending.BROKEN


def test_every_frame_of_a_zstd_stream_counts_and_skippable_ones_are_skipped() -> None:
    skipped = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    wire = skipped + zstd(b"one ") + skipped + zstd(b"two")
    assert decoded(wire, ["zstd"], LIMIT).body == b"one two"
    assert decoded(wire[:-1], ["zstd"], LIMIT).ending is Ending.SHORT
    assert decoded(zstd(b"one") + skipped[:-1], ["zstd"], LIMIT).ending is Ending.SHORT


def test_a_zstd_window_beyond_the_standard_is_refused() -> None:
    settings = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    stream = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    wire = stream.compress(some_bytes()) + stream.flush()
    assert decoded(wire, ["zstd"], LIMIT).ending is Ending.BROKEN


def test_a_flipped_bit_is_broken_or_short_and_never_whole_with_other_bytes() -> None:
    data = some_bytes(1_000)
    for name, encode in ((n, e) for n, e in ENCODERS.values() if n in {"gzip", "zstd"}):
        wire = encode(data)
        for bit in np.random.default_rng(3).integers(0, len(wire) * 8, 200):
            flipped = bytearray(wire)
            flipped[bit // 8] ^= 1 << bit % 8
            result = decoded(bytes(flipped), [name], LIMIT)
            assert not result.whole or result.body == data


def test_two_layers_are_undone_from_the_outside_in() -> None:
    wire = brotli.compress(gzip.compress(b"the page"))
    assert decoded(wire, ["gzip", "br"], LIMIT).body == b"the page"
    assert decoded(wire, ["br", "gzip"], LIMIT).ending is Ending.BROKEN


def test_trouble_in_the_outer_layer_is_named_as_the_cause() -> None:
    wire = brotli.compress(gzip.compress(some_bytes(1_000)))
    result = decoded(wire[:-3], ["gzip", "br"], LIMIT)
    assert result.ending is Ending.SHORT
    assert result.detail.startswith("br:")


@pytest.mark.parametrize("codings", [["gzip", "gzip", "gzip"], ["compress"], ["gzip", "aes128gcm"]])
def test_an_unknown_coding_or_a_third_layer_leaves_the_wire_as_it_is(codings: list[str]) -> None:
    wire = gzip.compress(gzip.compress(gzip.compress(b"the page")))
    result = decoded(wire, codings, LIMIT)
    assert (result.body, result.ending) == (wire, Ending.UNKNOWN)


@pytest.mark.parametrize("codings", [[], ["identity"], ["", " Identity "]])
def test_no_coding_gives_the_wire_up_to_the_limit(codings: list[str]) -> None:
    assert decoded(b"the page", codings, LIMIT).whole
    cut = decoded(b"the page", codings, 3)
    assert (cut.body, cut.ending) == (b"the", Ending.LIMIT)


def test_the_cost_of_many_empty_members_grows_with_their_number_only() -> None:
    wire = gzip.compress(b"") * 100_000
    started_s = time.process_time()
    assert decoded(wire, ["gzip"], LIMIT).whole
    assert time.process_time() - started_s < 3
