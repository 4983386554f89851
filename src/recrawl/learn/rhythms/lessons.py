"""Visits of many resources, one after the other: what each teaches those that come after it."""

from __future__ import annotations

from recrawl.compiled import hurried, quick
from recrawl.learn.rhythms.beats import Common
from recrawl.learn.rhythms.hearsay import overheard
from recrawl.learn.rhythms.steps import take
from recrawl.model import Floats, Ints

SEVERAL = -1  # in place of a group's one member


@quick
def joined(slot: Ints, member: Ints, group: int, id_: int) -> int:
    """Where the group's stirs are once this member was visited; -1 while it is the only one."""
    if group <= 0:
        return -1
    if member[group] == 0:
        member[group] = id_
    elif member[group] != id_:
        member[group] = SEVERAL
    return int(slot[group]) if member[group] == SEVERAL else -1


@hurried
def learned(
    rows: Floats,
    common: Common,
    slot: Ints,
    member: Ints,
    ids: Ints,
    group: Ints,
    since_at: Floats,
    at: Floats,
    changed: Floats,
    after_s: Floats,
    shape: Floats,
    scale_s: Floats,
    forgetting: float,
    source: Ints,
) -> None:
    for i in range(len(ids)):
        take(
            rows[ids[i]],
            common,
            joined(slot, member, group[i], ids[i]),
            since_at[i],
            at[i],
            changed[i],
            after_s[i],
            shape[i],
            scale_s[i],
            forgetting,
            source[i],
            ids[i],
        )


@hurried
def all_overheard(
    rows: Floats,
    of: Ints,
    common: Common,
    slot: Ints,
    member: Ints,
    ids: Ints,
    group: Ints,
    since_at: Floats,
    at: Floats,
    changed: Floats,
    after_s: Floats,
    shape: Floats,
    scale_s: Floats,
    source: Ints,
) -> None:
    for i in range(len(ids)):
        overheard(
            rows[of[i]],
            common,
            joined(slot, member, group[i], ids[i]),
            since_at[i],
            at[i],
            changed[i],
            after_s[i],
            shape[i],
            scale_s[i],
            source[i],
            ids[i],
        )
