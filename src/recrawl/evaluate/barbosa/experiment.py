"""Barbosa, Salgado, de Carvalho, Robin and Freire (2005), "Looking at both the present and the past to
efficiently update replicas of web content", on any corpus; and what first sight is good for in a schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.errors import BadInputError
from recrawl.evaluate.barbosa.ask import BY, MADE, Ask
from recrawl.evaluate.barbosa.daily import daily
from recrawl.evaluate.barbosa.pages import Pages, looked_at, pages_of
from recrawl.evaluate.barbosa.regression import Hunched, hunched
from recrawl.evaluate.barbosa.results import Barbosa, LogRate, Variant, classes_rows
from recrawl.evaluate.barbosa.scheduling import N_VISITS, Firsts, Terms, scheduled
from recrawl.evaluate.barbosa.tables import Tables, Time, part, tables
from recrawl.evaluate.intervals import groups_of
from recrawl.evaluate.pieces import Tell, counted, each
from recrawl.evaluate.protocol import Window, windows
from recrawl.learn.groups import chosen, report
from recrawl.model import DAY_S, Floats, Ints
from recrawl.model.sight import column

FEWEST_PAGES, FEWEST_SITES = 60, 6
_DRAWN = {"host": "site by site", "batch": "those that change together", "resource": "one by one"}
_LEAST_AFTER_DAYS = 20.0  # that must follow the daily visits
_MOST_OF, _SHORTER = 0.8, 0.95


def evaluate(
    name: str, corpus: Histories, ask: Ask, tell: Tell, clock: Callable[[], float] = lambda: 0.0
) -> Barbosa:
    """`clock` is what classifying is timed with."""
    pages = pages_of(corpus, lambda share, what: tell(0.05 * share, what))
    ask, limits = _adapted(corpus, ask, pages)
    ask, drawn = _drawn(pages, corpus, ask, limits)
    began = (time for window in drawn for time in (window.start_at, window.start_at + ask.days * DAY_S))
    pages = looked_at(
        pages, corpus, list(dict.fromkeys(began)), lambda share, what: tell(0.05 + 0.05 * share, what)
    )
    notes = [*_known(corpus, pages), *limits]
    n_least = min(len(window.rows) for window in drawn)
    if n_least < FEWEST_PAGES:
        raise BadInputError(
            f"Only {n_least} resources of {corpus.about.name} had a version before the daily visits began, "
            f"and {FEWEST_PAGES} are needed; ask for fewer --days or --test-days."
        )
    kinds: list[str] = [by for by in BY if by == "resource" or _n_sites(pages) >= FEWEST_SITES]
    if len(kinds) < len(BY):
        notes.append(f"There are only {_n_sites(pages)} sites: nothing is split by site.")
    groups, grouped_by = groups_of(pages.traces)
    said = f"Of the first visits, intervals are of splits drawn anew, and of pages: {_DRAWN[grouped_by]}."
    jobs = [(by, i) for by in kinds for i in range(ask.n_splits)]
    firsts: dict[str, _Split] = {}
    made: dict[str, list[_Split]] = {by: [] for by in kinds}

    def run(by: str, i: int) -> _Split:
        return _split(pages, groups, drawn[i], ask, by, i, firsts.get(by), clock)

    for by in kinds:  # the first of each finds out how large the trees are to be, and about which prices
        firsts[by] = run(by, 0)
        made[by].append(firsts[by])
    rest = [job for job in jobs if job[1]]
    found = each(lambda j: run(*rest[j]), len(rest), ask.n_cores)
    for done, ((by, _), one) in enumerate(zip(rest, found, strict=True), len(kinds) + 1):
        made[by].append(one)
        tell(0.1 + 0.9 * done / len(jobs), f"split {done} of {len(jobs)}")
    return _result(name, corpus, ask, pages, drawn, made, [*notes, said])


class _Split:
    """What one split came to."""

    def __init__(
        self, tables_: dict[str, Tables | None], found: Hunched, firsts: Firsts, gap_s: float
    ) -> None:
        self.tables, self.hunched, self.firsts, self.gap_s = tables_, found, firsts, gap_s


def _split(
    pages: Pages,
    groups: Ints,
    window: Window,
    ask: Ask,
    by: str,
    i: int,
    before: _Split | None,
    clock: Callable[[], float],
) -> _Split:
    traces = pages.traces.pick(window.rows)
    time = Time(start_at=window.start_at, days=ask.days, end_at=window.end_at)
    values, first = (
        pages.seen_at(at)[window.rows][:, _columns(pages)] for at in (time.start_at, time.middle_at)
    )
    seen = daily(traces, time.start_at, ask.days)
    after = daily(traces, time.end_at - ask.days * DAY_S, ask.days)
    split = part(by, traces.host, ask.seed * 1_000 + i)
    size = None if before is None else before.hunched.size
    found = hunched(values, first, traces.host, seen, split, size)
    gap_s = ask.every_s or budget_gap_s(seen.per_day[split.train], time)
    firsts = scheduled(
        traces.pick(split.test),
        found.priors,
        found.per_day,
        Terms(
            start_at=time.middle_at,
            end_at=time.end_at,
            min_gap_s=ask.min_gap_s,
            max_gap_s=ask.max_gap_s,
            gap_s=max(gap_s, ask.min_gap_s),
        ),
        (groups[window.rows][split.test], int(groups.max(initial=0)) + 1),
        None if before is None else before.firsts.prices,
    )
    made = {
        how: tables(traces, values, seen, after, time, split, k=ask.n_classes, made=how, clock=clock)
        for how in MADE
    }
    return _Split(made, found, firsts, gap_s)


def budget_gap_s(per_day: Floats, time: Time) -> float:
    """As many visits as there are changes, or so many that half of the time is left for what comes after the
    tenth."""
    mean = float(np.mean(per_day))
    longest_s = (time.end_at - time.middle_at) / (2 * N_VISITS)
    return min(DAY_S / mean if mean > 0.0 else longest_s, longest_s)


def _known(corpus: Histories, pages: Pages) -> list[str]:
    """What features there are; BadInputError where there is none."""
    if not pages.known:
        raise BadInputError(
            f"Nothing is known of the first visits to {corpus.about.name}; give a corpus with first pages "
            "(first_html.jsonl.xz), texts or URLs."
        )
    said = f"{len(pages.known)} features tell pages apart: {', '.join(pages.known)}."
    return [*pages.notes, *counted(corpus), said]


def _adapted(corpus: Histories, ask: Ask, pages: Pages) -> tuple[Ask, list[str]]:
    about, notes = corpus.about, list[str]()
    if not len(pages.traces):
        raise BadInputError(f"{about.name} has no resources; give a corpus that has some.")
    if (n := len(pages.traces)) < FEWEST_PAGES:  # no other window would have more
        raise BadInputError(
            f"{about.name} has {n} resources, and {FEWEST_PAGES} are needed; give a larger corpus."
        )
    most = 0.9 * about.days
    if ask.days + _LEAST_AFTER_DAYS > most:
        days = int(max(2.0, most / 2.0))
        notes.append(f"{about.name} spans {about.days:.0f} days: daily visits last {days}, not {ask.days}.")
        ask = replace(ask, days=days)
    if ask.days + ask.test_days > most:
        notes.append(
            f"{about.name} spans {about.days:.0f} days: pages are scheduled for {most - ask.days:.0f} days, "
            f"not {ask.test_days:g}."
        )
        ask = replace(ask, test_days=most - ask.days)
    finest_s = about.finest_s
    if finest_s > ask.min_gap_s:
        ask = replace(ask, min_gap_s=finest_s, max_gap_s=max(finest_s, ask.max_gap_s))
        notes.append(f"Changes are known to {finest_s / DAY_S:.3g} days: gaps are never shorter.")
    if finest_s > DAY_S:
        notes.append("A daily visit finds what the last look at the source had found.")
    return ask, notes


def _drawn(pages: Pages, corpus: Histories, ask: Ask, notes: list[str]) -> tuple[Ask, list[Window]]:
    """Windows. Where most pages came only after the earliest began, the time that is scheduled is shorter:
    then they begin later."""

    def tried(test_days: float) -> list[Window]:
        span = (corpus.about.start_at, corpus.about.end_at)
        days = ask.days + test_days
        return list(windows(pages.traces, days=days, n_draws=ask.n_splits, seed=ask.seed, span=span))

    least = min(ask.test_days, _LEAST_AFTER_DAYS)
    enough = _MOST_OF * min(len(window.rows) for window in tried(least))
    test_days = ask.test_days
    while min(len(window.rows) for window in tried(test_days)) < enough:
        test_days = max(_SHORTER * test_days, least)
    if test_days < ask.test_days:
        notes.append(f"Most pages came late: they are scheduled for {test_days:.0f} days.")
    return replace(ask, test_days=test_days), tried(test_days)


def _columns(pages: Pages) -> Ints:
    """Of the features that are known: learners need not look at the others."""
    return np.array([column(one) for one in pages.known], dtype=np.int64)


def _n_sites(pages: Pages) -> int:
    return len(np.unique(pages.traces.host))


def _result(
    name: str,
    corpus: Histories,
    ask: Ask,
    pages: Pages,
    drawn: Sequence[Window],
    made: dict[str, list[_Split]],
    notes: list[str],
) -> Barbosa:
    traces = pages.traces.pick(drawn[0].rows)
    per_day = daily(traces, drawn[0].start_at, ask.days).per_day
    groupings = report(per_day)
    variants = []
    for by, splits in made.items():
        for how in MADE:
            found = [one.tables[how] for one in splits]
            kept = [one for one in found if one is not None]
            if kept:
                variants.append(Variant(by=by, made=how, splits=kept))
    return Barbosa(
        corpus=name,
        about=corpus.about,
        ask=ask,
        notes=notes,
        features=pages.known,
        n_pages=len(traces),
        n_sites=len(np.unique(traces.host)),
        groupings=classes_rows(groupings),
        choice=chosen(groupings),
        variants=variants,
        log_rates=[
            LogRate(
                by=by,
                error=[one.hunched.error for one in splits],
                error_of_mean=[one.hunched.error_of_mean for one in splits],
                n_trees=splits[0].hunched.size.n_trees,
                depth=splits[0].hunched.size.depth,
                n_bands=splits[0].hunched.size.n_bands,
                n_heeded=sum(one.hunched.priors.hunched is not None for one in splits),
            )
            for by, splits in made.items()
        ],
        firsts={by: [one.firsts for one in splits] for by, splits in made.items()},
        gap_days=float(np.mean([one.gap_s for splits in made.values() for one in splits])) / DAY_S,
    )
