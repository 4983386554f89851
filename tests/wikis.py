"""A small wiki on loopback that answers as MediaWiki's API is documented to, troubles included."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

AT = 1_577_836_800  # 2020-01-01T00:00:00Z
DAY = 86_400


def revision(n: int, day: float, digest: str | None, **more: Any) -> dict[str, Any]:
    said = {} if digest is None else {"sha1": digest}
    when = datetime.fromtimestamp(AT + day * DAY, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (
        {"revid": n, "parentid": more.pop("parentid", n - 1), "minor": False, "timestamp": when} | said | more
    )


@dataclass
class LittleWiki:
    """Pages by title, each a list of revisions. `troubles` happen to the next questions, one each."""

    pages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    n_limit: int = 3  # what `max` means here
    asked: list[dict[str, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    n_at_once: int = 0
    n_most_at_once: int = 0
    address: str = ""

    def answer(self, asked: dict[str, str]) -> dict[str, Any]:
        if (
            asked.get("action") != "query"
            or asked.get("formatversion") != "2"
            or asked.get("format") != "json"
        ):
            return {"error": {"code": "badvalue", "info": "not as asked for"}}
        if asked.get("meta") == "siteinfo":
            return {"batchcomplete": True, "query": {"general": {"sitename": "Little", "base": self.address}}}
        if asked.get("prop") == "revisions":
            return self._revisions(asked)
        if asked.get("generator") == "random":
            n = min(int(asked["grnlimit"]), self.n_limit)
            chosen = [list(self.pages)[(len(self.asked) + i) % len(self.pages)] for i in range(n)]
            found = [self._facts(title) for title in dict.fromkeys(chosen)]
            return {"continue": {"grncontinue": "x", "continue": "grncontinue||"}, "query": {"pages": found}}
        if asked.get("generator") == "categorymembers":
            return self._members(asked)
        return self._titles(asked)

    def _facts(self, title: str) -> dict[str, Any]:
        if title not in self.pages:
            return {"ns": 0, "title": title, "missing": True}
        place = quote(title.replace(" ", "_"))
        return {
            "pageid": 100 + list(self.pages).index(title),
            "ns": 0,
            "title": title,
            "canonicalurl": f"{self.address}/wiki/{place}",
        }

    def _titles(self, asked: dict[str, str]) -> dict[str, Any]:
        titles = asked["titles"].split("|")
        if len(titles) > 50:
            return {"error": {"code": "toomanyvalues", "info": "Too many values supplied"}}
        query: dict[str, Any] = {"pages": []}
        for title in dict.fromkeys(titles):
            if "[" in title:
                query["pages"].append({"title": title, "invalidreason": "bad characters", "invalid": True})
                continue
            if title.startswith("de:"):
                query.setdefault("interwiki", []).append({"title": title, "iw": "de"})
                continue
            good = title[:1].upper() + title[1:].replace("_", " ")
            if good != title:
                query.setdefault("normalized", []).append({"from": title, "to": good})
            if good in self.redirects and "redirects" in asked:
                query.setdefault("redirects", []).append({"from": good, "to": self.redirects[good]})
                good = self.redirects[good]
            query["pages"].append(self._facts(good))
        return {"batchcomplete": True, "query": query}

    def _members(self, asked: dict[str, str]) -> dict[str, Any]:
        titles = self.categories.get(asked["gcmtitle"].removeprefix("Category:"), [])
        begin = int(asked.get("gcmcontinue", "0"))
        end = begin + self.n_limit
        said: dict[str, Any] = {"query": {"pages": [self._facts(title) for title in titles[begin:end]]}}
        if end < len(titles):
            said["continue"] = {"gcmcontinue": str(end), "continue": "gcmcontinue||"}
        return said if titles else {"batchcomplete": True}

    def _revisions(self, asked: dict[str, str]) -> dict[str, Any]:
        title = list(self.pages)[int(asked["pageids"]) - 100]
        facts = {name: self._facts(title)[name] for name in ("pageid", "ns", "title")}
        if self.pages[title] == []:
            return {"query": {"pages": [{"pageid": facts["pageid"], "missing": True}]}}
        low, high = asked.get("rvstart", "0"), asked.get("rvend", "9")
        wanted = [one for one in self.pages[title] if low <= one["timestamp"] <= high]
        begin = int(asked.get("rvcontinue", "0|0").split("|")[1])
        some = [one for one in wanted if one["revid"] >= begin]
        said: dict[str, Any] = {"query": {"pages": [facts | {"revisions": some[: self.n_limit]}]}}
        if len(some) > self.n_limit:
            further = some[self.n_limit]
            said["continue"] = {"rvcontinue": f"{further['timestamp']}|{further['revid']}", "continue": "||"}
        return said


@contextmanager
def serving(wiki: LittleWiki) -> Iterator[str]:
    """The address of its API, while it runs."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one piece; else the client's delayed acknowledgements cost 40 ms

        def do_GET(self) -> None:
            with lock:
                wiki.n_at_once += 1
                wiki.n_most_at_once = max(wiki.n_most_at_once, wiki.n_at_once)
            try:
                self._answer()
            finally:
                with lock:
                    wiki.n_at_once -= 1

        def _answer(self) -> None:
            wiki.agents.add(self.headers["User-Agent"])
            place = urlsplit(self.path)
            if not place.path.endswith("/api.php"):
                link = '<link rel="EditURI" type="application/rsd+xml" href="/w/api.php?action=rsd">'
                self._send(200, f"<html><head>{link if 'plain' not in self.path else ''}".encode())
                return
            asked = {name: values[0] for name, values in parse_qs(place.query).items()}
            wiki.asked.append(asked)
            trouble = wiki.troubles.pop(0) if wiki.troubles else ""
            if trouble == "429":
                self._send(429, b"slow down", ("Retry-After", "7"))
            elif trouble == "maxlag":
                error = {"code": "maxlag", "info": "Waiting for db1: 9.5 seconds lagged", "lag": 9.5}
                self._send(200, json.dumps({"error": error}).encode(), ("Retry-After", "5"))
            elif trouble == "refused":
                self._send(
                    200,
                    json.dumps({"error": {"code": "readapidenied", "info": "You need to log in"}}).encode(),
                )
            elif trouble == "page":
                self._send(200, b"<html>maintenance</html>")
            else:
                body = json.dumps(wiki.answer(asked)).encode()
                if trouble == "half":
                    body = body[: len(body) // 2]
                self._send(200, body, is_cut=trouble == "cut")

        def _send(self, status: int, body: bytes, *headers: tuple[str, str], is_cut: bool = False) -> None:
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body)
                headers = (*headers, ("Content-Encoding", "gzip"))
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if is_cut else body)
            self.close_connection = is_cut

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        wiki.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{wiki.address}/w/api.php"
        finally:
            server.shutdown()
            thread.join()
