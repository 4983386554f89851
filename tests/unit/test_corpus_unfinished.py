"""Corpora that are being made: nothing is overwritten, nothing is lost, nothing is there twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.corpora import histories, plainly

from recrawl.corpora.native import Corpus
from recrawl.corpora.writing import Writer
from recrawl.corpora.writing.unfinished import Unfinished
from recrawl.errors import BadInputError


def page(folder: Path, **more: Any) -> Writer:
    return Writer(folder, kind="page", observation="every-change", **more)


def test_nothing_that_is_there_is_ever_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(BadInputError, match="is there already; choose another folder"):
        page(folder)
    (folder / "mine").unlink()
    with page(folder) as writer:  # an empty folder holds nothing that could be lost
        with pytest.raises(BadInputError, match="Another process is writing"):
            page(folder)
        writer.add("u", 1, "a")
        writer.finish()
    with pytest.raises(BadInputError, match="is there already"):
        page(folder, anew=True)
    other = tmp_path / "d.unfinished"
    other.mkdir()
    (other / "mine").touch()
    for anew in (False, True):
        with pytest.raises(BadInputError, match="is not recrawl's; move it away"):
            page(tmp_path / "d", anew=anew)
    assert (other / "mine").exists()


def test_a_writer_goes_on_from_what_was_saved_and_forgets_what_was_not(tmp_path: Path) -> None:
    folder, rows = tmp_path / "c", [(f"https://{n % 3}.org/", n, str(n)) for n in range(9)]
    with page(folder, what={"source": "s"}) as writer:
        for row in rows[:5]:
            writer.add(*row)
        writer.save(position=5)
        writer.add("https://forgotten.org/", 1, "x")
        writer.add(*rows[0])
        writer._rows.flush()
    with pytest.raises(BadInputError, match=r"another import that was cut off \(source 's'\).*--anew"):
        page(folder, what={"source": "t"})
    with page(folder, what={"source": "s"}) as writer:
        assert writer.unfinished.state["position"] == 5
        for row in rows[5:]:
            writer.add(*row)
        said = writer.finish()
    assert histories(Corpus(folder).traces()) == plainly(rows)
    assert (said["resources"], said["events"], said["skipped"]) == (3, 9, {})


def test_anew_forgets_everything_and_a_damaged_state_asks_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with page(folder) as writer:
        writer.add("old", 1, "x")
        writer.save(position=1)
    (tmp_path / "c.unfinished" / "state.json").write_text("{")
    with pytest.raises(BadInputError, match="is damaged; start over with --anew"):
        page(folder)
    with page(folder, anew=True) as writer:
        writer.add("new", 1, "x")
        writer.save(position=1)
    (tmp_path / "c.unfinished" / "rows.arrows").write_bytes(b"")
    with pytest.raises(BadInputError, match="is damaged; start over with --anew"):
        page(folder)
    with page(folder, anew=True) as writer:
        writer.add("newest", 1, "x")
        writer.finish()
    assert Corpus(folder).traces().url == ["newest"]


def test_a_kill_while_the_files_are_made_costs_only_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "c"
    with monkeypatch.context() as patch, page(folder) as writer:
        writer.add("u", 1, "a")
        patch.setattr(Unfinished, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            writer.finish()
    assert not folder.exists()
    with monkeypatch.context() as patch, page(folder) as writer:
        patch.setattr(Unfinished, "discard", killed)
        with pytest.raises(KeyboardInterrupt):
            writer.finish()
    assert Corpus(folder).traces().url == ["u"]
    with pytest.raises(BadInputError, match="is there already"):
        page(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_clearing_up_that_is_cut_off_leaves_what_can_be_cleared_up_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "c"
    with page(folder) as writer:
        writer.add("u", 1, "a")
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", pulled)
            with pytest.raises(KeyboardInterrupt):
                writer.finish()
    assert (folder / "corpus.json").exists()
    assert (tmp_path / "c.unfinished" / "state.json").exists()
    with pytest.raises(BadInputError, match="is there already"):
        page(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def pulled(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_damaged_list_of_names_asks_to_start_over(tmp_path: Path) -> None:
    with page(tmp_path / "c") as writer:
        writer.add("https://a.org/", 1, "x")
        writer.save(position=1)
    names = tmp_path / "c.unfinished" / "names.jsonl"
    names.write_bytes(b"\0" * names.stat().st_size)
    with pytest.raises(BadInputError, match=r"names\.jsonl is damaged; start over with --anew"):
        page(tmp_path / "c")
