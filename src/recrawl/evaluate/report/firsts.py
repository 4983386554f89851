"""The first visits with and without first sight, for people."""

from __future__ import annotations

from math import isnan

from recrawl.evaluate.barbosa.losses import Lost
from recrawl.evaluate.barbosa.results import AFTER, FIRST, Barbosa
from recrawl.evaluate.barbosa.scheduling import ALIKE, KNOWING, N_VISITS, WAYS, WITH, WITHOUT
from recrawl.evaluate.barbosa.spreads import Spread, at_least
from recrawl.evaluate.report.figures import Block, Finding, Point, Scatter, Series, Table
from recrawl.evaluate.report.table import share, titled

_NAMES = {
    WITH: "with first sight",
    WITHOUT: "without",
    ALIKE: "all new pages alike",
    KNOWING: "knowing the rates",
}
A_THIRD = 1 / 3


def visits_table(result: Barbosa) -> tuple[list[str], list[list[str]]]:
    """For a terminal: the schedule with and without first sight."""
    rows = []
    for by in result.firsts:
        for when in (FIRST, AFTER):
            lost = result.lost(by, when)
            rows += [[by, _when(when), *cells] for cells in _ways(lost)]
    columns = ("by", "when", "schedule", "visits a page", "stale", "lost", "recall", "wasted")
    return titled(columns), rows


def summary(result: Barbosa) -> list[str]:
    said = []
    for by in result.firsts:
        first, later = result.lost(by, FIRST), result.lost(by, AFTER)
        said.append(
            f"By {by}: in the first visits, first sight takes away {percent(first.cut)} of the stale time "
            f"and {percent(first.lost_cut)} of what is lost to not knowing the rates (knowing them takes "
            f"away {percent(first.possible)} of the stale time); afterwards {percent(later.cut)} of it. "
            f"Where all new pages are alike, look, address and site take away {percent(first.told_apart)} of "
            "what is lost."
        )
    return said


def findings(result: Barbosa) -> list[Finding]:
    """By what differs between the two on the same splits; open where that may be chance."""
    found = []
    for by in result.firsts:
        first, later = result.lost(by, FIRST), result.lost(by, AFTER)
        cut = f"It takes away {percent(first.lost_cut)} of it."
        for what, least in (("some", 0.0), ("a third", A_THIRD)):
            claim = f"First sight takes away {what} of what is lost in the first visits (split by {by})."
            enough = at_least(first.lost_cut, least)
            none_at_all = least == 0.0 and first.lost_cut.high <= 0.0
            found.append(Finding(claim=claim, holds=False if none_at_all else enough, sentence=cut))
        apart = first.told_apart
        found.append(
            Finding(
                claim=f"Look, address and site take away some of what is lost where all new pages are alike "
                f"(split by {by}).",
                holds=False if apart.high <= 0.0 else at_least(apart),
                sentence=f"They take away {percent(apart)} of it.",
            )
        )
        found.append(
            Finding(
                claim=f"It makes later visits no worse (split by {by}).",
                holds=at_least(later.fresher),
                sentence=f"Copies are {points(later.fresher)} points of a hundred fresher afterwards.",
            )
        )
    return found


def blocks(result: Barbosa) -> list[Block]:
    found: list[Block] = []
    for by in result.firsts:
        found.append(
            tuple(
                _curve(result, by, what, name)
                for what, name in (("stale", "share of time stale"), ("wasted", "share of visits wasted"))
            )
        )
        rows = []
        for k in range(1, N_VISITS + 1):
            rows += [[f"up to visit {k}", *cells] for cells in _ways(result.upto(by, k))]
        for when in (FIRST, AFTER):
            rows += [[_when(when), *cells] for cells in _ways(result.lost(by, when))]
        found.append(
            Table(
                caption=f"With and without first sight, split by {by}",
                columns=("when", "schedule", "visits a page", "stale", "lost", "recall", "wasted"),
                rows=rows,
                n_words=2,
            )
        )
    return found


def _curve(result: Barbosa, by: str, what: str, name: str) -> Scatter:
    points = []
    for style, way in enumerate((WITH, WITHOUT)):
        for k in range(1, N_VISITS + 1):
            value = result.upto(by, k).of(way, what)
            label = _NAMES[way] if k == N_VISITS else ""
            points.append(Point(name=label, style=style, x=float(k), y=value, low=value, high=value))
    known = [result.upto(by, k).of(KNOWING, what) for k in range(1, N_VISITS + 1)]
    return Scatter(
        title=f"{name.capitalize()}, split by {by}",
        x_name="until both have visited a page so often",
        y_name=name,
        points=points,
        limits=[Series(name=_NAMES[KNOWING], style=2, x=[float(k) for k in range(1, N_VISITS + 1)], y=known)],
        even=True,
    )


def _ways(lost: Lost) -> list[list[str]]:
    knowing = lost.of(KNOWING, "stale")
    return [
        [
            _NAMES[way],
            f"{lost.visits(way):.2f}",
            f"{lost.of(way, 'stale'):.4f}",
            f"{lost.of(way, 'stale') - knowing:.4f}",
            share(lost.of(way, "recall")),
            share(lost.of(way, "wasted")),
        ]
        for way in WAYS
    ]


def _when(when: str) -> str:
    return f"the time of {N_VISITS} visits a page" if when == FIRST else "afterwards"


def percent(found: Spread) -> str:
    if isnan(found.value):
        return "no known share"
    within = "" if isnan(found.low) else f" [{100 * found.low:.0f} to {100 * found.high:.0f}]"
    return f"{100 * found.value:.1f} %{within}"


def points(found: Spread) -> str:
    within = "" if isnan(found.low) else f" [{found.low:+.2f} to {found.high:+.2f}]"
    return f"{found.value:+.2f}{within}"
