"""What a report is made of, before anybody decides how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first column names the row; figures are set flush right."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_words: int = 1  # columns from the left that hold words, not figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line. `style` is a number: the same one looks the same in every drawing of a page."""

    name: str
    style: int
    x: Sequence[float]
    y: Sequence[float]  # NaN where there is nothing to draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    name: str
    style: int
    x: float
    y: float
    low: float  # of the interval of y
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Curves over time: `x` is in days. Or over what `x_name` says: both scales are logarithmic then."""

    title: str
    y_name: str
    series: Sequence[Series]
    x_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """A point for each policy; `limits` are lines that nothing can be above."""

    title: str
    x_name: str
    y_name: str
    points: Sequence[Point]
    limits: Sequence[Series] = ()
    even: bool = False  # never on a logarithmic scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Heap:
    """Bars of one colour: at each place a figure and the ends of its interval."""

    name: str
    style: int
    values: Sequence[tuple[float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """At each place a bar for every heap, side by side."""

    title: str
    y_name: str
    places: Sequence[str]
    heaps: Sequence[Heap]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A claim, whether it holds here (None: it cannot be told), and the figures in a sentence."""

    claim: str
    holds: bool | None
    sentence: str

    @property
    def line(self) -> str:
        """For a terminal."""
        word = {True: "holds", False: "does not hold", None: "open"}[self.holds]
        return f"{word}: {self.claim} {self.sentence}"

    def document(self) -> dict[str, object]:
        return {"claim": self.claim, "holds": self.holds, "sentence": self.sentence}


Block = str | Table | Finding | tuple[Lines | Scatter, ...]  # drawings of one tuple stand side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    title: str
    lead: str
    about: str  # what the corpus is, in its own words
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    command: str  # what makes the same page again
