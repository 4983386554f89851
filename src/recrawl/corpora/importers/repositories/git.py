"""File histories of a git repository: a file is a resource, a blob a version, a deletion a tombstone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from urllib.parse import quote

from recrawl.corpora.importers.repositories import commits
from recrawl.corpora.importers.repositories.clocks import in_step
from recrawl.corpora.importers.repositories.commits import Change, Commit
from recrawl.corpora.importing import Intake, Option
from recrawl.errors import BadInputError

GONE = "gone"  # the digest of a tombstone: no blob has that name
_N_TOGETHER = 20_000  # rows
_LINK, _MODULE = b"120000", b"160000"
_OTHERS = {_LINK: "symbolic link", _MODULE: "submodule"}


class Git:
    """The time of a version is its committer's: the moment it came into this line of history. An author's
    time may be years older. Merges count as what they changed on the branch that they were merged into.
    """

    name = "git"
    summary = "file histories of a git repository: its folder, a bare one, or a URL to clone"
    options: tuple[Option, ...] = (
        Option("paths", "words", "Only files whose path matches: 'data/*.json'. * also stands for slashes."),
        Option("branch", "word", "This branch, tag or commit; else the one that HEAD names."),
        Option("since", "moment", "From then on; what a file was before counts as its first version."),
        Option("until", "moment", "Up to then."),
        Option("min-versions", "count", "Only files with at least so many versions."),
        Option("follow-renames", "flag", "A file that was renamed and left as it was stays one resource."),
        Option(
            "by-folder", "flag", "Files of one top folder change together, instead of the whole repository's."
        ),
    )

    def __init__(
        self,
        *,
        paths: Sequence[str] = (),
        branch: str | None = None,
        since: float = -inf,
        until: float = inf,
        min_versions: int = 1,
        follow_renames: bool = False,
        by_folder: bool = False,
    ) -> None:
        self._paths = tuple(paths)
        self._branch = branch
        self._since = since
        self._until = until
        self._min_versions = min_versions
        self._follow = follow_renames
        self._by_folder = by_folder

    def read(self, source: str, into: Intake) -> None:
        if source.startswith("-"):
            raise BadInputError(f"{source} begins with a dash; name a folder as ./{source}, or give a URL.")
        folder, address = self._opened(source, into)
        tip = commits.tip(folder, self._branch)
        at, n_moved = in_step(commits.times(folder, tip))
        told = _Told(address, _named(source, address), self._by_folder)
        into.about(
            kind="data", observation="every-change", resolution_s=1, title=f"Files of {told.repository}"
        )
        into.about(source=address or told.repository, commit=tip)
        if n_moved:
            into.note(
                f"Commits dated out of order (a wrong clock, a rebase): {n_moved:,} of {len(at):,}. Each has "
                "the time of the one before it that is in order."
            )
        if commits.is_shallow(folder):
            into.note("This is a shallow clone: what was before its first commit is not known.")
        within = [time for time in at if self._since <= time <= self._until]
        if within:
            first = within[0] if self._since == -inf else int(self._since)
            into.about(start=first, end=within[-1])
        wanted = self._often(folder, tip, at) if self._min_versions > 1 else None
        self._walk(commits.commits(folder, tip, renames=self._follow), at, into, told, wanted)

    def _opened(self, source: str, into: Intake) -> tuple[Path, str]:
        if not commits.is_address(source):
            folder = commits.folder_of(source)
            return folder, commits.remote(folder)
        name = hashlib.sha256(source.encode()).hexdigest()[:16]
        folder = into.folder / f"{name}.git"
        if not folder.is_dir():
            commits.clone(source, folder, into.progress)
        return folder, commits.public(source)

    def _often(self, folder: Path, tip: str, at: Sequence[int]) -> set[str]:
        """The names of those that have enough versions."""
        history = _Histories(self._paths, follow=self._follow)
        n_versions: Counter[str] = Counter()
        for commit, time in zip(commits.commits(folder, tip, renames=self._follow), at, strict=True):
            if time > self._until:
                break
            for name, digest in history.rows(commit):
                # what a file was before `since` is one version, however many there were
                n_versions[name] = n_versions[name] + 1 if time >= self._since else digest != GONE
        return {name for name, n in n_versions.items() if n >= self._min_versions}

    def _walk(
        self,
        found: Iterator[Commit],
        at: Sequence[int],
        into: Intake,
        told: _Told,
        wanted: set[str] | None,
    ) -> None:
        history = _Histories(self._paths, follow=self._follow)
        done = into.position  # the number and the name of the last commit taken in
        n_done = done[0] if done else 0
        rows = _Rows(into, told)
        early: dict[str, tuple[int, str]] | None = {} if self._since > -inf else None
        for n, (commit, time) in enumerate(zip(found, at, strict=True), 1):
            if time > self._until:
                into.leave_out("commits after --until", len(at) - n + 1)
                break
            if done and n == n_done and commit.id != done[1]:
                raise BadInputError(
                    "The repository's history is not the one that this import began with; begin anew with "
                    "another folder."
                )
            if early is not None and time >= self._since:
                for name, (before, digest) in early.items():
                    if digest != GONE and n > n_done:
                        rows.add(name, before, digest)
                early = None
            for name, digest in history.rows(commit):
                if wanted is not None and name not in wanted:
                    continue
                if early is not None:
                    early[name] = (time, digest)
                elif n > n_done:
                    rows.add(name, time, digest)
            if n > n_done:
                rows.reached(n, commit.id, len(at))
        rows.flush()
        for why, n in history.left_out.items():
            into.leave_out(why, n)


@dataclass(slots=True)
class _Histories:
    """Which resource each path is at the moment, as the commits go by."""

    globs: Sequence[str]
    follow: bool
    left_out: Counter[str] = field(default_factory=Counter)
    _names: dict[bytes, str | None] = field(default_factory=dict)  # None: not wanted
    _taken: set[str] = field(default_factory=set)

    def rows(self, commit: Commit) -> Iterator[tuple[str, str]]:
        """Name and digest of what each changed file is now."""
        for change in commit.changes:
            was_file, is_file = _is_file(change.old_mode), _is_file(change.mode)
            if not was_file and not is_file:
                mode = change.mode if change.mode in _OTHERS else change.old_mode
                self.left_out[_OTHERS.get(mode, "neither a file nor a link")] += 1
                continue
            name, is_new = self._name(change)
            if name is None:
                self.left_out["files that --paths does not name"] += is_new
            elif not is_file:
                yield name, GONE
            elif change.blob != change.old_blob:
                yield name, change.blob.decode("ascii")
            elif not change.was:
                self.left_out["only the file's mode changed"] += 1

    def _name(self, change: Change) -> tuple[str | None, bool]:
        path = change.path
        if change.was and self.follow:
            # from now on the old path is free for another file
            self._names[path] = self._names.pop(change.was, None) or self._fresh(path)
            return self._names[path], False
        if path in self._names:
            return self._names[path], False
        self._names[path] = self._fresh(path)
        return self._names[path], True

    def _fresh(self, path: bytes) -> str | None:
        text = shown(path)
        if self.globs and not any(fnmatchcase(text, glob) for glob in self.globs):
            return None
        name, n = text, 1
        while self.follow and name in self._taken:
            n += 1
            name = f"{text}#{n}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Told:
    """How a file is called in the corpus."""

    address: str
    repository: str
    by_folder: bool

    def url(self, name: str) -> str:
        return f"{self.address}/{quote(name)}" if self.address else name

    def host(self, name: str) -> str:
        folder = name.partition("/")[0] if "/" in name else "."
        return f"{self.repository}/{folder}" if self.by_folder else self.repository


class _Rows:
    """Rows on their way to the intake, many at a time."""

    def __init__(self, into: Intake, told: _Told) -> None:
        self._into = into
        self._told = told
        self._places: dict[str, int] = {}
        self._which: list[int] = []
        self._at: list[int] = []
        self._digest: list[str] = []

    def add(self, name: str, at: int, digest: str) -> None:
        self._which.append(self._places.setdefault(name, len(self._places)))
        self._at.append(at)
        self._digest.append(digest)

    def reached(self, n: int, commit: str, n_all: int) -> None:
        """All of this commit was added."""
        self._into.progress(n, n_all, "commits")
        if len(self._at) >= _N_TOGETHER:
            self.flush()
        if not self._at:
            self._into.reached([n, commit])

    def flush(self) -> None:
        if not self._at:
            return
        names = list(self._places)
        urls, hosts = [self._told.url(name) for name in names], [self._told.host(name) for name in names]
        self._into.add_columns(urls, self._at, self._digest, which=self._which, host=hosts)
        if self._told.address:
            for url, name in zip(urls, names, strict=True):
                self._into.resource(url, path=name)
        self._places, self._which, self._at, self._digest = {}, [], [], []


def shown(path: bytes) -> str:
    """A path as text; bytes that are none are written as in a URL.

    >>> shown(b"caf\\xc3\\xa9/a b"), shown(b"caf\\xe9")
    ('café/a b', 'caf%E9')
    """
    try:
        return path.decode()
    except UnicodeDecodeError:
        return quote(path, safe="/ ")


def _is_file(mode: bytes) -> bool:
    return mode[:3] == b"100"


def _named(source: str, address: str) -> str:
    """
    >>> _named("/srv/data.git/", ""), _named("x", "https://example.org/owner/data")
    ('data', 'owner/data')
    """
    if address:
        return "/".join(address.partition("://")[2].split("/")[1:][-2:]) or address
    folder = Path(source.partition("://")[2] or source).expanduser().resolve()
    return (folder.parent if folder.name == ".git" else folder).name.removesuffix(".git")
