"""Secrets: kept apart, private, and the nearest wins."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from recrawl.app.access import Parts, Secrets, nearest, parts
from recrawl.app.doors import checked
from recrawl.errors import BadSettingError
from recrawl.model import GLOBAL, Access, Resource, Scope, ScopeKind

CANARY = "canary-5d1f"
URL = "https://a.example/x"
OWN, HOST, TAG = Scope(ScopeKind.RESOURCE, URL), Scope(ScopeKind.HOST, "a.example"), Scope(ScopeKind.TAG, "t")


@pytest.fixture
def secrets(tmp_path: Path) -> Secrets:
    return Secrets(tmp_path / "home" / "secrets.json")


def resource(*tags: str, url: str = URL, host: str = "a.example") -> Resource:
    return Resource(id=1, url=url, host_id=1, host=host, added_at=0.0, tags=tags)


def file_of(secrets: Secrets) -> Path:
    return secrets._path


def test_the_file_is_born_private_whatever_the_umask(secrets: Secrets) -> None:
    before = os.umask(0)
    try:
        secrets.say([OWN], Access(bearer=CANARY))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file_of(secrets).stat().st_mode) == 0o600
    assert [item.name for item in file_of(secrets).parent.iterdir()] == ["secrets.json"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_that_others_may_read_is_refused_with_the_remedy(secrets: Secrets, mode: int) -> None:
    secrets.say([OWN], Access(bearer=CANARY))
    assert secrets.access_for(resource()) is not None
    file_of(secrets).chmod(mode)
    asks: list[Callable[[], object]] = [
        lambda: secrets.access_for(resource()),
        lambda: secrets.say([HOST], Access(bearer="y")),
    ]
    for ask in asks:
        with pytest.raises(BadSettingError, match=r"others may read it; run `chmod 600 .*secrets\.json`"):
            ask()


def test_what_was_kept_is_found_by_another_process(secrets: Secrets) -> None:
    everything = Access(
        headers=(("X-Key", CANARY), ("X-Other", "two words")),
        cookies=(("session", "a=b"),),
        basic=("ada", "pässword: with colon"),
        proxy="http://ada:secret@proxy.example:3128",
    )
    secrets.say([OWN], everything)
    assert Secrets(file_of(secrets)).access_for(resource()) == everything
    assert Secrets(file_of(secrets)).access_for(resource(url="https://a.example/y")) is None


def test_no_file_means_no_secrets(secrets: Secrets) -> None:
    assert secrets.access_for(resource()) is None
    assert secrets.forget([OWN]) == 0
    assert not file_of(secrets).exists()


def test_a_change_by_another_process_is_noticed(secrets: Secrets) -> None:
    other = Secrets(file_of(secrets))
    assert secrets.access_for(resource()) is None
    for token in ("one", "two"):
        other.say([OWN], Access(bearer=token))
        assert secrets.access_for(resource()) == Access(bearer=token)
    other.forget([OWN])
    assert secrets.access_for(resource()) is None


def test_the_nearest_wins_part_by_part(secrets: Secrets) -> None:
    secrets.say([GLOBAL], Access(headers=(("x-key", "wide"), ("X-Wide", "w")), proxy="http://p.example:1"))
    secrets.say([HOST], Access(headers=(("X-Key", "host"),), cookies=(("c", "host"), ("C", "other"))))
    secrets.say([TAG], Access(cookies=(("c", "tag"),)))
    secrets.say([Scope(ScopeKind.TAG, "s")], Access(cookies=(("c", "first-tag"),)))
    assert secrets.access_for(resource("t", "s")) == Access(
        headers=(("X-Key", "host"), ("X-Wide", "w")),
        cookies=(("c", "first-tag"), ("C", "other")),
        proxy="http://p.example:1",
    )
    assert secrets.access_for(resource(host="b.example", url="https://b.example/")) == Access(
        headers=(("x-key", "wide"), ("X-Wide", "w")), proxy="http://p.example:1"
    )
    assert secrets.access_at("https://A.example:443/else") == secrets.access_for(
        resource(url="https://a.example/e")
    )


@pytest.mark.parametrize(
    ("near", "wide"),
    [
        (Access(basic=("ada", "x")), Access(bearer="y")),
        (Access(bearer="y"), Access(headers=(("authorization", "Token z"),))),
        (Access(headers=(("Authorization", "Token z"),)), Access(basic=("ada", "x"))),
    ],
)
def test_a_request_carries_one_login(near: Access, wide: Access, secrets: Secrets) -> None:
    assert nearest([near, wide]) == near
    secrets.say([OWN], wide)
    secrets.say([OWN], near)  # a new login takes the place of the old one
    assert secrets.layers()[OWN] == near


def test_parts_are_forgotten_by_name_and_the_rest_stays(secrets: Secrets) -> None:
    secrets.say([OWN, HOST], Access(headers=(("X-Key", "1"), ("X-Two", "2")), bearer="b"))
    assert secrets.forget([OWN], Parts(headers=("x-key",), proxy=True)) == 1
    assert secrets.layers()[OWN] == Access(headers=(("X-Two", "2"),), bearer="b")
    assert secrets.forget([OWN], Parts(cookies=("none",))) == 0
    assert secrets.forget([HOST]) == 1
    assert list(secrets.layers()) == [OWN]


def test_what_is_shown_of_an_access_has_no_value_in_it() -> None:
    access = Access(
        headers=(("X-Key", CANARY),),
        cookies=(("session", CANARY),),
        basic=(CANARY, CANARY),
        bearer=CANARY,
        proxy=f"http://{CANARY}@p.example:1",
    )
    assert CANARY not in repr(access)
    assert CANARY not in repr(parts(access))
    assert parts(access) == Parts(
        headers=("X-Key",), cookies=("session",), basic=True, bearer=True, proxy=True
    )


@pytest.mark.parametrize(
    "access",
    [
        Access(headers=(("X-Key", f"{CANARY}\r\nX-Evil: 1"),)),
        Access(headers=(("X-Key", f"{CANARY}\nEvil"),)),
        Access(headers=(("X-Key", f"{CANARY}\0"),)),
        Access(headers=(("X-Key", f"{CANARY} ü"),)),
        Access(headers=(("X-Key", ""),)),
        Access(headers=(("X Key", CANARY),)),
        Access(headers=(("X-Key:", CANARY),)),
        Access(headers=(("", CANARY),)),
        Access(headers=(("Cookie", CANARY),)),
        Access(headers=(("host", CANARY),)),
        Access(headers=(("Content-Length", CANARY),)),
        Access(headers=(("Transfer-Encoding", CANARY),)),
        Access(headers=(("User-Agent", CANARY),)),
        Access(headers=(("Proxy-Authorization", CANARY),)),
        Access(cookies=(("session", f"{CANARY}; other=1"),)),
        Access(cookies=(("session", f"{CANARY}\r\nX: 1"),)),
        Access(cookies=(("ses=sion", CANARY),)),
        Access(basic=("a:b", CANARY)),
        Access(basic=("", CANARY)),
        Access(basic=("ada", f"{CANARY}\n")),
        Access(bearer=f"{CANARY} two"),
        Access(bearer=f"{CANARY}\r\n"),
        Access(bearer=""),
        Access(proxy=f"socks5://{CANARY}@p.example:1"),
        Access(proxy=f"http://{CANARY}@p.example:1/path"),
        Access(proxy=f"http://{CANARY}@p.example:99999"),
        Access(proxy=f"http://{CANARY}@:1"),
        Access(proxy=f"{CANARY}"),
        Access(basic=("ada", CANARY), bearer=CANARY),
        Access(basic=("ada", CANARY), headers=(("Authorization", CANARY),)),
    ],
)
def test_what_cannot_be_sent_is_refused_without_being_told(access: Access, secrets: Secrets) -> None:
    with pytest.raises(BadSettingError) as refusal:
        secrets.say([OWN], access)
    assert CANARY not in str(refusal.value)
    assert not file_of(secrets).exists()


def test_ordinary_secrets_are_accepted() -> None:
    for access in (
        Access(headers=(("Authorization", "Token abc"), ("X-Api-Key", 'a "b" c;d,e'))),
        Access(cookies=(("PHPSESSID", "0a1b=="), ("empty", ""))),
        Access(basic=("ada@example.org", "")),
        Access(bearer="eyJhbGciOi.J9-_~+/=="),
        Access(proxy="http://proxy.example:3128"),
    ):
        assert checked(access) is access


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        f'{{"format": 1, "scopes": [{{"scope": "host", "name": "h", "bearer": "{CANARY}"',
        f'{{"format": 1, "scopes": [{{"scope": "planet", "name": "h", "bearer": "{CANARY}"}}]}}',
        f'{{"format": 1, "scopes": [{{"scope": "host", "name": "h", "later": "{CANARY}"}}]}}',
        f'{{"format": 1, "scopes": [{{"scope": "host", "name": "h", "headers": [["{CANARY}"]]}}]}}',
        f'{{"format": 1, "scopes": [{{"scope": "host", "name": "h", "bearer": "{CANARY}\\r\\n"}}]}}',
        f'{{"format": 2, "scopes": ["{CANARY}"]}}',
    ],
)
def test_a_file_that_is_not_as_it_was_written_is_refused_and_left_alone(secrets: Secrets, text: str) -> None:
    secrets.say([OWN], Access(bearer="x"))
    file_of(secrets).write_text(text)
    asks: list[Callable[[], object]] = [secrets.layers, lambda: secrets.say([HOST], Access(bearer="y"))]
    for ask in asks:
        with pytest.raises(BadSettingError) as refusal:
            ask()
        assert CANARY not in str(refusal.value)
        assert refusal.value.__cause__ is None
    assert file_of(secrets).read_text() == text


def test_many_at_once_lose_nothing(secrets: Secrets) -> None:
    def say(n: int) -> None:
        Secrets(file_of(secrets)).say([Scope(ScopeKind.HOST, f"h{n}.example")], Access(bearer=f"t{n}"))

    threads = [threading.Thread(target=say, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(secrets.layers()) == 24


def test_a_write_that_fails_leaves_the_old_file(secrets: Secrets, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets.say([OWN], Access(bearer="old"))
    before = file_of(secrets).read_bytes()

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BadSettingError, match="No space left on device"):
            secrets.say([OWN], Access(bearer="new"))
    assert file_of(secrets).read_bytes() == before
    assert [item.name for item in file_of(secrets).parent.iterdir()] == ["secrets.json"]
    file_of(secrets).with_name("secrets.json.new").write_text("what a crash left")
    secrets.say([OWN], Access(bearer="new"))
    assert json.loads(file_of(secrets).read_text())["scopes"][0]["bearer"] == "new"


@pytest.mark.parametrize(
    ("before", "after", "goes_along"),
    [
        ("https://a.example/x", "https://a.example/y", True),
        ("http://a.example/x", "https://a.example/x", True),
        ("https://a.example/x", "http://a.example/x", False),
        ("https://a.example/x", "https://b.example/x", False),
        ("https://a.example/x", "https://www.a.example/x", False),
        ("https://a.example/x", "https://a.example:8443/x", False),
    ],
)
def test_secrets_follow_a_move_only_where_the_same_host_keeps_them_as_safe(
    secrets: Secrets, before: str, after: str, goes_along: bool
) -> None:
    own, there = Scope(ScopeKind.RESOURCE, before), Scope(ScopeKind.RESOURCE, after)
    secrets.say([own, TAG], Access(bearer=CANARY))
    assert secrets.moved(before, after) is goes_along
    assert set(secrets.layers()) == ({TAG, there} if goes_along else {TAG})
    assert secrets.moved("https://c.example/none", "https://d.example/") is True
