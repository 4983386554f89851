"""Who is alive, and whose leases are ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recrawl.app.presence import Presence

HOLD = "import sys, pathlib; from recrawl.app.presence import Presence; "
HOLD += "p = Presence(pathlib.Path(sys.argv[1])); print(p.name, flush=True); sys.stdin.read()"


def test_the_living_are_left_alone_and_the_killed_are_found(tmp_path: Path) -> None:
    ours = Presence(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        name = other.stdout.readline().strip()
        assert ours.dead() == []
        other.kill()
        other.wait()
        assert ours.dead() == [name]
    ours.buried([name])
    assert ours.dead() == []
    ours.close()
    assert list(tmp_path.iterdir()) == []
