"""A report as one HTML page that needs nothing else: no network, no scripts, no fonts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from recrawl.evaluate.report import plot
from recrawl.evaluate.report.figures import Block, Finding, Lines, Report, Scatter, Section, Table
from recrawl.evaluate.report.style import style

# Nothing that a corpus brings may run or load anything, should it ever get past the escaping.
_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"
_WORDS = {True: ("yes", "✓ holds"), False: ("no", "✗ does not"), None: ("open", "? open")}


def page(report: Report) -> str:
    links = "".join(f'<li><a href="#{_key(s)}">{escape(s.title)}</a></li>' for s in report.sections)
    facts = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in report.facts
    )
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(report.title)}</title>',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_NOTHING_ELSE}">',
        f"<style>{style()}</style></head><body>",
        f'<header><h1>{escape(report.title)}</h1><p class="lead">{escape(report.lead)}</p>',
        f"<p>{escape(report.about)}</p><dl>{facts}</dl>" if report.about else f"<dl>{facts}</dl>",
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header><main>',
    ]
    for section in report.sections:
        parts.append(f'<section id="{_key(section)}"><h2>{escape(section.title)}</h2>')
        parts += (shown for block in section.blocks for shown in _block(block))
        parts.append("</section>")
    parts.append("</main><footer><p>The same page again:</p>")
    parts.append(f"<pre><code>{escape(report.command)}</code></pre></footer></body></html>\n")
    return "\n".join(parts)


def _key(section: Section) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in section.title.lower())


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, str):
        yield f"<p>{escape(block)}</p>"
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Finding):
        look, word = _WORDS[block.holds]
        yield f'<div class="finding {look}"><p><b>{word}</b> {escape(block.claim)}</p>'
        yield f"<p>{escape(block.sentence)}</p></div>"
    else:
        yield '<div class="figures">'
        for chart in block:
            yield f"<figure><figcaption>{escape(chart.title)}</figcaption>{_drawn(chart)}</figure>"
        yield "</div>"


def _drawn(chart: Lines | Scatter) -> str:
    return plot.lines(chart) if isinstance(chart, Lines) else plot.scatter(chart)


def _table(table: Table) -> Iterator[str]:
    caption = escape(table.caption)
    # A caption is as wide as its table and would be cut where that is wider than the screen: readers of the
    # screen get this one, listeners the other.
    yield f'<p class="caption" aria-hidden="true">{caption}</p>'
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">'
    yield f'<table><caption class="unseen">{caption}</caption>'
    heads = "".join(
        f'<th scope="col"{_word(i, table)}>{escape(name)}</th>' for i, name in enumerate(table.columns)
    )
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in table.rows:
        cells = "".join(_cell(cell, i, table) for i, cell in enumerate(row))
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: str, column: int, table: Table) -> str:
    if column < table.n_words:
        return f'<th scope="row" class="word">{escape(cell)}</th>'
    figure, _, interval = cell.partition(" ")  # what follows the figure says how sure it is
    return f"<td>{escape(figure)}" + (f" <small>{escape(interval)}</small></td>" if interval else "</td>")


def _word(column: int, table: Table) -> str:
    return ' class="word"' if column < table.n_words else ""
