"""Contents that a server gives in turn: an experiment, or servers that do not agree with each other.

Going from one to the other is no change. But servers also disagree while a new content is on its way to all
of them: what comes again and again, and nothing else, has taken the place of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from recrawl.detect import masks as shapes
from recrawl.detect.masks import OR
from recrawl.detect.noise import N_STAYED, handy, roomy, short
from recrawl.model import Learned, Mask, Noise, Part

N_CONTENTS = 6  # at most
_LONGEST_VALUE = 400  # characters; longer ones are told by the digests of the whole contents alone
_SHOWN_CHARACTERS = 80


def taking_turns(noise: Noise, *fingerprints: str) -> Noise:
    """With these contents among those that the server gives in turn."""
    fresh = tuple(dict.fromkeys(short(one) for one in fingerprints))
    twins = (*(old for old in noise.twins if old not in fresh), *fresh)[-N_CONTENTS:]
    return replace(noise, twins=twins, n_stayed=0)


def alternating(noise: Noise, parts: Iterable[Part], at: float) -> Noise:
    """With masks for parts in which the server shows one of a few values in turn, and nothing else."""
    masks = {mask.place: mask for mask in noise.masks}
    for part in parts:
        place = part.spot or part.place
        if part.before is None or part.after is None or not _masked_in_turn(part):
            continue
        known = masks.get(place)
        values = known.shape.split(OR) if known is not None and OR in known.shape else []
        shape = shapes.either(*values, part.before, part.after)
        others = [mask for mask in masks.values() if mask.place != place]
        if shape.count(OR) < N_CONTENTS and roomy(others, place + shape):
            example = part.after[:_SHOWN_CHARACTERS]
            masks[place] = Mask(place=place, shape=shape, learned=Learned.TURN, at=at, example=example)
    return replace(noise, masks=tuple(masks.values()))


def _masked_in_turn(part: Part) -> bool:
    values = (part.before or "", part.after or "")
    return handy(part) and not any(OR in value or len(value) > _LONGEST_VALUE for value in values)


def came_in_turn(noise: Noise, before: str, after: str) -> Noise | None:
    """After a visit that brought another content than the newest version, by their fingerprints. None: that
    is a change, since they are not known to come in turn, or since this one has stayed."""
    if not {short(before), short(after)} <= set(noise.twins):
        return None
    if noise.twins[-1] != short(after):
        return taking_turns(noise, after)  # the last of them is the one that came last
    n_stayed = noise.n_stayed + 1
    return None if n_stayed >= N_STAYED else replace(noise, n_stayed=n_stayed)


def settled(noise: Noise, before: str, after: str) -> Noise:
    """After a change between contents with these fingerprints: if they came in turn, they do so no more."""
    stayed = {short(before), short(after)} <= set(noise.twins)
    return replace(noise, twins=() if stayed else noise.twins, n_stayed=0)
