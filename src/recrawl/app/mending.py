"""What a crash left behind, before anything else is done to the archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from recrawl.contracts import Archive, Store
from recrawl.errors import BusyArchiveError


def mended(archive: Archive, store: Store) -> Sequence[str]:
    """Delete what is doomed, cut what was not recorded; say what was cut."""
    if store.doomed():
        from recrawl.remember.rewriting import bury_doomed
        from recrawl.remember.warc import WarcArchive

        if isinstance(archive, WarcArchive):
            # Where somebody writes files anew at this moment, they are not ours to delete.
            with suppress(BusyArchiveError), archive.locks.rewriting(lambda: False):
                bury_doomed(store, archive.folder)
    return archive.recover(store.files, partial(_doomed, store))


def _doomed(store: Store) -> Mapping[str, str]:
    """Asked before anything is cut: by then the store must have made up its mind."""
    store.settle()
    return store.doomed()
