"""What threads and boards have in common as they are judged: nothing differs where nobody spoke, however the
pages that were looked at differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from recrawl.detect.exact import Exact
from recrawl.detect.structured import WHOLE, Form, Structured, too_large
from recrawl.model import Snapshot, Verdict
from recrawl.parse import html
from recrawl.parse.pool import ParseFailed, shared

T = TypeVar("T")

Judge = Callable[[Any, Any], Verdict]


class Spoken(Structured):
    """A detector for what people say. `judge` and `n_found` stand at the top level of a module, as the form's
    functions do."""

    doubts = True  # where it does not know, what differs may be no thread: that is no change for all that

    def __init__(
        self, name: str, form: Form[Any], judge: Judge, n_found: Callable[[Any], int], things: str
    ) -> None:
        super().__init__(name, form)
        self._judge = judge
        self._n_found = n_found
        self._things = things

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        if too_large(before) or too_large(after):
            return Exact().compare(before, after)
        found = self._run(partial(_judged, self._judge), before, after)
        return self._verdict_on_failure(before, after) if isinstance(found, ParseFailed) else found

    def listed(self, before: Snapshot, after: Snapshot) -> list[str] | ParseFailed:
        if too_large(before) or too_large(after):
            return super().listed(before, after)
        return self._run(_listed, before, after)

    def unmatched(self, snapshot: Snapshot) -> str:
        if (missed := super().unmatched(snapshot)) or too_large(snapshot):
            return missed
        found = self._run(partial(_counted, self._n_found), snapshot)
        return "" if found else f"no {self._things} are found in it; if it has none, say --kind page"

    def _run(self, function: Callable[..., T], *snapshots: Snapshot) -> T | ParseFailed:
        if all(html.tame(bytes(snapshot.body)) for snapshot in snapshots):
            return super()._run(function, *snapshots)
        # However small: some pages keep their parser busy.
        return shared().run(function, self._form, *(replace(one, memo=None) for one in snapshots))


def _judged(judge: Judge, form: Form[Any], before: Snapshot, after: Snapshot) -> Verdict:
    return judge(form.read(before), form.read(after))


def _listed(form: Form[Any], before: Snapshot, after: Snapshot) -> list[str]:
    found = form.differences(form.read(before), form.read(after), WHOLE)
    return found.listed() if found.counts else []


def _counted(n_found: Callable[[Any], int], form: Form[Any], snapshot: Snapshot) -> int:
    return n_found(form.read(snapshot))
