"""What is asked of the experiment."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model import DAY_S

BY = ("resource", "site")  # what is held out: some resources, or all those of some sites
MADE = ("k-means", "equal")  # how classes are made


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    n_classes: int = 4
    days: int = 100  # of daily visits, from which rates are estimated
    test_days: float = 200.0  # that follow: in which the test pages are scheduled
    n_splits: int = 10
    min_gap_s: float = DAY_S
    max_gap_s: float = 180 * DAY_S
    every_s: float | None = (
        None  # a visit to each page in so long, in the mean; else as many as there are changes
    )
    seed: int = 1
    changes: str = "any"  # which of the corpus's count
    n_cores: int | None = None
