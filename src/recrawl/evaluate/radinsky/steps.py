"""The pages of a corpus at evenly spaced moments, with all their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recrawl.corpora.arrow import checked_columns, holds, ints, open_parquet
from recrawl.corpora.builtin import Builtin
from recrawl.corpora.contents import Wanted, contents, must_have_contents
from recrawl.corpora.native import RESOURCES, Corpus
from recrawl.corpora.opened import Histories
from recrawl.detect.significance import significances
from recrawl.errors import BadInputError
from recrawl.evaluate.pieces import Tell
from recrawl.learn.features.content import Steps
from recrawl.model import Bags, Bools, Floats, Ints
from recrawl.model.columns import Bits
from recrawl.simulate.blocks import Piece
from recrawl.simulate.texts import counts_of, words_of

LINKS = "links.parquet"
_COLUMNS = {"resource": "whole numbers", "to": "whole numbers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What each page showed at each step. Pages that change too seldom, or of whose words nothing is known,
    are left out."""

    bags: Bags
    at: Ints  # (n_pages, n_steps) rows of `bags`; -1: not known
    host: Ints
    links: tuple[Ints, Ints] | None  # the pages that links lead from and to; None: not known
    family: Ints | None  # of each page, where kin are known: whom it follows, or itself
    step_s: float
    n_all: int  # pages, with those that are left out

    def pick(self, pages: Ints, steps: Steps) -> tuple[Shown, Steps]:
        """Some pages, and what `steps` says of them, with no other bags than theirs."""
        number = np.full(len(self.at), -1, dtype=np.int64)
        number[pages] = np.arange(len(pages))
        links = None
        if self.links is not None:
            ends = number[self.links[0]], number[self.links[1]]
            both = (ends[0] >= 0) & (ends[1] >= 0)
            links = ends[0][both], ends[1][both]
        at = self.at[pages]
        used = np.unique(at[at >= 0])
        bags, at = self.bags.pick(used), np.where(at >= 0, np.searchsorted(used, at), -1)
        family = None if self.family is None else self.family[pages]
        some = replace(self, bags=bags, at=at, host=self.host[pages], links=links, family=family)
        return some, Steps(bags, at, steps.changed[pages])

    def steps(self, changes: str) -> Steps:
        """With those changes that count, from each step to the next."""
        at = self.at
        page, step = np.nonzero((at[:, 1:] != at[:, :-1]) & (at[:, 1:] >= 0) & (at[:, :-1] >= 0))
        changed: Bools = np.zeros(at.shape, dtype=bool)
        counts = np.ones(len(page), dtype=bool)
        if changes == "significant":
            counts = significances(self.bags, at[page, step], at[page, step + 1]).significant
        changed[page[counts], step[counts] + 1] = True
        return Steps(self.bags, at, changed)


def shown(
    corpus: Histories, spans_s: Sequence[float], n_steps: int, tell: Tell, least: float = 0.0
) -> list[Shown]:
    """The last `n_steps` steps, for each length of a step; contents are read once, and only of pages that at
    some step length change in this share of the steps at which they are there. Visits at a fixed step may
    come half a step late."""
    about = corpus.about
    moments: list[Floats] = []
    for step_s in spans_s:
        n_all = (about.end_at - about.start_at) // step_s
        last_at = about.start_at + (n_all + 0.5 * (about.observation == "visits")) * step_s
        moments.append(last_at + step_s * np.arange(1.0 - min(n_all + 1.0, n_steps), 1.0))
    if isinstance(corpus, Builtin):
        piece = next(corpus.world.pieces(max(1, len(corpus))))
        return [_generated(corpus, piece, *both) for both in zip(moments, spans_s, strict=True)]
    if not isinstance(corpus, Corpus):
        raise BadInputError("Contents are read from a folder with a corpus; give its path.")
    return _read(corpus, moments, spans_s, least, tell)


def _read(
    corpus: Corpus, moments: list[Floats], spans_s: Sequence[float], least: float, tell: Tell
) -> list[Shown]:
    must_have_contents(corpus.folder)
    place, at, digest = _versions(corpus)
    told = [_standing(place, at, np.arange(len(at)), len(corpus), when) for when in moments]
    busy = np.any([_busy(one, least) for one in told], axis=0)
    asked = np.flatnonzero(busy)
    stands = np.zeros(len(place), dtype=bool)
    for one in told:
        stands[one[one >= 0]] = True
    wanted = stands & busy[place]
    seen = Wanted(np.searchsorted(asked, place[wanted]), at[wanted], digest[wanted])
    kept = busy[place]
    place, at, digest = np.searchsorted(asked, place[kept]), at[kept], digest[kept]
    parts: list[list[Bags]] = [[] for _ in moments]
    rows = [np.full((len(asked), len(one)), -1, dtype=np.int64) for one in moments]
    for block in contents(corpus.folder, corpus.number[asked], seen):
        own = slice(*np.searchsorted(place, [block.place[0], block.place[-1] + 1]).tolist())
        found = block.rows(place[own], at[own], digest[own])
        for when, held, some in zip(moments, rows, parts, strict=True):
            here = held[block.place[0] : block.place[-1] + 1]
            here[:] = _standing(place[own] - block.place[0], at[own], found, len(here), when)
            used = np.unique(here[here >= 0])
            n = sum(map(len, some))
            some.append(block.bags.pick(used))
            here[here >= 0] = n + np.searchsorted(used, here[here >= 0])
        tell(int(block.place[-1]) / max(len(asked), 1), "words of versions")
    out = []
    for held, some, stood, step_s in zip(rows, parts, told, spans_s, strict=True):
        there = np.flatnonzero((held >= 0).any(axis=1))
        known = asked[there]
        out.append(
            Shown(
                bags=_joined(some).dense()[0],
                at=held[there],
                host=corpus.host[known],
                links=_links(corpus.folder, corpus.number, known),
                family=_family(corpus, known),
                step_s=step_s,
                n_all=int((stood >= 0).any(axis=1).sum()),
            )
        )
    return out


def _busy(stands: Ints, least: float) -> Bools:
    """Which of the pages change in this share of the steps at which they are there."""
    there = stands[:, :-1] >= 0
    n_changes = ((np.diff(stands, axis=1) != 0) & there).sum(axis=1)
    return np.asarray((stands[:, -1] >= 0) & (n_changes >= least * (there.sum(axis=1) - 1)))


def _standing(place: Ints, at: Ints, row: Ints, n: int, moments: Floats) -> Ints:
    """(n, moments): the row of the version that stands at each moment, -1 where none does."""
    found = np.full((n, len(moments)), -1, dtype=np.int64)
    bounds = np.searchsorted(place, np.arange(n + 1))
    for owner in np.unique(place).tolist():
        own = slice(bounds[owner], bounds[owner + 1])
        stands = np.searchsorted(at[own], moments, "right") - 1
        found[owner] = np.where(stands >= 0, row[own][stands], -1)
    return found


def _versions(corpus: Corpus) -> tuple[Ints, Ints, Bits]:
    """Of all resources: whose it is, when it came, and its digest."""
    from recrawl.corpora.native import EVENTS, versions
    from recrawl.corpora.rows import counting, read_rows

    rows = list(read_rows(corpus.folder / EVENTS, corpus.number, counting(corpus.skipped, strict=False)))
    if not rows:
        raise BadInputError(f"{corpus.about.name} has no versions; give a corpus that has some.")
    place, at, digest = (
        np.concatenate([getattr(part, name) for part in rows]) for name in ("place", "at", "digest")
    )
    order, kept = versions(place, at, digest, corpus.skipped)
    return place[order][kept], at[order][kept], digest[order][kept]


def _generated(corpus: Builtin, piece: Piece, moments: Floats, step_s: float) -> Shown:
    rows = np.full((len(corpus), len(moments)), -1, dtype=np.int64)
    told = list(_told(corpus, piece, moments, rows))
    follows = piece.follows
    family = np.where(follows >= 0, follows, np.arange(len(follows))) if (follows >= 0).any() else None
    known = np.flatnonzero((rows >= 0).any(axis=1))
    return Shown(
        bags=Bags.of(told).dense()[0], at=rows[known], host=piece.traces.host[known], links=None,
        family=None if family is None else family[known], step_s=step_s, n_all=len(known),
    )  # fmt: skip


def _told(corpus: Builtin, piece: Piece, moments: Floats, rows: Ints) -> Iterator[dict[int, float]]:
    """The bags of all versions that are shown; fills in which of them each page shows at each step."""
    traces, n = piece.traces, 0
    for page in range(len(traces)):
        text = corpus.world.text_of(page)
        if text is None:
            raise BadInputError(
                f"Pages of builtin:{corpus.about.name} say nothing, so nobody can tell how their words "
                "change; take one with texts, such as builtin:kin."
            )
        own = slice(traces.bounds[page], traces.bounds[page + 1])
        content = np.concatenate([[0], piece.content[own]])
        stands = np.searchsorted(np.append(traces.born_at[page], traces.at[own]), moments, "right") - 1
        there = np.unique(stands[stands >= 0])
        words = words_of(text, piece, page, page, corpus.world.seed)
        rows[page] = np.where(stands >= 0, n + np.searchsorted(there, stands), -1)
        n += len(there)
        for term, count in counts_of(words, content[there]):
            yield dict(zip(term.tolist(), count.astype(np.float64).tolist(), strict=True))


def _joined(parts: list[Bags]) -> Bags:
    nothing = Bags(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    parts = [nothing, *parts]
    sizes = np.concatenate([np.diff(part.bounds) for part in parts])
    return Bags(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([part.word for part in parts]),
        np.concatenate([part.count for part in parts]),
    )


def _links(folder: Path, number: Ints, known: Ints) -> tuple[Ints, Ints] | None:
    """Between pages that are known; others are passed over."""
    if not (folder / LINKS).is_file():
        return None
    with open_parquet(folder / LINKS) as opened:
        checked_columns(folder / LINKS, opened.schema_arrow, _COLUMNS)
        table = opened.read(columns=[*_COLUMNS])
    ends = [_placed(ints(table[name].combine_chunks().fill_null(-1)), number[known]) for name in _COLUMNS]
    both = (ends[0] >= 0) & (ends[1] >= 0)
    return ends[0][both], ends[1][both]


def _family(corpus: Corpus, known: Ints) -> Ints | None:
    """Where the maker of a corpus tells whom each page follows."""
    path = corpus.folder / RESOURCES
    with open_parquet(path) as opened:
        if not holds(opened.schema_arrow, "follows", "whole numbers"):
            return None
        table = opened.read(columns=["resource", "follows"])
    number, follows = (ints(table[name].combine_chunks().fill_null(-1)) for name in ("resource", "follows"))
    if not (follows >= 0).any():
        return None
    return np.asarray(np.where(follows >= 0, follows, number)[np.argsort(number)][known])


def _placed(number: Ints, known: Ints) -> Ints:
    place = np.searchsorted(known, number)
    return np.where(np.append(known, -1)[place] == number, place, -1)
