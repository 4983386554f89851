"""What is kept, shown as it was at a moment; and rows taken along in every format."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.acceptance.conftest import Cli
from tests.commands import COMMAND, Forked
from tests.foreign import URL, answer, day, page, stamp, warc

MON, TUE, CUT = page("Monday"), page("Tuesday"), page("cut")
DATA = "http://example.org/data"
RAW = random.Random(5).randbytes(3 << 20)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Versions on day 0 and 6, gone from day 4 on, evidence on day 2."""
    tmp_path = tmp_path_factory.mktemp("past")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RECRAWL_")}
    cli = Cli(tmp_path / "home", {**inherited, "RECRAWL_HOME": str(tmp_path / "home")})
    raw = (("Content-Type", "application/octet-stream"),)
    path = warc(
        tmp_path / "old.warc",
        answer(day(0), MON),
        answer(day(2), CUT, fields={"WARC-Truncated": "length"}),
        answer(day(4), b"no", status="404 Not Found"),
        answer(day(6), TUE),
        answer(day(0), RAW, url=DATA, headers=raw),
    )
    cli("import", str(path), "--add", "--match", "*")
    return cli


def shown(cli: Cli, *args: str) -> tuple[int, bytes, str]:
    pipe = subprocess.PIPE
    process: Forked[bytes] = Forked([*COMMAND, "show", *args], env=cli.env, stdout=pipe, stderr=pipe)
    with process:
        body, talk = process.communicate(timeout=60)
    return process.returncode, body, talk.decode()


def test_every_moment_has_its_version_or_says_why_not(past: Cli) -> None:
    def at(n: float) -> tuple[int, bytes, str]:
        return shown(past, URL, "--at", stamp(day(n)))

    code, body, talk = at(-1)
    assert (code, body) == (1, b"")
    assert "no copy as early as" in talk
    assert at(0) == (0, MON, "")  # the very second
    assert at(3) == (0, MON, "")  # evidence is no version
    code, body, talk = at(5)
    assert (code, body) == (1, b"")
    assert "it was gone (2020-09-17" in talk
    assert at(6) == shown(past, URL) == (0, TUE, "")


def test_versions_and_evidence_are_named_by_number_or_asked_for(past: Cli) -> None:
    code, body, talk = shown(past, URL, "--at", "v2")
    assert (code, body) == (0, CUT)
    assert "evidence only (length)" in talk
    assert shown(past, URL, "--at", stamp(day(3)), "--evidence")[1] == CUT
    assert shown(past, URL, "--at", "v3")[0] == 1  # the tombstone
    assert "the newest are: v1, v3, v4" in shown(past, URL, "--at", "v9")[2]
    document = json.loads(shown(past, URL, "--at", "v2", "--json")[1])
    assert (document["flag"], document["seq"], "text" in document) == ("length", 2, True)


def test_large_bytes_go_through_a_pipe_as_they_are(past: Cli) -> None:
    assert shown(past, DATA) == (0, RAW, "")
    assert "no text" in shown(past, DATA, "--text")[2]
    script = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read(10))"
    show = subprocess.Popen(
        [*COMMAND, "show", DATA], env=past.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    head = subprocess.run([sys.executable, "-c", script], stdin=show.stdout, capture_output=True, check=True)
    assert show.stdout is not None
    show.stdout.close()  # whoever read it has had enough
    _, talk = show.communicate(timeout=60)
    assert head.stdout == RAW[:10]
    assert b"Traceback" not in talk


def test_rows_come_along_in_every_format_with_the_same_values(past: Cli, tmp_path: Path) -> None:
    for what in ("visits", "versions", "resources"):
        rows = json.loads(past("export", what, "--format", "json").stdout)
        path = tmp_path / f"{what}.parquet"
        past("export", what, str(path))
        typed = pq.read_table(path).to_pylist()
        assert [{name: _told(value) for name, value in row.items()} for row in typed] == rows
    lines = past("export", "resources", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    schema = pq.read_schema(tmp_path / "visits.parquet")
    assert [str(schema.field(name).type) for name in ("at", "changed", "status", "magnitude")] == [
        "timestamp[us, tz=UTC]", "bool", "int64", "double",
    ]  # fmt: skip


def _told(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    return value


def test_a_table_without_rows_has_its_columns_and_a_document_is_a_list(cli: Cli, tmp_path: Path) -> None:
    assert cli("export", "visits", "--format", "json").stdout == "[]\n"
    cli("export", "visits", str(tmp_path / "none"), "--format", "parquet")
    table = pq.read_table(tmp_path / "none")
    assert (table.num_rows, table.column_names[:2]) == (0, ["url", "at"])
