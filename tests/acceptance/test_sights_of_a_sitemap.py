"""A site that was added by its sitemap, and never collected: its sights know what the sitemap says, and the
store knows who links to whom."""

from __future__ import annotations

import sqlite3
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from tests.mazes import ROBOTS, Answer, page, robots, serving

from recrawl.model import FEATURES, column

HOST = "maze.localhost"


class Cli(Protocol):
    home: Path

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...


def test_what_a_sitemap_says_and_where_pages_lead_is_known_after_the_first_visits(cli: Cli) -> None:
    def answers(_: str, path: str) -> Answer | None:
        if path == ROBOTS:
            return robots("User-agent: *\nAllow: /\n")
        if path == "/sitemap.xml":
            today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            said = f"<lastmod>{today}</lastmod><changefreq>weekly</changefreq>"
            rows = [f"<url><loc>{web.url(HOST, f'/{name}')}</loc>{said}</url>" for name in "ab"]
            rows.append(f"<url><loc>{web.url(HOST, '/c')}</loc></url>")
            return Answer(f"<urlset>{''.join(rows)}</urlset>".encode(), headers={"Content-Type": "text/xml"})
        return page(
            ["/a", "b#top", "/c?", "/unwatched", "http://elsewhere.example/"], words=f"This is {path}."
        )

    with serving(answers) as web:
        cli("add", "--sitemap", web.url(HOST, "/sitemap.xml"), "--allow-private")
        cli("run", "--once")
    with sqlite3.connect(cli.home / "recrawl.sqlite") as store:
        named = dict(store.execute("SELECT id, substr(url, -1) FROM resource"))
        links = {
            (named[one], named[other]) for one, other in store.execute("SELECT from_id, to_id FROM link")
        }
        sights = {
            named[key]: np.frombuffer(row, "<f8")
            for key, row in store.execute("SELECT resource_id, features FROM sight")
        }
    assert links == {(one, other) for one in "abc" for other in "abc" if one != other}
    assert {name: len(values) for name, values in sights.items()} == dict.fromkeys("abc", len(FEATURES))
    changefreq = [sights[name][column("changefreq")] for name in "abc"]
    assert np.array_equal(changefreq, [3.0, 3.0, np.nan], equal_nan=True)
    lastmod = [sights[name][column("lastmod_days")] for name in "abc"]
    assert all(0.0 <= age < 0.1 for age in lastmod[:2])
    assert np.isnan(lastmod[2])
