"""The words of versions: what is read of each kind, when a change is significant, and how words are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.feed import Feed
from recrawl.detect.json import Json
from recrawl.detect.rdf import Rdf
from recrawl.detect.results import Results
from recrawl.detect.table import Tables
from recrawl.detect.text import Text
from recrawl.live.judgement import Judgement, judged
from recrawl.live.words import words_of
from recrawl.model import (
    Bag,
    Changed,
    Effective,
    Fetch,
    Kind,
    Lease,
    Manner,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
    packed,
    unpacked,
)
from recrawl.parse.bags import word_number

URL = "http://example.org/"
DETECTORS: dict[str, Detector] = {
    one.name: one for one in (Exact(), Feed(), Json(), Rdf(), Results(), Tables(), Text())
}
TEXT = (
    "the river rose during the night and the lower meadow is under water so the sheep were brought to the "
    "upper pasture where the grass is short and the wind is cold but they are safe and dry"
)
WORDS = TEXT.split()


class Watched:
    """A resource that is looked at again and again, each time from where the last visit left it."""

    def __init__(self, media_type: str = "text/html", manner: Manner | None = None) -> None:
        self.media_type = media_type
        effective = Effective(kind=Kind.AUTO, manner=manner or Manner())
        self.resource = Resource(
            id=7, url=URL, host_id=1, host="example.org", added_at=0.0, effective=effective
        )
        self.standing = Standing()
        self.base: Bag | None = None
        self.copies: dict[str, bytes] = {}
        self.at = 100.0

    def sees(self, body: str | bytes) -> Judgement:
        self.at += 100.0
        wire = body if isinstance(body, bytes) else body.encode()
        lease = Lease(
            resource=self.resource,
            standing=self.standing,
            token=1,
            claimed_at=0.0,
            until_at=9e9,
            base=self.base,
        )
        fetch = Fetch(
            request=Request(url=URL), outcome=Outcome.OK, url=URL, started_at=self.at, ended_at=self.at,
            status=200, headers=(("Content-Type", self.media_type),), body=wire, wire=wire,
        )  # fmt: skip
        found = judged(
            lease, fetch, fetch_id="f", detectors=DETECTORS, choose=detector_name, load=self._loaded
        )
        if found.version is not None and not found.version.flag and found.same_as is None:
            self.copies[found.version.digest] = wire
            self.standing = replace(self.standing, version=found.version)
        self.standing = replace(self.standing, since_at=self.at, noise=found.noise)
        if found.bag is not None and found.bag.base:
            self.base = found.bag
        return found

    def _loaded(self, version: Version) -> Snapshot:
        return Snapshot(body=self.copies[version.digest], media_type=self.media_type, url=URL)


def page(*words: str) -> str:
    return f"<html><title>Farm</title><p>{' '.join(words)}</p></html>"


def said(media_type: str, body: str | bytes) -> set[str]:
    """Which of these words are read."""
    wire = body if isinstance(body, bytes) else body.encode()
    snapshot = Snapshot(body=wire, media_type=media_type, charset="utf-8", url=URL)
    detector = DETECTORS[detector_name(Kind.AUTO, media_type, wire, url=URL)]
    found = words_of(detector, snapshot) or {}
    known = ("red", "green", "blue", "name", "title", "http", "example", "org", "en", "type", "12")
    return {word for word in known if word_number(word) >> 31 in found}


FEED = """<rss version="2.0"><channel><title>Blue</title><item><guid>http://example.org/1</guid>
<link>http://example.org/1</link><title>Red</title><description>green 12</description>
</item></channel></rss>"""
RESULTS = """{"head": {"vars": ["name"]}, "results": {"bindings": [
{"name": {"type": "literal", "value": "red", "xml:lang": "en"}},
{"name": {"type": "uri", "value": "http://example.org/title"}}]}}"""


@pytest.mark.parametrize(
    ("media_type", "body", "read"),
    [
        ("text/html", "<title>Red</title><p>green 12<script>blue</script>", {"red", "green"}),
        ("text/plain", "Red\ngreen 12\n", {"red", "green"}),
        ("application/json", '{"name": ["red", 12, {"title": "Green"}]}', {"red", "green"}),
        ("text/csv", "name,title\nred,12\ngreen,13\n", {"red", "green"}),
        ("text/turtle", '<http://example.org/red> <http://example.org/name> "green"@en .', {"green"}),
        ("application/sparql-results+json", RESULTS, {"red"}),
        ("application/rss+xml", FEED, {"red", "green"}),
    ],
)
def test_words_are_what_is_said_not_how(media_type: str, body: str, read: set[str]) -> None:
    assert said(media_type, body) == read


def test_bytes_have_no_words() -> None:
    watched = Watched("application/octet-stream")
    watched.sees(b"\x00\x01 river")
    found = watched.sees(b"\x00\x02 meadow")
    assert found.visit.changed is Changed.YES
    assert found.visit.significant is None
    assert found.bag is None


def test_a_rewritten_page_changed_significantly_and_a_word_more_is_slight() -> None:
    watched = Watched()
    first = watched.sees(page(*WORDS))
    assert first.visit.significant is None
    assert first.bag is not None
    slight = watched.sees(page(*WORDS, "again"))
    assert (slight.visit.changed, slight.visit.significant) == (Changed.YES, False)
    assert slight.bag is not None
    assert not slight.bag.base
    whole = watched.sees(page("Everything", "must", "go", "this", "week", "only", "at", "half", "price"))
    assert (whole.visit.changed, whole.visit.significant) == (Changed.YES, True)
    assert whole.bag is not None
    assert whole.bag.base


def test_what_is_too_little_at_a_time_adds_up() -> None:
    """And starts anew from what counted; held against the version before, nothing ever would."""
    watched, words, found = Watched(), list(WORDS), []
    watched.sees(page(*words))
    for i in range(len(words)):
        words[i] = f"other{chr(97 + i)}"
        found.append(watched.sees(page(*words)).visit.significant)
    assert found[0] is False
    assert 1 <= found.count(True) <= 3
    forgetful, words = Watched(), list(WORDS)
    forgetful.sees(page(*words))
    for i in range(len(words)):
        words[i] = f"other{chr(97 + i)}"
        forgetful.base = None
        assert forgetful.sees(page(*words)).visit.significant is False


def test_numbers_are_noise_in_a_page_and_all_that_counts_in_data() -> None:
    prose = Watched()
    prose.sees(page(*WORDS, "12"))
    assert prose.sees(page(*WORDS, "977")).visit.significant is False
    data = Watched("application/json")
    data.sees('{"city": "Oslo", "degrees": 12}')
    found = data.sees('{"city": "Oslo", "degrees": 13}')
    assert (found.visit.changed, found.visit.significant) == (Changed.YES, None)
    assert found.bag is not None
    assert found.bag.base
    empty = Watched("application/json")
    empty.sees("[1]")
    assert empty.sees("[2]").visit.significant is None


def test_what_is_masked_or_ignored_decides_nothing() -> None:
    advert = "cheap flights to sunny islands book now pay later terms apply limited seats"
    watched = Watched(manner=Manner(ignore=("aside",)))
    text = " ".join(WORDS)
    watched.sees(f"<p>{text}</p><aside>{advert}</aside>")
    found = watched.sees(f"<p>{text} again</p><aside>{' '.join(reversed(advert.upper()))}</aside>")
    assert (found.visit.changed, found.visit.significant) == (Changed.YES, False)


def test_words_that_were_seen_through_another_lens_are_not_held_against() -> None:
    """The newest version is read anew through the present one: else the lens itself would be a change."""
    watched = Watched()
    text, quotes = " ".join(WORDS), "every cloud hides silver " * 60
    watched.sees(f"<p>{text}</p><blockquote>{quotes}</blockquote>")
    before = watched.base
    manner = Manner(ignore=("blockquote",))
    watched.resource = replace(watched.resource, effective=Effective(manner=manner))
    found = watched.sees(f"<p>{text} again</p><blockquote>other {quotes}</blockquote>")
    assert found.bag is not None
    assert before is not None
    assert found.bag.detector != before.detector
    assert word_number("cloud") >> 31 in unpacked([before.packed]).word
    assert word_number("cloud") >> 31 not in unpacked([found.bag.packed]).word
    assert (found.visit.changed, found.visit.significant) == (Changed.YES, False)


def test_packed_words_come_back_and_take_four_bytes_each() -> None:
    rng = np.random.default_rng(3)
    bags = [
        dict(zip(rng.integers(0, 1 << 32, n).tolist(), rng.zipf(1.8, n).tolist(), strict=True))
        for n in (0, 1, 5, 400, 2_000)
    ]
    rows = [packed(bag) for bag in bags]
    found = unpacked(rows)
    for i, bag in enumerate(bags):
        own = slice(found.bounds[i], found.bounds[i + 1])
        assert found.word[own].tolist() == sorted(bag)
        assert found.count[own].tolist() == [min(bag[word], 65_535) for word in sorted(bag)]
    assert len(rows[-1]) < 4.5 * 2_000
    assert len(unpacked([])) == 0
