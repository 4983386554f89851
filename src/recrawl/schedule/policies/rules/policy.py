"""Any rule as a policy: it decides at each visit, and what it decided is what it quotes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import Batch, Floats, Ints, Seen
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import step


class Ruled:
    """A policy that remembers. Quoting only reads, so that finding the price anew applies no rule twice."""

    def __init__(self, rule: Rule) -> None:
        self.name = rule.name
        self.rule = rule
        self.width = rule.width
        self._numbers = rule.numbers
        self._rows = rule.rows(0)

    def learn(self, seen: Seen) -> None:
        """Take a step for each visit; those of one resource in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        for i in np.lexsort((seen.at, seen.id)).tolist():
            resource_id, at = int(seen.id[i]), float(seen.at[i])
            row = self._rows[resource_id].tolist()
            step(
                self.rule.code,
                self._numbers,
                row,
                at,
                at - float(seen.since_at[i]),
                bool(seen.changed[i] == 1),
            )
            self._rows[resource_id] = row

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows of NaN stand for "nothing kept" and are passed over."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = np.isfinite(rows).all(axis=1)
        self._rows[ids[kept]] = rows[kept]

    def quote(self, batch: Batch, forecasts: Forecasts) -> RuleQuote:  # noqa: ARG002 - it looks at none
        return RuleQuote(np.clip(self.memory(batch.id)[:, 0], batch.min_gap_s, batch.max_gap_s))

    def _reach(self, highest: int) -> None:
        """Room for this id; whoever is new starts at the rule's first gap."""
        if highest < len(self._rows):
            return
        grown = self.rule.rows(max(64, 2 * len(self._rows), highest + 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown


@dataclass(frozen=True, slots=True)
class RuleQuote:
    """The same gaps at every price."""

    gap_s: Floats

    def gaps(self, price: float | Floats) -> Floats:  # noqa: ARG002 - it knows none
        return self.gap_s


def fix() -> Ruled:
    return Ruled(RULES["fix"])


def dyn() -> Ruled:
    return Ruled(RULES["dyn"])


def window() -> Ruled:
    return Ruled(RULES["window"])


def state_1() -> Ruled:
    return Ruled(RULES["state-1"])


def state_2() -> Ruled:
    return Ruled(RULES["state-2"])


def week() -> Ruled:
    return Ruled(RULES["week"])


def nutch() -> Ruled:
    return Ruled(RULES["nutch"])


def storm_crawler() -> Ruled:
    return Ruled(RULES["storm-crawler"])


def heritrix() -> Ruled:
    return Ruled(RULES["heritrix"])


def miniflux() -> Ruled:
    return Ruled(RULES["miniflux"])


def commafeed() -> Ruled:
    return Ruled(RULES["commafeed"])


def hydra() -> Ruled:
    return Ruled(RULES["hydra"])


def freshrss_autottl() -> Ruled:
    return Ruled(RULES["freshrss-autottl"])


def changedetection() -> Ruled:
    return Ruled(RULES["changedetection"])
