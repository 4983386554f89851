"""What robots.txt lets us fetch, by RFC 9309."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

from protego import Protego

from recrawl.model import Failure
from recrawl.observe.pacing import MAX_CRAWL_DELAY_S

MAX_ROBOTS_BYTES = 500 * 1024
MAX_ROBOTS_REDIRECTS = 5
FRESH_S = 86_400.0
UNREACHABLE_S = 600.0
_NO_ANSWER_S = 60.0  # no longer than a host in trouble is left alone for the first time
_STALE_S = 30 * 86_400.0  # a good copy stands in for an unreachable one for so long
_CACHE_CHARACTERS = 16 * 1024 * 1024
_ENTRY_CHARACTERS = 500  # what an entry weighs however short its text

_AGENT_LINE = re.compile(r"\s*user[-\s]*agent\s*:?\s*(.*)", re.IGNORECASE)
_OUTSIDE_GROUPS = re.compile(r"\s*(?:#|$|site-?maps?\b|host\b)", re.IGNORECASE)


class _Matcher(Protocol):
    def can_fetch(self, url: str, user_agent: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one robots.txt means for us. Where `failure` is set, nothing may be fetched."""

    agent: str = ""
    delay_s: float = 0.0
    failure: Failure | None = None
    matcher: _Matcher | None = None
    n_characters: int = 0

    @property
    def closed(self) -> bool:
        """Whether the server said that it cannot say: the host is left alone until it is asked again."""
        return self.failure is not None and self.matcher is None and self.failure.reason == "robots"

    def refusal(self, url: str) -> Failure | None:
        """Why this URL may not be fetched; None if it may."""
        if self.failure is not None:
            return self.failure
        if self.matcher is None or self.matcher.can_fetch(url, self.agent):
            return None
        return Failure(reason="robots", detail=f"robots.txt disallows {url}")


def product(user_agent: str) -> str:
    """The name by which robots.txt calls us: `recrawl` of `recrawl/1.0 (+https://…)`."""
    return re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()


def rules_from(status: int, body: bytes, agent: str) -> Rules:
    """The rules in a complete answer to the request for robots.txt."""
    if 200 <= status < 300:
        return _parsed(body, agent)
    if 400 <= status < 500 and status != 429:
        return Rules(agent=agent)
    # 5xx means "unreachable"; 429 asks for fewer requests, not for all pages. Redirects without end are
    # read the careful way too.
    return Rules(
        agent=agent,
        failure=Failure(reason="robots", detail=f"robots.txt answered {status}: nothing is allowed"),
    )


def _parsed(body: bytes, agent: str) -> Rules:
    if len(body) > MAX_ROBOTS_BYTES:
        body = body[:MAX_ROBOTS_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    text = _addressed_to(agent, body.decode("utf-8-sig", errors="replace"))
    matcher = Protego.parse(text)
    delay_s = matcher.crawl_delay(agent) or 0.0
    failure = None
    if delay_s > MAX_CRAWL_DELAY_S:
        most = f"{MAX_CRAWL_DELAY_S:g} s"
        detail = f"robots.txt asks for {delay_s:g} s between requests; above {most} the host is not visited"
        failure, delay_s = Failure(reason="crawl-delay", detail=detail), 0.0
    return Rules(agent=agent, delay_s=delay_s, failure=failure, matcher=matcher, n_characters=len(text))


def _addressed_to(agent: str, text: str) -> str:
    """The groups for `agent` and for everyone.

    The parser copies every rule of a group for each of its agents: 500 KB that name 17,000 agents before
    28,000 rules would fill the memory. It also takes a prefix of our name for our name.
    """
    kept: list[str] = []
    ours = among_agents = False
    for line in text.splitlines():
        if found := _AGENT_LINE.match(line):
            named = found[1].partition("#")[0].partition("/")[0].strip().lower()
            ours = named in ("*", agent) or (ours and among_agents)
            among_agents = True
            if named in ("*", agent):
                kept.append(f"User-agent: {named}")
        elif not _OUTSIDE_GROUPS.match(line):
            among_agents = False
            if ours:
                kept.append(line)
    return "\n".join(kept)


@dataclass(frozen=True, slots=True)
class _Kept:
    rules: Rules
    good_at: float  # when these rules were read
    until_at: float


class RulesCache:
    """Rules by origin, for at most a day; the longest unused go first when they are too many."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._n_characters = 0

    def find(self, origin: str, now: float) -> Rules | None:
        kept = self._kept.get(origin)
        if kept is None or now >= kept.until_at:
            return None
        self._kept.move_to_end(origin)
        return kept.rules

    def keep(self, origin: str, rules: Rules, now: float) -> Rules:
        """Keep rules that were read just now, and hand them back."""
        fresh_s = FRESH_S if rules.failure is None or rules.matcher is not None else UNREACHABLE_S
        self._put(origin, _Kept(rules, now, now + fresh_s))
        return rules

    def unreachable(self, origin: str, failure: Failure, now: float) -> Rules:
        """No answer came: the last good copy holds on for a while, else nothing is allowed."""
        kept = self._kept.get(origin)
        if kept is not None and kept.rules.failure is None and now < kept.good_at + _STALE_S:
            self._put(origin, _Kept(kept.rules, kept.good_at, now + UNREACHABLE_S))
            return kept.rules
        rules = Rules(failure=failure)
        self._put(origin, _Kept(rules, now, now + _NO_ANSWER_S))
        return rules

    def _put(self, origin: str, kept: _Kept) -> None:
        self._drop(origin)
        self._kept[origin] = kept
        self._n_characters += _weight(kept)
        while self._n_characters > _CACHE_CHARACTERS:
            self._drop(next(iter(self._kept)))

    def _drop(self, origin: str) -> None:
        if (kept := self._kept.pop(origin, None)) is not None:
            self._n_characters -= _weight(kept)


def _weight(kept: _Kept) -> int:
    return kept.rules.n_characters + _ENTRY_CHARACTERS
