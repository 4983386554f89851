"""Pausing and resuming, told by what it really did."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.app.watchlist import Choice, chosen, say
from recrawl.contracts import Store
from recrawl.model import Resource, Settings


@dataclass(frozen=True, slots=True)
class Rested:
    """What pausing or resuming did: how many really changed, and how many stay as they were because
    something nearer or wider says so."""

    n_changed: int
    n_otherwise: int


def pause(store: Store, choice: Choice, now: float) -> Rested:
    n_before = _n_paused(store, choice)
    n = say(store, choice, Settings(paused=True), now)
    n_after = _n_paused(store, choice)
    return Rested(n_after - n_before, n - n_after)


def resume(store: Store, choice: Choice, now: float) -> Rested:
    """Take a pause back. A resource that is named itself resumes whatever its tags and host say."""
    n_before = _n_paused(store, choice)
    say(store, choice, Settings(), now, forget=("paused",))
    resumed = [resource.id for resource in chosen(store, choice) if _excepted(resource, choice)]
    # their own word is needed only against a wider pause; else it would outlive that and stop the next one
    store.say_each(resumed, Settings(), now, forget=("paused",))
    still = [resource.id for resource, _, _ in store.these(resumed) if resource.effective.paused]
    store.say_each(still, Settings(paused=False), now)
    n_after = _n_paused(store, choice)
    return Rested(n_before - n_after, n_after)


def _excepted(resource: Resource, choice: Choice) -> bool:
    return bool(choice.urls or choice.ids) or resource.settings.paused is False


def _n_paused(store: Store, choice: Choice) -> int:
    return sum(resource.effective.paused for resource in chosen(store, choice))
