"""Notices on the web: added, tried and removed, with nothing of an address shown again."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lxml.html import fromstring
from tests.receivers import receiving
from tests.web.conftest import Served

from recrawl.app import notices
from recrawl.app.outbox import keep, kept_state
from recrawl.notify.box import Box, Message
from recrawl.notify.news import News, What
from recrawl.notify.recipient import Recipient

SECRET = "s3cret-p4th"


def read(html: str) -> Any:
    """A page as a tree; the stubs know too little of those."""
    return fromstring(html)


def test_a_notice_is_added_tried_and_removed(served: Served) -> None:
    with receiving() as receiver, served.client("") as browser:
        browser.post("/enter", data={"token": served.token})
        page = browser.get("/notices")
        assert "Nobody is told" in page.text
        word = re.findall(r'name="csrf" value="([^"]+)"', page.text)[0]
        form = {
            "csrf": word,
            "name": "me",
            "to": receiver.hook(f"/{SECRET}"),
            "which": "tag",
            "of": "news",
            "on": ["significant", "silent"],
            "quiet": "22:00-07:00",
            "zone": "Europe/Vienna",
        }
        assert browser.post("/notices", data=form).status_code == 303
        page = browser.get("/notices")
        assert "webhook to" in page.text
        assert "news: a significant change; it has been silent for longer than expected." in page.text
        assert SECRET not in page.text
        assert browser.post("/notices", data=form).status_code == 409  # there is one of that name
        with served.house() as house:
            near = Recipient(url=receiver.hook(f"/{SECRET}"), allow_private=True)
            notices.add(house, notices.asked("near"), near)
        assert "private addresses allowed" in browser.get("/notices").text
        assert browser.post("/notices/near/test", data={"csrf": word}).status_code == 303
        assert "A sample was sent" in browser.get("/notices").text
        assert len(receiver.got) == 1
        assert browser.post("/notices/nobody/test", data={"csrf": word}).status_code == 404
        assert browser.post("/notices/near/remove", data={"csrf": word}).status_code == 303
        assert browser.post("/notices/me/remove", data={"csrf": word}).status_code == 303
        assert "Nobody is told" in browser.get("/notices").text


def test_a_form_that_is_refused_comes_back_with_what_was_typed(served: Served) -> None:
    """All but the secrets, with what is wrong beside its field."""
    hook, key = f"https://hooks.example/{SECRET}", "k" * 32
    said = {
        "name": "two words",
        "to": hook,
        "which": "tag",
        "of": "news & more",
        "on": ["silent"],
        "match": "sold out",
        "side": "added",
        "quiet": "late",
        "zone": "Mars/Olympus",
        "secret": key,
    }
    with served.client() as client:
        answer = client.post("/notices", data=said)
        assert answer.status_code == 400
        page = read(answer.text)
        fields = {one.get("name"): one for one in page.findall(".//form[@action='/notices']//input")}
        for name in ("name", "of", "match", "quiet", "zone"):
            assert fields[name].get("value") == said[name], name
        assert [one.get("value") for one in page.findall(".//select/option[@selected]")] == ["tag", "added"]
        assert [one.get("value") for one in page.findall(".//input[@checked]")] == ["silent"]
        marked = [name for name, one in fields.items() if one.get("aria-invalid")]
        assert marked == ["name", "quiet", "zone"]
        for name in marked:
            place = fields[name].get("aria-describedby")
            (told,) = page.findall(f".//label/span[@id='{place}']")
            assert "write them as 22:00-07:00" in told.text_content() or name != "quiet"
        assert SECRET not in answer.text
        assert key not in answer.text
        assert "Nobody is told" in answer.text
        mended = {**said, "name": "me", "quiet": "22-7", "zone": "UTC"}
        for wrong, field, status in (
            ({"to": "nonsense"}, "to", 400),
            ({"secret": "short"}, "secret", 400),
            ({"of": ""}, "of", 400),
            ({"which": "moon"}, "which", 422),
            ({"match": "x" * 501}, "match", 422),
            ({"to": "nothingofthekind://x", "secret": ""}, "to", 409),
            ({"daily": "8", "every": "6h"}, "every", 409),
        ):
            answer = client.post("/notices", data={**mended, **wrong})
            assert (answer.status_code, f'id="wrong-{field}"' in answer.text) == (status, True), wrong
            assert SECRET not in answer.text
        assert client.post("/notices", data=mended).status_code == 303
        again = client.post("/notices", data=mended)
        assert (again.status_code, 'id="wrong-name"' in again.text) == (409, True)


def test_what_holds_a_message_is_said_and_until_when(served: Served) -> None:
    now = served.clock.now()
    with served.house() as house:
        cases: list[tuple[str, dict[str, Any], Box]] = [
            ("full", {"per_hour": 2}, Box(sent_at=(now - 3000.0, now - 1800.0))),
            ("asleep", {"quiet": "22:00-07:00"}, Box()),
            ("broken", {}, Box(n_failures=3, retry_at=now + 240.0, trouble="it answered 503")),
            ("well", {}, Box()),
        ]
        boxes = {}
        for name, said, box in cases:
            notices.add(house, notices.asked(name, **said), Recipient(url="https://hooks.example/x"))
            added = notices.notices(house).all()[name][0]
            news = tuple(News(what=What.CHANGE, key=f"{name}{n}", at=now) for n in range(27))
            message = Message(id="m", news=news[:1], made_at=now)
            waits: dict[str, Any] = {"waiting": news, "heard_at": now}
            if name == "broken":
                waits = {"sending": (message,)}
            boxes[name] = replace(box, added_at=added.added_at, **waits)
        keep(house.store, replace(kept_state(house.store), boxes=boxes))
    with served.client() as client:
        page = client.get("/notices").text
        rows = {row["name"]: row for row in client.get("/api/v1/notices").json()}
    shown = [" ".join(read(one).text_content().split()) for one in page.split("<tr data-row>")[1:]]
    assert "working 27 waiting: held by the limit of 2 messages an hour; sent in" in shown[0]
    assert "working 27 waiting: held by quiet hours; sent in" in shown[1]
    assert "it answered 503 1 waiting: the last try failed; the next is in" in shown[2]
    assert "working 27 waiting: sent once a run goes on" in shown[3]
    assert "Nobody is visiting, so nobody sends what waits" in page
    assert [rows[name]["held_by"] for name in boxes] == ["limit", "quiet", "failure", None]
    assert rows["asleep"]["held_until"] == "2027-01-01T07:00:00Z"
    assert rows["well"]["held_until"] is None


def test_a_program_adds_one_and_reads_no_address(served: Served) -> None:
    with served.client() as client:
        said = {"name": "hook", "to": f"https://hooks.example/{SECRET}", "on": ["gone"], "secret": "k" * 32}
        answer = client.post("/api/v1/notices", json=said)
        assert answer.status_code == 201, answer.text
        listed = client.get("/api/v1/notices")
        assert listed.json()[0]["name"] == "hook"
        assert listed.json()[0]["on"] == ["gone"]
        assert SECRET not in listed.text
        assert "k" * 32 not in listed.text
        for wrong, status in (
            ({"to": "nonsense"}, 400),
            ({"on": ["rain"]}, 422),
            ({"quiet": "late"}, 422),
            ({"tag": ""}, 422),
            ({"allow_private": True}, 422),
            ({"link": "https://face.example/{url:>999999999}"}, 422),
            ({"tag": "news", "host": "example.org"}, 409),
            ({"quiet": "8-8"}, 409),
            ({"zone": "Mars/Olympus"}, 409),
            ({"to": "nothingofthekind://x"}, 409),
            ({"name": "hook"}, 409),
        ):
            refused = client.post("/api/v1/notices", json={**said, "name": "other", **wrong})
            assert refused.status_code == status, (wrong, refused.text)
            assert SECRET not in refused.text
        assert client.get("/api/v1/messages").json() == []
        assert client.delete("/api/v1/notices/hook").status_code == 204
        assert client.delete("/api/v1/notices/hook").status_code == 404


def test_nobody_is_sent_to_private_addresses_from_here(served: Served) -> None:
    """Who holds a token need not be the one who runs the machine: only the command line can allow it."""
    with receiving() as receiver, served.client("") as browser:
        browser.post("/enter", data={"token": served.token})
        word = re.findall(r'name="csrf" value="([^"]+)"', browser.get("/notices").text)[0]
        form = {"csrf": word, "name": "me", "to": receiver.hook("/"), "allow_private": "true"}
        assert browser.post("/notices", data=form).status_code == 303
        assert browser.post("/notices/me/test", data={"csrf": word}).status_code == 303
        assert "did not arrive" in browser.get("/notices").text
        assert receiver.got == []
