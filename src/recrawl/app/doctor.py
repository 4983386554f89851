"""Looking for trouble: each thing by itself, so that one that is broken hides no other."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

from recrawl import __version__
from recrawl.app import config as configuration
from recrawl.app.access import FILE_NAME as SECRETS_FILE
from recrawl.app.access import Secrets
from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE, open_house
from recrawl.app.config import Config
from recrawl.app.health import settings, unsound
from recrawl.app.parts import absent_parts, broken_parts
from recrawl.app.quantity import iso
from recrawl.errors import RecrawlError
from recrawl.live.room import Room, size
from recrawl.observe.chromium import browser_found
from recrawl.plugin import named
from recrawl.registry import GROUPS, names
from recrawl.sighted import can_train

_LOW_DISK_BYTES = 2**30
_LIBRARIES = ("aiohttp", "numpy", "pydantic", "selectolax", "yarl")
# Well before and after anyone will run this version: a clock outside is wrong.
_SANE_CLOCK = (1_735_689_600.0, 4_102_444_800.0)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `ok` None: worth knowing, not wrong."""

    name: str
    ok: bool | None
    finding: str


def doctor(home: Path, now: float, *, quick: bool = False) -> Iterator[Check]:
    """Look at everything that can be looked at without asking the network; but not at every row of the store
    where it must be `quick`."""
    yield from _looked("recrawl", _versions)
    yield from _looked("home", lambda: _home(home))
    config = Config.model_construct()
    try:
        config = configuration.load(home)
    except RecrawlError as problem:
        yield Check("settings", False, str(problem))
    else:
        yield from _looked("settings", lambda: _configured(config, home))
    yield from _looked("clock", lambda: [_clock(now)])
    yield from _looked("disk", lambda: [_disk(home, config)])
    for group in GROUPS:
        yield from _looked(group, lambda group=group: [_parts(group, config, home)])  # type: ignore[misc]
    yield from _looked("names", lambda: [_names_resolved()])
    yield from _looked("browser", lambda: [_browser()])
    yield from _looked("first sight", lambda: [_first_sight()])
    yield from _looked("secrets", lambda: _secrets(home))
    yield from _looked("shelf", lambda: _shelf(config))
    yield from _looked("store", lambda: _kept(home, config, now, quick=quick))
    yield from _looked("notices", lambda: _notices(home, config))


def _looked(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    try:
        with named():
            yield from look()
    except RecrawlError as problem:
        yield Check(name, False, str(problem))
    except Exception as problem:  # whatever it is, the rest is looked at all the same
        yield Check(name, False, f"cannot be looked at ({type(problem).__name__}: {problem})")


def _versions() -> Iterator[Check]:
    yield Check("recrawl", True, f"{__version__} on Python {platform.python_version()}, {platform.system()}")
    yield Check("libraries", True, ", ".join(f"{name} {installed_version(name)}" for name in _LIBRARIES))


def _home(home: Path) -> Iterator[Check]:
    there = _nearest(home)
    if not there.is_dir():
        yield Check("home", False, f"{there} is a file, not a folder; choose another with --home")
        return
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as problem:
        yield Check(
            "home", False, f"{there} cannot be written ({problem.strerror}); see to it, or use --home"
        )
        return
    yield Check("home", True, str(home) if there == home else f"{home}, which `recrawl add` will make")


def _nearest(home: Path) -> Path:
    """The home, or what there is on the way to it."""
    return next(place for place in (home.absolute(), *home.absolute().parents) if place.exists())


def _configured(config: Config, home: Path) -> Iterator[Check]:
    path = home / configuration.FILE_NAME
    yield Check("settings", True, str(path) if path.exists() else f"defaults; {path} would change them")
    for row in settings(config, home):
        if row["from"] != "default":
            yield Check("settings", True, f"{row['name']} = {row['written']} (from {row['from']})")
    yield from (Check("settings", False, problem) for problem in absent_parts(config.schedule))
    if not config.fetching.contact:
        finding = "none is set: set fetching.contact, so that servers' owners can reach you"
        yield Check("contact", None, finding)


def _clock(now: float) -> Check:
    sane = _SANE_CLOCK[0] < now < _SANE_CLOCK[1]
    return Check(
        "clock", sane, f"{iso(now)}" if sane else f"{iso(now)} cannot be right: set the system's clock"
    )


def _disk(home: Path, config: Config) -> Check:
    there = _nearest(home)
    archiving = config.archiving
    room = Room(there, archiving.min_free_bytes, archiving.min_free_share)
    if lack := room.lack():
        return Check("disk", False, f"nothing will be visited: {lack}")
    free = shutil.disk_usage(there).free
    enough = free >= _LOW_DISK_BYTES
    return Check("disk", enough, f"{size(free)} free" + ("" if enough else ": make room soon"))


def _parts(group: str, config: Config, home: Path) -> Check:
    broken = broken_parts(group, config, home)
    return Check(group, not broken, "; ".join(broken) or ", ".join(names(group)))


def _names_resolved() -> Check:
    path = Path("/etc/resolv.conf")
    text = path.read_text("utf-8", errors="replace") if path.exists() else ""
    servers = [line.split()[1] for line in text.splitlines() if line.startswith("nameserver ")]
    if servers:
        return Check("names", True, f"asked of {', '.join(servers)}")
    return Check("names", None, f"no server of names in {path}: only addresses can be visited")


def _browser() -> Check:
    there, finding = browser_found()
    return Check("browser", there or None, finding if there else f"pages cannot be rendered; {finding}")


def _first_sight() -> Check:
    if can_train():
        return Check(
            "first sight", True, f"learned from with scikit-learn {installed_version('scikit-learn')}"
        )
    remedy = "install it with `pip install 'recrawl[learn]'`"
    return Check("first sight", None, f"no model of it is trained here; {remedy}")


def _secrets(home: Path) -> Iterator[Check]:
    path = home / SECRETS_FILE
    if path.exists():
        n = len(Secrets(path).layers())
        yield Check(
            "secrets", True, f"kept for {n} {'scope' if n == 1 else 'scopes'}; only you can read them"
        )


def _notices(home: Path, config: Config) -> Iterator[Check]:
    from recrawl.app.notices import FILE_NAME, listed
    from recrawl.live.services import installed

    if not (home / FILE_NAME).exists():
        return
    with open_house(home, config=config, reading=True) as house:
        rows = listed(house)
    for row in rows:
        if row["trouble"]:
            finding = f"{row['name']} ({row['to']}): {row['trouble']}; failed tries in a row: "
            remedy = f"`recrawl notify test {row['name']}` tries now"
            yield Check("notices", False, f"{finding}{row['n_failures']}, next {row['retry_at']}; {remedy}")
        elif not (row["to"].startswith("webhook") or installed()):
            remedy = "Apprise is not installed; run `pip install 'recrawl[notify]'`"
            yield Check("notices", False, f"{row['name']} ({row['to']}): {remedy}")
    n_well = sum(not row["trouble"] for row in rows)
    yield Check("notices", True, f"{n_well} of {len(rows)} well")


def _kept(home: Path, config: Config, now: float, *, quick: bool) -> Iterator[Check]:
    if not (home / STORE_FILE).exists():
        yield Check("store", None, "there is none yet: `recrawl add URL` makes it")
        return
    problems = [] if quick else [problem.what for problem in unsound(home / STORE_FILE)]
    if problems:
        remedy = "bring the file back from a backup, or choose another --home"
        yield Check("store", False, f"{home / STORE_FILE}: {'; '.join(problems)}; {remedy}")
        return
    with open_house(home, config=config, reading=True) as house:
        counts, files, carried = house.store.counts(now), house.store.files(), house.store.carried()
    kept = [(counts[f"{noun}s"], noun) for noun in ("resource", "visit", "version")]
    finding = ", ".join(f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s" for n, noun in kept)
    unread = f"{finding}; `recrawl doctor` reads all of it"
    yield Check("store", True, unread if quick else f"sound: {finding}")
    folder = home / ARCHIVE_FOLDER
    short = [
        name for name, length in files.items() if _too_short(folder / name, 0 if name in carried else length)
    ]
    finding = f"all files are there ({len(files):,}); `recrawl verify` reads every byte"
    if carried:
        there = f"{len(carried):,} of {len(files):,} files are on the shelf, the others here"
        finding = f"{there}; `recrawl verify` reads every byte"
    missing = f"missing or too short: {', '.join(short)}; put them back from a copy"
    yield Check("archive", not short, missing if short else finding)


def _too_short(path: Path, length: int) -> bool:
    return length > 0 and not (path.exists() and path.stat().st_size >= length)


def _shelf(config: Config) -> Iterator[Check]:
    from recrawl.remember.shelf import system

    if address := config.archiving.shelf:
        system(address)
        yield Check("shelf", True, f"{address}, which was not asked")
