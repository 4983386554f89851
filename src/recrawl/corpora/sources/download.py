"""Polite, plain requests for sources that lie on the web: one at a time, and patient.

This is no visit: the user named the address, nothing is judged or archived, and it may be on this machine.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import unquote, urlsplit

import aiohttp

from recrawl import __version__
from recrawl.contracts import Clock
from recrawl.errors import BadInputError
from recrawl.live.clock import WallClock

N_ATTEMPTS = 6
LONGEST_WAIT_S = 600.0
MAX_FILE_BYTES = 256 << 30
_STEP_BYTES = 1 << 16
_FIRST_WAIT_S = 1.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")

T = TypeVar("T")
Told = Callable[[float, float | None, str], None]


class _Again(Exception):  # noqa: N818  # control flow of this file, never seen outside
    def __init__(self, why: str, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class Web:
    """A session that is opened with the first request and closed with the import."""

    def __init__(
        self,
        *,
        user_agent: str = f"recrawl/{__version__}",
        clock: Clock | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        self._user_agent = user_agent
        self._clock = clock or WallClock()
        # A long download is fine as long as something comes.
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=timeout_s, sock_read=timeout_s)
        self._runner = asyncio.Runner()
        self._session: aiohttp.ClientSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            self._runner.run(self._session.close())
        self._runner.close()

    def ask(
        self, url: str, *, max_bytes: int, accept: str = "*/*", busy: Callable[[bytes], bool] | None = None
    ) -> bytes:
        """The body of a successful answer. BadInputError where there is none, or it is larger."""

        async def attempt() -> bytes:
            async with self._asked(url, {"Accept": accept}) as answer:
                body = bytearray()
                async for piece in answer.content.iter_chunked(_STEP_BYTES):
                    body += piece
                    if len(body) > max_bytes:
                        raise _too_large(url, max_bytes)
                if busy is not None and busy(bytes(body)):
                    raise _Again("it is busy", self._wait_s(answer.headers.get("Retry-After", "")))
                return bytes(body)

        return self._runner.run(self._patiently(url, attempt))

    def download(self, url: str, folder: Path, *, max_bytes: int = MAX_FILE_BYTES, told: Told) -> Path:
        """The file; where part of it is there already and has not changed, only the rest is fetched."""
        path = folder / _file_name(url)
        if path.exists():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        part, note = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.validator")

        async def attempt() -> None:
            n_there = part.stat().st_size if part.exists() and note.exists() else 0
            headers = {"Accept-Encoding": "identity"}
            if n_there:
                headers |= {"Range": f"bytes={n_there}-", "If-Range": json.loads(note.read_text())}
            async with self._asked(url, headers) as answer:
                goes_on = answer.status == 206 and _first_byte(answer) == n_there
                if answer.status == 206 and not goes_on:
                    note.unlink(missing_ok=True)
                    raise _Again("it sent another part than was asked for")
                validator = _validator(answer)
                note.write_text(json.dumps(validator)) if validator else note.unlink(missing_ok=True)
                n_done = n_there if goes_on else 0
                total = answer.content_length + n_done if answer.content_length is not None else None
                if (total or 0) > max_bytes:
                    raise _too_large(url, max_bytes)
                with part.open("ab" if goes_on else "wb") as out:
                    async for piece in answer.content.iter_chunked(_STEP_BYTES):
                        out.write(piece)
                        n_done += len(piece)
                        told(n_done, total, "bytes")
                        if n_done > max_bytes:
                            raise _too_large(url, max_bytes)

        self._runner.run(self._patiently(url, attempt))
        note.unlink(missing_ok=True)
        part.replace(path)
        return path

    async def _patiently(self, url: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Several attempts, each after a longer wait, or after the one that the server asks for."""
        wait_s = _FIRST_WAIT_S
        for n_left in range(N_ATTEMPTS - 1, -1, -1):
            try:
                return await attempt()
            except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as problem:
                raise BadInputError(f"{url} is not an address that can be asked; check it.") from problem
            except (_Again, aiohttp.ClientError, TimeoutError) as problem:
                asked_s = problem.wait_s if isinstance(problem, _Again) else None
                if not n_left or (asked_s or 0.0) > LONGEST_WAIT_S:
                    why = str(problem) or type(problem).__name__
                    raise BadInputError(f"{url} cannot be fetched ({why}); try again later.") from problem
                await self._clock.sleep(wait_s if asked_s is None else asked_s)
                wait_s *= 2
        raise AssertionError  # the last attempt returns or raises

    @asynccontextmanager
    async def _asked(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=self._timeout, headers={"User-Agent": self._user_agent}, trust_env=True
            )
        async with self._session.get(url, headers=headers) as answer:
            if answer.status in _PASSING:
                raise _Again(f"status {answer.status}", self._wait_s(answer.headers.get("Retry-After", "")))
            if answer.status not in (200, 206):
                raise BadInputError(f"{url} answered with status {answer.status}; check the address.")
            yield answer

    def _wait_s(self, said: str) -> float | None:
        if said.isascii() and said.strip().isdigit():
            return float(said)
        try:
            return max(0.0, parsedate_to_datetime(said).timestamp() - self._clock.now())
        except ValueError:
            return None


def _validator(answer: aiohttp.ClientResponse) -> str | None:
    """What tells later whether the rest belongs to this beginning; a weak tag does not."""
    if "Content-Encoding" in answer.headers:
        return None  # what is kept is not what was counted
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _first_byte(answer: aiohttp.ClientResponse) -> int | None:
    match = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _too_large(url: str, max_bytes: int) -> BadInputError:
    return BadInputError(f"{url} is larger than {max_bytes:,} bytes; fetch it yourself, and give the file.")


def _file_name(url: str) -> str:
    """Unlike those of other URLs, with the ending that the URL has."""
    last = _NOT_IN_NAMES.sub("-", unquote(urlsplit(url).path).rpartition("/")[2])[-80:]
    return f"{sha256(url.encode('utf-8', 'replace')).hexdigest()[:12]}-{last or 'index'}"
