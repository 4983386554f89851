"""What can be said of how threads were followed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from recrawl.evaluate.report.figures import Finding
from recrawl.evaluate.tan.paired import Spread
from recrawl.evaluate.tan.results import DIRECT, LIMIT, OURS, SQRT, Tan
from recrawl.learn.threads.models import MODELS

CLAIMED = 0.15  # by which share the T-score is to be below that of the square-root rule
CLAIMED_AT = (0.5, 1.0, 2.0)  # visits per post
_WORDS = {"pr_error": "Pr_error (sliding windows)", "p_error_norm": "P_error (normalised)"}
_AIMS = {OURS: "ours", DIRECT: "ours, aiming at it alone (`direct`),"}


def findings(result: Tan) -> list[Finding]:
    found = []
    for asked in CLAIMED_AT:
        sooner = result.sooner(asked, OURS, SQRT)
        if sooner is not None:
            claim = (
                f"At {_visits(asked)} per post the T-score of ours is at least {CLAIMED:.0%} below "
                "that of the square-root rule."
            )
            found.append(Finding(claim=claim, holds=sooner.value >= CLAIMED, sentence=f"By {_by(sooner)}."))
        found += _below_all(result, asked)
    for measure, model in (("pr_error", OURS), ("p_error_norm", OURS), ("p_error_norm", DIRECT)):
        found += _errors(result, measure, model)
    return found


def _below_all(result: Tan, asked: float) -> list[Finding]:
    others = [name for name in result.models if name not in (OURS, DIRECT, SQRT, LIMIT)]
    by = {name: one for name in others if (one := result.sooner(asked, OURS, name)) is not None}
    if not by:
        return []
    closest = min(by, key=lambda name: by[name].value)
    return [
        Finding(
            claim=f"At {_visits(asked)} per post the T-score of ours is below that of {_every(result)}.",
            holds=_all([one.above for one in by.values()]),
            sentence=f"The closest is {closest}: ours is below it by {_by(by[closest])}.",
        )
    ]


def _errors(result: Tan, measure: str, model: str) -> list[Finding]:
    by = {row.model: one for row in result.own if (one := result.fewer(row, model, measure)) is not None}
    if not by:
        return []
    closest = min(by, key=lambda name: by[name].value)
    return [
        Finding(
            claim=f"With as many visits, {_AIMS[model]} has a lower {_WORDS[measure]} than {_every(result)}.",
            holds=_all([one.above for one in by.values()]),
            sentence=f"The closest is {closest}: {model} is below it by {_by(by[closest])}.",
        )
    ]


def _every(result: Tan) -> str:
    return "every model of the paper" + " that was asked for" * (result.ask.models != MODELS)


def _all(each: Sequence[bool | None]) -> bool | None:
    return False if False in each else None if None in each else True


def _by(found: Spread) -> str:
    if isnan(found.low):
        return f"{100 * found.value:+.1f} %"
    return f"{100 * found.value:+.1f} % [{100 * found.low:+.1f} to {100 * found.high:+.1f}]"


def _visits(value: float) -> str:
    return f"{value:g} visit" + "s" * (value != 1.0)
