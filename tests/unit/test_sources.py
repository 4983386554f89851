from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recrawl.app import sources
from recrawl.app.comparison import compared
from recrawl.app.export import cell
from recrawl.app.sources import Candidate, Found, Reader, Refused, lines, words
from recrawl.app.watchlist import private_name
from recrawl.model import Failure, Fetch, Outcome, Request

_URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


class Shelf:
    """A fetcher that answers from what it was given, and remembers what it was asked."""

    def __init__(self, bodies: dict[str, bytes] | None = None) -> None:
        self.bodies = bodies or {}
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> Fetch:
        self.asked.append(request.url)
        found = request.url in self.bodies
        return Fetch(
            request=request,
            outcome=Outcome.OK if found else Outcome.NET_ERROR,
            url=request.url,
            started_at=0.0,
            ended_at=0.0,
            body=self.bodies.get(request.url, b""),
            failure=None if found else Failure(reason="dns", detail="no such name"),
        )


def gathered(found: AsyncIterator[Found]) -> tuple[list[str], list[Refused]]:
    async def gather() -> list[Found]:
        return [item async for item in found]

    items = asyncio.run(gather())
    usable = [item.text for item in items if isinstance(item, Candidate)]
    return usable, [item for item in items if isinstance(item, Refused)]


def sitemap(path: Path, body: str | bytes) -> str:
    path.write_bytes(body.encode() if isinstance(body, str) else body)
    return str(path)


def urlset(*urls: str) -> str:
    return _URLSET.format("".join(f"<url><loc> {url} </loc><priority>1</priority></url>" for url in urls))


def index(*urls: str) -> str:
    inner = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{inner}</sitemapindex>"


def test_lines_are_counted_and_comments_say_nothing() -> None:
    found = list(lines(["# list\n", "\n", " https://a.example/ \n"], "file"))
    assert found == [Candidate("https://a.example/", "file:3", by_hand=True)]


def test_a_word_may_be_a_url_a_file_or_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("\ufeffhttps://file.example/\n", encoding="utf-8")
    found = list(words(["https://typed.example/", str(file), "-", "nothing"], ["https://in.example/\n"]))
    assert [item.text for item in found if isinstance(item, Candidate)] == [
        "https://typed.example/",
        "https://file.example/",
        "https://in.example/",
    ]
    assert [item.text for item in found if isinstance(item, Refused)] == ["nothing"]


@pytest.mark.parametrize(
    "feed",
    [
        "<rss><channel><link>https://x.example/</link><item><link>https://x.example/a</link></item></channel></rss>",
        '<feed><link href="https://x.example/"/><entry><link rel="self" href="https://x.example/b"/>'
        '<link href="https://x.example/a"/></entry></feed>',
    ],
)
def test_a_feed_gives_its_entries(tmp_path: Path, feed: str) -> None:
    place = sitemap(tmp_path / "feed.xml", feed)
    assert gathered(Reader(Shelf()).sitemap(place)) == (["https://x.example/a"], [])


@pytest.mark.parametrize("pack", [lambda body: body, gzip.compress])
def test_a_sitemap_gives_its_locations_and_nothing_else(tmp_path: Path, pack: type[bytes]) -> None:
    body = pack(urlset("https://a.example/?x=1&amp;y=2", "https://b.example/").encode())
    found, refused = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml", body)))
    assert found == ["https://a.example/?x=1&y=2", "https://b.example/"]
    assert refused == []


def test_what_a_sitemap_says_of_a_location_comes_with_it(tmp_path: Path) -> None:
    told = (
        "<loc>https://a.example/</loc><lastmod>2026-01-31T12:00:00Z</lastmod><changefreq>Daily</changefreq>",
        "<priority>0.3</priority><changefreq>now and then</changefreq><loc>https://b.example/</loc>",
        "<lastmod>2026-01-31</lastmod><changefreq>never</changefreq><loc>https://c.example/</loc>",
        "<loc>https://d.example/</loc><lastmod>lately</lastmod>",
    )
    body = "<urlset>" + "".join(f"<url>{one}</url>" for one in told) + "<url><loc>https://e.example/</loc>"

    async def all_found() -> list[tuple[str, str, float | None]]:
        place = sitemap(tmp_path / "s.xml", body)
        found = [one async for one in Reader(Shelf()).sitemap(place)]
        return [(one.text, one.changefreq, one.lastmod_at) for one in found if isinstance(one, Candidate)]

    assert asyncio.run(all_found()) == [
        ("https://a.example/", "daily", 1_769_860_800.0),
        ("https://b.example/", "", None),
        ("https://c.example/", "never", 1_769_817_600.0),
        ("https://d.example/", "", None),
        ("https://e.example/", "", None),  # where the file breaks off
    ]


def test_an_index_is_followed_each_sitemap_once(tmp_path: Path) -> None:
    one, two = "https://a.example/1.xml", "https://a.example/2.xml.gz"
    shelf = Shelf(
        {
            one: urlset("https://a.example/one").encode(),
            two: gzip.compress(urlset("https://a.example/two").encode()),
        }
    )
    found, refused = gathered(
        Reader(shelf).sitemap(sitemap(tmp_path / "s.xml", index(one, two, one, "https://gone.example/3.xml")))
    )
    assert found == ["https://a.example/one", "https://a.example/two"]
    assert [
        (item.text, "no address was found for the name gone.example" in item.reason) for item in refused
    ] == [("https://gone.example/3.xml", True)]
    assert shelf.asked == [one, two, "https://gone.example/3.xml"]


def test_an_index_that_names_itself_deeper_and_deeper_comes_to_an_end(tmp_path: Path) -> None:
    class Endless(Shelf):
        async def fetch(self, request: Request) -> Fetch:
            self.bodies[request.url] = index(f"{request.url}x").encode()
            return await super().fetch(request)

    shelf = Endless()
    _, refused = gathered(Reader(shelf).sitemap(sitemap(tmp_path / "s.xml", index("https://a.example/"))))
    assert len(shelf.asked) == sources.MAX_SITEMAP_DEPTH - 1
    assert "deep" in refused[-1].reason


def test_an_index_of_very_many_sitemaps_is_read_up_to_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_SITEMAPS", 3)
    shelf = Shelf()
    many = index(*(f"https://a.example/{i}" for i in range(10)))
    gathered(Reader(shelf).sitemap(sitemap(tmp_path / "s.xml", many)))
    assert len(shelf.asked) == 2


def test_an_index_cannot_name_a_file_on_this_disk(tmp_path: Path) -> None:
    secret = sitemap(tmp_path / "secret.xml", urlset("https://secret.example/"))
    found, refused = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml", index(secret))))
    assert found == []
    assert [item.text for item in refused] == [secret]


def test_what_stands_before_a_broken_place_is_used(tmp_path: Path) -> None:
    torn = urlset("https://a.example/").removesuffix("</urlset>") + "<url><loc>https://b.exa"
    found, refused = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml", torn)))
    assert found == ["https://a.example/"]
    assert len(refused) == 1


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE u [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
        '<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>',
        "<a>" * 1000,
        "no xml at all",
        "",
        gzip.compress(urlset("https://a.example/").encode(), mtime=0)[:20],
        b"\x1f\x8bnot gzip",
    ],
)
def test_a_hostile_or_broken_sitemap_is_refused_and_no_more(tmp_path: Path, body: str | bytes) -> None:
    found, refused = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml", body)))
    assert found == []
    assert len(refused) == 1


def test_a_compressed_sitemap_is_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_XML_BYTES", 1 << 20)
    bomb = gzip.compress(b"<urlset>" + b" " * (64 << 20) + b"</urlset>")
    _, refused = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml.gz", bomb)))
    assert "longer than 1 MiB" in refused[0].reason


def test_a_location_without_end_is_cut(tmp_path: Path) -> None:
    endless = urlset("https://a.example/" + "x" * (5 << 20))
    found, _ = gathered(Reader(Shelf()).sitemap(sitemap(tmp_path / "s.xml", endless)))
    assert [len(text) < 200_000 for text in found] == [True]


def test_an_opml_file_gives_its_feeds(tmp_path: Path) -> None:
    body = """<opml><body><outline text="News"><outline xmlUrl="https://a.example/feed" htmlUrl="https://a/"/>
      </outline><outline xmlUrl=" https://b.example/feed "/></body></opml>"""
    found, refused = gathered(Reader(Shelf()).opml(sitemap(tmp_path / "f.opml", body)))
    assert (found, refused) == (["https://a.example/feed", "https://b.example/feed"], [])


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.b.localhost", True),
        ("0x7f000001", True),
        ("0177.0.0.1", True),
        ("10.1", True),
        ("::1", True),
        ("fe80::1", True),
        ("::ffff:192.168.0.1", True),
        ("93.184.216.34", False),
        ("localhost.example.org", False),
        ("notlocalhost", False),
        ("2606:4700::1111", False),
    ],
)
def test_a_host_is_private_by_its_very_name_in_every_spelling(host: str, private: bool) -> None:
    assert private_name(host) is private


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_a_word_difference_names_what_went_and_what_came() -> None:
    told = compared("one\nthe old town\nend", "one\nthe new town\nend", "a", "b", True)
    assert told[2:] == ["@@ -1,3 +1,3 @@", "one", "the [-old-] {+new+} town", "end"]


def test_a_password_is_not_repeated_in_what_is_refused() -> None:
    refused = Refused("https://ada:tower7@news.example/a@b", "list.txt", "it carries a password")
    assert refused.text == "https://…@news.example/a@b"
