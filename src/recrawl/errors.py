"""What can go wrong on our side. What goes wrong on the web is a value (`model.Failure`), never raised.

    RecrawlError
    ├── BadInputError          the user gave something that cannot be used
    │   ├── BadUrlError
    │   ├── BadQueryError
    │   ├── BadSettingError
    │   ├── NotWatchedError
    │   ├── ConflictError      it does not go with how things stand, or one part of it with another
    │   │   └── WatchedAlreadyError
    │   ├── BadBackupError     what is to be restored is not what was backed up
    │   └── UnknownPartError   no plug-in of that name is installed
    ├── StoreError             the store cannot be opened, read or written
    │   ├── NewerStoreError
    │   ├── TooLongError       a question was broken off, so that others are answered
    │   └── UnsoundStoreError  what it holds is not what was put there
    ├── ArchiveError           the archive cannot be read or written
    │   ├── DamagedError       what the archive holds is not what was put there
    │   ├── BusyArchiveError   another process is at files that are to be written anew
    │   └── ShelfError         where archive files were carried to cannot be reached
    ├── BusyHostError          a host must be left alone, or another process is at it
    └── PluginError            a part chosen by name is installed but broken

Each message ends with what to do next. A class's docstring is its message where none is given.
"""

from __future__ import annotations


class RecrawlError(Exception):
    """Something went wrong; run `recrawl doctor` to see what."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BadInputError(RecrawlError):
    """This input cannot be used; see `recrawl COMMAND --help`."""


class BadUrlError(BadInputError):
    """This is not a URL that recrawl can visit; give one that starts with http:// or https://."""


class BadQueryError(BadInputError):
    """This is not a SPARQL query that recrawl can ask; mend it."""


class BadSettingError(BadInputError):
    """This setting is not known or its value does not fit; see `recrawl set --help`."""


class NotWatchedError(BadInputError):
    """This resource is not being watched; add it with `recrawl add URL`."""


class ConflictError(BadInputError):
    """This does not go with how things stand; look again, and change one of the two."""


class WatchedAlreadyError(ConflictError):
    """This resource is being watched already; remove one of the two with `recrawl remove URL`."""


class BadBackupError(BadInputError):
    """This backup cannot be restored; use another one."""


class UnknownPartError(BadInputError):
    """There is no part of that name; run `recrawl doctor` for the names there are."""


class StoreError(RecrawlError):
    """The store cannot be used; run `recrawl doctor`."""


class NewerStoreError(StoreError):
    """This store was written by a newer recrawl; upgrade recrawl, or choose another --home."""


class TooLongError(StoreError):
    """This takes too long to find out; ask for less at once."""


class UnsoundStoreError(StoreError):
    """The store is damaged; bring the file back from a backup."""


class ArchiveError(RecrawlError):
    """The archive cannot be used; run `recrawl doctor`."""


class DamagedError(ArchiveError):
    """The archive is damaged here; run `recrawl verify` for the whole extent."""


class ShelfError(ArchiveError):
    """The shelf cannot be reached; see to the network, and try again."""


class BusyArchiveError(ArchiveError):
    """Another process uses the archive's files; try again later."""


class BusyHostError(RecrawlError):
    """This host may not be asked now; try again later."""


class PluginError(RecrawlError):
    """A part chosen by name cannot be had, or fails at its work; choose another, or mend it."""
