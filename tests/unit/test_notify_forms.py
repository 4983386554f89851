"""Messages in every form: what they say, and that hostile pages can say nothing through them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown import markdown  # type: ignore[import-untyped]

from recrawl.errors import BadInputError, BadSettingError, ConflictError
from recrawl.notify.forms import Form, body, document
from recrawl.notify.letter import MOST_CHARS, Item, Letter, subject
from recrawl.notify.matching import Match, Side, checked, matched
from recrawl.notify.news import News, What
from recrawl.notify.recipient import Recipient
from recrawl.notify.recipient import checked as checked_recipient
from recrawl.notify.safety import line
from recrawl.notify.signing import signed

NOW = 1_780_000_000.0
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</pre></p><iframe src=//evil.example>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/track.png)",
    "<https://evil.example/>",
    "**bold** _it_ `code` ~~gone~~",
    "```\n[out](https://evil.example)\n```",
    "in ``` the ```` middle `````` ends",
    "@everyone @here <!channel> <@U123>",
    "a\r\nBcc: victim@evil.example\r\n\r\nbody",
    "\x1b[2J\x07\x00\x9b31m",
    "\u202egnp.exe\u2066\u2069",
    "# heading\n- list\n> quote\n1. one",
    "{{7*7}} ${x} %s {url} {0.__class__}",
    "&lt;script&gt; &amp;",
    "a\ud800 \ufeffb",
]


def letter(text: str = "", **more: object) -> Letter:
    news = News(
        what=What.CHANGE,
        key="k",
        at=NOW,
        url="https://a.example/x?a=1&b=2",
        host="a.example",
        since_at=NOW - 3_600.0,
        significant=True,
    )
    item = Item(
        news=news,
        title=text or "The shop",
        words=text or "2 words added",
        lines=(f"+{text or 'Sold out'}", f"-{text or 'In stock'}"),
        n_lines=7,
        version=4,
        before=3,
        link="https://face.example/r?u=1",
    )
    return Letter(id="i1", notice="me", made_at=NOW, items=(item,), **more)  # type: ignore[arg-type]


class Seen(HTMLParser):
    """What a reader of HTML would make of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(html: str) -> Seen:
    reader = Seen()
    reader.feed(html)
    reader.close()
    return reader


def test_a_message_says_what_changed_where_and_when() -> None:
    text = body(letter(), Form.TEXT)
    assert text.splitlines() == [
        "Changed: The shop",
        "https://a.example/x?a=1&b=2",
        "https://face.example/r?u=1",
        "2 words added",
        "Significant.",
        "Seen 2026-05-28 20:26 UTC (the look before: 2026-05-28 19:26 UTC).",
        "Kept as version 4, after version 3; `recrawl diff` shows all of it.",
        "+Sold out",
        "-In stock",
        "… and 5 more lines came or went.",
    ]
    for form in (Form.MARKDOWN, Form.HTML):
        for words in ("Changed: The shop", "2 words added", "Kept as version 4", "+Sold out", "5 more lines"):
            assert words in body(letter(), form)
    assert '<a href="https://a.example/x?a=1&amp;b=2">' in body(letter(), Form.HTML)
    document_ = document(letter())
    assert (document_["subject"], document_["text"]) == ("Changed: The shop", text)
    (row,) = document_["news"]
    assert (row["added"], row["removed"], row["version"], row["before"]) == (["Sold out"], ["In stock"], 4, 3)


def test_silence_is_told_with_its_probability() -> None:
    news = News(
        what=What.SILENT, key="k", at=NOW, url="https://a.example/", since_at=NOW - 9 * 86_400.0, p=0.004
    )
    text = body(Letter(id="i", notice="n", made_at=NOW, items=(Item(news=news),)), Form.TEXT)
    assert "No change for 9.0 days; so long a silence had a probability of 0.4 %." in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_a_page_says_becomes_markup(hostile: str) -> None:
    plain = seen(body(letter(), Form.HTML))
    html = seen(body(letter(hostile), Form.HTML))
    assert html.tags == plain.tags
    assert html.attributes == plain.attributes
    # what readers of Markdown make of it: the same tags, whatever the page says
    expected = seen(markdown(body(letter(), Form.MARKDOWN), extensions=["fenced_code"]))
    made = seen(markdown(body(letter(hostile), Form.MARKDOWN), extensions=["fenced_code"]))
    assert made.tags == expected.tags
    assert made.attributes == expected.attributes
    assert body(letter(hostile), Form.MARKDOWN).count("```") == 2  # in chats they end a block anywhere
    for form in Form:
        whole = body(letter(hostile), form)
        controls = set(whole) - {"\n"}
        assert all(sign.isprintable() or sign == "\u2060" for sign in controls), form
        assert not any(f"@{name}" in whole for name in ("everyone", "here")), form
        whole.encode()  # no half characters
        assert len(whole.splitlines()) == len(body(letter(), form).splitlines()), form
    assert "\n" not in subject(letter(hostile))
    json.dumps(document(letter(hostile)))


def test_a_message_has_an_end() -> None:
    endless = letter("long " * 100_000)
    for form in Form:
        assert len(body(endless, form)) < 20 * MOST_CHARS
    assert len(subject(endless)) <= MOST_CHARS
    many = Letter(id="i", notice="n", made_at=NOW, items=letter().items * 3, n_more=4_000)
    assert subject(many) == "4,003 changes on a.example"
    assert "4,000 more" in body(many, Form.TEXT)


def test_cleaning_takes_no_longer_for_hostile_lines() -> None:
    for bait in ("@" * 200_000, " \x00" * 100_000, "\\" * 200_000, "`" * 200_000, "<" * 200_000):
        began = time.perf_counter()
        line(bait, 300)
        body(letter(bait), Form.MARKDOWN)
        assert time.perf_counter() - began < 2.0


def test_words_and_patterns_are_looked_for_where_they_are_wanted() -> None:
    added, removed = ["Now  SOLD out"], ["In stock: 12"]
    assert matched(Match(words=("sold OUT",)), added, removed)
    assert not matched(Match(words=("sold out",), side=Side.REMOVED), added, removed)
    assert matched(Match(words=("nothing", "in stock"), side=Side.REMOVED), added, removed)
    assert matched(Match(pattern=r"stock: \d+"), added, removed)
    assert not matched(Match(pattern=r"stock: \d+", side=Side.ADDED), added, removed)
    assert not matched(Match(pattern="^out"), added, removed)
    for wrong in (Match(pattern="("), Match(pattern="a" * 501), Match(words=(" ",))):
        with pytest.raises(BadInputError, match=r"mend|shorter|write"):
            checked(wrong)


def test_whoever_has_the_secret_can_check_a_signature() -> None:
    key = b"0123456789abcdef"
    secret = f"whsec_{b64encode(key).decode()}"
    headers = signed(secret, "id1", NOW + 0.7, b'{"a":1}')
    assert headers["webhook-id"] == headers["Idempotency-Key"] == "id1"
    assert headers["webhook-timestamp"] == str(int(NOW))
    version, _, signature = headers["webhook-signature"].partition(",")
    wanted = hmac.new(key, f"id1.{int(NOW)}.".encode() + b'{"a":1}', hashlib.sha256).digest()
    assert (version, b64decode(signature)) == ("v1", wanted)
    assert signed(key.decode(), "id1", NOW, b'{"a":1}') == headers  # the key itself will do
    assert signed(secret, "id1", NOW, b'{"a":2}') != headers
    assert "webhook-signature" not in signed("", "id1", NOW, b"")
    for weak in ("short", "whsec_c2hvcnQ=", "whsec_!!!"):
        with pytest.raises(BadSettingError) as refused:
            signed(weak, "id1", NOW, b"")
        assert weak.removeprefix("whsec_") not in str(refused.value)


def test_the_check_that_the_documentation_gives_takes_what_is_ours_and_nothing_else() -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "be-told.md").read_text("utf-8")
    known: dict[str, Any] = {"base64": base64, "hmac": hmac}
    exec(page.partition("```python\n")[2].partition("```")[0], known)  # noqa: S102  # what readers will copy
    ours, key = known["ours"], b"0123456789abcdef"
    headers = dict(signed(key.decode(), "id1", NOW, b"{}"))
    assert ours(headers, b"{}", key, NOW + 10.0)
    assert not ours(headers, b"[]", key, NOW + 10.0)
    assert not ours(headers, b"{}", b"another key of 16", NOW + 10.0)
    assert not ours(headers, b"{}", key, NOW + 3_600.0)


def test_an_address_that_cannot_be_used_is_refused_and_not_quoted() -> None:
    for wrong in (
        "t0psecret",
        "https://",
        "https:///t0psecret",
        "mailto:t0psecret@x",
        "sl ack://t0psecret",
        "a://\n",
    ):
        with pytest.raises(BadSettingError) as refused:
            checked_recipient(Recipient(url=wrong))
        assert "t0psecret" not in str(refused.value)
    with pytest.raises(ConflictError, match="--sign"):
        checked_recipient(Recipient(url="slack://a/b/c", secret="0123456789abcdef"))
    kept = Recipient(
        url="https://ada:t0psecret@hooks.example/t0psecret?t=t0psecret", secret="t0psecrett0psecret"
    )
    assert "t0psecret" not in f"{kept!r} {kept.shown}"
