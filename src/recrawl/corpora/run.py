"""Runs an importer: what it finds goes into a corpus, and what it cannot use is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recrawl import __version__
from recrawl.corpora.importing import Importer
from recrawl.corpora.sources.download import MAX_FILE_BYTES, Web
from recrawl.corpora.sources.files import is_file, is_folder, is_url, seen
from recrawl.corpora.writing.writer import Writer
from recrawl.errors import BadInputError
from recrawl.live.clock import stopwatch

SAVE_S = 2.0  # how much work a kill may cost
TELL_S = 0.1
N_EXAMPLES = 3  # of each reason to skip a row
MAX_REASONS = 100
OTHERS = "other reasons"

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of an import."""

    folder: Path
    about: Mapping[str, Any]  # what corpus.json says
    skipped: Counter[str] = field(default_factory=Counter)  # rows that could not be used, by reason
    left_out: Counter[str] = field(default_factory=Counter)  # rows that were not wanted, by reason
    examples: Mapping[str, list[str]] = field(default_factory=dict)  # where the first skipped rows are
    notes: tuple[str, ...] = ()  # what the importer has to say
    went_on: bool = False  # with an import that was cut off


def imported(
    importer: Importer,
    source: str,
    folder: Path,
    *,
    strict: bool = False,
    anew: bool = False,
    options: Mapping[str, Any] | None = None,
    tell: Tell = lambda _: None,
    web: Web | None = None,
    watch: Callable[[], float] = stopwatch,
) -> Imported:
    """Import `source` into `folder`, or go on where an import of the same source was cut off.

    `options` are those that the importer was made with: another choice of them is another import. `web` is
    closed at the end.
    """
    what = {"importer": importer.name, "options": dict(options or {}), "recrawl": __version__} | _told(source)
    skipping = Skipping(strict=strict)
    with (
        web or Web() as opened,
        Writer(folder, what=what, anew=anew, refuse=skipping.skip) as writer,
    ):
        taking = Taking(writer, skipping, opened, tell, watch)
        went_on = bool(writer.unfinished.state.get("sizes"))
        if not writer.unfinished.state.get("read"):
            try:
                importer.read(source, taking)
            except BaseException:
                writer.unfinished.discard_if_bare()
                raise
            taking.save(read=True)
        tell("Sorting …")
        told = {"source": source if is_url(source) else Path(source).name, "importer": importer.name}
        counts = {"skipped": dict(skipping.skipped), "left_out": dict(skipping.left_out)}
        about = writer.finish(**told | taking.facts | counts)
    return Imported(
        folder=writer.unfinished.target,
        about=about,
        skipped=Counter(about["skipped"]),
        left_out=skipping.left_out,
        examples=skipping.examples,
        notes=tuple(taking.notes),
        went_on=went_on,
    )


def _told(source: str) -> dict[str, Any]:
    """A source by its name; a file that was changed is another one."""
    if is_url(source):
        return {"source": source}
    path = Path(source).absolute()
    if not is_file(path):
        return {"source": str(path)}
    about = path.stat()
    return {"source": str(path), "bytes": about.st_size, "modified_ns": about.st_mtime_ns}


class Skipping:
    """Counts what is passed over."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.skipped: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def skip(self, where: str, why: str) -> None:
        if self.strict:
            raise BadInputError(f"{where}: {why}; mend it, or leave --strict out to skip such rows.")
        why = _known(self.skipped, why)
        self.skipped[why] += 1
        shown = self.examples.setdefault(why, [])
        if len(shown) < N_EXAMPLES:
            shown.append(where)

    def leave_out(self, why: str, n: int = 1) -> None:
        self.left_out[_known(self.left_out, why)] += n


def _known(counts: Counter[str], why: str) -> str:
    """Reasons that name each row would fill the memory."""
    return why if why in counts or len(counts) < MAX_REASONS else OTHERS


class Taking:
    """The intake of `corpora.importing`, into a writer."""

    def __init__(
        self, writer: Writer, skipping: Skipping, web: Web, tell: Tell, watch: Callable[[], float]
    ) -> None:
        self._writer = writer
        self._skipping = skipping
        self._web = web
        self._tell = tell
        self._watch = watch
        self._saved = self._told = watch()
        kept = writer.unfinished.state
        self.position: Any = kept.get("position")
        self._reached = self.position
        self.facts: dict[str, Any] = kept.get("about", {})
        self.notes: list[str] = kept.get("notes", [])
        self._seen: dict[str, str] = kept.get("seen", {})  # folders that are read, as they were
        skipping.skipped.update(kept.get("skipped", {}))
        skipping.left_out.update(kept.get("left_out", {}))
        skipping.examples |= kept.get("examples", {})
        self.add = writer.add
        self.add_columns = writer.add_columns
        self.resource = writer.resource
        self.post = writer.post
        self.text = writer.text
        self.skip = skipping.skip
        self.leave_out = skipping.leave_out

    @property
    def strict(self) -> bool:
        return self._skipping.strict

    def about(self, **facts: Any) -> None:
        self.facts |= facts

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def progress(self, done: float, total: float | None = None, unit: str = "") -> None:
        now = self._watch()
        if now - self._told >= TELL_S:
            self._told = now
            self._tell(_shown(done, total, unit))

    def reached(self, position: Any) -> None:
        self._reached = position
        if self._watch() - self._saved >= SAVE_S:
            self.save()
            self._saved = self._watch()

    def save(self, **more: Any) -> None:
        self._writer.save(
            position=self._reached,
            about=self.facts,
            skipped=dict(self._skipping.skipped),
            left_out=dict(self._skipping.left_out),
            examples=self._skipping.examples,
            notes=self.notes,
            seen=self._seen,
            **more,
        )

    def local(self, source: str, *, max_bytes: int | None = None) -> Path:
        if is_url(source):
            place = self._writer.unfinished.folder / "downloads"
            return self._web.download(
                source, place, max_bytes=max_bytes or MAX_FILE_BYTES, told=self.progress
            )
        path = Path(source)
        if not (is_file(path) or is_folder(path)):
            raise BadInputError(f"{path} is not there; give a file, a folder or a URL that starts with http.")
        if is_folder(path):
            self._same(path)
        return path

    def _same(self, folder: Path) -> None:
        """Positions count files: in another folder, or with another file in it, they would mean others."""
        now = seen(folder)
        before = self._seen.setdefault(str(folder), now)
        if before != now:
            raise BadInputError(
                f"Files in {folder} were changed, added or removed since this import was cut off; start over "
                "with --anew."
            )

    @property
    def folder(self) -> Path:
        place = self._writer.unfinished.folder / "own"
        place.mkdir(exist_ok=True)
        return place

    def ask(
        self,
        url: str,
        *,
        max_bytes: int = 64 << 20,
        accept: str = "*/*",
        busy: Callable[[bytes], bool] | None = None,
    ) -> bytes:
        return self._web.ask(url, max_bytes=max_bytes, accept=accept, busy=busy)


def _shown(done: float, total: float | None, unit: str) -> str:
    """
    >>> _shown(2500, None, "pages"), _shown(3 << 20, 12 << 20, "bytes")
    ('2,500 pages', '3.1 of 12.6 MB (25 %)')
    """
    if unit == "bytes":
        amount = f"{done / 1e6:,.1f}" if total is None else f"{done / 1e6:,.1f} of {total / 1e6:,.1f}"
        unit = "MB"
    else:
        amount = f"{done:,.0f}" if total is None else f"{done:,.0f} of {total:,.0f}"
    share = f" ({done / total:.0%})".replace("%", " %") if total else ""
    return f"{amount} {unit}{share}".strip()
