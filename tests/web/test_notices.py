"""Notices on the web: added, tried and removed, with nothing of an address shown again."""

from __future__ import annotations

import re

from tests.receivers import receiving
from tests.web.conftest import Served

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
            "allow_private": "true",
        }
        assert browser.post("/notices", data=form).status_code == 303
        page = browser.get("/notices")
        assert "webhook to" in page.text
        assert "private addresses allowed" in page.text
        assert SECRET not in page.text
        assert browser.post("/notices", data=form).status_code == 400  # there is one of that name
        assert browser.post("/notices/me/test", data={"csrf": word}).status_code == 303
        assert "A sample was sent" in browser.get("/notices").text
        assert len(receiver.got) == 1
        assert browser.post("/notices/nobody/test", data={"csrf": word}).status_code == 400
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
        for wrong in ({"to": "nonsense"}, {"on": ["rain"]}, {"quiet": "late"}, {"which": "tag", "of": ""}):
            refused = client.post("/api/v1/notices", json={**said, "name": "other", **wrong})
            assert refused.status_code == 400, wrong
            assert SECRET not in refused.text
        assert client.get("/api/v1/notices/log").json() == []
        assert client.delete("/api/v1/notices/hook").status_code == 204
        assert client.delete("/api/v1/notices/hook").status_code == 404
