"""Texts that are made to keep a reader busy: patterns stay linear, and what cannot is ended in time."""

from __future__ import annotations

import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

import pytest

from recrawl.app import versions
from recrawl.app.comparison import compared
from recrawl.errors import BadUrlError
from recrawl.model import Snapshot, Version
from recrawl.observe.pacing import retry_after_s
from recrawl.observe.robots import rules_from
from recrawl.parse import charset, html, pool
from recrawl.parse.html import visible
from recrawl.parse.pool import ParseFailed, Pool
from recrawl.urls import canonical

# -- patterns ------------------------------------------------------------------------------------------------

# Where fetched text is read.
ROOMS = ("observe", "detect", "parse", "notify", "live", "urls", "app.sources", "app.versions")
# These are quadratic, and never see more than so much.
BOUNDED = {"recrawl.parse.charset._META": 1024, "recrawl.parse.charset._COMMENT": 1024}
# These are only ever matched at the beginning of a line or a text; to search for them would be quadratic.
MATCHED = {
    "recrawl.detect.choose._JSON",
    "recrawl.detect.masks._MASKED",
    "recrawl.observe.robots._AGENT_LINE",
    "recrawl.observe.robots._OUTSIDE_GROUPS",
    "recrawl.parse.answers._RDF",
    "recrawl.parse.rdf._DECLARED",
    "recrawl.parse.rdf._PROLOG",
}
BAITS = [
    "a", " ", "\t\n", "<", "<!--", "<meta ", "<title>", "charset=", "; charset", "&", "1", "1.",
    "a.", "a-", "*",
    "/", "//", "@", "%", '"', '""', "'", "\\", "(", "[", "{", "\n", "\r\n", "user-agent",
    "user agent", ":", "x=", "#",
    "\0", "0x", "PREFIX a: <b> ", "SELECT ", "LIMIT 1 ", "é", "#x\n", '"x" ', "<a>", "rdf:", "<urlset", "?",
]  # fmt: skip
LONG_URL = "http://a.example/" + "a" * 4_000
SMALL, LARGE = 1_000, 8_000


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    for room in ROOMS:
        for name in modules(f"recrawl.{room}"):
            for attribute, value in vars(import_module(name)).items():
                if isinstance(value, re.Pattern):
                    yield f"{name}.{attribute}", value


def modules(name: str) -> Iterator[str]:
    yield name
    for found in pkgutil.walk_packages(getattr(import_module(name), "__path__", []), f"{name}."):
        yield found.name


def took_s(function: Callable[[object], object], bait: object) -> float:
    """The least of a few, in CPU time: others use this machine too."""

    def once() -> float:
        began = time.process_time()
        function(bait)
        return time.process_time() - began

    return min(once() for _ in range(2))


def grows(search: Callable[[object], object], of_length: Callable[[int], object]) -> bool:
    """Whether eight times the text takes far more than eight times as long."""
    short_s, long_s = took_s(search, of_length(SMALL)), took_s(search, of_length(LARGE))
    return long_s > 0.005 and long_s > 24 * max(short_s, 5e-5)


def baited(pattern: re.Pattern[str] | re.Pattern[bytes], methods: Sequence[str]) -> str | None:
    """The first bait that it takes."""
    for bait in BAITS:

        def of_length(n: int, bait: str = bait) -> object:
            text = (bait * n)[:n] + "\x01"
            return text if isinstance(pattern.pattern, str) else text.encode()

        if any(grows(getattr(pattern, method), of_length) for method in methods):
            return bait
    return None


PATTERNS = dict(patterns())


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() - BOUNDED.keys()))
def test_a_pattern_takes_time_in_proportion_to_the_text(name: str) -> None:
    methods = ["match", "fullmatch"] if name in MATCHED else ["search", "fullmatch"]
    assert baited(PATTERNS[name], methods) is None


@pytest.mark.parametrize("bad", [r"<title>(.*?)</title>", r"\s+$", r"(?:a|b|c)*d"])
def test_a_pattern_that_can_be_baited_is_found_out(bad: str) -> None:
    assert baited(re.compile(bad, re.DOTALL), ["search"]) is not None


def test_the_patterns_of_this_house_are_looked_at() -> None:
    assert len(PATTERNS) >= 8
    assert BOUNDED.keys() | MATCHED <= PATTERNS.keys()


@pytest.mark.parametrize(
    "read",
    [
        lambda n: charset.text(b"<meta " * n),
        lambda n: charset.text(b"<!--" * n),
        lambda n: charset.said("text/html" + "; charset" * n),
        lambda n: rules_from(200, b"user-agent" * n, "recrawl"),
        lambda n: rules_from(200, b"User-agent: *\nDisallow: /" + b"*a" * n, "recrawl").refusal(LONG_URL),
        lambda n: retry_after_s("Mon, " * n, 0.0),
        lambda n: visible(b"<title>" * n, None),
        lambda n: visible(b"&amp" * n, None),
    ],
    ids=["meta", "comment", "content-type", "robots", "wildcards", "retry-after", "title", "entities"],
)  # fmt: skip
def test_readers_of_fetched_text_are_not_kept_busy(read: Callable[[int], object]) -> None:
    began = time.process_time()
    read(20_000)
    assert time.process_time() - began < 3.0


def test_a_url_is_measured_before_it_is_read() -> None:
    with pytest.raises(BadUrlError):
        canonical("http://" + "a." * 10_000_000)


# -- parsers -------------------------------------------------------------------------------------------------


def test_parsers_are_given_ten_seconds_and_a_gib() -> None:
    told = inspect.signature(Pool).parameters
    assert (told["limit_s"].default, told["memory_bytes"].default) == (10.0, 1 << 30)
    assert isinstance(pool.shared(), Pool)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 100_000,
        b"<p " + b" ".join(b"a%d=1" % i for i in range(100_000)) + b">",
        b"".join(b"<font size=%d><p>x" % i for i in range(6_000)),
    ],
    ids=["deep", "attributes", "fonts"],
)
def test_a_page_that_hangs_its_parser_is_given_up(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool(limit_s=1.0) as short:
        monkeypatch.setattr(pool, "_shared", short)
        began = time.monotonic()
        assert isinstance(html.text(body), ParseFailed)
        assert time.monotonic() - began < 20.0


# -- differences ---------------------------------------------------------------------------------------------


class Shelf:
    """An archive of two texts."""

    def __init__(self, before: str, after: str) -> None:
        self._bodies = {1: before.encode(), 2: after.encode()}

    def snapshot(self, version: Version) -> Snapshot:
        return Snapshot(body=self._bodies[version.seq], media_type="text/plain", charset="utf-8")


def versions_of(before: str, after: str) -> tuple[Version, Version]:
    one = Version(resource_id=1, seq=1, at=0.0, digest="a", n_bytes=len(before))
    return one, Version(resource_id=1, seq=2, at=1.0, digest="b", n_bytes=len(after))


def lines(number: Callable[[int], int]) -> str:
    # 149 different lines: just rare enough for none of them to be passed over as common
    return "\n".join(f"{number(i) % 149} the same words over and over" for i in range(20_000))


HOSTILE_PAIRS = {
    "similar lines": (lines(lambda i: i * i), lines(lambda i: i * i * i + i)),
    "one line of many words": ("a b " * 60_000, "b a c " * 60_000),
    "all different": ("\n".join(map(str, range(200_000))), "\n".join(map(str, range(200_000, 0, -1)))),
}


@pytest.mark.slow
@pytest.mark.parametrize("by_words", [False, True])
@pytest.mark.parametrize("name", HOSTILE_PAIRS)
def test_a_difference_is_shown_in_time_or_said_to_be_too_much(
    name: str, by_words: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = HOSTILE_PAIRS[name]
    with Pool(limit_s=1.0, memory_bytes=512 << 20) as short:
        monkeypatch.setattr(pool, "_shared", short)
        began = time.monotonic()
        found = versions.difference(
            Shelf(before, after),  # type: ignore[arg-type]
            *versions_of(before, after),
            by_words=by_words,
        )
        assert time.monotonic() - began < 20.0
    assert found.differs
    assert found.lines is not None or "Too much differs" in found.remark


def test_the_bait_for_differences_would_be_taken() -> None:
    """Without an end to it, showing how similar lines differ takes more than the time that is given."""
    with Pool(limit_s=1.0) as short:
        found = short.run(compared, *HOSTILE_PAIRS["similar lines"], "a", "b", False)
    assert isinstance(found, ParseFailed)
