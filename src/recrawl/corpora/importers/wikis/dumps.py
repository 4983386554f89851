"""MediaWiki XML dumps: the whole history of a wiki in some files, with texts or without."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from recrawl.corpora.importers.wikis.pages import Dump, Page
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import Batch
from recrawl.corpora.sources.files import open_bytes, within
from recrawl.corpora.sources.lines import Flaw
from recrawl.corpora.sources.moments import iso
from recrawl.errors import BadInputError

HIDDEN = "revisions that were taken from public view"
MINOR = "minor edits"
_UNESCAPED = "/;@$!*(),~:"  # by MediaWiki, in an address


class MediaWikiDump:
    name = "mediawiki-dump"
    summary = "MediaWiki XML dumps (stub-meta-history, pages-meta-history)"
    options: tuple[Option, ...] = (
        Option("namespaces", "word", "Which to read, as numbers: `0,4`, or `all`; 0, articles, unless said."),
        Option("drop-minor", "flag", "Leave edits out that are marked as minor, but for a page's first."),
        Option("drop-redirects", "flag", "Leave pages out that lead elsewhere now."),
        Option("since", "moment", "Leave earlier revisions out."),
        Option("until", "moment", "Leave revisions from this moment on out."),
    )

    def __init__(
        self,
        *,
        namespaces: str = "0",
        drop_minor: bool = False,
        drop_redirects: bool = False,
        since: float = float("-inf"),
        until: float = float("inf"),
    ) -> None:
        words = [word.strip() for word in namespaces.split(",")]
        if words != ["all"] and not all(word.removeprefix("-").isdecimal() for word in words):
            raise BadInputError(f"--namespaces {namespaces} is none; use numbers, such as `0,4`, or `all`.")
        self._namespaces = None if words == ["all"] else frozenset(words)
        self._drop_minor, self._drop_redirects = drop_minor, drop_redirects
        self._since, self._until = since, until

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="page", observation="every-change", resolution_s=1)
        found = _dumps(into.local(source))
        # Which file, where in it (a byte of what it unpacks to, and a line), and what it said of its wiki.
        first, *begin = into.position or [0, 0, 1, "", ""]
        for index in range(first, len(found)):
            self._read(found[index], index, begin if index == first else [0, 1, "", ""], into)
            into.reached([index + 1, 0, 1, "", ""])

    def _read(self, path: Path, index: int, begin: list[int | str], into: Intake) -> None:
        batch = Batch(into)
        with open_bytes(path) as stream:
            dump = Dump(stream, begin=(int(begin[0]), int(begin[1])))
            dump.base, dump.site_name = str(begin[2]), str(begin[3])
            for line, page in dump.pages():
                if isinstance(page, Flaw):
                    into.skip(f"{path.name}:{line}", page)
                    break
                self._take(page, dump, path, batch, into)
                if batch.is_full:
                    batch.hand_over()
                    if page.is_whole:
                        into.progress(page.end[0] / 1e6, unit=f"MB of {path.name}")
                        into.reached([index, *page.end, dump.base, dump.site_name])
        batch.hand_over()
        if dump.site_name:
            into.about(title=f"Revisions of {dump.site_name}", source=dump.base)

    def _take(self, page: Page, dump: Dump, path: Path, batch: Batch, into: Intake) -> None:
        if not page.title:
            into.skip(f"{path.name}:{page.line}", "the page has no title")
        elif self._namespaces is not None and page.namespace not in self._namespaces:
            into.leave_out("revisions in other namespaces", len(page.timestamp))
        elif self._drop_redirects and page.redirects:
            into.leave_out("revisions of redirects", len(page.timestamp))
        else:
            self._revisions(page, _url(dump.base, page.title), path, batch, into)

    def _revisions(self, page: Page, url: str, path: Path, batch: Batch, into: Intake) -> None:
        at: list[float] = []
        digest: list[str | None] = []
        size: list[int | None] = []
        columns = zip(page.timestamp, page.digest, page.is_minor, page.size, page.at_line, strict=True)
        for place, (said, hashed, is_minor, n_bytes, line) in enumerate(columns):
            if is_minor and self._drop_minor and not (page.is_first and place == 0):
                into.leave_out(MINOR)
                continue
            try:
                moment = iso(said)[0]
            except ValueError as problem:
                into.skip(f"{path.name}:{line}", str(problem))
                continue
            if not self._since <= moment < self._until:
                into.leave_out("revisions outside --since and --until")
            elif not hashed:
                into.leave_out(HIDDEN)
            else:
                at.append(moment)
                digest.append(hashed)
                size.append(n_bytes)
        if at:
            batch.add(url, at, digest, size=size, where=f"{path.name}:{page.line}")


def _dumps(path: Path) -> list[Path]:
    """A file, or those of a folder: parts of large dumps are named `….xml-p1p857.bz2`."""
    if path.is_file():
        return [path]
    found = [one for one in within(path) if ".xml" in one.name] if path.is_dir() else []
    if not found:
        raise BadInputError(
            f"{path} is no MediaWiki dump, nor a folder with one; name a file such as "
            "wiki-20240101-stub-meta-history.xml.gz."
        )
    return found


def _url(base: str, title: str) -> str:
    """As the wiki itself spells it; the bare title where the dump does not say which wiki it is."""
    place = quote(title.replace(" ", "_"), safe=_UNESCAPED)
    return f"{base.rpartition('/')[0]}/{place}" if "://" in base else place
