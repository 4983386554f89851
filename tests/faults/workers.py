"""Worker processes for the politeness tests, forked from one that has imported everything already.

    python -m tests.faults.workers HOME

forks one for every line on standard input and prints its process id: `work NAME TWIN` visits what is due
until it is killed, `visit NAME TWIN ID` visits one resource now. They call themselves NAME to servers.
Leases are of seconds here, so that a test sees what becomes of those that a killed worker leaves behind.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from importlib import import_module
from math import inf
from pathlib import Path
from types import TracebackType

from recrawl.app import config, rounds
from recrawl.app.build import House
from recrawl.contracts import Fetcher
from recrawl.live.clock import WallClock
from recrawl.live.gates import StoreGates
from recrawl.model import Fetch, Hold, Request
from recrawl.registry import names, part

SOUND = "sound"
CHARGES_AFTER = "charges-after"  # a claim keeps nobody away; only the end of a visit does
HOLDS_NOTHING = "holds-nothing"  # hosts that redirects lead to are asked without leave
NEVER_LATE = "never-late"  # a request is sent however long ago its lease ran out
HESITATES = "hesitates"  # between the claim and the first request; goes with the one above

MAX_DELAY_S = 0.6  # the longest that these tests' servers ask for
HESITATION_S = 1.5


class Hasty(House):
    """Short leases, and the faults that a twin is to have."""

    twin = ""

    @property
    def tail_s(self) -> float:
        if CHARGES_AFTER in self.twin or NEVER_LATE in self.twin:
            return -inf
        return self.config.fetching.total_timeout + MAX_DELAY_S

    @property
    def lease_s(self) -> float:
        if CHARGES_AFTER in self.twin:
            return 0.0
        return 2 * self.config.fetching.total_timeout + MAX_DELAY_S

    def fetcher(self) -> Fetcher:  # type: ignore[override]  # all that the runner needs
        return Hesitant(self.home, super().fetcher()) if HESITATES in self.twin else super().fetcher()


class Hesitant:
    """Tells of a claim, by a file, and takes its time before it asks."""

    def __init__(self, home: Path, fetcher: Fetcher) -> None:
        self._home = home
        self._fetcher = fetcher

    async def __aenter__(self) -> Hesitant:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Killed before it comes to that."""

    async def fetch(self, request: Request) -> Fetch:
        (self._home / f"claimed-{os.getpid()}").touch()
        await asyncio.sleep(HESITATION_S)
        return await self._fetcher.fetch(request)


async def _open_door(_self: StoreGates, host: str, **_: object) -> Hold:
    return Hold(host=host, token=-1, until_at=inf)


def _work(home: Path, what: str, name: str, twin: str, *rest: str) -> None:
    os.environ["RECRAWL_FETCHING__CONTACT"] = name
    house = Hasty(home, config.load(home), WallClock())
    house.twin = twin
    if HOLDS_NOTHING in twin:
        setattr(StoreGates, "enter", _open_door)  # noqa: B010  # in this process alone
    try:
        if what == "work":
            asyncio.run(rounds.run(house, per_day=1e9))
        else:
            resource = next(found for found, _, _ in house.store.resources() if str(found.id) == rest[0])
            asyncio.run(rounds.visit(house, resource))
    finally:
        house.close()


def main() -> None:
    home = Path(sys.argv[1])
    for late in ("recrawl.live.runner", "recrawl.observe.http", "recrawl.observe.route"):
        import_module(late)
    for group in ("stores", "archives", "detectors", "handlers", "policies", "goals", "predictors"):
        for name in names(group):
            part(group, name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: whoever ends is gone
    for line in sys.stdin:
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            _work(home, *line.split())
        except BaseException:
            traceback.print_exc()
        os._exit(0)


if __name__ == "__main__":
    main()
