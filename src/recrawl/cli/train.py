"""The command that learns from first sights."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal
from recrawl.errors import BadInputError

if TYPE_CHECKING:
    from recrawl.learn.sights.model import Trained


def train(
    k: Annotated[
        int | None,
        typer.Option(
            "--k", metavar="N", min=2, max=20, help="Classes of change rates to tell apart; else 4."
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Learn nothing: print the report of the present model.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Learn from first sights how often a page will change.

    Every resource's first visit keeps what it showed: its look, its headers, its address. What later visits
    found of those seen so far teaches a model what to expect of a new one; a running recrawl learns one anew
    every day by itself. Here it is learned at once, kept, and all that were sighted get new hunches.

    The report says how good it is on resources, and on whole sites, that it has not seen: there is no other
    honest measure. Asks no network. Needs scikit-learn: pip install 'recrawl[learn]'.

    \b
    Examples:
      recrawl train
      recrawl train --k 3
      recrawl train --show --json
    """
    from recrawl.app.training import present, row, train

    if show and k is not None:
        raise BadInputError("--show learns nothing, so --k says nothing to it; leave one of them out.")
    if show:
        with options.opened(home, reading=True) as house:
            model = present(house.store)
    else:
        with options.opened(home, new=False) as house, terminal.working("Learning …") as tell:
            model = train(
                house.store, k=k or 4, now=house.clock.now(), tell=lambda text: tell(f"Learning … {text}")
            )
    if json:
        terminal.say_json(row(model))
        return
    for line in _lines(model):
        terminal.say(line)


def _lines(model: Trained) -> Iterator[str]:
    from recrawl.app.quantity import iso

    said: Any = model.report
    yield (
        f"Model {model.name} of {iso(model.trained_at)}, from {terminal.n_of(said['resources'], 'resource')} "
        f"of {terminal.n_of(said['sites'], 'site')} and {terminal.n_of(said['visits'], 'visit')}."
    )
    if not model.present:
        yield "Sights are taken otherwise now; run `recrawl train` for a model of those."
    yield ""
    yield "How often it changes, on what was held out"
    for name, words in (("by_resource", "unseen resources"), ("by_site", "unseen sites")):
        if (one := said["log_rate"][name]) is None:
            yield f"  {words:<17} not known: all are of one site"
            continue
        yield (
            f"  {words:<17} off by a factor of {exp(one['error']):.2f} ({exp(one['error_without']):.2f} "
            f"without a look); {one['explained']:.0%} of the variance explained"
        )
    if not said["trees"]:
        yield "  looks tell nothing yet: all get the same hunch"
    else:
        yield f"  {said['trees']} trees; what moves hunches most: " + ", ".join(
            f"{one['feature']} {one['moves']:.2f}" for one in said["importance"][:6]
        )
    yield ""
    yield from _class_lines(said)


def _class_lines(said: Any) -> Iterator[str]:
    import numpy as np

    from recrawl.learn.groups import sizes_said
    from recrawl.model import DAY_S
    from recrawl.schedule.reason import span

    made, classes = said["classifier"], said["classes"]
    days = [one if one is not None else float("inf") for one in classes["interval_days"]]
    by = {
        "k-means": f"{classes['asked']} by k-means",
        "equal": sizes_said(np.array(classes["n"]), classes["asked"]),
        "given": "as given",
    }[classes["by"]]
    yield f"Classes of change rates: {by}"
    for one, n, row in zip(days, classes["n"], made["confusion"], strict=True):
        # what they were taken for, fastest class first
        yield f"  every {span(one * DAY_S):<11} {n:>7,}   taken for: " + "  ".join(f"{x:>6,}" for x in row)
    errors = [f"{made['error_by_resource']:.1%} on unseen resources"]
    if made["error_by_site"] is not None:
        errors.append(f"{made['error_by_site']:.1%} on unseen sites")
    yield (
        f"  wrong: {', '.join(errors)}; {made['error_of_the_largest']:.1%} by always saying the largest, "
        f"{made['error_of_chance']:.0%} by chance"
    )
    leaves = f"{made['leaves']} {'leaf' if made['leaves'] == 1 else 'leaves'}"
    yield f"  a tree of {leaves} on: {', '.join(made['features'])}"
    off = f"  probabilities are off by {made['calibration_error']:.1%} in the mean"
    if made["calibrated_by"] == "none":
        yield f"{off}, as the tree says them: calibrating them would not help"
    else:
        yield f"{off}, calibrated ({made['calibrated_by']}); {made['calibration_error_before']:.1%} before"
