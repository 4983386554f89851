"""A drawing of a page as a file that stands alone."""

from __future__ import annotations

from recrawl.evaluate.report.style import style


def alone(svg: str) -> str:
    """With the look of the page, light or dark as whoever reads it wants."""
    head, rest = svg.split(">", 1)
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    # in front of all else: letters have a rim of the paper's colour
    return f'{head}><style>{style()}</style><rect width="100%" height="100%" fill="var(--paper)"/>{rest}\n'
