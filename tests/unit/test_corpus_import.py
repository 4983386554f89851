"""Imports as importers meet them: what is skipped, what is saved, what goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.corpora import histories, plainly

from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.native import Corpus
from recrawl.corpora.run import Imported, imported
from recrawl.errors import BadInputError


class Lines:
    """Reads `url at digest`, one row a line; ends in the middle where it is told to."""

    name = "lines"
    summary = "lines"
    options: tuple[Option, ...] = ()

    def __init__(self, *, fails_at: int | None = None) -> None:
        self._fails_at = fails_at
        self.begun_at: Any = None

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="data", observation="every-change", title="Lines")
        path = into.local(source)
        self.begun_at = into.position
        for number, line in enumerate(path.read_text().splitlines()):
            if number < (into.position or 0):
                continue
            if number == self._fails_at:
                raise RuntimeError("the plug was pulled")
            where = f"{path.name}:{number + 1}"
            words = line.split()
            if words[0] == "#":
                into.leave_out("a comment")
                into.note("Comments were left out.")
            elif len(words) != 3:
                into.skip(where, "not three words")
            else:
                into.add(words[0], float(words[1]), words[2], where=where)
            into.progress(number + 1, None, "lines")
            into.reached(number + 1)


def ticking(step_s: float) -> Callable[[], float]:
    """A stopwatch that goes on by so much whenever it is looked at."""
    steps: Iterator[int] = iter(range(10**9))
    return lambda: next(steps) * step_s


def taken(source: Path, folder: Path, importer: Lines | None = None, **how: Any) -> Imported:
    return imported(importer or Lines(), str(source), folder, **{"watch": ticking(5.0), **how})


TEXT = "a 1 x\nb 2 x\n# no\noops\na 3 y\nb -4 z\n# again\nthese are four words\na 5 z\n"


def test_what_is_skipped_and_what_is_left_out_is_told_with_examples(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text(TEXT)
    told: list[str] = []
    result = taken(tmp_path / "rows.txt", tmp_path / "c", tell=told.append)
    assert result.skipped == {"not three words": 2, "the time is before 1970 or after 9999": 1}
    assert result.examples == {
        "not three words": ["rows.txt:4", "rows.txt:8"],
        "the time is before 1970 or after 9999": ["rows.txt:6"],
    }
    assert (result.left_out, result.notes) == (Counter({"a comment": 2}), ("Comments were left out.",))
    assert told[0] == "1 lines"
    corpus = Corpus(tmp_path / "c")
    assert histories(corpus.traces()) == plainly([("a", 1, "x"), ("a", 3, "y"), ("a", 5, "z"), ("b", 2, "x")])
    assert corpus.about.title == "Lines"
    assert corpus.about.more["skipped"] == result.skipped


def test_a_strict_import_ends_at_the_first_bad_row_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text(TEXT)
    with pytest.raises(BadInputError, match=r"rows\.txt:4: not three words; mend it, or leave --strict out"):
        taken(tmp_path / "rows.txt", tmp_path / "c", strict=True, watch=lambda: 0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.txt"]


@pytest.mark.parametrize("fails_at", range(9))
def test_an_import_that_was_cut_off_anywhere_goes_on_to_the_same_end(tmp_path: Path, fails_at: int) -> None:
    source = tmp_path / "rows.txt"
    source.write_text(TEXT)
    whole = taken(source, tmp_path / "whole")
    with pytest.raises(RuntimeError):
        taken(source, tmp_path / "c", Lines(fails_at=fails_at))
    importer = Lines()
    result = taken(source, tmp_path / "c", importer)
    assert importer.begun_at == (fails_at or None)
    assert result.went_on == (fails_at > 0)
    assert (result.skipped, result.left_out, result.examples, result.notes) == (
        *(whole.skipped, whole.left_out, whole.examples, whole.notes),
    )
    assert histories(Corpus(tmp_path / "c").traces()) == histories(Corpus(tmp_path / "whole").traces())


def test_another_source_does_not_go_on_with_the_work_of_one_that_was_cut_off(tmp_path: Path) -> None:
    source = tmp_path / "rows.txt"
    source.write_text(TEXT)
    with pytest.raises(RuntimeError):
        taken(source, tmp_path / "c", Lines(fails_at=3))
    with pytest.raises(BadInputError, match=r"another import that was cut off \(options"):
        taken(source, tmp_path / "c", options={"since": 5})
    source.write_text("a 1 changed\n")
    with pytest.raises(BadInputError, match=r"\(bytes .*start over with --anew"):
        taken(source, tmp_path / "c")
    taken(source, tmp_path / "c", anew=True)
    assert histories(Corpus(tmp_path / "c").traces()) == plainly([("a", 1, "changed")])


def test_a_source_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is not there; give a file, a folder or a URL"):
        taken(tmp_path / "no", tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_reasons_without_number_do_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("a 1 x\n")

    class Verbose(Lines):
        def read(self, source: str, into: Intake) -> None:
            super().read(source, into)
            for n in range(1000):
                into.skip(f"row {n}", f"reason {n}")

    result = taken(tmp_path / "rows.txt", tmp_path / "c", Verbose())
    assert len(result.skipped) == 101
    assert result.skipped["other reasons"] == 900
