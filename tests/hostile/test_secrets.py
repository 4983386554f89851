"""Secrets reach the server they are for, and nothing else: no other host, no file, no output (S10)."""

from __future__ import annotations

import gzip
import os
import stat
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.model import Fetch, Outcome, Request, Version
from recrawl.remember.warc import WarcArchive

CANARIES = {
    kind: f"canary{kind}7f3a"
    for kind in ("header", "cookie", "password", "bearer", "proxy", "login", "hook", "signing", "service")
}
PAGE = b"<html><title>Members</title><p>Only for members.</p></html>"
# What a secret may look like on its way: as it is, or as part of a login.
DISGUISES = [
    *(value.encode() for value in CANARIES.values()),
    b64encode(f"ada:{CANARIES['password']}".encode()),
    b64encode(f"ada:{CANARIES['proxy']}".encode()),
]


@dataclass
class Door:
    """A server that notes what each host was asked with; it is a proxy too, which lets nobody through TLS."""

    port: int = 0
    page: bytes = PAGE
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)  # host, request line, headers

    def url(self, label: str, scheme: str = "http") -> str:
        return f"{scheme}://{label}.localhost:{self.port}/"

    def pages(self, label: str) -> list[dict[str, str]]:
        return [h for host, line, h in self.asked if host == label and "/robots.txt" not in line]


@pytest.fixture
def door() -> Iterator[Door]:
    here = Door()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            label = (self.headers["Host"] or "").partition(".")[0]
            here.asked.append((label, self.requestline, dict(self.headers.items())))
            if self.path.endswith("/robots.txt"):
                self.answer(404)
            elif label == "leaves":
                self.answer(302, Location=here.url("stranger"))
            elif label == "moves":
                self.answer(301, Location=here.url("stranger"))
            elif label == "refuses":
                self.answer(401, **{"WWW-Authenticate": "Bearer"})
            else:
                self.answer(200)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            here.asked.append(("told", self.requestline, dict(self.headers.items())))
            self.answer(500)

        def do_CONNECT(self) -> None:
            here.asked.append(("tunnel", self.requestline, dict(self.headers.items())))
            self.answer(407, **{"Proxy-Authenticate": "Basic"})

        def answer(self, status: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(here.page)))
            self.end_headers()
            self.wfile.write(here.page)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here.port = server.server_port
        Thread(target=server.serve_forever, daemon=True).start()
        yield here
        server.shutdown()


@dataclass
class Cli:
    """Every command in this process, with all that any of them printed."""

    home: Path
    printed: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __call__(self, *args: str, text: str = "", code: int | None = 0) -> str:
        done = CliRunner().invoke(app, ["--home", str(self.home), *args], input=text)
        self.printed += [done.output, repr(done.exception)]
        self.used.add(args[0])
        assert code is None or done.exit_code == code, (args, done.exit_code, done.output)
        return done.stdout


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in [name for name in os.environ if name.startswith("RECRAWL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RECRAWL_FETCHING__MIN_DELAY", "0.01")
    return Cli(tmp_path / "home")


def traces(folder: Path) -> set[str]:
    """The files in which a secret can be read, compressed or not."""
    return {
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(mark in _plain(path) for mark in DISGUISES)
    }


def _plain(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def kept(cli: Cli, door: Door) -> dict[str, str]:
    """Resources behind doors of every kind, by label, with their secrets kept."""
    labels = ("header", "login", "password", "bearer", "proxied", "leaves", "moves", "refuses", "nobody")
    urls = {label: door.url(label) for label in labels}
    urls |= {"tunnel": door.url("tunnel", "https"), "plain": door.url("plain", "https")}
    cli("add", *urls.values(), "--allow-private", "--tag", "members", "--min-gap", "1s")
    header, cookie = CANARIES["header"], CANARIES["cookie"]
    proxy = f"http://ada:{CANARIES['proxy']}@127.0.0.1:{door.port}\n"
    given = ("--header", "X-Api-Key", "--cookie", "session", "--stdin")
    cli("access", "set", urls["header"], *given, text=f"{header}\n{cookie}\n")
    cli("access", "set", urls["password"], "--basic", "ada", "--stdin", text=f"{CANARIES['password']}\n")
    host = f"bearer.localhost:{door.port}"
    cli("access", "set", "--host", host, "--bearer", "--stdin", text=f"{CANARIES['bearer']}\n")
    login = ("--header", "Authorization", "--stdin")
    cli("access", "set", urls["login"], *login, text=f"Token {CANARIES['login']}\n")
    for label in ("proxied", "tunnel"):
        cli("access", "set", urls[label], "--proxy", "--stdin", text=proxy)
    closed = f"http://ada:{CANARIES['proxy']}@127.0.0.1:1\n"
    cli("access", "set", urls["nobody"], "--proxy", "--stdin", text=closed)
    for label in ("leaves", "moves", "refuses", "plain"):
        everything = f"{header}\n{cookie}\n{CANARIES['bearer']}\n"
        cli("access", "set", urls[label], *given, "--bearer", text=everything)
    return urls


def noticed(cli: Cli, door: Door) -> None:
    """Whoever is told, at addresses that carry keys; one cannot be reached, the others refuse everything."""
    hook = f"http://ada:{CANARIES['hook']}@127.0.0.1:{door.port}/{CANARIES['hook']}?key={CANARIES['hook']}"
    service = f"json://ada:{CANARIES['service']}@127.0.0.1:{door.port}/{CANARIES['service']}"
    given = ("--allow-private", "--stdin")
    cli("notify", "add", "hook", "--sign", *given, text=f"{hook}\n{CANARIES['signing']}-and-longer\n")
    cli("notify", "add", "service", *given, text=f"{service}\n")
    cli("notify", "add", "closed", *given, text=f"http://127.0.0.1:1/{CANARIES['hook']}\n")
    cli("notify", "add", "unnamed", *given, text=f"http://[::1/{CANARIES['hook']}\n", code=2)
    cli("notify", "add", "unknown", *given, text=f"nothing://{CANARIES['service']}\n", code=2)
    for name in ("hook", "service", "closed"):
        cli("notify", "test", name, code=1)
        cli("notify", "test", name, "--json", code=1)


def arrived(door: Door) -> Mapping[str, list[bool]]:
    """Whether each kind of secret came to the host that it is for, request by request."""

    def has(label: str, name: str, value: str) -> list[bool]:
        return [headers.get(name) == value for headers in door.pages(label)]

    basic = b64encode(f"ada:{CANARIES['password']}".encode()).decode()
    proxy = b64encode(f"ada:{CANARIES['proxy']}".encode()).decode()
    return {
        "header": has("header", "X-Api-Key", CANARIES["header"]),
        "cookie": has("header", "Cookie", f"session={CANARIES['cookie']}"),
        "basic": has("password", "Authorization", f"Basic {basic}"),
        "bearer": has("bearer", "Authorization", f"Bearer {CANARIES['bearer']}"),
        "login": has("login", "Authorization", f"Token {CANARIES['login']}"),
        "proxy": has("proxied", "Proxy-Authorization", f"Basic {proxy}"),
        "tunnel": has("tunnel", "Proxy-Authorization", f"Basic {proxy}"),
        "first hop": has("leaves", "X-Api-Key", CANARIES["header"]),
    }


def ask_everything(cli: Cli, urls: Mapping[str, str], folder: Path) -> None:
    """Every command there is, plain and as JSON, on what was visited."""
    for url in urls.values():
        for command in ("history", "why", "show", "diff"):
            cli(command, url, code=None)
            cli(command, url, "--json", code=None)
    asking = [
        "list",
        "status",
        "config",
        "access list",
        "notify list",
        "notify log",
        "moved",
        "verify",
        "doctor",
        "noise",
        "prune --dry-run",
        "silent",
        "report",
        "plan",
        "capacity",
        "backtest --policy week",
        "train",
        "classes",
    ]
    for args in map(str.split, asking):
        cli(*args, code=None)
        cli(*args, "--json", code=None)
    for more in ((), ("--json",)):
        cli("collect", urls["header"], "--depth", "2", "--allow-private", *more, code=1)  # it leads nowhere
    for table in ("resources", "visits", "versions"):
        cli("export", table, str(folder / f"{table}.csv"))
        cli("export", table, "--json")
    cli("export", "warc", str(folder / "warc"))
    cli("export", "wacz", str(folder / "all.wacz"))
    cli("import", str(folder / "warc"))
    cli("backup", str(folder / "backup"))
    cli("restore", str(folder / "backup"), "--home", str(folder / "restored"))
    corpus = str(folder / "corpus")
    cli("corpus", "import", "store", str(cli.home), corpus)
    for replayed in (("simulate", "--policy", "week"), ("evaluate", "umbrich", "--years", "1")):
        cli(*replayed, "--corpus", corpus, "--draws", "1", "--json", code=None)
    cli("simulate", "--policy", "week", "--changes", "significant", "--corpus", corpus, code=None)
    cli("evaluate", "barbosa", "--corpus", corpus, "--splits", "2", "--json", code=None)
    cli("evaluate", "radinsky", "--corpus", corpus, "--json", code=None)
    cli("evaluate", "tan", "--corpus", corpus, "--json", code=None)
    cli("relearn", "--json")
    cli("relearn", "--words", "--json")
    cli("token", "add", "laptop")
    cli("token", "list", "--json")
    cli("token", "remove", "laptop")
    cli("set", "--tag", "members", "--weight", "2", "--insecure")
    cli("pause", "--tag", "members")
    cli("resume", "--tag", "members")


@pytest.mark.timeout(900)  # every command there is
def test_a_secret_is_in_no_file_and_no_output_but_its_own(cli: Cli, door: Door, tmp_path: Path) -> None:
    urls = kept(cli, door)
    out = tmp_path / "out"
    out.mkdir()
    cli("visit", urls["tunnel"], code=1)
    cli("visit", urls["nobody"], "--json", code=1)
    cli("run", "--once", "--json")
    noticed(cli, door)
    door.page = PAGE.replace(b"members", b"those who pay, and nobody else at all")
    cli("visit", urls["moves"])
    cli("visit", urls["header"], "--json")
    cli("run", "--once")  # which tells of it, in vain
    assert {"POST /" in line for host, line, _ in door.asked if host == "told"} == {True}
    assert len([host for host, *_ in door.asked if host == "told"]) >= 6  # samples, and news
    came = arrived(door)
    assert all(came.values()), came
    assert all(map(all, came.values())), came
    assert all(headers["User-Agent"].startswith("recrawl/") for _, _, headers in door.asked)
    ask_everything(cli, urls, out)
    cli("moved", "--apply", urls["moves"])
    cli("access", "clear", urls["header"], "--cookie", "session")
    cli("erase", urls["header"], "--yes")
    cli("remove", urls["login"], "--yes")
    everything = set(get_command(app).commands)  # type: ignore[attr-defined]  # the top is a group
    assert cli.used == everything - {
        "demo",
        "livingweb",
        "replay",
        "serve",
    }  # which serve what was looked through here
    assert [text for text in cli.printed if any(mark.decode() in text for mark in DISGUISES)] == []
    assert traces(out) == set()
    assert traces(cli.home) == {"secrets.json", "notices.json"}
    for name in ("secrets.json", "notices.json"):
        assert stat.S_IMODE((cli.home / name).stat().st_mode) == 0o600
    names = {path.suffix for path in cli.home.rglob("*") if path.is_file()}
    assert {".json", ".sqlite", ".gz"} <= names  # there was something to look through


def test_a_secret_does_not_follow_a_redirect_to_another_host(cli: Cli, door: Door) -> None:
    urls = kept(cli, door)
    for label in ("leaves", "moves"):
        cli("visit", urls[label])
    assert len(door.pages("stranger")) == 2
    for headers in door.pages("stranger"):
        assert not {"x-api-key", "cookie", "authorization"} & {name.lower() for name in headers}
    robots = [headers for _, line, headers in door.asked if "/robots.txt" in line]
    assert robots
    assert not any(value in str(robots) for value in CANARIES.values())


def test_a_sitemap_behind_a_door_is_read_with_what_is_kept_for_its_host(cli: Cli, door: Door) -> None:
    host = f"bearer.localhost:{door.port}"
    cli("access", "set", "--host", host, "--bearer", "--stdin", text=f"{CANARIES['bearer']}\n")
    cli(
        "add",
        "--sitemap",
        door.url("bearer"),
        "--sitemap",
        door.url("stranger"),
        "--allow-private",
        code=None,
    )
    assert arrived(door)["bearer"] == [True]
    assert [headers.get("Authorization") for headers in door.pages("stranger")] == [None]


def test_after_a_move_to_another_host_the_secrets_stay_behind(cli: Cli, door: Door) -> None:
    urls = kept(cli, door)
    for _ in range(2):
        cli("visit", urls["moves"])
    cli("moved", "--apply", "--all")
    cli("visit", door.url("stranger"))
    assert len(door.pages("stranger")) == 3
    assert not any("Authorization" in headers for headers in door.pages("stranger"))
    assert urls["moves"] not in (cli.home / "secrets.json").read_text()


def test_the_search_would_find_a_secret_that_got_out(tmp_path: Path) -> None:
    """A twin that does it wrong: the same search must catch it."""
    fetch = Fetch(
        request=Request(url="http://a.example/"),
        outcome=Outcome.OK,
        url="http://a.example/",
        started_at=0.0,
        ended_at=1.0,
        status=200,
        request_headers=(("Authorization", f"Bearer {CANARIES['bearer']}"),),
        body=PAGE,
        wire=PAGE,
    )
    archive = WarcArchive(tmp_path / "archive", now=lambda: 0.0)
    archive.put(fetch, Version(resource_id=1, seq=0, at=1.0, digest="sha256:0"))
    archive.close()
    (tmp_path / "store").write_bytes(b"..." + DISGUISES[-1] + b"...")
    (tmp_path / "clean").write_bytes(b"nothing")
    assert {Path(name).suffix for name in traces(tmp_path)} == {".gz", ""}
    assert "clean" not in traces(tmp_path)
