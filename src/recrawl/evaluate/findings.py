"""What Umbrich et al. (2015, sections 4.3 and 4.4) found, checked against what was measured here.

A claim holds or does not; where the data have nothing to say, it is open. Each sentence gives the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from recrawl.evaluate.bands import ALL, BANDS
from recrawl.evaluate.contenders import ARCHIVER
from recrawl.evaluate.report.figures import Finding
from recrawl.evaluate.report.table import share

STRATEGIES = ARCHIVER
ADAPTIVE = STRATEGIES[:5]
FORESEEING = "gold"  # a reference that knows the future: it takes no part in comparisons of the others
FAST = "2-7 d"  # of the paper's figure 5
SLOW = "4-6 m"  # of its figure 6
SLOWER_THAN_A_WEEK = tuple(band.name for band in BANDS if band.low_days >= 7.0)
CLOSE = 0.05  # recalls, or precisions, no further apart are called close
_FEWEST = 5  # resources: a band with fewer says nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """What a strategy did in a band; `early` and `late` are its precision in the first and the last third."""

    resources: int
    changes: int
    recall: float
    precision: float
    early: float
    late: float


Results = Mapping[tuple[str, str], Caught]


def findings(results: Results) -> list[Finding]:
    """Wants every strategy in each band that is there."""
    told = [band for band in (ALL, *(band.name for band in BANDS)) if _told(results, band)]
    return [check(results, told) for check in _CHECKS]


def _told(results: Results, band: str) -> bool:
    row = results.get((band, "week"))
    return row is not None and row.resources >= _FEWEST and row.changes > 0


def _week(results: Results, told: Sequence[str]) -> Finding:
    claim = "Where changes come less often than weekly, week has the highest recall and the lowest precision."
    slow = [band for band in told if band in SLOWER_THAN_A_WEEK]
    if not slow:
        return _open(claim, "No band slower than a week has enough resources here.")
    best = [band for band in slow if _first(results, band, "recall", highest=True) == "week"]
    worst = [band for band in slow if _first(results, band, "precision", highest=False) == "week"]
    sentence = (
        f"Highest recall in {len(best)} of {len(slow)} slow bands, lowest precision in {len(worst)} of them"
    )
    others = [
        f"{_first(results, band, 'recall', highest=True)} has the highest recall in {band}"
        for band in slow
        if band not in best
    ] + [
        f"{_first(results, band, 'precision', highest=False)} has the lowest precision in {band}"
        for band in slow
        if band not in worst
    ]
    return Finding(
        claim=claim,
        holds=len(best) == len(worst) == len(slow),
        sentence="; ".join([sentence, *others]) + ".",
    )


def _week_overall(results: Results, told: Sequence[str]) -> Finding:
    claim = "Over all resources, week has the highest recall and the lowest precision."
    if ALL not in told:
        return _open(claim, _NOTHING)
    best = _first(results, ALL, "recall", highest=True)
    worst = _first(results, ALL, "precision", highest=False)
    return Finding(
        claim=claim,
        holds=best == worst == "week",
        sentence=f"Highest recall: {_with(results, best, 'recall')}; lowest precision: "
        f"{_with(results, worst, 'precision')}; week has {_both(results, 'week')}.",
    )


def _window(results: Results, told: Sequence[str]) -> Finding:
    claim = (
        "Over all resources, window trades recall for precision: the lowest recall, the highest precision."
    )
    if ALL not in told:
        return _open(claim, _NOTHING)
    low = _first(results, ALL, "recall", highest=False)
    high = _first(results, ALL, "precision", highest=True)
    return Finding(
        claim=claim,
        holds=low == high == "window",
        sentence=f"Lowest recall: {_with(results, low, 'recall')}; highest precision: "
        f"{_with(results, high, 'precision')}; window has {_both(results, 'window')}.",
    )


def _states(results: Results, told: Sequence[str]) -> Finding:
    claim = "Over all resources, state-1 and state-2 have more recall and less precision than fix and dyn."
    if ALL not in told:
        return _open(claim, _NOTHING)
    states, fixed = ("state-1", "state-2"), ("fix", "dyn")

    def of(names: Sequence[str], field: str) -> list[float]:
        return [float(getattr(results[ALL, name], field)) for name in names]

    holds = min(of(states, "recall")) > max(of(fixed, "recall")) and max(of(states, "precision")) < min(
        of(fixed, "precision")
    )
    recalls = ", ".join(_with(results, name, "recall") for name in (*states, *fixed))
    precisions = ", ".join(_with(results, name, "precision") for name in (*states, *fixed))
    return Finding(claim=claim, holds=holds, sentence=f"Recall: {recalls}. Precision: {precisions}.")


def _improving(results: Results, told: Sequence[str]) -> Finding:
    claim = "The precision of the adaptive strategies improves over time."
    if ALL not in told:
        return _open(claim, _NOTHING)
    rows = {name: results[ALL, name] for name in ADAPTIVE}
    if any(row.early != row.early or row.late != row.late for row in rows.values()):
        return _open(claim, "A third of the window is too short for every strategy to make a visit in it.")
    better = [name for name, row in rows.items() if row.late > row.early]
    shown = ", ".join(f"{name} {share(row.early)} to {share(row.late)}" for name, row in rows.items())
    return Finding(
        claim=claim,
        holds=len(better) == len(ADAPTIVE),
        sentence=f"From the first third of the window to the last: {shown}.",
    )


def _near_gold(results: Results, told: Sequence[str]) -> Finding:
    claim = f"Where changes come every 2 to 7 days, state-1 and state-2 are close to gold (within {CLOSE:g})."
    return _close(results, told, claim, FAST, ("state-1", "state-2"))


def _window_near_gold(results: Results, told: Sequence[str]) -> Finding:
    claim = f"Where changes come every 4 to 6 months, window is close to gold (within {CLOSE:g})."
    return _close(results, told, claim, SLOW, ("window",))


def _others_recall(results: Results, told: Sequence[str]) -> Finding:
    claim = (
        "Where changes come every 4 to 6 months, fix, dyn, state-1 and state-2 have more recall and less "
        "precision than gold."
    )
    if SLOW not in told:
        return _open(claim, _nothing(SLOW))
    gold = results[SLOW, "gold"]
    rows = {name: results[SLOW, name] for name in ADAPTIVE if name != "window"}
    holds = all(row.recall > gold.recall and row.precision < gold.precision for row in rows.values())
    shown = ", ".join(f"{name} {share(row.recall)} and {share(row.precision)}" for name, row in rows.items())
    return Finding(
        claim=claim,
        holds=holds,
        sentence=f"Recall and precision: gold {share(gold.recall)} and {share(gold.precision)}, {shown}.",
    )


def _close(results: Results, told: Sequence[str], claim: str, band: str, names: Sequence[str]) -> Finding:
    if band not in told:
        return _open(claim, _nothing(band))
    gold = results[band, "gold"]
    rows = {name: results[band, name] for name in names}
    holds = all(
        abs(row.recall - gold.recall) <= CLOSE and abs(row.precision - gold.precision) <= CLOSE
        for row in rows.values()
    )
    shown = ", ".join(f"{name} {share(row.recall)} and {share(row.precision)}" for name, row in rows.items())
    return Finding(
        claim=claim,
        holds=holds,
        sentence=f"Recall and precision: gold {share(gold.recall)} and {share(gold.precision)}, {shown}.",
    )


def _first(results: Results, band: str, field: str, *, highest: bool) -> str:
    def value(name: str) -> float:
        figure = float(getattr(results[band, name], field))
        return figure if highest else -figure

    return max((name for name in STRATEGIES if name != FORESEEING), key=value)


def _with(results: Results, name: str, field: str) -> str:
    return f"{name} {share(getattr(results[ALL, name], field))}"


def _both(results: Results, name: str) -> str:
    row = results[ALL, name]
    return f"recall {share(row.recall)} and precision {share(row.precision)}"


def _open(claim: str, why: str) -> Finding:
    return Finding(claim=claim, holds=None, sentence=why)


def _nothing(band: str) -> str:
    return f"Fewer than {_FEWEST} resources, or no change, in the band {band}."


_NOTHING = _nothing(ALL)
_CHECKS: Sequence[Callable[[Results, Sequence[str]], Finding]] = (
    _week_overall,
    _week,
    _window,
    _states,
    _improving,
    _near_gold,
    _window_near_gold,
    _others_recall,
)
