"""Windows and populations, and bands of mean change interval."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.histories import history

from recrawl.errors import BadInputError
from recrawl.evaluate.bands import BANDS, mean_interval_s
from recrawl.evaluate.protocol import N_DRAWS, windows
from recrawl.simulate.traces import Traces

DAY_S = 86_400.0
SPAN = (1e9, 1e9 + 1000 * DAY_S)


def born(days: list[float]) -> Traces:
    traces = history([[] for _ in days])
    return Traces(
        born_at=SPAN[0] + DAY_S * np.array(days),
        bounds=traces.bounds,
        at=traces.at,
        digest=traces.digest,
        first_digest=traces.first_digest,
        host=traces.host,
        weight=traces.weight,
    )


def test_windows_end_in_the_last_tenth_and_are_as_long_as_asked() -> None:
    drawn = list(windows(born([0.0]), days=365, seed=1, span=SPAN))
    assert len(drawn) == N_DRAWS == 20
    ends = np.array([window.end_at for window in drawn])
    assert ((ends > SPAN[1] - 100 * DAY_S) & (ends <= SPAN[1])).all()
    assert np.ptp(ends) > 50 * DAY_S
    assert all(window.days == pytest.approx(365) and not window.note for window in drawn)


def test_the_population_had_a_version_before_the_window_began() -> None:
    traces = born([0.0, 500.0, 850.0])
    for window in windows(traces, days=300, seed=2, span=SPAN):
        assert window.rows.tolist() == [0, 1]
        assert len(window.first_gap_s) == 2


def test_first_gaps_are_a_week_times_a_random_phase() -> None:
    traces = born([0.0] * 2_000)
    first, second = windows(traces, days=300, n_draws=2, seed=3, span=SPAN)
    for window in (first, second):
        assert 0 <= window.first_gap_s.min() < 0.01 * 7 * DAY_S
        assert 0.99 * 7 * DAY_S < window.first_gap_s.max() < 7 * DAY_S
        assert window.first_gap_s.mean() == pytest.approx(3.5 * DAY_S, rel=0.05)
    assert abs(np.corrcoef(first.first_gap_s, second.first_gap_s)[0, 1]) < 0.1


def test_a_window_longer_than_the_corpus_is_shortened_and_that_is_said() -> None:
    for window in windows(born([0.0, -1.0]), days=1095, seed=4, span=SPAN):
        assert window.days == pytest.approx(900)
        assert window.start_at >= SPAN[0]
        assert window.note == "The corpus spans 1000 days: windows have 900, not 1095."


def test_a_corpus_in_chunks_is_drawn_as_one() -> None:
    days = list(np.random.default_rng(5).uniform(0, 900, 50))
    at_once = list(windows(born(days), days=200, n_draws=3, seed=6, span=SPAN))
    parts = [
        list(windows(born(days[low : low + 20]), days=200, n_draws=3, seed=6, span=SPAN, first_row=low))
        for low in (0, 20, 40)
    ]
    for d, window in enumerate(at_once):
        assert {part[d].end_at for part in parts} == {window.end_at}
        assert np.concatenate([part[d].rows + 20 * i for i, part in enumerate(parts)]).tolist() == (
            window.rows.tolist()
        )
        together = np.concatenate([part[d].first_gap_s for part in parts])
        assert together.tolist() == window.first_gap_s.tolist()


def test_the_same_seed_draws_the_same_and_another_one_others() -> None:
    def ends(seed: int) -> list[float]:
        return [window.end_at for window in windows(born([0.0]), days=9, seed=seed, span=SPAN)]

    assert ends(1) == ends(1) != ends(2)


@pytest.mark.parametrize(("days", "n_draws", "span"), [(0, 1, SPAN), (9, 0, SPAN), (9, 1, (5.0, 5.0))])
def test_windows_that_hold_nothing_are_refused(days: float, n_draws: int, span: tuple[float, float]) -> None:
    with pytest.raises(BadInputError):
        list(windows(born([0.0]), days=days, n_draws=n_draws, seed=1, span=span))


def test_every_resource_is_in_one_band() -> None:
    intervals = DAY_S * np.array([0.5, 2.0, 6.9, 7.0, 14.0, 29.9, 30.0, 60.0, 120.0, 180.0, 1e5, np.inf])
    of = {band.name: band.rows(intervals).tolist() for band in BANDS}
    assert of == {
        "< 2 d": [0],
        "2-7 d": [1, 2],
        "7-14 d": [3],
        "14-30 d": [4, 5],
        "1-2 m": [6],
        "2-4 m": [7],
        "4-6 m": [8],
        "> 6 m": [9, 10, 11],
    }


def test_the_mean_interval_is_the_history_by_its_changes() -> None:
    traces = history([[10.0, 20.0, 99.0], []], born_at=0.0)
    assert mean_interval_s(traces, 50.0).tolist() == [25.0, np.inf]
