"""A browser process that has no network of its own and can be killed.

What it wants from the web it asks us for; should a request slip by, it finds a proxy that refuses and names
that resolve to nothing.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

# The browser is an extra: nobody who does not render waits for it, or needs it.
if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")  # the rest is none of its business
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # as it was called once
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--no-pings",
    "--disable-domain-reliability",
    "--block-new-web-contents",
    "--js-flags=--max-old-space-size=512",
)
_LAUNCH_S = 30.0
_CLOSE_S = 5.0
_LOOK_S = 0.5  # between two looks at its memory

NO_LIBRARY = "playwright is not installed: pip install 'recrawl[browser]'"
NO_BROWSER = "no Chromium was found: apt install chromium, or run `playwright install chromium`"


class BrowserError(Exception):
    """The browser could not do it. Stays inside `observe`, where it becomes a value."""


def browser_found() -> tuple[bool, str]:
    """Whether pages can be rendered here, and with what, or what is missing. Starts nothing."""
    try:
        library = version("playwright")
    except PackageNotFoundError:
        return False, NO_LIBRARY
    if path := _executable():
        return True, f"{path}, driven by playwright {library}"
    kept = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    if any(kept.glob("chromium*")):
        return True, f"playwright {library} with its own Chromium"
    return False, NO_BROWSER


def _executable() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


class Chromium:
    """One browser process for one page at a time, so that whoever kills it harms nobody else."""

    def __init__(self, playwright: Playwright, *, memory_bytes: int, n_pages: int) -> None:
        self._playwright = playwright
        self._memory_bytes = memory_bytes
        self._n_pages = n_pages
        self._n_opened = 0
        self._browser: Browser | None = None
        self._group: int | None = None
        self._watch: asyncio.Task[None] | None = None
        self._refusal: socket.socket | None = None
        self.too_large = False  # it was killed for its memory

    @property
    def name(self) -> str:
        return f"Chromium/{self._browser.version}" if self._browser else ""

    async def start(self) -> None:
        if self._browser is not None and self._browser.is_connected() and self._n_opened < self._n_pages:
            return
        from playwright.async_api import Error

        await self.aclose()
        # Bound and never listening: whoever connects is refused, and nobody else can take the port.
        self._refusal = socket.socket()
        self._refusal.bind(("127.0.0.1", 0))
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=_executable(),
                args=list(_ARGUMENTS),
                chromium_sandbox=os.geteuid() != 0,  # root cannot have it
                # Playwright takes loopback off the list of what goes past a proxy.
                proxy={"server": f"http://127.0.0.1:{self._refusal.getsockname()[1]}"},
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=_LAUNCH_S * 1000,
            )
            self._group = await _process_group(self._browser)
        except Error as problem:
            raise BrowserError(_told(problem)) from None
        self._n_opened, self.too_large = 0, False
        self._watch = asyncio.create_task(self._watched())

    @asynccontextmanager
    async def context(self, *, user_agent: str) -> AsyncIterator[BrowserContext]:
        """A fresh profile: nothing of an earlier page is in it, and nothing of it stays."""
        from playwright.async_api import Error

        await self.start()
        assert self._browser is not None  # noqa: S101 - started just now
        self._n_opened += 1
        try:
            context = await self._browser.new_context(
                user_agent=user_agent,
                accept_downloads=False,
                service_workers="block",
                locale="en-US",
                timezone_id="UTC",
            )
        except Error as problem:
            raise BrowserError(_told(problem)) from None
        try:
            yield context
            await self._look()  # what it took since the last look counts as well
        except BrowserError:
            self.kill()  # it would not answer to its closing either
            raise
        finally:
            with suppress(Error):
                done = asyncio.ensure_future(context.close())
                await asyncio.wait({done}, timeout=_CLOSE_S)
                if not done.done():  # a page that will not go takes its browser with it
                    self.kill()
                await done

    def kill(self) -> None:
        if self._group is not None and self._group != os.getpgrp():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)
        self._group = None

    async def aclose(self) -> None:
        from playwright.async_api import Error

        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if self._browser is not None:
            closing = asyncio.ensure_future(self._browser.close())
            await asyncio.wait({closing}, timeout=_CLOSE_S)
            if not closing.done():
                self.kill()
            with suppress(Error):
                await closing
            self._browser = None
        if self._refusal is not None:
            self._refusal.close()
            self._refusal = None

    async def _watched(self) -> None:
        """Scripts have a limit of their own; what they make of the page and its pictures has only this."""
        with suppress(BrowserError):
            while self._group is not None:
                await self._look()
                await asyncio.sleep(_LOOK_S)

    async def _look(self) -> None:
        if self._group is None:
            return
        if await asyncio.to_thread(_own_bytes, self._group) > self._memory_bytes:
            self.too_large = True
            self.kill()
            raise BrowserError("it took too much memory")


async def _process_group(browser: Browser) -> int | None:
    session = await browser.new_browser_cdp_session()
    found = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    pid = next(process["id"] for process in found["processInfo"] if process["type"] == "browser")
    return os.getpgid(pid)


def _own_bytes(group: int) -> int:
    """What the group's processes hold beside what they share; 0 where the system does not tell."""
    n_pages = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int((process / "stat").read_text("latin-1").rpartition(")")[2].split()[2]) == group:
                _, resident, shared, *_ = (process / "statm").read_text().split()
                n_pages += int(resident) - int(shared)
        except OSError:  # it has just ended
            continue
    return n_pages * os.sysconf("SC_PAGE_SIZE")


def _told(problem: Exception) -> str:
    text = str(problem)
    if "Executable doesn't exist" in text:
        return NO_BROWSER
    return f"the browser did not start: {text.splitlines()[0][:200]}" if text else "the browser did not start"
