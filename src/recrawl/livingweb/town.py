"""A small town's web: many things that hardly ever change, some that do daily, a few that never rest."""

from __future__ import annotations

import numpy as np

from recrawl.livingweb.kinds import Form, Noise, Query, Validators
from recrawl.livingweb.script import Document, Entry, Host, Redirect, Robots, Script, Trouble
from recrawl.model import DAY_S
from recrawl.simulate.processes import Bursty, Daily, Never, Periodic, Poisson, Process

_HOUR_S = 3_600.0
_WORKDAYS = Daily(5.0, jitter_s=2 * _HOUR_S, weekdays_only=True)

_HOSTS = (
    Host(name="news.localhost", robots=Robots(disallow=("/search", "/account/"))),
    Host(name="gazette.localhost", robots=Robots(crawl_delay_s=10.0)),
    Host(name="council.localhost"),
    Host(name="shop.localhost", robots=Robots(disallow=("/cart",), crawl_delay_s=20.0)),
    Host(name="data.localhost"),
    Host(name="graph.localhost", robots=None),
    Host(name="forum.localhost", robots=Robots(disallow=("/private/",))),
    Host(name="weather.localhost"),
    Host(name="wiki.localhost"),
    Host(name="docs.localhost"),
    Host(name="blog.localhost", robots=None),
    Host(name="museum.localhost", slow_s=2.0),
    Host(name="archive.localhost"),
    Host(
        name="school.localhost",  # down for maintenance every night
        troubles=(
            Trouble(
                status=503,
                starts=Daily(1.0, jitter_s=_HOUR_S),
                lasts_s=3 * _HOUR_S,
                retry_after_s=_HOUR_S,
            ),
        ),
    ),
    Host(
        name="club.localhost",  # breaks every few days
        troubles=(Trouble(status=500, starts=Poisson(0.3), lasts_s=8 * _HOUR_S),),
    ),
    Host(name="old.localhost"),
)

# Where the ordinary pages are, and how large a part of them.
_PAGE_HOSTS = {
    "news": 0.14,
    "gazette": 0.10,
    "council": 0.12,
    "shop": 0.10,
    "wiki": 0.14,
    "docs": 0.10,
    "blog": 0.08,
    "museum": 0.06,
    "archive": 0.08,
    "school": 0.05,
    "club": 0.03,
}


def town(n: int = 200, seed: int = 0) -> Script:
    """`n` resources to watch over 16 hosts; robots.txt files are not among them."""
    rng = np.random.default_rng(seed)
    special = _special()[:n]
    return Script((*special, *_pages(n - len(special), rng)), described=_HOSTS)


def _special() -> list[Entry]:
    """One or more of every form. Whatever leads or refers to another stands after it."""
    dataset = Poisson(1.5)
    withdrawn = Trouble(status=410, starts=Poisson(0.02), lasts_s=20 * DAY_S)
    comes_and_goes = Trouble(status=404, starts=Poisson(0.1), lasts_s=2 * DAY_S)
    return [
        Document(host="news.localhost", path="/", process=Poisson(10.0), noise=Noise.HIDDEN),
        Document(host="news.localhost", path="/feed.xml", form=Form.RSS, process=Poisson(6.0)),
        Document(host="news.localhost", path="/live", process=Bursty(12.0, 0.85, 1_200.0)),
        Document(host="gazette.localhost", path="/", process=_WORKDAYS, validators=Validators.BOTH),
        Document(host="gazette.localhost", path="/atom.xml", form=Form.ATOM, process=_WORKDAYS),
        Document(host="blog.localhost", path="/feed", form=Form.RSS, process=Poisson(0.3)),
        Document(
            host="blog.localhost", path="/loud", form=Form.RSS, noise=Noise.VISIBLE, process=Poisson(0.1)
        ),
        Document(
            host="weather.localhost",
            path="/now.json",
            form=Form.JSON,
            process=Periodic(_HOUR_S, jitter_s=300.0),
            validators=Validators.BOTH,
        ),
        Document(
            host="weather.localhost",
            path="/stations.csv",
            form=Form.CSV,
            process=Daily(6.0, jitter_s=600.0),
            validators=Validators.DATE,
        ),
        Document(host="weather.localhost", path="/", process=Periodic(6 * _HOUR_S, jitter_s=900.0)),
        Document(
            host="data.localhost",
            path="/prices.json",
            form=Form.JSON,
            process=Poisson(4.0),
            noise=Noise.HIDDEN,
        ),
        Document(
            host="data.localhost",
            path="/status.json",
            form=Form.JSON,
            process=Poisson(0.2),
            noise=Noise.VISIBLE,
        ),
        Document(host="data.localhost", path="/register.csv", form=Form.CSV, process=_WORKDAYS),
        Document(
            host="data.localhost",
            path="/budget.csv",
            form=Form.CSV,
            process=Poisson(0.03),
            noise=Noise.HIDDEN,
        ),
        Document(
            host="data.localhost",
            path="/places.ttl",
            form=Form.TURTLE,
            process=Poisson(0.5),
            noise=Noise.HIDDEN,
        ),
        Document(host="graph.localhost", path="/vocabulary", form=Form.RDF, process=Poisson(0.01)),
        *(
            Document(host="graph.localhost", path="/sparql", form=Form.SPARQL, query=query, process=dataset)
            for query in (Query.ITEMS, Query.COUNT, Query.EVEN)
        ),
        *(
            Document(host="forum.localhost", path=f"/t/{i}", form=Form.THREAD, process=process)
            for i, process in enumerate(_threads(), start=1)
        ),
        Document(host="forum.localhost", path="/t/", form=Form.BOARD, noise=Noise.HIDDEN),
        Document(host="council.localhost", path="/tenders", process=_WORKDAYS, troubles=(comes_and_goes,)),
        Document(host="council.localhost", path="/mayor", process=Poisson(0.1), troubles=(withdrawn,)),
        Document(host="shop.localhost", path="/offers", process=Poisson(2.0), validators=Validators.STUCK),
        Document(host="shop.localhost", path="/about", validators=Validators.FICKLE),
        Document(host="wiki.localhost", path="/Recent", process=Bursty(6.0, 0.8, 3_600.0)),
        Document(host="wiki.localhost", path="/Town", process=Bursty(0.5, 0.7, 2 * _HOUR_S)),
        Redirect(host="old.localhost", path="/wiki", to=("wiki.localhost", "/Town")),
        Document(host="news.localhost", path="/sitemap.xml", form=Form.SITEMAP, validators=Validators.ETAG),
        Document(host="docs.localhost", path="/sitemap.xml", form=Form.SITEMAP),
        Document(host="docs.localhost", path="/sitemap-index.xml", form=Form.SITEMAP_INDEX),
        Document(host="data.localhost", path="/feeds.opml", form=Form.OPML),
    ]


def _threads() -> list[Process]:
    """A few are talked about, most have fallen silent."""
    talk: list[Process] = [Bursty(15.0, 0.9, 900.0), Bursty(4.0, 0.8, 1_800.0), Bursty(1.0, 0.7, 3_600.0)]
    return [*talk, Poisson(0.2), Poisson(0.03), Poisson(0.01), Never(), Never()]


def _pages(n: int, rng: np.random.Generator) -> list[Document]:
    hosts = rng.choice(list(_PAGE_HOSTS), size=n, p=np.array(list(_PAGE_HOSTS.values())))
    noises = rng.choice([Noise.NONE, Noise.HIDDEN, Noise.VISIBLE], size=n, p=[0.57, 0.4, 0.03])
    validators = rng.choice(list(Validators), size=n, p=[0.62, 0.15, 0.08, 0.09, 0.03, 0.03])
    return [
        Document(
            host=f"{hosts[i]}.localhost",
            path=f"/{rng.choice(['pages', 'topics', 'items'])}/{i}",
            process=_pace(rng),
            noise=Noise(noises[i]),
            validators=Validators(validators[i]),
        )
        for i in range(n)
    ]


def _pace(rng: np.random.Generator) -> Process:
    """How ordinary pages change: most of them next to never."""
    part = rng.random()
    if part < 0.25:
        return Never()
    if part < 0.55:
        return Poisson(float(np.exp(rng.uniform(np.log(0.001), np.log(0.02)))))
    if part < 0.75:
        return Poisson(float(np.exp(rng.uniform(np.log(0.02), np.log(0.3)))))
    if part < 0.85:
        hour, weekdays_only = float(rng.integers(4, 22)), bool(rng.random() < 0.5)
        return Daily(hour, jitter_s=_HOUR_S, weekdays_only=weekdays_only)
    if part < 0.93:
        return Poisson(float(rng.uniform(0.5, 6.0)))
    return Bursty(float(rng.uniform(0.1, 2.0)), branching=0.75, decay_s=2 * _HOUR_S)
