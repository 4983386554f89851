"""The visits of one resource along an axis of time: what each found, told by its place and its shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf, isfinite

from markupsafe import Markup

from recrawl.app.quantity import iso
from recrawl.app.rows import verdict, visit_row
from recrawl.evaluate.report.axes import Scale
from recrawl.model import DAY_S, HOUR_S, Changed, Changes, Visit

WIDTH, HEIGHT = 960.0, 150.0
LEFT, RIGHT = 116.0, 84.0  # on the right there is room for a name
N_TITLED = 400  # visits that each have a title; of more, only their number is told
_LANES = {"changed": 26.0, "unchanged": 60.0, "failed": 94.0}
_NAMES = {"changed": "changed", "unchanged": "not changed", "failed": "told nothing"}
_BASE = 116.0
_N_TICKS = 8
_ROOM = 24.0  # half a name on the axis
# Each begins at the middle of the mark.
_SHAPES = {
    "significant": "m0 -8l7 8l-7 8l-7 -8z",
    "changed": "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
    "slight": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "unchanged": "m0 -7v14",
    "seen": "m-4 -4h8v8h-8z",
    "failed": "m-5 -5l10 10m0 -10l-10 10",
}
LEGEND = (
    ("significant", "◆ changed significantly"),
    ("changed", "● changed"),
    ("slight", "○ changed slightly"),
    ("unchanged", "| not changed"),
    ("seen", "□ first look"),
    ("failed", "✕ told nothing"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    visits: Sequence[Visit]
    changes: Changes
    from_at: float
    until_at: float
    now: float
    due_at: float  # the planned visit; NaN: none
    whole: bool = True  # whether these are all visits of that time


def drawn(line: Timeline) -> Markup:
    across = Scale(line.from_at, line.until_at, LEFT, WIDTH - RIGHT)
    parts = [*_frame(line, across), *_visits(line, across)]
    parts += _moments(line, across)
    return Markup(
        '<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="{}" data-from="{}" data-until="{}" '
        'data-left="{}" data-right="{}">{}</svg>'
    ).format(
        *(f"{WIDTH:g}", f"{HEIGHT:g}", words(line), f"{line.from_at:.0f}", f"{line.until_at:.0f}"),
        *(f"{LEFT:g}", f"{WIDTH - RIGHT:g}", Markup("").join(parts)),
    )


def _moments(line: Timeline, across: Scale) -> Iterable[Markup]:
    """Now and the next visit may be a hair apart: the name of the first stands before it, that of the second
    behind it."""
    named = sorted(
        (at, text) for at, text in ((line.now, "now"), (line.due_at, "next visit")) if isfinite(at)
    )
    for turn, (at, text) in enumerate(named):
        if line.from_at <= at <= line.until_at:
            x = across(at)
            yield Markup('<path class="mark" d="M{} 4V{}"/>').format(f"{x:.1f}", f"{_BASE:g}")
            yield _text(text, *((x + 4.0, 12.0, "start") if turn else (x - 4.0, 12.0, "end")))


def words(line: Timeline) -> str:
    """The drawing for those who do not see it."""
    kinds = [kind_of(visit) for visit in line.visits]
    n_changed = sum(lane_of(kind) == "changed" for kind in kinds)
    n_failed = kinds.count("failed")
    newest = "" if line.whole else "the newest "
    visits = "1 visit" if len(kinds) == 1 else f"{len(kinds):,} visits"
    until_at = max(min(line.until_at, line.now), line.from_at)  # what is drawn after now is planned
    return (
        f"{newest}{visits} from {iso(line.from_at)} to {iso(until_at)}: "
        f"{n_changed:,} found a change, {n_failed:,} told nothing."
    )


def kind_of(visit: Visit) -> str:
    """Which mark a visit has."""
    if not visit.informative:
        return "failed"
    if visit.changed is Changed.YES:
        return {True: "significant", False: "slight", None: "changed"}[visit.significant]
    return "unchanged" if visit.changed is Changed.NO else "seen"


def lane_of(kind: str) -> str:
    return {"significant": "changed", "slight": "changed", "seen": "unchanged"}.get(kind, kind)


def _visits(line: Timeline, across: Scale) -> Iterable[Markup]:
    if len(line.visits) <= N_TITLED:
        for visit in line.visits:
            kind = kind_of(visit)
            said = verdict(visit_row(visit, "", changes=line.changes))
            title = f"{iso(visit.at)}: {said}{': ' if visit.evidence else ''}{visit.evidence[:200]}"
            yield _mark(kind, f"{_placed(across(visit.at), kind)}", title)
        return
    together: dict[str, list[str]] = defaultdict(list)
    last = dict.fromkeys(_SHAPES, -inf)
    for visit in line.visits:
        kind, x = kind_of(visit), across(visit.at)
        if abs(x - last[kind]) >= 1.0:  # what is nearer than that lies on top of the one before
            together[kind].append(_placed(x, kind))
            last[kind] = x
    for kind, places in together.items():
        yield _mark(kind, "".join(places), f"{len(places):,} places: {kind}")


def _placed(x: float, kind: str) -> str:
    return f"M{x:.1f} {_LANES[lane_of(kind)]:g}{_SHAPES[kind]}"


def _mark(kind: str, path: str, title: str) -> Markup:
    return Markup('<path class="visit {}" d="{}"><title>{}</title></path>').format(kind, path, title)


def _frame(line: Timeline, across: Scale) -> Iterable[Markup]:
    for lane, y in _LANES.items():
        yield Markup('<path class="grid" d="M{} {}H{}"/>').format(f"{LEFT:g}", f"{y:g}", f"{WIDTH - RIGHT:g}")
        yield _text(_NAMES[lane], LEFT - 8.0, y + 4.0, "end")
    yield Markup('<path class="axis" d="M{} {}H{}"/>').format(f"{LEFT:g}", f"{_BASE:g}", f"{WIDTH - RIGHT:g}")
    for at, name in ticks(line.from_at, line.until_at):
        x = across(at)
        yield Markup('<path class="axis" d="M{} {}v5"/>').format(f"{x:.1f}", f"{_BASE:g}")
        anchor = "start" if x < LEFT + _ROOM else "end" if x > WIDTH - RIGHT - _ROOM else "middle"
        yield _text(name, x, _BASE + 19.0, anchor)


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, text
    )


def ticks(from_at: float, until_at: float) -> list[tuple[float, str]]:
    """Round moments of the calendar, in UTC, at most about eight.

    >>> [name for _, name in ticks(0.0, 4 * 86400.0)]
    ['1 Jan', '2 Jan', '3 Jan', '4 Jan', '5 Jan']
    """
    length_s = until_at - from_at
    if length_s > 2.0 * 365.0 * DAY_S:
        every = -(-int(length_s / (365.0 * DAY_S)) // _N_TICKS)
        return _years(from_at, until_at, every)
    if length_s > 70.0 * DAY_S:
        return _months(from_at, until_at, 3 if length_s > 300.0 * DAY_S else 1)
    for step_s in (60.0, 300.0, 900.0, HOUR_S, 6 * HOUR_S):
        if length_s <= _N_TICKS * step_s:
            return _even(from_at, until_at, step_s, "%H:%M" if step_s <= HOUR_S else "%d %b %H:%M")
    days = next(n for n in (1, 2, 7, 14) if length_s <= _N_TICKS * n * DAY_S or n == 14)
    return _even(from_at, until_at, days * DAY_S, "%d %b")


def _even(from_at: float, until_at: float, step_s: float, form: str) -> list[tuple[float, str]]:
    first = -(-from_at // step_s) * step_s
    found = []
    while first <= until_at:
        found.append((first, f"{datetime.fromtimestamp(first, UTC):{form}}".removeprefix("0")))
        first += step_s
    return found


def _months(from_at: float, until_at: float, every: int) -> list[tuple[float, str]]:
    day = datetime.fromtimestamp(from_at, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    found = []
    while day.timestamp() <= until_at:
        if day.timestamp() >= from_at and (day.month - 1) % every == 0:
            found.append((day.timestamp(), f"{day:%b %Y}" if day.month == 1 else f"{day:%b}"))
        day = (day + timedelta(days=32)).replace(day=1)
    return found


def _years(from_at: float, until_at: float, every: int) -> list[tuple[float, str]]:
    first, last = (datetime.fromtimestamp(at, UTC).year for at in (from_at, until_at))
    years = ((datetime(year, 1, 1, tzinfo=UTC).timestamp(), year) for year in range(first, last + 1))
    return [
        (at, str(year)) for at, year in years if from_at <= at <= until_at and (year - first) % every == 0
    ]
