"""Threads of a mailing list, out of its mbox files."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from hashlib import blake2b
from pathlib import Path

from recrawl.corpora.importers.threads.mails import Mail, dated, mails, text, topic
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.files import files
from recrawl.errors import BadInputError

_ENDINGS = (".mbox", ".mbox.gz", ".mbx", ".txt", ".txt.gz", ".mbox.bz2", ".mbox.xz", ".mbox.zst")
_APART_S = 90 * 86_400.0  # an answer that names no mail belongs to a thread of its subject that is no older
_NO_DATE = "no date that can be read"
_TWICE = "mails that come twice"


class Mbox:
    """A thread is a resource, a mail an event at the time it was sent. A mail belongs to those that it says
    it answers; one that names none, but says `Re:`, to the last thread of its subject.

    The files are read twice: answers may come before what they answer.
    """

    name = "mbox"
    summary = "mailing lists: mbox files, plain or packed, or a folder of monthly ones"
    options: tuple[Option, ...] = (
        Option("board", "word", "The list's name; else that of the folder or file."),
    )

    def __init__(self, *, board: str | None = None) -> None:
        self._board = board

    def read(self, source: str, into: Intake) -> None:
        path = into.local(source)
        found = files(path, *_ENDINGS)
        board = self._board or _named(path)
        into.about(kind="thread", observation="every-change", resolution_s=1, title=f"Threads of {board}")
        threads = Threads()
        for file in found:
            for mail in mails(file, bodies=False):
                if isinstance(mail, Mail):
                    threads.see(mail, file.name)
                    into.progress(len(threads), None, "mails listed")
        if not len(threads):
            raise BadInputError(
                f"No mail was found in {source}; give mbox files: each mail after a line 'From …'."
            )
        n_done, place, so_far = into.position or (0, 0, {})
        mended = Counter(so_far)
        for n, file in enumerate(found[n_done:], n_done + 1):
            for mail in mails(file):
                if isinstance(mail, Mail):
                    if not threads.knows(mail, file.name, place):
                        raise BadInputError(f"{file} was changed while it was read; import it again.")
                    mended[self._take(mail, place, threads, board, file.name, into)] += 1
                    place += 1
                    into.progress(place, len(threads), "mails")
                else:
                    into.skip(f"{file.name}:{mail[0]}", str(mail[1]))
            into.reached([n, place, dict(mended)])
        for what, n in mended.items():
            if what:
                into.note(f"Mails {what}: {n:,}.")

    def _take(self, mail: Mail, place: int, threads: Threads, board: str, file: str, into: Intake) -> str:
        """Add it; what had to be mended."""
        if threads.twice[place]:
            into.leave_out(_TWICE)
            return ""
        where = f"{file}:{mail.line}"
        at, mended = dated(mail)
        if at is None:
            into.skip(where, _NO_DATE)
            return ""
        first, digest = threads.first_of(place), mail.name or where
        url = f"{board}/{first:016x}"
        if threads.keys[place] == first:
            title = re.sub(r"^(?i:re\s*:\s*)+", "", mail.subject)[:1_000]
            into.resource(url, host=board, board=board, title=title, message=mail.name or None)
        into.add(url, at, digest, host=board, where=where)
        into.post(url, at, mail.user, text(mail))
        return mended


class Threads:
    """Which mails belong together. Names are kept as numbers: a million mails take some 200 MB."""

    def __init__(self) -> None:
        self.keys = array("Q")  # of each mail, in the order of the files
        self.twice = bytearray()
        self._parents: dict[int, int] = {}
        self._seen: set[int] = set()
        self._subjects: dict[int, tuple[int, float]] = {}  # the last mail with that subject, and when
        self._firsts: dict[int, int] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def see(self, mail: Mail, file: str) -> None:
        key = _key(mail, file)
        self.keys.append(key)
        self.twice.append(key in self._seen)
        if key in self._seen:
            return
        self._seen.add(key)
        answers = mail.answers
        for name in answers:
            self._join(key, _number(name))
        about, is_answer = topic(mail.subject)
        at, _ = dated(mail)
        if not about or at is None:
            return
        subject = _number(about)
        last, last_at = self._subjects.get(subject, (key, at))
        if is_answer and not answers and abs(at - last_at) <= _APART_S:
            self._join(key, last)
        self._subjects[subject] = (key, max(at, last_at))

    def knows(self, mail: Mail, file: str, place: int) -> bool:
        """Whether it is the one that was seen in this place."""
        return place < len(self.keys) and self.keys[place] == _key(mail, file)

    def first_of(self, place: int) -> int:
        """The number of the first mail of its thread."""
        if self._firsts is None:
            self._firsts = {}
            for key in self.keys:
                self._firsts.setdefault(self._root(key), key)
        return self._firsts[self._root(self.keys[place])]

    def _root(self, key: int) -> int:
        root = key
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while (parent := self._parents.get(key, key)) != root:  # the way is short next time
            self._parents[key] = root
            key = parent
        return root

    def _join(self, one: int, other: int) -> None:
        one, other = self._root(one), self._root(other)
        if one != other:
            self._parents[one] = other


def _key(mail: Mail, file: str) -> int:
    return _number(mail.name or f"{file}:{mail.line}")


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _named(path: Path) -> str:
    """
    >>> _named(Path("python-dev/2004-January.txt.gz")), _named(Path("talk.mbox"))
    ('python-dev', 'talk')
    """
    if path.is_dir():
        return path.resolve().name
    plain = path.name.partition(".")[0]
    return path.resolve().parent.name if re.match(r"\d{4}", plain) else plain
