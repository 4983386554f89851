"""What the living web answers to one request, at one moment."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime
from math import floor, inf

import numpy as np

from recrawl.livingweb.content import SERIALISATIONS, Listed, Scene, drawn, media_type_of
from recrawl.livingweb.content.noise import filled
from recrawl.livingweb.content.walls import WALLS
from recrawl.livingweb.content.words import draws, title
from recrawl.livingweb.kinds import BOARDS, LISTINGS, Form, Markup, Noise, Query, Validators
from recrawl.livingweb.script import ROBOTS_PATH, Document, Entry, Host, Place, Redirect, Trouble
from recrawl.livingweb.talk import Said, n_pages, page_asked, page_target, without_page
from recrawl.livingweb.world import Life, World

_N_LINKS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A document written once for a version; its noise is still to be filled in."""

    version: int
    made_at: float  # in the visitors' time
    body: bytes


class Answers:
    """`told_at` makes of a moment of the world what the visitors' clocks show then: all that is said of times
    is in theirs, as theirs are the clocks that it will be held against."""

    def __init__(
        self, world: World, *, seed: int, port: int, told_at: Callable[[float], float] = lambda at: at
    ) -> None:
        self._world = world
        self._told_at = told_at
        self._seed = seed
        self._port = port
        self._n_requests: Counter[tuple[str, str]] = Counter()
        self._drawn: dict[tuple[str, str, int, str], _Drawn] = {}
        self._links = {host: self._link_row(host) for host in world.script.hosts}

    def url(self, entry: Entry) -> str:
        return f"http://{entry.host}:{self._port}{entry.target}"

    def slow_s(self, host: str, path: str) -> float:
        """How long an answer takes."""
        known = self._world.script.hosts.get(host)
        here = self._world.script.places.get((host, self._found(host, path)[0]), ())
        own_s = max((entry.slow_s for entry in here if isinstance(entry, Document)), default=0.0)
        return own_s + (known.slow_s if known else 0.0)

    def asked_by_post(self, host: str, path: str) -> bool:
        """Only queries may be posted."""
        here = self._world.script.places.get((host, path), ())
        return any(isinstance(entry, Document) and entry.form is Form.SPARQL for entry in here)

    def answer(
        self, host: str, path: str, params: Mapping[str, str], headers: Mapping[str, str], now: float
    ) -> Answer:
        known = self._world.script.hosts.get(host)
        if known is None:
            return _plain(404, f"There is no host {host} here.")
        path, page_in_path = self._found(host, path)
        entries = self._world.script.places.get((host, path), ())
        # Where there is nothing, the host's own troubles still hold.
        place = (host, path if entries or path == ROBOTS_PATH else "")
        trouble = self._world.life(place, now).trouble_at(now)
        if trouble is not None:
            return _troubled(trouble)
        if path == ROBOTS_PATH:
            return self._robots(known)
        if not entries:
            return _plain(404, f"There is nothing at {path} here.")
        entry = entries[0]
        if isinstance(entry, Redirect):
            return _plain(entry.status, "It is elsewhere.", {"Location": self._url_of(entry.to)})
        if entry.form is Form.SPARQL:
            return self._asked(entries, params, headers, now)
        return self._document(entry, params, headers, now, page_in_path)

    def _found(self, host: str, path: str) -> tuple[str, int]:
        """The path of what is there, and which page of it the path names."""
        places = self._world.script.places
        thread, page = without_page(path)
        entry = next(iter(places.get((host, thread), ())), None)
        paged = isinstance(entry, Document) and entry.spoken and entry.markup is Markup.XENFORO
        return (thread, page) if paged and (host, path) not in places else (path, 1)

    def _url_of(self, place: Place) -> str:
        return self.url(self._world.script.places[place][0])

    def _robots(self, host: Host) -> Answer:
        if host.robots is None:
            return _plain(404, "There is no robots.txt here.")
        sitemaps = [
            f"Sitemap: {self.url(document)}\n"
            for document in self._world.script.documents()
            if document.host == host.name and document.form in (Form.SITEMAP, Form.SITEMAP_INDEX)
        ]
        return _plain(200, host.robots.text() + "".join(sitemaps))

    def _asked(
        self, entries: tuple[Entry, ...], params: Mapping[str, str], headers: Mapping[str, str], now: float
    ) -> Answer:
        asked, n_rows, offset = _window(" ".join(params.get("query", "").split()))
        known = {entry.query: entry for entry in entries if isinstance(entry, Document) and entry.query}
        document = next((entry for query, entry in known.items() if query == asked), None)
        if document is None:
            return _plain(400, "\n".join(["This endpoint answers these queries and no others:", *known]))
        answer = self._document(document, {}, headers, now)
        if document.query is not Query.ALL or answer.status != 200:
            return answer
        n_rows = min(n_rows, document.max_rows or n_rows)
        return replace(answer, body=_some_rows(answer.body, n_rows, offset))

    def _document(
        self,
        document: Document,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        now: float,
        page_in_path: int = 1,
    ) -> Answer:
        life = self._world.life(document.place, now)
        version = life.version_at(now)
        page = page_asked(document, params, page_in_path) if document.form is Form.THREAD else 1
        n_posts = len(life.talk.standing(now)) if life.talk else version + 1
        last_page = n_pages(n_posts, document) if document.form is Form.THREAD else 1
        if not 1 <= page <= last_page:
            if document.markup is not Markup.XENFORO:
                return _plain(404, "This thread has no such page.")
            last = f"http://{document.host}:{self._port}{page_target(document, last_page)}"
            return _plain(303, "The thread ends before that.", {"Location": last})
        key, target = self._key(document), (document.host, document.target)
        self._n_requests[target] += 1
        n_request = self._n_requests[target]
        media_type = media_type_of(document)
        if document.form is Form.RDF:
            wanted = serialisations(headers.get("Accept", "*/*"))
            if not wanted:
                return _plain(406, "\n".join(["This is there as:", *SERIALISATIONS]))
            media_type = wanted[n_request % len(wanted)]
        copy = self._drawn.get((*target, page, media_type))
        if copy is None or copy.version != version:
            copy = self._redrawn(document, life, version, page, media_type, now)
            self._drawn[(*target, page, media_type)] = copy
        told_at = self._told_at(now)
        said = self._validators(document, f"{key} {media_type}", copy, page, n_request, told_at)
        if _unmodified(said, headers):
            return Answer(304, said)
        body = filled(copy.body, document, key, n_request, told_at)
        return Answer(200, {"Content-Type": media_type, **said}, body)

    def _redrawn(
        self, document: Document, life: Life, version: int, page: int, media_type: str, now: float
    ) -> _Drawn:
        listing = document.form in LISTINGS
        scene = Scene(
            document=document,
            key=self._key(document),
            url=self.url(document),
            born_at=self._told_at(self._world.born_at),
            content_at=np.array([self._told_at(at) for at in life.content_at[:version].tolist()]),
            listed=self._rows(document, now) if listing else self._links[document.host],
            page=page,
            posts=tuple(self._dated(post) for post in life.talk.standing(now)) if life.talk else (),
        )
        return _Drawn(version, scene.made_at(version), drawn(scene, media_type))

    def _rows(self, listing: Document, now: float) -> tuple[Listed, ...]:
        """What is there now; a list of feeds names them all and tells nothing of their lives."""
        rows = []
        lied_at = self._world.lied_at(listing, now)
        for document in self._world.listed(listing):
            life = self._world.life(document.place, now)
            if listing.form is not Form.OPML and life.gone_at(now):
                continue
            if life.talk and listing.form in BOARDS:
                posts = life.talk.standing(now)
                row = self._row(document, posts[-1].at, len(posts) - 1)
                rows.append(replace(row, last=self._dated(posts[-1]), key=self._key(document)))
                continue
            version = life.version_at(now)
            changed_at = float(life.content_at[version - 1]) if version else self._world.born_at
            rows.append(self._row(document, max(changed_at, lied_at), version))
        return tuple(rows)

    def _link_row(self, host: str) -> tuple[Listed, ...]:
        here = [document for document in self._world.script.documents() if document.host == host]
        return tuple(self._row(document, self._world.born_at, 0) for document in here[:_N_LINKS])

    def _row(self, document: Document, changed_at: float, n_changes: int) -> Listed:
        name = title(self._key(document))
        told_at = self._told_at(changed_at)
        return Listed(url=self.url(document), title=name, changed_at=told_at, n_changes=n_changes)

    def _dated(self, post: Said) -> Said:
        return replace(post, at=self._told_at(post.at), edited_at=self._told_at(post.edited_at))

    def _key(self, document: Document) -> str:
        return f"{self._seed}:{document.host}{document.path}"

    def _validators(
        self, document: Document, key: str, copy: _Drawn, page: int, n_request: int, now: float
    ) -> dict[str, str]:
        kind = document.validators
        said: dict[str, str] = {}
        if kind in (Validators.BOTH, Validators.ETAG):
            weak = "" if document.noise is Noise.NONE else "W/"
            said["ETag"] = f'{weak}"{draws("etag", key, document.target, page, copy.version)[:8].hex()}"'
        if kind in (Validators.BOTH, Validators.DATE) and floor(copy.made_at) + 1 <= now:
            # A date tells whole seconds; said before the second is over it could hide a change within it.
            said["Last-Modified"] = formatdate(floor(copy.made_at), usegmt=True)
        if kind is Validators.STUCK:
            said["ETag"] = f'"{draws("etag", key)[:8].hex()}"'
            said["Last-Modified"] = formatdate(floor(self._told_at(self._world.born_at)), usegmt=True)
        if kind is Validators.FICKLE:
            said["ETag"] = f'"{draws("etag", key, n_request)[:8].hex()}"'
        return said


def serialisations(accept: str) -> list[str]:
    """Those that are most welcome, as an Accept header says."""
    said = {}
    for part in accept.split(","):
        name, _, rest = part.partition(";")
        _, _, q = rest.partition("q=")
        said[name.strip().lower()] = float(q) if q else 1.0
    weights = {name: said.get(name, said.get("*/*", 0.0)) for name in SERIALISATIONS}
    best = max(weights.values())
    return [name for name, weight in weights.items() if weight == best > 0.0]


def _window(query: str) -> tuple[str, int, int]:
    """A query without its LIMIT and OFFSET, and these."""
    found = re.fullmatch(r"(.*) LIMIT (\d+) OFFSET (\d+)", query)
    return (found[1], int(found[2]), int(found[3])) if found else (query, sys.maxsize, 0)


def _some_rows(body: bytes, n_rows: int, offset: int) -> bytes:
    document = json.loads(body)
    document["results"]["bindings"] = document["results"]["bindings"][offset : offset + n_rows]
    return json.dumps(document).encode()


def _unmodified(said: Mapping[str, str], headers: Mapping[str, str]) -> bool:
    held = headers.get("If-None-Match")
    if held is not None:  # the date does not count then (RFC 9110, 13.1.3)
        tags = {tag.strip().removeprefix("W/") for tag in held.split(",")}
        return "ETag" in said and (said["ETag"].removeprefix("W/") in tags or "*" in tags)
    return "Last-Modified" in said and _date_at(said["Last-Modified"]) <= _date_at(
        headers.get("If-Modified-Since", "")
    )


def _date_at(text: str) -> float:
    """Before all others where it is missing or not a date."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return -inf


def _troubled(trouble: Trouble) -> Answer:
    if trouble.disguise is not None:
        return Answer(200, {"Content-Type": "text/html; charset=utf-8"}, WALLS[trouble.disguise].encode())
    wait_s = trouble.retry_after_s
    headers = {} if wait_s is None else {"Retry-After": f"{wait_s:.0f}"}
    return _plain(trouble.status, "This does not work now.", headers)


def _plain(status: int, text: str, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}, text.encode())
