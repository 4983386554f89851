"""The rules by name, with the numbers that their sources give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recrawl.errors import UnknownPartError
from recrawl.model import DAY_S, HOUR_S
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import (
    AGREED,
    AUTO_TTL,
    CHAINED,
    CLIMBED,
    COMMAFEED,
    FIXED,
    HALVED,
    MINIFLUX,
    MULTIPLIED,
    SYNCHRONISED,
    WINDOWED,
)
from recrawl.schedule.policies.rules.umbrich import WEEK_S

MINUTE_S = 60.0


def _archiver(name: str, code: int, *own: float, foresight: bool = False) -> Rule:
    """Within the paper's bounds, a day and six months. It does not say where a document begins: at a week."""
    return Rule(
        name=name,
        code=code,
        start_gap_s=WEEK_S,
        min_gap_s=DAY_S,
        max_gap_s=180 * DAY_S,
        own=own,
        foresight=foresight,
    )


def _peer(name: str, code: int, start_s: float, min_s: float, max_s: float, *own: float) -> Rule:
    return Rule(name=name, code=code, start_gap_s=start_s, min_gap_s=min_s, max_gap_s=max_s, own=own)


def _reader(name: str, code: int, start_s: float, min_s: float, max_s: float) -> Rule:
    """Where little or nothing came lately, a feed reader answers with its largest gap, or a share of it."""
    return replace(_peer(name, code, start_s, min_s, max_s), answers_largest=True)


_ALL = (
    _archiver("fix", AGREED, 2.0),
    _archiver("dyn", AGREED, 0.0),
    _archiver("window", WINDOWED),
    _archiver("state-1", CHAINED, 1.0),
    _archiver("state-2", CHAINED, 2.0),
    _archiver("gold", FIXED, foresight=True),
    _archiver("week", FIXED, WEEK_S),
    _peer("nutch", SYNCHRONISED, 30 * DAY_S, MINUTE_S, 365 * DAY_S, 0.4, 0.2, 1.0, 0.3),
    _peer("storm-crawler", HALVED, DAY_S, HOUR_S, 14 * DAY_S, 0.5, 0.5),
    _peer("heritrix", MULTIPLIED, DAY_S, HOUR_S, 28 * DAY_S, 1.5, 1.0 / 1.5),
    _reader("miniflux", MINIFLUX, DAY_S, 5 * MINUTE_S, DAY_S),
    _reader("commafeed", COMMAFEED, 4 * HOUR_S, 5 * MINUTE_S, 4 * HOUR_S),
    _peer("hydra", CLIMBED, 12 * HOUR_S, 12 * HOUR_S, 30 * DAY_S),
    _reader("freshrss-autottl", AUTO_TTL, DAY_S, HOUR_S, DAY_S),
    _peer("changedetection", FIXED, 3 * HOUR_S, 3.0, 365 * DAY_S, 3 * HOUR_S),
)
RULES: Mapping[str, Rule] = {rule.name: rule for rule in _ALL}


def rule_named(name: str) -> Rule:
    if name not in RULES:
        raise UnknownPartError(f"There is no rule called {name!r}; choose one of: {', '.join(RULES)}.")
    return RULES[name]
