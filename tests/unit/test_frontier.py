"""Which addresses of a site are taken into the next level, and which are traps."""

from __future__ import annotations

from random import Random

import pytest

from recrawl.app.collecting import sites_named
from recrawl.app.frontier import Frontier, Read, Wish
from recrawl.app.sites import Site, plain, winding
from recrawl.errors import BadInputError, BadUrlError
from recrawl.parse.outlinks import Outlink

SITE = Site("https://e.example/")


def begun(wish: Wish, site: Site = SITE) -> Frontier:
    frontier = Frontier(site, wish)
    frontier.join(1, site.root, 1)
    return frontier


def read(number: int, *links: str, url: str = SITE.root, digest: str = "") -> Read:
    return Read(number, url, digest or f"sha256:{number}", tuple(map(Outlink, links)))


def numbered(n: int, host: str = "e.example") -> list[str]:
    return [f"https://{host}/{i}" for i in range(n)]


@pytest.mark.parametrize(
    ("word", "url", "held"),
    [
        ("e.example", "https://e.example/a", True),
        ("e.example", "http://e.example/a", True),
        ("e.example", "https://a.b.e.example/", True),
        ("www.e.example", "https://e.example/", True),
        ("e.example", "https://www.e.example/", True),
        ("e.example", "https://note.example/", False),
        ("e.example", "https://example/", False),
        ("e.example", "https://e.example:8443/", False),
        ("http://e.example:8080/", "http://a.e.example:8080/x", True),
        ("http://127.0.0.1/", "http://1.127.0.0.1/", False),
        ("http://[::1]:80/", "http://[::1]/a", True),
    ],
)
def test_a_site_is_a_host_with_its_subdomains(word: str, url: str, held: bool) -> None:
    assert Site.named(word).holds(url) is held


def test_a_site_may_be_one_host_alone() -> None:
    site = Site.named("www.e.example", host_only=True)
    assert [site.holds(f"https://{name}/") for name in ("www.e.example", "e.example", "a.www.e.example")] == [
        True,
        False,
        False,
    ]


def test_sites_are_named_once_and_as_sites() -> None:
    local = ["localhost:81/a", "127.0.0.1:82", "[::1]", "10.0.0.7/b", "9.9.9.9"]
    assert [site.root for site in sites_named(local)] == [
        "http://localhost:81/a",
        "http://127.0.0.1:82/",
        "http://[::1]/",
        "http://10.0.0.7/b",
        "https://9.9.9.9/",
    ]
    assert [site.root for site in sites_named(["A.example", "https://b.example/x#y", "a.example"])] == [
        "https://a.example/",
        "https://b.example/x",
    ]
    with pytest.raises(BadInputError, match="one site"):
        sites_named(["a.example", "https://blog.a.example/"])
    for word in ("", "not a site", "ftp://a.example/", "file:///etc"):
        with pytest.raises(BadUrlError, match="names no site"):
            sites_named([word])


@pytest.mark.parametrize(
    ("url", "known_as"),
    [
        ("http://h/a;jsessionid=1A2B.node1?b=1", "http://h/a?b=1"),
        ("http://h/;JSESSIONID=1A2B", "http://h/"),
        ("http://h/a?PHPSESSID=0123456789abcdef&b=1&c", "http://h/a?b=1&c"),
        ("http://h/a?sid=0123456789abcdef0123456789abcdef", "http://h/a"),
        ("http://h/a?sid=news", "http://h/a?sid=news"),
        ("http://h/a?ASPSESSIONIDQQ=0123456789ABCDEFGH", "http://h/a"),
        ("http://h/a?CFID=12&CFTOKEN=3456&d=7", "http://h/a?d=7"),
        ("http://h/(S(0123456789abcdefghijklmn))/a.aspx", "http://h/a.aspx"),
        ("http://h/(S(0123456789abcdefghijklmn))", "http://h/"),
        ("http://h/a(b)?q=(c)", "http://h/a(b)?q=(c)"),
    ],
)
def test_session_ids_are_left_out(url: str, known_as: str) -> None:
    assert plain(url) == known_as


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/" + "/".join(map(str, range(20))), False),
        ("/" + "/".join(map(str, range(21))), True),
        ("/a/a/", False),
        ("/a/a/a", True),
        ("/x/a/b/a/b/y", False),
        ("/x/a/b/a/b/a/b/y", True),
        ("/a?/b/b/b", False),
        ("//", False),
        ("/", False),
    ],
)
def test_paths_that_are_very_deep_or_go_in_circles_are_traps(path: str, trap: bool) -> None:
    assert winding(f"http://h{path}") is trap


def test_what_is_chosen_depends_neither_on_order_nor_on_spelling() -> None:
    links = numbered(5_000)
    choices = []
    for seed in (1, 2):
        mixed = Random(seed).sample(links, len(links))
        frontier = begun(Wish(per_level=20))
        for n in range(10):
            some = mixed[n * 500 : (n + 1) * 500]
            frontier.take(read(n + 1, *some, *(url.replace("https:", "http:") for url in some[:50])))
        assert frontier.n_found == 5_000
        choices.append(frontier.chosen())
    assert choices[0] == choices[1]
    assert len(set(choices[0])) == 20
    assert {url.partition(":")[0] for url in choices[0]} == {"https"}
    other = begun(Wish(per_level=20, seed=2))
    other.take(read(1, *links))
    assert set(other.chosen()) != set(choices[0])


def test_a_sample_is_spread_over_all_that_was_found() -> None:
    frontier = begun(Wish(per_level=200))
    frontier.take(read(1, *numbered(1_000)))
    middle = sorted(int(url.rpartition("/")[2]) for url in frontier.chosen())[100]
    assert 350 < middle < 650


def test_what_was_chosen_before_counts_and_nothing_else_is_added_where_the_level_is_full() -> None:
    frontier = begun(Wish(per_level=3))
    links = numbered(10)
    frontier.take(read(1, *links))
    chosen = frontier.chosen()
    again = begun(Wish(per_level=3))
    for n, url in enumerate(chosen, 2):
        again.know(n, url)
    again.take(read(1, *links))
    again.rejoin()
    assert again.chosen() == []
    assert again.n_found == 10
    assert again.members == {1: [1], 2: [2, 3, 4]}
    assert again.links().tolist() == [[1, 2], [1, 3], [1, 4]]


def test_what_was_collected_from_another_first_page_belongs_here_where_a_link_leads_there() -> None:
    frontier = begun(Wish(per_level=2))
    for n, url in enumerate(numbered(4), 2):
        frontier.know(n, url)
    frontier.take(read(1, "https://e.example/0", "https://e.example/new"))
    frontier.rejoin()
    assert frontier.members == {1: [1], 2: [2]}
    assert frontier.chosen() == ["https://e.example/new"]
    frontier.join(9, "https://e.example/new", 2)
    frontier.descend()
    frontier.take(read(2, *numbered(4)))
    frontier.rejoin()
    assert len(frontier.members[3]) == 2  # of three, as many as a level holds


def test_no_host_gets_more_than_its_quota_over_all_levels() -> None:
    frontier = begun(Wish(per_level=100, most=5))
    frontier.take(read(1, *numbered(50), *numbered(3, "a.e.example")))
    chosen = frontier.chosen()
    assert len(chosen) == 4 + 3  # the first page is one of the five
    for n, url in enumerate(chosen, 2):
        frontier.join(n, url, 2)
    frontier.descend()
    frontier.take(read(2, *(f"https://e.example/more/{i}" for i in range(9)), *numbered(9, "a.e.example")))
    assert {url.split("/")[2] for url in frontier.chosen()} == {"a.e.example"}
    assert len(frontier.chosen()) == 2


def test_what_was_seen_on_a_level_is_not_found_again_deeper() -> None:
    frontier = begun(Wish(per_level=1))
    frontier.take(read(1, *numbered(5)))
    frontier.join(2, frontier.chosen()[0], 2)
    assert frontier.descend() == 5
    frontier.take(read(2, *numbered(6), SITE.root))
    assert frontier.chosen() == ["https://e.example/5"]
    assert frontier.links().tolist() == [[2, 1]]


def test_where_a_redirect_led_counts_as_found() -> None:
    frontier = begun(Wish())
    assert frontier.take(read(1, "https://e.example/welcome", "/x", url="https://e.example/welcome"))
    assert frontier.chosen() == []
    assert not frontier.take(read(1, "https://e.example/a", url="https://elsewhere.example/"))
    assert frontier.chosen() == []


def test_links_off_the_site_and_those_not_to_be_followed_are_left_alone() -> None:
    frontier = begun(Wish())
    links = (Outlink("https://e.example/a", nofollow=True), Outlink("https://other.example/b"))
    frontier.take(Read(1, SITE.root, "sha256:1", links))
    assert frontier.chosen() == []


def test_the_same_content_under_another_address_leads_nowhere_new() -> None:
    frontier = begun(Wish())
    frontier.take(read(1, "https://e.example/a/x", digest="sha256:same"))
    frontier.take(read(2, "https://e.example/b/x", digest="sha256:same"))
    assert frontier.chosen() == ["https://e.example/a/x"]


def test_of_the_last_level_only_the_links_between_what_is_known_are_kept() -> None:
    frontier = begun(Wish(depth=1))
    frontier.know(2, "https://e.example/a")
    frontier.take(read(1, "https://e.example/a", "https://e.example/b"))
    frontier.rejoin()
    assert frontier.chosen() == []
    assert frontier.links().tolist() == [[1, 2]]


def test_a_password_in_a_site_is_not_repeated() -> None:
    for word in ("https://ada:tower7@news.example/", "ada:tower7@news.example"):
        with pytest.raises(BadUrlError, match="user name or password") as told:
            Site.named(word)
        assert "tower7" not in str(told.value)
