"""Notices on the web: added, tried and removed, with nothing of an address shown again."""

from __future__ import annotations

import re

from tests.receivers import receiving
from tests.web.conftest import Served

from recrawl.app import notices
from recrawl.notify.recipient import Recipient

SECRET = "s3cret-p4th"


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
