"""An import that is killed in the middle goes on, and its corpus is there whole or not at all."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.corpora import histories, plainly
from tests.faults.counts import n_times

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
    source, folder = tmp_path / "rows.csv", tmp_path / "c"
    source.write_text("url,time,digest\n" + "".join(f"{url},{at},{digest}\n" for url, at, digest in rows))
    command = [sys.executable, "-c", DRIVER, str(source), str(folder)]
    state = tmp_path / "c.unfinished" / "state.json"
    n_killed = 0
    for _ in range(N_KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        n_saved, before = 0, None
        enough = chance.randrange(2, 12)
        while process.poll() is None and n_saved < enough:
            now = state.stat().st_mtime_ns if state.exists() else None
            n_saved, before = n_saved + (now != before), now
            time.sleep(0.0005)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        n_killed += process.wait() == -signal.SIGKILL
        assert not folder.exists()
    assert n_killed == N_KILLS
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "went on\n"
    assert histories(Corpus(folder, strict=True).traces()) == plainly(rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "rows.csv"]
