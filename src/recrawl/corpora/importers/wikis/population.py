"""Which pages of a wiki are imported: by their titles, of a category, or drawn at random."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from recrawl.corpora.importers.wikis.wiki import Wiki, objects
from recrawl.corpora.sources.files import is_file
from recrawl.corpora.sources.lines import Flaw, lines, text
from recrawl.errors import BadInputError

N_TITLES = 50  # that a wiki takes in one question
MAX_TITLES_BYTES = 4000  # of them in the address
N_TRIES = 3  # draws in a row that bring nothing new: there is no more
N_NAMED = 5
_FACTS = {"prop": "info", "inprop": "url"}


@dataclass(slots=True)
class Population:
    """Pages as [number, title, address], and what became of titles that are none."""

    pages: list[tuple[int, str, str]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)  # title, why
    notes: list[str] = field(default_factory=list)

    def take(self, query: dict[str, Any], known: set[int]) -> None:
        for page in objects(query, "pages"):
            title = str(page.get("title", ""))
            if "invalid" in page:
                self.missing.append((title, "the title is not a title"))
            elif "missing" in page:
                self.missing.append((title, "the wiki has no such page"))
            elif not (url := page.get("canonicalurl") or page.get("fullurl")):
                self.missing.append((title, "the wiki does not say where the page is"))
            elif isinstance(page.get("pageid"), int) and page["pageid"] not in known:
                known.add(page["pageid"])
                self.pages.append((page["pageid"], title, str(url)))
        for link in objects(query, "interwiki"):
            self.missing.append((str(link.get("title")), "the title is one of another wiki"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    titles: Sequence[str] = ()
    category: str | None = None
    n_random: int = 0
    namespace: int = 0

    def population(self, wiki: Wiki, kept: Path) -> Population:
        """As the wiki has it, or as it had it when an import that was cut off asked."""
        if kept.exists():
            return Population(**json.loads(kept.read_bytes()))
        found = Population()
        known: set[int] = set()
        if self.titles:
            self._titled(wiki, found, known)
        if self.category is not None:
            name = self.category if ":" in self.category else f"Category:{self.category}"
            asked = {"generator": "categorymembers", "gcmtitle": name, "gcmtype": "page", "gcmlimit": "max"}
            for query, _ in wiki.answers(_FACTS | asked | {"gcmnamespace": str(self.namespace)}):
                found.take(query, known)
        if self.n_random:
            self._drawn(wiki, found, known)
        draft = kept.with_suffix(".part")
        draft.write_text(json.dumps(asdict(found)))
        draft.replace(kept)
        return found

    def _titled(self, wiki: Wiki, found: Population, known: set[int]) -> None:
        moved: list[str] = []
        for some in _together(dict.fromkeys(self.titles)):
            for query, _ in wiki.answers(_FACTS | {"titles": "|".join(some), "redirects": "1"}):
                found.take(query, known)
                moved += [f"{one.get('from')} → {one.get('to')}" for one in objects(query, "redirects")]
        if moved:
            more = f" and {len(moved) - N_NAMED} more" if len(moved) > N_NAMED else ""
            found.notes.append(
                f"Moved or redirected, so that the history is that of the page they lead to: "
                f"{', '.join(moved[:N_NAMED])}{more}."
            )

    def _drawn(self, wiki: Wiki, found: Population, known: set[int]) -> None:
        n_wanted = len(found.pages) + self.n_random
        n_idle = 0
        while len(found.pages) < n_wanted and n_idle < N_TRIES:
            n_before = len(found.pages)
            n_asked = min(500, n_wanted - n_before)
            asked = {"generator": "random", "grnnamespace": str(self.namespace), "grnlimit": str(n_asked)}
            # What it would go on with is only more of the same: the next question is a new draw.
            found.take(next(wiki.answers(_FACTS | asked))[0], known)
            n_idle = 0 if len(found.pages) > n_before else n_idle + 1
        if len(found.pages) < n_wanted:
            n_drawn = self.n_random - (n_wanted - len(found.pages))
            found.notes.append(f"Only {n_drawn} different pages were drawn: the wiki seems to have no more.")
        del found.pages[n_wanted:]


def title_list(said: str) -> list[str]:
    """A file with one a line, or a list with commas (with | where titles hold commas)."""
    path = Path(said)
    if "|" not in said and is_file(path):
        read = [line if isinstance(line, Flaw) else text(line) for _, line in lines(path)]
        if flaw := next((one for one in read if isinstance(one, Flaw)), None):
            raise BadInputError(f"{path} is no list of titles ({flaw}); write one a line, in UTF-8.")
        found = [line.strip() for line in read]
    else:
        found = [title.strip() for title in said.split("|" if "|" in said else ",")]
    return [title for title in found if title and "|" not in title]


def _together(all_titles: Sequence[str] | dict[str, None]) -> Iterator[list[str]]:
    some: list[str] = []
    n_bytes = 0
    for title in all_titles:
        n_more = len(quote_plus(title)) + 3
        if some and (len(some) == N_TITLES or n_bytes + n_more > MAX_TITLES_BYTES):
            yield some
            some, n_bytes = [], 0
        some.append(title)
        n_bytes += n_more
    if some:
        yield some
