"""Freshness and delay over time, against visits that are shared out evenly."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from tests.cards import END_AT, hosts, looked, prospects, tallied

from recrawl.evaluate.card.course import N_STEPS, course
from recrawl.evaluate.card.past import Past, judged
from recrawl.evaluate.card.rivals import made
from recrawl.model import DAY_S

N = 60


def past(days: float, gap_days: float, *, until: float = 0.0) -> Past:
    """Resources that change once a day, each visited in the same gap until so many days before the end."""
    n_each = int((days - until) / gap_days)
    at = END_AT - days * DAY_S + gap_days * DAY_S * np.arange(1, n_each + 1)
    at[-1] = min(at[-1], np.nextafter(END_AT, 0.0))
    seen = looked(
        id=np.tile(np.arange(1, N + 1), n_each),
        at=np.repeat(at, N),
        since_at=np.repeat(np.concatenate([[END_AT - days * DAY_S], at[:-1]]), N),
        changed=np.tile(np.array([0, 1], np.int8), N * n_each // 2),
    )
    gap_s = np.full(N, gap_days * DAY_S)
    some = prospects(np.ones(N), gap_s, np.full(N, at[-1]))
    return Past(
        looked=seen,
        tally=tallied(seen, days),
        prospects=some,
        hosts=hosts(N),
        from_at=END_AT - days * DAY_S,
        until_at=END_AT,
        rule="index:fresh",
        per_day=N / gap_days,
    )


def test_visits_in_one_gap_are_uniform_visits() -> None:
    found = course(past(14.0, 0.5))
    fresh = (1.0 - exp(-0.5)) / 0.5
    assert len(found.steps) == 14
    assert [step.freshness for step in found.steps] == pytest.approx([fresh] * 14)
    assert [step.wait_s for step in found.steps[:-1]] == pytest.approx([DAY_S / 4] * 13)
    assert found.uniform is not None
    assert found.uniform.freshness == pytest.approx(fresh, rel=1e-3)
    assert found.uniform.wait_s == pytest.approx(DAY_S / 4, rel=1e-3)


def test_where_visits_end_copies_grow_old() -> None:
    steps = course(past(14.0, 0.5, until=4.0)).steps
    fresh = [step.freshness for step in steps]
    assert fresh[:10] == pytest.approx([fresh[0]] * 10)
    # on the first day after the last visit, on the second …
    assert fresh[10:] == pytest.approx([exp(-i) - exp(-i - 1) for i in range(4)], rel=1e-3)
    assert np.isnan([step.wait_s for step in steps[11:]]).all()


def test_the_steps_make_up_the_whole_and_are_as_short_as_the_time() -> None:
    short = past(1.0, 0.05, until=0.2)
    found = course(short)
    assert len(found.steps) == N_STEPS
    spent = judged(short).spent()
    assert spent is not None
    assert np.mean([step.freshness for step in found.steps]) == pytest.approx(made(spent).freshness)
    assert (found.steps[0].from_at, found.steps[-1].until_at) == (END_AT - DAY_S, END_AT)


def test_too_few_visits_are_not_judged() -> None:
    whole = past(14.0, 0.5)
    few = Past(
        **{name: getattr(whole, name) for name in Past.__slots__}
        | {"looked": whole.looked.pick(np.arange(9))}
    )
    found = course(few)
    assert (list(found.steps), found.uniform) == ([], None)
    assert found.document() == {"steps": [], "uniform": None}
