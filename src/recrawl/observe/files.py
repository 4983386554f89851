"""Looks at files and folders of this machine, where that is allowed.

what is found                       outcome
a file                              ok, or not-modified where size, time and number are those of the copy
a folder (its URL ends with /)      ok: a list of what is in it, as JSON
nothing, or another sort of thing   gone
the allowed folder itself missing   net-error: a disk that is not mounted says nothing about its files
no permission, a broken disk        net-error
outside the allowed folders         blocked, whatever links lead there
a device, a pipe, a socket          blocked
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path

from recrawl.contracts import Fetcher, Premises
from recrawl.errors import BadUrlError
from recrawl.model import Body, Failure, Fetch, Header, Kind, Outcome, Request
from recrawl.observe.listing import listed, media_type
from recrawl.parse.spool import Spool
from recrawl.urls import canonical_file, file_path

_STEP_BYTES = 1 << 20
_N_READS = 3  # of a file that changes while it is read
# File systems tell times in steps of up to two seconds: a later change within one could go unseen.
_SETTLED_S = 2.0
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class _LookError(Exception):
    """Ends a look at a file with an outcome other than ok."""

    def __init__(self, outcome: Outcome, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.failure = Failure(reason=reason, detail=detail)


class FileHandler:
    schemes = frozenset({"file"})
    kinds: frozenset[Kind] = frozenset()
    media_types: frozenset[str] = frozenset()

    def __init__(self, premises: Premises) -> None:
        self._premises = premises

    async def aclose(self) -> None:
        """Nothing is open."""

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:  # noqa: ARG002 - files are not on the web
        started_at = self._premises.clock.now()
        try:
            async with asyncio.timeout(self._premises.total_s):
                return await asyncio.to_thread(self._looked, request, started_at)
        except TimeoutError:
            problem = _LookError(
                Outcome.NET_ERROR, "timeout", f"not read within {self._premises.total_s:g} s"
            )
            return self._refused(request, started_at, problem)

    def _looked(self, request: Request, started_at: float) -> Fetch:
        try:
            url = canonical_file(request.url)
            path = _allowed(self._premises.folders, Path(file_path(url)))
            with _opened(path) as descriptor:
                if _is_folder(descriptor, url):
                    return self._folder(request, url, descriptor, started_at)
                return self._file(request, url, descriptor, started_at)
        except BadUrlError as problem:
            refused = _LookError(Outcome.BLOCKED, "url", str(problem))
        except OSError as problem:
            refused = _trouble(problem)
        except _LookError as problem:
            refused = problem
        return self._refused(request, started_at, refused)

    def _file(self, request: Request, url: str, descriptor: int, started_at: float) -> Fetch:
        max_bytes = request.manner.max_bytes or self._premises.max_bytes
        for _ in range(_N_READS):
            before = os.fstat(descriptor)
            headers = [("Content-Type", media_type(url)), *self._validators(before)]
            if request.etag is not None and ("ETag", request.etag) in headers:
                return self._answered(request, url, started_at, headers, status=304)
            body, n_bytes = self._body(descriptor, max_bytes)
            if n_bytes > max_bytes:
                cut = Failure(reason="length", detail=f"cut after {len(body):,} bytes")
                return self._answered(request, url, started_at, headers, body, failure=cut)
            if _tag(os.fstat(descriptor)) == _tag(before):
                return self._answered(request, url, started_at, headers, body)
        raise _LookError(Outcome.UNREADABLE, "unsettled", "it changes while it is being read")

    def _folder(self, request: Request, url: str, descriptor: int, started_at: float) -> Fetch:
        body, tag = listed(url, descriptor)
        headers = [("Content-Type", "application/json"), ("ETag", tag)]
        if request.etag == tag:
            return self._answered(request, url, started_at, headers, status=304)
        return self._answered(request, url, started_at, headers, body)

    def _body(self, descriptor: int, max_bytes: int) -> tuple[Body, int]:
        """The first `max_bytes` of it, and how many bytes were seen: one more where there are more."""
        spool = Spool(self._premises.spool)
        at = 0
        while at <= max_bytes and (piece := os.pread(descriptor, min(_STEP_BYTES, max_bytes + 1 - at), at)):
            spool.write(piece)
            at += len(piece)
        return spool.body(max_bytes), at

    def _validators(self, found: os.stat_result) -> list[Header]:
        modified = ("Last-Modified", formatdate(max(0, int(found.st_mtime)), usegmt=True))
        settled = self._premises.clock.now() - found.st_mtime > _SETTLED_S
        return [modified, ("ETag", _tag(found))] if settled else [modified]

    def _answered(
        self,
        request: Request,
        url: str,
        started_at: float,
        headers: list[Header],
        body: Body = b"",
        *,
        status: int = 200,
        failure: Failure | None = None,
    ) -> Fetch:
        """In the form of an HTTP answer: what is kept of a file is kept like everything else."""
        outcome = Outcome.NOT_MODIFIED if status == 304 else Outcome.TRUNCATED if failure else Outcome.OK
        return Fetch(
            request=request,
            outcome=outcome,
            url=url,
            started_at=started_at,
            ended_at=self._premises.clock.now(),
            status=status,
            http_reason="Not Modified" if status == 304 else "OK",
            headers=tuple(headers),
            body=body,
            failure=failure,
            http_version="file",
        )

    def _refused(self, request: Request, started_at: float, problem: _LookError) -> Fetch:
        gone = problem.outcome is Outcome.GONE
        return Fetch(
            request=request,
            outcome=problem.outcome,
            url=request.url,
            started_at=started_at,
            ended_at=self._premises.clock.now(),
            status=404 if gone else None,
            http_reason="Not Found" if gone else "",
            failure=None if gone else problem.failure,
            http_version="file",
        )


def permitted(folders: tuple[Path, ...], path: Path) -> bool:
    """Whether a path lies in one of the folders by its name; links are judged when it is opened."""
    return any(path.is_relative_to(folder) for folder in folders)


def _allowed(folders: tuple[Path, ...], path: Path) -> tuple[Path, Path]:
    """The folder that allows it and the way from there, once all links have been followed."""
    by_name = [folder for folder in folders if path.is_relative_to(folder)]
    if not by_name:
        raise _LookError(
            Outcome.BLOCKED, "not-allowed", f"{path} is in no folder that fetching.allow_files names"
        )
    real = Path(os.path.realpath(path))
    roots = {folder: Path(os.path.realpath(folder)) for folder in folders}
    for root in roots.values():
        if real.is_relative_to(root):
            return root, real.relative_to(root)
    raise _LookError(Outcome.BLOCKED, "outside", f"{path} leads out of the folders that may be visited")


@contextmanager
def _opened(way: tuple[Path, Path]) -> Iterator[int]:
    """Open step by step without following links: one that was put there since it was checked is refused."""
    root, inside = way
    try:
        descriptor = os.open(root, _FLAGS | os.O_DIRECTORY)
    except OSError as problem:
        detail = f"the folder {root} cannot be opened ({problem.strerror})"
        raise _LookError(Outcome.NET_ERROR, "folder", detail) from None
    try:
        for name in inside.parts:
            # Looked at before it is opened, since opening a device may do something; and after, since
            # another may stand there by then.
            _refuse_special(name, os.stat(name, dir_fd=descriptor, follow_symlinks=False))
            step = os.open(name, _FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = step
            _refuse_special(name, os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_special(name: str, found: os.stat_result) -> None:
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        what = "a link" if stat.S_ISLNK(found.st_mode) else "a device, a pipe or a socket"
        raise _LookError(Outcome.BLOCKED, "special-file", f"{name} is {what}, not a file or folder")


def _is_folder(descriptor: int, url: str) -> bool:
    """A folder where a file was, or a file where a folder was: what was watched is not there."""
    folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    if folder != url.endswith("/"):
        raise _LookError(Outcome.GONE, "gone", "there is something else of that name")
    return folder


def _trouble(problem: OSError) -> _LookError:
    detail = problem.strerror or str(problem)
    if problem.errno in _NOT_THERE:
        return _LookError(Outcome.GONE, "gone", detail)
    if problem.errno == errno.ELOOP:  # a link that was not there a moment ago
        return _LookError(Outcome.BLOCKED, "outside", detail)
    return _LookError(Outcome.NET_ERROR, "file", detail)


def _tag(found: os.stat_result) -> str:
    return f'"{found.st_size:x}-{found.st_mtime_ns:x}-{found.st_ino:x}"'
