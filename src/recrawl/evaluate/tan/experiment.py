"""Tan (2012), "Predicting Web 2.0 thread updates", on any corpus of threads; then all at equal visits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.corpora.posts import Boards, boards
from recrawl.errors import BadInputError
from recrawl.evaluate.pieces import Tell
from recrawl.evaluate.tan.aiming import aimed, lives_s, posts_to_come
from recrawl.evaluate.tan.ask import Ask
from recrawl.evaluate.tan.catching import caught
from recrawl.evaluate.tan.curved import curved
from recrawl.evaluate.tan.following import followed
from recrawl.evaluate.tan.foreseen import mean_gaps_s, median_gaps_s
from recrawl.evaluate.tan.measures import MINUTE_S, Watched, delays_s, figures, mape
from recrawl.evaluate.tan.omniscient import omniscient
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.rates import paced, rooted
from recrawl.evaluate.tan.results import DIRECT, FIXED, LIMIT, OURS, SQRT, Level, Row, Tan
from recrawl.evaluate.tan.speaking import Mind, minded, spoken
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.curves import held_out, shaped
from recrawl.learn.threads.fitting import by_board
from recrawl.learn.threads.models import all_predicted, possible
from recrawl.model import Floats, Ints

_DAY_S = 86_400.0
_READ, _TOLD, _TRIED, _BESIDE = 0.05, 0.5, 0.75, 0.8  # what is done by then, as a share of the time

Run = Callable[[float], Watched]  # at a price


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Tan:
    found = boards(corpus, ask.least, ask.most, lambda share, what: tell(_READ * share, what), ask.board)
    threads = found.threads
    n_train = np.clip((ask.train * threads.n_posts).astype(np.int64), 2, threads.n_posts - 1)
    names = _possible(threads, ask.models)
    told = dict(_predicted(names, threads, n_train, tell, _READ, _TOLD))
    inner, learned = held_out(threads, n_train)
    tried = dict(_predicted(names, threads, inner, tell, _TOLD, _TRIED))
    tell(_TRIED, "what threads have in common")
    mind = minded(threads, *by_board(threads.first(n_train)))
    rules = _rules(threads, n_train, mind, ask.train)
    rows = list(_rows(threads, n_train, told, mind, rules, tell))
    posts = (threads.n_posts - n_train).astype(np.float64)
    runs: dict[str, tuple[Run, float]] = {
        OURS: rules.prompt,
        DIRECT: rules.direct,
        SQRT: rules.sqrt,
        FIXED: (partial(paced, threads, n_train), _DAY_S),
    }
    for model in names:
        if model != FIXED:
            hazard = shaped(threads, tried[model], learned)
            runs[model] = partial(curved, threads, n_train, told[model], hazard), _DAY_S
    runs[LIMIT] = partial(omniscient, threads, n_train), _DAY_S
    return Tan(
        corpus=name,
        about=corpus.about,
        ask=ask,
        notes=_notes(found, ask.models, names),
        n_all=found.every.n,
        n_boards=len(np.unique(threads.board)),
        posts=posts,
        rows=rows,
        levels=list(_levels(runs, ask.budgets, posts, tell)),
    )


def _predicted(
    names: tuple[str, ...], threads: Threads, n_train: Ints, tell: Tell, begin: float, end: float
) -> Iterator[tuple[str, Floats]]:
    done = 0

    def heard(n: int) -> None:
        share = (done + n / threads.n) / len(names)
        tell(begin + (end - begin) * share, f"{names[done]}, thread {n} of {threads.n}")

    for name, gap_s in all_predicted(names, threads, n_train, heard):
        yield name, gap_s
        done += 1


@dataclass(frozen=True, slots=True)
class _Rules:
    """Ours, by three aims, and the plain rule; each with a likely price."""

    prompt: tuple[Run, float]  # short delays
    both: tuple[Run, float]  # errors
    direct: tuple[Run, float]  # the normalised error
    sqrt: tuple[Run, float]


def _rules(threads: Threads, n_train: Ints, mind: Mind, train: float) -> _Rules:
    likely = lives_s(threads, n_train, train), posts_to_come(n_train, train)
    return _Rules(
        prompt=(partial(spoken, threads, n_train, mind), _DAY_S),
        both=(partial(caught, threads, n_train, mind, *likely), 0.5),
        direct=(partial(aimed, threads, n_train, mind, *likely), 10.0),
        sqrt=(partial(rooted, threads, n_train), _DAY_S),
    )


def _rows(
    threads: Threads, n_train: Ints, told: dict[str, Floats], mind: Mind, rules: _Rules, tell: Tell
) -> Iterator[Row]:
    """Every model of the paper at its own number of visits; ours and the plain rule with as many."""
    to_come = threads.known(threads.n_posts) & (threads.place + 1 >= np.repeat(n_train, threads.n_posts))
    actual_s, row = threads.gap_s[to_come], threads.row[to_come]

    def wrong(gap_s: Floats) -> Floats:
        return mape(actual_s, gap_s[to_come], row, threads.n)

    by_ours, by_rate = wrong(median_gaps_s(threads, mind)), wrong(mean_gaps_s(threads))
    others = (
        (OURS, rules.both, by_ours), (DIRECT, rules.direct, by_ours), (SQRT, rules.sqrt, by_rate)
    )  # fmt: skip
    for i, (model, gap_s) in enumerate(told.items()):
        tell(_TRIED + (_BESIDE - _TRIED) * i / len(told), f"{model} at its own visits")
        made = (
            paced(threads, n_train, float(gap_s[0])) if model == FIXED else followed(threads, n_train, gap_s)
        )
        yield Row(model=model, figures=figures(made), mape=wrong(gap_s))
        n_visits = float(made.n_visits.sum())
        for other, (run, guess), off in others:
            yield Row(model=other, figures=figures(priced(run, n_visits, guess)), mape=off, beside=model)


def _levels(
    runs: dict[str, tuple[Run, float]], budgets: tuple[float, ...], posts: Floats, tell: Tell
) -> Iterator[Level]:
    n = len(budgets) * len(runs)
    for i, asked in enumerate(budgets):
        for j, (model, (run, guess)) in enumerate(runs.items()):
            share = (i * len(runs) + j) / n
            tell(_BESIDE + (1.0 - _BESIDE) * share, f"{model} at {asked:g} visits per post")
            made = priced(run, asked * float(posts.sum()), guess)
            delay_s = np.bincount(made.row, delays_s(made), made.n)
            yield Level(
                asked=asked,
                model=model,
                visits=made.n_visits.astype(np.float64),
                delay_min=delay_s / MINUTE_S,
            )


def _possible(threads: Threads, wanted: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name for name in possible(threads) if name in wanted)
    if not set(names) - {FIXED}:
        raise BadInputError(
            "Nobody has kept the words of these posts, by which the models that were asked for go; ask for "
            "others, such as --models mean."
        )
    return names


def _notes(found: Boards, wanted: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    threads = found.threads
    notes = [
        f"{threads.n:,} of {found.every.n:,} threads have so many posts: {len(threads.at):,} on "
        f"{len(np.unique(threads.board)):,} boards."
    ]
    missing = [name for name in wanted if name not in names]
    if missing:
        notes.append(f"Nobody has kept the words of their posts: {len(missing)} models are left out.")
    elif found.n_spoken < threads.n:
        notes.append(f"The words of {found.n_spoken:,} of them are known.")
    return notes
