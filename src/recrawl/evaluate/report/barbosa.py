"""What first sight tells and is good for, as a page and as tables."""

from __future__ import annotations

from math import isnan

from recrawl.evaluate.barbosa import paper
from recrawl.evaluate.barbosa.results import Barbosa, Variant
from recrawl.evaluate.barbosa.spreads import Spread, spread
from recrawl.evaluate.barbosa.tables import COMBINATIONS, LARGEST, LATER, RANDOM, SAME
from recrawl.evaluate.report import firsts
from recrawl.evaluate.report.figures import Block, Finding, Report, Section, Table
from recrawl.evaluate.report.firsts import percent, points
from recrawl.evaluate.report.table import days, titled
from recrawl.learn.sights.learners import LEARNERS

COLUMNS = ("table", "what", "by", "classes", "error %", "paper %", "seconds", "paper s")
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


def summary(result: Barbosa) -> list[str]:
    said = []
    for one in result.log_rates:
        explained = one.explained
        said.append(
            f"By {one.by}: hunches are off by {spread(one.error).value:.2f} in the logarithm of the rate, "
            f"the mean by {spread(one.error_of_mean).value:.2f}; {percent(explained)} of its variance is "
            f"explained. They were heeded in {one.n_heeded} of {len(one.error)} splits."
        )
    return [*said, *firsts.summary(result)]


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
            Section(
                title="Findings",
                blocks=[*result.notes, *_findings(result), *firsts.findings(result), *summary(result)],
            ),
            Section(title="Classes of change rates", blocks=_classes(result)),
            *(
                Section(
                    title=f"Tables: split by {one.by}, {_made(one.made)}",
                    blocks=[_table1(one), _table3(one), *(_table5(one, over) for over in one.overs)],
                )
                for one in result.variants
            ),
            Section(title="The first visits", blocks=firsts.blocks(result)),
            Section(title="How it was measured", blocks=_CONVENTIONS),
        ],
        command=command,
    )


_CONVENTIONS = (
    "Each page is visited once a day; its rate is estimated as in the paper, from how many visits found a "
    "change. Two thirds of the pages are learned from and one third is tested on: pages drawn at random, or "
    "all pages of sites drawn at random: a site is a host here, or what the corpus names in its place. "
    "Classes are made from training pages alone: by k-means on the rates, as in the paper, or of equal "
    "size. Training sets are balanced. Intervals hold a figure with 95 % confidence over splits, which are "
    "taken to be as alike as pages in common make them.",
    "Table 1 has the learners on a balanced set, two thirds of it against one; seconds are what classifying "
    "the third takes. Table 3 has the initial class of all test pages, table 5 the class that they are in "
    "after visits at the intervals of their classes: over the same days, against the class of these days, "
    "as in the paper; and until the end of the time that follows, against the class of its last days. The "
    "historic classifier's windows are chosen on training pages. A tree stands for the paper's J48.",
    "Then the test pages are scheduled for goal fresh from their first visit on, by the default predictor, "
    "which knows what the training pages' visits told: a prior for all and for each site it has seen; with "
    "first sight, also a prior about each page's hunch, where that foretells training pages better whose "
    "hunches they had no part in: else no hunch is heeded, as in a running recrawl. Every gap is its own "
    "choice, the first one too. Prices are found so that both make the same number of visits. What is lost "
    "is the stale time beyond that of a schedule, with as many visits, that knows the rate of each page in "
    "the time to come. A claim holds or fails by differences between both ways on the same splits, and is "
    "open where these may be chance.",
)


def _findings(result: Barbosa) -> list[Finding]:
    found = []
    for one in result.variants:
        for over in one.overs:
            found.append(
                Finding(
                    claim=f"static+historic has the lowest error of the four ({_where(one)}, {_OVER[over]}).",
                    holds=one.lowest5("static+historic", over),
                    sentence=", ".join(
                        f"{name} {one.error5(name, over).value:.1f} %" for name in COMBINATIONS
                    )
                    + f"; ahead of the next best by {points(one.ahead5('static+historic', over))}.",
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


def _where(one: Variant) -> str:
    return f"split by {one.by}, {_made(one.made)}"


def _made(made: str) -> str:
    return "k-means classes" if made == "k-means" else "classes of equal size"


def _percent(found: Spread) -> str:
    if isnan(found.low):
        return "-" if isnan(found.value) else f"{found.value:.1f}"
    return f"{found.value:.1f} [{found.low:.1f}–{found.high:.1f}]"
