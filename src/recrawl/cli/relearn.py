"""The command that learns all visits anew."""

from __future__ import annotations

from dataclasses import asdict

from recrawl.cli import options, terminal


def relearn(home: options.Home = None, json: options.Json = False) -> None:
    """Learn from all visits anew.

    Plays every recorded visit to the predictor and the rule in force, in the order of time, and keeps what
    they know then. For when another predictor was chosen in recrawl.toml: else it begins with nothing, or
    with the rates alone that the last one has learned.

    Asks no network and changes no visit, version or setting; plans follow when the next run finds its price.

    Resources that are visited meanwhile keep what was known of them; then run it again.

    \b
    Example:
      recrawl relearn
    """
    from recrawl.app.relearning import relearn

    with options.opened(home, new=False) as house, terminal.working("Learning …") as tell:
        done = relearn(house, lambda text: tell(f"Learning … {text}"))
    if json:
        terminal.say_json({name.removeprefix("n_"): n for name, n in asdict(done).items()})
        return
    n_visits, n_resources = terminal.n_of(done.n_visits, "visit"), terminal.n_of(done.n_resources, "resource")
    terminal.say(f"Learned {n_visits} anew, of {n_resources}.")
    if done.n_passed:
        terminal.note(
            f"{terminal.n_of(done.n_passed, 'resource')} visited meanwhile; run `recrawl relearn` again."
        )
