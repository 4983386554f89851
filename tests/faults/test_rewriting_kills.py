"""Killed at any step of writing archive files anew: the old state or the new one, and nothing comes back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.counts import FULL
from tests.keeper import T0, Keeper, chained, holds, keeper
from tests.warcs import files

from recrawl.app import mending
from recrawl.app.erasure import erase
from recrawl.app.health import verify
from recrawl.app.patience import patient
from recrawl.app.pruning import Pruner
from recrawl.remember import copying, rewriting
from recrawl.remember.recovery import CUT_FOLDER
from recrawl.remember.retention import Retention
from recrawl.remember.sqlite.database import Database

# All steps, or as many of them, evenly spread.
N_STEPS = 400 if FULL else 8
A, B, C, D = "http://a.example/", "http://b.example/", "http://c.example/", "http://d.example/"
MARKER = b"Xylophagous-4711"
KILLED = 9


def marked(text: str) -> bytes:
    return b"<p>" + MARKER + b" " + text.encode() * 600


def filled(home: Path) -> None:
    """Two files that refer to each other's payloads, and a third."""
    with keeper(home) as kept:
        kept.sees(A, marked("1"), T0)
        kept.sees(B, b"b1" * 600, T0)
        kept.sees(A, marked("2"), T0 + 1)
        kept.rotate()
        kept.sees(D, marked("2"), T0 + 9)  # refers to A's, as C's does, which is older and comes later
        kept.sees(A, marked("3"), T0 + 3)
        kept.rotate()
        kept.sees(A, marked("3"), T0 + 4)
        kept.sees(B, b"b1" * 600, T0 + 4)
        kept.sees(C, marked("2"), T0 + 4)
        kept.sees(A, marked("4"), T0 + 5)


def erased(kept: Keeper) -> None:
    erase(kept.house, A)


def pruned(kept: Keeper) -> None:
    kept.rotate()
    pruner = Pruner(store=kept.house.store, folder=kept.folder, now=kept.clock.now, waiting=patient(5.0))
    pruner.prune(Retention(n_most=1))


@contextmanager
def killed_at(step: int, told: int) -> Iterator[None]:
    """This process ends in the middle of what follows, at that step; else the number of steps is told."""
    n = 0

    def tick() -> None:
        nonlocal n
        n += 1
        if n == step:
            os._exit(KILLED)

    def ticking(module: Any, name: str) -> None:
        really = getattr(module, name)

        def ticked(*args: Any, **kwargs: Any) -> Any:
            tick()
            result = really(*args, **kwargs)
            tick()
            return result

        setattr(module, name, ticked)

    for name in ("fsync", "unlink", "replace", "ftruncate"):
        ticking(os, name)
    ticking(copying._Writer, "_append")
    writing = Database.writing

    @contextmanager
    def ticked(self: Database) -> Iterator[None]:
        tick()
        with writing(self):
            yield
            tick()
        tick()

    Database.writing = ticked  # type: ignore[method-assign]
    yield
    os.write(told, str(n).encode())


def killed(home: Path, work: Callable[[Keeper], None], step: int) -> int:
    """Do the work in a process that is killed at this step; the number of steps where it was not."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            with keeper(home) as kept, killed_at(step, write):
                work(kept)
        except BaseException:
            os._exit(3)
        os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    told = os.read(read, 20)
    os.close(read)
    assert os.waitstatus_to_exitcode(status) in (0, KILLED)
    return int(told or 0)


def chosen(n_steps: int, n: int = N_STEPS) -> list[int]:
    return sorted({1 + round(i * (n_steps - 1) / (n - 1)) for i in range(n)})


def wrong(home: Path, bodies: dict[str, list[bytes]]) -> list[str]:
    """What is not as it must be after the next start, whatever happened before."""
    found: list[str] = []
    with keeper(home) as kept:
        found += [f"{p.where}: {p.what}" for p in verify(kept.house)]
        found += [f"cut: {name}" for name in holds(kept.folder / CUT_FOLDER, MARKER)]
        found += [f"doomed: {name}" for name in kept.house.store.doomed()]
        if {path.name for path in files(kept.folder)} != set(kept.house.store.files()):
            found.append("other files than are recorded")
        if not chained(kept.folder):
            found.append("a revisit refers to nothing")
        found += [f"{url} has lost something" for url in bodies if kept.bodies(url) != bodies[url]]
        left = kept.bodies(A)
        if any(body not in [marked(text) for text in "1234"] for body in left):
            found.append("a version has another content")
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    filled(tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.slow
def test_an_erasure_killed_at_any_step_loses_nothing_and_can_be_finished(home: Path, tmp_path: Path) -> None:
    others = {B: [b"b1" * 600], C: [marked("2")], D: [marked("2")]}
    shutil.copytree(home, tmp_path / "counted")
    n_steps = killed(tmp_path / "counted", erased, 0)
    assert n_steps > 40
    for step in chosen(n_steps):
        again = tmp_path / "again"
        shutil.copytree(home, again)
        assert killed(again, erased, step) == 0
        assert wrong(again, others) == [], f"killed at step {step} of {n_steps}"
        with keeper(again) as kept:
            erased(kept)
        assert wrong(again, others) == [], f"finished after step {step} of {n_steps}"
        with keeper(again) as kept:
            assert kept.bodies(A) == []
            erase(kept.house, C)
            erase(kept.house, D)
        assert holds(again, MARKER) == []
        shutil.rmtree(again)


@pytest.mark.slow
def test_a_pruning_killed_at_any_step_loses_nothing(home: Path, tmp_path: Path) -> None:
    others = {B: [b"b1" * 600], C: [marked("2")], D: [marked("2")]}
    shutil.copytree(home, tmp_path / "counted")
    n_steps = killed(tmp_path / "counted", pruned, 0)
    assert n_steps > 20
    for step in chosen(n_steps, 3 * N_STEPS):
        again = tmp_path / "again"
        shutil.copytree(home, again)
        assert killed(again, pruned, step) == 0
        assert wrong(again, others) == [], f"killed at step {step} of {n_steps}"
        with keeper(again) as kept:
            pruned(kept)
            assert kept.bodies(A) == [marked("1"), marked("4")]
        assert wrong(again, others) == [], f"finished after step {step} of {n_steps}"
        shutil.rmtree(again)


@pytest.mark.slow
def test_the_check_sees_an_exchange_that_does_not_say_which_file_is_doomed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a crash leaves would be taken for a dead writer's, and put aside with all it holds."""
    monkeypatch.setattr(rewriting, "bury_doomed", lambda *_: None)
    monkeypatch.setattr(mending, "mended", lambda archive, store: archive.recover(store.files))
    monkeypatch.setattr("recrawl.app.build.mended", lambda archive, store: archive.recover(store.files))
    monkeypatch.setattr("recrawl.app.health.mended", lambda archive, store: archive.recover(store.files))
    shutil.copytree(home, tmp_path / "counted")
    n_steps = killed(tmp_path / "counted", erased, 0)
    for step in range(10, n_steps, 3):
        again = tmp_path / "again"
        shutil.copytree(home, again)
        killed(again, erased, step)
        if any(problem.startswith("cut: ") for problem in wrong(again, {})):
            return
        shutil.rmtree(again)
    pytest.fail("nobody noticed")
