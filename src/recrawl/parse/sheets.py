"""Spreadsheets (XLSX) as rows of text. Call it where it can be killed: a small file can hold a huge sheet."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time

_MAX_ENTRIES = 10_000
_MAX_BYTES = 1 << 30


def rows(body: bytes) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Each sheet's name and its rows, formulas by their last result."""
    from openpyxl import load_workbook  # a quarter of a second that only spreadsheets should cost

    with zipfile.ZipFile(io.BytesIO(body)) as pack:
        entries = pack.infolist()
        if len(entries) > _MAX_ENTRIES or sum(entry.file_size for entry in entries) > _MAX_BYTES:
            raise ValueError("the file unpacks to more than a spreadsheet would")
        for entry in entries:
            if entry.filename.endswith(".xml") and b"<!DOCTYPE" in pack.open(entry).read(4096):
                raise ValueError("the file declares a document type, which no spreadsheet needs")
    book = load_workbook(io.BytesIO(body), read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            yield sheet.title, ([_shown(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
    finally:
        book.close()


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case datetime() if value.time() == time():  # every date of a spreadsheet has a time of day
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case float():
            return repr(value)
        case _:
            return str(value)
