"""How threads were followed, as a page and as tables."""

from __future__ import annotations

from math import isnan, nan

from recrawl.evaluate.report.figures import Block, Lines, Report, Section, Series, Table
from recrawl.evaluate.report.table import titled
from recrawl.evaluate.report.threads import findings
from recrawl.evaluate.tan import paper
from recrawl.evaluate.tan.measures import NAMES
from recrawl.evaluate.tan.paired import Spread
from recrawl.evaluate.tan.results import DIRECT, ERRORS, LIMIT, OURS, SQRT, Row, Tan

HEADS = (
    "model",
    "MAPE",
    "Pr_miss",
    "Pr_fa",
    "Pr_error",
    "P_miss",
    "P_FA",
    "P_error",
    "T-score",
    "posts",
    "visits",
)
_PICTURED = {  # one of each sort
    OURS, SQRT, "fixed", "mean", "window-mean", "svr", "svr-words-20", "discounted-svr", "sgd", LIMIT
}  # fmt: skip


def table(result: Tan) -> tuple[list[str], list[list[str]]]:
    """For a terminal: every model at its own number of visits, with the errors of ours for as many."""
    columns, rows = list(HEADS), []
    places = [(1 + len(("mape", *NAMES[: NAMES.index(error)])) + 1, error) for error in reversed(ERRORS)]
    for place, _ in places:
        columns.insert(place, OURS)
    for row in result.own:
        cells, beside = _row(row), result.beside(row, OURS)
        for place, error in places:
            cells.insert(place, "-" if beside is None else _cell(beside, error))
        rows.append(cells)
    return titled(columns), rows


def levels_table(result: Tan) -> tuple[list[str], list[list[str]]]:
    """T-score in minutes of every model at equal visits."""
    return titled(("visits per post", *map(_figure, result.budgets))), _levels(result)


def summary(result: Tan) -> list[str]:
    return [one.line for one in findings(result)]


def page_of(result: Tan, command: str) -> Report:
    n_posts = int(result.posts.sum())
    return Report(
        title=f"Threads: {result.about.name}",
        lead=(
            "The experiment of Tan (2012): when will somebody speak next in a thread, and how soon is it "
            f"known? {result.n_threads:,} threads of {result.ask.least:,} to {result.ask.most:,} posts; the "
            f"first {result.ask.train:.0%} of each are learned from, and {n_posts:,} posts are waited for."
        ),
        about=result.about.title,
        facts=[
            ("Corpus", result.about.name),
            ("Threads", f"{result.n_all:,}"),
            ("Of that size", f"{result.n_threads:,}"),
            ("Boards", f"{result.n_boards:,}"),
            ("Posts to be fetched", f"{n_posts:,}"),
            ("Learned from", f"{result.ask.train:.0%}"),
            ("Seed", f"{result.ask.seed}"),
        ],
        sections=[
            Section(title="Findings", blocks=[*result.notes, *findings(result)]),
            Section(title="At equal visits", blocks=_equal(result)),
            Section(title="At each model's own visits", blocks=_own(result)),
            Section(title="How it was measured", blocks=_CONVENTIONS),
        ],
        command=command,
    )


_CONVENTIONS = (
    "A thread is watched from the last post that is learned from to its last post. A visit tells of all "
    "posts up to it. The T-score is the mean delay from a post to the visit that fetches it; what no "
    "visit has fetched by a thread's last post is fetched then. In the paper's table every figure is the "
    "mean over threads, as there; at equal visits the T-score is the mean over all posts. Intervals hold "
    "95 %: threads are drawn anew, the same for all models, at the same prices.",
    "In the paper's protocol the next visit is at the last known post plus the gap that is predicted after "
    "it. Where that is past, it is after half the time since the last post, and after five minutes at "
    "least, for all models alike; `fixed` visits at a fixed rate. Ours is then given as many visits, all "
    "threads together: once aiming at both errors (`ours`), and once at P_error alone (`direct`).",
    "MAPE is the mean of |actual - predicted| / actual over the gaps before the posts to be fetched. "
    "Pr_miss and Pr_fa come from windows of k events, posts and visits in the order of time: one with "
    "more posts than visits is a miss (share of those with a post), one with more visits than posts a "
    "false alarm (share of all). P_miss is T / T_max, T_max being the T-score where all is fetched at the "
    "end; P_FA is visits / (life in minutes - posts). Both errors weigh misses and false alarms equally.",
    "At equal visits what a model of the paper predicts is the middle of a survival curve, whose shape "
    "is that of its errors on posts it was not fitted to; visits go by goal prompt, with one price for "
    "all threads. Ours is a self-exciting process whose figures are fitted to the same first parts of all "
    "threads, and `direct` the same with its own aim. `sqrt` takes gaps in proportion to 1 / root of a "
    "thread's mean rate so far. `omniscient` knows every post beforehand: nobody can be below it.",
)


def _equal(result: Tan) -> list[Block]:
    return [
        (
            _lines(result, "T-score against visits per post", "T-score, minutes", None),
            _lines(result, "The same beside the square-root rule", "T-score, share of sqrt", SQRT),
        ),
        Table(
            caption="T-score in minutes, with its interval",
            columns=("visits per post", *map(_figure, result.budgets)),
            rows=_levels(result, intervals=True),
        ),
        Table(
            caption="By how many percent the T-score of ours is below",
            columns=("visits per post", *map(_figure, result.budgets)),
            rows=[
                [name, *(_gain(result.sooner(asked, OURS, name)) for asked in result.budgets)]
                for name in result.models
                if name not in (OURS, LIMIT)
            ],
        ),
    ]


def _lines(result: Tan, title: str, y_name: str, beside: str | None) -> Lines:
    shown = [name for name in result.models if name in _PICTURED]
    series = []
    for style, name in enumerate(shown):
        y = []
        for asked in result.budgets:
            score = _score(result, asked, name)
            score /= 1.0 if beside is None else _score(result, asked, beside)
            y.append(score if score > 0.0 else nan)  # a logarithm is drawn
        if beside is None or name != LIMIT:
            series.append(Series(name=name, style=style, x=result.budgets, y=y))
    return Lines(title=title, x_name="visits per post", y_name=y_name, series=series)


def _score(result: Tan, asked: float, model: str) -> float:
    level = result.level(asked, model)
    return nan if level is None else result.t_score_min(level).value


def _own(result: Tan) -> list[Block]:
    beside: list[list[str]] = []
    for row in result.own:
        others = [one for model in (OURS, DIRECT) if (one := result.beside(row, model)) is not None]
        for one in (row, *others):
            name = one.model if one is row else f"{one.model}, as many visits"
            beside.append([name, *(_cell(one, measure) for measure in NAMES)])
    return [
        Table(
            caption="The paper's table, here: means over threads",
            columns=HEADS,
            rows=[_row(row) for row in result.own],
        ),
        Table(
            caption="The paper's own figures, of 97 threads of another board",
            columns=HEADS,
            rows=[
                [
                    f"svr-words-{size}", f"{one.mape:.2f}", f"{one.pr_miss:.3f}", f"{one.pr_fa:.3f}",
                    f"{one.pr_error:.3f}", "-", "-", "-", f"{one.t_score_min:,.0f}", f"{one.posts:.1f}",
                    f"{one.visits:.1f}",
                ]
                for size, one in paper.TABLE.items()
            ],
        ),
        Table(
            caption="Later figures of the same author, of 830 threads",
            columns=("model", "P_error", "T-score", "visits per post"),
            rows=[
                [name, f"{one.p_error_norm:.4f}", f"{one.t_score_min:,.0f}", f"{one.visits_per_post:.1f}"]
                for name, one in paper.THESIS.items()
            ],
        ),
        Table(
            caption="With as many visits as each model of the paper: ours, and aiming at P_error alone",
            columns=("model", *HEADS[2:]),
            rows=beside,
        ),
    ]  # fmt: skip


def _levels(result: Tan, *, intervals: bool = False) -> list[list[str]]:
    rows = []
    for name in result.models:
        cells = [name]
        for asked in result.budgets:
            level = result.level(asked, name)
            found = None if level is None else result.t_score_min(level)
            cells.append("-" if found is None else _minutes(found, intervals))
        rows.append(cells)
    return rows


def _row(row: Row) -> list[str]:
    return [row.model, *(_cell(row, measure) for measure in ("mape", *NAMES))]


def _cell(row: Row, measure: str) -> str:
    value = row.figure(measure)
    if isnan(value):
        return "-"
    if measure == "t_score_min":
        return f"{value:,.0f}"
    if measure in ("posts", "visits"):
        return f"{value:.1f}"
    return (
        f"{value:.2f}"
        if measure == "mape"
        else f"{value:.4f}"
        if measure.endswith("norm")
        else f"{value:.3f}"
    )


def _minutes(found: Spread, interval: bool) -> str:
    figure = f"{found.value:,.0f}"
    return figure if not interval or isnan(found.low) else f"{figure} [{found.low:,.0f}–{found.high:,.0f}]"


def _gain(found: Spread | None) -> str:
    if found is None or isnan(found.value):
        return "-"
    if isnan(found.low):
        return f"{100 * found.value:.1f}"
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}–{100 * found.high:.1f}]"


def _figure(value: float) -> str:
    return f"{value:g}"
