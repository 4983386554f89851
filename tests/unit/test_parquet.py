"""Typed rows in groups."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from math import nan

import pyarrow.parquet as pq
import pytest

from recrawl.app import parquet
from recrawl.app.export import COLUMNS
from recrawl.app.rows import resource_row, version_row, visit_row
from recrawl.errors import BadInputError
from recrawl.model import Changed, Effective, Manner, Outcome, Resource, Standing, Version, Visit

AT = 1_700_000_000.123456
FULL = Manner(
    render=True,
    insecure=True,
    max_bytes=1 << 40,
    page_rows=5,
    user_agent="x/1",
    include=("main",),
    ignore=("nav", "footer"),
    keys=("id",),
    main=True,
    mask=False,
)


def test_millions_of_rows_are_written_in_groups_and_come_back_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet, "N_GROUP", 100)
    visits = [
        Visit(
            fetch_id=str(n),
            resource_id=1,
            at=AT + n,
            outcome=Outcome.OK,
            changed=Changed(n % 3 - 1),
            status=None if n % 2 else 200,
            n_bytes=1 << 40,
            moments=(AT - 9.5, AT + n) if n % 5 == 0 else (),
        )
        for n in range(250)
    ]
    rows = [visit_row(visit, "http://a/ü", instant=parquet.moment) for visit in visits]
    out = io.BytesIO()
    assert parquet.write(iter(rows), out, COLUMNS["visits"]) == 250
    file = pq.ParquetFile(io.BytesIO(out.getvalue()))
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [100, 100, 50]
    assert file.read().to_pylist() == rows
    assert rows[0]["at"] == datetime(2023, 11, 14, 22, 13, 20, 123456, UTC)
    assert rows[0]["since_at"] is None
    assert [at.second for at in rows[0]["moments"]] == [10, 20]
    assert visit_row(visits[0], "")["moments"] == ["2023-11-14T22:13:10Z", "2023-11-14T22:13:20Z"]


def test_every_column_has_a_type_that_holds_its_values() -> None:
    manner = Effective(manner=FULL)
    resource = Resource(id=1, url="u", host_id=1, host="h", added_at=AT, effective=manner, tags=("a", "b"))
    version = Version(resource_id=1, seq=1, at=AT, digest="d", status=200, charset="utf-8", n_bytes=9)
    samples = {
        "resources": resource_row(resource, Standing(), None, instant=parquet.moment),
        "versions": version_row(version, "u", instant=parquet.moment),
        "visits": visit_row(
            Visit(fetch_id="f", resource_id=1, at=AT, significant=True, moved_to="v"),
            "u",
            instant=parquet.moment,
        ),
    }
    for what, row in samples.items():
        out = io.BytesIO()
        parquet.write([row], out, COLUMNS[what])
        assert pq.read_table(io.BytesIO(out.getvalue())).to_pylist() == [row]


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    with pytest.raises(BadInputError, match=r"recrawl\[parquet\]"):
        parquet.require()


def test_what_is_not_known_is_null() -> None:
    assert parquet.moment(nan) is None
    assert parquet.moment(float("inf")) is None
