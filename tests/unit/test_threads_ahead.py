"""What has not been said yet decides nothing: where two boards are alike up to a moment, so is all that is
done by then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf

import numpy as np
import pytest
from tests.unit.threads import drawn

from recrawl.evaluate.tan.aiming import aimed, lives_s, posts_to_come
from recrawl.evaluate.tan.catching import caught
from recrawl.evaluate.tan.curved import curved
from recrawl.evaluate.tan.following import followed
from recrawl.evaluate.tan.foreseen import mean_gaps_s, median_gaps_s
from recrawl.evaluate.tan.measures import Watched
from recrawl.evaluate.tan.rates import paced, rooted
from recrawl.evaluate.tan.speaking import minded, spoken
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.curves import held_out, shaped
from recrawl.learn.threads.fitting import by_board
from recrawl.learn.threads.models import MODELS, predicted
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Floats, Ints, Kind, NewResource, Settings
from recrawl.registry import part
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld

START_AT = 1.7e9
PREDICTORS = ("either", "thread", *(f"thread-{name}" for name in (
    "fixed", "mean", "window-mean", "sgd", "svr", "svr-discounted"
)))  # fmt: skip
N, DAYS, TURN_DAYS = 4, 4.0, 2.5


def world(then: float) -> TraceWorld:
    """Posts in bursts; from `TURN_DAYS` on all goes another way."""
    rng = np.random.default_rng(5)
    turn_at = START_AT + TURN_DAYS * DAY_S

    def events() -> Floats:
        gap_s = rng.lognormal(np.log(3 * HOUR_S), 1.5, 200)
        at = np.round(START_AT - 4 * DAY_S + np.cumsum(gap_s))
        late = at > turn_at
        at[late] = np.round(turn_at + (at[late] - turn_at) * then)
        return np.unique(at)

    bounds = Settings(kind=Kind.THREAD, min_gap_s=600.0, max_gap_s=5 * DAY_S)
    return TraceWorld(
        [
            NewResource(url=f"http://h{i % 2}.test/{i}", host=f"h{i % 2}.test", settings=bounds)
            for i in range(N)
        ],
        [events() for _ in range(N)],
    )


@pytest.mark.parametrize("name", PREDICTORS)
def test_visits_up_to_a_moment_know_nothing_of_what_comes_after_it(name: str) -> None:
    turn_at = START_AT + TURN_DAYS * DAY_S
    made, later = [], []
    for then in (1.0, 3.0):
        loop = Loop(
            store=MemoryStore(),
            predictor=part("predictors", name)(),
            policy=Index(Prompt()),
            rule="index:prompt",
            per_day=None,
            free_price=1e4,
            reprice_every_s=inf,
        )
        seen = simulate(loop, world(then), start_at=START_AT, end_at=START_AT + DAYS * DAY_S, moments=True)
        known = seen.at <= turn_at
        made.append((seen.id[known].tolist(), seen.at[known].tolist()))
        later.append(seen.at[~known].tolist())
    assert made[0] == made[1]
    assert len(made[0][0]) > 3 * N
    assert later[0] != later[1]  # what they are told of does differ


@pytest.fixture(scope="module")
def boards() -> tuple[Threads, Threads, Ints, Floats]:
    """Two that are alike up to some posts after those that may be learned from; and when each parts."""
    threads = drawn(n=8, n_posts=60)
    n_train = np.asarray(3 * threads.n_posts // 4)
    parting = np.repeat(n_train + 4, threads.n_posts)
    at = threads.at.copy()
    at[threads.place >= parting] += 9 * DAY_S
    return threads, replace(threads, at=at), n_train, threads.at[threads.bounds[:-1] + n_train + 4]


Visiting = Callable[[Threads, Ints], Watched]


def by_ours(threads: Threads, n_train: Ints, aim: str) -> Watched:
    mind = minded(threads, *by_board(threads.first(n_train)))
    likely = lives_s(threads, n_train, 0.75), posts_to_come(n_train, 0.75)
    match aim:
        case "prompt":
            return spoken(threads, n_train, mind, HOUR_S)
        case "both":
            return caught(threads, n_train, mind, *likely, 0.3)
        case _:
            return aimed(threads, n_train, mind, *likely, 0.5)


def by_curve(threads: Threads, n_train: Ints, model: str) -> Watched:
    inner, learned = held_out(threads, n_train)
    hazard = shaped(threads, predicted(model, threads, inner), learned)
    return curved(threads, n_train, predicted(model, threads, n_train), hazard, HOUR_S)


def by_gaps(threads: Threads, n_train: Ints, model: str) -> Watched:
    return followed(threads, n_train, predicted(model, threads, n_train))


SOME = ("mean", "window-mean", "svr-words-10", "svr-tf-idf", "discounted-svr", "sgd-words", "sgd-clipped")
WAYS: dict[str, Visiting] = {
    **{f"ours, {aim}": partial(by_ours, aim=aim) for aim in ("prompt", "both", "direct")},
    **{f"{model}, curve": partial(by_curve, model=model) for model in SOME},
    **{f"{model}, gaps": partial(by_gaps, model=model) for model in SOME},
    "sqrt": lambda threads, n_train: rooted(threads, n_train, HOUR_S),
    "fixed": lambda threads, n_train: paced(threads, n_train, HOUR_S),
}


@pytest.mark.parametrize("way", WAYS)
def test_visits_of_the_experiment_know_nothing_of_posts_to_come(
    boards: tuple[Threads, Threads, Ints, Floats], way: str
) -> None:
    one, other, n_train, part_at = boards
    assert set(SOME) <= set(MODELS)
    a, b = (WAYS[way](threads, n_train) for threads in (one, other))
    n_same = 0
    for row in range(one.n):
        before, after = (
            made.visit_at[made.visit_bounds[row] : made.visit_bounds[row + 1]] for made in (a, b)
        )
        same = before[before < part_at[row]]
        assert np.array_equal(same, after[after < part_at[row]])
        n_same += len(same)
    assert n_same > one.n
    assert not np.array_equal(a.visit_at, b.visit_at)


def test_gaps_that_are_foreseen_know_nothing_of_posts_to_come(
    boards: tuple[Threads, Threads, Ints, Floats],
) -> None:
    one, other, n_train, _ = boards
    known = one.place < np.repeat(n_train + 4, one.n_posts)
    told = []
    for threads in (one, other):
        mind = minded(threads, *by_board(threads.first(n_train)))
        told.append((median_gaps_s(threads, mind)[known], mean_gaps_s(threads)[known]))
    for first, second in zip(*told, strict=True):
        assert np.array_equal(first, second)
