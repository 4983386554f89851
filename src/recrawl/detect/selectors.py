"""One spelling for what of a resource counts, whatever its kind.

    css:main > p            elements of a page, and what is in them
    xpath://table//tr[1]    the same, by XPath 1.0
    json:$.items[*].price   values of JSON, by JSONPath (RFC 9535)
    column:price            a column of a table, or a variable of a query's result
    predicate:<IRI>         statements of a graph
    field:updated           a part of every entry of a feed, post of a thread or thread of a board

The first three need no prefix: `/`, `./` and `(` begin XPath, `$` JSONPath, all else is CSS. A selector that
does not concern the kind at hand chooses nothing and leaves nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from recrawl.detect.edits import clipped
from recrawl.errors import BadSettingError

_MOST_CHARACTERS = 1_000
_N_NAMED = 3  # in evidence


class Language(StrEnum):
    CSS = "css"
    XPATH = "xpath"
    JSON = "json"
    COLUMN = "column"
    PREDICATE = "predicate"
    FIELD = "field"


PAGE = (Language.CSS, Language.XPATH)  # the languages that speak of elements
_PREFIX = re.compile(rf"({'|'.join(Language)}):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Selector:
    language: Language
    expression: str


def read(selector: str) -> Selector:
    """By its spelling alone; whether it means anything is asked by `checked`.

    >>> read("main > p").language, read("//p").language, read("column:price").expression
    (<Language.CSS: 'css'>, <Language.XPATH: 'xpath'>, 'price')
    """
    text = selector.strip()
    if found := _PREFIX.fullmatch(text):
        return Selector(Language(found[1]), found[2].strip())
    if text.startswith(("/", "./", "(")):
        return Selector(Language.XPATH, text)
    return Selector(Language.JSON if text.startswith("$") else Language.CSS, text)


def speaking(selectors: Iterable[str], *languages: Language) -> tuple[Selector, ...]:
    """Those in one of these languages."""
    found = map(read, selectors)
    return tuple(selector for selector in found if selector.language in languages)


def nothing(include: Sequence[str]) -> str:
    """What to tell where nothing is found that these choose.

    >>> nothing(["h1", "column:price"])
    'nothing matches h1 or column:price'
    """
    named = " or ".join(map(clipped, include[:_N_NAMED]))
    return f"nothing matches {named}{' …' if len(include) > _N_NAMED else ''}"


def checked(selector: str, *, ignoring: bool = False) -> Selector:
    """A selector that means something. What is ignored must be elements: to leave out a mere value of a page
    (an attribute, a count) means nothing."""
    found = read(selector)
    if not found.expression or len(found.expression) > _MOST_CHARACTERS:
        raise BadSettingError(
            f"A selector has from 1 to {_MOST_CHARACTERS} characters; write it as in `--ignore .advert`."
        )
    if not found.expression.isprintable():
        raise BadSettingError("A selector holds no line breaks or control characters; leave them out.")
    match found.language:
        case Language.CSS | Language.XPATH:
            from recrawl.parse import select

            if wrong := select.wrong(found.language, found.expression, values=not ignoring):
                raise BadSettingError(
                    f"{found.expression!r} cannot be used as {_SPELT[found.language]}: {wrong}"
                )
        case Language.JSON:
            from recrawl.detect import paths

            paths.check(found.expression)
        case Language.PREDICATE:
            if not re.fullmatch(r"<[^\s<>\"{}|\\^`]+>", found.expression):
                raise BadSettingError(
                    f"{found.expression!r} is no predicate; write it as in `predicate:<http://example.org/p>`."
                )
        case Language.COLUMN | Language.FIELD:
            pass  # any name may be one
    return found


_SPELT = {Language.CSS: "a CSS selector", Language.XPATH: "XPath"}
