"""A git repository's commits, read from one `git log` as it comes.

The repository may be anybody's: nothing that its configuration names is run. Git is told what to do word by
word, asks nobody for objects that are not there, and reads no configuration but the repository's own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from recrawl.errors import BadInputError

PROTOCOLS = ("https", "http", "ssh", "file")
NONE = "none"  # no protocol of that name: git stays on this machine
_STEP_BYTES = 1 << 20
_MAX_NAME_BYTES = 1 << 20
_SAID_BYTES = 2_000
_FATAL = re.compile(r"(?:fatal|error|ssh|remote|git): ")
_COUNTED = re.compile(r"\((\d+)/(\d+)\)")  # "Receiving objects:  45% (450/1000)"
_SCP = re.compile(r"[\w.~-]+@[\w.-]+:(?!//).+")
_PLACES = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"})
# Each could run a program or change what is shown: signatures are checked by gpg, monitors and hooks are
# programs, and so may differences be.
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "log.showRoot=true",
    "log.follow=false", "log.mailmap=false", "log.diffMerges=separate", "diff.external=",
    "diff.relative=false", "diff.orderFile=/dev/null", "diff.ignoreSubmodules=none",
    "protocol.ext.allow=never",
)  # fmt: skip
_LOG = (
    "log", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--first-parent",
    "--reverse",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One file in one commit. Modes are git's: 100644 and 100755 are files, 120000 a link, 160000 a module,
    000000 nothing. `was` is the path that it had before, where it was renamed."""

    path: bytes
    old_mode: bytes
    mode: bytes
    old_blob: bytes
    blob: bytes
    was: bytes = b""


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    changes: Sequence[Change]


def is_address(source: str) -> bool:
    """Whether this is to be cloned, not opened."""
    return "://" in source or _SCP.fullmatch(source) is not None


def folder_of(source: str) -> Path:
    """The folder in which git keeps this repository's objects."""
    path = Path(source).expanduser()
    inside = path / ".git"
    if inside.exists():
        return inside.resolve()
    if (path / "objects").is_dir() and (path / "HEAD").is_file():
        return path.resolve()
    raise BadInputError(
        f"{source} is no git repository; give the repository's own folder (the one with .git in it), a bare "
        "repository, or a URL. To take a part of it, use --paths."
    )


def clone(address: str, folder: Path, progress: Callable[[float, float | None, str], object]) -> None:
    """A bare copy without the files' contents, where the server can leave them out."""
    scheme = "ssh" if "://" not in address else address.partition("://")[0].lower()
    if scheme not in PROTOCOLS:
        raise BadInputError(f"{address} cannot be cloned; use one of {', '.join(PROTOCOLS)}.")
    # Here the user's own configuration counts: proxies, keys and passwords are in it.
    ours = {name: value for name, value in os.environ.items() if name not in _PLACES}
    ours |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS)}
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    words = ["-c", "core.hooksPath=/dev/null", "clone", "--bare", "--filter=blob:none", "--template="]
    words += ["--no-tags", "--progress", "--", address, str(draft)]
    with _running(words, ours) as (process, said):
        process.wait_telling(said, progress)
    draft.rename(folder)


def tip(folder: Path, branch: str | None) -> str:
    """The commit that a branch, tag or commit name stands for."""
    name = branch or "HEAD"
    found = (
        None if name.startswith("-") else _asked(folder, "rev-parse", "--verify", "-q", f"{name}^{{commit}}")
    )
    if not found:
        what = f"no branch, tag or commit {name}" if branch else "no commit yet, or HEAD names none"
        raise BadInputError(f"{folder} has {what}; choose one with --branch (`git branch -a` lists them).")
    return found


def remote(folder: Path) -> str:
    """The address it was cloned from, without user name and password; empty where that is none on the web."""
    return public(_asked(folder, "config", "--get", "remote.origin.url"))


def is_shallow(folder: Path) -> bool:
    return _asked(folder, "rev-parse", "--is-shallow-repository") == "true"


def public(address: str) -> str:
    """
    >>> public("https://me:secret@example.org/o/r.git"), public("git@example.org:o/r.git"), public("/srv/r")
    ('https://example.org/o/r', 'ssh://example.org/o/r', '')
    """
    if _SCP.fullmatch(address):
        host, _, path = address.partition("@")[2].partition(":")
        address = f"ssh://{host}/{path.lstrip('/')}"
    scheme, found, rest = address.partition("://")
    if not found or scheme.lower() not in ("https", "http", "ssh", "git"):
        return ""
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/").removesuffix(".git")


def times(folder: Path, until: str) -> list[int]:
    """When each commit was made, the oldest first: by its committer, who put it into this line of history.
    An author's time may lie years before, in an order of its own."""
    words = [*_LOG, "--format=%ct", until, "--"]
    with _running(["--git-dir", str(folder), *words], _alone()) as (process, said):
        found = [int(line.strip() or 0) for line in process.lines()]  # of a mangled commit there is no time
        process.wait_telling(said)
    return found


def commits(folder: Path, until: str, *, renames: bool = False) -> Iterator[Commit]:
    """Every commit from the first one on, with the files that it changed; a merge against its first parent.

    Only files that were renamed and left as they were count as renamed: that can be told from their names
    in git alone, without contents, which may not be here.
    """
    words = [
        *_LOG,
        "-m",
        "--raw",
        "--no-abbrev",
        "-z",
        "--format=%H",
        "-M100%" if renames else "--no-renames",
    ]
    with _running(["--git-dir", str(folder), *words, until, "--"], _alone()) as (process, said):
        yield from _parsed(process.pieces())
        process.wait_telling(said)


def _parsed(pieces: Iterator[bytes]) -> Iterator[Commit]:
    name = ""
    changes: list[Change] = []
    for piece in pieces:
        if not piece.lstrip(b"\n").startswith(b":"):
            if name:
                yield Commit(name, changes)
            name, changes = piece.strip().decode("ascii"), []
            continue
        old_mode, mode, old_blob, blob, status = piece.strip()[1:].split(b" ")
        path = next(pieces, b"")
        was = b""
        if status[:1] in (b"R", b"C"):
            was, path = path, next(pieces, b"")
        changes.append(Change(path, old_mode, mode, old_blob, blob, was))
    if name:
        yield Commit(name, changes)


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], stream: IO[bytes]) -> None:
        self._process = process
        self._stream = stream

    def lines(self) -> Iterator[bytes]:
        yield from self._stream

    def pieces(self) -> Iterator[bytes]:
        """What stands between zero bytes."""
        rest = b""
        while step := self._stream.read(_STEP_BYTES):
            *whole, rest = (rest + step).split(b"\0")
            yield from whole
            if len(rest) > _MAX_NAME_BYTES:
                raise BadInputError(f"A file's name is longer than {_MAX_NAME_BYTES:,} bytes; leave it out.")

    def wait_telling(
        self, said: IO[bytes], progress: Callable[[float, float | None, str], object] = lambda *_: None
    ) -> None:
        """Until it ends; raises with git's own words where it failed."""
        while True:
            try:
                code = self._process.wait(0.2)
                break
            except subprocess.TimeoutExpired:
                if found := _COUNTED.search(_lines(said)[-1]):
                    progress(int(found[1]), int(found[2]), "objects")
        if code:
            raise BadInputError(
                f"git ended with {code} ({_trouble(said)}); see to it that `git log` works there, and "
                "that the address is right and open to you."
            )


@contextmanager
def _running(words: Sequence[str], env: dict[str, str]) -> Iterator[tuple[_Process, IO[bytes]]]:
    git = shutil.which("git")
    if git is None:
        raise BadInputError("git is not installed; install it (`apt install git`), or give another source.")
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603  # no shell, and every word is ours or stands after `--`
            [git, "--no-pager", *settings, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**env, "LC_ALL": "C"},
        )
        try:
            assert process.stdout is not None  # noqa: S101  # it is a pipe
            yield _Process(process, process.stdout), said
        finally:
            process.kill()
            process.communicate()


def _alone() -> dict[str, str]:
    """No configuration but the repository's, and no way to the network, also where objects are missing."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": NONE,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _asked(folder: Path, *words: str) -> str:
    """One line of an answer; empty where there is none."""
    with _running(["--git-dir", str(folder), *words], _alone()) as (process, _):
        return b"".join(process.lines()).decode("utf-8", "replace").strip()


def _lines(said: IO[bytes]) -> list[str]:
    """The last ones. Not by seeking: git writes on from wherever this file stands."""
    end = os.fstat(said.fileno()).st_size
    text = os.pread(said.fileno(), _SAID_BYTES, max(0, end - _SAID_BYTES)).decode("utf-8", "replace")
    return re.split(r"[\r\n]+", text.strip())


def _trouble(said: IO[bytes]) -> str:
    """The first line that speaks of an error: those after it are advice."""
    lines = _lines(said)
    return next((line for line in lines if _FATAL.match(line)), lines[-1]).strip(" .")[:300]
