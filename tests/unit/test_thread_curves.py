"""Curves around predicted gaps, and the predictors that forecast with them in the loop."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy import integrate
from tests.unit.threads import batch, drawn, moments

from recrawl.checks import predictor as predictor_checks
from recrawl.contracts import Predictor, Shared
from recrawl.learn.predictors.gaps import GapPredictor
from recrawl.learn.predictors.machines import DiscountedSvr, Svr
from recrawl.learn.predictors.threads import Fixed, Mean, OnlineSigmoid, WindowMean
from recrawl.learn.threads.curves import EDGES, N_CELLS, CurveForecasts, hazards, held_out, shaped, tally
from recrawl.learn.threads.models import predicted
from recrawl.loop import Loop
from recrawl.model import DAY_S, Floats, Kind, NewResource, Seen, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld

START_AT = 1e9
HALF = int(np.flatnonzero(EDGES == 0.5)[0])  # the cell from half a predicted gap to a whole one
PREDICTORS: list[type[GapPredictor]] = [Fixed, Mean, WindowMean, OnlineSigmoid, Svr, DiscountedSvr]
ANY = np.random.default_rng(3).uniform(0.05, 2.0, (3, N_CELLS))


def test_a_tally_counts_posts_and_the_time_until_them_by_hand() -> None:
    """One silence ended after 0.75 predicted gaps; another was watched from 0.5 to 3 and goes on."""
    counts = tally(np.array([0.0, 0.5]), np.array([0.75, 3.0]), np.array([True, False]))
    assert np.flatnonzero(counts[0]).tolist() == [HALF]
    assert counts[1, :HALF].tolist() == [1.0] * HALF  # the first passed them all
    assert counts[1, HALF : HALF + 4].tolist() == [1.5, 1.0, 0.5, 0.0]
    # one post in 0.75 gaps, and the weight of one on the cell before, where nobody spoke
    before = hazards(counts)[HALF - 1]
    assert hazards(counts)[HALF] == pytest.approx(2.0 / (0.75 + 1.0 / before))


def test_without_any_posts_they_come_at_random_and_then_ever_less() -> None:
    found = hazards(np.zeros((2, N_CELLS)))
    assert found[EDGES <= 1.0].tolist() == [1.0] * int((EDGES <= 1.0).sum())
    assert found[EDGES > 1.0][:3].tolist() == [0.5, 0.25, 0.125]


def test_the_curve_of_many_gaps_is_theirs() -> None:
    """Log-normal gaps about a prediction of 1: the share that has come by then is that of the gaps."""
    gap = np.random.default_rng(1).lognormal(0.0, 1.5, 20_000)
    found = hazards(tally(np.zeros(len(gap)), gap, np.ones(len(gap), dtype=np.bool_)))
    curve = CurveForecasts(found[None], np.ones(1), np.zeros(1))
    for t in (0.1, 0.5, 1.0, 3.0, 20.0):
        assert curve.survival(np.array([t]))[0] == pytest.approx((gap > t).mean(), abs=0.02)
    assert curve.mean_s[0] == pytest.approx(gap.mean(), rel=0.05)


def test_silences_that_go_on_count_as_they_should() -> None:
    """The same gaps, each watched to three at most: the curve within that is the same."""
    gap = np.random.default_rng(2).exponential(1.0, 20_000)
    found = hazards(tally(np.zeros(len(gap)), np.minimum(gap, 3.0), gap <= 3.0))
    curve = CurveForecasts(found[None], np.ones(1), np.zeros(1))
    assert curve.survival(np.array([2.5]))[0] == pytest.approx(exp(-2.5), rel=0.05)


@pytest.mark.parametrize("quiet", [0.0, 0.3, 20.0])
def test_all_that_a_forecast_says_belongs_together(quiet: float) -> None:
    gap_s = np.array([60.0, 5e3, 1e6])
    forecasts = CurveForecasts(ANY, gap_s, quiet * gap_s)
    whole = CurveForecasts(ANY, gap_s, np.zeros(3))
    for t_s in (0.01 * gap_s, 0.9 * gap_s, 5.0 * gap_s):
        survival = forecasts.survival(t_s)
        assert survival == pytest.approx(whole.survival(quiet * gap_s + t_s) / whole.survival(quiet * gap_s))
        for i in range(3):
            mean_s = whole.mean_s[i]
            grid = _grid(gap_s[i], quiet * gap_s[i], t_s[i])
            s = forecasts.pick(np.array([i])).survival(grid[:, None])[:, 0]
            once = integrate.cumulative_trapezoid(1.0 - s, grid, initial=0.0)
            assert forecasts.survival_integral(t_s)[i] == pytest.approx(grid[-1] - once[-1], rel=1e-5)
            assert forecasts.n_expected(t_s)[i] == pytest.approx(1.0 - s[-1] + once[-1] / mean_s, rel=1e-5)
            m = 1.0 - s + once / mean_s
            assert forecasts.n_expected_integral(t_s)[i] == pytest.approx(
                integrate.trapezoid(m, grid), rel=1e-4
            )


def test_what_is_close_at_hand_is_told_precisely_after_a_long_silence() -> None:
    """A minute after ten years of quiet: differences of large numbers would lose it."""
    forecasts = CurveForecasts(np.full((1, N_CELLS), 0.5), np.array([DAY_S]), np.array([3650 * DAY_S]))
    t_s = np.array([60.0])
    p = 1.0 - exp(-0.5 * 60.0 / DAY_S)
    assert forecasts.survival(t_s)[0] == pytest.approx(1.0 - p, rel=1e-12)
    assert forecasts.n_expected(t_s)[0] == pytest.approx(p, rel=1e-3)
    assert Prompt().worth(forecasts, t_s)[0] == pytest.approx(0.5 / DAY_S * 60.0**2 / 2.0, rel=1e-3)


def test_errors_are_learned_where_a_model_was_not_fitted() -> None:
    threads = drawn(n=8, n_posts=60)
    n_train = np.asarray(3 * threads.n_posts // 4)
    inner, held = held_out(threads, n_train)
    assert not (held & threads.known(inner)).any()
    assert (held <= threads.known(n_train)).all()
    told = predicted("mean", threads, inner)
    found = shaped(threads, told, held)
    assert found.shape == (threads.n, N_CELLS)
    assert np.array_equal(found[0], found[2])  # of one board
    assert not np.array_equal(found[0], found[1])
    assert np.isfinite(found).all()
    assert (found > 0.0).all()
    # what is not held out does not count
    assert np.array_equal(shaped(threads, np.where(held, told, 99.0), held), found)


@pytest.mark.parametrize("make", PREDICTORS)
@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_predictors_keep_the_contract(check: object, make: type[Predictor]) -> None:
    check(make)  # type: ignore[operator]


@pytest.mark.parametrize("make", PREDICTORS)
def test_what_threads_teach_each_other_is_shared(make: type[Predictor]) -> None:
    assert isinstance(make(), Shared)


def test_the_window_mean_in_the_loop_is_that_of_the_model() -> None:
    """A visit a second after every tenth post, which tells of all moments since the one before."""
    threads = drawn(n=4, n_posts=60)
    told = predicted("window-mean", threads, threads.n_posts)
    predictor = WindowMean()
    for row in range(threads.n):
        own = slice(int(threads.bounds[row]), int(threads.bounds[row + 1]))
        at, before_at = threads.at[own], np.nan
        for last in range(9, len(at), 10):
            visit_at = at[last] + 1.0
            predictor.learn(moments(row + 1, at[last - 9 : last + 1], visit_at, before_at))
            before_at = visit_at
            forecasts = predictor.forecast(batch(row + 1, visit_at), visit_at)
            assert forecasts.gap_s == pytest.approx([told[own][last]])
            assert forecasts.quiet_s == pytest.approx([1.0])


def test_a_visit_that_finds_nothing_lengthens_the_silence_and_changes_no_gap() -> None:
    predictor = WindowMean()
    at = np.arange(6.0) * 3600.0
    predictor.learn(moments(1, at, 5.5 * 3600.0))
    predictor.learn(moments(1, at[:0], 9 * 3600.0, 5.5 * 3600.0))
    forecasts = predictor.forecast(batch(1, 9 * 3600.0), 9 * 3600.0)
    assert forecasts.gap_s.tolist() == [3600.0]
    assert forecasts.quiet_s.tolist() == [4 * 3600.0]
    assert predictor.account(batch(1, 9 * 3600.0), 0.0)["quiet_s"].tolist() == [4 * 3600.0]


def test_a_change_without_a_time_is_one_post_in_the_middle() -> None:
    predictor = WindowMean()
    predictor.learn(
        Seen(
            id=np.array([1, 1]),
            since_at=np.array([0.0, 1000.0]),
            at=np.array([1000.0, 3000.0]),
            changed=np.array([1, 1], dtype=np.int8),
            event_at=np.array([np.nan, np.nan]),
        )
    )
    assert predictor.forecast(batch(1, 3000.0), 3000.0).gap_s.tolist() == [(500.0 + 1500.0) / 2.0]
    assert predictor.forecast(batch(1, 3000.0), 3000.0).quiet_s.tolist() == [1000.0]


def test_the_sigmoid_learns_in_the_loop_which_hours_are_quiet() -> None:
    """Somebody speaks at 8, 12 and 20 o'clock: the evening's post leads it to expect a longer gap than the
    morning's does, where the plain mean expects a shorter one."""
    at = np.array([day * 24.0 + hour for day in range(60) for hour in (8, 12, 20)]) * 3600.0
    gap_s: dict[tuple[type, int], float] = {}
    for make in (WindowMean, OnlineSigmoid):
        for last in (177, 179):  # the last day's first and last post
            predictor = make()
            predictor.learn(moments(1, at[: last + 1], at[last] + 1.0))
            gap_s[make, last] = float(predictor.forecast(batch(1, at[last] + 1.0), at[last]).gap_s[0])
    assert gap_s[OnlineSigmoid, 179] > 1.5 * gap_s[OnlineSigmoid, 177]
    assert gap_s[WindowMean, 179] < gap_s[WindowMean, 177]


@pytest.mark.parametrize("make", [WindowMean, OnlineSigmoid])
def test_a_thread_is_followed_in_the_loop(make: type[WindowMean]) -> None:
    """Four posts a day in bursts, and one in ten days: the busy thread is visited more often, and what is
    kept of both are their own gaps."""
    busy = np.sort(np.concatenate([np.arange(20.0) + 0.01 * i for i in range(4)])) * DAY_S
    rare = np.array([0.0, 10.0, 19.0]) * DAY_S
    bounds = Settings(kind=Kind.THREAD, min_gap_s=600.0, max_gap_s=5 * DAY_S)
    world = TraceWorld(
        [NewResource(url=f"http://{i}.test/", host=f"{i}.test", settings=bounds) for i in (1, 2)],
        [START_AT + busy, START_AT + rare],
    )
    policy, predictor = Index(Prompt()), make()
    loop = Loop(
        store=MemoryStore(),
        predictor=predictor,
        policy=policy,
        rule=policy.name,
        per_day=None,
        free_price=1e4,
        reprice_every_s=np.inf,
    )
    seen = simulate(loop, world, start_at=START_AT + DAY_S, end_at=START_AT + 20 * DAY_S, moments=True)
    n_busy, n_rare = np.bincount(seen.id).tolist()
    assert n_busy > 2 * n_rare > 0
    for row, said_at in enumerate(world.events):
        known = said_at[said_at <= seen.at[seen.id == row].max()]
        kept = predictor.memory(np.array([row + 1]))[0]
        assert kept[1] == known[-1]
        gaps = np.diff(known)[::-1][: predictor.n_gaps]
        assert kept[3 : 3 + len(gaps)] == pytest.approx(gaps)


def test_memory_of_another_kind_is_passed_over() -> None:
    predictor = OnlineSigmoid()
    predictor.recall(np.array([1]), np.ones((1, WindowMean.width)))
    assert not predictor.memory(np.array([1]))[0, 0]
    predictor.take_lore(np.ones(3))
    assert not predictor.lore().any()


def _grid(gap_s: float, quiet_s: float, t_s: float) -> Floats:
    """Dense in every cell."""
    edges = np.clip(EDGES * gap_s - quiet_s, 0.0, t_s)
    return np.unique(
        np.concatenate([np.linspace(a, b, 4_000) for a, b in zip(edges, [*edges[1:], t_s], strict=True)])
    )
