"""Everything planned anew every hour, as the loop does, beside a replay that plans only the stirred anew.

    python bench/hourly.py FOLDER                                  visits of rule dyn, three goals, one draw
    python bench/hourly.py FOLDER --corpora policies,scrapes --draws 2

Replays of policy `index` are the second (`simulate/rhythms.py`), and are run many times until their price is
found. Both make as many visits as the rule, within one in a hundred, at prices of their own. A ratio is what
the loop's way comes to, for 1 of the replay's; seconds are those of a run, in the mean.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import TOLERANCE, contender
from recrawl.evaluate.gains import aim
from recrawl.evaluate.grounding import fits
from recrawl.evaluate.measures import Score, measure
from recrawl.evaluate.pieces import Population, adapted
from recrawl.evaluate.sample import held_in_memory, unweighted
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import HOUR_S
from recrawl.simulate.rhythms import walk_rhythm
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Visits

DAYS = 3 * 365.0
# What each goal is about: less of it is better, but for recall.
SHOWN = {"fresh": "staleness", "prompt": "mean delay", "capture": "recall"}


def scored(some: Population, goal: str, ask: Ask, n_visits: int, *, exact: bool) -> tuple[Score, float]:
    took_s = []

    def run(price: float) -> Visits:
        begun = time.thread_time()
        made = walk_rhythm(
            some.traces,
            start_at=some.window.start_at,
            end_at=some.window.end_at,
            first_gap_s=some.window.first_gap_s,
            min_gap_s=ask.min_gap_s,
            max_gap_s=ask.max_gap_s,
            price=price,
            goal=GOALS[goal],
            predictor=Rhythm(),
            replan_every_s=HOUR_S,
            exact=exact,
            fits=fits(some.traces, some.window),
        )
        took_s.append(time.thread_time() - begun)
        return made

    ours = contender("index", goal=goal, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s)
    _, visits = bid(run, n_visits, ours.guess(some.traces, some.window, n_visits), TOLERANCE)
    return measure(some.traces, visits, some.window).total(), float(np.mean(took_s))


def figure(score: Score, goal: str) -> float:
    found: float = 1.0 - score.freshness if goal == "fresh" else getattr(score, aim(goal)[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="of corpora")
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument("--goals", default=",".join(SHOWN))
    parser.add_argument("--rule", default="dyn", help="whose number of visits both make")
    parser.add_argument("--draws", type=int, default=1)
    said = parser.parse_args()
    names = (path.parent.name for path in said.folder.glob("*/corpus.json"))
    goals = said.goals.split(",")
    print(f"{'corpus':14}{'goal':9}{'of what':12}{'ratio':>8}{'visits':>8}{'seconds':>16}")
    for name in said.corpora.split(",") if said.corpora else sorted(names):
        corpus = opened(str(said.folder / name))
        ask = Ask(policies=(said.rule,), days=DAYS, n_draws=said.draws, n_at_once=50_000)
        ask, notes = adapted(corpus, ask)
        held = held_in_memory(corpus, ask, notes)
        assert held is not None, f"{name} has no resources"
        held = unweighted(held, notes)
        rule = contender(said.rule, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s)
        for goal in goals:
            rows = []
            for draw in range(said.draws):
                some = held.population(draw)
                n_visits = len(rule.visits(some.traces, some.window))
                rows.append([scored(some, goal, ask, n_visits, exact=exact) for exact in (True, False)])
            ratio = np.mean([figure(one[0], goal) / figure(other[0], goal) for one, other in rows])
            visits = np.mean([one[0].visits / other[0].visits for one, other in rows])
            took = " and ".join(f"{np.mean([row[i][1] for row in rows]):.1f}" for i in (0, 1))
            print(f"{name:14}{goal:9}{SHOWN[goal]:12}{ratio:8.4f}{visits:8.4f}{took:>16}", flush=True)


if __name__ == "__main__":
    main()
