"""One spelling for every URL, and no second reading of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import BadUrlError
from recrawl.urls import canonical, directory_level, host_key, joined


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("HTTP://Example.ORG:80/a/../b#top", "http://example.org/b"),
        ("https://example.org:443", "https://example.org/"),
        ("http://example.org./x", "http://example.org/x"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://example.org:8080/?q=1&r=2", "http://example.org:8080/?q=1&r=2"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("  http://example.org/%7euser ", "http://example.org/~user"),
    ],
)
def test_a_url_has_one_spelling(given_: str, kept: str) -> None:
    assert canonical(given_) == kept
    assert canonical(kept) == kept


@pytest.mark.parametrize(
    "bad",
    [
        "", "example.org", "/path", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)",
        "http://", "http:///x", "http://.", "http://a b/", "http://a\\@b/", "http://a\tb/", "http://a/\x00",
        "http://user:secret@example.org/", "http://user@example.org/", "http://[::1/", "http://a:99999/",
        "http://a:port/", "http://example.org/" + "x" * 5000,
    ],
)  # fmt: skip
def test_what_cannot_be_visited_is_refused_with_a_remedy(bad: str) -> None:
    with pytest.raises(BadUrlError) as caught:
        canonical(bad)
    assert len(str(caught.value)) > 30
    assert "secret" not in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    for candidate in (text, "http://" + text, "http://example.org/" + text):
        try:
            kept = canonical(candidate)
        except BadUrlError:
            continue
        assert canonical(kept) == kept
        assert host_key(kept) == host_key(candidate)


def test_one_host_has_one_key_however_it_is_written() -> None:
    same = ["http://EXAMPLE.org/", "https://example.org/x", "http://example.org./", "http://example.org:80/"]
    assert {host_key(url) for url in same} == {"example.org"}
    assert host_key("http://example.org:8080/") == "example.org:8080"
    assert host_key("http://[::1]:99/") == "[::1]:99"


def test_references_are_resolved_as_browsers_do() -> None:
    assert joined("http://a.example/x/y?q", "../z") == "http://a.example/z"
    assert joined("http://a.example/x", "//b.example/y") == "http://b.example/y"
    with pytest.raises(BadUrlError):
        joined("http://a.example/", "javascript:alert(1)")


def test_the_directory_level_is_the_papers() -> None:
    assert directory_level("http://host/") == 1
    assert directory_level("http://host/mail/") == 2
    assert directory_level("http://host/mail/page.html") == 2
