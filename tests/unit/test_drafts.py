"""What would be added, read from all sorts of lists; never a file of this machine."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from recrawl.app import drafts
from recrawl.app.build import House, open_house
from recrawl.app.drafts import Draft, Given, drafted, watch
from recrawl.app.lists import handed, pasted
from recrawl.app.sources import Candidate
from recrawl.checks.store.samples import T0, new
from recrawl.model import GLOBAL, Kind, Scope, ScopeKind, Settings

SITEMAP = """<urlset><url><loc>https://a.example/1</loc><lastmod>2026-01-01</lastmod></url>
<url><loc>https://a.example/2</loc></url></urlset>"""
RSS = """<rss><channel><link>https://a.example/</link><item><link> https://a.example/post </link></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.example/"/><entry>
<link rel="edit" href="https://a.example/edit"/><link href="https://a.example/post"/></entry></feed>"""
OPML = '<opml><body><outline text="x" xmlUrl="https://a.example/feed"/></body></opml>'
POST = ["https://a.example/post"]
BOTH = ["https://a.example/1", "https://a.example/2"]
ENTITY = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "home") as house:
        yield house


def read(data: str | bytes, name: str) -> list[str]:
    found = handed(data.encode() if isinstance(data, str) else data, name)
    return [item.text for item in found if isinstance(item, Candidate)]


def made(house: House, given: Given, settings: Settings | None = None, tags: tuple[str, ...] = ()) -> Draft:
    return asyncio.run(drafted(house, given, settings or Settings(), tags))


@pytest.mark.parametrize(
    ("data", "name", "urls"),
    [
        (SITEMAP, "any.bin", BOTH),
        (gzip.compress(SITEMAP.encode()), "s.xml.gz", BOTH),
        (RSS, "feed", POST),
        (ATOM, "feed", POST),
        (OPML, "my.opml", ["https://a.example/feed"]),
        ("# mine\n\nhttps://a.example/1,2\n https://a.example/3 \n", "u.txt", ["https://a.example/1,2", "https://a.example/3"]),
        ("\ufeffname;url\nx;https://a.example/1\ny;https://a.example/2\nz;\n", "t.txt", BOTH),
        ('https://a.example/1,"one, two"\nhttps://a.example/2,x\n', "t.csv", BOTH),
        ("ref\tpage\nhttps://r.example/\thttps://a.example/1\n\thttps://a.example/2\n", "t.tsv", BOTH),
    ],
)  # fmt: skip
def test_lists_are_told_by_their_content(data: str | bytes, name: str, urls: list[str]) -> None:
    assert read(data, name) == urls


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\0\0", "no text"),
        (b"<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>", "the index"),
        (ENTITY + b"<urlset><url><loc>&e;</loc></url></urlset>", "document type"),
        (b"<urlset><url><loc>https://a.example/", "to its end"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_told_with_its_reason(data: bytes, reason: str, house: House) -> None:
    draft = made(house, Given(name="given", data=data))
    assert not draft.new
    assert draft.refused.n_refused >= 1
    assert any(reason in one.reason for one in draft.refused.refused)


def test_a_table_without_urls_says_so(house: House) -> None:
    draft = made(house, Given(name="t.csv", data=b"a,b\n1,2\n"))
    assert [one.reason for one in draft.refused.refused] == [
        "no column of it holds URLs; begin each with http:// or https://."
    ]


def test_a_name_without_a_scheme_is_asked_about() -> None:
    (refused,) = pasted("example.org")
    assert "did you mean https://example.org?" in getattr(refused, "reason", "")


def test_nothing_is_added_before_it_is_said(house: House) -> None:
    house.store.add([new("https://a.example/1")], T0)
    given = Given(text="https://a.example/1\nhttps://a.example/2\nHTTPS://A.example/2\nftp://x/\n")
    draft = made(house, given, Settings(kind=Kind.PAGE), ("late",))
    assert [one.url for one in draft.new] == ["https://a.example/2"]
    assert [one.url for one in draft.known] == ["https://a.example/1"]
    assert [one.where for one in draft.refused.refused] == ["line 4"]
    assert house.store.counts(T0)["resources"] == 1
    told: list[int] = []
    done = watch(house.store, draft, T0, told.append)
    assert (done.n_added, done.n_known, done.n_refused, told) == (1, 1, 1, [2])
    assert house.store.numbers(tag="late").tolist() == [1, 2]
    added = house.store.find("https://a.example/2")
    assert added is not None
    assert added.effective.kind is Kind.PAGE


def test_a_sitemaps_hints_are_kept(house: House) -> None:
    (first, second) = made(house, Given(data=SITEMAP.encode())).new
    assert (first.lastmod_at is not None, second.lastmod_at is None) == (True, True)


@pytest.mark.parametrize("way", ["text", "data", "address"])
def test_a_file_of_this_machine_is_never_named(way: str, house: House, tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text(SITEMAP)
    for word in ((tmp_path / "secret.xml").as_uri(), str(tmp_path / "secret.xml")):
        given = Given(**{way: word.encode() if way == "data" else word})  # type: ignore[arg-type]
        draft = made(house, given)
        assert (draft.new, draft.known, draft.refused.n_refused) == ([], [], 1)
        if way != "address" and word.startswith("file:"):
            assert "names a file of this machine" in draft.refused.refused[0].reason


@pytest.mark.parametrize("scope", [GLOBAL, Scope(ScopeKind.HOST, "127.0.0.1"), Scope(ScopeKind.TAG, "ours")])
def test_a_private_place_takes_the_word_of_who_runs_this(scope: Scope, house: House) -> None:
    given = Given(text="http://127.0.0.1/\nhttp://10.0.0.1/\n")
    draft = made(house, given, tags=("ours",))
    assert not draft.new
    assert "recrawl set --host 127.0.0.1 --allow-private" in draft.refused.refused[0].reason
    house.store.say(scope, Settings(allow_private=True), T0)
    n = 1 if scope.kind is ScopeKind.HOST else 2
    draft = made(house, given, tags=("ours",))
    assert (len(draft.new), draft.refused.n_refused) == (n, 2 - n)
    house.store.say(Scope(ScopeKind.TAG, "ours"), Settings(allow_private=False), T0)
    assert not made(house, given, tags=("ours",)).new  # what is said nearer wins
    assert not made(house, Given(address="http://127.0.0.1:1/s.xml"), tags=("ours",)).new


def test_a_draft_has_an_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST", 3)
    draft = made(house, Given(text="".join(f"https://a.example/{n}\n" for n in range(9))))
    assert (len(draft.new), draft.full) == (3, True)


def test_a_largest_gap_that_the_host_overrules_is_refused_in_a_draft(house: House) -> None:
    house.store.say(Scope(ScopeKind.HOST, "a.example"), Settings(min_gap_s=7_200.0), T0)
    given = Given(text="https://a.example/\nhttps://b.example/")
    draft = asyncio.run(drafted(house, given, Settings(max_gap_s=600.0), ()))
    assert [new.url for new in draft.new] == ["https://b.example/"]
    (refused,) = draft.refused.refused
    assert "host a.example is 2 hours" in refused.reason
    both = asyncio.run(drafted(house, given, Settings(min_gap_s=60.0, max_gap_s=600.0), ()))
    assert len(both.new) == 2
