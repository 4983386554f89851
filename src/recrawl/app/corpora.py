"""Corpora as the command line deals with them: importers by name, their options, and what a corpus holds."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from recrawl import registry
from recrawl.app.config import default_home, load
from recrawl.app.quantity import instant, seconds
from recrawl.corpora.about import About
from recrawl.corpora.importing import Importer, Option
from recrawl.corpora.opened import Histories
from recrawl.corpora.run import Imported, imported
from recrawl.corpora.sources.download import Web
from recrawl.errors import BadInputError
from recrawl.model import Floats, Ints
from recrawl.model.units import DAY_S

N_CHUNK = 10_000  # resources looked at together
SHARES = {"least": 0.0, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "most": 1.0}
_RATIO = 1.01  # of one bin's edge to the one before: a median from bins is right to half a percent
_N_BINS = 2_500  # from a second to far more than all times there are


class _Parser(ArgumentParser):
    """Takes the options it knows out of a list of words."""

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message}; see `recrawl corpus import {self.prog} --help`.")


def importer_options(kind: str) -> tuple[Option, ...]:
    """What may be said to this importer; UnknownPartError where there is none of that name."""
    declared: tuple[Option, ...] = _importer_class(kind).options
    return declared


def split_options(kind: str, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The importer's own options, read, and the words that are left."""
    parser = _Parser(prog=kind, add_help=False, allow_abbrev=False)
    for option in importer_options(kind):
        how: dict[str, Any] = {"default": SUPPRESS, "dest": option.name.replace("-", "_")}
        if option.type == "flag":
            how["action"] = "store_true"
        else:
            how |= {
                "type": _READING.get(option.type, str),
                "action": "append" if option.type == "words" else "store",
            }
        parser.add_argument(f"--{option.name}", **how)
    given, left = parser.parse_known_args(list(words))
    return vars(given), left


def run_import(
    kind: str,
    source: str,
    folder: Path,
    given: Mapping[str, Any],
    *,
    strict: bool = False,
    anew: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> Imported:
    importer: Importer = _importer_class(kind)(**given)
    web = Web(user_agent=_user_agent())
    return imported(importer, source, folder, strict=strict, anew=anew, options=given, tell=tell, web=web)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a corpus holds, in figures."""

    n_resources: int
    n_changes: int
    n_hosts: int
    n_unchanging: int  # resources that never changed
    mean_changes: float
    changes: Mapping[str, int]  # a resource's changes, by share of the resources
    median_interval_s: float  # from a version to the next; NaN where nothing changed
    first_at: float
    last_at: float
    skipped: Mapping[str, int]


def holding(corpus: Histories, told: Callable[[int], object] = lambda _: None) -> Holding:
    """Reads all of it once, some resources at a time."""
    n_changes: list[Ints] = []
    hosts: set[int] = set()
    bins = np.zeros(_N_BINS, dtype=np.int64)
    first_at, last_at = np.inf, -np.inf
    for traces in corpus.chunks(N_CHUNK):
        n_changes.append(traces.n_changes)
        hosts.update(np.unique(traces.host).tolist())
        before = np.concatenate([[np.nan], traces.at])[:-1]  # of each change, the version before it
        starts = traces.bounds[:-1][traces.n_changes > 0]
        before[starts] = traces.born_at[traces.n_changes > 0]
        bins += np.bincount(_bin(traces.at - before), minlength=_N_BINS)
        first_at = min(first_at, traces.born_at.min(initial=np.inf))
        last_at = max(last_at, traces.born_at.max(initial=-np.inf), traces.at.max(initial=-np.inf))
        told(sum(map(len, n_changes)))
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *n_changes])
    if not len(counts):
        raise BadInputError("This corpus has no versions at all; see `recrawl corpus check`.")
    return Holding(
        n_resources=len(counts),
        n_changes=int(counts.sum()),
        n_hosts=len(hosts),
        n_unchanging=int(np.count_nonzero(counts == 0)),
        mean_changes=float(counts.mean()),
        changes={
            name: int(n) for name, n in zip(SHARES, np.quantile(counts, list(SHARES.values())), strict=True)
        },
        median_interval_s=_median(bins),
        first_at=float(first_at),
        last_at=float(last_at),
        skipped=dict(corpus.skipped),
    )


def document(about: About, held: Holding) -> dict[str, Any]:
    """For JSON."""
    return {
        "name": about.name,
        "title": about.title,
        "kind": about.kind,
        "observation": about.observation,
        "start": about.start_at,
        "end": about.end_at,
        "days": round(about.days, 4),
        "step_s": about.step_s,
        "resolution_s": about.resolution_s,
        "licence": about.licence,
        "source": about.source,
        "resources": held.n_resources,
        "changes": held.n_changes,
        "hosts": held.n_hosts,
        "never_changed": held.n_unchanging,
        "changes_each": {"mean": round(held.mean_changes, 4), **held.changes},
        "median_interval_days": None if np.isnan(held.median_interval_s) else held.median_interval_s / DAY_S,
        "first_version": held.first_at,
        "last_version": held.last_at,
        "skipped": held.skipped,
    }


def _bin(interval_s: Floats) -> Ints:
    out: Ints = np.clip(np.log(np.maximum(interval_s, 1.0)) / np.log(_RATIO), 0, _N_BINS - 1).astype(np.int64)
    return out


def _median(bins: Ints) -> float:
    n = int(bins.sum())
    if not n:
        return float("nan")
    middle = int(np.searchsorted(np.cumsum(bins), (n + 1) // 2))
    return float(_RATIO ** (middle + 0.5))


def _importer_class(kind: str) -> Any:
    return registry.part("importers", kind)


def _user_agent() -> str:
    """With the contact that the user has set, if any."""
    return load(default_home()).fetching.user_agent


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise BadInputError(f"{text!r} is not a count; write it as 1000.")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInputError(f"{text!r} is not a number; write it as 0.5.") from None


_READING: Mapping[str, Callable[[str], Any]] = {
    "count": _count,
    "number": _number,
    "moment": instant,
    "span": seconds,
}
