"""Pages through a lens: what is chosen, ignored, masked, or main content."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.detect.selectors import checked
from recrawl.detect.text import Text
from recrawl.model import CLEAR, Changed, Lens, Mask, Snapshot
from recrawl.parse import pool
from recrawl.parse.page import Reading, View, reading
from recrawl.parse.places import lasting
from recrawl.parse.pool import Pool

PAGE = """<!doctype html><title>Shop</title>
<header><nav><a href=/>Home</a></nav></header>
<main id=shop><h1>Lamps</h1>
<table><tr><th>Lamp<th>Price<tr class=offer><td>Moon<td class=price>12<tr><td>Sun<td class=price>15</table>
<p class=note>Prices hold <b>today</b>.</p><script id=data>{"n": 2}</script></main>
<aside class="ad css-1x9y8z">Buy <i>soap</i></aside>
<footer><p class=made>Made at 10:15</p></footer>"""


def snapshot(body: str, lens: Lens = CLEAR) -> Snapshot:
    return Snapshot(body=body.encode(), media_type="text/html", charset="utf-8", lens=lens)


def seen(body: str, **view: object) -> list[str]:
    found = reading(body.encode(), "utf-8", View(**view))  # type: ignore[arg-type]
    return found.lines


@pytest.mark.parametrize(
    ("selector", "lines"),
    [
        ("css:.price", ["12", "15"]),
        ("xpath:/html/body/main/table/tbody/tr[2]/td[2]", ["12"]),
        ("//tr[@class='offer']", ["Moon", "12"]),
        ("(//td)[last()]", ["15"]),
        ("title", ["Shop"]),
        ("p.note", ["Prices hold today."]),
        ("main > p, p.note > b", ["Prices hold today."]),
        ("#data", ['{"n": 2}']),
        ("xpath:count(//tr)", ["3"]),
        ("xpath://aside/@class", ["ad css-1x9y8z"]),
        ("xpath:string(//h1)", ["Lamps"]),
        ("xpath:count(//tr) > 2", ["true"]),
        ("//p/text()", ["Prices hold", ".", "Made at 10:15"]),
    ],
)
def test_only_what_is_included_is_read(selector: str, lines: list[str]) -> None:
    chosen = checked(selector)
    assert seen(PAGE, include=((chosen.language.value, chosen.expression),)) == lines


@pytest.mark.parametrize("selector", ["css:aside, footer, header", "//aside | //footer | //header"])
def test_what_is_ignored_is_left_out(selector: str) -> None:
    chosen = checked(selector, ignoring=True)
    lines = seen(PAGE, ignore=((chosen.language.value, chosen.expression),))
    assert lines == ["Shop", "Lamps", "Lamp", "Price", "Moon", "12", "Sun", "15", "Prices hold today."]


def test_what_is_ignored_is_left_out_of_what_is_included() -> None:
    assert seen(PAGE, include=(("css", "table"),), ignore=(("xpath", "//tr[1]"),)) == [
        "Moon",
        "12",
        "Sun",
        "15",
    ]
    assert seen(PAGE, include=(("css", "b"), ("css", "i")), ignore=(("css", "aside"),)) == ["today"]
    assert (
        reading(PAGE.encode(), None, View(include=(("css", "i"),), ignore=(("css", "body"),))).found is False
    )
    assert seen(PAGE, ignore=(("css", "html"),)) == []
    assert seen("<b>x" + "<div>a" * 200, ignore=(("css", "div"), ("xpath", "//div//div"))) == ["x"]


def test_selectors_of_other_kinds_are_passed_over() -> None:
    lens = Lens(include=("$.a", "column:x"), ignore=("field:updated",))
    assert Text().fingerprint(snapshot(PAGE, lens)) == Text().fingerprint(snapshot(PAGE))


def test_what_is_looked_for_and_not_there_is_said() -> None:
    there, gone = snapshot(PAGE, Lens(include=("h1",))), snapshot("<p>x", Lens(include=("h1",)))
    detector = Text()
    assert Text().unmatched(there) == ""
    assert Text().unmatched(gone) == "nothing matches h1"
    verdict = detector.compare(there, gone)
    assert (verdict.changed, verdict.magnitude) == (Changed.YES, 1.0)
    assert verdict.evidence == "what is looked for is gone: nothing matches h1"
    assert detector.compare(gone, there).evidence == "what is looked for is there now"
    assert detector.compare(gone, gone).changed is Changed.NO
    empty = snapshot("<h1></h1>", Lens(include=("h1",)))
    assert len({detector.fingerprint(one) for one in (there, gone, empty)}) == 3
    assert detector.compare(gone, empty).changed is Changed.YES
    assert detector.differing(there, gone) == ()


def test_lines_have_places_without_positions_or_made_up_names() -> None:
    found = reading(PAGE.encode(), "utf-8", View(placed=True))
    assert dict(zip(found.lines, found.places, strict=True)) == {
        "Shop": "title",
        "Home": "nav",
        "Lamps": "#shop>h1",
        "Lamp": "#shop>table>tbody>tr>th",
        "Price": "#shop>table>tbody>tr>th",
        "Moon": "#shop>table>tbody>tr.offer>td",
        "Sun": "#shop>table>tbody>tr>td",
        "12": "#shop>table>tbody>tr.offer>td.price",
        "15": "#shop>table>tbody>tr>td.price",
        "Prices hold today.": "#shop>p.note",
        "Buy soap": "aside.ad",
        "Made at 10:15": "footer>p.made",
    }


def test_deep_places_are_short() -> None:
    found = reading(("<div>" * 500 + "x").encode(), None, View(placed=True))
    assert found.places == ["body>…>div>div>div>div>div"]


@pytest.mark.parametrize("name", ["top", "price-2", "navBar", "h1", "main_content", "col-md-6", "übersicht"])
def test_names_that_people_give_last(name: str) -> None:
    assert lasting(name)


@pytest.mark.parametrize(
    "name",
    ["css-1q2w3e", "sc-bdVaJa", "post-81723", "ad-3f9c2a12", "deadbeef", "_3xkP9", "", "a b", "x" * 41],
)
def test_names_that_machines_make_do_not(name: str) -> None:
    assert not lasting(name)


def test_a_masked_part_does_not_count_and_the_rest_of_its_line_does() -> None:
    lens = Lens(masks=(Mask(place="footer>p.made", shape="Made at {time}"),))
    later = PAGE.replace("10:15", "11:59")
    assert Text().compare(snapshot(PAGE, lens), snapshot(later, lens)).changed is Changed.NO
    assert Text().compare(snapshot(PAGE), snapshot(later)).changed is Changed.YES
    reworded = snapshot(later.replace("Made at", "Built at"), lens)
    assert Text().compare(snapshot(PAGE, lens), reworded).changed is Changed.YES
    moved = snapshot(PAGE.replace("12<", "10:16<"), lens)
    assert Text().compare(snapshot(PAGE, lens), moved).changed is Changed.YES


def test_parts_are_found_whatever_is_masked_and_nothing_of_what_is_ignored() -> None:
    lens = Lens(ignore=("aside",), masks=(Mask(place="footer>p.made", shape="Made at {time}"),))
    later = PAGE.replace("10:15", "11:59").replace("soap", "tea").replace(">15", ">16")
    found = Text().differing(snapshot(PAGE, lens), snapshot(later, lens))
    assert {(part.place, part.before, part.after) for part in found} == {
        ("#shop>table>tbody>tr>td.price", "15", "16"),
        ("footer>p.made", "Made at 10:15", "Made at 11:59"),
    }


def test_plain_text_has_parts_and_masks_too() -> None:
    lens = Lens(masks=(Mask(place="text", shape="at {number}"),))
    one, other = (
        Snapshot(body=body, media_type="text/plain", lens=lens) for body in (b"a\nat 1\nb", b"a\nat 2\nb")
    )
    assert Text().compare(one, other).changed is Changed.NO
    assert [(part.place, part.after) for part in Text().differing(one, other)] == [("text", "at 2")]


_PROSE = "The water board measured the river at nine places in spring and found it cleaner than before. "


@pytest.mark.parametrize(
    "page",
    [
        "<nav><a>Home</a> <a>News</a></nav><main><h1>W</h1><p>{0}</main><footer>{1}</footer>",
        "<div><header>{1}</header><h1>W</h1><p>{0}</div>",
        "<div class=menu><a>Home</a> <a>News</a></div><article><h1>W</h1><p>{0}</article><aside>{1}</aside>",
        "<div><ul><li><a>Home</a><li><a>News</a></ul></div><div><div><h1>W</h1><p>{0}<p>{0}</div></div>"
        "<div><p>Contact</div>",
        "<article><header><h1>W</h1></header><p>{0}</article><article><h1>V</h1><p>{0}</article><nav>{1}</nav>",
    ],
)
def test_the_main_content_is_told_from_what_is_around_it(page: str) -> None:
    lines = seen(page.format(_PROSE * 4, "Contact us by mail or letter."), main=True)
    assert "W" in lines
    assert any(line.startswith("The water board") for line in lines)
    assert not {"Home", "News", "Contact us by mail or letter.", "Contact"} & set(lines)


@pytest.mark.parametrize(
    "page",
    [f"<header><p>{_PROSE * 5}</header>", "<p>Short.", "<ul><li><a>x</a></ul>", f"<aside>{_PROSE}</aside>"],
)
def test_a_page_without_main_content_is_read_as_a_whole(page: str) -> None:
    assert seen(page, main=True) == seen(page)


def test_main_content_and_included_elements_must_both_hold() -> None:
    page = f"<nav><b>menu</b></nav><main><b>1</b><p>{_PROSE}</main><footer><b>end</b></footer>"
    assert seen(page, main=True, include=(("css", "b"),)) == ["1"]
    assert seen(page, main=True, include=(("css", "body"),)) == ["1", _PROSE.strip()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("soft\u00adware", "software"),
        ("long\u200bword", "longword"),
        ("a\u00a0b", "a b"),
        ("cafe\u0301", "café"),
        ("\ufeffx\u2060", "x"),
    ],
)
def test_what_readers_cannot_tell_apart_is_the_same(one: str, other: str) -> None:
    assert Text().fingerprint(snapshot(f"<p>{one}")) == Text().fingerprint(snapshot(f"<p>{other}"))


@pytest.mark.parametrize(
    ("one", "other"), [("“a”", '"a"'), ("–", "-"), ("می\u200cخواهم", "میخواهم"), ("a", "A")]
)
def test_what_readers_can_tell_apart_is_not(one: str, other: str) -> None:
    assert Text().fingerprint(snapshot(f"<p>{one}")) != Text().fingerprint(snapshot(f"<p>{other}"))


def test_a_word_of_endless_marks_takes_no_time() -> None:
    marks = "a" + "\u0301\u0316" * 200_000
    assert isinstance(reading(f"<p>{marks} caf\u0065\u0301".encode(), "utf-8", View()), Reading)
    assert unicodedata.normalize("NFC", "e\u0301") in seen(f"<p>{marks} e\u0301")[0]


@pytest.mark.slow
def test_choosing_that_takes_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is unknown, not a change."""
    deep = "<div>" * 3_000 + "x"
    lens = Lens(include=("xpath://*[count(//*[count(//*) > 0]) > 0]",))
    with Pool(limit_s=1.0) as short:
        monkeypatch.setattr(pool, "_shared", short)
        assert Text().fingerprint(snapshot(deep, lens)) == ""
        assert Text().compare(snapshot("<p>a", lens), snapshot(deep, lens)).changed is Changed.UNKNOWN


words = st.text("abcdefghijklmnopqrstuvwxyzäöüñß0123456789", min_size=1, max_size=8)
blocks = st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=6)
tags = st.sampled_from(["p", "li", "h2", "div"])


@settings(max_examples=60, deadline=None)
@given(blocks, tags, st.booleans(), st.booleans())
def test_the_same_page_written_in_another_way_is_no_change(
    said: list[list[str]], tag: str, upper: bool, entities: bool
) -> None:
    def spelt(word: str) -> str:
        return "".join(f"&#x{ord(letter):x};" for letter in word) if entities else word

    name = tag.upper() if upper else tag
    plain = (
        "<main>" + "".join(f'<{tag} id="a" class="b">{" ".join(line)}</{tag}>' for line in said) + "</main>"
    )
    other = "<main>\n" + "".join(
        f"<{name} class=b  ID='a' data-n=1><!-- {line[0]} -->\t{'  '.join(map(spelt, line))}"
        f"<script>1</script>\n</{name}>"
        for line in said
    )
    for lens in (CLEAR, Lens(include=("main",)), Lens(ignore=("//nav",)), Lens(main=True)):
        before, after = snapshot(plain, lens), snapshot(other, lens)
        assert Text().fingerprint(before) == Text().fingerprint(after)
        assert Text().compare(before, after).changed is Changed.NO
        assert Text().differing(before, after) == []


@settings(max_examples=60, deadline=None)
@given(blocks, words, st.data())
def test_every_real_edit_is_a_change_and_none_in_what_is_ignored(
    said: list[list[str]], word: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(said) - 1))
    edited = [list(line) for line in said]
    match data.draw(st.sampled_from(["word", "line", "order"])):
        case "word":
            edited[at][0] += word
        case "line":
            del edited[at]
        case _:
            edited.reverse()

    def page(lines: list[list[str]], around: str = "") -> str:
        return (
            "<main>" + "".join(f"<p>{' '.join(line)}" for line in lines) + f"</main><aside>{around}</aside>"
        )

    lens = Lens(ignore=("aside",))
    flat, new = ([word for line in lines for word in line] for lines in (said, edited))
    changed = Changed.YES if flat != new else Changed.NO
    for one in (CLEAR, lens, Lens(include=("main",))):
        before, after = snapshot(page(said), one), snapshot(page(edited), one)
        assert Text().compare(before, after).changed is changed
        assert (Text().fingerprint(before) == Text().fingerprint(after)) is (changed is Changed.NO)
    verdict = Text().compare(snapshot(page(said), lens), snapshot(page(said, word), lens))
    assert verdict.changed is Changed.NO
