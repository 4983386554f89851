"""What plans say of the gaps that they have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.checks.policy import sample_forecasts
from recrawl.checks.predictor import sample_batch
from recrawl.errors import PluginError
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import DAY_S, Batch, Plans
from recrawl.purse import Purse
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.jitter import JitteredQuote
from recrawl.schedule.policies.index import ClockedQuote, Index, even
from recrawl.tariff import Tariff

NOW = 1.7e9
N = 1_000


def settled(
    per_day: float | None, *, again: bool = False, max_gap_s: float = 10 * DAY_S, free_price: float = 0.0
) -> tuple[Tariff, Batch, GammaForecasts, Plans]:
    """Half hardly ever change, half every three days; as they were priced, or planned `again` at it."""
    batch = replace(
        sample_batch(N),
        weight=np.ones(N),
        min_gap_s=np.full(N, DAY_S),
        max_gap_s=np.full(N, max_gap_s),
        since_at=NOW - np.linspace(0.0, 5 * DAY_S, N),
        bits=np.ones(N, dtype=np.uint64),
    )
    forecasts = GammaForecasts(
        np.full(N, 20.0), 20.0 * DAY_S / np.where(np.arange(N) < N // 2, 1e-4, 1.0 / 3.0)
    )
    tariff = Tariff(
        Index(Fresh(), jitter=0.07),
        "index:fresh",
        Purse(MemoryStore(), per_day, None),
        free_price=free_price,
        every_s=3_600.0,
    )
    plans = tariff.settle(batch, forecasts, NOW, None)
    return tariff, batch, forecasts, tariff.plans(batch, forecasts, NOW) if again else plans


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("per_day", [60.0, 110.0, 150.0, None])
def test_jitter_hides_from_nobody_that_a_gap_is_bound(per_day: float | None, again: bool) -> None:
    tariff, batch, forecasts, plans = settled(per_day, again=again)
    gap_s = Index(Fresh()).quote(batch, forecasts).gaps(tariff.price)
    assert len(set(plans.gap_s.tolist())) > N // 4  # it is there
    wanted = np.where(gap_s <= DAY_S, -1, np.where(gap_s >= 10 * DAY_S, 1, 0))
    assert np.array_equal(plans.bound, wanted)
    assert len(set(wanted.tolist())) == (2 if per_day in (110.0, 150.0) else 1)


def test_jitter_does_not_say_which_way_a_single_gap_leans() -> None:
    _, _, forecasts, _ = settled(None)
    price = float(Fresh().worth(forecasts, np.full(N, 1.03 * DAY_S))[-1])
    *_, plans = settled(None, max_gap_s=DAY_S, free_price=price)
    assert (plans.bound == 1).all()  # a little later would do, or a lot


def test_an_even_quote_neither_jitters_nor_scouts() -> None:
    batch = sample_batch(40)
    own_time = sample_forecasts(Rhythm(), 40)
    quote = Index(Fresh(), jitter=0.07).quote(batch, own_time)
    assert isinstance(quote, JitteredQuote)
    assert isinstance(quote.of, ClockedQuote)
    scouting = replace(quote, of=replace(quote.of, sway=np.linspace(-0.3, 0.3, 40)))
    still = replace(quote.of, sway=np.zeros(40))
    assert not np.array_equal(scouting.gaps(DAY_S), still.gaps(DAY_S))
    assert np.array_equal(even(scouting).gaps(DAY_S), still.gaps(DAY_S))
    plain = Index(Fresh()).quote(batch, GammaForecasts(np.ones(40), np.full(40, DAY_S)))
    assert even(plain) is plain


@pytest.mark.parametrize("per_day", [60.0, None])
def test_gaps_that_are_no_numbers_are_refused(per_day: float | None) -> None:
    """What they are of would never be due again, and nobody would be told."""
    tariff, batch, forecasts, _ = settled(per_day, max_gap_s=180 * DAY_S)
    broken = GammaForecasts(np.where(np.arange(N) == 7, np.nan, forecasts.a), forecasts.b_s)
    told = r"no numbers for 1 of 1,000 .* schedule\.predictor"
    with pytest.raises(PluginError, match=told):
        tariff.plans(batch, broken, NOW)
    with pytest.raises(PluginError, match=told):
        tariff.settle(batch, broken, NOW, None)
