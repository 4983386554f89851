"""Gathering news: from what was recorded since it was gathered last, from forecasts, and from hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from recrawl.app.letters import came, found
from recrawl.app.outbox import State
from recrawl.app.silence import N_FAILED
from recrawl.model import HOUR_S, Changed, Kind, Outcome, Resource, Standing, Visit
from recrawl.notify.letter import sides
from recrawl.notify.matching import Match, matched
from recrawl.notify.news import News, What
from recrawl.notify.notice import Notice, On, reads, wants
from recrawl.parse.pool import Pool

if TYPE_CHECKING:
    from recrawl.app.build import House

N_TOGETHER = 500  # visits, between two keepings
N_SILENT = 1_000  # told of at once, the most improbable
SILENCES_EVERY_S = HOUR_S  # on the clock: it reads what is believed of everything
HOSTS_EVERY_S = 60.0
_N_THERE = 1_000  # resources of a host that are asked for their tags
_MATCH_S = 2.0


@dataclass(slots=True)
class Newsroom:
    """`heard` is by notice."""

    house: House
    notices: Sequence[Notice]
    now: float
    heard: dict[str, list[News]] = field(default_factory=dict)

    def gather(self, state: State) -> tuple[State, bool]:
        """The state with what is known after this, and whether there is more to read."""
        visits, mark = self.house.store.recorded_since(state.mark, N_TOGETHER)
        for visit in visits:
            if visit.changed is Changed.YES:
                self._changed(visit)
        state = replace(state, mark=mark)
        return self._hosts(self._silences(state)), len(visits) == N_TOGETHER

    def tell_trouble(self, texts: Iterable[str]) -> None:
        for n, text in enumerate(texts):
            self._tell(News(what=What.TROUBLE, key=f"trouble:{self.now}:{n}", at=self.now, words=text))

    def _tell(
        self, news: News, tags: Iterable[str] = (), matches: Callable[[Match], bool] | None = None
    ) -> None:
        for notice in self.notices:
            if not wants(notice, news, frozenset(tags)):
                continue
            if matches is None or notice.match is None or not reads(notice, news) or matches(notice.match):
                self.heard.setdefault(notice.name, []).append(news)

    # -- changes ---------------------------------------------------------------------------------------

    def _changed(self, visit: Visit) -> None:
        known = found(self.house, visit.resource_id)
        if known is None or visit.counted(known[0].effective.changes) is not Changed.YES:
            return
        resource, standing = known
        news = News(
            what=self._what(visit, resource),
            key=visit.fetch_id,
            at=visit.at,
            resource_id=resource.id,
            url=resource.url,
            host=resource.host,
            since_at=visit.since_at,
            significant=visit.significant,
        )
        self._tell(news, resource.tags, lambda match: self._matches(match, resource, standing, visit))

    def _what(self, visit: Visit, resource: Resource) -> What:
        if visit.outcome is Outcome.GONE:
            return What.GONE
        before = self.house.store.history(resource.id, until_at=visit.at, newest_first=True, limit=1)
        if before and before[0].gone:
            return What.BACK
        return What.POSTS if resource.effective.kind is Kind.THREAD else What.CHANGE

    def _matches(self, match: Match, resource: Resource, standing: Standing, visit: Visit) -> bool:
        """A pattern that takes too long is taken to match: better told in vain than not at all."""
        added, removed = sides(came(self.house, resource, standing, visit.at).lines)
        return _patterns().run(matched, match, added, removed) is not False

    # -- silences --------------------------------------------------------------------------------------

    def _silences(self, state: State) -> State:
        if not self._anyone(On.SILENT) or self.now < state.silent_at + SILENCES_EVERY_S:
            return state
        from recrawl.app.beliefs import Beliefs
        from recrawl.app.silence import all_silent

        beliefs = Beliefs(self.house)
        _, silences = all_silent(beliefs, beliefs.all(), self.now)
        told: dict[int, float] = {}
        for one in islice(silences, N_SILENT):
            resource = one.resource
            told[resource.id] = one.changed_at
            if state.silent.get(resource.id) == one.changed_at:
                continue
            news = News(
                what=What.SILENT,
                key=f"silent:{resource.id}:{one.changed_at}",
                at=one.until_at,
                resource_id=resource.id,
                url=resource.url,
                host=resource.host,
                since_at=one.changed_at,
                p=one.p,
            )
            self._tell(news, resource.tags)
        return replace(state, silent=told, silent_at=self.now)

    # -- hosts -----------------------------------------------------------------------------------------

    def _hosts(self, state: State) -> State:
        if not self._anyone(On.HOST) or self.now < state.hosts_at + HOSTS_EVERY_S:
            return state
        hosts = self.house.store.hosts()
        troubled = [hosts.name[row] for row in (hosts.n_failures >= N_FAILED).nonzero()[0].tolist()]
        known = set(state.troubled)
        for name in troubled:
            if name not in known:
                self._of_host(
                    name, f"It was in trouble {N_FAILED} times in a row or more, and is left in peace."
                )
        for name in known.difference(troubled):
            self._of_host(name, "It answers again.")
        return replace(state, troubled=troubled, hosts_at=self.now)

    def _of_host(self, name: str, words: str) -> None:
        there = self.house.store.resources(host=name, limit=_N_THERE)
        tags = {tag for resource, _, _ in there for tag in resource.tags}
        key = f"host:{name}:{self.now}"
        self._tell(News(what=What.HOST, key=key, at=self.now, host=name, words=words), tags)

    def _anyone(self, on: On) -> bool:
        return any(on in notice.on for notice in self.notices)


_pool: Pool | None = None


def _patterns() -> Pool:
    """People's patterns have a process of their own: they keep no page waiting that is being judged."""
    global _pool
    if _pool is None:
        import atexit

        _pool = Pool(n_workers=1, limit_s=_MATCH_S)
        atexit.register(_pool.close)
    return _pool
