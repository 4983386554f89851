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
from itertools import pairwise

from recrawl.detect import masks as shapes
from recrawl.model import Learned, Lens, Manner, Mask, Noise, Part, Standing, Suspicion

N_MASKS = 64
MOST_CHARACTERS = 32_000  # of all masks together: they are read and written with every visit
N_SUSPICIONS = 8
N_IN_A_ROW = 3  # visits on which a clock must have moved before it is taken for one
N_PROOF = 3  # visits that found another value make a mask certain
N_RECENT = 4
N_PLACES = 16
# So many visits after the first that find the same in place of what the newest version has: it takes turns no
# more. Of two contents that come as often as each other, one comes so often in a row once in 500 visits.
N_STAYED = 7
N_RETURNS = 4  # so often an earlier content that came back is worth a second look
_FIGURES = {"{time}", "{number}", "{code}"}
_FREE = {"{word}", "{…}"}
_AS_KEPT = "="  # in place of a digest: what stands there is what the newest version has
_SHOWN_CHARACTERS = 80
_VALUE_CHARACTERS = 400
_LONGEST_PLACE = 300
# "Ago" is said in words that can stand before anything: "il y a 3 heures", but also "il y a 3 places".
_UNIT = r"(?:se[kcg]|min|std|stund|tag|woch|monat|jahr|hor|heur|d[ií]a|jour|sem|m[eê]s|mois|a[ñn][os]|ann)"
_AGE = re.compile(
    r"(?:^|\s)\{number\} \S+ ago\b"
    rf"|\b(?:vor|hace|il y a|há) \{{number\}} {_UNIT}\S*"
    r"|\{number\} \S+ (?:siden|sedan|geleden)\b",
    re.IGNORECASE,
)
_LEAST_RANDOM = 8  # characters of a code that nobody chose
_LEAST_TURNS = 3  # from letters to digits or back


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


def maskable(parts: Sequence[Part], manner: Manner) -> list[Part]:
    """Without those that count whatever is learned of them."""
    counts = set(manner.unmask or ())
    return [part for part in parts if counts.isdisjoint((part.place, part.spot))]


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


def another(parts: Sequence[Part], known: Sequence[Part]) -> bool:
    """Whether a second look, which differs from the first in these parts, met something else than the
    resource: most of what is gone from it, or new in it, was in the first look what it had been before that.
    Noise would have differed there, too. `known` are the parts in which the first look differed."""
    lines = {part.after for part in known}
    places = {part.spot or part.place for part in known}
    foreign = [
        part
        for part in parts
        if (part.before is None or part.before not in lines) and (part.spot or part.place) not in places
    ]
    n_foreign = sum(shapes.kinds(shapes.shape(p.before or "", p.after or "")) <= _FREE for p in foreign)
    return 2 * n_foreign > len(parts)


def learned(noise: Noise, parts: Iterable[Part], at: float) -> Noise:
    """With masks for the parts in which two looks, moments apart, differ."""
    for part in parts:
        noise = _masked(noise, part, Learned.REPEAT, at)
    return noise


def tracked(noise: Noise, parts: Sequence[Part], at: float) -> Noise:
    """After a visit that found these differences to the newest version, masked ones included."""
    there = _values(parts)
    proved = [_proved(mask, there.get(mask.place, _AS_KEPT)) for mask in noise.masks]
    masks = tuple(mask for mask in proved if _holds(mask))
    noise = replace(noise, masks=masks)
    if any(mask.learned is Learned.TURN for mask in proved if mask not in masks):
        noise = replace(noise, twins=(), n_stayed=0)
    return _promoted(noise, [part for part in parts if not _covered(part, masks)], at)


def certain(masks: Iterable[Mask]) -> bool:
    """Whether all of them have proved themselves, so that nobody needs to look behind them. Where contents
    take turns it must be seen that they go on doing so."""
    return all(mask.n_differed >= N_PROOF and mask.learned is not Learned.TURN for mask in masks)


def _holds(mask: Mask) -> bool:
    if mask.learned is Learned.TURN:
        return mask.n_same < N_STAYED
    return certain([mask]) or mask.n_same < 2 or mask.n_same <= mask.n_differed


def changed(noise: Noise, before: str, parts: Sequence[Part], *, returned: bool) -> Noise:
    """After a change away from the content with this fingerprint, in these parts."""
    recent = (short(before), *(one for one in noise.recent if one != short(before)))[:N_RECENT]
    places = tuple(_spots(parts)[:N_PLACES])
    return replace(noise, recent=recent, places=places, n_returns=noise.n_returns + returned)


def _spots(parts: Iterable[Part]) -> list[str]:
    return list(dict.fromkeys(_digest([part.spot or part.place])[:8] for part in parts))


def short(fingerprint: str) -> str:
    return fingerprint.rpartition(":")[2][:16]


def handy(part: Part) -> bool:
    """Whether its place has a name that can be kept."""
    return max(len(part.place), len(part.spot)) <= _LONGEST_PLACE


def roomy(masks: Sequence[Mask], more: str) -> bool:
    """Whether there is room for one more beside these."""
    n_characters = sum(len(mask.place) + len(mask.shape) for mask in masks) + len(more)
    return len(masks) < N_MASKS and n_characters <= MOST_CHARACTERS


def _masked(noise: Noise, part: Part, how: Learned, at: float) -> Noise:
    """With a mask that fits both values of the part; a like one at the same place becomes wider."""
    if not handy(part):
        return noise
    before, after = part.before or "", part.after or ""
    shape = shapes.shape(before, after)
    anything = not shapes.says_something(shape)
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
        if anything or not shapes.says_something(mask.shape) or shapes.says_something(wider):
            kept[i] = replace(mask, shape=wider, learned=how)
            return replace(noise, masks=tuple(kept))
    return replace(noise, masks=(*kept, made)) if roomy(kept, place + shape) else noise


def _proved(mask: Mask, last: str) -> Mask:
    if mask.learned is Learned.TURN and last in (_AS_KEPT, mask.last):
        # It comes again by chance: how often in a row tells that it stays. The version's own value may stay.
        return replace(mask, last=last, n_same=0 if last == _AS_KEPT else mask.n_same + 1)
    if last == mask.last:
        return replace(mask, n_same=mask.n_same + 1)
    n_same = 0 if mask.learned is Learned.TURN else mask.n_same
    return replace(mask, last=last, n_differed=mask.n_differed + 1, n_same=n_same)


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
        if not part.after or not part.before or not handy(part):
            continue
        earlier = known.get(part.place)
        if earlier is not None and earlier.value == part.after[:_VALUE_CHARACTERS]:
            continue  # it has not moved since the last visit
        shape = shapes.shape(earlier.value if earlier else part.before, part.after)
        if earlier is not None and earlier.n > 1:
            shape = shapes.merged(earlier.shape, shape)
        if not _clock(shape, part.after):
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


def _clock(shape: str, value: str) -> bool:
    """Whether nothing comes and goes in it but times, ages and codes that nobody chose. A number may well be
    news, and so may the name of a release or of a case."""
    left = shapes.kinds(_AGE.sub("", shape))
    if not shapes.kinds(shape) or not left <= {"{time}", "{code}"}:
        return False
    return "{code}" not in left or all(map(_random, shapes.standing_for("{code}", shape, value)))


def _random(code: str) -> bool:
    """
    >>> [_random(code) for code in ("a3f9c2d1", "v1.12.3-rc4", "CVE-2026-12345", "dGhpcyBpcyBhIG5vbmNl")]
    [True, False, False, True]
    """
    if len(code) >= 2 * _LEAST_RANDOM + 4 and "." not in code:
        return True
    kinds = [letter.isdigit() for letter in code if letter.isalnum()]
    n_turns = sum(one != other for one, other in pairwise(kinds))
    return len(code) >= _LEAST_RANDOM and n_turns >= _LEAST_TURNS and "." not in code
