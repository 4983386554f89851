"""Compiled functions: what makes them be compiled anew."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from numba.core.caching import CacheImpl

from recrawl import compiled
from recrawl.evaluate.tan import following, rates, visiting
from recrawl.schedule.policies.rules import readers, umbrich
from recrawl.simulate import scalar, walk


def test_a_function_is_compiled_anew_when_a_file_changes_that_holds_what_it_calls() -> None:
    files = compiled._files(walk._walked, set())
    wanted = {Path(module.__file__ or "") for module in (walk, umbrich, readers)}
    assert wanted <= files
    assert Path(scalar.__file__) not in files
    kept = walk._walked._cache._cache_file._source_stamp  # type: ignore[attr-defined]
    named = {name for _, name in kept[1]}
    assert {"walk.py", "step.py", "umbrich.py", "crawlers.py", "readers.py"} <= named


def test_a_loop_around_a_function_is_compiled_anew_when_that_function_changes() -> None:
    made = visiting._around(rates._root)
    assert {Path(module.__file__ or "") for module in (visiting, rates)} <= compiled._files(made, set())
    names = {visiting._around(rule)._cache._impl.filename_base for rule in (rates._root, following._follow)}  # type: ignore[attr-defined]
    assert len(names) == 2  # so that neither takes the other's place


def test_plain_functions_stay_plain_for_everybody_else() -> None:
    assert not hasattr(umbrich.agreed, "py_func")
    assert umbrich.within(3.0, (1.0, 2.0)) == 2.0


def test_where_nothing_can_be_kept_a_function_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    assert compiled.compiled(_over)(1.0, 0.0) == inf


def _over(a: float, b: float) -> float:
    return a / b
