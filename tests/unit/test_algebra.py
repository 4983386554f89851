"""One thread for linear algebra, whoever else is at it."""

from __future__ import annotations

import os
from threading import Barrier, Thread

import pytest
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from recrawl.learn.algebra import one_thread

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one core there is one thread anyway")


def n_threads() -> int:
    return max(int(one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas")


@pytest.mark.parametrize("goes_first", [0, 1])
def test_whoever_comes_and_goes_meanwhile_there_is_one_thread_within_and_then_as_many_as_before(
    goes_first: int,
) -> None:
    with threadpool_limits(limits=2):
        within: list[int] = []
        one_is_in, both_are, one_is_gone = Barrier(2), Barrier(2), Barrier(2)

        def task(number: int) -> None:
            if number:
                one_is_in.wait(10.0)
            with one_thread():
                if not number:
                    one_is_in.wait(10.0)
                both_are.wait(10.0)
                if number != goes_first:
                    one_is_gone.wait(10.0)
                within.append(n_threads())
            if number == goes_first:
                one_is_gone.wait(10.0)

        threads = [Thread(target=task, args=(number,)) for number in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(20.0)
        assert within == [1, 1]
        assert n_threads() == 2
        with one_thread(), one_thread():
            assert n_threads() == 1
        assert n_threads() == 2
