"""What is compiled where numba is installed, and as it stands: the same bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from recrawl.compiled import compiled, plain, total, wide
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms import forecasts
from recrawl.learn.rhythms.beats import Common
from recrawl.model import DAY_S, Floats, Seen

START_AT = 1.7e9
IDS = np.arange(1, 41)


def visits(seed: int, n: int = 900) -> Seen:
    """Of forty resources in five groups, over two months; some tell when the change was."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, 41, n)
    at = START_AT + np.sort(rng.uniform(0.0, 60 * DAY_S, n))
    since_at, last_at = np.empty(n), dict[int, float]()
    for i, (key, then) in enumerate(zip(ids.tolist(), at.tolist(), strict=True)):
        since_at[i], last_at[key] = last_at.get(key, then - 2 * DAY_S * rng.random() - 600.0), then
    changed = (rng.random(n) < 0.4).astype(np.int8)
    event_at = np.where((changed == 1) & (rng.random(n) < 0.3), at, np.nan)
    return Seen(id=ids, since_at=since_at, at=at, changed=changed, event_at=event_at, group=ids % 5 + 1)


def taught(seen: Seen, others: Seen, *, many: bool) -> Rhythm:
    class Either(Rhythm):
        def _many(self, seen: Seen) -> bool:  # noqa: ARG002 - it is said
            return many

    predictor = Either()
    predictor.learn(seen)
    predictor.overhear(others)
    return predictor


def numbers(common: Common) -> dict[str, Floats]:
    parts = (common.habits._asdict(), common.stirs._asdict(), common.calendars._asdict())
    return {f"{name} {i}": np.asarray(value) for i, part in enumerate(parts) for name, value in part.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_visits_teach_the_same_compiled_or_not(seed: int) -> None:
    as_it_stands, quicker = (taught(visits(seed), visits(seed + 10), many=many) for many in (False, True))
    assert np.array_equal(as_it_stands.memory(IDS), quicker.memory(IDS), equal_nan=True)
    found, wanted = numbers(as_it_stands.common), numbers(quicker.common)
    differing = [name for name in wanted if not np.array_equal(found[name], wanted[name], equal_nan=True)]
    assert differing == []


def test_forecasts_are_the_same_compiled_or_not() -> None:
    predictor = taught(visits(3), visits(13), many=True)
    rng, common, n = np.random.default_rng(4), predictor.common, 200
    since_at = START_AT + 60 * DAY_S - rng.uniform(0.0, 5 * DAY_S, n)
    given = (
        common.habits,
        common.stirs,
        common.calendars.shown,
        since_at,
        since_at - rng.uniform(0.0, 9 * DAY_S, n),
        rng.uniform(600.0, 3 * DAY_S, n),
        rng.integers(0, len(common.habits.factor), n),
        rng.random(n),
        rng.integers(0, len(common.stirs.level), n),
        rng.uniform(0.3, 9.0, n),
        rng.uniform(600.0, 20 * DAY_S, n),
        np.sort(rng.uniform(0.0, 8 * DAY_S, (3, n)), axis=0),
    )
    assert np.array_equal(plain(forecasts._scan)(*given), forecasts._scan(*given))


def test_narrow_numbers_are_widened_and_added_up_alike() -> None:
    values = np.random.default_rng(5).lognormal(0.0, 3.0, 500)
    narrow = values.astype(np.float32)

    def widened(some: npt.NDArray[np.float32], added: Floats) -> None:
        for i in range(len(some) - 1):
            added[i] = wide(some[i + 1]) - wide(some[i]) + 1e-9
        added[-1] = total(added)

    found, wanted = np.zeros(500), np.zeros(500)
    widened(narrow, found)
    compiled(widened)(narrow, wanted)
    assert np.array_equal(found, wanted)
