"""What is said of a visit, for people."""

from __future__ import annotations

from dataclasses import replace

from recrawl.model import HOUR_S, Lens, Verdict, Version, Visit

LIKENESS = {
    "soft-404": "a page that says it is not there",
    "login": "a login page",
    "challenge": "a challenge to robots",
    "consent": "a request for consent",
    "empty": "an empty shell",
}
BELIEVED = ", and not for the first time"  # after what a resource looks like by now, and so is taken for


def told(visit: Visit, verdict: Verdict) -> Visit:
    """The visit, with this verdict on what it found."""
    return replace(
        visit,
        changed=verdict.changed,
        significant=verdict.significant,
        magnitude=verdict.magnitude,
        evidence=verdict.evidence,
    )


def doubted(likeness: str, stands_s: float) -> str:
    hours = f"{stands_s / HOUR_S:.0f} hours"
    return f"it looks like {LIKENESS[likeness]}; that counts once it has stood for {hours}"


def believed(visit: Visit, likeness: str) -> Visit:
    return replace(visit, evidence=f"{LIKENESS[likeness]}{BELIEVED}: {visit.evidence}")


def sameness(lens: Lens) -> str:
    if not lens.masks:
        return "only bytes without meaning differ"
    n = len(lens.masks)
    return f"only noise differs ({n} {'part is' if n == 1 else 'parts are'} masked)"


def same_bytes(before: Version, version: Version) -> str:
    was, now = before.media_type or "no type", version.media_type or "no type"
    return f"the same bytes; served as {now}, before as {was}" if was != now else "the same bytes"
