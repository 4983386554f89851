"""Tan (2012), "Predicting Web 2.0 thread updates", on any corpus of threads; then all at equal visits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.corpora.posts import Boards, boards
from recrawl.evaluate.pieces import Tell
from recrawl.evaluate.tan.aiming import aimed, lives_s
from recrawl.evaluate.tan.ask import Ask
from recrawl.evaluate.tan.catching import caught
from recrawl.evaluate.tan.curved import curved
from recrawl.evaluate.tan.following import followed, paced
from recrawl.evaluate.tan.measures import MINUTE_S, Watched, delays_s, figures, mape
from recrawl.evaluate.tan.omniscient import omniscient
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.results import DIRECT, LIMIT, OURS, SQRT, Level, Row, Tan
from recrawl.evaluate.tan.visiting import minded, rooted, spoken
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.curves import held_out, shaped
from recrawl.learn.threads.fitting import halves
from recrawl.learn.threads.models import MODELS, all_predicted, possible
from recrawl.model import Floats, Ints

FIXED = "fixed"
_DAY_S = 86_400.0
_READ, _TOLD, _TRIED, _BESIDE = 0.05, 0.5, 0.75, 0.8  # what is done by then, as a share of the time

Run = Callable[[float], Watched]  # at a price


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Tan:
    found = boards(corpus, ask.least, ask.most, lambda share, what: tell(_READ * share, what), ask.board)
    threads = found.threads
    n_train = np.clip((ask.train * threads.n_posts).astype(np.int64), 2, threads.n_posts - 1)
    names = possible(threads)
    told = dict(_predicted(names, threads, n_train, tell, _READ, _TOLD))
    inner, learned = held_out(threads, n_train)
    tried = dict(_predicted(names, threads, inner, tell, _TOLD, _TRIED))
    tell(_TRIED, "what threads have in common")
    rules = _rules(threads, n_train, ask)
    rows = list(_rows(threads, n_train, told, rules, tell))
    posts = (threads.n_posts - n_train).astype(np.float64)
    runs: dict[str, tuple[Run, float]] = {
        OURS: rules.prompt,
        DIRECT: rules.direct,
        SQRT: (partial(rooted, threads, n_train), _DAY_S),
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
        notes=_notes(found, names),
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
    """Ours, by three aims; each with a likely price."""

    prompt: tuple[Run, float]  # short delays
    both: tuple[Run, float]  # errors
    direct: tuple[Run, float]  # the normalised error


def _rules(threads: Threads, n_train: Ints, ask: Ask) -> _Rules:
    """What threads have in common is learned from others than those that it serves."""
    known = minded(threads, *halves(threads, ask.seed))
    life_s = lives_s(threads, n_train, ask.train)
    return _Rules(
        prompt=(partial(spoken, threads, n_train, known), _DAY_S),
        both=(partial(caught, threads, n_train, known, life_s, ask.train), 0.5),
        direct=(partial(aimed, threads, n_train, known, life_s, ask.train), 10.0),
    )


def _rows(
    threads: Threads, n_train: Ints, told: dict[str, Floats], rules: _Rules, tell: Tell
) -> Iterator[Row]:
    """Every model of the paper at its own number of visits, and ours with as many."""
    to_come = threads.known(threads.n_posts) & (threads.place + 1 >= np.repeat(n_train, threads.n_posts))
    actual_s, row = threads.gap_s[to_come], threads.row[to_come]
    for i, (model, gap_s) in enumerate(told.items()):
        tell(_TRIED + (_BESIDE - _TRIED) * i / len(told), f"{model} at its own visits")
        made = (
            paced(threads, n_train, float(gap_s[0])) if model == FIXED else followed(threads, n_train, gap_s)
        )
        wrong = mape(actual_s, gap_s[to_come], row, threads.n)
        yield Row(model=model, figures=figures(made), mape=wrong)
        n_visits = float(made.n_visits.sum())
        for other, rule in ((OURS, rules.both), (DIRECT, rules.direct)):
            yield Row(model=other, figures=figures(priced(rule[0], n_visits, rule[1])), beside=model)


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


def _notes(found: Boards, names: tuple[str, ...]) -> list[str]:
    threads = found.threads
    notes = [
        f"{threads.n:,} of {found.every.n:,} threads have so many posts: {len(threads.at):,} on "
        f"{len(np.unique(threads.board)):,} boards."
    ]
    missing = [name for name in MODELS if name not in names]
    if missing:
        notes.append(f"Nobody has kept the words of their posts: {len(missing)} models are left out.")
    elif found.n_spoken < threads.n:
        notes.append(f"The words of {found.n_spoken:,} of them are known.")
    return notes
