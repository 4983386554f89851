"""The face on a socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from recrawl.errors import BadInputError

HEAD_S = 20.0  # in which a request's head must have come; its body has a time of its own
GRACE_S = 3  # for what is being answered when it is to end; streams of news would go on for ever


class Serving(AbstractContextManager["Serving"]):
    """Listens from the first moment, so that the address can be told before anything is answered."""

    def __init__(self, host: str, port: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # By its protocol asyncio knows that it may send at once; else the last part of an answer waits 40 ms.
        self._socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(128)
        except OSError as problem:
            self._socket.close()
            raise BadInputError(
                f"{host}:{port} cannot be listened on ({problem.strerror}); choose another --host or --port."
            ) from None
        self.port: int = self._socket.getsockname()[1]
        self.origin = f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
        self._server: uvicorn.Server | None = None

    def run(self, app: ASGIApp, ending: Callable[[], object] = lambda: None) -> None:
        """Until Ctrl-C, or `stop` from another thread; `ending` is called before anybody is waited for."""
        config = uvicorn.Config(
            app,
            http=_Impatient,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=128 << 10,
            proxy_headers=False,
        )
        self._server = _Server(config, ending)
        self._server.run([self._socket])

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ending: Callable[[], object]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


class _Impatient(H11Protocol):
    """Hangs up on whoever connects and asks for nothing, or never ends asking: thousands of them would leave
    no connection to others."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if bool(self.cycle) and not self.cycle.response_complete:
            self._rest()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEAD_S, self.transport.close)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
