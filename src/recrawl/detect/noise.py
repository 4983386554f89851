"""Noise: differences that are no changes, learned for each resource.

A part that differs between two looks moments apart is noise: a nonce, an advertisement, a counter of
visitors. So is one that differs on every visit and looks like a clock. Such parts are masked. A mask has to
prove itself: where the same stands on visit after visit, it was a change that came between the two looks,
and the mask is dropped.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recrawl.detect import masks as shapes
from recrawl.detect.masks import OR
from recrawl.model import Learned, Lens, Manner, Mask, Noise, Part, Standing, Suspicion

N_MASKS = 64
N_SUSPICIONS = 8
N_IN_A_ROW = 3  # visits on which a clock must have moved before it is taken for one
N_PROOF = 3  # visits that found another value make a mask certain
N_RECENT = 4
N_PLACES = 16
N_IN_TURN = 6  # contents at most
N_RETURNS = 4  # so often an earlier content that came back is worth a second look
_FIGURES = {"{time}", "{number}", "{code}"}
_SHOWN_CHARACTERS = 80
_VALUE_CHARACTERS = 400
_AGE = re.compile(
    r"(?:^|\s)\{number\} \S+ ago\b"
    r"|\b(?:vor|hace|il y a|há|for) \{number\} \S+"
    r"|\{number\} \S+ (?:siden|sedan|geleden)\b",
    re.IGNORECASE,
)


def lens(manner: Manner, noise: Noise) -> Lens:
    """What counts of a resource, by what its owner said and by what was learned."""
    return Lens(
        include=manner.include or (),
        ignore=manner.ignore or (),
        keys=manner.keys or (),
        main=bool(manner.main),
        masks=in_force(manner, noise),
    )


def in_force(manner: Manner, noise: Noise) -> tuple[Mask, ...]:
    if manner.mask is False:
        return ()
    return tuple(mask for mask in noise.masks if mask.place not in (manner.unmask or ()))


def worth_repeating(standing: Standing, parts: Sequence[Part], *, returned: bool) -> bool:
    """Whether a change should be looked at twice, since noise may be all it is. A second look costs a visit.

    It is made where the first change of all is in times, numbers or codes; then at the 2nd, 4th, 8th … change
    in a row, if something differs in the very place where something differed the last time.
    """
    if returned and standing.noise.n_returns < N_RETURNS:
        return True
    n_row = n_in_a_row(standing.bits) + 1
    if standing.n_changes == 0:
        return any(
            _FIGURES & shapes.kinds(shapes.shape(part.before or "", part.after or "")) for part in parts
        )
    again = not set(standing.noise.places).isdisjoint(_spots(parts))
    return again and n_row > 1 and n_row & (n_row - 1) == 0


def n_in_a_row(bits: int) -> int:
    """How many of the newest change bits are set, without a gap."""
    return (~bits & (bits + 1)).bit_length() - 1


def learned(noise: Noise, parts: Iterable[Part], at: float) -> Noise:
    """With masks for the parts in which two looks, moments apart, differ."""
    for part in parts:
        noise = _masked(noise, part, Learned.REPEAT, at)
    return noise


def alternating(noise: Noise, parts: Iterable[Part], at: float) -> Noise:
    """With masks for parts in which the server shows one of a few values in turn, and nothing else."""
    masks = {mask.place: mask for mask in noise.masks}
    for part in parts:
        place = part.spot or part.place
        if part.before is None or part.after is None or OR in part.before + part.after:
            continue
        known = masks.get(place)
        values = known.shape.split(OR) if known is not None and OR in known.shape else []
        shape = shapes.either(*values, part.before, part.after)
        if shape.count(OR) < N_IN_TURN and len(masks) < N_MASKS:
            example = part.after[:_SHOWN_CHARACTERS]
            masks[place] = Mask(place=place, shape=shape, learned=Learned.TURN, at=at, example=example)
    return replace(noise, masks=tuple(masks.values()))


def tracked(noise: Noise, parts: Sequence[Part], at: float) -> Noise:
    """After a visit that found these differences to the newest version, masked ones included."""
    there = _values(parts)
    proved = [_proved(mask, there.get(mask.place, "=")) for mask in noise.masks]
    masks = tuple(
        mask for mask in proved if certain([mask]) or mask.n_same < 2 or mask.n_same <= mask.n_differed
    )
    noise = replace(noise, masks=masks)
    return _promoted(noise, [part for part in parts if not _covered(part, masks)], at)


def certain(masks: Iterable[Mask]) -> bool:
    """Whether all of them have proved themselves, so that nobody needs to look behind them."""
    return all(mask.n_differed >= N_PROOF or mask.learned is Learned.TURN for mask in masks)


def changed(noise: Noise, before: str, parts: Sequence[Part], *, returned: bool) -> Noise:
    """After a change away from the content with this fingerprint, in these parts."""
    recent = (short(before), *(one for one in noise.recent if one != short(before)))[:N_RECENT]
    places = tuple(_spots(parts)[:N_PLACES])
    return replace(noise, recent=recent, places=places, n_returns=noise.n_returns + returned)


def _spots(parts: Iterable[Part]) -> list[str]:
    return list(dict.fromkeys(_digest([part.spot or part.place])[:8] for part in parts))


def short(fingerprint: str) -> str:
    return fingerprint.rpartition(":")[2][:16]


def _masked(noise: Noise, part: Part, how: Learned, at: float) -> Noise:
    """With a mask that fits both values of the part; a like one at the same place becomes wider."""
    before, after = part.before or "", part.after or ""
    shape = shapes.shape(before, after)
    anything = not _says_something(shape)
    place = part.spot if part.spot and anything else part.place
    made = Mask(
        place=place, shape=shape, learned=how, at=at, example=after[:_SHOWN_CHARACTERS], last=_digest([after])
    )
    kept = list(noise.masks)
    for i, mask in enumerate(kept):
        if mask.place != place:
            continue
        if shapes.fits(mask.shape, before) and shapes.fits(mask.shape, after):
            return noise
        wider = shapes.merged(mask.shape, shape)
        if anything or not _says_something(mask.shape) or _says_something(wider):
            kept[i] = replace(mask, shape=wider)
            return replace(noise, masks=tuple(kept))
    return noise if len(kept) >= N_MASKS else replace(noise, masks=(*kept, made))


def _says_something(shape: str) -> bool:
    """Whether there is anything in it beside placeholders."""
    return any(letter.isalnum() for letter in re.sub(r"\{[a-z…]+\}", "", shape))


def _proved(mask: Mask, last: str) -> Mask:
    if last == mask.last:
        return replace(mask, n_same=mask.n_same + 1)
    return replace(mask, last=last, n_differed=mask.n_differed + 1)


def _values(parts: Iterable[Part]) -> dict[str, str]:
    """A digest of what stands now, for every place at which something differs."""
    found: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        for place in {part.place, part.spot} - {""}:
            found[place].append(part.after or "")
    return {place: _digest(values) for place, values in found.items()}


def _digest(values: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(values).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _covered(part: Part, masks: Sequence[Mask]) -> bool:
    return any(
        mask.place in (part.place, part.spot)
        and all(value is None or shapes.fits(mask.shape, value) for value in (part.before, part.after))
        for mask in masks
    )


def _promoted(noise: Noise, parts: Sequence[Part], at: float) -> Noise:
    """Clocks that moved on one more visit; those that always did are masked."""
    known = {suspicion.place: suspicion for suspicion in noise.suspicions}
    watched: list[Suspicion] = []
    for part in parts if len(parts) <= N_SUSPICIONS else ():
        if not part.after or not part.before:
            continue
        earlier = known.get(part.place)
        if earlier is not None and earlier.value == part.after[:_VALUE_CHARACTERS]:
            continue  # it has not moved since the last visit
        shape = shapes.shape(earlier.value if earlier else part.before, part.after)
        if earlier is not None and earlier.n > 1:
            shape = shapes.merged(earlier.shape, shape)
        if not _clock(shape):
            continue
        n = earlier.n + 1 if earlier else 1
        if n >= N_IN_A_ROW:
            noise = _masked(
                noise, replace(part, before=earlier.value if earlier else None), Learned.HISTORY, at
            )
        else:
            value = part.after[:_VALUE_CHARACTERS]
            watched.append(Suspicion(place=part.place, shape=shape, value=value, n=n))
    return replace(noise, suspicions=tuple(watched))


def _clock(shape: str) -> bool:
    """Whether nothing comes and goes in it but times, ages and codes: a number alone may well be news."""
    left = shapes.kinds(_AGE.sub("", shape))
    return bool(shapes.kinds(shape)) and left <= {"{time}", "{code}"}
