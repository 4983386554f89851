"""Tables through a lens: columns that are ignored or masked are no change, all else is."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from recrawl.detect import noise
from recrawl.detect.table import Tables
from recrawl.model import Changed, Lens, Mask, Noise, Part, Snapshot

CELLS = st.text("abc129. -", max_size=4)
PRICES = "id,name,price,seen\n1,apple,3,10:15\n2,pear,4,10:20\n3,plum,5,10:30\n"


def csv(text: str, lens: Lens | None = None) -> Snapshot:
    return Snapshot(body=text.encode(), media_type="text/csv", charset="utf-8", lens=lens or Lens())


def verdict(before: str, after: str, **rules: Any) -> tuple[Changed, str]:
    lens = Lens(**rules)
    found = Tables().compare(csv(before, lens), csv(after, lens))
    return found.changed, found.evidence


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.data())
def test_an_edit_is_a_change_unless_its_column_does_not_count(
    cells: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    names = ["key", "a", "b", "c"]
    row, column = data.draw(st.integers(0, len(cells) - 1)), data.draw(st.integers(1, 3))
    other = names[data.draw(st.integers(1, 3).filter(lambda i: i != column))]

    def written(edit: bool) -> str:
        rows = [[f"k{i}", *line] for i, line in enumerate(cells)]
        if edit:
            rows[row][column] += "x"
        return "\n".join(",".join(line) for line in [names, *rows])

    before, after, name = written(False), written(True), names[column]
    assert verdict(before, after)[0] is Changed.YES
    assert verdict(before, after, ignore=(f"column:{name}",))[0] is Changed.NO
    assert verdict(before, after, ignore=(f"column:{other}", "$.x"))[0] is Changed.YES
    assert verdict(before, after, include=(f"column:{name}", "column:key"))[0] is Changed.YES
    assert verdict(before, after, include=(f"column:{other}",))[0] is Changed.NO


def test_rows_are_told_apart_by_the_keys_that_are_asked_for() -> None:
    before = "place,year,n\nRome,2020,1\nRome,2021,2\nOslo,2020,3\n"
    after = "place,year,n\nOslo,2020,3\nRome,2021,7\nRome,2020,1\nOslo,2021,4\n"
    changed, evidence = verdict(before, after, keys=("place", "year"))
    assert changed is Changed.YES
    assert evidence == (
        "1 cell changed, 1 row added: [place=Rome, year=2021].n: 2 → 7; +[place=Oslo, year=2021]: n=4"
    )


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("name,n\nRome,2\n", "column id removed; the key column id is no longer there"),
        ("id,n,name\n1,2,Rome\n1,3,Oslo\n", "1 key stands in more than one row: id=1"),
    ],
)
def test_trouble_with_keys_is_told(after: str, said: str) -> None:
    changed, evidence = verdict("id,name,n\n1,Rome,1\n", after, keys=("id",))
    assert changed is Changed.YES
    assert said in evidence


def test_a_key_that_never_was_there_is_told() -> None:
    changed, evidence = verdict("id,n\n1,1\n", "id,n\n1,2\n", keys=("nummer",))
    assert changed is Changed.YES
    assert evidence == "the key column nummer is in neither copy; 1 cell changed: [id=1].n: 1 → 2"


def test_a_column_that_is_always_another_is_no_key() -> None:
    """Its values tell rows apart, but no row would find its counterpart."""
    before, after = "at,id,n\n10:01,a,1\n10:02,b,2\n", "at,id,n\n11:01,a,1\n11:02,b,3\n"
    assert "[id=b].n: 2 → 3" in verdict(before, after)[1]


def test_masks_leave_out_what_fits_them_and_nothing_else() -> None:
    masks = (Mask(place="column:seen", shape="{time}"),)
    later = PRICES.replace("10:", "11:")
    assert verdict(PRICES, later, masks=masks)[0] is Changed.NO
    assert verdict(PRICES, later.replace("11:15", "never"), masks=masks)[0] is Changed.YES
    assert (
        verdict(PRICES, later.replace(",4,", ",9,"), masks=masks)[1] == "1 cell changed: [id=2].price: 4 → 9"
    )
    single = (Mask(place="column:price row:id=2", shape="{number}"),)
    assert verdict(PRICES, PRICES.replace(",4,", ",9,"), masks=single)[0] is Changed.NO
    assert verdict(PRICES, PRICES.replace(",5,", ",9,"), masks=single)[0] is Changed.YES


def test_parts_are_columns_or_single_cells() -> None:
    later = csv(PRICES.replace("10:", "11:"))
    assert Tables().differing(csv(PRICES), later) == (Part("column:seen", "10:15", "11:15"),)
    dearer = csv(PRICES.replace(",4,", ",9,"))
    assert Tables().differing(csv(PRICES), dearer) == (Part("column:price row:id=2", "4", "9"),)
    assert Tables().differing(csv(PRICES), csv(PRICES + "4,fig,1,10:40\n")) == ()
    one, other = csv("at,degrees\n10:15,20\n"), csv("at,degrees\n10:16,21\n")
    assert [part.place for part in Tables().differing(one, other)] == ["column:at", "column:degrees"]
    rows, shuffled = csv("a,b\nx,1\nx,2\ny,1\n"), csv("a,b\ny,2\nx,2\ny,1\n")
    assert Tables().differing(rows, shuffled) == ()  # nothing tells its rows apart


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999)), min_size=1, max_size=5))
def test_what_parts_tell_of_can_be_masked(counts: list[tuple[int, int]]) -> None:
    def written(k: int, name: str = "item") -> str:
        rows = [f"{pair[k]},k{i},{name}" for i, pair in enumerate(counts)]
        return "\n".join(["visits,id,name", *rows])

    parts = Tables().differing(csv(written(0)), csv(written(1)))
    learned = noise.learned(Noise(), parts, 0.0)
    assert verdict(written(0), written(1), masks=learned.masks)[0] is Changed.NO
    assert verdict(written(0), written(1, "other"), masks=learned.masks)[0] is Changed.YES


def test_every_difference_has_a_line() -> None:
    after = PRICES.replace("3,plum,5,10:30\n", "4,fig,1,10:40\n").replace(",4,", ",9,")
    assert Tables().listed(csv(PRICES), csv(after)) == [
        "[id=2].price: 4 → 9",
        "+ [id=4]: name=fig, price=1, seen=10:40",
        "- [id=3]: name=plum, price=5, seen=10:30",
    ]


def book(**sheets: list[list[object]]) -> Snapshot:
    out = io.BytesIO()
    made = Workbook()
    made.remove(made.worksheets[0])
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(out)
    return Snapshot(body=out.getvalue())


def test_sheets_are_told_apart_by_name_and_a_column_may_be_named_with_its_sheet() -> None:
    one = book(fruit=[["id", "n"], ["a", 1], ["b", True]], tools=[["id", "n"], ["x", 1]])
    moved = book(tools=[["id", "n"], ["x", 1]], fruit=[["n", "id"], [True, "b"], [1, "a"]])
    assert Tables().compare(one, moved).changed is Changed.NO
    after = book(fruit=[["id", "n"], ["a", 2], ["b", True]], tools=[["id", "n"], ["x", 1]])
    assert Tables().compare(one, after).evidence == "1 cell changed: fruit![id=a].n: 1 → 2"
    for selector, expected in (("column:fruit!n", Changed.NO), ("column:tools!n", Changed.YES)):
        lens = Lens(ignore=(selector,))
        seen = [Snapshot(body=snapshot.body, lens=lens) for snapshot in (one, after)]
        assert Tables().compare(*seen).changed is expected
    assert (
        Tables()
        .compare(one, book(fruit=[["id", "n"], ["a", 1], ["b", True]]))
        .evidence.startswith("sheet tools removed; 1 row removed")
    )
