"""Servers that misbehave: each case gives one fetch, with the right outcome, within the limits.

All cases run at once, each from a host of its own; that one of them holds up another would show here too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from tests.hostile.case import Sight, hostile_fetcher, looked, wrong, wrong_as_seen_by_the_server
from tests.hostile.origin import serving
from tests.hostile.table import HOSTS, TABLE

from recrawl.model import Outcome
from recrawl.parse import pool

N_AT_ONCE = 40


async def all_looked() -> dict[str, Sight]:
    turns = asyncio.Semaphore(N_AT_ONCE)
    async with serving(HOSTS) as origin, AsyncExitStack() as doors:
        fetchers = {
            limits: await doors.enter_async_context(hostile_fetcher(limits))
            for limits in {case.limits for case in TABLE.values()}
        }

        async def one(key: str) -> Sight:
            async with turns:
                return await looked(TABLE[key], key, 1, fetchers[TABLE[key].limits], origin)

        sights = await asyncio.gather(*(one(key) for key in TABLE))
    return dict(zip(TABLE, sights, strict=True))


@pytest.fixture(scope="module")
def sights() -> Iterator[dict[str, Sight]]:
    with pytest.MonkeyPatch.context() as patch, pool.Pool(limit_s=1.5, memory_bytes=512 << 20) as short:
        patch.setattr(pool, "_shared", short)
        yield asyncio.run(all_looked())


@pytest.mark.parametrize("key", TABLE, ids=[f"{case.row} {case.name}" for case in TABLE.values()])
def test_a_hostile_server_gets_what_the_table_says(key: str, sights: dict[str, Sight]) -> None:
    assert wrong(TABLE[key], sights[key]) == []
    assert wrong_as_seen_by_the_server(TABLE[key], sights[key]) == []


def test_every_row_is_in_the_table() -> None:
    assert {case.row for case in TABLE.values()} == {f"H{number:02}" for number in range(1, 38)}


def test_every_outcome_is_in_the_table() -> None:
    assert {case.outcome for case in TABLE.values()} == set(Outcome)
