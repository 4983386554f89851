"""An import that is killed in the middle goes on, and its corpus is there whole or not at all."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.corpora import History, histories, plainly
from tests.faults.counts import n_times

from recrawl.corpora.about import FILE
from recrawl.corpora.native import Corpus

N_KILLS = n_times(20, 2)
N_ROWS = 60_000
DRIVER = """
import sys
from pathlib import Path
from recrawl.app.corpora import run_import
from recrawl.corpora import run
run.SAVE_S = 0.01
done = run_import("csv", sys.argv[1], Path(sys.argv[2]), {})
print("went on" if done.went_on else "in one go")
"""


@pytest.mark.slow
@pytest.mark.timeout(120 + 30 * N_KILLS)
def test_an_import_that_is_killed_again_and_again_comes_to_the_same_end(tmp_path: Path) -> None:
    chance = random.Random(7)
    rows = [
        (f"https://{chance.randrange(40)}.org/{chance.randrange(60)}", n // 3, str(chance.randrange(9)))
        for n in range(N_ROWS)
    ]
    chance.shuffle(rows)
    wanted = plainly(rows)
    source, folder = tmp_path / "rows.csv", tmp_path / "c"
    source.write_text("url,time,digest\n" + "".join(f"{url},{at},{digest}\n" for url, at, digest in rows))
    command = [sys.executable, "-c", DRIVER, str(source), str(folder)]
    state = tmp_path / "c.unfinished" / "state.json"
    n_killed = 0
    while n_killed < N_KILLS:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        n_saved, before = 0, None
        enough = chance.randrange(2, 5)
        while process.poll() is None and n_saved < enough:
            now = modified_ns(state)
            n_saved, before = n_saved + (now != before), now
            time.sleep(0.0005)
        time.sleep(chance.uniform(0.0, 0.1))  # into reading, sorting or writing
        process.send_signal(signal.SIGKILL)
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
        n_killed += state.exists()  # else all was done
        assert folder.exists() or code != 0
        if folder.exists():  # it had come to its end
            assert whole(folder) == (N_ROWS, wanted)
            shutil.rmtree(folder)
            shutil.rmtree(state.parent, ignore_errors=True)
    begun = state.exists() and "sizes" in state.read_text()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ("went on\n" if begun else "in one go\n")
    assert whole(folder) == (N_ROWS, wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "rows.csv"]


def whole(folder: Path) -> tuple[int, dict[str, History]]:
    """How many rows it was made of, and what they amount to."""
    about = json.loads((folder / FILE).read_bytes())
    n_rows = about["events"] + sum(about["skipped"].values())
    return n_rows, histories(Corpus(folder, strict=True).traces())


def modified_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None
