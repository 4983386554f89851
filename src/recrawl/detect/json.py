"""JSON: the order of members, white space and the spelling of numbers carry no meaning; all else does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from recrawl.detect.structured import Differences, Structured, between, hashed
from recrawl.model import Snapshot
from recrawl.parse import charset

# Elements that name themselves are told apart by that name, so that evidence says which one changed.
_NAMES = ("id", "@id", "_id", "key", "uuid", "guid", "code", "slug", "name", "url", "href", "title")
_DEEPEST = 500  # beyond it Python's own recursion limit is near


class Number(str):
    """A number by its value: 1, 1.0 and 10e-1 are one, and no digit is lost."""

    __slots__ = ()


def Json() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `json`."""
    return Structured("json", digest, differences)


def digest(snapshot: Snapshot) -> str:
    return hashed([canonical(read(snapshot))])


def differences(before: Snapshot, after: Snapshot) -> Differences:
    return between(dict(leaves(read(before))), dict(leaves(read(after))), noun="value", plural="values")


def read(snapshot: Snapshot) -> Any:
    """The value in the document."""
    text = charset.text(bytes(snapshot.body), snapshot.charset or "utf-8").removeprefix("\ufeff")
    return json.loads(
        text,
        parse_int=_number,
        parse_float=_number,
        parse_constant=lambda name: Number(name),
        object_pairs_hook=_members,
    )


def _number(text: str) -> Number:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return Number(text)
    if not value.is_finite() or abs(value.adjusted()) > 400:  # never written out in full: 1e999999999
        return Number(f"{value.normalize():e}".replace("e+", "e") if value.is_finite() else text)
    return Number("0" if value == 0 else f"{value.normalize():f}")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A member that is given again is kept too: which of them holds is anyone's guess."""
    members: dict[str, Any] = {}
    for name, item in pairs:
        n = 1
        label = name
        while label in members:
            n += 1
            label = f"{name}#{n}"
        members[label] = item
    return members


def canonical(value: Any, depth: int = 0) -> str:
    """One text for one meaning."""
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} deep")
    match value:
        case dict():
            inner = (
                f"{json.dumps(name)}:{canonical(item, depth + 1)}" for name, item in sorted(value.items())
            )
            return "{" + ",".join(inner) + "}"
        case list():
            return "[" + ",".join(canonical(item, depth + 1) for item in value) + "]"
        case Number():
            return str(value)
        case _:
            return json.dumps(value)


def leaves(value: Any, path: str = "$", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every value that holds no others, with the path to it."""
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}", depth + 1)
    elif isinstance(value, list) and value:
        for label, item in zip(_labels(value), value, strict=True):
            yield from leaves(item, f"{path}[{label}]", depth + 1)
    else:
        yield path, canonical(value)


def _labels(items: list[Any]) -> list[str]:
    """What tells the elements of an array apart: their own names, if they have any, else their places."""
    if all(isinstance(item, dict) for item in items):
        for name in _NAMES:
            values = [item.get(name) for item in items]
            if all(isinstance(value, str) for value in values) and len(set(values)) == len(values):
                return [f"{name}={value}" for value in values]
    return [str(place) for place in range(len(items))]
