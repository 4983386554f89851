"""The hours of the week as a table: its cells are the darker the more changed there, and have the figures."""

from __future__ import annotations

from math import ceil

from markupsafe import Markup

from recrawl.app.hours import WEEKDAYS, Hours

N_SHADES = 6
N_BUSIEST = 3  # hours that are named, where they have …
FEWEST, STANDS_OUT = 3, 5.0  # … so many changes, and so many times as many as an hour has in the mean


def drawn(hours: Hours) -> Markup:
    """Of own times how many; else of looks how many found a change, as 3/12."""
    shares = _shares(hours)
    most = max(max(row) for row in shares)
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(f"{hour:02d}") for hour in range(24))
    rows = Markup("").join(
        Markup('<tr><th scope="row"><abbr title="{}">{}</abbr></th>{}</tr>').format(
            name,
            name[:3],
            Markup("").join(_cell(hours, day, hour, shares[day][hour], most) for hour in range(24)),
        )
        for day, name in enumerate(WEEKDAYS)
    )
    return Markup(
        '<table class="heat"><caption class="unseen">Changes by weekday and hour</caption><thead><tr>'
        '<th scope="col"><span class="unseen">Day</span></th>{}</tr></thead><tbody>{}</tbody></table>'
    ).format(head, rows)


def words(hours: Hours) -> str:
    """What stands out, in a sentence; nothing does while few changes are known."""
    counts = hours.n_told if hours.own else hours.n_changed
    total = int(counts.sum())
    if not total:
        return "No change was seen yet, so no hour stands out."
    flat = counts.ravel()
    order = flat.argsort(kind="stable")[::-1][:N_BUSIEST]
    enough = max(FEWEST, STANDS_OUT * total / flat.size)
    named = [f"{WEEKDAYS[at // 24]} {at % 24:02d}:00" for at in order.tolist() if flat[at] >= enough]
    busiest = f"; most at {', '.join(named)}" if named else ""
    if hours.own:
        return f"{total:,} changes by the times that the content itself gives{busiest}."
    looks = int(hours.n_visits.sum())
    return (
        f"{total:,} of {looks:,} looks found a change{busiest}. A change came at some time before the look."
    )


def _shares(hours: Hours) -> list[list[float]]:
    """What shades a cell. A few looks say little: a share counts as if there had been two more without a
    change."""
    if hours.own:
        return [[float(n) for n in row] for row in hours.n_told.tolist()]
    pairs = zip(hours.n_changed.tolist(), hours.n_visits.tolist(), strict=True)
    return [[n / (all_ + 2.0) for n, all_ in zip(*row, strict=True)] for row in pairs]


def _cell(hours: Hours, day: int, hour: int, share: float, most: float) -> Markup:
    shade = ceil(N_SHADES * share / most) if most > 0.0 else 0
    n, looks = int(hours.n_changed[day, hour]), int(hours.n_visits[day, hour])
    text = str(hours.n_told[day, hour] or "") if hours.own else f"{n}/{looks}" if looks else ""
    return Markup('<td class="shade-{}">{}</td>').format(shade, text)
