"""What a visit tells of times, as rows to learn from: a moment teaches what an event just then does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.unit.batches import batch_of

from recrawl.evaluate.own.past import past_of
from recrawl.learn.estimators import likeliest
from recrawl.learn.histories import STAMP_S, histories, known_after_s
from recrawl.learn.predictors.bayesian import Bayesian
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.historic import Historic
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.calendars import paces
from recrawl.learn.rhythms.signals import all_believed
from recrawl.memories import Memories
from recrawl.model import DAY_S, HOUR_S, MOST_MOMENTS, Floats, Priors, Seen, unfolded
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.policy import Ruled

START_AT = 1_699_833_600.0  # a Monday
N = 12
IDS = np.arange(1, N + 1)


def visits(
    events: list[Floats], *, days: float, gap_days: float, seed: int = 2, group: int = 0
) -> tuple[Seen, list[Floats]]:
    """Of each of these at random moments, from the first day on; and the moments that each visit shows."""
    rng = np.random.default_rng(seed)
    rows, said = [], []
    for key, at in enumerate(events, 1):
        since = START_AT
        for gap_s in gap_days * DAY_S * rng.uniform(0.5, 1.5, int(2 * days / gap_days)):
            if since + gap_s > START_AT + days * DAY_S:
                break
            inside = at[(at > since) & (at <= since + gap_s)]
            rows.append((key, since, since + gap_s, len(inside) > 0))
            said.append(inside)
            since += gap_s
    ids, since_at, ends, changed = (np.array(column) for column in zip(*rows, strict=True))
    seen = Seen(
        id=ids,
        since_at=since_at,
        at=ends,
        changed=changed.astype(np.int8),
        event_at=np.full(len(rows), np.nan),
        group=np.full(len(rows), group),
    )
    return seen, said


def steady(per_day: float, days: float, n: int = N) -> list[Floats]:
    rng = np.random.default_rng(7)
    return [START_AT + DAY_S * np.sort(rng.random(rng.poisson(per_day * days)) * days) for _ in range(n)]


ages = st.lists(st.floats(0.0, 100.0), max_size=6)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.booleans(), ages), min_size=1, max_size=6))
def test_rows_of_moments_cover_the_time_of_their_visits_and_fold_to_them(
    given: list[tuple[bool, list[float]]],
) -> None:
    at = START_AT + 200.0 * np.arange(1.0, len(given) + 1.0)
    first = np.array([alone for alone, _ in given])
    said = [at[i] - np.sort(ago)[::-1] for i, (_, ago) in enumerate(given)]
    seen = Seen(
        id=np.ones(len(given), dtype=np.int64),
        since_at=np.where(first, np.nan, at - 200.0),
        at=at,
        changed=np.array([-1 if alone else bool(ago) for alone, ago in given], dtype=np.int8),
        event_at=np.full(len(given), np.nan),
    )
    rows = unfolded(seen, said)
    assert (rows.at >= rows.since_at).all()
    assert (rows.visit_at >= rows.at).all()
    for i, moments in enumerate(said):
        own = rows.pick(rows.visit_at == at[i])
        if first[i] and not len(moments):
            assert not len(own)
            continue
        assert (own.since_at[1:] == own.at[:-1]).all()
        assert own.changed.sum() == len(moments) - first[i]
        assert (own.event_at[own.changed == 1] == moments[int(first[i]) :]).all()
        if len(own):
            assert own.since_at[0] == (moments[0] if first[i] else at[i] - 200.0)
            assert own.at[-1] == at[i]
    whole = rows.folded()
    later = seen.pick(~first)
    assert (whole.since_at.tolist(), whole.at.tolist()) == (later.since_at.tolist(), later.at.tolist())
    assert whole.changed.tolist() == later.changed.tolist()


def test_what_a_visit_without_moments_tells_stays_as_it_was() -> None:
    seen, said = visits(steady(1.0, 20.0), days=20.0, gap_days=1.0)
    rows = unfolded(seen, [()] * len(seen))
    assert rows.folded() is rows
    for name in ("id", "since_at", "at", "changed"):
        assert np.array_equal(getattr(rows, name), getattr(seen, name))
    assert rows.n_visits == unfolded(seen, said).n_visits == len(seen)


def test_the_gamma_filter_counts_every_moment_and_all_the_time_between() -> None:
    seen, said = visits(steady(3.0, 40.0), days=40.0, gap_days=4.0)
    gamma = GammaFilter(forgetting=0.0)
    gamma.learn(unfolded(seen, said))
    n_posts = np.bincount(seen.id, [len(some) for some in said])[1:]
    watched_s = np.bincount(seen.id, seen.at - seen.since_at)[1:]
    x, t_s, _ = gamma.memory(IDS).T
    assert np.allclose(x, n_posts)
    assert np.allclose(t_s, watched_s)


def test_a_thread_is_known_within_a_few_percent_where_visits_alone_are_lost() -> None:
    n, ids = 150, np.arange(1, 151)
    seen, said = visits(steady(5.0, 60.0, n), days=60.0, gap_days=3.0)
    rates = []
    for rows in (unfolded(seen, said), seen):
        gamma = GammaFilter()
        gamma.learn(rows)
        a, b_s = gamma.state(ids, np.zeros(n, dtype=np.int64))
        rates.append(float((a / b_s).mean() * DAY_S))
    assert rates[0] == pytest.approx(5.0, rel=0.06)  # of each the last twenty posts weigh most
    assert rates[1] < 2.0
    found, _ = histories(unfolded(seen, said))
    assert likeliest(found).per_s.mean() * DAY_S == pytest.approx(5.0, rel=0.03)
    assert np.allclose(likeliest(found).per_s * DAY_S, 5.0, rtol=0.3)


def test_a_first_visit_teaches_the_whole_past() -> None:
    """As much as if somebody had looked after every post."""
    events = steady(2.0, 50.0)
    now = START_AT + 50 * DAY_S
    firsts = Seen(
        id=IDS,
        since_at=np.full(N, np.nan),
        at=np.full(N, now),
        changed=np.full(N, -1, dtype=np.int8),
        event_at=np.full(N, np.nan),
    )
    gamma = GammaFilter(forgetting=0.0)
    gamma.learn(unfolded(firsts, events))
    x, t_s, _ = gamma.memory(IDS).T
    assert np.allclose(x, [len(at) - 1 for at in events])
    assert np.allclose(t_s, [now - at[0] for at in events])
    assert not len(unfolded(firsts, events).folded())  # nobody's visit found a change


def test_classes_are_weighed_by_moments_and_counted_by_visits() -> None:
    seen, said = visits(steady(1.0 / 7.0, 400.0), days=400.0, gap_days=60.0)
    rows = unfolded(seen, said)
    weighed, blind = Bayesian(), Bayesian()
    weighed.learn(rows)
    blind.learn(seen)
    nobody = np.full(N, np.nan)
    right = np.argmin(np.abs(np.log(weighed.table.interval_s / (7 * DAY_S))))
    assert (weighed.p_classes(IDS, nobody)[:, right] > 0.5).mean() > 0.7
    assert (blind.p_classes(IDS, nobody)[:, right] > 0.5).mean() < 0.3
    counted, plain = Historic(), Historic()
    counted.learn(rows)
    plain.learn(seen)
    assert np.array_equal(counted.memory(IDS), plain.memory(IDS))


def test_a_rule_takes_one_step_for_each_visit() -> None:
    seen, said = visits(steady(2.0, 30.0), days=30.0, gap_days=3.0)
    policies = [Ruled(RULES["nutch"]), Ruled(RULES["nutch"])]
    for policy, rows in zip(policies, (unfolded(seen, said), seen), strict=True):
        Memories(GammaFilter(), policy).learn(rows)
    assert np.array_equal(policies[0].memory(IDS), policies[1].memory(IDS))


def test_only_the_very_moment_is_one() -> None:
    """A server that stamps every answer with its own time says nothing of when the content changed."""
    at = START_AT + DAY_S * np.arange(1.0, 5.0)
    seen = Seen(
        id=np.ones(4, dtype=np.int64),
        since_at=at - DAY_S,
        at=at,
        changed=np.array([1, 1, 1, 0], dtype=np.int8),
        event_at=at - np.array([0.0, STAMP_S / 2.0, HOUR_S, 0.0]),
    )
    assert np.array_equal(known_after_s(seen), [0.0, np.nan, HOUR_S, np.nan], equal_nan=True)
    assert seen.momentary.tolist() == [True, False, False, False]


def test_of_very_many_moments_the_rows_begin_at_the_oldest_kept() -> None:
    seen, _ = visits([np.empty(0)], days=4.0, gap_days=2.0)
    seen = replace(seen.pick(np.array([0])), changed=np.ones(1, dtype=np.int8))
    for n in (MOST_MOMENTS - 1, MOST_MOMENTS):
        said = np.linspace(seen.since_at[0] + 9.0, seen.at[0] - 9.0, n)
        rows = unfolded(seen, [said])
        assert rows.since_at[0] == (seen.since_at[0] if n < MOST_MOMENTS else said[0])
        assert rows.changed.sum() == MOST_MOMENTS - 1


def rhythm(rows: Seen, without: Sequence[str] = ()) -> Rhythm:
    made = Rhythm(without=without)
    made.ground(Priors(shape=1.0, scale_s=DAY_S / 2.0))
    made.learn(rows)
    return made


def test_a_rhythm_is_not_faster_for_knowing_moments() -> None:
    """Neither habits nor stirs nor hours are seen in posts that come evenly."""
    seen, said = visits(steady(2.0, 40.0), days=40.0, gap_days=2.0, group=1)
    made = rhythm(unfolded(seen, said))
    last = np.array([seen.at[seen.id == key].max() for key in IDS])
    batch = replace(batch_of(N), since_at=last, group=np.ones(N, dtype=np.int64))
    found = made.forecast(batch, float(last.max())).n_expected(np.full(N, 2 * DAY_S))
    assert np.exp(np.log(found).mean()) == pytest.approx(4.0, rel=0.15)
    assert np.allclose(made.habits.factor[0], 1.0, atol=0.35)


def test_habits_are_seen_in_moments_however_rare_visits_are() -> None:
    """Each post is answered within minutes, and then nothing is said for days."""
    rng = np.random.default_rng(3)
    events = [
        np.sort(np.concatenate([at, at + rng.uniform(60.0, 900.0, len(at))])) for at in steady(0.25, 200.0)
    ]
    seen, said = visits(events, days=200.0, gap_days=10.0)
    with_moments, without = rhythm(unfolded(seen, said)), rhythm(seen)
    assert with_moments.habits.factor[0, 0] > 4.0
    assert with_moments.habits.factor[0, 6] < 1.0
    assert without.habits.factor[0, 0] < 2.0


def test_hours_are_seen_in_moments_however_rare_visits_are() -> None:
    """Everybody speaks from 9 to 17 o'clock."""
    events = [
        np.floor(at / DAY_S) * DAY_S + (9.0 + (at % DAY_S) / 3.0 / HOUR_S) * HOUR_S
        for at in steady(3.0, 80.0)
    ]
    seen, said = visits([np.sort(at) for at in events], days=80.0, gap_days=7.0)
    hours = START_AT + HOUR_S * np.array([3.0, 13.0])
    made = [rhythm(rows).common.calendars for rows in (unfolded(seen, said), seen)]
    pace = [paces(one.shown, np.zeros(2, dtype=np.int64), hours) for one in made]
    # who spoke at an hour at which the calendar has nobody speak would have cost it dearly
    assert made[0].loss[0, 1] < 0.3 * made[0].loss[0, 0]
    assert pace[0][1] > 3.0 * pace[0][0]
    assert pace[1][1] < 1.5 * pace[1][0]


def test_a_group_is_seen_to_be_stirred_in_moments() -> None:
    """All threads of a board are busy on the same evenings, and looked at once a week."""
    rng = np.random.default_rng(5)
    evenings = START_AT + DAY_S * np.sort(rng.choice(60, 6, replace=False)) + 18 * HOUR_S
    events = [
        np.sort(np.concatenate([evening + 3 * HOUR_S * rng.random(4) for evening in evenings])) for _ in IDS
    ]
    seen, said = visits(events, days=60.0, gap_days=7.0, group=1)
    made = rhythm(unfolded(seen, said), without=("calendar",))
    assert made.stirs.evidence[0, :-1].max() > made.stirs.evidence[0, -1] + 10.0


def test_a_source_is_right_where_somebody_spoke_before_it_told() -> None:
    """Although nothing was said between the newest post and the visit."""
    seen, said = visits(steady(0.5, 60.0), days=60.0, gap_days=4.0)
    told = replace(seen, told_at=seen.at - 1.0, told_by=np.full(len(seen), 99))
    spoken = told.pick(seen.changed == 1)
    moments = [some for some in said if len(some)]
    made = rhythm(unfolded(spoken, moments))
    assert all_believed(made.sources, np.array([1]))[0] > 0.9
    # and a post that was seen with all others is learned from, whoever told of it
    alone = rhythm(unfolded(replace(spoken, told_at=np.full(len(spoken), np.nan)), moments))
    assert np.allclose(made.memory(IDS), alone.memory(IDS), equal_nan=True)


def test_ones_own_past_has_moments_as_they_were_and_begins_with_the_first_visit() -> None:
    events = steady(1.0, 60.0)
    seen, said = visits(events, days=60.0, gap_days=3.0)
    firsts = Seen(
        id=IDS,
        since_at=np.full(N, np.nan),
        at=np.full(N, START_AT),
        changed=np.full(N, -1, dtype=np.int8),
        event_at=np.full(N, np.nan),
        group=np.zeros(N, dtype=np.int64),
    )
    old = [START_AT - DAY_S * np.array([900.0, 30.0, 2.0])] * N
    past = past_of([unfolded(firsts, old), unfolded(seen, said)])
    assert past.n_timed == past.n_changes == sum(map(len, said))
    assert len(past.visits) == len(seen)
    assert (past.start_at, past.entered_at.tolist()) == (START_AT, [START_AT] * N)
    assert np.array_equal(past.traces(0.3).at, np.concatenate(said))
