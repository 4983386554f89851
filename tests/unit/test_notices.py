"""The file of notices, and telling where nothing can be kept."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.receivers import Receiver, receiving

from recrawl.app import notices
from recrawl.app.build import STORE_FILE, House, open_house
from recrawl.app.dispatch import LOCK_FILE, LOOK_S, Dispatch
from recrawl.app.notices import Notices
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.model import NewResource, Scope, ScopeKind
from recrawl.notify.recipient import Recipient

OLD, NEW = "http://a.example/old", "http://b.example/new"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "home") as opened:
        opened.store.add([NewResource(url=OLD, host="a.example")], opened.clock.now())
        yield opened


@pytest.fixture
def here() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def added(house: House, name: str, to: str = "https://hooks.example/x", **said: object) -> None:
    notice = notices.asked(name, **said)  # type: ignore[arg-type]  # as words
    notices.add(house, notice, Recipient(url=to, secret="0123456789abcdef", allow_private=True))


def test_everything_that_is_said_of_a_notice_is_kept(house: House) -> None:
    added(
        house,
        "all",
        choice=Choice(tag="shop"),
        on=["significant", "silent"],
        match=["sold out"],
        pattern="x+",
        side="added",
        quiet="22-7",
        every="6h",
        zone_name="Europe/Vienna",
        per_hour=3,
        link="https://face.example/{url}",
    )
    added(house, "daily", daily="8:30")
    first, second = notices.listed(house)
    assert (first["scope"], first["of"], first["on"]) == ("tag", "shop", ["significant", "silent"])
    assert (first["match"], first["pattern"], first["side"]) == (["sold out"], "x+", "added")
    assert (first["quiet"], first["every_s"], first["zone"]) == ("22:00-07:00", 21_600.0, "Europe/Vienna")
    assert (first["per_hour"], first["link"]) == (3, "https://face.example/{url}")
    assert (first["to"], first["signed"], first["allow_private"]) == ("webhook to hooks.example", True, True)
    assert (second["daily"], second["scope"], second["of"]) == ("08:30", "global", "")
    assert "0123456789abcdef" not in str(notices.listed(house))


def test_a_notice_goes_along_with_a_resource_that_moves(house: House) -> None:
    added(house, "one", choice=Choice(urls=(OLD,)))
    added(house, "all")
    running = Notices(house.home / notices.FILE_NAME)
    before = running.all()
    notices.notices(house).moved("http://a.example/other", NEW)
    assert running.all() is before  # nothing was written
    notices.notices(house).moved(OLD, NEW)
    scopes = {name: notice.scope for name, (notice, _) in running.all().items()}
    assert scopes == {"one": Scope(ScopeKind.RESOURCE, NEW), "all": before["all"][0].scope}


def test_without_apprise_webhooks_work_and_services_say_what_is_missing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    added(house, "hook")
    with pytest.raises(UnknownPartError, match=r"pip install 'recrawl\[notify\]'"):
        notices.add(house, notices.asked("chat"), Recipient(url="slack://a/b/c"))
    assert [row["name"] for row in notices.listed(house)] == ["hook"]


@pytest.mark.parametrize(
    "link", ["https://x/{url:>999999999}", "https://x/{url.__class__}", "https://x/{0}", "https://x/{", "x"]
)
def test_a_link_is_no_template(link: str) -> None:
    with pytest.raises(BadInputError, match="--link"):
        notices.asked("me", link=link)


def came(here: Receiver, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not here.got and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(here.got)


@pytest.mark.slow
def test_trouble_is_told_even_where_nothing_can_be_kept(house: House, here: Receiver) -> None:
    added(house, "ops", to=here.hook(), on=["trouble"])
    said: list[str] = []
    with closing(sqlite3.connect(house.home / STORE_FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # nobody else writes
        with Dispatch(house, said.append) as dispatch:
            dispatch.trouble("The archive cannot be written; see to the disk.")
            assert came(here, 60.0)
        other.execute("ROLLBACK")
    assert here.got[0].document["news"][0]["words"] == "The archive cannot be written; see to the disk."
    assert any("cannot be used" in text for text in said)


@pytest.mark.slow
def test_one_process_tells_at_a_time(house: House, here: Receiver) -> None:
    added(house, "ops", to=here.hook(), on=["trouble"])
    other = os.open(house.home / LOCK_FILE, os.O_CREAT | os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    with Dispatch(house, lambda _: None) as dispatch:
        dispatch.trouble("Something is wrong.")
        assert not came(here, 2.0 * LOOK_S)
        os.close(other)
        assert came(here, 60.0)
