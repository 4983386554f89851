"""H11-H13: compressed bodies that are bombs, or broken, or neither."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import zstandard
from tests.hostile.case import PAGE, Check
from tests.hostile.wire import BAD, CUT, case

from recrawl.checks.fetcher import said
from recrawl.model import Changed, Outcome


@cache
def gzip_of_zeros(n_mib: int) -> bytes:
    """A gzip stream of so many MiB, built from one of them: a GiB in no time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + piece * n_mib + packer.flush() + bytes(8)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=5)),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}


def encoded(coding: str, wire: bytes) -> bytes:
    return said("200 OK", wire, Content_Encoding=coding, Content_Type="text/html")


def kept_as_sent(wire: bytes) -> Check:
    return lambda sight: bytes(sight.fetch.wire) == wire


CODINGS = [
    case("H11", "gzip, a MiB to a GiB", encoded("gzip", gzip_of_zeros(1_000)), CUT, "length"),
    *(
        case("H11", f"{name}, 16 MiB", encoded(name, encode(bytes(16 << 20))), CUT, "length")
        for name, encode in ENCODERS.items()
    ),
    case(
        "H12",
        "twice",
        encoded("gzip, gzip", gzip.compress(gzip.compress(PAGE))),
        Outcome.OK,
        changed=Changed.NO,
    ),
    case(
        "H12", "a bomb in a bomb", encoded("gzip, gzip", gzip.compress(gzip_of_zeros(1_000))), CUT, "length"
    ),
    case("H12", "three times", encoded("gzip, gzip, gzip", gzip.compress(PAGE)), BAD, "decode"),
    case("H12", "one of its own", encoded("exi", PAGE), BAD, "decode"),
    *(case("H13", f"{name} that is none", encoded(name, b"<p>plain"), BAD, "decode") for name in ENCODERS),
    *(
        case("H13", f"half of {name}", encoded(name, wire[: len(wire) // 2]), BAD, "decode")
        for name, wire in ((name, encode(bytes(range(256)) * 50)) for name, encode in ENCODERS.items())
    ),
    *(
        case(
            "H13",
            f"{name} as it should be",
            encoded(name, wire),
            Outcome.OK,
            changed=Changed.NO,
            check=kept_as_sent(wire),
        )
        for name, wire in ((name, encode(PAGE)) for name, encode in ENCODERS.items())
    ),
]
