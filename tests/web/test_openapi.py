"""The API does what its description says, whatever is sent."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.web.conftest import Served

from recrawl.web.face.api import values


def test_the_description_is_whole(year: Served) -> None:
    with year.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            assert about.get("summary"), (method, path)
            assert "401" in about["responses"], (method, path)
            assert "error" in str(document["components"]["schemas"]["Problem"])
    assert document["security"] == [{"token": []}]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_that_is_sent_breaks_it(year_copy: Served, tmp_path: Path) -> None:
    """Schemathesis as anybody would run it, with all its checks; then once more with what there is, since
    most of what it makes up is not watched."""
    watched = tmp_path / "schemathesis.toml"
    watched.write_text('[parameters]\n"path.number" = 7\n"path.seq" = 1\n"path.name" = "market.example"\n')
    for some in (
        ["run", "-n", "2"],
        ["--config-file", str(watched), "run", "-n", "2", "--phases", "fuzzing"],
    ):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", *some, f"{year_copy.base}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {year_copy.token}"),
                *("--generation-deterministic", "--no-color"),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr


@pytest.mark.parametrize(
    ("spelt", "fits", "not_"),
    [
        (values.Span, ("6h", "2 days", "0.5h", "90"), ("", "0h", "1e9s", "6 months", "99999 days", "6h\n")),
        (
            values.Budget,
            ("2000/day", "50/h", "2GB/day", "9/day, 1.5MB/h"),
            ("0/day", "9/day,9/day", "-1/day"),
        ),
        (values.Budgets, ("500,1000,2000/day", "5"), (",", "5,,5", "5/day,5/day")),
        (values.Share, ("95%", "0.95"), ("100%", "0%", "1", "0.0")),
        (values.Every, ("1m", "31 days", "23h"), ("59s", "32d", "0m")),
        (values.Clock, ("8", "23:59"), ("24:00", "8:60", "08:00:00")),
        (values.Words, ("news", "sold out", "Büro", "天気"), ("", " ", "a\nb", "a\u202eb", "\u00a0")),
        (values.Policies, ("index", "week, nutch"), ("", "index,", "best")),
    ],
)
def test_values_are_described_as_they_are_taken(
    spelt: Any, fits: tuple[str, ...], not_: tuple[str, ...]
) -> None:
    taken: TypeAdapter[str] = TypeAdapter(spelt)
    described = re.compile(taken.json_schema()["pattern"])
    for text in fits:
        assert taken.validate_python(text) == text
        assert described.search(text)
    for text in not_:
        with pytest.raises(ValidationError):
            taken.validate_python(text)


def test_a_pattern_costs_no_more_than_its_text() -> None:
    for spelt in (values.Span, values.Budget, values.Budgets, values.Words, values.Policies):
        pattern = re.compile(TypeAdapter(spelt).json_schema()["pattern"])
        for bait in (" " * 20_000 + "\n", "9" * 20_000, "9, " * 7_000, "index, " * 3_000):
            begun = time.perf_counter()
            pattern.search(bait)
            assert time.perf_counter() - begun < 0.5
