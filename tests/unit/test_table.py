"""Tables: equal meaning is never a change, every real edit is one."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from recrawl.checks import detector as detector_checks
from recrawl.detect.table import Tables, plain
from recrawl.model import Changed, Snapshot

CELLS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=6)
NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@st.composite
def grids(draw: st.DrawFn) -> list[list[str]]:
    header = draw(NAMES)
    width = len(header)
    body = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6))
    return [header, *(row for row in body if any(cell.strip() for cell in row))]


def written(grid: list[list[str]], **dialect: object) -> Snapshot:
    out = io.StringIO()
    csv.writer(out, **dialect).writerows(grid)  # type: ignore[arg-type]
    return Snapshot(body=out.getvalue().encode(), media_type="text/csv", charset="utf-8")


def plain_csv(text: str) -> Snapshot:
    return Snapshot(body=text.encode(), media_type="text/csv", charset="utf-8")


@pytest.mark.parametrize("check", detector_checks.CHECKS)
def test_the_table_detector_keeps_the_contract(check: object) -> None:
    check(Tables)  # type: ignore[operator]


@given(grids(), st.randoms(use_true_random=False))
def test_order_quoting_and_line_ends_are_no_change(grid: list[list[str]], rng: st.DataObject) -> None:
    columns = list(range(len(grid[0])))
    rng.shuffle(columns)  # type: ignore[attr-defined]
    rows = grid[1:]
    rng.shuffle(rows)  # type: ignore[attr-defined]
    shuffled = [[row[i] for i in columns] for row in [grid[0], *rows]]
    other = written(shuffled, quoting=csv.QUOTE_ALL, lineterminator="\n")
    assert Tables().compare(written(grid), other).changed is Changed.NO


@given(grids(), st.data())
def test_every_edit_of_a_cell_is_a_change(grid: list[list[str]], data: st.DataObject) -> None:
    if len(grid) < 2:
        return
    row = data.draw(st.integers(1, len(grid) - 1))
    column = data.draw(st.integers(0, len(grid[0]) - 1))
    edited = [list(line) for line in grid]
    edited[row][column] += "x"
    assert plain(edited[row][column]) != plain(grid[row][column])
    assert Tables().compare(written(grid), written(edited)).changed is Changed.YES


def test_the_evidence_names_row_and_column() -> None:
    before = plain_csv("id,price,name\n1,3.50,apple\n2,4,pear\n")
    after = plain_csv("name,id,price\npear,2,5\napple,1,3.5\nplum,3,1\n")
    verdict = Tables().compare(before, after)
    assert verdict.evidence == (
        "1 cell changed, 1 row added: [id=2].price: 4 → 5; +[id=3]: name=plum, price=1"
    )


def test_schema_changes_are_named() -> None:
    def evidence(before: str, after: str) -> str:
        return Tables().compare(plain_csv(before), plain_csv(after)).evidence

    assert evidence("id,price\n1,2\n", "id,cost\n1,2\n") == "column price is called cost now"
    assert evidence("id,price\n1,2\n2,3\n", "id,cost\n1,2\n3,9\n2,3\n") == (
        "column price is called cost now; 1 row added: +[id=3]: cost=9"
    )
    assert evidence("id,price\n1,2\n", "id,size\n1,7\n") == "column size added; column price removed"
    assert evidence("id,a,b\n1,,\n", "id,c,d\n1,,\n").startswith("column c added; column d added")
    assert evidence("id,price\n1,2\n2,3\n", "id,price\n1,two\n2,three\n").startswith(
        "column price held numbers, now text; 2 cells changed"
    )


def test_numbers_are_told_apart_by_value_but_names_of_digits_are_not_numbers() -> None:
    assert plain(" 1.50 ") == plain("+1.5") == plain("15e-1") == "1.5"
    assert plain("0") == plain("-0.0") == "0"
    assert plain("1" * 40) != plain("1" * 39 + "2")
    assert plain("007") == "007"
    assert plain("01234") != plain("1234")
    assert plain("1,000") == "1,000"
    assert plain("True") == plain("TRUE") == plain(" true") == "TRUE"
    assert plain("yes") != plain("true")
    assert plain("31.1.2026") == "31.1.2026"


@pytest.mark.parametrize(("text", "same"), [("a;b\n1;2\n", "b;a\n2;1\n"), ("a\tb\n1\t2\n", "b\ta\n2\t1\n")])
def test_the_delimiter_is_found(text: str, same: str) -> None:
    assert Tables().compare(plain_csv(text), plain_csv(same)).changed is Changed.NO
    assert Tables().compare(plain_csv(text), plain_csv(same.replace("1", "3"))).changed is Changed.YES


def book(rows: list[list[object]], title: str = "data") -> Snapshot:
    out = io.BytesIO()
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    made.save(out)
    return Snapshot(body=out.getvalue(), media_type="application/vnd.ms-excel")


def test_spreadsheets_are_tables_too() -> None:
    before = book([["id", "n"], ["a", 1], ["b", 2.5]])
    assert Tables().compare(before, book([["n", "id"], [2.5, "b"], [1.0, "a"]])).changed is Changed.NO
    verdict = Tables().compare(before, book([["id", "n"], ["a", 1], ["b", 3]]))
    assert verdict.changed is Changed.YES
    assert "data![id=b].n: 2.5 → 3" in verdict.evidence


def test_a_broken_spreadsheet_is_unknown() -> None:
    whole = book([["id"], ["a"]])
    torn = Snapshot(body=whole.body[: len(whole.body) // 2], media_type=whole.media_type)
    assert Tables().compare(whole, torn).changed is Changed.UNKNOWN
