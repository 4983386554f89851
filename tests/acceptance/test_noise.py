"""Noise on the living web, where the truth is known: false alarms go, changes stay."""

from __future__ import annotations

import asyncio

import pytest
from bench.noise import Tally, measured

from recrawl.livingweb import Noise

REPEATED = (Noise.VISIBLE, Noise.NONCE, Noise.COUNTER, Noise.ADVERT)  # a second look finds these out
CLOCKS = (Noise.CLOCK, Noise.AGE)  # these take some visits


@pytest.fixture(scope="module")
def tallies() -> dict[tuple[str, str], Tally]:
    return asyncio.run(measured(n_documents=2, n_visits=24))


def of(tallies: dict[tuple[str, str], Tally], *kinds: str) -> Tally:
    return sum((tally for (name, _), tally in tallies.items() if name in kinds), Tally())


def test_what_differs_between_two_looks_gives_hardly_any_false_alarm(
    tallies: dict[tuple[str, str], Tally],
) -> None:
    tally = of(tallies, *REPEATED)
    assert tally.n_false_plain > 300
    assert tally.removed > 0.95
    assert tally.n_lost <= 0.01 * tally.n_changes


def test_clocks_are_learned_after_some_visits(tallies: dict[tuple[str, str], Tally]) -> None:
    tally = of(tallies, *CLOCKS)
    assert tally.n_false_plain > 100
    assert tally.removed > 0.8
    assert tally.n_lost <= 0.01 * tally.n_changes


def test_contents_in_turn_and_walls_give_fewer_false_alarms(tallies: dict[tuple[str, str], Tally]) -> None:
    assert of(tallies, Noise.FLAP).removed > 0.5
    walls = of(tallies, *(name for name, _ in tallies if name.startswith("wall")))
    assert walls.removed > 0.5
    assert walls.n_lost == 0


def test_where_there_is_no_noise_nothing_is_lost_and_second_looks_are_few(
    tallies: dict[tuple[str, str], Tally],
) -> None:
    calm = of(tallies, Noise.NONE, Noise.HIDDEN)
    assert (calm.n_false, calm.n_lost) == (0, 0)
    assert calm.n_repeats < 0.1 * calm.n_visits
