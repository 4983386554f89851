"""One half of a corpus's time, as if nothing else were known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from recrawl.corpora.about import About
from recrawl.corpora.opened import Histories
from recrawl.simulate.traces import Traces

HALVES = ("earlier", "later")


class Half:
    """The histories are whole: what changed before a window tells who was there when it began."""

    def __init__(self, corpus: Histories, which: str) -> None:
        about = corpus.about
        middle_at = (about.start_at + about.end_at) / 2
        later = replace(about, start_at=middle_at)
        self._corpus = corpus
        self.about: About = later if which == "later" else replace(about, end_at=middle_at)

    @property
    def skipped(self) -> Mapping[str, int]:
        return self._corpus.skipped

    def __len__(self) -> int:
        return len(self._corpus)

    def traces(self) -> Traces:
        return self._corpus.traces()

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        return self._corpus.chunks(n_resources)
