"""What is known of a resource's noise, as one column of its row."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from recrawl.errors import NewerStoreError
from recrawl.model import SILENCE, Learned, Mask, Noise, Suspicion

_KNOWN = tuple(field.name for field in fields(Noise))


def noise_text(noise: Noise) -> str | None:
    """Only what differs from silence; None where nothing does."""
    if noise == SILENCE:  # as of nearly all
        return None
    said = asdict(noise)
    kept = {name: said[name] for name in _KNOWN if getattr(noise, name) != getattr(SILENCE, name)}
    return json.dumps(kept)


def noise_of(text: str) -> Noise:
    said: dict[str, Any] = json.loads(text)
    unknown = sorted(set(said) - set(_KNOWN))
    if unknown:
        raise NewerStoreError(
            f"The store knows of noise in ways that this recrawl does not ({', '.join(unknown)}); "
            "upgrade recrawl."
        )
    masks = [Mask(**{**mask, "learned": Learned(mask["learned"])}) for mask in said.pop("masks", ())]
    suspicions = [Suspicion(**suspicion) for suspicion in said.pop("suspicions", ())]
    for name in ("recent", "places", "twins"):
        said[name] = tuple(said.get(name, ()))
    return Noise(masks=tuple(masks), suspicions=tuple(suspicions), **said)
