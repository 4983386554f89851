"""Radinsky and Bennett (2013), "Predicting content change on the web", on any corpus that keeps contents; and
the same crawl with the index policy in place of a coin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.errors import BadInputError
from recrawl.evaluate.pieces import Tell, each
from recrawl.evaluate.radinsky.accuracy import COUNTS, LEARNERS, measured
from recrawl.evaluate.radinsky.ask import AUTO, CHANGES, Ask
from recrawl.evaluate.radinsky.choosing import MAIN, chosen, nobody, share_true
from recrawl.evaluate.radinsky.crawling import COIN, INDEX, RULES, Crawl, crawled, likely, within
from recrawl.evaluate.radinsky.results import Radinsky, Tried, span
from recrawl.evaluate.radinsky.steps import Shown, shown
from recrawl.learn.experts import Task, Tuning
from recrawl.learn.features.content import Steps
from recrawl.model import DAY_S, Bools, Floats, Ints

ENOUGH = 20  # pages that pass the filter: with fewer, other steps or changes are tried
FEWEST = 2
_WEEK_S = 7 * DAY_S
_LEAST_TESTS = 10  # steps to be foretold
_LEAST_TRAINED = 5
_KIN_TOO = 1 / 3  # of the switching that is asked for: from such pages something can be learned too


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Radinsky:
    if ask.changes not in CHANGES:
        raise BadInputError(
            f"{ask.changes!r} changes cannot be told apart; choose one of {', '.join(CHANGES)}."
        )
    setting, tried = _settled(corpus, ask, lambda share, what: tell(0.15 * share, what))
    notes = _notes(corpus, ask, setting, tried)
    ask = replace(ask, n_train=setting.n_train)
    kept = setting.kept
    world = switching(setting.steps, _KIN_TOO * ask.least_switching, _n_judged(ask, ask.n_train))
    found, steps = setting.shown.pick(world, setting.steps)
    drawn = np.random.default_rng(ask.seed).permutation(kept)[: ask.n_pages]
    pages = np.searchsorted(world, np.sort(drawn))
    if len(pages) < len(kept):
        notes.append(f"{len(pages)} of them are drawn to be foretold.")
    notes.append(
        f"Kin are chosen among the {len(world):,} pages that switch a third as often; ours learns from all "
        "of these."
    )
    task = Task(
        steps=steps,
        pages=pages,
        n_train=ask.n_train,
        back=ask.back,
        ahead=ask.ahead,
        group=found.host,
        cycles=cycles(found.step_s),
        seed=ask.seed,
    )
    tell(0.15, "choosing kin")
    kin = chosen(found, task.first, max(ask.k, *COUNTS), ask.n_words)
    accuracies = measured(
        task, kin, ask.k, ask.n_tests, lambda share, what: tell(0.2 + 0.45 * share, what), ask.n_cores
    )
    crawl = _crawl(*found.pick(pages, steps), ask, task.first)
    fresh = _freshness(crawl, accuracies.tunings, ask, lambda share, what: tell(0.65 + 0.35 * share, what))
    return Radinsky(
        corpus=name,
        about=corpus.about,
        ask=ask,
        notes=notes,
        changes=setting.changes,
        step_s=found.step_s,
        n_all=setting.shown.n_all,
        n_kept=len(kept),
        n_pages=len(pages),
        n_steps=steps.n_steps,
        n_hosts=len(np.unique(found.host[pages])),
        tried=tried,
        accuracies=accuracies,
        true_kin={
            way: float(share_true(one, found.family).mean())
            for way, one in kin.items()
            if one is not None and found.family is not None
        },
        n_kin={
            way: float((one.of[pages, : ask.k] >= 0).sum(axis=1).mean())
            for way, one in kin.items()
            if one is not None
        },
        fresh=fresh,
        n_visits=crawl.n_visits,
    )


def cycles(step_s: float) -> tuple[int, ...]:
    """After how many steps a day and a week come round."""
    turns = (round(span_s / step_s) for span_s in (DAY_S, _WEEK_S) if span_s % step_s < 1.0)
    return tuple(turn for turn in turns if turn > 1)


@dataclass(frozen=True, slots=True)
class _Setting:
    shown: Shown
    steps: Steps
    kept: Ints
    changes: str
    n_train: int


def _settled(corpus: Histories, ask: Ask, tell: Tell) -> tuple[_Setting, list[Tried]]:
    """The first of the ways to look at the corpus that leaves enough pages, or the one that leaves most."""
    if len(corpus) < FEWEST:
        raise BadInputError(
            f"{corpus.about.name} has {len(corpus) or 'no'} resource{'' if len(corpus) == 1 else 's'}, and "
            f"{FEWEST} are the fewest that can be told apart; give a larger corpus."
        )
    own_s = ask.step_s or corpus.about.step_s
    spans = [own_s] if own_s else [DAY_S, *([_WEEK_S] if _n_spared(corpus, _WEEK_S, ask) > 0 else [])]
    which = ["significant", "any"] if ask.changes == AUTO else [ask.changes]
    # who changes at fewer steps than half of those at which it ought to switch cannot be of use
    least = 0.5 * _KIN_TOO * ask.least_switching
    seen = dict(zip(spans, shown(corpus, spans, ask.n_steps, tell, least), strict=True))
    tried: list[Tried] = []
    best: _Setting | None = None
    for changes, span_s in product(which, spans):
        if best is not None and len(best.kept) >= ENOUGH:
            break
        steps = seen[span_s].steps(changes)
        n_train = _trained(ask, steps.n_steps)
        kept = switching(steps, ask.least_switching, _n_judged(ask, n_train))
        tried.append(Tried(changes, span_s, steps.n_steps, len(kept)))
        if best is None or len(kept) > len(best.kept):
            best = _Setting(seen[span_s], steps, kept, changes, n_train)
    if best is None or len(best.kept) < FEWEST:
        raise BadInputError(
            f"Hardly a page of {corpus.about.name} switches between change and no change in "
            f"{ask.least_switching:.0%} of its steps; {_remedy(ask)}."
        )
    return best, tried


def _remedy(ask: Ask) -> str:
    """What has not been tried."""
    lower = ["a lower --switching"] if ask.least_switching > 0.0 else []
    others = ["--changes any"] if ask.changes == "significant" else []
    ways = " or ".join([*lower, "another --step", *others])
    return f"ask for {ways}, or give a corpus that changes more often"


def _n_judged(ask: Ask, n_train: int) -> int:
    """Steps at which a page must be known to be foretold."""
    return n_train + ask.back + ask.ahead + _LEAST_TESTS


def _n_spared(corpus: Histories, span_s: float, ask: Ask) -> float:
    """Steps that are left when there are enough to learn from, as asked, and to foretell."""
    about = corpus.about
    return min((about.end_at - about.start_at) / span_s, ask.n_steps) - _n_judged(ask, ask.n_train)


def _trained(ask: Ask, n_steps: int) -> int:
    """As many as are asked for, or as many as leave some to be foretold."""
    room = n_steps - ask.back - ask.ahead - _LEAST_TESTS
    if room < _LEAST_TRAINED:
        raise BadInputError(
            f"There are {n_steps} steps, too few to learn from and to foretell; give a "
            f"{'larger --steps' if n_steps >= ask.n_steps else 'longer corpus or a shorter --step'}."
        )
    return min(ask.n_train, room)


def switching(steps: Steps, least: float, n_least: int) -> Ints:
    """The pages that change and do not change by turns in so many of their steps, and have enough steps."""
    both = steps.judged[:, 1:] & steps.judged[:, :-1]
    switched = (steps.changed[:, 1:] != steps.changed[:, :-1]) & both
    n = both.sum(axis=1)
    return np.flatnonzero((n >= n_least) & (switched.sum(axis=1) >= least * np.maximum(n, 1)))


def _notes(corpus: Histories, ask: Ask, setting: _Setting, tried: Sequence[Tried]) -> list[str]:
    steps, notes = setting.steps, []
    if not (ask.step_s or corpus.about.step_s):
        notes.append(f"{corpus.about.name} knows every change: it is looked at in even steps.")
    for one in tried:
        notes.append(
            f"{one.n_kept:,} of {setting.shown.n_all:,} pages switch between change and no change in "
            f"{ask.least_switching:.0%} of {one.n_steps} steps of {span(one.step_s)}, where "
            f"{one.changes} changes count."
        )
    if len(tried) > 1:
        notes.append(f"So {setting.changes} changes count, at steps of {span(setting.shown.step_s)}.")
    if setting.n_train < ask.n_train:
        notes.append(
            f"There are only {steps.n_steps} steps: {setting.n_train} are learned from, not {ask.n_train}."
        )
    if setting.shown.links is None:
        notes.append(f"{corpus.about.name} has no links: no kin by graph distance.")
    return notes


def _crawl(found: Shown, steps: Steps, ask: Ask, first: int) -> Crawl:
    """Of the pages that are foretold, and kin among them: what is not crawled is not seen."""
    return Crawl(
        steps=steps,
        kin=chosen(found, first, ask.k, ask.n_words, ways=(MAIN,))[MAIN] or nobody(steps.n_pages),
        group=found.host,
        start=first,
        n_days=min(ask.crawl_steps, steps.n_steps - 1 - first),
        n_train=ask.n_train,
        back=ask.back,
        budget=ask.budget,
        seed=ask.seed,
    )


def _freshness(
    crawl: Crawl, tunings: Mapping[str, Tuning], ask: Ask, tell: Tell
) -> dict[str, dict[str, Floats]]:
    """By rule and learner, the share of draws in which each page is fresh at each step."""
    runs = [
        (rule, key, draw)
        for rule in RULES
        for key in LEARNERS
        for draw in range(ask.n_draws if rule == COIN else 1)
    ]
    runs += [(INDEX, "turns", 0)]

    names = [*LEARNERS.values()]
    found = each(lambda i: likely(names[i], crawl, tunings.get(names[i])), len(names), ask.n_cores)
    asked = dict(zip(LEARNERS, found, strict=True))

    def run(i: int) -> Bools:
        rule, key, draw = runs[i]
        return crawled(within(crawl, draw), asked.get(key), rule)

    sums: dict[str, dict[str, Floats]] = {rule: {} for rule in RULES}
    for i, fresh in enumerate(each(run, len(runs), ask.n_cores)):
        rule, key, _ = runs[i]
        share = fresh / (ask.n_draws if rule == COIN else 1)
        sums[rule][key] = sums[rule].get(key, np.zeros(share.shape)) + share
        tell((i + 1) / len(runs), f"crawl {i + 1} of {len(runs)}")
    return sums
