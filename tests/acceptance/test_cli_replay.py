"""`recrawl replay` as a real process, while others write."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from tests.acceptance.conftest import Cli

from recrawl.livingweb import LivingWeb


def opened(url: str) -> tuple[int, str, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310  # our own server
            return answer.status, answer.url, answer.read()
    except urllib.error.HTTPError as problem:
        with problem:
            return problem.code, url, problem.read()


def test_the_past_is_served_while_it_grows(cli: Cli, web: LivingWeb, urls: list[str]) -> None:
    page, table, _ = urls
    cli("add", "--allow-private", page, table)
    cli("visit", page)
    served = cli.started("replay", "--json")
    try:
        assert served.stdout is not None
        where = json.loads("".join(served.stdout.readline() for _ in range(3)))["url"]
        status, memento, body = opened(f"{where}timegate/{page}")
        assert (status, memento.startswith(f"{where}memento/20")) == (200, True)
        assert b"<title>" in body
        assert opened(f"{where}timegate/{table}")[0] == 404
        cli("visit", table)
        status, _, body = opened(f"{where}timegate/{table}")
        assert status == 200
        assert body.replace(b"\r\n", b"\n") == cli("show", table).stdout.encode()
        assert table in opened(where)[2].decode()
    finally:
        served.send_signal(signal.SIGINT)
        _, said = served.communicate(timeout=60)
    assert served.returncode == 0, said
    assert "Traceback" not in said


def test_nothing_is_served_where_nothing_is_kept_and_bad_addresses_are_told(
    cli: Cli, urls: list[str]
) -> None:
    assert "recrawl add" in cli("replay", code=1).stderr
    assert not cli.home.exists()
    cli("add", "--allow-private", urls[0])
    assert "cannot be listened on" in cli("replay", "--host", "192.0.2.1", code=2).stderr
    assert "not an origin" in cli("replay", "--origin", "https://a.example/b", code=2).stderr


def test_a_collection_is_taken_along_in_one_file(cli: Cli, urls: list[str], tmp_path: Path) -> None:
    page, table, _ = urls
    cli("add", "--allow-private", "--tag", "law", page)
    cli("add", "--allow-private", table)
    cli("visit", page)
    cli("visit", table)
    counted = json.loads(cli("export", "wacz", str(tmp_path / "all.wacz"), "--json").stdout)
    assert (counted["files"], counted["records"], counted["pages"]) == (1, 2, 2)
    cli("export", "wacz", str(tmp_path / "law.wacz"), "--tag", "law", "--since", "2020")
    with zipfile.ZipFile(tmp_path / "law.wacz") as package:
        pages = package.read("pages/pages.jsonl").decode()
    assert page in pages
    assert table not in pages
    cli("export", "warc", str(tmp_path / "law"), "--url", page)
    assert (tmp_path / "law" / "index.cdxj").read_text().count("\n") == 1
    for words, said in (
        (("wacz",), "recrawl export wacz all.wacz"),
        (("wacz", str(tmp_path)), "is a folder"),
        (("wacz", str(tmp_path / "no" / "x.wacz")), "no folder"),
        (("wacz", str(tmp_path / "x.wacz"), "--tag", "none"), "Nothing is kept"),
        (("wacz", str(tmp_path / "x.wacz"), "--since", "2027", "--until", "2026"), "Nothing lies between"),
        (("visits", "--tag", "law"), "use them with warc or wacz"),
    ):
        assert said in cli("export", *words, code=2).stderr
    assert not (tmp_path / "x.wacz").exists()
