"""The command that shows the classes of change rates."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, terminal


def classes(
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", min=2, max=100, help="So many classes, whatever speaks against it."),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show which resources change about equally often.

    For 2 to 6 classes: how many resources each has and its mean interval between changes, from what visits
    have found so far. The classes of each number are the best there are (k-means, exactly). One number is
    chosen: the smallest that parts the fastest resources and leaves no class with proportionally few. Classes
    of equal size stand beside it, for where no number does that. Rates are estimates: SURE is how many of the
    resources are really of the class that they were put into, to be expected from how long they were watched.

    \b
    Examples:
      recrawl classes
      recrawl classes --k 3 --json
    """
    from recrawl.app.classes import grouped
    from recrawl.learn.groups import Classes, sizes_said, why_not
    from recrawl.schedule.reason import span

    def said(made: Classes) -> str:
        pairs = zip(made.n.tolist(), made.interval_s.tolist(), strict=True)
        return ", ".join(f"{n:,} every {span(s)}" if s < float("inf") else f"{n:,} never" for n, s in pairs)

    with options.opened(home, reading=True) as house, terminal.working("Reading visits …") as tell:
        found = grouped(house.store, k=k, now=house.clock.now(), tell=lambda text: tell(f"Reading … {text}"))
    if json:
        terminal.say_json(found.row())
        return
    terminal.say_table(
        ["CLASSES", "RESOURCES AND MEAN INTERVALS", "EXPLAINED", "SURE", "AGAINST IT"],
        [
            (
                f"{one.k} *" if one.k == found.choice.k else one.k,
                said(one.classes),
                f"{one.explained:.0%}",
                f"{sure:.0%}",
                why_not(one) or None,
            )
            for one, sure in zip(found.groupings, found.sure, strict=True)
        ],
    )
    terminal.say(f"{sizes_said(found.equal.n, found.choice.k)}: {said(found.equal)}")
    terminal.note(f"Of {terminal.n_of(found.n_resources, 'resource')}; {found.choice.why}.")
    terminal.note(
        f"Rates are estimates, after {terminal.n_of(found.n_visits, 'visit')} in the median: a resource is "
        f"of its class as often as SURE says, {found.sure_equal:.0%} where they are of equal size."
    )
