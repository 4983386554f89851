"""Every header of RFC 7089, from a real server to a real client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tests.houses import DAY_AT, HTML, Past, seen
from tests.replay.serving import Client, replaying

from recrawl.model import DAY_S, Outcome

URL = "http://news.example/a?b=1&c=2"
MISSING = "http://news.example/never"
FIRST, SECOND, GONE = DAY_AT, DAY_AT + 1.25 * DAY_S, DAY_AT + 2 * DAY_S
STAMPS = ("20260101120000", "20260102180000", "20260103120000")
DATES = (
    "Thu, 01 Jan 2026 12:00:00 GMT",
    "Fri, 02 Jan 2026 18:00:00 GMT",
    "Sat, 03 Jan 2026 12:00:00 GMT",
)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    home = tmp_path_factory.mktemp("home")
    with Past(home) as written:
        extra = (HTML, ("ETag", '"7"'), ("Via", "one"), ("Via", "two"), ("Set-Cookie", "session=secret"))
        written.visits(
            [
                seen(URL, FIRST + 0.4, b"<p>one<a href=/b>", *extra),
                seen(URL, FIRST + 0.5 * DAY_S, b"<p>one<a href=/b>", *extra),  # a revisit, no version
                seen(URL, SECOND, b"<p>two"),
                seen(URL, GONE, b"<p>nothing here", status=410, http_reason="Gone", outcome=Outcome.GONE),
                seen(
                    "http://data.example/x.bin",
                    FIRST,
                    b"\0\1" * 2_000_000,
                    ("Content-Type", "application/x-y"),
                ),
            ]
        )
        written.store.add([], DAY_AT)
    with replaying(home) as client:
        yield client


def links(header: str) -> dict[str, tuple[str, str]]:
    """Targets and datetimes by relation."""
    found = re.findall(r'<([^>]*)>; ?rel="([^"]*)"((?:; ?\w+="[^"]*")*)', header)
    return {rel: (url, "".join(re.findall(r'datetime="([^"]*)"', rest))) for url, rel, rest in found}


def memento(client: Client, n: int) -> tuple[str, str]:
    return f"{client.origin}/memento/{STAMPS[n]}/{URL}", DATES[n]


@pytest.mark.parametrize(
    ("said", "n"),
    [
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),  # before the first
        (DATES[0], 0),
        ("Fri, 02 Jan 2026 17:59:59 GMT", 0),  # nearer to the second, which was not in force yet
        (DATES[1], 1),
        ("Sat, 03 Jan 2026 00:00:00 GMT", 1),
        ("Mon, 01 Jan 2035 00:00:00 GMT", 2),  # after the last
        (None, 2),
    ],
)
def test_the_timegate_leads_to_what_was_in_force(past: Client, said: str | None, n: int) -> None:
    answer = past(f"/timegate/{URL}", **({"Accept_Datetime": said} if said else {}))
    assert answer.status == 302
    assert answer["Location"] == memento(past, n)[0]
    assert answer["Vary"] == "accept-datetime"
    assert not answer.has("Memento-Datetime")
    named = links(answer["Link"])
    assert named["original"][0] == URL
    assert named["timemap"][0] == f"{past.origin}/timemap/link/{URL}"
    assert "timegate" not in named


@pytest.mark.parametrize(
    "said",
    [
        "yesterday",
        "2026-01-01",
        "Thu, 32 Jan 2026 12:00:00 GMT",
        "",
        "Thu, 01 Foo 2026 12:00:00 GMT",
        "Thu, 01 Jan 2026 12:00:00 CET",
    ],
)
def test_a_malformed_datetime_is_refused(past: Client, said: str) -> None:
    answer = past(f"/timegate/{URL}", Accept_Datetime=said)
    assert (answer.status, answer["Vary"]) == (400, "accept-datetime")
    assert not answer.has("Location")


def test_a_memento_says_when_it_was_and_what_is_around_it(past: Client) -> None:
    answer = past(memento(past, 1)[0])
    assert (answer.status, answer["Memento-Datetime"]) == (200, DATES[1])
    assert b"<p>two" in answer.body
    assert not answer.has("Vary")
    named = links(answer["Link"])
    assert named["original"] == (URL, "")
    assert named["timegate"] == (f"{past.origin}/timegate/{URL}", "")
    assert named["timemap"] == (f"{past.origin}/timemap/link/{URL}", "")
    assert 'type="application/link-format"' in answer["Link"]
    assert named["first prev memento"] == memento(past, 0)
    assert named["memento"] == memento(past, 1)
    assert named["next last memento"] == memento(past, 2)


def test_the_first_memento_has_none_before_it(past: Client) -> None:
    named = links(past(memento(past, 0)[0])["Link"])
    assert [rel for rel in named if "memento" in rel] == ["first memento", "next memento", "last memento"]


def test_the_original_s_headers_come_under_other_names_and_its_cookies_not_at_all(past: Client) -> None:
    answer = past(memento(past, 0)[0])
    assert answer["X-Archive-Orig-Etag"] == '"7"'
    assert answer["X-Archive-Orig-Via"] == "one, two"
    assert answer["X-Archive-Orig-Content-Type"] == HTML[1]
    assert not [name for name, value in answer.headers if "cookie" in name.lower() or "secret" in value]
    assert not answer.has("ETag")


def test_a_tombstone_is_a_memento_that_says_it_was_gone(past: Client) -> None:
    answer = past(memento(past, 2)[0])
    assert (answer.status, answer["Memento-Datetime"]) == (410, DATES[2])
    assert b"nothing here" in answer.body
    assert links(answer["Link"])["last memento"] == memento(past, 2)


def test_a_moment_that_is_no_memento_s_leads_to_the_one_in_force(past: Client) -> None:
    for said, n in (("20260102000000", 0), ("2026", 2), ("20260102", 1), ("1999", 0)):
        answer = past(f"/memento/{said}/{URL}")
        assert (answer.status, answer["Location"]) == (302, memento(past, n)[0]), said
    assert past(f"/memento/2026id_/{URL}")["Location"] == f"{past.origin}/memento/{STAMPS[2]}id_/{URL}"
    for said in ("20261301", "20260230000000", "20260"):
        assert past(f"/memento/{said}/{URL}").status == 400, said


def test_raw_bytes_are_those_that_came_and_are_never_shown(past: Client) -> None:
    answer = past(f"/memento/{STAMPS[0]}id_/{URL}")
    assert answer.body == b"<p>one<a href=/b>"
    assert (answer["Content-Type"], answer["Content-Disposition"]) == (HTML[1], "attachment")
    assert answer["Memento-Datetime"] == DATES[0]


def test_links_lead_to_the_same_moment(past: Client) -> None:
    body = past(memento(past, 0)[0]).body.decode()
    assert f'href="/memento/{STAMPS[0]}/http://news.example/b"' in body


def test_a_large_body_comes_whole(past: Client) -> None:
    answer = past(f"/memento/{STAMPS[0]}/http://data.example/x.bin")
    assert answer.body == b"\0\1" * 2_000_000
    assert answer["Content-Disposition"] == "attachment"


def test_the_timemap_lists_all_in_link_format(past: Client) -> None:
    answer = past(f"/timemap/link/{URL}")
    assert (answer.status, answer["Content-Type"]) == (200, "application/link-format")
    named = links(answer.body.decode())
    assert named["original"][0] == URL
    assert named["timegate"][0] == f"{past.origin}/timegate/{URL}"
    assert named["self"][0] == f"{past.origin}/timemap/link/{URL}"
    assert f'from="{DATES[0]}"; until="{DATES[2]}"' in answer.body.decode()
    assert named["first memento"] == memento(past, 0)
    assert named["memento"] == memento(past, 1)
    assert named["last memento"] == memento(past, 2)


def test_the_timemap_lists_all_in_json(past: Client) -> None:
    answer = past(f"/timemap/json/{URL}")
    document = json.loads(answer.body)
    assert answer["Content-Type"] == "application/json"
    assert document["original_uri"] == URL
    assert document["timegate_uri"] == f"{past.origin}/timegate/{URL}"
    rows = document["mementos"]["list"]
    assert [row["uri"] for row in rows] == [[memento(past, n)[0]] for n in range(3)]
    assert rows[1]["datetime"] == "2026-01-02T18:00:00Z"
    assert (document["mementos"]["first"], document["mementos"]["last"]) == (rows[0], rows[2])


def test_head_says_what_get_says(past: Client) -> None:
    for path in (memento(past, 0)[0], f"/timegate/{URL}", f"/timemap/link/{URL}", "/"):
        got, headed = past(path), past(path, method="HEAD")
        assert (headed.status, headed.body) == (got.status, b"")
        assert [pair for pair in headed.headers if pair[0] != "Date"] == [
            pair for pair in got.headers if pair[0] != "Date"
        ]


def test_an_unknown_url_says_what_is_known(past: Client) -> None:
    for path in (f"/timegate/{MISSING}", f"/timemap/link/{MISSING}", f"/memento/{STAMPS[0]}/{MISSING}"):
        answer = past(path)
        assert answer.status == 404
        assert b"news.example/a?b=1&amp;c=2" in answer.body
        assert not answer.has("Memento-Datetime")
    assert b"not archived here" in past("/timegate/http://nowhere.example/").body


def test_the_index_lists_what_there_is_and_finds_some_of_it(past: Client) -> None:
    every, some = past("/").body, past("/?text=data.").body
    assert b"news.example" in every
    assert b"data.example" in every
    assert b"news.example" not in some
    assert b"data.example" in some
    html = past(f"/timemap/html/{URL}").body.decode()
    assert [stamp in html for stamp in STAMPS] == [True] * 3


def test_a_url_may_be_escaped_or_lack_what_proxies_eat(past: Client) -> None:
    plain = past(f"/timegate/{URL}")["Location"]
    for spelled in (
        "http%3A%2F%2Fnews.example%2Fa%3Fb%3D1%26c%3D2",
        "http:/news.example/a?b=1&c=2",
        "NEWS.example:80/a?b=1&c=2",
    ):
        assert past(f"/timegate/{spelled}")["Location"] == plain
