"""`recrawl serve` and `recrawl token` as real processes, while others visit."""

from __future__ import annotations

import json
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.acceptance.conftest import Cli


def answered(url: str, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        with problem:
            return problem.code, problem.read().decode()


def test_the_face_shows_what_is_watched_and_visited(cli: Cli, urls: list[str]) -> None:
    served = cli.started("serve", "--json", "--port", "0")
    try:
        assert served.stdout is not None
        said = json.loads("".join(served.stdout.readline() for _ in range(4)))
        base, token = said["url"].rstrip("/"), said["token"]
        assert base.startswith("http://127.0.0.1:")
        assert answered(f"{base}/")[0] == 401
        assert answered(f"{base}/", token)[0] == 200
        assert json.loads(answered(f"{base}/api/v1/status", token)[1])["resources"] == 0
        cli("add", "--allow-private", *urls)
        cli("visit", urls[0])
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            status, page = answered(f"{base}/resources", token)
            assert status == 200
            if all(url in page for url in urls):
                break  # the list of a server that has just begun may come after its page
            time.sleep(0.5)
        assert all(url in page for url in urls)
        lasting = cli("token", "add", "laptop", "--read", "--json").stdout
        reader = json.loads(lasting)["token"]
        assert answered(f"{base}/api/v1/status", reader)[0] == 200
        cli("token", "remove", "laptop")
        assert answered(f"{base}/api/v1/status", reader)[0] == 401
        port = base.rpartition(":")[2]
        assert "choose another --host or --port" in cli("serve", "--port", port, code=2).stderr
    finally:
        served.send_signal(signal.SIGTERM)
        _, told = served.communicate(timeout=60)
    assert served.returncode == 0, told
    assert "Traceback" not in told


def test_with_run_it_visits_too_and_both_end_together(cli: Cli, urls: list[str]) -> None:
    cli("add", "--allow-private", *urls)
    served = cli.started("serve", "--json", "--port", "0", "--run")
    try:
        assert served.stdout is not None
        said = json.loads("".join(served.stdout.readline() for _ in range(4)))
        where = f"{said['url']}api/v1/status"
        until = time.monotonic() + 60.0
        while json.loads(answered(where, said["token"])[1])["visits"] < 3:
            assert time.monotonic() < until
            time.sleep(0.2)
    finally:
        served.send_signal(signal.SIGINT)
        _, told = served.communicate(timeout=90)
    assert served.returncode == 0, told
    assert "Traceback" not in told
    assert not list((cli.home / "running").iterdir())  # nobody visits any more


def test_tokens_are_shown_once(cli: Cli) -> None:
    assert "recrawl token add" in cli("token", "list").stderr
    secret = cli("token", "add", "laptop").stdout.strip()
    assert secret.startswith("rc_")
    feed = json.loads(cli("token", "add", "reader", "--feed", "--json").stdout)
    assert feed["may"] == "feed"
    listed = cli("token", "list").stdout
    assert listed.splitlines()[0].split("\t")[:2] == ["laptop", "write"]
    assert secret not in listed
    assert [json.loads(line)["name"] for line in cli("token", "list", "--json").stdout.splitlines()] == [
        "laptop",
        "reader",
    ]
    assert "remove it first" in cli("token", "add", "laptop", code=2).stderr
    assert "--read or --feed" in cli("token", "add", "x", "--read", "--feed", code=2).stderr
    assert "another" in cli("token", "add", "start", code=2).stderr
    assert "recrawl token list" in cli("token", "remove", "nobody", code=2).stderr
    (cli.home / "tokens.json").chmod(0o644)
    assert "chmod 600" in cli("token", "list", code=2).stderr


def test_without_the_extra_it_says_what_to_install(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError('not there', name='fastapi')\n")
    without = cli.having(PYTHONPATH=str(tmp_path))
    assert "pip install 'recrawl[web]'" in without("serve", code=2).stderr
