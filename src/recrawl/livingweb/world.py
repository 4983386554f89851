"""What is true on a living web at each moment. No clock: `at` is always an argument.

Events are drawn window by window on a fixed grid of time, each window from its own seed, so that they
depend on the script and the seed alone: not on when the web was started, how far anyone looked ahead or
who asked first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from zlib import crc32

import numpy as np

from recrawl.livingweb.kinds import BOARDS, LISTINGS, Form
from recrawl.livingweb.script import Document, Entry, Place, Script, Trouble
from recrawl.livingweb.talk import Talk, talk
from recrawl.model import DAY_S, Floats
from recrawl.simulate.processes import Process

_WINDOW_S = 64 * DAY_S


@dataclass(frozen=True, slots=True)
class Truth:
    """When the meaning of each URL changed, in `(start_at, end_at]`."""

    start_at: float
    end_at: float
    changed_at: Mapping[str, Floats]

    def n_changes(self, url: str, start_at: float, end_at: float) -> int:
        """How many changes of this URL lie in `(start_at, end_at]`."""
        ends = np.searchsorted(self.changed_at[url], [start_at, end_at], side="right")
        return int(ends[1] - ends[0])


@dataclass(frozen=True, slots=True)
class Spell:
    """One stretch of trouble, from `start_at` to just before `end_at`."""

    trouble: Trouble
    start_at: float
    end_at: float


@dataclass(frozen=True, slots=True)
class Life:
    """All that happens at one place up to `known_until_at`."""

    content_at: Floats  # when the content became another
    truth_at: Floats  # when the meaning did: absence hides content, and coming and going count
    spells: tuple[Spell, ...]  # the nearest cause first
    known_until_at: float
    listed_at: Floats  # when what a board says of it became another
    talk: Talk | None = None  # of a thread of forum software

    def version_at(self, at: float) -> int:
        return int(np.searchsorted(self.content_at, at, side="right"))

    def trouble_at(self, at: float) -> Trouble | None:
        return next((s.trouble for s in self.spells if s.start_at <= at < s.end_at), None)

    def gone_at(self, at: float) -> bool:
        return any(s.trouble.gone and s.start_at <= at < s.end_at for s in self.spells)


class World:
    """The lives of all places of a script. Content is counted from `born_at`: version 0 is there then."""

    def __init__(self, script: Script, *, seed: int, born_at: float) -> None:
        self.script = script
        self.born_at = born_at
        self._seed = seed
        self._lives: dict[Place, Life] = {}
        self._touched_at: dict[Place, list[float]] = {}
        self._planted: dict[Place, list[Spell]] = {}
        self._listed = {
            document.place: tuple(script.listed(document))
            for document in script.documents()
            if document.form in LISTINGS
        }

    def listed(self, listing: Document) -> tuple[Document, ...]:
        return self._listed.get(listing.place, ())

    def life(self, place: Place, at: float) -> Life:
        """Known until `at` at least."""
        life = self._lives.get(place)
        if life is None or life.known_until_at < at:
            until_at = _window_end_at(max(at, self.born_at))
            life = self._lives[place] = self._drawn(place, until_at)
        return life

    def lied_at(self, listing: Document, at: float) -> float:
        """When it last said that all was modified just now; before all time where it tells the truth."""
        lies_at = self._events(listing.process, f"{listing.host}{listing.path}", _window_end_at(at))
        return float(_upto(lies_at, at).max(initial=-inf))

    def touch(self, place: Place, at: float) -> None:
        """One more change of content, at `at`."""
        self._touched_at.setdefault(place, []).append(at)
        self._lives.clear()  # the listings of this place change with it

    def plant(self, place: Place, spell: Spell) -> None:
        self._planted.setdefault(place, []).insert(0, spell)
        self._lives.clear()

    def uproot(self, place: Place, at: float) -> None:
        """End at `at` whatever trouble was planted."""
        spells = self._planted.get(place, [])
        self._planted[place] = [Spell(s.trouble, s.start_at, min(s.end_at, at)) for s in spells]
        self._lives.clear()

    def _drawn(self, place: Place, until_at: float) -> Life:
        entry = next(iter(self.script.places.get(place, ())), None)
        spoken = self._talk(entry, until_at) if isinstance(entry, Document) and entry.spoken else None
        content_at = spoken.content_at if spoken else self._content_at(entry, until_at)
        spells = self._spells(place, entry, until_at)
        absences = [s for s in spells if s.trouble.gone]
        truth_at = _seen_at(content_at, absences, self.born_at, until_at)
        listed_at = _seen_at(spoken.listed_at, absences, self.born_at, until_at) if spoken else truth_at
        return Life(content_at, truth_at, spells, until_at, listed_at, spoken)

    def _talk(self, thread: Document, until_at: float) -> Talk:
        name = f"{thread.host}{thread.path}"
        touched_at = np.array(self._touched_at.get(thread.place, []))
        return talk(
            f"{self._seed} {name}",
            self.born_at,
            _merged([self._events(thread.process, name, until_at), touched_at]),
            self._events(thread.edits, f"{name} edits", until_at),
            self._events(thread.removals, f"{name} removals", until_at),
        )

    def _content_at(self, entry: Entry | None, until_at: float) -> Floats:
        if entry is None:  # robots.txt, which has troubles but no content of its own
            return np.empty(0)
        if not isinstance(entry, Document):
            return _upto(self.life(self.script.destination(entry).place, until_at).truth_at, until_at)
        if entry.form is Form.OPML:  # names feeds and says nothing of what is in them
            return np.empty(0)
        if entry.form in LISTINGS:
            lives = [self.life(document.place, until_at) for document in self.listed(entry)]
            lies_at = self._events(entry.process, f"{entry.host}{entry.path}", until_at)
            board = entry.form in BOARDS
            told_at = [life.listed_at if board else life.truth_at for life in lives]
            return _upto(_merged([lies_at, *told_at]), until_at)
        drawn_at = self._events(entry.process, f"{entry.host}{entry.path}", until_at)
        return _merged([drawn_at, np.array(self._touched_at.get(entry.place, []))])

    def _spells(self, place: Place, entry: Entry | None, until_at: float) -> tuple[Spell, ...]:
        host = self.script.hosts.get(place[0])
        spells = list(self._planted.get(place, []))
        for owner, troubles in (
            ("".join(place), entry.troubles if entry else ()),
            (place[0], host.troubles if host else ()),
        ):
            for i, trouble in enumerate(troubles):
                starts_at: Iterable[float] = (-inf,)
                if trouble.starts is not None:
                    starts_at = self._events(trouble.starts, f"{owner} trouble {i}", until_at)
                # what lasts for ever ends never, even where it began before all time
                spells += (
                    Spell(trouble, float(s), inf if trouble.lasts_s == inf else float(s) + trouble.lasts_s)
                    for s in starts_at
                )
        return tuple(spells)

    def _events(self, process: Process, name: str, until_at: float) -> Floats:
        windows = range(int(self.born_at // _WINDOW_S), int(until_at // _WINDOW_S))
        drawn = [
            process.events(
                k * _WINDOW_S,
                (k + 1) * _WINDOW_S,
                np.random.default_rng((self._seed, crc32(name.encode()), abs(k), int(k < 0))),
            )
            for k in windows
        ]
        times_at = np.concatenate(drawn) if drawn else np.empty(0)
        return times_at[times_at > self.born_at]


def _window_end_at(at: float) -> float:
    return (at // _WINDOW_S + 1) * _WINDOW_S


def _upto(times_at: Floats, until_at: float) -> Floats:
    return times_at[times_at <= until_at]


def _merged(several: list[Floats]) -> Floats:
    return np.unique(np.concatenate(several)) if several else np.empty(0)


def _seen_at(content_at: Floats, absences: list[Spell], born_at: float, until_at: float) -> Floats:
    """Changes of meaning: those of content while it was there, and every coming and going."""
    flips_at: list[float] = []
    there = np.ones(len(content_at), dtype=bool)
    gone_until_at = -inf
    for spell in sorted(absences, key=lambda s: s.start_at):
        there &= ~((spell.start_at <= content_at) & (content_at < spell.end_at))
        if spell.end_at <= gone_until_at or spell.end_at <= spell.start_at:
            continue
        if flips_at and spell.start_at <= gone_until_at:
            flips_at[-1] = spell.end_at  # runs into the one before
        else:
            flips_at += [spell.start_at, spell.end_at]
        gone_until_at = spell.end_at
    flips = np.array([at for at in flips_at if born_at < at <= until_at])
    return _merged([content_at[there], flips])
