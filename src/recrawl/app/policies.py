"""A policy by its name, with its goal where it has one."""

from __future__ import annotations

from inspect import signature

from recrawl.app.config import Schedule
from recrawl.contracts import Policy
from recrawl.errors import ConflictError
from recrawl.registry import check, made, part
from recrawl.schedule.jitter import SHARE


def policy_of(name: str, goal: str, *, asked: bool) -> tuple[Policy, str]:
    """The policy, and the rule that plans are made by: its name, and its goal. A goal that was `asked` for is
    refused by a policy that has none."""
    make = part("policies", name)
    policy: Policy
    known = signature(make).parameters
    if "goal" in known:
        policy = make(goal=made("goals", goal), **({"jitter": SHARE} if "jitter" in known else {}))
        return policy, f"{name}:{goal}"
    if asked:
        raise ConflictError(f"The policy {name!r} knows no goal; leave --goal out, or use policy index.")
    policy = make()
    return policy, name


def check_schedule(schedule: Schedule) -> None:
    """A schedule that no run could keep to is refused as a run would: figures that name it would mislead."""
    policy_of(schedule.policy, schedule.goal, asked=False)
    check("predictors", schedule.predictor)
