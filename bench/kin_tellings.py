"""What kin bring in the default forecast: with and without them, at equal visits.

    python bench/kin_tellings.py FOLDER                              all corpora of a folder
    python bench/kin_tellings.py FOLDER --corpora scrapes,terms --draws 4 --goals fresh,prompt

Before each window every resource is visited about every `--past` days, and kin are found from the newest of
those visits, as the loop finds them. Then policy `index` runs over the window twice, each time at the price
that gives a visit in `--every` days for each resource: with that table, and without. Nothing else is known of
the past. Gains are what is cut from staleness, from the harmonic number or from the time that changes wait
for a visit, or what recall is higher by (nothing, since kin hasten no visit under goal `capture`); the mean
over draws of windows, with its standard error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.measures import Score, measure
from recrawl.evaluate.pieces import Population, adapted
from recrawl.evaluate.sample import held_in_memory
from recrawl.kinship import N_NEWEST
from recrawl.learn.kin.visits import kin_of_visits
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.kin import K
from recrawl.model import DAY_S, HOUR_S, KinTable, Seen
from recrawl.simulate.rhythms import walk_rhythm
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Visits

TOLERANCE = 0.004  # of the visits
GUESS = {"fresh": 1e5, "fresh-harmonic": 1e5, "prompt": 1e5, "capture": 0.2}


def past_kin(some: Population, start_at: float, past_s: float, seed: int) -> KinTable:
    """As visits at uneven gaps before the window show them."""
    rng, traces = np.random.default_rng(seed), some.traces
    parts = []
    for i in range(len(traces)):
        begin_at = max(start_at, float(traces.born_at[i]))
        n = int((some.window.start_at - begin_at) / past_s)
        at = begin_at + np.cumsum(past_s * rng.uniform(0.5, 1.5, max(n, 0)))
        at = at[at < some.window.start_at][-N_NEWEST - 1 :]
        if len(at) > 1:
            changed = np.diff(np.searchsorted(traces.of(i), at, side="right")) > 0
            parts.append((np.full(len(changed), i + 1), at[:-1], at[1:], changed))
    if not parts:
        return KinTable()
    ids, since_at, end_at, changed = (np.concatenate(column) for column in zip(*parts, strict=True))
    seen = Seen(
        id=ids,
        since_at=since_at,
        at=end_at,
        changed=changed.astype(np.int8),
        event_at=np.full(len(ids), np.nan),
        group=traces.host[ids - 1].astype(np.int64) + 1,
    )
    return kin_of_visits(seen, K)


def gained(goal: str, without: Score, having: Score) -> float:
    """What is cut from the cost, as a share of it; of recall, what is added."""
    if goal == "capture":
        return having.recall / without.recall - 1.0
    before, after = (
        {
            "fresh": 1.0 - one.freshness,
            "fresh-harmonic": one.harmonic,
            "prompt": one.wait_days_mean,
        }[goal]
        for one in (without, having)
    )
    return 1.0 - after / before


def compared(name: str, said: argparse.Namespace) -> None:
    corpus = opened(str(said.folder / name))
    span_days = (corpus.about.end_at - corpus.about.start_at) / DAY_S
    ask, notes = adapted(
        corpus,
        Ask(
            policies=("index",),
            days=min(said.days, said.share * span_days),
            min_gap_s=min(DAY_S, said.every * DAY_S / 4.0),
            max_gap_s=180 * DAY_S,
            n_draws=said.draws,
        ),
    )
    held = held_in_memory(corpus, ask, notes)
    assert held is not None
    gains: dict[str, list[float]] = {goal: [] for goal in said.goals.split(",")}
    n_kin = []
    for draw in range(said.draws):
        some = held.population(draw)
        table = past_kin(some, corpus.about.start_at, said.past * DAY_S, draw)
        n_kin.append(len(table) / len(some.traces))
        for goal, found in gains.items():
            guess, scores = GUESS[goal], []
            for kin in (KinTable(), table):

                def run(
                    price: float, kin: KinTable = kin, goal: str = goal, some: Population = some
                ) -> Visits:
                    return walk_rhythm(
                        some.traces,
                        start_at=some.window.start_at,
                        end_at=some.window.end_at,
                        first_gap_s=some.window.first_gap_s,
                        min_gap_s=ask.min_gap_s,
                        max_gap_s=ask.max_gap_s,
                        price=price,
                        goal=GOALS[goal],
                        predictor=Rhythm(),
                        replan_every_s=max(HOUR_S, ask.min_gap_s / 4.0),
                        kin=kin,
                    )

                n_wanted = int(len(some.traces) * some.window.days / said.every)
                guess, visits = bid(run, n_wanted, guess, TOLERANCE)
                scores.append(measure(some.traces, visits, some.window).total())
            found.append(100.0 * gained(goal, *scores))
    words = [
        f"{goal} {np.mean(found):+.2f} % ± {np.std(found) / max(len(found) - 1, 1) ** 0.5:.2f}"
        for goal, found in gains.items()
    ]
    print(f"{name:13} {np.mean(n_kin):4.2f} kin each; {', '.join(words)}; {ask.days:.0f} days", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="of corpora")
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument(
        "--goals", default="fresh", help="with commas: fresh, fresh-harmonic, prompt, capture"
    )
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--days", type=float, default=3 * 365.0, help="of the windows, at most")
    parser.add_argument("--share", type=float, default=0.5, help="of the corpus, at most")
    parser.add_argument("--past", type=float, default=3.0, help="days from visit to visit before the window")
    parser.add_argument("--every", type=float, default=14.0, help="days from visit to visit in it")
    said = parser.parse_args()
    names = (path.parent.name for path in said.folder.glob("*/corpus.json"))
    for name in said.corpora.split(",") if said.corpora else sorted(names):
        compared(name, said)


if __name__ == "__main__":
    main()
