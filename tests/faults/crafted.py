"""Backups that somebody crafted: from a good one's folder, each makes a bad one."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Craft = Callable[[Path], Path]  # a good backup's folder in, a bad backup out


def _listed(folder: Path) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())["files"]
    return files


def _list(folder: Path, files: list[dict[str, Any]], form: object = 1) -> Path:
    document = {"format": form, "made_at": "2026-01-01T00:00:00Z", "files": files}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


def _also(folder: Path, path: str, data: bytes, *, n_bytes: int | None = None) -> Path:
    """One more file in the list, which is really there where that can be."""
    target = folder / path
    if target.is_relative_to(folder) and ".." not in target.parts:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest()
    n = len(data) if n_bytes is None else n_bytes
    return _list(folder, [*_listed(folder), {"path": path, "n_bytes": n, "sha256": sha256}])


def dots(folder: Path) -> Path:
    (folder.parent / "evil").write_bytes(b"evil")
    return _also(folder, "../evil", b"evil")


def dots_within(folder: Path) -> Path:
    (folder / "evil").write_bytes(b"evil")
    return _also(folder, "archive/../../evil/../outside", b"evil")


def absolute(folder: Path) -> Path:
    outside = folder.parent / "absolute"
    outside.write_bytes(b"evil")
    return _also(folder, str(outside), b"evil")


def link(folder: Path) -> Path:
    """To a file elsewhere that even has the right content."""
    path = next((folder / "archive").iterdir())
    path.rename(folder.parent / "private")
    path.symlink_to(folder.parent / "private")
    return folder


def linked_folder(folder: Path) -> Path:
    (folder / "archive").rename(folder.parent / "moved")
    (folder / "archive").symlink_to(folder.parent / "moved")
    return folder


def wrong_digest(folder: Path) -> Path:
    path = next((folder / "archive").iterdir())
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    return folder


def more_than_said(folder: Path) -> Path:
    path = next((folder / "archive").iterdir())
    with path.open("ab") as stream:
        stream.write(b"\0" * 10_000_000)
    return folder


def bomb(folder: Path) -> Path:
    """A hole of a terabyte."""
    path = next((folder / "archive").iterdir())
    with path.open("r+b") as stream:
        stream.truncate(1 << 40)
    files = [
        {**one, "n_bytes": 1 << 40} if one["path"].endswith(path.name) else one for one in _listed(folder)
    ]
    return _list(folder, files)


def strange_names(folder: Path) -> Path:
    return _also(folder, "archive/a b\n.warc.gz", b"evil")


def other_archive(folder: Path) -> Path:
    return _also(folder, "archive/more.warc.gz", b"evil")


def no_store(folder: Path) -> Path:
    return _list(folder, [one for one in _listed(folder) if "sqlite" not in one["path"]])


def not_a_list(folder: Path) -> Path:
    (folder / "manifest.json").write_text('{"format": 1, "made_at": "", "files": [[]]}')
    return folder


def negative(folder: Path) -> Path:
    return _also(folder, "recrawl.toml", b"", n_bytes=-1)


def _tar(folder: Path, add: Callable[[tarfile.TarFile], object]) -> Path:
    with tarfile.open(folder.parent / "crafted.tar", "w", format=tarfile.GNU_FORMAT) as tar:
        for one in _listed(folder):
            tar.add(folder / one["path"], one["path"])
        add(tar)
        tar.add(folder / "manifest.json", "manifest.json")
    return folder.parent / "crafted.tar"


def _nothing(_: tarfile.TarFile) -> None:
    """As it is."""


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 4) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, size
    return member


def tar_dots(folder: Path) -> Path:
    return _tar(dots(folder), _nothing)


def tar_unlisted_dots(folder: Path) -> Path:
    return _tar(folder, lambda tar: tar.addfile(_member("../evil"), io.BytesIO(b"evil")))


def tar_link(folder: Path) -> Path:
    return _tar(folder, lambda tar: tar.addfile(_member("archive", tarfile.SYMTYPE, "/etc", 0)))


def tar_hard_link(folder: Path) -> Path:
    return _tar(folder, lambda tar: tar.addfile(_member("recrawl.toml", tarfile.LNKTYPE, "/etc/passwd", 0)))


def tar_device(folder: Path) -> Path:
    return _tar(folder, lambda tar: tar.addfile(_member("recrawl.toml", tarfile.CHRTYPE, "", 0)))


def tar_twice(folder: Path) -> Path:
    return _tar(folder, lambda tar: tar.addfile(_member("recrawl.sqlite"), io.BytesIO(b"evil")))


def tar_longer_than_itself(folder: Path) -> Path:
    def add(tar: tarfile.TarFile) -> None:
        assert tar.fileobj is not None
        tar.fileobj.write(_member("archive/x.warc.gz", size=1 << 40).tobuf(tarfile.GNU_FORMAT))

    return _tar(folder, add)


def tar_other_length(folder: Path) -> Path:
    files = _listed(folder)
    files[0]["n_bytes"] += 512
    return _tar(_list(folder, files), _nothing)


def tar_cut_short(folder: Path) -> Path:
    made = _tar(folder, _nothing)
    made.write_bytes(made.read_bytes()[:5_000])
    return made


CRAFTED = [
    *(dots, dots_within, absolute, link, linked_folder, wrong_digest, more_than_said, bomb, strange_names),
    *(other_archive, no_store, not_a_list, negative),
    *(tar_dots, tar_unlisted_dots, tar_link, tar_hard_link, tar_device, tar_twice, tar_longer_than_itself),
    *(tar_other_length, tar_cut_short),
]
