"""The default forecast beside the floor at every rule's budget, in parts of what was measured.

    python bench/halves.py FOLDER                            all corpora, both gap settings, three goals
    python bench/halves.py FOLDER --goals capture --corpora terms,wiki --draws 1 --json figures.json
    python bench/halves.py FOLDER --corpora boards --rules week --json week.json     one rule of many
    python bench/halves.py week.json figures.json            runs that were made before, all together
    python bench/halves.py FOLDER --span later               only windows in the later half of each corpus

Budgets are those of the rules, gaps those of `bench/peers.py`: from a day on, and from the resolution on.
Policy `index` runs over all resources in the whole window, and so does the floor; what both do is then
measured in parts: on two folds of groups, and in the two halves of the window. In every part ours has as
many visits as the floor has there. A corpus's gain is the mean over its budgets and gap settings; corpora
count alike. Intervals resample groups of resources and draws.

In the later half of a window everybody has learned in the first. With `--span` windows lie in one half of the
corpus's time, and everybody begins to learn with each of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from recrawl.corpora.half import HALVES, Half
from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.candidates import WHOLE, Candidate
from recrawl.evaluate.folds import SPLITS
from recrawl.evaluate.gains import Gain, gain_of, mean_gain
from recrawl.evaluate.peers import RULES
from recrawl.evaluate.trials import tried
from recrawl.model import DAY_S

DAYS = 3 * 365.0
KEY = ("corpus", "gaps", "goal", "rule", "split")
Found = dict[tuple[str, str, str, str, str], Gain]  # by these


def settings(corpus: str) -> dict[str, float]:
    finest_s = opened(corpus).about.finest_s
    return {"1 day": DAY_S, "resolution": finest_s} if finest_s < DAY_S else {"1 day": DAY_S}


def measured(folder: Path, said: argparse.Namespace) -> Found:
    found: Found = {}
    names = (path.parent.name for path in folder.glob("*/corpus.json"))
    for name in said.corpora.split(",") if said.corpora else sorted(names):
        whole = opened(str(folder / name))
        corpus = Half(whole, said.span) if said.span in HALVES else whole
        for gaps, min_gap_s in settings(str(folder / name)).items():
            if said.gaps not in ("both", gaps):
                continue
            begun, none = time.perf_counter(), []
            ask = Ask(
                policies=RULES,
                days=DAYS,
                min_gap_s=min_gap_s,
                max_gap_s=180 * DAY_S,
                n_draws=said.draws,
                n_at_once=50_000,
            )
            for rule in said.rules.split(",") if said.rules else RULES:
                asked = replace(ask, policies=(rule,))
                made = tried(name, corpus, asked, said.goals.split(","), nothing, (Candidate(WHOLE),))
                for trial in made:
                    for split, one in trial.gains[WHOLE].items():
                        found[name, gaps, trial.goal, rule, split] = one
                if not made:
                    none.append(rule)
            took = f"{name:13}{gaps:11}{time.perf_counter() - begun:7.1f} s"
            print(f"{took}{'  no choice left: ' + ', '.join(none) if none else ''}", flush=True)
            for goal in said.goals.split(","):
                print(f"  {goal:8}" + shown(found, (name,), goal, gaps), flush=True)
            if said.json:
                said.json.write_text(json.dumps(documents(found)), encoding="utf-8")
    return found


def nothing(_share: float, _what: str) -> None:
    pass


def mean(found: Found, corpora: Sequence[str], goal: str, split: str, gaps: str = "") -> Gain | None:
    """Over the budgets and the gaps of a corpus, and then over corpora."""
    of = [
        [
            one
            for (corpus, other, aim, _, part), one in found.items()
            if (corpus, aim, part) == (name, goal, split) and gaps in ("", other) and isfinite(one.value)
        ]
        for name in corpora
    ]
    kept = [mean_gain(gains) for gains in of if gains]
    return mean_gain(kept) if kept else None


def shown(found: Found, corpora: Sequence[str], goal: str, gaps: str = "") -> str:
    words = []
    for split in SPLITS:
        one = mean(found, corpora, goal, split, gaps)
        if one is not None:
            part = one.interval()
            words.append(f"{split} {100 * part.value:+.1f} [{100 * part.low:+.1f} to {100 * part.high:+.1f}]")
    return ", ".join(words)


def documents(found: Found) -> list[dict[str, Any]]:
    return [{**dict(zip(KEY, key, strict=True)), "gain": one.document()} for key, one in found.items()]


def read(paths: Sequence[Path]) -> Found:
    """What was measured twice counts as it was measured last."""
    rows = [row for path in paths for row in json.loads(path.read_text(encoding="utf-8"))]
    return {tuple(row[name] for name in KEY): gain_of(row["gain"]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+", help="of corpora, or JSON files of earlier runs")
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument("--rules", help="likewise; else all. Some make ten million visits at small gaps")
    parser.add_argument("--goals", default="fresh,prompt,capture")
    parser.add_argument("--gaps", default="both", choices=["both", "1 day", "resolution"])
    parser.add_argument("--span", default="whole", choices=["whole", *HALVES])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write all figures there")
    said = parser.parse_args()
    if all(path.is_file() for path in said.folder):
        found = read(said.folder)
        for name, gaps in dict.fromkeys((key[0], key[1]) for key in found):
            for goal in said.goals.split(","):
                print(f"{name:13}{gaps:11}{goal:8}{shown(found, (name,), goal, gaps)}")
    else:
        found = {key: one for folder in said.folder for key, one in measured(folder, said).items()}
    corpora = list(dict.fromkeys(key[0] for key in found))
    print("\nin the mean over corpora, budgets and gap settings, beside the floor, in percent:")
    for goal in said.goals.split(","):
        print(f"  {goal:8}" + shown(found, corpora, goal))


if __name__ == "__main__":
    main()
