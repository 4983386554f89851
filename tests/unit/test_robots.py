from __future__ import annotations

import time
import tracemalloc

import pytest

from recrawl.model import Failure
from recrawl.observe.robots import MAX_ROBOTS_BYTES, Rules, RulesCache, product, rules_from

AGENT = "recrawl"
HOUR_S = 3_600.0


def allowed(robots: str | bytes, path: str, status: int = 200) -> bool:
    body = robots.encode() if isinstance(robots, str) else robots
    return rules_from(status, body, AGENT).refusal(f"http://example.org{path}") is None


@pytest.mark.parametrize(
    ("robots", "path", "may"),
    [
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Recrawl\nDisallow: /x", "/a", True),
        ("User-agent: *\nDisallow:\n\nUser-agent: RECRAWL/1.0\nDisallow: /", "/a", False),
        ("User-agent: re\nDisallow: /", "/a", True),
        ("User-agent: recrawler\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: recrawl\nDisallow: /", "/a", False),
        ("User-agent: recrawl\nUser-agent: other\nDisallow: /", "/a", False),
        ("User-agent: recrawl\nDisallow: /x\nUser-agent: other\nDisallow: /", "/a", True),
        ("User-agent: other\nSitemap: http://x/\nUser-agent: recrawl\nDisallow: /", "/a", False),
        ("User-agent: recrawl\nDisallow: /x\n\nUser-agent: recrawl\nDisallow: /y", "/x", False),
        ("user agent recrawl\ndisallow /", "/a", False),
        ("# note\r\nUser-agent: * # all\r\nDisallow: /a # this\r\n", "/a", False),
        ("Disallow: /", "/a", True),
        ("<html>not robots</html>", "/a", True),
        ("\ufeffUser-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe", False),
    ],
)
def test_rules_are_matched_by_the_standard(robots: str, path: str, may: bool) -> None:
    assert allowed(robots, path) is may


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_where_there_is_no_robots_txt_all_is_allowed(status: int) -> None:
    assert allowed("User-agent: *\nDisallow: /", "/a", status)


@pytest.mark.parametrize("status", [302, 429, 500, 503, 599])
def test_where_robots_txt_cannot_be_had_nothing_is_allowed(status: int) -> None:
    refusal = rules_from(status, b"", AGENT).refusal("http://example.org/")
    assert refusal is not None
    assert refusal.reason == "robots"
    assert str(status) in refusal.detail


def test_a_refusal_names_what_is_refused() -> None:
    refusal = rules_from(200, b"User-agent: *\nDisallow: /", AGENT).refusal("http://example.org/a")
    assert refusal == Failure(reason="robots", detail="robots.txt disallows http://example.org/a")


def test_only_so_much_is_read_and_a_line_cut_in_two_is_not() -> None:
    head = b"User-agent: *\nDisallow: /a\n"
    long = head + b"#" * (MAX_ROBOTS_BYTES - len(head) - 18) + b"\nDisallow: /public\nDisallow: /b"
    assert long[MAX_ROBOTS_BYTES - 17 : MAX_ROBOTS_BYTES] == b"Disallow: /public"
    assert not allowed(long, "/a")
    assert allowed(long, "/public"), "it ends at the limit: perhaps it goes on"
    assert allowed(long, "/b")


@pytest.mark.parametrize(
    ("said", "delay_s"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("300", 300.0),
        ("0", 0.0),
        ("nan", 0.0),
        ("-3", 0.0),
        ("inf", 0.0),
        ("x", 0.0),
    ],
)
def test_the_crawl_delay_is_read_and_nonsense_ignored(said: str, delay_s: float) -> None:
    rules = rules_from(200, f"User-agent: *\nCrawl-delay: {said}".encode(), AGENT)
    assert (rules.delay_s, rules.failure) == (delay_s, None)


@pytest.mark.parametrize("said", ["301", "1e9", "99999999999999999999"])
def test_a_host_that_wants_a_huge_delay_is_not_visited(said: str) -> None:
    rules = rules_from(200, f"User-agent: *\nCrawl-delay: {said}".encode(), AGENT)
    assert rules.failure is not None
    assert rules.failure.reason == "crawl-delay"
    assert rules.delay_s == 0.0


def test_the_crawl_delay_of_others_is_not_ours() -> None:
    assert rules_from(200, b"User-agent: x\nCrawl-delay: 50", AGENT).delay_s == 0.0


def test_many_agents_times_many_rules_do_not_fill_the_memory() -> None:
    bait = "".join(f"User-agent: {i}\n" for i in range(12_000)) + "Allow: /a\n" * 20_000
    tracemalloc.start()
    try:
        began = time.process_time()
        assert allowed(bait, "/a")
        assert allowed(bait.replace("User-agent: 7\n", "User-agent: *\n"), "/a")
        assert time.process_time() - began < 20.0
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_our_name_is_the_first_word_of_the_user_agent() -> None:
    assert product("Recrawl/1.0 (+https://example.org)") == "recrawl"
    assert product("my-bot (contact)") == "my-bot"


GOOD = Rules(agent=AGENT, delay_s=1.0)
TIMEOUT = Failure(reason="timeout")


def test_rules_are_kept_for_a_day() -> None:
    cache = RulesCache()
    cache.keep("http://a", GOOD, 0.0)
    assert cache.find("http://a", 23.9 * HOUR_S) is GOOD
    assert cache.find("http://a", 24 * HOUR_S) is None
    assert cache.find("http://b", 0.0) is None


def test_an_unreachable_robots_txt_forbids_everything_and_is_asked_for_again_soon() -> None:
    cache = RulesCache()
    assert cache.unreachable("http://a", TIMEOUT, 0.0).refusal("http://a/") == TIMEOUT
    assert cache.find("http://a", 59.0) is not None
    assert cache.find("http://a", 60.0) is None
    cache.keep("http://b", rules_from(503, b"", AGENT), 0.0)
    assert cache.find("http://b", 599.0) is not None
    assert cache.find("http://b", 600.0) is None


def test_a_good_copy_stands_in_while_robots_txt_is_unreachable_but_not_for_ever() -> None:
    cache = RulesCache()
    cache.keep("http://a", GOOD, 0.0)
    assert cache.unreachable("http://a", TIMEOUT, 25 * HOUR_S) is GOOD
    assert cache.find("http://a", 25 * HOUR_S + 600.0) is None
    assert cache.unreachable("http://a", TIMEOUT, 31 * 24 * HOUR_S).failure == TIMEOUT


def test_a_server_that_answers_503_is_left_alone_whatever_it_said_before() -> None:
    cache = RulesCache()
    cache.keep("http://a", GOOD, 0.0)
    cache.keep("http://a", rules_from(503, b"", AGENT), 25 * HOUR_S)
    found = cache.find("http://a", 25 * HOUR_S)
    assert found is not None
    assert found.failure is not None


def test_the_cache_holds_only_so_much_and_forgets_the_longest_unused() -> None:
    cache = RulesCache()
    large = Rules(n_characters=4 << 20)
    for name in "abc":
        cache.keep(name, large, 0.0)
    assert cache.find("a", 1.0) is large
    cache.keep("d", large, 1.0)
    assert [cache.find(name, 2.0) is large for name in "abcd"] == [True, False, True, True]
