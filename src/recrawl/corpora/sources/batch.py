"""Rows on their way to an intake: many resources at once, each named once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from recrawl.corpora.importing import Intake
from recrawl.urls import MAX_URL_BYTES

N_TOGETHER = 20_000
_STRANGE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def unusable(url: str | None) -> str | None:
    """Why this cannot name a resource."""
    if not url:
        return "there is no URL"
    if len(url) > MAX_URL_BYTES:
        return f"the URL has more than {MAX_URL_BYTES:,} characters"
    return "the URL holds control characters" if _STRANGE.search(url) else None


class Batch:
    def __init__(self, into: Intake) -> None:
        self._into = into
        self._url: list[str] = []
        self._host: list[str | None] = []
        self._which: list[int] = []
        self._at: list[float] = []
        self._digest: list[str | None] = []
        self._changed: list[bool | None] = []
        self._size: list[int | None] = []

    @property
    def is_full(self) -> bool:
        return len(self._at) >= N_TOGETHER

    def add(
        self,
        url: str,
        at: Sequence[float],
        digest: Sequence[str | None] | None = None,
        *,
        host: str | None = None,
        changed: Sequence[bool | None] | None = None,
        size: Sequence[int | None] | None = None,
        where: str,
    ) -> None:
        """Rows of one resource, which may come again; skipped where its URL cannot be used."""
        if (why := unusable(url)) is not None:
            self._into.skip(where, why)
            return
        self._which.extend([len(self._url)] * len(at))
        self._url.append(url)
        self._host.append(host)
        self._at.extend(at)
        self._digest.extend([None] * len(at) if digest is None else digest)
        self._changed.extend([None] * len(at) if changed is None else changed)
        self._size.extend([None] * len(at) if size is None else size)

    def row(self, url: str, at: float, digest: str | None, *, where: str) -> None:
        """One row; cheap where the one before was of the same resource."""
        if self._url and self._url[-1] == url:
            self._which.append(len(self._url) - 1)
            self._at.append(at)
            self._digest.append(digest)
            self._changed.append(None)
            self._size.append(None)
        else:
            self.add(url, (at,), (digest,), where=where)

    def hand_over(self) -> None:
        if self._at:
            further: dict[str, Any] = {}
            if any(one is not None for one in self._size):
                further["size"] = self._size
            self._into.add_columns(
                self._url,
                self._at,
                None if all(one is None for one in self._digest) else self._digest,
                which=self._which,
                host=None if all(one is None for one in self._host) else self._host,
                changed=None if all(one is None for one in self._changed) else self._changed,
                **further,
            )
        for column in (
            *(self._url, self._host, self._which, self._at),
            *(self._digest, self._changed, self._size),
        ):
            column.clear()
