"""Forecasts to choose among: the rhythm, some of its parts left out, and the Gamma filter under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from recrawl.evaluate.contenders import GROUNDS
from recrawl.learn.predictors.rhythm import PARTS

GAMMA, WHOLE = "gamma", "whole"
# Parts that visits teach. Signals are not among them: nobody tells anything in a corpus.
TRIED = ("rates", "habits", "stirs", "heed", "scouts", "calendar", GROUNDS)
# What can stand alone: there is nothing to heed, and nothing to scout for, where no group is stirred.
ALONE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "rates": ("rates",),
        "habits": ("habits",),
        "groups": ("stirs", "heed", "scouts"),
        "calendar": ("calendar",),
        GROUNDS: (GROUNDS,),
    }
)


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    predictor: str = "rhythm"
    without: tuple[str, ...] = ()


def without(part: str) -> str:
    return f"without {part}"


def only(part: str) -> str:
    return f"only {part}"


def _but(has: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in (*PARTS, GROUNDS) if part not in has)


# From the plainest to the whole: of those that do equally well the plainer is chosen.
CANDIDATES: tuple[Candidate, ...] = (
    Candidate(GAMMA, predictor="gamma"),
    *(Candidate(only(name), without=_but(has)) for name, has in ALONE.items()),
    *(Candidate(without(part), without=(part,)) for part in TRIED),
    Candidate(WHOLE),
)
