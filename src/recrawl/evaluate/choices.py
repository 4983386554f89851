"""Choosing a forecast on some of what was measured, and what the chosen one does on the rest.

A choice is by the mean gain over the floor, every corpus counting alike. It is tried on what it was not made
on: other groups, a later time, another corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType

import numpy as np

from recrawl.evaluate.candidates import ALONE, GAMMA, TRIED, WHOLE, only, without
from recrawl.evaluate.folds import ALL, FIRST, FOLD_A, FOLD_B, SECOND
from recrawl.evaluate.gains import Gain, mean_gain
from recrawl.evaluate.trials import Trial

WANTED: Mapping[str, float] = MappingProxyType({"fresh": 0.10, "prompt": 0.10, "capture": 0.05})
TOGETHER = "together"  # all goals: the mean of their gains, each as a multiple of what is wanted of it

BY_GROUP, OVER_TIME, BY_CORPUS = "other groups", "later", "another corpus"
OWN_GROUP, OWN_TIME = "other groups, each corpus by itself", "later, each corpus by itself"
WAYS = (BY_GROUP, OVER_TIME, BY_CORPUS, OWN_GROUP, OWN_TIME)


@dataclass(frozen=True, slots=True)
class Try:
    """Where a choice is made, and where it is tried."""

    seen: Sequence[Trial]
    seen_in: str
    held_out: Sequence[Trial]
    held_out_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Of all choices that are made in one way for one goal: means over them."""

    how: str
    goal: str
    chosen: Sequence[str]  # one for each choice
    seen: Gain  # of the chosen, where they were chosen
    held_out: Gain  # of the chosen, where they were not
    whole: Gain  # of the whole, where the others were tried
    gamma: Gain  # of the Gamma filter, there
    same: float  # share of resamples of what was seen in which the choice is the same

    @property
    def optimism(self) -> Gain:
        return less(self.seen, self.held_out)

    @property
    def n_whole(self) -> int:
        return sum(name == WHOLE for name in self.chosen)

    @property
    def counted(self) -> list[tuple[str, int]]:
        return Counter(self.chosen).most_common()


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a part brings: gain of the whole less that without it; alone, of it alone less the Gamma
    filter's."""

    part: str
    alone: bool
    goal: str
    by_corpus: Mapping[str, Gain]
    mean: Gain


def less(a: Gain, b: Gain) -> Gain:
    """A difference; where both were resampled alike, so is it."""
    return Gain(
        a.value - b.value, a.replicates - b.replicates, min(a.n_groups, b.n_groups), min(a.n_draws, b.n_draws)
    )


def goals_of(trials: Sequence[Trial]) -> list[str]:
    return [*dict.fromkeys(trial.goal for trial in trials), TOGETHER]


def corpora_of(trials: Sequence[Trial]) -> list[str]:
    return list(dict.fromkeys(trial.corpus for trial in trials))


def of_corpus(trials: Sequence[Trial], name: str) -> list[Trial]:
    return [trial for trial in trials if trial.corpus == name]


def of_goal(trials: Sequence[Trial], goal: str) -> list[Trial]:
    """Not every corpus need have been tried with every goal."""
    return [trial for trial in trials if goal in (TOGETHER, trial.goal)]


def score(trials: Sequence[Trial], goal: str, candidate: str, split: str) -> Gain:
    """The mean gain over the floor. Where some candidate's is not known, that trial counts for none."""
    return mean_gain(
        [
            _times(trial.gains[candidate][split], 1.0 / WANTED[trial.goal] if goal == TOGETHER else 1.0)
            for trial in of_goal(trials, goal)
            if all(isfinite(of[split].value) for of in trial.gains.values())
        ]
    )


def _times(one: Gain, factor: float) -> Gain:
    return Gain(factor * one.value, factor * one.replicates, one.n_groups, one.n_draws)


def chosen(trials: Sequence[Trial], goal: str, split: str) -> tuple[str, float]:
    """The candidate with the best mean gain there, the plainer of equals; and in which share of resamples it
    would be the same one."""
    scores = {name: score(trials, goal, name, split) for name in trials[0].gains}
    best = max(scores, key=lambda name: scores[name].value)
    replicates = np.stack([one.replicates for one in scores.values()])
    replicates = replicates[:, ~np.isnan(replicates).any(axis=0)]
    again = np.argmax(replicates, axis=0) == list(scores).index(best)
    return best, float(again.mean()) if len(again) else float("nan")


def ways(trials: Sequence[Trial]) -> dict[str, list[Try]]:
    """How choices are made: for all corpora together, and for each by itself."""
    names = corpora_of(trials)
    own = [of_corpus(trials, name) for name in names]
    others = [[trial for trial in trials if trial.corpus != name] for name in names]
    folds = ((FOLD_A, FOLD_B), (FOLD_B, FOLD_A))
    found = {
        BY_GROUP: [Try(trials, a, trials, b) for a, b in folds],
        OVER_TIME: [Try(trials, FIRST, trials, SECOND)],
        BY_CORPUS: [Try(rest, ALL, one, ALL) for one, rest in zip(own, others, strict=True) if rest],
        OWN_GROUP: [Try(one, a, one, b) for one in own for a, b in folds],
        OWN_TIME: [Try(one, FIRST, one, SECOND) for one in own],
    }
    return {how: tries for how, tries in found.items() if tries}


def verdict(how: str, tries: Sequence[Try], goal: str) -> Verdict:
    picked = [chosen(one.seen, goal, one.seen_in) for one in tries]
    names = [name for name, _ in picked]

    def held_out(of: Sequence[str]) -> Gain:
        return mean_gain(
            [score(one.held_out, goal, name, one.held_out_in) for one, name in zip(tries, of, strict=True)]
        )

    return Verdict(
        how=how,
        goal=goal,
        chosen=names,
        seen=mean_gain(
            [score(one.seen, goal, name, one.seen_in) for one, name in zip(tries, names, strict=True)]
        ),
        held_out=held_out(names),
        whole=held_out([WHOLE] * len(tries)),
        gamma=held_out([GAMMA] * len(tries)),
        same=float(np.mean([share for _, share in picked])),
    )


def verdicts(trials: Sequence[Trial]) -> list[Verdict]:
    goals = goals_of(trials)
    found = [(how, goal, tries) for goal in goals for how, tries in ways(of_goal(trials, goal)).items()]
    by_way = sorted(found, key=lambda one: WAYS.index(one[0]))
    return [verdict(how, tries, goal) for how, goal, tries in by_way]


def brought(trials: Sequence[Trial], goal: str) -> list[Brought]:
    """By every part: left out of the whole, and those that can be, alone."""
    pairs = [(part, False, WHOLE, without(part)) for part in TRIED]
    pairs += [(part, True, only(part), GAMMA) for part in ALONE]

    def gained(some: Sequence[Trial], more: str, fewer: str) -> Gain:
        return less(score(some, goal, more, ALL), score(some, goal, fewer, ALL))

    tried = of_goal(trials, goal)
    return [
        Brought(
            part=part,
            alone=alone,
            goal=goal,
            by_corpus={name: gained(of_corpus(tried, name), more, fewer) for name in corpora_of(tried)},
            mean=gained(tried, more, fewer),
        )
        for part, alone, more, fewer in pairs
    ]
