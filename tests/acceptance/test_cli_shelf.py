"""A shelf as people use it: one setting, and everything else goes on as before."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.conftest import Cli

from recrawl.livingweb import LivingWeb


def archived(home: Path) -> set[str]:
    return {path.name.split(".", 1)[1] for path in (home / "archive").iterdir() if path.is_file()}


def test_finished_files_are_carried_to_the_shelf_and_read_from_there(
    cli: Cli, web: LivingWeb, tmp_path: Path
) -> None:
    (tmp_path / "shelf").mkdir()
    # a file is finished as soon as its process has ended
    cli = cli.having(
        RECRAWL_ARCHIVING__SHELF=f"file://{tmp_path}/shelf", RECRAWL_ARCHIVING__MAX_FILE_AGE="0.001"
    )
    url = web.urls()[0]
    cli("add", "--allow-private", url)
    cli("run", "--once")
    before = cli("show", url).stdout
    assert archived(cli.home) == {"warc.gz", "cdxj"}
    cli("run", "--once")
    assert archived(cli.home) == {"heads"}
    assert {path.name.split(".", 1)[1] for path in (tmp_path / "shelf").iterdir()} == {
        "warc.gz",
        "cdxj",
        "heads",
    }
    assert cli("show", url).stdout == before
    cli("verify")
    assert "1 of 1 files are on the shelf" in cli("doctor").stdout
    status = json.loads(cli("status", "--json").stdout)
    assert (status["archive_files"], status["archive_carried"]) == (1, 1)
    cli("export", "warc", str(tmp_path / "collection"))
    assert len(list((tmp_path / "collection").rglob("*.warc.gz"))) == 1
    cli("visit", "--allow-private", url)  # the same bytes: a revisit that refers to the shelf
    assert archived(cli.home) == {"heads", "warc.gz", "cdxj"}
    cli("verify")


def test_a_shelf_that_is_not_there_is_told_of_and_nothing_else_stops(
    cli: Cli, web: LivingWeb, tmp_path: Path
) -> None:
    cli = cli.having(
        RECRAWL_ARCHIVING__SHELF=f"file://{tmp_path}/unplugged", RECRAWL_ARCHIVING__MAX_FILE_AGE="0.001"
    )
    first, second, *_ = web.urls()
    cli("add", "--allow-private", first)
    cli("run", "--once")
    cli("add", "--allow-private", second)
    done = cli("run", "--once")
    assert done.stderr.count("The shelf cannot be used") == 1
    assert "1 visit" in done.stderr
    assert archived(cli.home) == {"warc.gz", "cdxj", "heads"}
    cli("show", first)
    cli("verify")


def test_a_key_in_the_address_is_refused(cli: Cli) -> None:
    told = cli.having(RECRAWL_ARCHIVING__SHELF="s3://key:secret@bucket")("config", code=2).stderr
    assert "leave the key out" in told
    assert "secret" not in told
    assert "no address" in cli.having(RECRAWL_ARCHIVING__SHELF="/folder")("config", code=2).stderr
