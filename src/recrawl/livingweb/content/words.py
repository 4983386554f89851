"""Plain sentences, titles and names, each a function of its key."""

from __future__ import annotations

from hashlib import blake2b


def _several(text: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in text.split(",")]


_QUALITIES = _several(
    "old, quiet, narrow, bright, early, late, second, northern, wooden, empty, busy, public, small, famous,"
    "careful, yellow, open, broken, heavy, local, modern, royal, distant, new"
)
_THINGS = _several(
    "bridge, market, library, harbour, council, museum, orchestra, bakery, railway, garden, school, mill,"
    "theatre, workshop, river, lighthouse, committee, village, station, newspaper, archive, café, ferry,"
    "laboratory, hospital, brewery, chapel, observatory, warehouse, stadium, gallery, fountain"
)
_DEEDS = _several(
    "reopened, welcomed, replaced, questioned, repaired, painted, measured, praised, sold, visited, joined,"
    "outgrew, surprised, followed, supported, renamed, delayed, counted"
)
_PLACES = _several(
    "station, river, town hall, old wall, eastern gate, main square, fish market, tram depot, hill, canal"
)
_NAMES = _several(
    "Ada, Zoë, Ben, Clara, Dino, Emil, Femke, Goran, Hana, Ivo, Jelena, Kofi, Lena, Mateo, Nour, Olga, Pia"
)
_SUBJECTS = _several(
    "winter timetable, flood defences, summer programme, budget figures, street repairs, new collection,"
    "annual report, opening hours, water quality, harvest festival, reading room, night trains"
)


def draws(*key: object) -> bytes:
    """32 bytes that depend on the key and nothing else."""
    return blake2b("\x1f".join(map(str, key)).encode(), digest_size=32).digest()


def number(below: int, *key: object) -> int:
    return int.from_bytes(draws(*key)[:6], "big") % below


def sentence(*key: object) -> str:
    d = draws("sentence", *key)
    return (
        f"The {_pick(_QUALITIES, d, 0)} {_pick(_THINGS, d, 1)} {_pick(_DEEDS, d, 2)} the "
        f"{_pick(_QUALITIES, d, 3)} {_pick(_THINGS, d, 4)} near the {_pick(_PLACES, d, 5)}, "
        f"said {_pick(_NAMES, d, 6)}, after {2 + int.from_bytes(d[14:16], 'big') % 9000} days."
    )


def title(*key: object) -> str:
    d = draws("title", *key)
    return f"{_pick(_SUBJECTS, d, 0).capitalize()} of the {_pick(_QUALITIES, d, 1)} {_pick(_THINGS, d, 2)}"


def name(*key: object) -> str:
    d = draws("name", *key)
    return f"{_pick(_NAMES, d, 0)} {_pick(_NAMES, d, 1)[0]}."


def _pick(words: list[str], drawn: bytes, i: int) -> str:
    return words[int.from_bytes(drawn[2 * i : 2 * i + 2], "big") % len(words)]
