"""How much a request lets in besides its content.

Chunks have extensions and trailers, TLS has empty records, a server may send interim replies: none of it is
content, none of it need have an end, and the HTTP client drops it without a word. So the socket counts.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# The first is more than headers and interim replies may be together with what lies unread in buffers.
_OVERHEAD_BYTES = 2 << 20
_OVERHEAD_TIMES = 8  # chunks of a single byte each come to six times their content


class Intake:
    """What one request has brought in. `sent` is called once it is on its way."""

    def __init__(self, sent: Callable[[], None] = lambda: None) -> None:
        self.sent = sent
        self.n_received = 0
        self.n_content = 0
        self.refused = False

    def check(self) -> None:
        """Before more is taken in."""
        self.refused = self.n_received > _OVERHEAD_BYTES + _OVERHEAD_TIMES * self.n_content
        if self.refused:
            raise ConnectionAbortedError(errno.ECONNABORTED, "too much besides the content")


# Of the request under way. Its sockets are made deep inside the client, in tasks that inherit this.
current: ContextVar[Intake] = ContextVar("current")


class MeteredSocket(socket.socket):
    """Counts what comes in for the request that it was made for."""

    def __init__(self, family: int, kind: int, protocol: int) -> None:
        super().__init__(family, kind, protocol)
        self._intake = current.get()

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        self._intake.check()
        data = super().recv(bufsize, flags)
        self._intake.n_received += len(data)
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        self._intake.check()
        n_bytes = super().recv_into(buffer, nbytes, flags)
        self._intake.n_received += n_bytes
        return n_bytes
