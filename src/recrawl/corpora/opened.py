"""A corpus by what the user calls it: a folder, or the name of one that is built in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from recrawl.corpora.about import FILE, About
from recrawl.corpora.native import NEEDED, Corpus
from recrawl.errors import BadInputError
from recrawl.simulate.traces import Traces

PREFIX = "builtin:"
CHANGES = ("any", "significant")  # what may count as one

Tell = Callable[[float, str], None]


class Histories(Protocol):
    """What can be replayed: a corpus on the disk, or a generated one."""

    @property
    def about(self) -> About: ...

    @property
    def skipped(self) -> Mapping[str, int]:
        """What the latest pass over it left out, by reason."""

    def __len__(self) -> int: ...

    def traces(self) -> Traces: ...

    def chunks(self, n_resources: int) -> Iterator[Traces]: ...


def opened(
    name: str | Path, *, strict: bool = False, changes: str = "any", tell: Tell = lambda _share, _what: None
) -> Histories:
    """With the changes that count: any, or significant ones, of which the reading is told.

    Raises BadInputError that says what there is to choose from."""
    from recrawl.corpora.builtin import BUILTIN, builtin

    said = str(name)
    if changes not in CHANGES:
        raise BadInputError(f"{changes!r} changes cannot be told apart; choose {' or '.join(CHANGES)}.")
    if said.startswith(PREFIX):
        if said.removeprefix(PREFIX) not in BUILTIN:
            raise BadInputError(f"There is no built-in corpus {said!r}; choose one of: {_names()}.")
        if changes != "any":
            worded = [one for one in BUILTIN if builtin(one).has_texts]
            if said.removeprefix(PREFIX) not in worded:
                raise BadInputError(
                    f"{said} has times and no contents, so nobody can tell which changes are significant; "
                    f"make one that has some ({', '.join(worded)}) with `recrawl corpus make NAME DIR`."
                )
            must_be_there(Path(name))
        return builtin(said.removeprefix(PREFIX))
    folder = Path(name)
    must_be_there(folder)
    if changes == "significant":
        from recrawl.corpora.significant import SignificantCorpus

        return SignificantCorpus(folder, strict=strict, tell=tell)
    return Corpus(folder, strict=strict)


def must_be_there(folder: Path) -> None:
    """Raises BadInputError where this is no folder with a corpus."""
    if str(folder).startswith(PREFIX):
        raise BadInputError(
            f"{folder} is made up anew whenever it is read, so it has no files; write it to a folder with "
            f"`recrawl corpus make {str(folder).removeprefix(PREFIX)} DIR`."
        )
    if not (folder / FILE).is_file():
        why = (
            "is not there" if not folder.exists() else f"has no {FILE}" if folder.is_dir() else "is no folder"
        )
        raise BadInputError(
            f"{folder} {why}; a corpus is a folder with {NEEDED} (make one with `recrawl corpus import`). "
            f"Built in are: {_names()}."
        )


def _names() -> str:
    from recrawl.corpora.builtin import BUILTIN

    return ", ".join(f"{PREFIX}{one}" for one in BUILTIN)
