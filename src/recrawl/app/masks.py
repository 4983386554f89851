"""What was learned to be noise, for people: listed, undone and done again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.contracts import Store
from recrawl.detect.noise import certain
from recrawl.errors import BadInputError
from recrawl.model import Learned, Manner, Mask, Resource, Scope, ScopeKind, Settings, Standing


def noisy(store: Store) -> Iterator[tuple[Resource, Standing]]:
    """The resources of which some noise is known."""
    for resource, standing, _ in store.resources():
        if standing.noise.masks or standing.noise.twins:
            yield resource, standing


def mask_rows(resource: Resource, standing: Standing) -> list[Row]:
    """The masks of a resource, numbered as `undo` wants them."""
    return [
        {
            "url": resource.url,
            "number": n,
            "place": mask.place,
            "shape": mask.shape,
            "state": state(resource.effective.manner, mask),
            "learned": mask.learned.value,
            "learned_at": iso(mask.at),
            "differed": mask.n_differed,
            "same": mask.n_same,
            "example": mask.example,
        }
        for n, mask in enumerate(standing.noise.masks, 1)
    ]


def state(manner: Manner, mask: Mask) -> str:
    if manner.mask is False:
        return "off"
    if mask.place in (manner.unmask or ()):
        return "undone"
    return "masked" if certain([mask]) or mask.learned is Learned.TURN else "on trial"


def undo(store: Store, resource: Resource, numbers: Sequence[int], now: float) -> int:
    """What stands in these places counts again, whatever is learned of it later. How many are new."""
    places = [mask.place for mask in _chosen(store, resource, numbers)]
    before = resource.settings.manner.unmask if resource.settings.manner else None
    return _say(store, resource, tuple(dict.fromkeys([*(before or ()), *places])), before or (), now)


def redo(store: Store, resource: Resource, numbers: Sequence[int], now: float) -> int:
    """Take an undoing back."""
    places = {mask.place for mask in _chosen(store, resource, numbers)}
    before = (resource.settings.manner.unmask if resource.settings.manner else None) or ()
    return _say(store, resource, tuple(place for place in before if place not in places), before, now)


def _chosen(store: Store, resource: Resource, numbers: Sequence[int]) -> list[Mask]:
    masks = store.standing(resource.id)[0].noise.masks
    unknown = [n for n in numbers if not 1 <= n <= len(masks)]
    if unknown:
        raise BadInputError(
            f"{resource.url} has no mask {unknown[0]}; `recrawl noise {resource.url}` lists those it has."
        )
    return [masks[n - 1] for n in numbers]


def _say(
    store: Store, resource: Resource, after: tuple[str, ...], before: tuple[str, ...], now: float
) -> int:
    scope = Scope(ScopeKind.RESOURCE, resource.url)
    if after:
        store.say(scope, Settings(manner=Manner(unmask=after)), now)
    elif before:
        store.say(scope, Settings(), now, forget=["unmask"])
    return len(set(after) ^ set(before))
