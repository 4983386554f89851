"""Predictors made of others, and forecasts of which some rows are one's and the others another's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from recrawl.contracts import Clocked, Composed, Forecasts, Predictor
from recrawl.learn.forecasts import GammaForecasts, Guessed
from recrawl.model import Bools, Floats, Ints

Some = TypeVar("Some", bound=Forecasts)


def parts_of(predictor: Predictor) -> Sequence[Predictor]:
    """Those that it is made of; mostly itself."""
    return predictor.parts if isinstance(predictor, Composed) else (predictor,)


class InOwnTime(Clocked, Protocol):
    """Forecasts of resources that live in a time of their own."""

    @property
    def usual(self) -> Guessed: ...
    def pick(self, rows: Ints) -> Self: ...


@dataclass(frozen=True)
class _Parted(Generic[Some]):
    """`of` says which rows are of the second; each has its own, in their order."""

    first: Some
    second: Some
    of: Bools

    def survival(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.survival(t), t_s)

    def survival_integral(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.survival_integral(t), t_s)

    def survival_slope(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.survival_slope(t), t_s)

    def n_expected(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.n_expected(t), t_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.n_expected_integral(t), t_s)

    def pick(self, rows: Ints) -> Self:
        of = self.of[rows]
        place = np.where(self.of, np.cumsum(self.of), np.cumsum(~self.of)) - 1
        first, second = self.first.pick(place[rows[~of]]), self.second.pick(place[rows[of]])
        return type(self)(first, second, of)  # type: ignore[arg-type]

    def _joined(self, ask: Callable[..., Floats], *columns: Floats) -> Floats:
        """What both answer, row by row; `columns` have a value for each row, and may have many rows of it."""
        shape = np.broadcast_shapes(*(np.shape(one) for one in columns), (len(self.of),))
        columns = tuple(np.broadcast_to(one, shape) for one in columns)
        found = np.empty(shape)
        for one, mine in ((self.first, ~self.of), (self.second, self.of)):
            found[..., mine] = ask(one, *(column[..., mine] for column in columns))
        return found


class PartedUsual(_Parted[Guessed]):
    @property
    def gamma(self) -> GammaForecasts:
        return GammaForecasts(self._joined(lambda one: one.gamma.a), self._joined(lambda one: one.gamma.b_s))

    def with_gamma(self, gamma: GammaForecasts) -> PartedUsual:
        first, second = (
            one.with_gamma(gamma.pick(np.flatnonzero(mine)))
            for one, mine in ((self.first, ~self.of), (self.second, self.of))
        )
        return PartedUsual(first, second, self.of)

    def own_s(self, t_s: Floats) -> Floats:
        return self._joined(lambda one, t: one.own_s(t), t_s)


class Parted(_Parted[InOwnTime]):
    @property
    def usual(self) -> PartedUsual:
        return PartedUsual(self.first.usual, self.second.usual, self.of)

    @property
    def scatter(self) -> Floats:
        return self._joined(lambda one: one.scatter)

    def due_s(self, own_s: Floats, most_s: Floats, timely: bool, counting: bool) -> Floats:
        return self._joined(lambda one, own, most: one.due_s(own, most, timely, counting), own_s, most_s)
