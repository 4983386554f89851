"""After how many visits the historic classifier decides: chosen by its error on training pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.unit.test_barbosa import of

from recrawl.evaluate.barbosa import tables
from recrawl.evaluate.barbosa.tables import Time, _windowed
from recrawl.learn.groups import classes
from recrawl.model import Ints, RateClass
from recrawl.simulate.traces import Traces


def test_windows_are_chosen_until_no_other_one_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first class gains by a long window only once the second has one."""
    wrong: dict[tuple[int, ...], int] = {(3, 2, 2, 1): 50, (3, 10, 2, 1): 40, (20, 10, 2, 1): 10}
    asked: list[tuple[int, ...]] = []

    def finals(_: str, table: Sequence[RateClass], start: Ints, traces: Traces, **_when: float) -> Ints:
        asked.append(tuple(one.window for one in table))
        return (np.arange(len(start)) < wrong.get(asked[-1], 60)).astype(np.int64)

    monkeypatch.setattr(tables, "final_classes", finals)
    found = classes(np.repeat([0.01, 0.1, 1.0, 5.0], 5), 4)
    nobody = np.zeros(100, dtype=np.int64)
    time = Time(start_at=0.0, days=10, end_at=1e6)
    assert _windowed(of([1.0]), nobody, nobody, found, time, 1e6) == (20, 10, 2, 1)
    assert asked[0] == (3, 2, 2, 1)  # from the paper's on
