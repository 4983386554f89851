"""A home with 300 resources and a year of made-up history: real store, real archive, kinds of all sorts.

python -m tests.web.year FOLDER     writes it there, to look at with `recrawl serve --home FOLDER`
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.keeper import Still
from tests.warcs import fetched

from recrawl.app.build import House, open_house
from recrawl.app.config import Config
from recrawl.app.relearning import relearn
from recrawl.model import (
    DAY_S,
    HOUR_S,
    Adoption,
    Changed,
    Kind,
    NewResource,
    Outcome,
    Plan,
    Request,
    Settings,
    Standing,
    Version,
    Visit,
    digest,
)
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.optimum import optimum

NOW = 1_798_761_600.0  # 2027-01-01 00:00:00 UTC
DAYS = 365.0
N_RESOURCES = 300
PER_DAY = 50.0
TAGS = ("news", "data", "law", "club", "slow")
HOSTS = tuple(f"{name}.example" for name in (
    "gazette", "council", "weather", "prices", "museum", "library", "clinic", "harbour", "school", "parish",
    "market", "broken",
))  # fmt: skip
_WORDS = (
    "river", "tide", "ferry", "council", "budget", "road", "bridge", "school", "library", "harbour",
    "storm", "forecast", "price", "bread", "fish", "market", "meeting", "minutes", "vote", "mayor",
    "clinic", "hours", "opening", "notice", "tender", "permit", "plan", "survey", "museum", "exhibit",
    "visit", "tour", "ticket", "train", "delay", "winter", "summer", "festival", "choir", "match",
    "score", "league", "repair", "closed", "moved", "new", "final", "draft",
)  # fmt: skip
_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "rss": "application/rss+xml",
}


@dataclass(frozen=True)
class _Made:
    url: str
    form: str
    per_day: float
    gap_days: float
    office: bool  # it changes in office hours alone
    tags: tuple[str, ...]


def made(home: Path, *, now: float = NOW, n: int = N_RESOURCES, days: float = DAYS, seed: int = 7) -> None:
    """Fill a home that is not there yet, with what came before `now`."""
    rng = np.random.default_rng(seed)
    clock = Still(now - days * DAY_S)
    config = Config.model_validate({"schedule": {"budget": f"{PER_DAY * n / N_RESOURCES:g}/day"}})
    home.mkdir(parents=True, exist_ok=True)
    (home / "recrawl.toml").write_text(f'[schedule]\nbudget = "{PER_DAY * n / N_RESOURCES:g}/day"\n')
    with open_house(home, config=config, clock=clock) as house:
        watched = list(_watched(rng, n))
        for one in watched:
            kind = Settings(kind=Kind.FEED) if one.form == "rss" else Settings()
            house.store.add(
                [NewResource(url=one.url, host=one.url.split("/")[2], settings=kind, tags=one.tags)],
                clock.now(),
            )
        for one in watched:
            _lived(house, one, rng, now, days)
        clock.at = now
        relearn(house)
        _foreseen(house, watched)
        loop = house.loop()
        loop.start(now)
        loop.reprice(now)
        loop.finish()


def _watched(rng: np.random.Generator, n: int) -> Iterator[_Made]:
    """Each visited about as often as is best for fresh copies."""
    rates = np.clip(np.exp(rng.normal(np.log(0.05), 1.5, n)), 0.002, 3.0)
    best = optimum(rates / DAY_S, PER_DAY * n / N_RESOURCES, min_gap_s=HOUR_S, max_gap_s=60 * DAY_S)
    for i in range(n):
        host = HOSTS[i % len(HOSTS)]
        form = ("html", "html", "html", "json", "csv", "rss")[int(rng.integers(6))]
        tags = tuple(str(tag) for tag in rng.choice(TAGS, int(rng.integers(1, 3)), replace=False))
        ending = "" if form == "html" else f".{form}"
        yield _Made(
            url=f"https://{host}/{_WORDS[i % len(_WORDS)]}/{i}{ending}",
            form=form,
            per_day=float(rates[i]),
            gap_days=float(best.gap_s[i]) / DAY_S,
            office=host in ("council.example", "clinic.example", "school.example"),
            tags=tags,
        )


def _lived(house: House, one: _Made, rng: np.random.Generator, now: float, days: float) -> None:
    """All its visits, and a version of each change that was seen."""
    resource = house.store.find(one.url)
    assert resource is not None
    start_at = now - days * DAY_S
    n = int(1.2 * days / one.gap_days) + 8  # some come after now, and are cut off
    at = start_at + np.cumsum(rng.uniform(0.7, 1.3, n)) * one.gap_days * DAY_S
    at = at[at < now - 60.0]
    changes = np.sort(start_at + rng.uniform(0.0, days, rng.poisson(one.per_day * days)) * DAY_S)
    if one.office:
        changes = np.sort(changes - changes % DAY_S + rng.uniform(8.0, 17.0, len(changes)) * HOUR_S)
    failing = rng.random(len(at)) < (0.4 if "broken" in one.url else 0.01)
    visits, versions = [], []
    since_at, seen, bits, n_changes = float("nan"), -1, 0, 0
    for moment, fails in zip(at.tolist(), failing.tolist(), strict=True):
        common: dict[str, Any] = {
            "fetch_id": f"{resource.id}-{moment:.3f}",
            "resource_id": resource.id,
            "at": moment,
            "since_at": since_at,
            "due_at": moment - 30.0,
            "duration_s": float(rng.gamma(2.0, 0.2)),
        }
        if fails:
            visits.append(Visit(**common, outcome=Outcome.HTTP_ERROR, status=503, evidence="status 503 Busy"))
            continue
        state = int(np.searchsorted(changes, moment))
        new = state != seen
        changed = Changed.UNKNOWN if seen < 0 else Changed.YES if new else Changed.NO
        if new:
            versions.append(_kept(house, one, resource.id, state, moment))
        significant = bool(state % 3) if changed is Changed.YES else None
        visits.append(
            Visit(
                **common,
                status=200,
                changed=changed,
                significant=significant,
                magnitude=0.2 if changed is Changed.YES else 0.0,
                n_bytes=versions[-1].n_bytes,
                evidence=_evidence(changed, state - seen),
            )
        )
        bits = (bits << 1 | int(changed is Changed.YES)) & (2**64 - 1)
        n_changes += changed is Changed.YES
        since_at, seen = moment, state
    if not visits:
        return
    gap_s = one.gap_days * DAY_S
    informative = [visit for visit in visits if visit.informative]
    standing = Standing(
        since_at=since_at,
        last_at=visits[-1].at,
        gap_s=gap_s,
        due_at=visits[-1].at + gap_s,
        n_informative=len(informative),
        n_changes=n_changes,
        bits=bits,
        version=versions[-1] if versions else None,
    )
    before, _ = house.store.standing(resource.id)
    adopted = house.store.adopt(
        [
            Adoption(
                resource=resource,
                before=before,
                visits=tuple(visits),
                versions=tuple(versions),
                standing=standing,
                plan=Plan(resource_id=resource.id, due_at=standing.due_at, gap_s=gap_s, rule="index:fresh"),
            )
        ],
        now=now,
        files=house.archive.sync(),
    )
    assert adopted == [True]


def _evidence(changed: Changed, n: int) -> str:
    if changed is Changed.YES:
        return f"{n + 1} of 40 words changed"
    return "the same" if changed is Changed.NO else "first look"


def _kept(house: House, one: _Made, resource_id: int, state: int, at: float) -> Version:
    body = body_of(one.form, one.url, state)
    kind = _TYPES[one.form]
    fetch = replace(
        fetched(body),
        request=Request(url=one.url),
        url=one.url,
        started_at=at,
        ended_at=at,
        headers=(("Content-Type", kind),),
    )
    version = Version(
        resource_id=resource_id,
        seq=0,
        at=at,
        digest=digest(body),
        fingerprint=digest(body),
        detector={"html": "text", "json": "json", "csv": "table", "rss": "feed"}[one.form],
        media_type=kind.partition(";")[0],
        charset="utf-8",
        status=200,
        n_bytes=len(body),
    )
    return house.archive.put(fetch, version)


def body_of(form: str, url: str, state: int) -> bytes:
    """What it said after so many changes: each touches one of its ten lines."""
    lines = []
    for i in range(10):
        turn = state // 10 + (state % 10 > i)
        rng = np.random.default_rng([len(url), sum(url.encode()), i, turn])
        lines.append(" ".join(rng.choice(_WORDS, 8)))
    match form:
        case "json":
            return json.dumps(
                {"url": url, "items": [{"id": i, "text": t} for i, t in enumerate(lines)]}
            ).encode()
        case "csv":
            return "\n".join(["id,text,price", *(f"{i},{t},{len(t)}" for i, t in enumerate(lines))]).encode()
        case "rss":
            items = "".join(
                f"<item><guid>{url}#{hash_of(t)}</guid><title>{t}</title><link>{url}</link></item>"
                for t in lines
            )
            return f'<rss version="2.0"><channel><title>{url}</title>{items}</channel></rss>'.encode()
    paragraphs = "".join(f"<p>{t.capitalize()}." for t in lines)
    return f"<!doctype html><title>{lines[0].title()}</title><h1>{lines[0].title()}</h1>{paragraphs}".encode()


def hash_of(text: str) -> str:
    return digest(text.encode())[-12:]


def _foreseen(house: House, watched: list[_Made]) -> None:
    """What forecasts would have said before each visit: by the true rate, about what is learned."""
    store = house.store
    assert isinstance(store, SqliteStore)
    connection = store._db._connection
    for one in watched:
        resource = store.find(one.url)
        assert resource is not None
        connection.execute(
            "UPDATE visit SET per_day = ?, p_changed = 1 - exp(-? * (at - since_at) / 86400.0) "
            "WHERE resource_id = ? AND since_at IS NOT NULL",
            (one.per_day, one.per_day, resource.id),
        )


if __name__ == "__main__":
    made(Path(sys.argv[1]), now=time.time())
