"""What importers do with sources that are broken, hostile, or that change under their hands."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from tests.importers import Commit, repository
from tests.intakes import Cut, CutOffError, events, resources, run, run_cut

from recrawl.corpora.importers.repositories.git import Git
from recrawl.corpora.importers.tables import layout, plain
from recrawl.corpora.importers.tables.microsoft import Microsoft
from recrawl.corpora.importers.tables.plain import Csv
from recrawl.corpora.importers.threads.discourse import Discourse
from recrawl.corpora.importers.threads.mbox import Mbox, Threads
from recrawl.corpora.importers.threads.posts import Posts
from recrawl.corpora.importers.wikis.population import Population, title_list
from recrawl.corpora.sources.download import Web
from recrawl.corpora.sources.lines import Flaw, split
from recrawl.errors import BadInputError

AT = 1_600_000_000
HUGE = "1" + "0" * 400
MAIL = (
    "From a@b Thu Jan  1 00:00:00 2015\nMessage-ID: <{0}@x>\nDate: Fri, 2 Jan 2015 10:00:00 +0000\n\nhi\n\n"
)


def rows_of(n: int) -> str:
    return "".join(f"https://a.example/{i % 7},{AT + i},d{i}\n" for i in range(n))


def topic(number: int) -> bytes:
    posts = [{"id": number * 10, "created_at": "2020-01-01T00:00:00Z"}]
    return json.dumps({"id": number, "post_stream": {"posts": posts}}).encode()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_all_that_lies_before_damage_is_read(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(pack(rows_of(5_000).encode()) + b"what is no part of it")
    done = run(Csv(), path, tmp_path / "out")
    assert sum(map(len, events(tmp_path / "out").values())) == 5_000
    assert done.skipped == {"the file is cut off or damaged from here on": 1}


def test_lines_are_the_same_in_whichever_pieces_they_come() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        whole = b"".join(rng.choice([b"\n", b"\r", b"\r\n", b"a", b"bcd"], size=rng.integers(0, 30)).tolist())
        cuts = np.sort(rng.integers(0, len(whole) + 1, size=6)).tolist()
        pieces = [whole[low:high] for low, high in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
        assert [line for _, line in split(iter(filter(None, pieces)))] == whole.splitlines()


def test_a_line_that_is_too_long_is_told_with_the_bound_that_holds() -> None:
    found = list(split(iter([b"x" * (3 << 20), b"y\n", b"z"]), max_bytes=2 << 20))
    assert found == [(1, Flaw("the line is longer than 2 MiB")), (2, b"z")]


def test_of_a_row_with_very_many_columns_only_the_first_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def at(_: layout.Times, said: str) -> float:
        asked.append(said)
        raise ValueError

    monkeypatch.setattr(layout.Times, "at", at)
    with pytest.raises(BadInputError, match="is not clear"):
        layout.told([(1, b",".join([b"x"] * 100_000))], delimiter=None, columns=None, time="auto")
    assert 0 < len(asked) < 10 * layout.MAX_LOOKED_AT


def test_numbers_that_no_time_can_be_are_counted(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(
        f'{{"thread": "a", "at": {HUGE}}}\n{{"thread": "a", "at": -{HUGE}}}\n{{"thread": "a", "at": {AT}}}\n'
    )
    done = run(Posts(), tmp_path / "p.jsonl", tmp_path / "posts")
    assert done.skipped == {"the time cannot be read": 2}
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "urlid_offset_history.txt").write_text(
        f"1\t0\t[[{HUGE}, 0]]\n{HUGE}\t0\t[[1, 1]]\n-3\t0\t[[1, 1]]\n4\t0.5\t[[1, 1], [2, 0]]\n"
    )
    done = run(Microsoft(), tables, tmp_path / "looks")
    assert done.skipped == {"the row cannot be read": 3}
    assert done.about["visits"] == 3


def test_one_torn_file_costs_itself_and_not_the_others_of_its_folder(tmp_path: Path) -> None:
    forum = tmp_path / "forum"
    forum.mkdir()
    (forum / "a.json.gz").write_bytes(gzip.compress(topic(1)))
    (forum / "b.json.gz").write_bytes(gzip.compress(topic(2))[:-20])
    (forum / "c.json").write_bytes(topic(3))
    done = run(Discourse(), forum, tmp_path / "out")
    assert set(events(tmp_path / "out")) == {"t/1", "t/3"}
    assert done.skipped == {"the file is cut off or damaged from here on": 1}


def test_mails_that_come_while_the_files_are_read_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l.mbox"
    path.write_text(MAIL.format(1))
    see = Threads.see

    def seen(self: Threads, mail: Any, file: str) -> None:
        see(self, mail, file)
        path.write_text(MAIL.format(0) + MAIL.format(1))

    monkeypatch.setattr(Threads, "see", seen)
    with pytest.raises(BadInputError, match="was changed while it was read; import it again"):
        run(Mbox(), path, tmp_path / "out")


def test_what_was_noted_before_a_kill_is_said_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "N_TOGETHER", 4)
    path = tmp_path / "t.csv"
    naive = "".join(f"https://a.example/,2020-01-0{n} 10:00:00,d{n}\n" for n in range(1, 5))
    path.write_text(naive + f"https://a.example/,2020-02-01T00:00:00Z,e\n{rows_of(1)}")
    done = run_cut(Csv, path, tmp_path / "out", n_reached=1)
    assert "Times without a zone were read as UTC." in done.notes


def test_what_the_last_post_says_of_its_thread_holds(tmp_path: Path) -> None:
    said = [
        {"thread": "a", "at": AT + n, "title": title}
        for n, title in enumerate(["First", "Old", "New", "Old"])
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(post) + "\n" for post in said))
    run(Posts(), tmp_path / "p.jsonl", tmp_path / "out")
    run_cut(Posts, tmp_path / "p.jsonl", tmp_path / "cut", n_reached=2)
    assert [row["title"] for folder in ("out", "cut") for row in resources(tmp_path / folder)] == [
        "Old",
        "Old",
    ]


def test_a_folder_that_is_no_more_what_it_was_is_not_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "bc":
        (folder / f"{name}.csv").write_text(rows_of(3))
    with pytest.raises(CutOffError):
        run(Cut(Csv(), 1), folder, tmp_path / "out")
    (folder / "a.csv").write_text(rows_of(3))  # now the first file is another one
    with pytest.raises(BadInputError, match=r"were changed, added or removed since .*--anew"):
        run(Csv(), folder, tmp_path / "out")
    (folder / "a.csv").unlink()
    assert run(Csv(), folder, tmp_path / "out").went_on


def test_a_corpus_may_be_written_into_the_folder_that_it_is_made_of(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(f'{{"thread": "a", "at": {AT}}}\n{{"thread": "b", "at": {AT}}}\n')
    done = run_cut(Posts, tmp_path, tmp_path / "out", n_reached=1)
    assert done.skipped == {}
    assert set(events(tmp_path / "out")) == {"a", "b"}


def test_names_too_long_for_any_file_are_no_files(tmp_path: Path) -> None:
    titles = [f"A page with a rather long title, number {n}".replace(",", "") for n in range(200)]
    assert title_list(",".join(titles)) == titles
    with pytest.raises(BadInputError, match="is not there; give a file"):
        run(Csv(), "x" * 5_000, tmp_path / "out")


def test_a_page_without_an_address_is_told_of() -> None:
    found = Population()
    found.take(
        {"pages": [{"pageid": 1, "title": "A"}, {"pageid": 2, "title": "B", "fullurl": "http://b"}]}, set()
    )
    assert found.pages == [(2, "B", "http://b")]
    assert found.missing == [("A", "the wiki does not say where the page is")]


def test_commits_at_impossible_times_have_that_of_their_neighbours(tmp_path: Path) -> None:
    times = (AT, AT + 9, 10**14)
    folder = repository(tmp_path / "r", *(Commit(at, {"a": b"%d" % at}) for at in times))
    done = run(Git(), folder, tmp_path / "out")
    assert [at for at, _ in events(tmp_path / "out")["a"]] == [AT, AT + 9, AT + 9]
    assert re.search("out of order .*: 1 of 3", done.notes[0])


def test_a_server_that_asks_for_an_odd_wait_is_asked_again_as_usual() -> None:
    with Web() as web:
        assert [web._wait_s(said) for said in ("12", "²", "soon", "")] == [12.0, None, None, None]
