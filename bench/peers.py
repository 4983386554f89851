"""Every rule beside ours at equal visits, over all corpora of a folder: who wins, and what the floor leaves.

    python bench/peers.py FOLDER                     all corpora, both gap settings, three goals
    python bench/peers.py FOLDER --quick             with two draws of windows instead of ten
    python bench/peers.py FOLDER --predictor NAME --corpora wiki,terms --json figures.json
    python bench/peers.py FOLDER --corpora boards --rules hydra --json hydra.json     one rule of many
    python bench/peers.py wiki.json others.json      runs that were made before, all together
    python bench/peers.py wiki.json others.json --markdown cells.md --plot gains.svg

Gaps are a day to 180 days, and the corpus's own resolution to 180 days. Budgets are those of the rules. A
cell is a corpus, a gap setting, a goal and a rule; one that the gap bounds force counts as neither won nor
lost, and not for the mean beside the floor. Intervals resample groups of resources and draws.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.contenders import DEFAULT_PREDICTOR
from recrawl.evaluate.gains import Gain, aim, gain_of, mean_gain
from recrawl.evaluate.intervals import Interval
from recrawl.evaluate.peers import RULES, evaluate
from recrawl.evaluate.report.bars import bars
from recrawl.evaluate.report.choosing import markdown
from recrawl.evaluate.report.figures import Bars, Heap, Table
from recrawl.evaluate.report.table import count
from recrawl.model import DAY_S

GOALS = ("fresh", "prompt", "capture")
WANTED = {"fresh": 0.10, "prompt": 0.10, "capture": 0.05}
NAMES = {"fresh": "staleness cut", "prompt": "mean delay cut", "capture": "recall lift"}
N_DRAWS, N_QUICK = 10, 2
EVERY = (
    "Visits are the rule's, beside which ours has as many; in bold who is better, '?' where that may be "
    "chance, 'even' where the gap bounds leave no choice or ours made more visits. The limit is that of who "
    "knows every change and keeps to the same gaps; of delays it is that of the wait, which counts what "
    "nobody saw up to the window's end"
)
MEASURES = {"freshness": "freshness", "delay_days_mean": "delay in days", "recall": "recall"}
DAYS = 3 * 365.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A corpus, a gap setting and a goal."""

    corpus: str
    gaps: str
    goal: str
    days: float
    took_s: float
    gain: Gain | None  # over the floor, in what the goal is about
    rows: Sequence[Mapping[str, Any]]  # one for each rule, as the command writes them

    @property
    def lost(self) -> list[str]:
        return [row["rule"] for row in self.rows if row["winner"] == "rule"]

    @property
    def n_won(self) -> int:
        return sum(row["winner"] == "ours" for row in self.rows)

    @property
    def n_even(self) -> int:
        return sum(row["winner"] == "even" for row in self.rows)

    def document(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("corpus", "gaps", "goal", "days", "took_s", "rows")}
        return {**own, "gain": self.gain.document() if self.gain else None}


def cell_of(document: Mapping[str, Any]) -> Cell:
    gain = document["gain"]
    return Cell(**{**document, "gain": gain_of(gain) if gain else None})


def read(paths: Sequence[Path]) -> list[Cell]:
    """A cell of which rules were measured apart is put together; a rule that was measured twice counts as it
    was measured last, and those that were measured with it before do not count."""
    by_key: dict[tuple[str, str, str], list[Cell]] = {}
    for path in paths:
        for cell in map(cell_of, json.loads(path.read_text(encoding="utf-8"))):
            others = by_key.get((cell.corpus, cell.gaps, cell.goal), [])
            apart = [other for other in others if not rules_of(other) & rules_of(cell)]
            by_key[cell.corpus, cell.gaps, cell.goal] = [*apart, cell]
    return [together(parts) for parts in by_key.values()]


def together(parts: Sequence[Cell]) -> Cell:
    """The gain is the mean over all budgets: each part counts for those of its own that leave a choice. They
    were resampled alike, as the same resources and draws stand behind them."""
    gains = [part.gain for part in parts for row in part.rows if part.gain and not row["forced"]]
    rows = sorted((row for part in parts for row in part.rows), key=lambda row: RULES.index(row["rule"]))
    gain = replace(mean_gain(gains), n_groups=gains[0].n_groups) if gains else None
    return replace(parts[0], took_s=sum(part.took_s for part in parts), gain=gain, rows=rows)


def rules_of(cell: Cell) -> set[str]:
    return {row["rule"] for row in cell.rows}


def settings(corpus: str) -> dict[str, float]:
    finest_s = opened(corpus).about.finest_s
    return {"1 day": DAY_S, "resolution": finest_s} if finest_s < DAY_S else {"1 day": DAY_S}


def cells(folder: Path, said: argparse.Namespace) -> list[Cell]:
    found = []
    names = said.corpora.split(",") if said.corpora else sorted(path.parent.name for path in folders(folder))
    for name in names:
        corpus = opened(str(folder / name))
        for gaps, min_gap_s in settings(str(folder / name)).items():
            if said.gaps not in ("both", gaps):
                continue
            for goal in said.goals.split(","):
                begun = time.perf_counter()
                ask = Ask(
                    policies=tuple(said.rules.split(",")) if said.rules else RULES,
                    days=DAYS,
                    min_gap_s=min_gap_s,
                    max_gap_s=180 * DAY_S,
                    n_draws=said.draws or (N_QUICK if said.quick else N_DRAWS),
                    goal=goal,
                    predictor=said.predictor,
                )
                result = evaluate(name, corpus, ask, lambda *_: None)
                rows = [row.document() for row in result.rows]
                took_s, own = time.perf_counter() - begun, result.gains.get(aim(goal)[0])
                found.append(Cell(name, gaps, goal, result.days, took_s, own, rows))
                print(line(found[-1]), flush=True)
                if said.json:
                    written = json.dumps([cell.document() for cell in found])
                    said.json.write_text(written, encoding="utf-8")
    return found


def folders(folder: Path) -> list[Path]:
    return list(folder.glob("*/corpus.json"))


def line(cell: Cell) -> str:
    n = len(cell.rows)
    lost = f"  lost: {', '.join(cell.lost)}" if cell.lost else ""
    return (
        f"{cell.corpus:13}{cell.gaps:11}{cell.goal:8}{cell.days:6.0f} days "
        f"won {cell.n_won:2}/{n - cell.n_even:<2} {percent(cell.gain):>24}{cell.took_s:7.1f} s{lost}"
    )


def percent(gain: Gain | Interval | None) -> str:
    if gain is None:
        return "-"
    found = gain.interval() if isinstance(gain, Gain) else gain
    return f"{100 * found.value:+.1f} % [{100 * found.low:+.1f} to {100 * found.high:+.1f}]"


def summed(found: Sequence[Cell]) -> list[str]:
    lines = ["", "in the mean over corpora, budgets and gap settings, beside the floor:"]
    for goal in dict.fromkeys(cell.goal for cell in found):
        gains = [cell.gain for cell in found if cell.goal == goal and cell.gain is not None]
        if not gains:
            continue
        mean = mean_gain(gains).interval()
        reached = "reached" if mean.value >= WANTED.get(goal, 0.0) else "MISSED"
        wanted = f"{100 * WANTED.get(goal, 0.0):.0f} % wanted: {reached}"
        lines.append(f"  {goal:8}{NAMES.get(goal, 'gain'):16}{percent(mean):>26}   {wanted}")
    lines.append("rules won in all cells that are not forced:")
    for rule in RULES:
        rows = [row for cell in found for row in cell.rows if row["rule"] == rule]
        open_ = [row for row in rows if row["winner"] != "even"]
        won = sum(row["winner"] == "ours" for row in open_)
        sure = sum(row["winner"] == "ours" and row["sure"] for row in open_)
        lines.append(f"  {rule:18}{won:3} of {len(open_):<3} ({sure} surely)")
    lines.append(
        "cells not won: ours, the rule's, the floor's, the omniscient limit within the gaps (of delays,"
    )
    lines.append("that of the wait: what nobody saw counts up to the window's end)")
    for cell in found:
        name = aim(cell.goal)[0]
        for row in cell.rows:
            if row["winner"] == "rule":
                figures = [row["ours"][name], row[name], row["floor"][name], limit_of(row, name)]
                shown = "  ".join(f"{nan if value is None else value:8.4f}" for value in figures)
                doubt = "" if row["sure"] else "  (may be chance)"
                lines.append(f"  {cell.corpus:13}{cell.gaps:11}{cell.goal:8}{row['rule']:18}{shown}{doubt}")
    return lines


def limit_of(row: Mapping[str, Any], measure: str) -> float | None:
    """Of the delay there is none: who never looks has none. Changes that nobody saw wait until the end."""
    name = "wait_days_mean" if measure == "delay_days_mean" else measure
    found: float | None = row["omniscient_within_gaps"].get(name)
    return found


def tables(found: Sequence[Cell]) -> list[Table]:
    """What a setting gains over the floor, and every cell."""
    goals = list(dict.fromkeys(cell.goal for cell in found))
    settings_ = list(dict.fromkeys((cell.corpus, cell.gaps) for cell in found))
    by_setting = {
        key: {cell.goal: cell for cell in found if (cell.corpus, cell.gaps) == key} for key in settings_
    }
    gains = [
        [
            *key,
            f"{next(iter(cells_.values())).days:.0f}",
            *(percent(cells_[goal].gain if goal in cells_ else None) for goal in goals),
            f"{sum(cell.n_won for cell in cells_.values())} of "
            f"{sum(len(cell.rows) - cell.n_even for cell in cells_.values())}",
        ]
        for key, cells_ in by_setting.items()
    ]
    return [
        Table(
            caption="What ours gains over the floor, in the mean over all rules' budgets (95 % interval)",
            columns=("corpus", "gaps from", "days", *(NAMES.get(goal, goal) for goal in goals), "won"),
            rows=gains,
            n_words=2,
        ),
        *(every(list(cells_.values())) for cells_ in by_setting.values()),
    ]


def every(found: Sequence[Cell]) -> Table:
    """Every rule beside ours, in one corpus with one gap setting: four figures for each goal."""
    rules = list(dict.fromkeys(row["rule"] for cell in found for row in cell.rows))
    rows = {rule: [rule, ""] for rule in rules}
    columns = ["rule", "visits"]
    for cell in found:
        measure = aim(cell.goal)[0]
        columns += [f"{MEASURES.get(measure, measure)}: ours", "the rule's", "the floor's", "limit"]
        known = {row["rule"]: row for row in cell.rows}
        for rule in rules:
            rows[rule] += four(known[rule], measure) if rule in known else ["-"] * 4
            if rule in known:
                rows[rule][1] = count(known[rule]["visits"])
    first = found[0]
    return Table(
        caption=f"{first.corpus}, gaps from {first.gaps}, {first.days:.0f} days",
        columns=tuple(columns),
        rows=list(rows.values()),
        n_words=1,
    )


def four(row: Mapping[str, Any], measure: str) -> list[str]:
    figures = (row["ours"][measure], row[measure], row["floor"][measure], limit_of(row, measure))
    shown = ["-" if value is None else f"{value:.4g}" for value in figures]
    if row["winner"] == "even":
        return [f"{shown[0]} even", *shown[1:]]
    better = 0 if row["winner"] == "ours" else 1
    shown[better] = f"**{shown[better]}**{'' if row['sure'] else ' ?'}"
    return shown


def drawing(found: Sequence[Cell]) -> Bars:
    goals = list(dict.fromkeys(cell.goal for cell in found))
    names = list(dict.fromkeys(cell.corpus for cell in found))

    def value(name: str, goal: str) -> tuple[float, float, float]:
        own = [
            cell.gain for cell in found if (cell.corpus, cell.goal) == (name, goal) and cell.gain is not None
        ]
        if not own:
            return nan, nan, nan
        one = mean_gain(own).interval()
        return 100 * one.value, 100 * one.low, 100 * one.high

    heaps = [
        Heap(name=NAMES[goal], style=i, values=[value(n, goal) for n in names])
        for i, goal in enumerate(goals)
    ]
    return Bars(
        title="What ours gains over the floor at equal visits", y_name="percent", places=names, heaps=heaps
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+", help="of corpora, or JSON files of earlier runs")
    parser.add_argument("--quick", action="store_true", help="fewer draws")
    parser.add_argument("--draws", type=int, help="so many, whatever else is said")
    parser.add_argument("--predictor", default=DEFAULT_PREDICTOR)
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument("--rules", help="likewise; else all. Some make ten million visits at small gaps")
    parser.add_argument("--goals", default=",".join(GOALS))
    parser.add_argument("--gaps", default="both", choices=["both", "1 day", "resolution"])
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--markdown", type=Path, help="write tables there, of every cell too")
    parser.add_argument("--plot", type=Path, help="write a drawing of the gains there, as SVG")
    said = parser.parse_args()
    if all(path.is_file() for path in said.folder):
        found = read(said.folder)
        print("\n".join(map(line, found)))
    else:
        print(f"predictor {said.predictor}")
        found = [cell for folder in said.folder for cell in cells(folder, said)]
    print("\n".join(summed(found)))
    if said.markdown:
        first, *others = map(markdown, tables(found))
        said.markdown.write_text("\n\n".join([first, f"{EVERY}.", *others, ""]), encoding="utf-8")
    if said.plot:
        said.plot.write_text(bars(drawing(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
