from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.checks.detector import CHECKS, MakeDetector
from recrawl.contracts import Detector
from recrawl.detect.text import Text
from recrawl.model import Changed, Snapshot
from recrawl.parse import charset, html
from recrawl.parse.html import tame, visible

words = st.text("abcdefghijklmnopqrstuvwxyzäöüñß0123456789", min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=12)


def page(body: str, media_type: str = "text/html") -> Snapshot:
    return Snapshot(body=body.encode(), media_type=media_type, charset="utf-8")


def seen(body: str) -> str:
    text = html.text(body.encode(), "utf-8")
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("check", CHECKS)
def test_text_is_a_detector(check: Callable[[MakeDetector], None]) -> None:
    def make() -> Detector:
        return Text()

    check(make)


def test_only_what_a_reader_sees_is_text() -> None:
    body = (
        "<head><title> The  title </title><meta name=description content=hidden><style>p{}</style>"
        "<script>var x</script></head><body><!-- comment --><p title=tip>One<noscript>no</noscript>"
        "<template>never</template> two<script>y()</script><p>three&nbsp;&amp;\n four"
    )
    assert seen(body) == "The title\nOne two\nthree & four"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a</p>b", "a\nb"),
        ("<div>a<div></div>b</div>", "a\nb"),
        ("<div>a<p>b</p>c</div>", "a\nb\nc"),
        ("a<br>b<hr>c", "a\nb\nc"),
        ("<table><tr><td>a<td>b</table>", "a\nb"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<b>a</b>b<i>c</i><wbr>d", "abcd"),
        ("a<span> b </span>c", "a b c"),
        ("<frameset><frame></frameset>", ""),
        ("", ""),
    ],
)
def test_words_of_neighbouring_blocks_do_not_merge_and_those_of_one_are_not_torn(
    body: str, text: str
) -> None:
    assert seen(body) == text


@given(sentences)
def test_markup_attributes_comments_scripts_and_whitespace_do_not_count(said: list[str]) -> None:
    plain = page(f"<p>{' '.join(said)}</p>")
    dressed = page(
        "<html lang=en><head><script>1</script></head><body class=x>\n"
        + "".join(f"<!-- {word} --><span data-x='{word}'>\t{word}\n\n </span>" for word in said)
        + "<script>document.write('new')</script><style>b{}</style>"
    )
    assert Text().fingerprint(plain) == Text().fingerprint(dressed)
    assert Text().compare(plain, dressed).changed is Changed.NO


@given(sentences, words, st.integers(min_value=0))
def test_any_visible_word_counts(said: list[str], word: str, at: int) -> None:
    where = at % (len(said) + 1)
    grown = [*said[:where], word, *said[where:]]
    before, after = (page("<ul>" + "".join(f"<li>{w}" for w in text)) for text in (said, grown))
    assert Text().fingerprint(before) != Text().fingerprint(after)
    verdict = Text().compare(before, after)
    assert verdict.changed is Changed.YES
    assert verdict.magnitude == pytest.approx(1 / (len(said) + len(grown)))
    assert verdict.evidence.startswith("1 word added: ")
    assert f"{{+{word}+}}" in verdict.evidence


def test_the_evidence_shows_words_in_context_and_stays_short() -> None:
    verdict = Text().compare(page("<p>Sun at noon"), page("<p>Rain at noon tomorrow"))
    assert verdict.evidence == '2 words added, 1 removed: "[-Sun-] {+Rain+} at noon {+tomorrow+}"'
    assert verdict.magnitude == pytest.approx(3 / 7)
    long = Text().compare(page(""), page(" ".join(f"{i}{'x' * 1000}" for i in range(1000))))
    assert len(long.evidence) < 300
    before = "<p>" + " ".join(f"word{i}" for i in range(100))
    after = before.replace("word50", "other")
    shown = Text().compare(page(before), page(after)).evidence
    assert shown == (
        '1 word added, 1 removed: "… word47 word48 word49 [-word50-] {+other+} word51 word52 word53 …"'
    )


def test_moved_words_stay_behind_new_ones_in_the_evidence() -> None:
    before, after = "a b c d e f g h i j k l m n o", "o a b c d e f g h i j k l m NEW n"
    assert Text().compare(page(before), page(after)).evidence == '1 word added: "… k l m {+NEW+} n o"'


def test_evidence_cannot_steer_a_terminal() -> None:
    evidence = Text().compare(page("<p>a"), page("<p>a \x1b[2J\x07\u202eb")).evidence
    assert evidence.isprintable()
    assert "[2J" in evidence


def test_another_order_is_a_change_of_no_magnitude() -> None:
    verdict = Text().compare(page("<p>a b"), page("<p>b a"))
    assert (verdict.changed, verdict.magnitude) == (Changed.YES, 0.0)


def test_plain_text_is_read_as_it_stands() -> None:
    before, after = (page(text, "text/plain") for text in ("<b>1</b>\n", "<i>1</i>\n"))
    assert Text().compare(before, after).changed is Changed.YES
    assert Text().compare(before, page("  <b>1</b>", "text/plain")).changed is Changed.NO


def test_what_holds_no_text_is_judged_by_its_bytes() -> None:
    before, after = (Snapshot(body=b"%PDF \0" + tail, media_type="application/pdf") for tail in (b"1", b"2"))
    assert Text().compare(before, after).changed is Changed.YES
    assert Text().compare(before, before).changed is Changed.NO


@pytest.mark.slow
def test_a_document_that_cannot_be_parsed_is_unknown_and_not_a_change() -> None:
    bomb = page("<p>" + "".join(f"<b {i:x}>" for i in range(9_000)) + "</p>" + "<p>x" * 9_000)
    assert Text().fingerprint(bomb) == ""
    for pair in ((page("<p>a"), bomb), (bomb, page("<p>a"))):
        verdict = Text().compare(*pair)
        assert verdict.changed is Changed.UNKNOWN
        assert "cannot be parsed" in verdict.evidence


@settings(max_examples=20)
@given(st.lists(sentences, min_size=1, max_size=5))
def test_a_document_reads_the_same_in_the_pool_as_here(blocks: list[list[str]]) -> None:
    small = "".join(f"<p>{' '.join(said)}" for said in blocks).encode()
    large = small + b"<!--" + b"<" * 1_000 + b"-->"
    assert tame(small)
    assert not tame(large)
    assert html.text(large, "utf-8") == html.text(small, "utf-8") == visible(small, "utf-8")


@pytest.mark.parametrize(
    ("body", "declared", "codec"),
    [
        (b"\xef\xbb\xbfx", "windows-1251", "utf-8"),
        (b"\xff\xfex\0", None, "utf-16-le"),
        (b"<meta charset=koi8-r>", "windows-1251", "cp1251"),
        (b"<meta charset=koi8-r>", "no-such", "koi8-r"),
        (b"<META http-equiv=x content='text/html; charset=Shift_JIS'>", None, "cp932"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=gb2312>", None, "gb18030"),
        (b" " * 1024 + b"<meta charset=koi8-r>", None, "utf-8"),
        (b"<meta charset=utf-16>", None, "utf-8"),
        (b"x", "latin1", "cp1252"),
        ("ä".encode(), None, "utf-8"),
        ("ä".encode("cp1252"), None, "cp1252"),
        (b"x", "zip", "utf-8"),
        (b"x", "punycode", "utf-8"),
        (b"x", "unicode_escape", "utf-8"),
        (b"x", "utf-7", "utf-8"),
        (b"x", "a\0b", "utf-8"),
    ],
)
def test_the_charset_is_found_as_browsers_find_it(body: bytes, declared: str | None, codec: str) -> None:
    assert charset.detected(body, declared) == codec


@given(st.binary(max_size=200), st.none() | st.text(max_size=20))
def test_any_bytes_under_any_label_become_text(body: bytes, label: str | None) -> None:
    assert not charset.text(body, label).startswith("\ufeff\ufeff")
    assert isinstance(html.text(body, label), str)


def test_the_header_names_the_charset() -> None:
    assert charset.said('text/html; Charset="UTF-8"') == "UTF-8"
    assert charset.said("text/html") is None
    assert charset.said(None) is None
