"""The figures of others: the table of Tan (2012), and those of his later thesis.

The table is of 97 threads of a board, with words of a vocabulary of 5 to 50; the thesis of 830 threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Printed:
    mape: float
    pr_miss: float
    pr_fa: float
    pr_error: float
    t_score_min: float
    posts: float
    visits: float


TABLE: Mapping[int, Printed] = MappingProxyType(
    {
        5: Printed(8.441, 0.922, 0.064, 0.493, 1601.321, 33.0, 545.371),
        10: Printed(8.632, 0.924, 0.064, 0.494, 1593.763, 33.0, 545.206),
        15: Printed(8.913, 0.924, 0.064, 0.494, 1594.276, 33.0, 545.381),
        20: Printed(9.382, 0.923, 0.063, 0.493, 1597.533, 33.0, 545.495),
        25: Printed(9.905, 0.927, 0.063, 0.495, 1597.295, 33.0, 545.619),
        30: Printed(10.836, 0.925, 0.063, 0.494, 1587.734, 33.0, 545.619),
        35: Printed(12.044, 0.927, 0.064, 0.495, 1608.698, 33.0, 545.722),
        40: Printed(12.400, 0.927, 0.063, 0.495, 1593.062, 33.0, 545.649),
        45: Printed(12.462, 0.928, 0.063, 0.496, 1587.913, 33.0, 545.649),
        50: Printed(12.994, 0.926, 0.063, 0.495, 1581.241, 33.0, 545.804),
    }
)


@dataclass(frozen=True, slots=True)
class Later:
    t_score_min: float
    visits_per_post: float
    p_error_norm: float


THESIS: Mapping[str, Later] = MappingProxyType(
    {
        "mean": Later(2370.09, 18.443, 0.0456),
        "svr": Later(1435.96, 21.733, 0.0384),
        "sgd": Later(1881.84, 21.048, 0.0380),
    }
)
