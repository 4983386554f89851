"""JSONPath (RFC 9535): which values of a document count.

Values are found by their steps, names and places, and the document is cut down to those that count. What is
left of an array closes up: an element that does not count leaves no hole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from recrawl.errors import BadSettingError

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath

GONE: Final = object()  # what is not there, as null is
_DEEPEST = 500

# Every step that leads to a chosen value: a branch, or True where all from here on is chosen.
Branch = dict[str | int, "Branch | bool"]


class Labelled(list[Any]):
    """An array of which something may be missing, with what told its elements apart when they were whole."""

    __slots__ = ("labels", "name")

    def __init__(self, items: Iterable[Any], name: str, labels: Sequence[str]) -> None:
        super().__init__(items)
        self.name = name
        self.labels = labels


def check(expression: str) -> None:
    """Complain of what is no JSONPath."""
    try:
        _compiled(expression)
    except ValueError as problem:
        raise BadSettingError(
            f"{expression!r} is no JSONPath: {problem}; write it as in `json:$.items[*].price`."
        ) from None


def cut(
    value: Any,
    plain: Callable[[Any], Any],
    labels: Callable[[list[Any]], tuple[str, list[str]]],
    *,
    include: Sequence[str],
    ignore: Sequence[str],
) -> Any:
    """What counts of a value; `GONE` where nothing does. `plain` makes numbers of numbers for filters to
    compare, and `labels` tells the elements of an array apart."""
    if not include and not ignore:
        return value
    document = plain(value)
    kept = _chosen(document, include) if include else True
    return _cut(value, kept, _chosen(document, ignore), labels)


def _chosen(document: Any, expressions: Sequence[str]) -> Branch | bool:
    tree: Branch = {}
    for expression in expressions:
        for match in _compiled(expression).finditer(document):
            if not match.parts:
                return True
            _grow(tree, match.parts)
    return tree


def _grow(tree: Branch, steps: Sequence[str | int]) -> None:
    for step in steps[:-1]:
        inner = tree.setdefault(step, {})
        if isinstance(inner, bool):
            return  # it is chosen already, with all that is in it
        tree = inner
    tree[steps[-1]] = True


def _cut(
    value: Any,
    kept: Branch | bool,
    dropped: Branch | bool,
    labels: Callable[[list[Any]], tuple[str, list[str]]],
) -> Any:
    if dropped is True or not kept:
        return GONE
    if kept is True and not dropped:
        return value
    if isinstance(value, dict):
        members = {
            name: _cut(item, _at(kept, name), _at(dropped, name), labels) for name, item in value.items()
        }
        return {name: item for name, item in members.items() if item is not GONE}
    if isinstance(value, list):
        name, found = labels(value)
        items = [_cut(item, _at(kept, i), _at(dropped, i), labels) for i, item in enumerate(value)]
        left = [i for i, item in enumerate(items) if item is not GONE]
        return Labelled((items[i] for i in left), name, [found[i] for i in left] if name else [])
    return value


def _at(branch: Branch | bool, step: str | int) -> Branch | bool:
    return branch if isinstance(branch, bool) else branch.get(step, False)


@lru_cache(maxsize=256)
def _compiled(expression: str) -> JSONPath | CompoundJSONPath:
    """ValueError where it is none."""
    from jsonpath import JSONPathEnvironment, JSONPathError  # a tenth of a second that few need

    class Environment(JSONPathEnvironment):
        max_recursion_depth = _DEEPEST

    try:
        return Environment(strict=True).compile(expression)
    except (JSONPathError, RecursionError) as problem:
        first = str(problem).partition("\n")[0].strip()
        raise ValueError(first or type(problem).__name__) from None
