"""What comes next: planned visits over a short time, a lane for each host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup

from recrawl.evaluate.report.axes import Scale
from recrawl.model import Due

N_LANES = 10  # hosts with the most; the others share one
N_PARTS = 60  # of the time: visits of one part are one mark
_WIDTH, _LEFT, _RIGHT = 640.0, 190.0, 10.0
_LANE, _TOP, _BOTTOM = 22.0, 6.0, 24.0
N_LISTED = 50
_LETTERS = 26  # of a host's name
OTHERS = ""  # the lane of those


def hour(due: Sequence[Due], from_at: float, until_at: float) -> Markup:
    """The height of a mark is how many visits it is, up to five."""
    if not due:
        return Markup('<p class="quiet">Nothing is planned for this time.</p>')
    lanes = lanes_of(due)
    across = Scale(from_at, until_at, _LEFT, _WIDTH - _RIGHT)
    height = _TOP + _LANE * len(lanes) + _BOTTOM
    part_s = (until_at - from_at) / N_PARTS
    counts: Counter[tuple[str, int]] = Counter()
    for one in due:
        lane = one.host if one.host in lanes else OTHERS
        counts[lane, min(int((one.at - from_at) / part_s), N_PARTS - 1)] += 1
    parts = [_frame(across, height, from_at, until_at)]
    for turn, name in enumerate(lanes):
        base = _TOP + _LANE * (turn + 1) - 3
        marks = Markup("").join(
            _mark(across, base, from_at + part * part_s, part_s, counts[name, part])
            for part in range(N_PARTS)
            if counts[name, part]
        )
        parts.append(Markup("<g>{}{}{}</g>").format(_name(name, base), marks, _rule(base)))
    svg = Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}" class="chart">{}</svg>').format(
        _WIDTH, height, words(due, lanes), Markup("").join(parts)
    )
    return Markup("<figure>{}{}</figure>").format(svg, _table(due))


def lanes_of(due: Sequence[Due]) -> dict[str, int]:
    """The hosts with the most visits and how many each; what is left is under `OTHERS`."""
    counts = Counter(one.host for one in due)
    most = sorted(counts, key=lambda host: (-counts[host], host))
    kept = most if len(most) <= N_LANES else most[: N_LANES - 1]
    lanes = {host: counts[host] for host in kept}
    if len(kept) < len(most):
        lanes[OTHERS] = len(due) - sum(lanes.values())
    return lanes


def words(due: Sequence[Due], lanes: dict[str, int]) -> str:
    """What the drawing shows, for those who do not see it."""
    told = ", ".join(f"{n:,} {name or 'at other hosts'}" for name, n in lanes.items())
    return f"{len(due):,} planned {'visit' if len(due) == 1 else 'visits'}: {told}"


def _table(due: Sequence[Due]) -> Markup:
    rows = Markup("").join(
        Markup(
            '<tr><td>{}</td><td><a href="/hosts/{}">{}</a></td>'
            '<td class="wrap"><a dir="auto" href="/resources/{}">{}</a></td></tr>'
        ).format(_clock(one.at), quote(one.host, safe=""), one.host, one.resource_id, one.url)
        for one in due[:N_LISTED]
    )
    return Markup(
        "<details><summary>As a list</summary><table><caption>The first {} of {}</caption><thead><tr>"
        '<th scope="col">At</th><th scope="col">Host</th><th scope="col">Resource</th></tr></thead>'
        "<tbody>{}</tbody></table></details>"
    ).format(min(len(due), N_LISTED), f"{len(due):,}", rows)


def _frame(across: Scale, height: float, from_at: float, until_at: float) -> Markup:
    parts = []
    for i in range(5):
        at = from_at + (until_at - from_at) * i / 4
        anchor = "start" if i == 0 else "end" if i == 4 else "middle"
        parts.append(
            Markup(
                '<path class="grid" d="M{:.1f} {:.0f}V{:.0f}"/>'
                '<text x="{:.1f}" y="{:.0f}" text-anchor="{}">{}</text>'
            ).format(across(at), _TOP, height - _BOTTOM, across(at), height - 7, anchor, _clock(at))
        )
    return Markup("").join(parts)


def _name(name: str, base: float) -> Markup:
    short = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
    text = Markup('<text x="0" y="{:.1f}">{}</text>').format(base - 3, short or "other hosts")
    return Markup("<g><title>{}</title>{}</g>").format(name or "other hosts", text)


def _rule(base: float) -> Markup:
    return Markup('<path class="axis" d="M{:.0f} {:.1f}H{:.0f}"/>').format(_LEFT, base, _WIDTH - _RIGHT)


def _mark(across: Scale, base: float, at: float, part_s: float, n: int) -> Markup:
    height = (_LANE - 5) * min(n, 5) / 5
    wide = across(at + part_s) - across(at) - 1
    said = f"{_clock(at)}: {n:,} {'visit' if n == 1 else 'visits'}"
    return Markup(
        '<rect class="due" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(across(at), base - height, wide, height, said)


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M}"
