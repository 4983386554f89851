"""Ten thousand visits of every kind, written by our archive, with what each must give back."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import brotli
import numpy as np
from tests.houses import DAY_AT, HTML, seen
from tests.warcs import archive_in, version_of

from recrawl.model import Fetch, Header, Outcome, Version
from recrawl.remember.warc import WarcArchive

N_VISITS = 10_000
N_URLS = 1_000
_N_TOGETHER = 500
_GAP_S = 7.0
_WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "–", "wörter", "漢字")


@dataclass(frozen=True)
class Kept:
    """One visit as it must be found again."""

    kind: str  # page, coded, large … or same, unchanged for the revisits
    url: str
    at: float
    digest: str  # of the decoded body
    version: Version

    @property
    def is_revisit(self) -> bool:
        return self.kind in ("same", "unchanged")


@dataclass(frozen=True)
class Collection:
    folder: Path
    kept: list[Kept]


def _text(chance: np.random.Generator, n_words: int) -> bytes:
    return " ".join(_WORDS[i] for i in chance.integers(len(_WORDS), size=n_words)).encode()


def _answers(chance: np.random.Generator) -> Iterator[tuple[str, bytes, tuple[Header, ...], bytes | None]]:
    """Kind, body, headers and wire, for ever."""
    while True:
        text = _text(chance, 30)
        yield "page", b"<!doctype html><title>t</title><p>" + text, (HTML,), None
        coded = (HTML, ("Content-Encoding", "gzip"))
        yield "coded", b"<p>" + text, coded, gzip.compress(b"<p>" + text, 6, mtime=0)
        coded = (HTML, ("Content-Encoding", "br"))
        yield "coded", b"<p>br " + text, coded, brotli.compress(b"<p>br " + text, quality=4)
        yield "json", b'{"text": "%b"}' % text, (("Content-Type", "application/json"),), None
        yield "table", b"a,b\n" + text.replace(b" ", b",\n"), (("Content-Type", "text/csv"),), None
        yield "graph", b'<http://a> <http://b> "%b" .' % text, (("Content-Type", "text/turtle"),), None
        yield "bytes", chance.bytes(200), (("Content-Type", "application/octet-stream"),), None
        yield "empty", b"", (("Content-Type", "text/plain"),), None


def written(folder: Path) -> Collection:
    """A third of the visits brings something new, the others find what was there; some of it is large."""
    chance = np.random.default_rng(4)
    archive = archive_in(folder, max_bytes=5_000_000)
    answers, newest, kept = _answers(chance), dict[str, tuple[Fetch, Version]](), list[Kept]()
    for n in range(N_VISITS):
        which = n % N_URLS
        url, at = f"http://h{which % 37}.example/{which}?q={which % 3}", DAY_AT + n * _GAP_S
        before = newest.get(url)
        if before is None or n % 3 == 0:
            kind, body, headers, wire = next(answers)
            if n % 997 == 0:
                kind, body, wire = "large", _text(chance, 300_000), None
                headers = (("Content-Type", "text/plain; charset=utf-8"),)
            fetch = replace(seen(url, at, body, *headers), wire=body if wire is None else wire)
            version, same_as = version_of(fetch), None
        elif n % 3 == 1:
            kind, fetch, same_as = "same", replace(before[0], started_at=at, ended_at=at), before[1]
            version = replace(version_of(fetch), at=at)
        else:
            kind, same_as = "unchanged", before[1]
            fetch = seen(url, at, b"", ("ETag", '"1"'), status=304, outcome=Outcome.NOT_MODIFIED)
            version = replace(same_as, at=at)
        placed = _put(archive, fetch, version, same_as)
        if same_as is None:
            newest[url] = fetch, placed
        kept.append(Kept(kind, url, at, placed.digest, placed))
        if n % _N_TOGETHER == 0:
            archive.sync()
    archive.close()
    return Collection(folder, kept)


def _put(archive: WarcArchive, fetch: Fetch, version: Version, same_as: Version | None) -> Version:
    placed = archive.put(fetch, version, same_as)
    if same_as is not None:
        assert (placed.file, placed.offset) == (same_as.file, same_as.offset)
    return placed


def digest_of(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def undone(payload: bytes, coding: str | None) -> bytes:
    """Without its content coding."""
    if coding == "br":
        plain: bytes = brotli.decompress(payload)
        return plain
    return gzip.decompress(payload) if coding == "gzip" else payload
