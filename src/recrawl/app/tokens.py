"""Who may come in at the web face: tokens by name, of which only a digest is kept.

A token is 256 random bits, so that one round of SHA-256 is enough: there is nothing to guess. The key that
signs sessions lies beside them; removing a token ends its sessions.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from recrawl.app import private
from recrawl.errors import BadInputError, BadSettingError

FILE_NAME = "tokens.json"
_FORMAT = 1
_PREFIX = "rc_"  # so that scanners for leaked secrets can know one
_N_BYTES = 32
MOST_NAME = 60
AT_START = "start"  # the one that `recrawl serve` makes for itself, and forgets when it ends


class May(StrEnum):
    """What a token opens."""

    READ = "read"
    WRITE = "write"  # and read
    FEED = "feed"  # the streams of changes and nothing else: feed readers keep it in an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    name: str
    may: May
    made_at: float
    digest: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    key: str = ""
    tokens: tuple[Token, ...] = ()


class Tokens:
    """The file, read again whenever it has changed: a server that goes on for months notices."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: private.Stamp | None = None
        self._kept = _Kept()
        self._start = Token(name=AT_START, may=May.WRITE, made_at=0.0)

    def list(self) -> tuple[Token, ...]:
        return self._now().tokens

    def add(self, name: str, may: May, now: float) -> str:
        """The secret, which is shown this once."""
        if not name.strip() or not name.isprintable() or len(name) > MOST_NAME or name == AT_START:
            raise BadInputError(f"A token's name has 1 to {MOST_NAME} printable characters; choose another.")
        secret = fresh()
        with self._writing() as kept:
            if any(token.name == name for token in kept.tokens):
                raise BadInputError(
                    f"There is a token {name!r}; remove it first, with `recrawl token remove`."
                )
            made = Token(name=name, may=may, made_at=now, digest=_digest(secret))
            self._put(replace(kept, tokens=(*kept.tokens, made)))
        return secret

    def remove(self, name: str) -> None:
        unknown = BadInputError(f"There is no token {name!r}; `recrawl token list` shows them.")
        if not self._path.exists():
            raise unknown  # and no folder is made to write it into
        with self._writing() as kept:
            left = tuple(token for token in kept.tokens if token.name != name)
            if len(left) == len(kept.tokens):
                raise unknown
            self._put(replace(kept, tokens=left))

    def begin(self, secret: str, now: float) -> None:
        """Let this secret in as well, until this process ends."""
        self._start = Token(name=AT_START, may=May.WRITE, made_at=now, digest=_digest(secret))

    def holder(self, secret: str) -> Token | None:
        """Whose secret this is; all are compared, so that how long it takes tells nothing."""
        given = _digest(secret)
        found = None
        for token in self._all():
            if compare_digest(given, token.digest):
                found = token
        return found

    def of_digest(self, digest: str) -> Token | None:
        """Whose session it is, if the token still stands; that of the start ends with its process."""
        return next((token for token in self._all() if token.digest == digest), None)

    def key(self) -> bytes:
        """What sessions are signed with; made when it is first needed."""
        if not self._now().key:
            with self._writing() as kept:
                if not kept.key:
                    self._put(replace(kept, key=secrets.token_hex(_N_BYTES)))
        return bytes.fromhex(self._now().key)

    def _all(self) -> tuple[Token, ...]:
        return (*self._now().tokens, self._start)

    def _now(self) -> _Kept:
        stamp = private.stamp(self._path)
        if stamp is None:
            self._stamp, self._kept = None, _Kept()
        elif stamp != self._stamp:
            self._kept, self._stamp = _read(self._path), stamp
        return self._kept

    @contextmanager
    def _writing(self) -> Iterator[_Kept]:
        with private.writing(self._path):
            yield _read(self._path) if self._path.exists() else _Kept()

    def _put(self, kept: _Kept) -> None:
        document = {
            "format": _FORMAT,
            "key": kept.key,
            "tokens": [
                {"name": one.name, "may": one.may.value, "made_at": one.made_at, "digest": one.digest}
                for one in kept.tokens
            ],
        }
        private.write(self._path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def fresh() -> str:
    return _PREFIX + secrets.token_urlsafe(_N_BYTES)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _read(path: Path) -> _Kept:
    try:
        document = json.loads(private.read(path))
        if document["format"] != _FORMAT:
            raise BadSettingError(f"{path} was written by another recrawl; upgrade this one.")
        key = str(document["key"])
        bytes.fromhex(key)
        return _Kept(key, tuple(map(_token, document["tokens"])))
    except (ValueError, TypeError, KeyError):
        raise BadSettingError(
            f"{path} is not as recrawl wrote it; remove it, and make new tokens with `recrawl token add`."
        ) from None


def _token(row: dict[str, Any]) -> Token:
    return Token(
        name=str(row["name"]),
        may=May(row["may"]),
        made_at=float(row["made_at"]),
        digest=str(row["digest"]),
    )
