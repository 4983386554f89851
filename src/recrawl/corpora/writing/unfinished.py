"""The folder beside a corpus to be, in which it is prepared: the corpus itself is there whole or not at all.

What was taken in lies in files that only grow. `state.json` says how long each of them was when the state was
last saved; after a kill they are cut to that length, so that nothing is there twice and nothing is missing.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recrawl.errors import BadInputError

ENDING = ".unfinished"
_STATE, _LOCK, _READY = "state.json", "lock", "ready"


class Unfinished:
    """`what` tells this import from others into the same folder; only the same one goes on."""

    def __init__(self, target: Path, what: Mapping[str, Any], *, anew: bool = False) -> None:
        self.target = Path(os.path.abspath(target))  # noqa: PTH100  # of ".." too, without following links
        self.folder = self.target.with_name(self.target.name + ENDING)
        self._what = dict(what)
        self._fd = self._locked()
        try:
            self.state = self._begun(anew)
        except BaseException:
            self.close()
            raise

    @property
    def ready(self) -> Path:
        """Where the finished files are put."""
        return self.folder / _READY

    def save(self, state: Mapping[str, Any]) -> None:
        """In one step: after it the new state holds, before it the old one."""
        whole = {"what": self._what, **state}
        text = json.dumps(whole, ensure_ascii=True, allow_nan=False)
        draft = self.folder / f"{_STATE}.draft"
        with draft.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / _STATE)
        self.state = whole

    def publish(self) -> None:
        """Make what lies in `ready` the corpus, and leave nothing else."""
        self.save({**{name: held for name, held in self.state.items() if name != "what"}, "finished": True})
        for path in self.ready.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        self.ready.rename(self.target)
        self.discard()

    def discard(self) -> None:
        """The state goes last: as long as anything is left, it says whose it is."""
        self._clear({_STATE, _LOCK})
        shutil.rmtree(self.folder)
        self.close()

    def discard_if_bare(self) -> None:
        """Where nothing is kept that another attempt could use, nothing is left lying about."""
        if "sizes" not in self.state and not any(
            path.is_dir() and any(path.iterdir()) for path in self.folder.iterdir()
        ):
            self.discard()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _locked(self) -> int:
        if self.target.exists() and not (self.target.is_dir() and not any(self.target.iterdir())):
            self._tidy()
            raise BadInputError(f"{self.target} is there already; choose another folder, or remove it first.")
        there = set(_names(self.folder)) if self.folder.exists() else set()
        if _STATE not in there and there - {_LOCK, f"{_STATE}.draft"}:
            raise BadInputError(f"{self.folder} is needed for the work and is not recrawl's; move it away.")
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = self.folder / _LOCK
        fd = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(lock.stat(), os.fstat(fd))  # nobody has just cleared up
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            os.close(fd)
            raise BadInputError(f"Another process is writing {self.target}; wait until it has ended.")
        return fd

    def _tidy(self) -> None:
        """A kill between the corpus's coming to be and the clearing up leaves a folder without use."""
        said = _read(self.folder / _STATE)
        if said is not None and said.get("finished") and not self.ready.exists():
            shutil.rmtree(self.folder, ignore_errors=True)

    def _begun(self, anew: bool) -> dict[str, Any]:
        path = self.folder / _STATE
        state = _read(path)
        if anew or not path.exists():
            self._clear({_STATE, _LOCK})
            self.save({})
            return self.state
        if state is None:
            raise BadInputError(f"{path} is damaged; start over with --anew.")
        before = state.get("what", {})
        if before != self._what:
            other = ", ".join(
                f"{name} {before.get(name)!r}" for name in before if before[name] != self._what.get(name)
            )
            raise BadInputError(
                f"{self.folder} holds another import that was cut off ({other or 'not the same options'}); "
                "go on with that one, or start over with --anew."
            )
        return state

    def _clear(self, kept: set[str]) -> None:
        for name in set(_names(self.folder)) - kept:
            inner = self.folder / name
            shutil.rmtree(inner) if inner.is_dir() else inner.unlink()


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
