"""The pages of a corpus, with what a first visit showed of each: as much of it as the corpus has kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.corpora.arrow import holds, open_parquet
from recrawl.corpora.builtin import Builtin
from recrawl.corpora.firsts import PAGES, TEXTS, first_pages
from recrawl.corpora.native import EVENTS, RESOURCES, Corpus
from recrawl.corpora.opened import Histories
from recrawl.corpora.rows import counting, read_rows
from recrawl.corpora.standing import standing
from recrawl.errors import BadInputError
from recrawl.evaluate.pieces import Tell
from recrawl.model import FEATURES, Floats, Ints
from recrawl.model.sight import column
from recrawl.parse.addresses import url_features
from recrawl.parse.pool import ParseFailed
from recrawl.parse.sights import page_sight
from recrawl.parse.texts import text_features
from recrawl.simulate.traces import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """A row for each resource of the traces."""

    traces: Traces
    values: Floats  # a column for each of FEATURES; NaN: not known
    notes: Sequence[str]  # where they come from
    per_day: Floats | None = None  # true rates, which only the maker of a world knows
    dated: Mapping[float, Floats] = field(default_factory=dict)  # by when one looks, where that is known
    whole: bool = True  # whether first visits were kept; else there may be texts

    def seen_at(self, at: float) -> Floats:
        return self.dated.get(at, self.values)

    @property
    def known(self) -> tuple[str, ...]:
        """The features that tell resources apart: known, and not the same for all."""
        least, most = np.full(len(FEATURES), np.inf), np.full(len(FEATURES), -np.inf)
        missing = np.zeros(len(FEATURES), dtype=bool)
        for values in (self.values, *self.dated.values()):
            least = np.fmin(least, np.fmin.reduce(values, axis=0, initial=np.inf))
            most = np.fmax(most, np.fmax.reduce(values, axis=0, initial=-np.inf))
            missing |= np.isnan(values).any(axis=0)
        partly = missing & (most >= least)
        return tuple(f.name for i, f in enumerate(FEATURES) if most[i] > least[i] or partly[i])


_OF_URLS = frozenset(url_features("https://a.example/"))


def pages_of(corpus: Histories, tell: Tell) -> Pages:
    if isinstance(corpus, Builtin):
        return _generated(corpus)
    if isinstance(corpus, Corpus):
        return _read(corpus, tell)
    raise BadInputError("First sights are read from a folder with a corpus; give its path.")


def _generated(corpus: Builtin) -> Pages:
    piece = next(corpus.world.pieces(max(1, len(corpus))))
    values = _urls(piece.traces.url)
    for name, found in piece.features.items():
        values[:, column(name)] = found
    known = np.isfinite(piece.per_day).all()
    return Pages(
        traces=piece.traces,
        values=values,
        notes=["Features are those that the generated pages were made with, and what their URLs tell."],
        per_day=piece.per_day if known else None,
    )


def _read(corpus: Corpus, tell: Tell) -> Pages:
    traces = corpus.traces()
    places = _with_versions(corpus)
    values = _urls(traces.url)
    row = {number: i for i, number in enumerate(corpus.number[places].tolist())}
    _listed(corpus, places, values)
    n_read = n_failed = 0
    for page in first_pages(corpus.folder):
        place = row.get(page.resource)
        if place is None:
            continue
        sight = page_sight(page.html.encode("utf-8", "replace"), "utf-8", traces.url[place], {}, page.at)
        if isinstance(sight, ParseFailed):
            n_failed += 1
            continue
        told = np.array(sight)
        values[place] = np.where(np.isnan(told), values[place], told)
        n_read += 1
        tell(n_read / max(len(row), 1), "first pages")
    if n_read:
        failed = f"; {n_failed} could not be read" if n_failed else ""
        told_by = f"Features are read from {n_read:,} first pages ({PAGES}, without headers) and their URLs"
        return Pages(traces=traces, values=values, notes=[f"{told_by}{failed}."])
    if np.isfinite(values).any():
        note = "No first pages were kept: features are what URLs and the list of resources tell."
    else:
        note = "Neither first pages nor URLs were kept: no feature is known."
    return Pages(traces=traces, values=values, notes=[note], whole=False)


def looked_at(pages: Pages, corpus: Histories, moments: Sequence[float], tell: Tell) -> Pages:
    """The same, with what each resource said at these moments, where first visits were not kept but texts."""
    if pages.whole or not isinstance(corpus, Corpus) or not (corpus.folder / TEXTS).is_file():
        return pages
    row = {place: i for i, place in enumerate(_with_versions(corpus).tolist())}
    dated = {at: pages.values.copy() for at in moments}
    seen: set[int] = set()
    for one in standing(corpus.folder, corpus.number, moments):
        if (i := row.get(one.place)) is None:
            continue
        for at in [moments[k] for k in one.moments]:
            told = _told(one.text, corpus.about.kind, at)
            for name, value in told.items():
                dated[at][i, column(name)] = value
            seen.update([i] if told else [])
        tell(len(seen) / max(len(row), 1), "texts")
    if not seen:
        return pages
    note = (
        f"No first pages were kept: features are read from what {len(seen):,} resources said ({TEXTS}) when "
        "one began to look, and from URLs."
    )
    return replace(pages, dated=dated, notes=[note])


def _told(text: str, kind: str, now: float) -> Mapping[str, float]:
    """Of a page the words were kept, of data the lines of the file itself; none where it cannot be read."""
    if kind == "page":
        return text_features(" ".join(text.split()), frozenset(), (), now)
    sight = page_sight(text.encode("utf-8", "replace"), "utf-8", "", {}, now)
    if isinstance(sight, ParseFailed):
        return {}
    known = {f.name: value for f, value in zip(FEATURES, sight, strict=True) if value == value}
    return {name: value for name, value in known.items() if name not in _OF_URLS}


def _urls(named: Sequence[str]) -> Floats:
    """What addresses tell; a name without a slash is none."""
    values = np.full((len(named), len(FEATURES)), np.nan)
    for i, url in enumerate(named):
        if "/" in url:
            for name, value in url_features(url).items():
                values[i, column(name)] = value
    return values


def _listed(corpus: Corpus, places: Ints, values: Floats) -> None:
    """Columns of `resources.parquet` that are named like features, as a generated corpus has them."""
    with open_parquet(corpus.folder / RESOURCES) as opened:
        named = [f.name for f in FEATURES if holds(opened.schema_arrow, f.name, "numbers")]
        if not named:
            return
        table = opened.read(columns=["resource", *named])
    order = np.argsort(table["resource"].to_numpy(), kind="stable")[places]
    for name in named:
        found = table[name].to_numpy(zero_copy_only=False).astype(np.float64)[order]
        values[:, column(name)] = np.where(np.isfinite(found), found, values[:, column(name)])


def _with_versions(corpus: Corpus) -> Ints:
    """Which of the listed resources are rows of the traces: those with any version."""
    fault = counting(Counter(), strict=False)
    found = [np.unique(rows.place) for rows in read_rows(corpus.folder / EVENTS, corpus.number, fault)]
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
