"""Noise, validators, trouble, redirects, robots and slowness: as the script says."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection

import pytest
from defusedxml.ElementTree import fromstring
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from recrawl.livingweb import (
    Disguise,
    Document,
    Form,
    Host,
    LivingWeb,
    Noise,
    Query,
    Redirect,
    Robots,
    Script,
    Trouble,
    Validators,
    serving,
)
from recrawl.simulate.processes import Daily, Given

BORN_AT = 1_750_000_000.5
CHANGED_AT = BORN_AT + 100.0
ONCE = Given((CHANGED_AT,))
HOUR_S = 3_600.0


class HandClock:
    """Stands still until it is set, or until somebody sleeps on it."""

    speed = 1.0

    def __init__(self, at: float = BORN_AT) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def fetched(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    asked = URL(url)
    connection = HTTPConnection("127.0.0.1", asked.port or 0, timeout=10)
    sent = {"Host": f"{asked.host}:{asked.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, asked.raw_path_qs, headers=sent)
    response = connection.getresponse()
    try:
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def page_text(body: bytes) -> object:
    tree = LexborHTMLParser(body.decode())
    tree.strip_tags(["script", "style"])
    return tree.text(separator=" ", strip=True)


def xml_text(body: bytes) -> object:
    return [(e.tag, e.text) for e in fromstring(body).iter()]


def csv_rows(body: bytes) -> object:
    return list(csv.reader(io.StringIO(body.decode(), newline="")))


def triples(body: bytes) -> object:
    return [line for line in body.decode().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("form", "read"),
    [
        (Form.PAGE, page_text),
        (Form.THREAD, page_text),
        (Form.BOARD, page_text),
        (Form.JSON, json.loads),
        (Form.SPARQL, json.loads),
        (Form.CSV, csv_rows),
        (Form.TURTLE, triples),
        (Form.RSS, xml_text),
        (Form.ATOM, xml_text),
        (Form.SITEMAP, xml_text),
        (Form.OPML, xml_text),
    ],
)
def test_hidden_noise_alters_the_bytes_and_nothing_that_is_read(
    form: Form, read: Callable[[bytes], object]
) -> None:
    query = Query.ITEMS if form is Form.SPARQL else None
    noisy = Document(host="a.localhost", path="/x/", form=form, query=query, noise=Noise.HIDDEN)
    calm = Document(host="b.localhost", path="/x/", form=form, query=query)
    with serving(Script((noisy, calm)), clock=HandClock(), born_at=BORN_AT) as web:
        one, other = (fetched(web.url(noisy))[2] for _ in range(2))
        assert one != other
        assert read(one) == read(other)
        assert not {b"\x01", b"\x02"} & {bytes([byte]) for byte in one}
        assert fetched(web.url(calm))[2] == fetched(web.url(calm))[2]


@pytest.mark.parametrize(
    ("form", "read"),
    [(Form.PAGE, page_text), (Form.JSON, json.loads), (Form.RSS, xml_text), (Form.ATOM, xml_text)],
)
def test_visible_noise_is_read_and_yet_no_change(form: Form, read: Callable[[bytes], object]) -> None:
    noisy = Document(host="a.localhost", path="/", form=form, noise=Noise.VISIBLE)
    clock = HandClock()
    with serving(Script((noisy,)), clock=clock, born_at=BORN_AT) as web:
        one = fetched(web.url(noisy))[2]
        clock.at += 1.0
        other = fetched(web.url(noisy))[2]
        assert read(one) != read(other)
        assert web.version_at(web.url(noisy), clock.at) == 0


@pytest.mark.parametrize("form", [Form.PAGE, Form.JSON, Form.CSV, Form.TURTLE])
@pytest.mark.parametrize("noise", [noise for noise in Noise if noise.seen])
def test_every_kind_of_noise_is_seen_in_time(form: Form, noise: Noise) -> None:
    noisy = Document(host="a.localhost", path="/", form=form, noise=noise)
    clock = HandClock()
    with serving(Script((noisy,)), clock=clock, born_at=BORN_AT) as web:
        bodies = set()
        for _ in range(12):
            bodies.add(fetched(web.url(noisy))[2])
            clock.at += 4000.0
        assert len(bodies) == 2 if noise is Noise.FLAP else len(bodies) > 10
        assert web.version_at(web.url(noisy), clock.at) == 0


@pytest.mark.parametrize("disguise", list(Disguise))
def test_a_disguise_is_shown_with_200_and_is_no_change(disguise: Disguise) -> None:
    document = Document(host="a.localhost", path="/", troubles=(Trouble(disguise=disguise),))
    with serving(Script((document,)), clock=HandClock(), born_at=BORN_AT) as web:
        status, _, body = fetched(web.url(document))
        assert (status, b"<main>" in body) == (200, False)
        assert web.version_at(web.url(document), BORN_AT + 1e6) == 0


def conditional(validators: Validators, noise: Noise = Noise.NONE) -> list[int]:
    """Statuses of: the same request again with what was said before the change, before and after it."""
    document = Document(
        host="a.localhost", path="/", process=ONCE, validators=validators, noise=noise, form=Form.PAGE
    )
    clock = HandClock(at=CHANGED_AT - 10)
    with serving(Script((document,)), clock=clock, born_at=BORN_AT) as web:
        url = web.url(document)
        _, said, _ = fetched(url)
        held = {}
        if "ETag" in said:
            held["If_None_Match"] = said["ETag"]
        if "Last-Modified" in said:
            held["If_Modified_Since"] = said["Last-Modified"]
        statuses = [fetched(url, **held)[0]]
        clock.at = CHANGED_AT + 10
        statuses.append(fetched(url, **held)[0])
        assert [served.conditional for served in web.log] == [False, bool(held), bool(held)]
        return statuses


@pytest.mark.parametrize("honest", [Validators.BOTH, Validators.ETAG, Validators.DATE])
@pytest.mark.parametrize("noise", [Noise.NONE, Noise.HIDDEN])
def test_honest_validators_say_304_until_it_changed(honest: Validators, noise: Noise) -> None:
    assert conditional(honest, noise) == [304, 200]


def test_lying_validators_lie() -> None:
    assert conditional(Validators.STUCK) == [304, 304]
    assert conditional(Validators.FICKLE) == [200, 200]
    assert conditional(Validators.NONE) == [200, 200]


def test_an_honest_date_is_not_said_before_its_second_is_over() -> None:
    document = Document(host="a.localhost", path="/", process=ONCE, validators=Validators.DATE)
    clock = HandClock(at=CHANGED_AT + 0.2)
    with serving(Script((document,)), clock=clock, born_at=BORN_AT) as web:
        assert "Last-Modified" not in fetched(web.url(document))[1]
        clock.at = CHANGED_AT + 1.0
        said = fetched(web.url(document))[1]
        assert parsedate_to_datetime(said["Last-Modified"]).timestamp() == CHANGED_AT - 0.5
        assert parsedate_to_datetime(said["Date"]).timestamp() == int(clock.at)


def test_going_and_coming_back_are_changes_and_what_happens_meanwhile_is_not() -> None:
    gone = Trouble(status=410, starts=Given((BORN_AT + 50, BORN_AT + 120)), lasts_s=100.0)
    document = Document(host="a.localhost", path="/", process=ONCE, troubles=(gone,))
    clock = HandClock()
    with serving(Script((document,)), clock=clock, born_at=BORN_AT) as web:
        url = web.url(document)
        assert web.truth(BORN_AT, BORN_AT + 1000).changed_at[url].tolist() == [BORN_AT + 50, BORN_AT + 220]
        statuses = []
        for at in (49.9, 50.0, 100.0, 219.9, 220.0):
            clock.at = BORN_AT + at
            statuses.append(fetched(url)[0])
        assert statuses == [200, 410, 410, 410, 200]


def test_what_was_gone_from_the_beginning_is_gone_and_no_change() -> None:
    gone = Trouble(status=404)
    document = Document(host="a.localhost", path="/", process=ONCE, troubles=(gone,))
    clock = HandClock()
    with serving(Script((document,)), clock=clock, born_at=BORN_AT) as web:
        assert fetched(web.url(document))[0] == 404
        assert web.truth(BORN_AT, BORN_AT + 1000).changed_at[web.url(document)].tolist() == []


def test_what_is_said_of_times_is_in_the_time_of_its_visitors() -> None:
    """Its clock shows a day where theirs has gone on by a minute."""
    document = Document(host="a.localhost", path="/", process=ONCE, validators=Validators.DATE)
    feed = Document(host="a.localhost", path="/atom.xml", form=Form.ATOM, process=ONCE)
    clock = HandClock(at=CHANGED_AT + 7_200.0)

    def told_at(at: float) -> float:
        return BORN_AT + (at - BORN_AT) / 1_440.0

    with serving(Script((document, feed)), clock=clock, born_at=BORN_AT, told_at=told_at) as web:
        said = fetched(web.url(document))[1]
        dates = [parsedate_to_datetime(said[name]).timestamp() for name in ("Date", "Last-Modified")]
        assert dates == [int(told_at(clock.at)), int(told_at(CHANGED_AT))]
        assert fetched(web.url(document), If_Modified_Since=said["Last-Modified"])[0] == 304
        entry = fromstring(fetched(web.url(feed))[2]).find("{*}entry")
        assert entry is not None
        updated = datetime.fromisoformat(str(entry.findtext("{*}updated"))).timestamp()
        assert updated == pytest.approx(told_at(CHANGED_AT), abs=0.001)


def test_failures_are_no_changes() -> None:
    down = Trouble(status=503, starts=Daily(3.0), lasts_s=HOUR_S, retry_after_s=120.0)
    document = Document(host="a.localhost", path="/", process=ONCE)
    script = Script((document,), described=(Host(name="a.localhost", troubles=(down,)),))
    clock = HandClock()
    with serving(script, clock=clock, born_at=BORN_AT) as web:
        url = web.url(document)
        assert web.truth(BORN_AT, BORN_AT + 1e6).changed_at[url].tolist() == [CHANGED_AT]
        clock.at = BORN_AT // 86_400 * 86_400 + 86_400 + 3.5 * HOUR_S
        status, headers, _ = fetched(url)
        assert (status, headers["Retry-After"]) == (503, "120")
        assert fetched(f"http://a.localhost:{web.port}/robots.txt")[0] == 503
        clock.at += HOUR_S
        assert fetched(url)[0] == 200


def test_misbehaviour_on_command_ends_when_its_time_is_over_or_when_told() -> None:
    document = Document(host="a.localhost", path="/")
    clock = HandClock()
    with serving(Script((document,)), clock=clock, born_at=BORN_AT) as web:
        url, robots = web.url(document), f"http://a.localhost:{web.port}/robots.txt"
        clock.at = BORN_AT + 10
        web.misbehave(url, 404, for_s=5.0)
        web.misbehave(robots, 503, retry_after_s=7.0)
        assert fetched(url)[0] == 404
        assert fetched(robots)[:2][1]["Retry-After"] == "7"
        clock.at += 5.0
        web.behave(robots)
        assert fetched(url)[0] == fetched(robots)[0] == 200
        assert web.truth(BORN_AT, clock.at).changed_at[url].tolist() == [BORN_AT + 10, BORN_AT + 15]


def test_redirects_lead_on_over_hosts_and_their_truth_is_that_of_their_end() -> None:
    page = Document(host="a.localhost", path="/end", process=ONCE)
    middle = Redirect(host="b.localhost", path="/middle", to=page.place, status=302)
    start = Redirect(host="c.localhost", path="/start", to=middle.place, status=308)
    with serving(Script((page, middle, start)), clock=HandClock(), born_at=BORN_AT) as web:
        hops = []
        url = web.url(start)
        while (answer := fetched(url))[0] != 200:
            hops.append(answer[0])
            url = answer[1]["Location"]
        assert (hops, url) == ([308, 302], web.url(page))
        truth = web.truth(BORN_AT, BORN_AT + 1000)
        assert truth.changed_at[web.url(start)].tolist() == [CHANGED_AT]


def test_robots_say_what_the_host_asks_and_may_be_missing() -> None:
    strict = Host(name="a.localhost", robots=Robots(disallow=("/private/",), crawl_delay_s=2.5))
    script = Script(
        (
            Document(host="a.localhost", path="/sitemap.xml", form=Form.SITEMAP),
            Document(host="b.localhost", path="/"),
        ),
        described=(strict, Host(name="none.localhost", robots=None)),
    )
    with serving(script, clock=HandClock(), born_at=BORN_AT) as web:
        text = fetched(f"http://a.localhost:{web.port}/robots.txt")[2].decode()
        assert text.splitlines() == [
            "User-agent: *",
            "Disallow: /private/",
            "Crawl-delay: 2.5",
            f"Sitemap: {web.urls()[0]}",
        ]
        assert fetched(f"http://b.localhost:{web.port}/robots.txt")[2] == b"User-agent: *\nDisallow: \n"
        assert fetched(f"http://none.localhost:{web.port}/robots.txt")[0] == 404


def test_a_slow_host_and_a_slow_document_take_their_time_on_the_clock() -> None:
    slow = Document(host="a.localhost", path="/slow", slow_s=30.0)
    script = Script((slow,), described=(Host(name="a.localhost", slow_s=12.0),))
    with serving(script, clock=HandClock(), born_at=BORN_AT) as web:
        fetched(web.url(slow), User_Agent="tester/1")
        served = web.log[0]
        assert served.ended_at - served.started_at == 42.0
        assert (served.host, served.path, served.user_agent) == ("a.localhost", "/slow", "tester/1")


def test_a_head_has_no_body_and_other_methods_are_refused() -> None:
    document = Document(host="a.localhost", path="/")
    with serving(Script((document,)), clock=HandClock(), born_at=BORN_AT) as web:
        status, headers, body = fetched(web.url(document), "HEAD")
        assert (status, body) == (200, b"")
        assert int(headers["Content-Length"]) > 0
        assert fetched(web.url(document), "POST")[0] == 405


def test_a_web_that_keeps_no_log_keeps_none() -> None:
    async def visit() -> LivingWeb:
        script = Script((Document(host="a.localhost", path="/"),))
        async with LivingWeb(script, clock=HandClock(), keep_log=False) as web:
            assert (await asyncio.to_thread(fetched, web.urls()[0]))[0] == 200
        return web

    assert asyncio.run(visit()).log == []
