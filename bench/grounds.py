"""What fitted priors bring in the default forecast, and what doubting them does: at equal visits.

    python bench/grounds.py FOLDER                              all corpora of a folder
    python bench/grounds.py FOLDER --corpora terms,vocabularies --draws 4 --goals fresh,prompt

Policy `index` runs over each window several times, each time at the price that gives as many visits as rule
`dyn` makes: with the default prior throughout, and with priors that are fitted, as the loop fits them, to the
visits made so far, after 1, 3, 9 … days; as they are, and with the default mixed in by some shares. Gains
are beside the default prior: what is cut from staleness or from the mean delay, or what recall is higher by;
the mean over draws of windows, with its standard error.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.grounding import fits
from recrawl.evaluate.measures import Score, measure
from recrawl.evaluate.pieces import Population, adapted
from recrawl.evaluate.sample import held_in_memory
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import DAY_S, HOUR_S
from recrawl.simulate.rhythms import walk_rhythm
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Visits

TOLERANCE = 0.004  # of the visits
MAX_GAP_S = 180 * DAY_S


def walked(some: Population, goal: str, min_gap_s: float, doubt: float | None, price: float) -> Visits:
    window = some.window
    return walk_rhythm(
        some.traces,
        start_at=window.start_at,
        end_at=window.end_at,
        first_gap_s=window.first_gap_s,
        min_gap_s=min_gap_s,
        max_gap_s=MAX_GAP_S,
        price=price,
        goal=GOALS[goal],
        predictor=Rhythm(),
        replan_every_s=max(HOUR_S, min_gap_s / 4.0),
        fits=None if doubt is None else fits(some.traces, window, doubt),
    )


def gained(goal: str, before: Score, after: Score) -> float:
    if goal == "capture":
        return 100.0 * (after.recall / before.recall - 1.0)
    if goal == "fresh":
        return 100.0 * (1.0 - (1.0 - after.freshness) / (1.0 - before.freshness))
    return 100.0 * (1.0 - after.delay_days_mean / before.delay_days_mean)


def compared(name: str, said: argparse.Namespace) -> None:
    corpus = opened(str(said.folder / name))
    asked = Ask(policies=("index",), days=said.days, min_gap_s=DAY_S, max_gap_s=MAX_GAP_S, n_draws=said.draws)
    ask, notes = adapted(corpus, asked)
    held = held_in_memory(corpus, ask, notes)
    assert held is not None
    shares = [float(share) for share in said.doubts.split(",")]
    for goal in said.goals.split(","):
        found: list[list[float]] = [[] for _ in shares]
        for draw in range(said.draws):
            some = held.population(draw)
            rule = contender("dyn", goal=goal, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s)
            n_wanted = len(rule.visits(some.traces, some.window))
            price = 0.2 if goal == "capture" else len(some.traces) * some.window.length_s / n_wanted / 10.0
            price, visits = bid(partial(walked, some, goal, ask.min_gap_s, None), n_wanted, price, TOLERANCE)
            before = measure(some.traces, visits, some.window).total()
            for place, doubt in enumerate(shares):
                _, visits = bid(partial(walked, some, goal, ask.min_gap_s, doubt), n_wanted, price, TOLERANCE)
                found[place].append(gained(goal, before, measure(some.traces, visits, some.window).total()))
        words = [
            f"doubt {share:g}: {np.mean(one):+.1f} %"
            + (f" ± {np.std(one) / (len(one) - 1) ** 0.5:.1f}" if len(one) > 1 else "")
            for share, one in zip(shares, found, strict=True)
        ]
        print(f"{name:13}{goal:8} {', '.join(words)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="of corpora")
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument("--goals", default="fresh,prompt,capture")
    parser.add_argument("--doubts", default="0,0.3", help="shares of the default in the fitted priors")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--days", type=float, default=3 * 365.0, help="of the windows, at most")
    said = parser.parse_args()
    names = (path.parent.name for path in said.folder.glob("*/corpus.json"))
    for name in said.corpora.split(",") if said.corpora else sorted(names):
        compared(name, said)


if __name__ == "__main__":
    main()
