"""Where people want files written: refused before the work is done, in words that help."""

from __future__ import annotations

import os
from pathlib import Path

PAGE, DRAWING = (".html", ".htm"), (".svg",)


def writable(path: Path | None, endings: tuple[str, ...] = ()) -> None:
    """`endings` are those that such a file's name may have, if it has one: the first is suggested."""
    from recrawl.errors import BadInputError

    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        example = path / f"recrawl{endings[0] if endings else '.csv'}"
        raise BadInputError(f"{path} is a folder; name a file in it, such as {example}.")
    if not folder.is_dir():
        told = "is no folder" if folder.exists() else "is not there"
        raise BadInputError(
            f"{path} cannot be written: {folder} {told}; name a file in a folder that is there."
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise BadInputError(f"{path} cannot be written: you may not write there; choose another place.")
    if endings and path.suffix and path.suffix.lower() not in endings:
        form = endings[0].removeprefix(".").upper()
        raise BadInputError(
            f"{path} would not be what its name says: this is {form}; name it {path.with_suffix(endings[0])}."
        )
