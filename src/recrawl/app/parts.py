"""Which parts can be had: those that the configuration chooses, and those that others have written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from recrawl.app.config import Config, Schedule
from recrawl.app.policies import policy_of
from recrawl.contracts import Clock, Handler, Premises
from recrawl.errors import RecrawlError
from recrawl.live.clock import WallClock
from recrawl.registry import SINGULAR, made, names, ours, part

_ALONE = ("predictors", "goals", "detectors")  # made of nothing else


def premises(config: Config, clock: Clock, home: Path) -> Premises:
    """What handlers are made with."""
    fetching = config.fetching
    return Premises(
        clock=clock,
        max_bytes=fetching.max_bytes,
        total_s=fetching.total_timeout,
        folders=fetching.allow_files,
        spool=home,
    )


def absent_parts(schedule: Schedule) -> Iterator[str]:
    """The parts that the configuration chooses and that cannot be had, each with the reason."""
    wrong = False
    for group, name in (("goals", schedule.goal), ("predictors", schedule.predictor)):
        try:
            made(group, name)
        except RecrawlError as problem:
            wrong = wrong or group == "goals"
            yield f"schedule.{SINGULAR[group]}: {problem}"
    try:
        if wrong:  # that has been said
            part("policies", schedule.policy)
        else:
            policy_of(schedule.policy, schedule.goal, asked=False)
    except RecrawlError as problem:
        yield f"schedule.policy: {problem}"


def broken_parts(group: str, config: Config, home: Path) -> list[str]:
    """What is wrong with those that are installed. All are loaded; what others wrote is made too, as by a
    run."""
    if group == "handlers":
        return asyncio.run(_broken_handlers(config, home))
    broken = []
    for name in names(group):
        try:
            if ours(group, name):
                part(group, name)
            elif group == "policies":
                policy_of(name, Schedule.model_fields["goal"].default, asked=False)
            else:
                (made if group in _ALONE else part)(group, name)
        except RecrawlError as problem:
            broken.append(str(problem))
    return broken


async def _broken_handlers(config: Config, home: Path) -> list[str]:
    """They may want a running loop to be made in; and of two each may be well, and both claim the same."""
    from recrawl.observe.route import claims

    broken, handlers = [], dict[str, Handler]()
    for name in names("handlers"):
        try:
            handlers[name] = part("handlers", name)(premises(config, WallClock(), home))
        except RecrawlError as problem:
            broken.append(str(problem))
    try:
        claims(handlers)
    except RecrawlError as problem:
        broken.append(str(problem))
    for name, handler in handlers.items():
        try:
            await handler.aclose()
        except Exception as problem:  # whatever it is, the others are looked at all the same
            broken.append(f"{name!r} of handlers cannot be closed ({problem}); tell those who wrote it.")
    return broken
