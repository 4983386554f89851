"""Learners by name: those of Radinsky and Bennett (2013), and our own.

`frequency` (1D) tosses a coin, as the paper defines its baseline: yes with the probability that the page
changed in the last `n_train` steps. `frequency-threshold` says yes where that is above one half. `single`
(2D) is one machine on a page's own features. `experts` (3D) has one machine for the page and for each of its
kin, which learns from its own features when that page changes; the majority of weights decides. `union` is
one machine on all of these features, `bagging` and `boosting` are ten of those. `ours` is in `pooled`: models
for all pages together, blended with the experts.

All machines are SVMs with a polynomial kernel of degree 3. Their C and the kernel's constant are chosen once,
on the first training window alone: its last third is foretold from what came before, for some pages. What is
said there, and later what was said in the last `n_train` steps whose outcome has come to be known, calibrates
what is said next, for all pages together. Only where nothing more is heard (`schooled`) `ours` is calibrated
too: its blends all weigh alike there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.experts.blends import chances
from recrawl.learn.experts.calibration import curve
from recrawl.learn.experts.margins import alone
from recrawl.learn.experts.pooled import asked_of_all
from recrawl.learn.experts.stacks import together
from recrawl.learn.experts.tasks import Foretold, Task, Tuning, calibrated
from recrawl.learn.features.content import frequency
from recrawl.model import Bools, Floats, Ints

N_MACHINES = 10
_GRID = ((1.0, 0.0), (1.0, 1.0), (0.1, 0.0), (0.1, 1.0), (10.0, 0.0), (10.0, 1.0))  # C, constant
_N_TUNED = 60  # pages on which they are chosen
_RATES = ("frequency", "frequency-threshold")
_WAYS = ("union", "bagging", "boosting")  # as `stacks` numbers them
_OWN = "experts"  # whom `ours` asks beside its models: without kin, the page's one machine


def foretold(
    name: str,
    task: Task,
    at: Ints,
    *,
    tuning: Tuning | None = None,
    calibration: str = "platt",
    heard: Callable[[int], None] = lambda _: None,
    own: Foretold | None = None,
) -> Foretold:
    """Of each page of the task, from each of the steps `at` (rising): does it change `ahead` steps later?
    Nothing that came after a step is used to foretell from it. `tuning` is what `tuned` gave before, where it
    is to be used again; `heard` is told how many pages are done. Frequencies are neither tuned nor
    calibrated; nor is `ours`, whose blends are weighed by the very answers that a calibration would go by.
    `own` is what `experts` foretold of the same, where `ours` need not ask them again."""
    _check(name, task, at)
    if name in _RATES:
        told = _rates(name, task, at)
    else:
        tuning = tuned(name, task, int(at[0])) if tuning is None else tuning
        if name == "ours":
            own = foretold(_OWN, task, at, tuning=tuning.own) if own is None else own
            known = task.known[task.pages][:, at]
            said = asked_of_all(task, task.pages, at, known, own.p)
            p = chances(2.0 * said)
            told = Foretold(at=at, yes=p > 0.5, p=p, said=said)
        else:
            settings = [(tuning.c, tuning.coef0)]
            (yes,), (said,) = _said(name, task, task.pages, at, task.n_train, settings, heard)
            p = calibrated(task, at, said, (tuning.said, tuning.so), calibration)
            told = Foretold(at=at, yes=yes, p=p, said=said)
    heard(len(task.pages))
    return told


def tuned(name: str, task: Task, t: int) -> Tuning:
    """What a learner chooses before it foretells from step t on, from what is known then: C and the kernel's
    constant, for the experts also where `ours` asks them."""
    _check(name, task, np.array([t]))
    if name in _RATES:
        return Tuning()
    n_held = max(task.n_train // 3, 1)
    at = np.arange(max(t - task.ahead - n_held + 1, 0), max(t - task.ahead + 1, 1))
    pages = np.random.default_rng(task.seed).permutation(task.pages)[:_N_TUNED]
    so = task.outcome[pages][:, at]
    known = task.known[pages][:, at] & (at + task.ahead <= t)
    asked = _OWN if name == "ours" else name
    yes, said = _said(asked, task, pages, at, max(task.n_train - n_held, 1), _GRID)
    best = int(((yes == so) & known).sum(axis=(1, 2)).argmax())
    own = Tuning(c=_GRID[best][0], coef0=_GRID[best][1], said=said[best][known], so=so[known])
    if name != "ours" or not known.any():
        return own
    ours = asked_of_all(task, pages, at, known, curve(own.said, own.so).of(said[best]), anew=False)
    return Tuning(own=own, said=ours[known], so=so[known])


def foretold_by_counts(task: Task, at: Ints, counts: Sequence[int], tuning: Tuning) -> list[Foretold]:
    """What `experts` foretell with so many kin of each page, the nearest; every expert is asked once."""
    _check(_OWN, task, at)
    few = [replace(task, kin=None if task.kin is None else task.kin.nearest(n)) for n in counts]
    said = np.zeros((len(counts), len(task.pages), len(at)))
    yes = np.zeros(said.shape, dtype=bool)
    for place, page in enumerate(task.pages.tolist()):
        heard = _heard(task, page, task.experts(page)[0], at, task.n_train)(tuning.c, tuning.coef0)
        for k, one in enumerate(few):
            weight = one.experts(page)[1]
            yes[k, place], said[k, place] = _voted(heard[: len(weight)], weight)
    held = tuning.said, tuning.so
    return [
        Foretold(at=at, yes=yes[k], p=calibrated(task, at, said[k], held, "platt"), said=said[k])
        for k in range(len(counts))
    ]


def _rates(name: str, task: Task, at: Ints) -> Foretold:
    p = frequency(task.steps.changed, task.n_train)[task.pages][:, at]
    coins = np.random.default_rng(task.seed).random(p.shape)
    return Foretold(at=at, yes=p > (coins if name == "frequency" else 0.5), p=p, said=2.0 * p - 1.0)


def _said(
    name: str,
    task: Task,
    pages: Ints,
    at: Ints,
    n_train: int,
    settings: Sequence[tuple[float, float]],
    heard: Callable[[int], None] = lambda _: None,
) -> tuple[Bools, Floats]:
    """With each of some settings, (settings, pages, steps)."""
    said = np.zeros((len(settings), len(pages), len(at)))
    yes = np.zeros(said.shape, dtype=bool)
    for place, page in enumerate(pages.tolist()):
        asked = _ASKED[name](name, task, page, at, n_train)
        for k, (c, coef0) in enumerate(settings):
            yes[k, place], said[k, place] = asked(c, coef0)
        heard(place)
    return yes, said


_Asked = Callable[[float, float], tuple[Bools, Floats]]


def _single(name: str, task: Task, page: int, at: Ints, n_train: int) -> _Asked:  # noqa: ARG001
    sheets, me = task.sheets, np.array([page])
    bands, values = sheets.bands(me), sheets.own(me)
    so, usable = task.outcome[page], task.usable[page]

    def asked(c: float, coef0: float) -> tuple[Bools, Floats]:
        said = alone(
            bands, values, sheets.own_share, so, usable, at,
            n_train, task.ahead, sheets.n_own_blocks, c, coef0,
        )[0]  # fmt: skip
        return said > 0.0, said

    return asked


def _experts(name: str, task: Task, page: int, at: Ints, n_train: int) -> _Asked:  # noqa: ARG001
    related, weight = task.experts(page)
    heard = _heard(task, page, related, at, n_train)
    return lambda c, coef0: _voted(heard(c, coef0), weight)


def _heard(task: Task, page: int, related: Ints, at: Ints, n_train: int) -> Callable[[float, float], Floats]:
    """What each of a page's experts says of it."""
    sheets = task.sheets
    bands = sheets.bands(related)
    values = np.concatenate([sheets.own(related), sheets.relation(page, related)], axis=2)
    so, usable = task.outcome[page], task.usable[page]
    return lambda c, coef0: alone(
        bands, values, sheets.both_share, so, usable, at,
        n_train, task.ahead, sheets.n_both_blocks, c, coef0,
    )  # fmt: skip


def _voted(said: Floats, weight: Floats) -> tuple[Bools, Floats]:
    """By the majority of weights; how clear it is, from the margins of all, -1 to 1."""
    share = weight / weight.sum()
    return np.asarray(share @ np.sign(said) > 0.0), np.asarray(share @ np.clip(said, -1.0, 1.0))


def _stacked(name: str, task: Task, page: int, at: Ints, n_train: int) -> _Asked:
    sheets = task.sheets
    related, _ = task.experts(page)
    bands, values, relation = sheets.bands(related), sheets.own(related), sheets.relation(page, related)
    so, usable = task.outcome[page], task.usable[page]
    n_blocks = sheets.n_own_blocks + (len(related) - 1) * sheets.n_both_blocks
    draws = np.random.default_rng((task.seed, page)).random((N_MACHINES, n_train))

    def asked(c: float, coef0: float) -> tuple[Bools, Floats]:
        said = together(
            bands, values, relation, sheets.both_share, so, usable, at,
            n_train, task.ahead, n_blocks, c, coef0, _WAYS.index(name), draws, N_MACHINES,
        )  # fmt: skip
        return said > 0.0, said

    return asked


def _check(name: str, task: Task, at: Ints) -> None:
    if name not in LEARNERS:
        raise BadInputError(f"There is no learner {name!r}; choose one of: {', '.join(LEARNERS)}.")
    if not len(at) or at.min() < 0 or at.max() >= task.steps.n_steps or (np.diff(at) <= 0).any():
        raise BadInputError(
            f"Steps to foretell from must rise, and lie between 0 and {task.steps.n_steps - 1}; give such."
        )


_ASKED: dict[str, Callable[[str, Task, int, Ints, int], _Asked]] = {
    "single": _single,
    "experts": _experts,
    **dict.fromkeys(_WAYS, _stacked),
}
LEARNERS = (*_RATES, "single", "experts", *_WAYS, "ours")
