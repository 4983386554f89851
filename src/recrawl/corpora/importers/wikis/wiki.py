"""A MediaWiki's API: one question at a time, and as many answers as it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urljoin

from recrawl.corpora.importing import Intake
from recrawl.errors import BadInputError

MAX_LAG_S = 5  # a wiki whose copies are further behind is left alone for a while
_ALWAYS = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(MAX_LAG_S)}
_PATIENCE = frozenset({"maxlag", "ratelimited", "readonly"})
_API = re.compile(rb"""["']([^"'<>\s]*/api\.php)\?action=rsd["']""")  # every page of a wiki names it
Params = Mapping[str, str]


class Wiki:
    """Asked through the intake, so that waiting and trying again are done there."""

    def __init__(self, api: str, into: Intake) -> None:
        self.api = api
        self._into = into

    def answers(
        self, params: Params, *, after: Params | None = None
    ) -> Iterator[tuple[Any, dict[str, str] | None]]:
        """What the wiki says, answer by answer, each with what must be asked to go on after it."""
        further = dict(after or {})
        while True:
            said = self.ask(dict(params) | further)
            goes_on = said.get("continue")
            further = (
                {name: str(value) for name, value in goes_on.items()} if isinstance(goes_on, dict) else {}
            )
            query = said.get("query", {})
            yield query if isinstance(query, dict) else {}, further or None
            if not further:
                return

    def ask(self, params: Params) -> dict[str, Any]:
        url = f"{self.api}?{urlencode(_ALWAYS | dict(params))}"
        said = _read(self._into.ask(url, accept="application/json", busy=_is_busy))
        if said is None or "error" in said:
            error = said["error"] if said else {"info": "the answer is not JSON"}
            why = error.get("info", "no reason given") if isinstance(error, dict) else error
            raise BadInputError(f"{self.api} refuses to answer ({str(why)[:300]}); mend what is asked for.")
        return said


def found(source: str, into: Intake) -> str:
    """The address of the API of the wiki at this address, which may be it."""
    address = source.partition("?")[0].partition("#")[0]
    if address.endswith(".php") and address.rpartition("/")[2].startswith("api"):
        return address
    named = _API.search(into.ask(source, accept="text/html"))
    if named is None:
        raise BadInputError(
            f"{source} is no page of a MediaWiki that names its API; give the API's address, such as "
            "https://en.wikipedia.org/w/api.php."
        )
    return str(urljoin(source, named[1].decode("ascii", "replace")))


def objects(said: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects in an answer, without what is none."""
    listed = said.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _read(body: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _is_busy(body: bytes) -> bool:
    """A lagging wiki answers with status 200; half an answer is none."""
    if b'"error"' not in body[:1000] and body.rstrip().endswith(b"}"):
        return False
    said = _read(body)
    if said is None:
        return not body.lstrip().startswith(b"<")  # a page for people will not become an answer
    error = said.get("error")
    code = str(error.get("code", "")) if isinstance(error, dict) else ""
    return code in _PATIENCE or code.startswith("internal_api_error")
