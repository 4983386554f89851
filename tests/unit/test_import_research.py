"""Data that papers were written on: Microsoft's tables of gaps, GP4C's rows of 0 and 1."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.intakes import events, resources, rows, run, run_cut

from recrawl.corpora.importers.tables import gp4c
from recrawl.corpora.importers.tables.gp4c import Gp4c
from recrawl.corpora.importers.tables.microsoft import Microsoft
from recrawl.corpora.native import Corpus
from recrawl.corpora.sources import batch
from recrawl.errors import BadInputError

DAY = 86_400
START = 1_483_228_800  # 2017-01-01


def microsoft(tmp_path: Path, histories: str, **tables: str) -> Path:
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    (folder / "urlid_offset_history.txt").write_text(histories)
    for name, content in tables.items():
        (folder / f"{name}.txt").write_text(content)
    return folder


def test_microsofts_gaps_become_visits_and_importance_weighs(tmp_path: Path) -> None:
    folder = microsoft(
        tmp_path,
        "12\t0.5\t[[1.0, 1], [1.0, 0], [2.5, 1]]\n7\t0\t[]\n",
        url_urlid_hostid="http://b.example/\t7\t2\nhttp://a.example/\t12\t1\n",
        host_hostid_isconstrained="a.example\t1\t0\nb.example\t2\t1\n",
        urlid_imp="7\t3\n12\t250.5\n",
        urlid_chrate_compl_obs_hist="12\t0.25\n",
    )
    done = run(Microsoft(), folder, tmp_path / "out", strict=True)
    first = START + DAY // 2
    found = [(row["name"], row["at"], row["changed"]) for row in rows(tmp_path / "out", "visits")]
    assert sorted(found) == [
        ("http://a.example/", first, True),
        ("http://a.example/", first + DAY, True),
        ("http://a.example/", first + 2 * DAY, False),
        ("http://a.example/", first + 9 * DAY // 2, True),
        ("http://b.example/", START, True),
    ]
    assert [at for at, _ in events(tmp_path / "out")["http://a.example/"]] == [
        first,
        first + DAY,
        first + 9 * DAY // 2,
    ]
    facts = {row["url"]: row for row in resources(tmp_path / "out")}
    assert facts["http://a.example/"]["host"] == "a.example"
    assert facts["http://a.example/"]["complete_per_day"] == 0.25
    assert [facts[url]["constrained"] for url in sorted(facts)] == [False, True]
    corpus = Corpus(tmp_path / "out")
    weights = dict(zip(corpus.traces().url, corpus.traces().weight, strict=True))
    assert weights == {"http://a.example/": 250.5, "http://b.example/": 3.0}
    assert done.about["observation"] == "visits"
    assert done.notes == ("Offsets are counted from 2017-01-01; --start says otherwise.",)


def test_microsofts_histories_do_without_the_other_tables(tmp_path: Path) -> None:
    folder = microsoft(tmp_path, "12\t1\t[[1, 1]]\n")
    done = run(Microsoft(start=0.0), folder, tmp_path / "out", strict=True)
    assert events(tmp_path / "out") == {"12": [(DAY, None), (2 * DAY, None)]}
    assert done.notes == ("Without url_urlid_hostid.txt, pages are known by their numbers only.",)


def test_microsofts_bad_rows_are_counted(tmp_path: Path) -> None:
    bad = [
        "x\t0\t[]", "1\t-1\t[]", "1\t0\t[[0.5]]", "1\t0\t[[-1, 0]]", "1\t0\t[[1, 2]]", "1\t0\t[[NaN, 0]]",
        "1\t0\t{}x", "1\t0", '1\t0\t["ab"]', "1\t1e300\t[]", "1\t0\t" + "[" * 5000,
        "1\t0\t[[1, 0], [9e9, 0]]",
    ]  # fmt: skip
    folder = microsoft(
        tmp_path,
        "".join(f"{row}\n" for row in [*bad, "1\t0\t[[1, 0]]", "2\t0\t[[1, 0]]"]),
        url_urlid_hostid="http://a.example/\t1\t1\nbroken\n",
    )
    done = run(Microsoft(), folder, tmp_path / "out")
    assert list(events(tmp_path / "out")) == ["http://a.example/"]
    assert done.skipped == {
        "the row cannot be read": len(bad) + 1,
        "url_urlid_hostid does not name the page": 1,
    }
    with pytest.raises(BadInputError, match=r"urlid_offset_history\.txt:1: the row cannot be read"):
        run(Microsoft(), microsoft(tmp_path / "in", "x\n"), tmp_path / "strict", strict=True)


def test_without_histories_the_error_names_the_files(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"urlid_offset_history\.txt.*url_urlid_hostid\.txt"):
        run(Microsoft(), tmp_path, tmp_path / "out")


def test_a_cut_off_import_of_microsofts_tables_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "N_TOGETHER", 4)
    folder = microsoft(
        tmp_path,
        "".join(f"{n}\t0\t[[1, 1], [1, 0]]\n" for n in range(10)),
        url_urlid_hostid="".join(f"http://a.example/{n}\t{n}\t1\n" for n in range(10)) + "broken\n",
        urlid_imp="".join(f"{n}\t{n}\n" for n in range(10)),
    )
    done = run_cut(Microsoft, folder, tmp_path / "out", n_reached=2)
    assert len(rows(tmp_path / "out", "visits")) == 30
    assert done.skipped == {"the row cannot be read": 1}
    assert Corpus(tmp_path / "out").traces().weight.tolist() == [float(n) for n in range(10)]


def test_a_row_of_bits_is_a_page_looked_at_every_day(tmp_path: Path) -> None:
    path = tmp_path / "set1.txt"
    path.write_bytes(b"0110\r\n1 0 0 1\n0,0,0,0\n01x0\n\n" + b"0" * (2 << 20) + b"\n11")
    done = run(Gp4c(start=float(START)), path, tmp_path / "out")
    changed: dict[str, list[bool]] = {}
    for row in rows(tmp_path / "out", "visits"):
        changed.setdefault(row["name"], []).append(row["changed"])
    assert changed["set1/1"] == [True, False, True, True, False]  # the first copy, then four days
    assert changed["set1/7"] == [True, True, True]
    assert [at for at, _ in events(tmp_path / "out")["set1/2"]] == [START, START + DAY, START + 4 * DAY]
    assert [at for at, _ in events(tmp_path / "out")["set1/3"]] == [START]
    assert done.skipped == {
        "the row holds something other than 0 and 1": 1,
        "the line is longer than 1 MiB": 1,
    }
    assert done.examples["the row holds something other than 0 and 1"] == ["set1.txt:4"]
    assert (done.about["observation"], done.about["step_s"]) == ("visits", DAY)
    with pytest.raises(BadInputError, match=r"set1\.txt:4"):
        run(Gp4c(), path, tmp_path / "strict", strict=True)


def test_a_cut_off_import_of_bits_goes_on_and_says_which_day_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gp4c, "N_TOGETHER", 10)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.gz", "b.gz"):
        (folder / name).write_bytes(gzip.compress(b"0101\n1111\n0000\n0011\n1100\n"))
    done = run_cut(Gp4c, folder, tmp_path / "out", n_reached=4)
    assert len(rows(tmp_path / "out", "visits")) == 2 * 5 * 5
    assert len(done.notes) == 1
    assert "2012-01-01" in done.notes[0]
