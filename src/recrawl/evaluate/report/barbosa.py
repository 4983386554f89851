"""What first sight tells and is good for, as a page and as tables."""

from __future__ import annotations

from math import isnan

from recrawl.evaluate.barbosa import paper
from recrawl.evaluate.barbosa.results import AFTER, FIRST, Barbosa, Lost, Variant
from recrawl.evaluate.barbosa.scheduling import KNOWING, N_VISITS, WAYS, WITH, WITHOUT
from recrawl.evaluate.barbosa.spreads import Spread, spread
from recrawl.evaluate.barbosa.tables import COMBINATIONS, LARGEST, LATER, RANDOM, SAME
from recrawl.evaluate.report.figures import Block, Finding, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import days, share, titled
from recrawl.learn.sights.learners import LEARNERS

COLUMNS = ("table", "what", "by", "classes", "error %", "paper %", "seconds", "paper s")
_NAMES = {WITH: "with first sight", WITHOUT: "without", KNOWING: "knowing the rates"}
_OVER = {SAME: "the same days", LATER: "the time after them"}


def table(result: Barbosa) -> tuple[list[str], list[list[str]]]:
    """For a terminal: the paper's tables one below the other."""
    rows = []
    for one in result.variants:
        for cells in _rows1(one):
            rows.append(["1", cells[0], one.by, one.made, *cells[1:]])
        for name, error, told in _rows3(one):
            rows.append(["3", name, one.by, one.made, error, told, "", ""])
        for over in one.overs:
            for name, error, told in _rows5(one, over):
                rows.append([f"5 {over}", name, one.by, one.made, error, told, "", ""])
    return titled(COLUMNS), rows


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
    for one in result.log_rates:
        explained = one.explained
        said.append(
            f"By {one.by}: hunches are off by {spread(one.error).value:.2f} in the logarithm of the rate, "
            f"the mean by {spread(one.error_of_mean).value:.2f}; {_share(explained)} of its variance is "
            "explained."
        )
    for by in result.firsts:
        first, later = result.lost(by, FIRST), result.lost(by, AFTER)
        said.append(
            f"By {by}: in the first visits, first sight takes away {_share(first.cut)} of the stale time and "
            f"{_share(first.lost_cut)} of what is lost to not knowing the rates (knowing them takes away "
            f"{_share(first.possible)} of the stale time); afterwards {_share(later.cut)} of it."
        )
    return said


def page_of(result: Barbosa, command: str) -> Report:
    return Report(
        title=f"First sight: {result.about.name}",
        lead=(
            "The experiment of Barbosa and others (2005): can it be told from the first visit how often a "
            f"page will change? {result.n_pages:,} pages of {result.n_sites:,} sites, visited daily for "
            f"{result.ask.days} days; then what such a first sight is good for in a schedule."
        ),
        about=result.about.title,
        facts=[
            ("Corpus", result.about.name),
            ("Pages", f"{result.n_pages:,}"),
            ("Sites", f"{result.n_sites:,}"),
            ("Daily visits", f"{result.ask.days} days"),
            ("Schedule", f"{result.ask.test_days:.0f} days"),
            ("Splits", f"{result.ask.n_splits}"),
            ("Seed", f"{result.ask.seed}"),
        ],
        sections=[
            Section(title="Findings", blocks=[*result.notes, *_findings(result), *summary(result)]),
            Section(title="Classes of change rates", blocks=_classes(result)),
            *(
                Section(
                    title=f"Tables: split by {one.by}, {_made(one.made)}",
                    blocks=[_table1(one), _table3(one), *(_table5(one, over) for over in one.overs)],
                )
                for one in result.variants
            ),
            Section(title="The first visits", blocks=_first(result)),
            Section(title="How it was measured", blocks=_CONVENTIONS),
        ],
        command=command,
    )


_CONVENTIONS = (
    "Each page is visited once a day; its rate is estimated as in the paper, from how many visits found a "
    "change. Two thirds of the pages are learned from and one third is tested on: pages drawn at random, or "
    "all pages of sites drawn at random. Classes are made from training pages alone: by k-means on the "
    "rates, as in the paper, or of equal size. Training sets are balanced. Intervals hold a figure with 95 % "
    "confidence over splits, which are taken to be as alike as pages in common make them.",
    "Table 1 has the learners on a balanced set, two thirds of it against one; seconds are what classifying "
    "the third takes. Table 3 has the initial class of all test pages, table 5 the class that they are in "
    "after visits at the intervals of their classes: over the same days, against the class of these days, as "
    "in the paper; and until the end of the time that follows, against the class of its last days. The "
    "historic classifier's windows are chosen on training pages. A tree stands for the paper's J48.",
    "Then the test pages are scheduled for goal fresh from their first visit on, by the default predictor, "
    "which knows what the training pages' visits told: a prior for all and for each site it has seen; with "
    "first sight, also a prior about each page's hunch. Every gap is its own choice, the first one too. "
    "Prices are found so that both make the same number of visits. What is lost is the stale time beyond "
    "that of a schedule, with as many visits, that knows the rate of each page in the time to come.",
)


def _findings(result: Barbosa) -> list[Finding]:
    found = []
    for one in result.variants:
        for over in one.overs:
            best = one.best5(over)
            found.append(
                Finding(
                    claim=f"static+historic has the lowest error of the four ({_where(one)}, {_OVER[over]}).",
                    holds=best == "static+historic",
                    sentence=", ".join(
                        f"{name} {one.error5(name, over).value:.1f} %" for name in COMBINATIONS
                    )
                    + ".",
                )
            )
    for by in result.firsts:
        first, later = result.lost(by, FIRST), result.lost(by, AFTER)
        found.append(
            Finding(
                claim=f"First sight takes away a third of what is lost in the first visits (split by {by}).",
                holds=_at_least(first.lost_cut.value, 1 / 3),
                sentence=f"It takes away {_share(first.lost_cut)} of it.",
            )
        )
        found.append(
            Finding(
                claim=f"It makes later visits no worse (split by {by}).",
                holds=None if isnan(later.fresher.high) else later.fresher.high >= 0.0,
                sentence=f"Copies are {_points(later.fresher)} points of a hundred fresher afterwards.",
            )
        )
    return found


def _classes(result: Barbosa) -> list[Block]:
    rows = []
    for k, groups in result.groupings.items():
        for i, group in enumerate(groups):
            interval = group["interval_days"]
            rows.append(
                [f"{k}", f"{i}", days(interval) if interval is not None else "never", f"{group['n']:,}"]
            )
    return [
        f"Of these numbers of classes the paper's reasons choose {result.choice.k}: {result.choice.why}.",
        Table(
            caption="k-means classes of the estimated rates",
            columns=("k", "class", "mean interval, days", "pages"),
            rows=rows,
        ),
    ]


def _table1(one: Variant) -> Table:
    return Table(
        caption=f"Table 1: learners on a balanced set ({_where(one)})",
        columns=("learner", "error, %", "paper, %", "seconds", "paper, s"),
        rows=_rows1(one),
    )


def _table3(one: Variant) -> Table:
    return Table(
        caption=f"Table 3: the initial class ({_where(one)})",
        columns=("classifier", "error, %", "paper, %"),
        rows=_rows3(one),
    )


def _table5(one: Variant, over: str) -> Table:
    return Table(
        caption=f"Table 5: the class after visits over {_OVER[over]} ({_where(one)})",
        columns=("approach", "error, %", "paper, %"),
        rows=_rows5(one, over),
    )


def _rows1(one: Variant) -> list[list[str]]:
    return [
        [
            name,
            _percent(one.error1(name)),
            f"{paper.TABLE_1[name][0]:g}" if name in paper.TABLE_1 else "-",
            f"{one.seconds1(name):.4f}",
            f"{paper.TABLE_1[name][1]:g}" if name in paper.TABLE_1 else "-",
        ]
        for name in LEARNERS
    ]


def _rows3(one: Variant) -> list[list[str]]:
    return [
        [
            "always the largest class" if name == LARGEST else name,
            _percent(one.error3(name)),
            f"{paper.TABLE_3[name]:g}" if name in paper.TABLE_3 else "-",
        ]
        for name in (RANDOM, "static", LARGEST)
    ]


def _rows5(one: Variant, over: str) -> list[list[str]]:
    return [[name, _percent(one.error5(name, over)), f"{paper.TABLE_5[name]:g}"] for name in COMBINATIONS]


def _first(result: Barbosa) -> list[Block]:
    blocks: list[Block] = []
    for by in result.firsts:
        blocks.append(
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
        blocks.append(
            Table(
                caption=f"With and without first sight, split by {by}",
                columns=("when", "schedule", "visits a page", "stale", "lost", "recall", "wasted"),
                rows=rows,
                n_words=2,
            )
        )
    return blocks


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


def _where(one: Variant) -> str:
    return f"split by {one.by}, {_made(one.made)}"


def _made(made: str) -> str:
    return "k-means classes" if made == "k-means" else "classes of equal size"


def _percent(found: Spread) -> str:
    if isnan(found.low):
        return "-" if isnan(found.value) else f"{found.value:.1f}"
    return f"{found.value:.1f} [{found.low:.1f}–{found.high:.1f}]"


def _share(found: Spread) -> str:
    if isnan(found.value):
        return "no known share"
    within = "" if isnan(found.low) else f" [{100 * found.low:.0f} to {100 * found.high:.0f}]"
    return f"{100 * found.value:.1f} %{within}"


def _points(found: Spread) -> str:
    within = "" if isnan(found.low) else f" [{found.low:+.2f} to {found.high:+.2f}]"
    return f"{found.value:+.2f}{within}"


def _at_least(value: float, least: float) -> bool | None:
    return None if isnan(value) else value >= least
