"""Two JSON values side by side: what stands where in one and in the other.

Elements of an array that name themselves are told apart by that name, so that a step says which one it
means (`$.items[id=7].price`); others by their places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from recrawl.detect.masks import REST, Masks
from recrawl.detect.paths import GONE, Labelled
from recrawl.detect.places import seen

_NAMES = ("id", "@id", "_id", "key", "uuid", "guid", "code", "slug", "name", "url", "href", "title")
_SHORTHAND = re.compile(r"[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*")


@dataclass(frozen=True, slots=True)
class Step:
    """One place, with what stands there before and after; `GONE` where it is in one of them only."""

    exact: str
    general: str
    before: Any
    after: Any
    element: bool = False  # of an array: it came or went as a whole


def steps(old: Any, new: Any, *, every: bool = False) -> Iterator[Step]:
    """The single values that differ, and what is in one of them only; with `every` also what is the same."""
    return _steps(Step("$", "$", old, new), every)


def _steps(step: Step, every: bool) -> Iterator[Step]:
    old, new = step.before, step.after
    if old is GONE or new is GONE or not (_holds(old) or _holds(new)):
        if old != new or (every and old is not GONE):
            yield step
        return
    if not every and old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            at = member(name)
            inner = old.get(name, GONE), new.get(name, GONE)
            yield from _steps(Step(step.exact + at, step.general + at, *inner), every)
    elif isinstance(old, list) and isinstance(new, list):
        for label, before, after in _aligned(old, new):
            exact, general = f"{step.exact}[{label}]", f"{step.general}[*]"
            yield from _steps(Step(exact, general, before, after, element=True), every)
    else:  # a single value became many, or the other way round
        yield Step(step.exact, step.general, old, GONE)
        yield Step(step.exact, step.general, GONE, new)


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _aligned(old: list[Any], new: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Elements by their names where both arrays have them, else by their places."""
    (name, had), (other_name, has) = labels(old), labels(new)
    named = name == other_name != ""
    if named and (len(old) != len(new) or not set(had).isdisjoint(has)):
        by_name, others = dict(zip(had, old, strict=True)), dict(zip(has, new, strict=True))
        for label in [*had, *(label for label in has if label not in by_name)]:
            yield f"{name}={label}", by_name.get(label, GONE), others.get(label, GONE)
        return
    # Where something was put in or taken out, what follows has moved and is otherwise the same.
    n_tail = _n_alike(old[::-1], new[::-1]) if len(old) != len(new) else 0
    n_tail = min(n_tail, min(len(old), len(new)) - _n_alike(old, new)) if n_tail else 0
    heads = old[: len(old) - n_tail], new[: len(new) - n_tail]
    for i in range(max(map(len, heads))):
        before, after = (head[i] if i < len(head) else GONE for head in heads)
        yield str(i), before, after
    for i in range(n_tail, 0, -1):
        yield str(len(new) - i), old[-i], new[-i]


def _n_alike(one: list[Any], other: list[Any]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def labels(items: list[Any]) -> tuple[str, list[str]]:
    """Under which name the elements name themselves, each otherwise, and how; nothing where they do not."""
    if isinstance(items, Labelled):
        return items.name, list(items.labels)
    if items and all(isinstance(item, dict) for item in items):
        for name in _NAMES:
            values = [item.get(name) for item in items]
            if all(isinstance(value, str) for value in values) and len(set(values)) == len(values):
                return name, values
    return "", []


def member(name: str) -> str:
    """
    >>> member("price"), member("a.b")
    ('.price', "['a.b']")
    """
    if _SHORTHAND.fullmatch(name):
        return f".{name}"
    inner = json.dumps(name, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"['{inner}']"


def leaves(step: Step) -> Iterator[tuple[str, str, Any]]:
    """Every single value in something that is in one of two documents only."""
    value = step.after if step.before is GONE else step.before
    if not _holds(value):
        yield step.exact, step.general, value
    else:
        for inner in _steps(Step(step.exact, step.general, value, value), True):
            yield inner.exact, inner.general, inner.before


def holds_values(value: Any) -> bool:
    """Whether there is any single value in it."""
    if isinstance(value, dict):
        return any(map(holds_values, value.values()))
    return any(map(holds_values, value)) if isinstance(value, list) else True


def n_leaves(value: Any) -> int:
    if value is GONE:
        return 0
    if isinstance(value, dict):
        return sum(map(n_leaves, value.values())) or 1
    return (sum(map(n_leaves, value)) or 1) if isinstance(value, list) else 1


def masked(value: Any, masks: Masks, text: Callable[[Any], str], exact: str = "$", general: str = "$") -> Any:
    """The value as it counts: with shapes in place of what is masked; a member that may be anything is left
    out, since it may be nothing as well."""
    if value is GONE:
        return GONE
    if not _holds(value):
        plain = text(value)
        through = seen(masks, exact, general, plain)
        return value if through == plain else GONE if through == REST else through
    if isinstance(value, dict):
        members = {
            name: masked(item, masks, text, exact + member(name), general + member(name))
            for name, item in value.items()
        }
        return {name: item for name, item in members.items() if item is not GONE}
    name, found = labels(value)
    named = [f"{name}={label}" for label in found] if name else list(map(str, range(len(value))))
    inner = f"{general}[*]"
    items = [
        masked(item, masks, text, f"{exact}[{label}]", inner)
        for label, item in zip(named, value, strict=True)
    ]
    items = [REST if item is GONE else item for item in items]  # how many there are still counts
    if isinstance(value, Labelled) and f"{inner}{member(name)}" not in masks.places:
        return Labelled(items, name, found)
    return items
