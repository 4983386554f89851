"""What is asked of the experiment."""

from __future__ import annotations

from dataclasses import dataclass

AUTO = "auto"
CHANGES = (AUTO, "significant", "any")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    n_pages: int = 60  # foretold: so many are drawn of those that pass the filter
    n_steps: int = 250  # the last ones of the corpus
    n_train: int = 50
    n_tests: int = 60  # steps from which is foretold, evenly spread over those after the training
    k: int = 20
    back: int = 1  # the window of features, the paper's l
    ahead: int = 1  # its sigma
    least_switching: float = 0.3  # a page is kept that changes its behaviour in so many of its steps
    changes: str = AUTO
    step_s: float | None = None  # None: the corpus's own
    n_words: int = 1_000  # by which pages are compared over time
    budget: float = 0.1  # of the pages, at each step
    crawl_steps: int = 100
    n_draws: int = 2  # of coins, in the crawl
    seed: int = 1
    n_cores: int | None = None
