"""What content and kin foretell, as a page and as a table."""

from __future__ import annotations

from math import isnan, nan

from recrawl.evaluate.radinsky import paper
from recrawl.evaluate.radinsky.accuracy import LEARNERS, STACKED
from recrawl.evaluate.radinsky.choosing import WAYS
from recrawl.evaluate.radinsky.crawling import COIN, INDEX, RULES
from recrawl.evaluate.radinsky.paired import Mean, mean
from recrawl.evaluate.radinsky.results import BASES, TURNS, Radinsky, span
from recrawl.evaluate.report.figures import (
    Block,
    Finding,
    Lines,
    Point,
    Report,
    Scatter,
    Section,
    Series,
    Table,
)
from recrawl.evaluate.report.table import titled
from recrawl.model import DAY_S

COLUMNS = ("table", "what", "accuracy %", "paper %")
_NAMES = {
    "1d": "1D: how often it changed",
    "2d": "2D: its own content",
    "3d": "3D: experts",
    "ours": "ours",
    "ours_alone": "ours, without kin",
    "ours_window": "ours, from the training size alone",
    "always": "always what is commoner",
    "majority": "what the page did mostly",
    "last": "what the page did last",
}
_KIN = {
    "graph": "graph distance",
    "content": "content",
    "cross_correlation": "cross-correlation",
    "dtw": "time warping",
}


def table(result: Radinsky) -> tuple[list[str], list[list[str]]]:
    """For a terminal: the paper's tables one below the other, then the crawl."""
    rows = [["1", *cells] for cells in _rows1(result)]
    rows += [["2", *cells] for cells in _rows2(result)]
    rows += [["3", *cells] for cells in _rows3(result)]
    rows += [["fresh", name, figure, ""] for name, figure in _rows8(result)]
    return titled(COLUMNS), rows


def summary(result: Radinsky) -> list[str]:
    return [one.line for one in findings(result)]


def findings(result: Radinsky) -> list[Finding]:
    best = result.best_of_paper
    claims = [
        ("A page's own content foretells better than how often it changed (2D above 1D).", "2d", "1d"),
        ("Kin foretell better than a page's own content (3D above 2D).", "3d", "2d"),
        *((f"Experts foretell better than {name}.", "3d", name) for name in STACKED),
        (f"Ours foretells better than the best of the paper's learners, which is {best} here.", "ours", best),
        ("Ours foretells better with kin than without.", "ours", "ours_alone"),
        ("Ours foretells better from all that is known than from the training size.", "ours", "ours_window"),
        ("Ours foretells better than always what is commoner.", "ours", "always"),
        ("Ours foretells better than what the page did last.", "ours", "last"),
    ]
    found = [_finding(claim, result.ahead(one, other)) for claim, one, other in claims]
    for way in WAYS:
        ahead = result.ahead_by_way("cross_correlation", way)
        if way != "cross_correlation" and ahead is not None:
            found.append(_finding(f"Kin by cross-correlation are better experts than by {_KIN[way]}.", ahead))
    for name in ("2d", "3d", "ours"):
        claim = f"By a coin, a crawl that asks {name} is fresher than one that asks 1d."
        found.append(_finding(claim, result.fresher((COIN, name), (COIN, "1d"))))
    for name in LEARNERS:
        claim = f"A crawl that asks {name} is fresher by the index policy than by a coin."
        found.append(_finding(claim, result.fresher((INDEX, name), (COIN, name))))
    for way, share in result.true_kin.items():
        if way in ("cross_correlation", "dtw"):
            found.append(
                Finding(
                    claim=f"Kin by {_KIN[way]} are the true ones nine times in ten.",
                    holds=share >= 0.9,
                    sentence=f"{share:.1%} of those that a page has.",
                )
            )
    return found


def page_of(result: Radinsky, command: str) -> Report:
    step = span(result.step_s)
    return Report(
        title=f"Content and kin: {result.about.name}",
        lead=(
            "The experiment of Radinsky and Bennett (2013): can it be told from a page's content, and from "
            f"related pages, whether it changes by the next step? {result.n_pages:,} of {result.n_kept:,} "
            f"pages that switch often enough, {result.n_steps:,} steps of {step}; then a crawl that sees a "
            "tenth of them at each step."
        ),
        about=result.about.title,
        facts=[
            ("Corpus", result.about.name),
            ("Pages", f"{result.n_all:,}"),
            ("Pass the filter", f"{result.n_kept:,}"),
            ("Foretold", f"{result.n_pages:,}"),
            ("Steps", f"{result.n_steps:,} of {step}"),
            ("Changes", result.changes),
            ("Learned from", f"{result.ask.n_train} steps"),
            ("Kin", f"{result.ask.k}"),
            ("Seed", f"{result.ask.seed}"),
        ],
        sections=[
            Section(title="Findings", blocks=[*result.notes, *findings(result)]),
            Section(title="Tables", blocks=_tables(result)),
            Section(title="Training size and number of experts", blocks=_figures(result)),
            Section(title="The crawl", blocks=_crawls(result)),
            Section(title="How it was measured", blocks=_CONVENTIONS),
        ],
        command=command,
    )


_CONVENTIONS = (
    "A page is foretold at steps that are spread evenly over the time after the first training window; "
    "at each the learners know the steps before it, and learn from the last ones whose outcome is "
    "known. Accuracy is the share of right answers of a page, and its mean over pages. Differences are "
    "those on the same pages, with Student's interval of 95 %: a claim is open where the interval holds "
    "0. Pages of one site change together, so the intervals are narrower than they would be for new "
    "sites. Where most pages do the same, a high accuracy is no merit: the base rates stand beside.",
    "Pages that switch between change and no change in too few steps are not foretold, as in the paper; "
    "kin are also chosen among pages that switch a third as often, and ours learns from all of them, "
    "from all steps that are known (in figure 6 from as many as the others). "
    "Kin are chosen once, on the first training window, by the commonest words that not everybody "
    "shows; lags are from 1 to 7 steps, so kin by cross-correlation are those that lead. 1D tosses a "
    "coin by how often the page changed, as the paper defines it. All but 1D and ours are SVMs with a "
    "polynomial kernel of degree 3, whose C and constant are chosen on the training window.",
    "In the crawl all pages were seen at every step until the training window's end; then a tenth is "
    "fetched at each step, and nothing else is seen. Learners are not trained again. By a coin, pages "
    "are drawn in proportion to the chance of a change at the next step; by the index policy, those "
    "whose visits are worth most for goal fresh are fetched, by the survival that was foretold since "
    "their last visits. A copy is fresh until the page changes. Pages in turn: each is fetched every "
    "tenth step.",
)


def _finding(claim: str, ahead: Mean) -> Finding:
    return Finding(claim=claim, holds=ahead.above, sentence=f"By {_points(ahead)}.")


def _points(found: Mean) -> str:
    if isnan(found.value):
        return "nothing that could be measured"
    if isnan(found.low):
        return f"{found.value:+.2f} points"
    return f"{found.value:+.2f} points [{found.low:+.2f} to {found.high:+.2f}], p = {found.p:.2g}"


def _tables(result: Radinsky) -> list[Block]:
    blocks: list[Block] = [
        Table(
            caption="Table 1: what is known of a page", columns=("learner", *COLUMNS[2:]), rows=_rows1(result)
        ),
        Table(
            caption="Table 2: how kin are taken together",
            columns=("learner", *COLUMNS[2:]),
            rows=_rows2(result),
        ),
        Table(
            caption="Table 3: how kin are chosen (3D; ours has no figure in the paper)",
            columns=("kin", *COLUMNS[2:]),
            rows=_rows3(result),
        ),
    ]
    if result.true_kin:
        blocks.append(
            Table(
                caption="True kin among those that were chosen",
                columns=("kin", "share"),
                rows=[[_KIN[way], f"{share:.1%}"] for way, share in result.true_kin.items()],
            )
        )
    return blocks


def _rows1(result: Radinsky) -> list[list[str]]:
    names = (*LEARNERS, "ours_alone", "ours_window", *BASES)
    return [[_NAMES[name], _percent(result.accuracy(name)), _told(paper.TABLE_1.get(name))] for name in names]


def _rows2(result: Radinsky) -> list[list[str]]:
    rows = [[name, _percent(result.accuracy(name)), _told(paper.TABLE_2[name])] for name in STACKED]
    return [*rows, ["experts", _percent(result.accuracy("3d")), _told(paper.TABLE_2["experts"])]]


def _rows3(result: Radinsky) -> list[list[str]]:
    rows = []
    for way in WAYS:
        experts, ours = result.by_way(way), result.by_way(way, "ours")
        told = _told(paper.TABLE_3[way])
        rows.append([f"{_KIN[way]}", "-" if experts is None else _percent(experts), told])
        if ours is not None:
            rows.append([f"{_KIN[way]}, ours", _percent(ours), "-"])
    return rows


def _rows8(result: Radinsky) -> list[tuple[str, str]]:
    rows = []
    for rule in RULES:
        for name, fresh in result.fresh[rule].items():
            who = "pages in turn" if name == TURNS else f"{name} by {rule}"
            rows.append((who, _percent(mean(100.0 * fresh.mean(axis=1)))))
    return rows


def _figures(result: Radinsky) -> list[Block]:
    by_size, by_count = result.accuracies.by_size, result.accuracies.by_count
    sizes = [
        Point(name=f"{name}", style=style, x=float(n), y=one.value, low=one.low, high=one.high)
        for style, name in enumerate(LEARNERS)
        for n, of in by_size.items()
        for one in [mean(100.0 * of[name])]
    ]
    counts = [
        Point(name=f"{n}", style=2, x=float(n), y=one.value, low=one.low, high=one.high)
        for n, of in sorted(by_count.items())
        for one in [mean(100.0 * of)]
    ]
    return [
        (
            Scatter(
                title="Accuracy by training size (figure 6)", x_name="steps learned from",
                y_name="accuracy, %", points=sizes, even=True,
            ),
            Scatter(
                title="Accuracy of 3D by the number of experts (figure 7)", x_name="experts",
                y_name="accuracy, %", points=counts, even=True,
            ),
        ),
        Table(
            caption="Figure 6: accuracy in percent by training size",
            columns=("steps", *LEARNERS),
            rows=[
                [f"{n}", *(_percent(mean(100.0 * of[name])) for name in LEARNERS)]
                for n, of in by_size.items()
            ],
        ),
        Table(
            caption="Figure 7: accuracy of 3D in percent by the number of experts",
            columns=("experts", "3d"),
            rows=[[f"{n}", _percent(mean(100.0 * of))] for n, of in sorted(by_count.items())],
        ),
    ]  # fmt: skip


def _crawls(result: Radinsky) -> list[Block]:
    days = result.days()
    drawn = []
    for rule in RULES:
        series = [
            Series(
                name=name,
                style=style,
                x=[day * result.step_s / DAY_S for day in days],
                y=[result.freshness(rule, name, day) if name in result.fresh[rule] else nan for day in days],
            )
            for style, name in enumerate((*LEARNERS, TURNS))
        ]
        drawn.append(Lines(title=f"By {rule}", y_name="share of copies that are fresh", series=series))
    return [
        tuple(drawn),
        Table(
            caption=f"Fresh copies in percent; {result.n_visits} of {result.n_pages} pages fetched a step",
            columns=("crawl", "fresh, %"),
            rows=[list(row) for row in _rows8(result)],
        ),
    ]


def _percent(found: Mean) -> str:
    if isnan(found.low):
        return "-" if isnan(found.value) else f"{found.value:.1f}"
    return f"{found.value:.1f} [{found.low:.1f}–{found.high:.1f}]"


def _told(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}"
