"""Tables of (url, time[, digest]) as people write them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.intakes import events, resources, rows, run, run_cut

from recrawl.corpora.importers.tables import plain
from recrawl.corpora.importers.tables.plain import Csv
from recrawl.errors import BadInputError

A, B = "https://a.example/", "https://b.example/x,y"
AT = 1_600_000_000  # 2020-09-13T12:26:40Z


def table(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        f"url,time,digest\n{A},2020-09-13T12:26:40Z,d1\n{A},2020-09-13T14:26:41+02:00,d2\n",
        f"\ufeffDigest;URL;Timestamp\r\nd1;{A};1600000000\r\nd2;{A};1600000001\r\n",
        f"1600000000000\t{A}\td1\n1600000001000\t{A}\td2",
        f"{A}|20200913122640|d1\r{A}|20200913122641|d2\r",
        f'"{A}","2020-09-13 12:26:40","d1"\n\n"{A}","2020-09-13 12:26:41 UTC","d2"\n',
    ],
    ids=["header", "semicolons", "tabs-no-header", "stamps-cr", "quoted-naive"],
)
def test_a_table_is_understood_however_it_is_written(tmp_path: Path, content: str) -> None:
    done = run(Csv(), table(tmp_path, content), tmp_path / "out", strict=True)
    assert events(tmp_path / "out") == {A: [(AT, "d1"), (AT + 1, "d2")]}
    assert done.about["observation"] == "every-change"


def test_what_was_taken_for_granted_about_times_is_said_once(tmp_path: Path) -> None:
    content = f"url,time\n{A},2020-09-13T12:26:40\n{A},2020-09-14\n{B},1600000000\n"
    done = run(
        Csv(delimiter=",", columns="url,time"), table(tmp_path, content.replace(B, "b")), tmp_path / "out"
    )
    assert done.notes == (
        "Times without a zone were read as UTC.",
        "Times that are numbers were read as seconds since 1970; --time says otherwise.",
    )


def test_rows_without_a_digest_are_each_a_change_and_a_host_column_groups(tmp_path: Path) -> None:
    content = f"url,time,host\n{A},{AT},g1\n{A},{AT + 5},g1\nplain name,{AT},\n"
    run(Csv(), table(tmp_path, content), tmp_path / "out", strict=True)
    assert events(tmp_path / "out")[A] == [(AT, None), (AT + 5, None)]
    assert [row["host"] for row in resources(tmp_path / "out") if row["url"] == A] == ["g1"]


def test_columns_are_named_by_the_user_where_the_header_says_something_else(tmp_path: Path) -> None:
    content = f"was;wo;wann\nx;{A};{AT}\ny;{A};{AT + 1}\n"
    with pytest.raises(BadInputError, match="--columns url,time"):
        run(Csv(), table(tmp_path, "was;wo\nx;y\n"), tmp_path / "no")
    run(
        Csv(columns="digest,url,time", delimiter=";"), table(tmp_path, content), tmp_path / "out", strict=True
    )
    assert events(tmp_path / "out") == {A: [(AT, "x"), (AT + 1, "y")]}


def test_where_no_time_can_be_read_the_times_are_to_blame_and_not_the_header(tmp_path: Path) -> None:
    content = f"url,time,digest\n{A},yesterday,d1\n{A},today,d2\n"
    with pytest.raises(BadInputError, match=r"no versions .* 2 passed over: the time cannot be read"):
        run(Csv(), table(tmp_path, content), tmp_path / "out")
    with pytest.raises(BadInputError, match=r"t\.csv:2: the time cannot be read"):
        run(Csv(), table(tmp_path, content), tmp_path / "out", strict=True)
    with pytest.raises(BadInputError, match="no versions to write"):  # a header and nothing more
        run(Csv(), table(tmp_path, "url;time\n"), tmp_path / "out")


def test_a_first_row_that_is_neither_header_nor_data_is_counted(tmp_path: Path) -> None:
    done = run(Csv(), table(tmp_path, f"nothing,known\n{A},{AT}\n{A},{AT + 1}\n"), tmp_path / "out")
    assert len(events(tmp_path / "out")[A]) == 2
    assert done.examples == {"the time cannot be read": ["t.csv:1"]}


@pytest.mark.parametrize("columns", ["url,digest", "url,time,colour", "url,time,url"])
def test_columns_that_make_no_sense_are_refused(columns: str) -> None:
    with pytest.raises(BadInputError, match="--columns"):
        Csv(columns=columns)


def test_bad_rows_are_counted_with_their_lines_or_end_a_strict_import(tmp_path: Path) -> None:
    content = (
        b"url,time,digest\n"
        b"https://a.example/,1600000000,d1\n"
        b"https://a.example/,yesterday,d2\n"
        b"https://a.example/\r\n"
        b",1600000001,d3\n"
        b"https://a.\0example/,1600000002,d4\n"
        b"https://a.example/\xff,1600000003,d5\n"
        b"https://a.example/,99999999999,d6\n" + b"x" * (3 << 20) + b"\nhttps://a.example/,1600000004,d7"
    )
    done = run(Csv(), table(tmp_path, content), tmp_path / "out")
    assert events(tmp_path / "out") == {A: [(AT, "d1"), (AT + 4, "d7")]}
    assert done.skipped == {
        "the time cannot be read": 1,
        "the row has too few columns": 1,
        "there is no URL": 1,
        "the URL holds control characters": 1,
        "not UTF-8": 1,
        "the time is not between 1970 and 2100": 1,
        "the line is longer than 1 MiB": 1,
    }
    assert done.examples["the line is longer than 1 MiB"] == ["t.csv:9"]
    with pytest.raises(BadInputError, match=r"t\.csv:3: the time cannot be read"):
        run(Csv(), tmp_path / "t.csv", tmp_path / "strict", strict=True)


def test_a_quotation_mark_that_is_never_closed_costs_its_own_line_only(tmp_path: Path) -> None:
    good = "".join(f"{A},{AT + i},d{i},note\n" for i in range(300))
    content = f'url,time,digest,title\n{A},{AT - 2},s,"two\nlines, ""quoted"""\n{A},{AT - 1},x,"never\n{good}'
    done = run(Csv(), table(tmp_path, content), tmp_path / "out")
    found = events(tmp_path / "out")[A]
    assert found[0] == (AT - 2, "s")
    assert len(found) == 301
    assert done.examples == {"a quotation mark is opened and not closed": ["t.csv:4"]}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_a_torn_file_gives_what_it_has(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = pack("".join(f"{A},{AT + i},d{i}\n" for i in range(50_000)).encode())
    path = table(tmp_path, whole[: len(whole) // 2], "t.csv.packed")
    done = run(Csv(), path, tmp_path / "out")
    assert 10_000 < len(events(tmp_path / "out")[A]) < 40_000
    assert done.skipped == {"the file is cut off or damaged from here on": 1}
    with pytest.raises(BadInputError, match="cut off or damaged"):
        run(Csv(), path, tmp_path / "strict", strict=True)


def test_rows_may_be_visits(tmp_path: Path) -> None:
    content = f"url,time,changed\n{A},{AT},1\n{A},{AT + 1},no\n{A},{AT + 2},TRUE\n{A},{AT + 3},perhaps\n"
    done = run(Csv(visits=True), table(tmp_path, content), tmp_path / "out")
    assert [row["changed"] for row in rows(tmp_path / "out", "visits")] == [True, False, True]
    assert [at for at, _ in events(tmp_path / "out")[A]] == [AT, AT + 2]
    assert done.about["observation"] == "visits"
    assert sum(done.skipped.values()) == 1


def test_rows_outside_a_window_are_left_out(tmp_path: Path) -> None:
    content = "".join(f"{A},{AT + i}\n" for i in range(10))
    done = run(Csv(since=AT + 3, until=AT + 5), table(tmp_path, content), tmp_path / "out", strict=True)
    assert [at for at, _ in events(tmp_path / "out")[A]] == [AT + 3, AT + 4]
    assert done.left_out == {"outside --since and --until": 8}


def test_a_cut_off_import_of_many_files_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "N_TOGETHER", 10)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.csv", "b.tsv"):
        table(folder, "".join(f"https://{name}/\t{AT + i}\td{i}\n" for i in range(25)) + "bad\trow\n", name)
    done = run_cut(Csv, folder, tmp_path / "out", n_reached=5)
    assert {url: len(found) for url, found in events(tmp_path / "out").items()} == {
        "https://a.csv/": 25,
        "https://b.tsv/": 25,
    }
    assert done.skipped == {"the row has too few columns": 2}


def test_a_cell_of_a_million_characters_costs_its_own_row_only(tmp_path: Path) -> None:
    content = f'url,time,title\n{A},{AT},"{"x" * 900_000}"\n{A},{AT + 1},y\n'
    done = run(Csv(), table(tmp_path, content), tmp_path / "out")
    assert events(tmp_path / "out")[A] == [(AT + 1, None)]
    assert done.examples == {"the row cannot be read": ["t.csv:2"]}
