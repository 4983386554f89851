"""The revisions of a live MediaWiki's pages, through its API."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from typing import Any

from recrawl.corpora.importers.wikis.dumps import HIDDEN, MINOR
from recrawl.corpora.importers.wikis.population import Choice, title_list
from recrawl.corpora.importers.wikis.wiki import Wiki, found, objects
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import unusable
from recrawl.corpora.sources.files import is_url
from recrawl.corpora.sources.moments import FIRST_AT, LAST_AT, iso
from recrawl.errors import BadInputError

_REVISIONS = {
    "prop": "revisions",
    "rvprop": "ids|timestamp|sha1|flags|size",
    "rvlimit": "max",
    "rvdir": "newer",
}


class MediaWiki:
    name = "mediawiki"
    summary = "pages of a MediaWiki, through its API (give api.php or any page)"
    options: tuple[Option, ...] = (
        Option("titles", "word", "A file with one title a line, or a list with commas (or | between them)."),
        Option("category", "word", "All pages of this category."),
        Option("random", "count", "So many pages, drawn at random by the wiki."),
        Option("namespace", "count", "Of the category's and the random pages; 0, articles, unless said."),
        Option("drop-minor", "flag", "Leave edits out that are marked as minor, but for a page's first."),
        Option("since", "moment", "Leave earlier revisions out."),
        Option("until", "moment", "Leave revisions from this moment on out."),
    )

    def __init__(
        self,
        *,
        titles: str | None = None,
        category: str | None = None,
        random: int = 0,
        namespace: int = 0,
        drop_minor: bool = False,
        since: float = -inf,
        until: float = inf,
    ) -> None:
        self._choice = Choice(
            titles=title_list(titles) if titles else (),
            category=category,
            n_random=random,
            namespace=namespace,
        )
        if not (self._choice.titles or category or random):
            raise BadInputError(
                "Which pages is not said; name them with --titles FILE (or `--titles 'One page,Another'`), "
                "--category NAME or --random N."
            )
        self._drop_minor = drop_minor
        self._since, self._until = since, until

    def read(self, source: str, into: Intake) -> None:
        if not is_url(source):
            raise BadInputError(
                f"{source} is no address of a wiki; give one such as https://en.wikipedia.org/w/api.php. "
                "XML dumps are read with mediawiki-dump."
            )
        wiki = Wiki(found(source, into), into)
        site = next(wiki.answers({"meta": "siteinfo"}))[0].get("general")
        name = site.get("sitename") if isinstance(site, dict) else None
        into.about(
            kind="page",
            observation="every-change",
            resolution_s=1,
            title=f"Revisions of {name or 'a wiki'}",
            source=wiki.api,
        )
        population = self._choice.population(wiki, into.folder / "pages.json")
        first, further = into.position or (0, None)
        if into.position is None:
            for title, why in population.missing:
                into.skip(repr(title), why)
            for note in population.notes:
                into.note(note)
        for place in range(first, len(population.pages)):
            into.progress(place, len(population.pages), "pages")
            self._page(wiki, population.pages[place], place, further if place == first else None, into)

    def _page(
        self, wiki: Wiki, page: tuple[int, str, str], place: int, further: dict[str, str] | None, into: Intake
    ) -> None:
        number, title, url = page
        if (why := unusable(url)) is not None:
            into.skip(repr(title), why)
            into.reached([place + 1, None])
            return
        asked = _REVISIONS | {"pageids": str(number)}
        if self._since > FIRST_AT:
            asked["rvstart"] = _moment(self._since)
        if self._until < LAST_AT:
            asked["rvend"] = _moment(self._until)
        for query, goes_on in wiki.answers(asked, after=further):
            for said in objects(query, "pages"):
                if "missing" in said:
                    into.skip(repr(title), "the page was deleted meanwhile")
                self._revisions(url, title, objects(said, "revisions"), into)
            into.reached([place + 1, None] if goes_on is None else [place, goes_on])

    def _revisions(self, url: str, title: str, revisions: list[dict[str, Any]], into: Intake) -> None:
        at: list[float] = []
        digest: list[str] = []
        size: list[int | None] = []
        for one in revisions:
            if one.get("minor") and self._drop_minor and one.get("parentid") != 0:
                into.leave_out(MINOR)
                continue
            where = f"{title!r}, revision {one.get('revid')}"
            try:
                moment = iso(str(one.get("timestamp", "")))[0]
            except ValueError as problem:
                into.skip(where, str(problem))
                continue
            if not self._since <= moment < self._until:
                into.leave_out("revisions outside --since and --until")
            elif "sha1hidden" in one or "texthidden" in one or "suppressed" in one:
                into.leave_out(HIDDEN)
            elif not (one.get("sha1") or one.get("revid")):
                into.skip(where, "the revision has neither digest nor number")
            else:
                at.append(moment)
                digest.append(str(one.get("sha1") or f"r{one['revid']}"))
                size.append(one["size"] if isinstance(one.get("size"), int) else None)
        if at:
            into.add_columns([url], at, digest, which=[0] * len(at), size=size)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
