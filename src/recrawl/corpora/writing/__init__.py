"""Writes corpora: what comes in any order is kept on the disk, sorted, and made the files of the format."""

from recrawl.corpora.writing.writer import Writer

__all__ = ["Writer"]
