"""Which forecast to go by: parts of the default one left out, chosen on some data and tried on other.

    python bench/choosing.py FOLDER                      all corpora of a folder, three goals
    python bench/choosing.py FOLDER --corpora wiki,terms --draws 1
    python bench/choosing.py FOLDER --json figures.json --markdown tables.md --plot parts.svg
    python bench/choosing.py one.json two.json --markdown tables.md     tables of runs that were made before
    python bench/choosing.py FOLDER --span earlier --json earlier.json     windows in one half of the time
    python bench/choosing.py earlier.json --try later.json                 chosen on one run, tried on another

Every candidate runs policy `index` over all resources beside the plain floor, which makes as many visits as
rule `dyn`. What is measured is split: by group (hosts; where there are fewer than ten, batches that change
together, or single resources) in two folds, and in the window's two halves. In every split a candidate has as
many visits as the floor. It is chosen where it has the best mean gain over the floor and tried where it was
not chosen: on the other fold, in the later half, on the corpus that was left out. Intervals resample groups
of resources and draws. What is written is written anew after every corpus. With `--span` windows lie in one
half of each corpus's time, and everybody begins to learn with each of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from recrawl.corpora.half import HALVES, Half
from recrawl.corpora.opened import opened
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.choices import WANTED
from recrawl.evaluate.report.bars import bars
from recrawl.evaluate.report.choosing import LEGEND, documents, drawing, elsewhere, markdown, plain, tables
from recrawl.evaluate.trials import RULE, Trial, trial_of, tried
from recrawl.model import DAY_S

N_DRAWS = 2
DAYS = 3 * 365.0


def trials(folder: Path, said: argparse.Namespace) -> list[Trial]:
    names = (
        said.corpora.split(",")
        if said.corpora
        else sorted(path.parent.name for path in folder.glob("*/corpus.json"))
    )
    found: list[Trial] = []
    for name in names:
        whole = opened(str(folder / name))
        corpus = Half(whole, said.span) if said.span in HALVES else whole
        begun = time.perf_counter()
        least_s = corpus.about.resolution_s if said.gaps == "resolution" else DAY_S  # or what the steps allow
        ask = Ask(
            policies=(said.rule,),
            days=said.days,
            min_gap_s=least_s,
            max_gap_s=180 * DAY_S,
            n_draws=said.draws,
            seed=said.seed,
            n_cores=said.cores,
            n_at_once=said.most,
        )
        new = tried(name, corpus, ask, said.goals.split(","), tell)
        took_s = time.perf_counter() - begun
        print(f"{name:13}{took_s:7.1f} s{'' if new else ': the gap bounds leave no choice'}", flush=True)
        for note in dict.fromkeys(note for trial in new for note in trial.notes):
            print(f"  {note}", flush=True)
        found += new
        if new:
            write(found, said)
    return found


def read(path: Path) -> list[Trial]:
    return [trial_of(document) for document in json.loads(path.read_text(encoding="utf-8"))["trials"]]


def tell(share: float, what: str) -> None:
    print(f"{share:4.0%} {what:60}", end="\r", file=sys.stderr, flush=True)


def write(found: Sequence[Trial], said: argparse.Namespace) -> None:
    if said.json:
        said.json.write_text(json.dumps(documents(found)), encoding="utf-8")
    if said.markdown:
        said.markdown.write_text("\n\n".join([*map(markdown, tables(found)), *LEGEND, ""]), encoding="utf-8")
    if said.plot:
        said.plot.write_text(bars(drawing(found)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+", help="of corpora, or JSON files of earlier runs")
    parser.add_argument("--corpora", help="names with commas between them; else all in the folder")
    parser.add_argument("--goals", default=",".join(WANTED))
    parser.add_argument("--gaps", default="1 day", choices=["1 day", "resolution"], help="the smallest gap")
    parser.add_argument("--rule", default=RULE, help="whose number of visits all make")
    parser.add_argument("--days", type=float, default=DAYS, help="of the windows, at most")
    parser.add_argument("--span", default="whole", choices=["whole", *HALVES], help="of the corpora's time")
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=50_000, help="resources of a corpus; more are sampled")
    parser.add_argument("--cores", type=int, help="draws at a time; else as many as there are cores")
    parser.add_argument("--try", type=Path, dest="other", help="figures of another run, to try choices on")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--markdown", type=Path, help="write the tables there")
    parser.add_argument("--plot", type=Path, help="write a drawing there, as SVG")
    said = parser.parse_args()
    if all(path.is_file() for path in said.folder):
        found = [trial for path in said.folder for trial in read(path)]
        if said.corpora:
            found = [trial for trial in found if trial.corpus in said.corpora.split(",")]
        write(found, said)
    elif len(said.folder) > 1:
        sys.exit("Name one folder of corpora, or files of earlier runs.")
    else:
        found = trials(said.folder[0], said)
    if said.other:
        print(plain(elsewhere(found, read(said.other))))
        return
    if not found:
        sys.exit("Nothing was measured; name a folder of corpora whose gap bounds leave a choice.")
    print("\n\n".join(["", *map(plain, tables(found)), *LEGEND]))


if __name__ == "__main__":
    main()
