"""Histories taken into a corpus by a real importer, and what is in the corpus then; git repositories too."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from pyarrow import parquet

from recrawl.corpora.importing import Importer
from recrawl.corpora.native import Corpus
from recrawl.corpora.run import Imported, imported

T0 = 1_600_000_000  # 2020-09-13 12:26:40 UTC
DAY = 86_400


class Cut(Exception):  # noqa: N818  # somebody pressed Ctrl-C
    pass


@dataclass(frozen=True, slots=True)
class Taken:
    """What a corpus holds, by resource."""

    result: Imported
    corpus: Corpus

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        rows = parquet.read_table(self.corpus.folder / "resources.parquet").to_pylist()
        return {row["url"] or row["path"]: row for row in rows}

    @property
    def events(self) -> dict[str, list[tuple[int, str]]]:
        found = self._rows("events.parquet")
        return {name: [(row["at"], row["digest"]) for row in rows] for name, rows in found.items()}

    @property
    def visits(self) -> dict[str, list[tuple[int, str, bool]]]:
        found = self._rows("visits.parquet")
        return {
            name: [(row["at"], row["digest"], row["changed"]) for row in rows] for name, rows in found.items()
        }

    @property
    def threads(self) -> dict[str, dict[str, Any]]:
        """By title."""
        with gzip.open(self.corpus.folder / "posts.jsonl.gz", "rt", encoding="utf-8") as lines:
            return {thread["title"]: thread for thread in map(json.loads, lines)}

    def _rows(self, name: str) -> dict[str, list[dict[str, Any]]]:
        names = {row["resource"]: name for name, row in self.facts.items()}
        found: dict[str, list[dict[str, Any]]] = {}
        for row in parquet.read_table(self.corpus.folder / name).to_pylist():
            found.setdefault(names[row["resource"]], []).append(row)
        return found


def taken(importer: Importer, source: object, folder: Path, *, strict: bool = False, **said: Any) -> Taken:
    result = imported(importer, str(source), folder, strict=strict, **said)
    return Taken(result, Corpus(result.folder))


def taken_in_parts(importer: type[Importer], source: object, folder: Path, n_told: int, **said: Any) -> Taken:
    """As `taken`, but cut off after so many words of progress, and begun again. Every position is saved."""
    try:
        taken(importer(**said), source, folder, options=said, tell=cutting(n_told), watch=hurried())
    except Cut:
        return taken(importer(**said), source, folder, options=said)
    raise AssertionError("it was not cut off")


def cutting(n_told: int) -> Callable[[str], None]:
    """Listens to so many words, and then ends it all."""
    left = iter(range(n_told))

    def tell(_: str) -> None:
        if next(left, None) is None:
            raise Cut

    return tell


def hurried() -> Callable[[], float]:
    """A watch on which every step takes so long that all that can be told or saved is."""
    return count(0, 10).__next__


def same(one: Taken, other: Taken) -> None:
    """The same histories, and the same counts."""
    assert one.facts.keys() == other.facts.keys()
    assert one.events == other.events
    assert (one.result.skipped, one.result.left_out) == (other.result.skipped, other.result.left_out)


@dataclass(slots=True)
class Commit:
    """`files` by path: contents, None for a deletion, or a mode and contents."""

    at: int
    files: Mapping[str | bytes, bytes | tuple[str, bytes] | None]
    branch: str = "main"
    merges: Sequence[str] = ()
    renames: Mapping[str, str] = field(default_factory=dict)


def repository(folder: Path, *commits: Commit) -> Path:
    """A bare repository with these commits."""
    git("init", "-q", "--bare", "-b", "main", str(folder))
    marks: dict[str, int] = {}
    stream = b""
    for n, commit in enumerate(commits, 1):
        stream += f"commit refs/heads/{commit.branch}\nmark :{n}\n".encode()
        # the author's time is another one, and must not count
        stream += f"author A <a@example.org> {commit.at - 12_345} +0200\n".encode()
        stream += f"committer C <c@example.org> {commit.at} +0200\ndata 1\nx\n".encode()
        if commit.branch not in marks and n > 1:
            stream += f"from :{marks['main']}\n".encode()
        stream += b"".join(b"merge :%d\n" % marks[name] for name in commit.merges)
        for old, new in commit.renames.items():
            stream += f"R {old} {new}\n".encode()
        for path, said in commit.files.items():
            name = path if isinstance(path, bytes) else path.encode()
            quoted = b'"' + name.replace(b"\\", rb"\\").replace(b'"', rb"\"").replace(b"\n", rb"\n") + b'"'
            mode, content = said if isinstance(said, tuple) else ("100644", said)
            if content is None:
                stream += b"D " + quoted + b"\n"
            elif mode == "160000":
                stream += b"M 160000 %s %s\n" % (content, quoted)
            else:
                stream += b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), quoted, len(content), content)
        marks[commit.branch] = n
    git("-C", str(folder), "fast-import", "--quiet", stdin=stream)
    return folder


def git(*words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *words], input=stdin, env={**clean, **alone, **(env or {})}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


@contextmanager
def without_git(path: Path) -> Iterator[None]:
    """A machine on which git is not installed."""
    before = os.environ["PATH"]
    os.environ["PATH"] = str(path)
    try:
        yield
    finally:
        os.environ["PATH"] = before
