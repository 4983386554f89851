"""Pages for people: an article, a board, a thread."""

from __future__ import annotations

from html import escape

from recrawl.livingweb.content.noise import hidden, visible
from recrawl.livingweb.content.scene import N_SLOTS, Scene, iso
from recrawl.livingweb.content.words import name, sentence, title
from recrawl.livingweb.script import Document
from recrawl.livingweb.talk import n_pages

_N_HEADLINES = 4
_PER_PARAGRAPH = 4


def page(scene: Scene) -> str:
    """Four paragraphs and a list of headlines; every version rewrites one sentence or headline."""
    written = [sentence(scene.key, slot, scene.edition(slot)) for slot in range(N_SLOTS)]
    headlines, sentences = written[:_N_HEADLINES], written[_N_HEADLINES:]
    paragraphs = [
        " ".join(sentences[i : i + _PER_PARAGRAPH]) for i in range(0, len(sentences), _PER_PARAGRAPH)
    ]
    main = [f"<p>{text}</p>" for text in paragraphs]
    aside = "".join(f"<li>{text}</li>" for text in headlines)
    return _framed(scene, title(scene.key), [*main, f"<h2>In brief</h2><ul>{aside}</ul>"])


def board(scene: Scene) -> str:
    """The threads, the one with the newest post first."""
    rows = [
        f'<tr><td><a href="{escape(row.url)}">{row.title}</a></td><td>{row.n_changes} replies</td>'
        f'<td><time datetime="{iso(row.changed_at)}">{iso(row.changed_at)}</time></td></tr>'
        for row in sorted(scene.listed, key=lambda row: row.changed_at, reverse=True)
    ]
    heads = "<tr><th>Thread</th><th>Replies</th><th>Last post</th></tr>"
    table = f"<table><thead>{heads}</thead><tbody>{''.join(rows)}</tbody></table>"
    return _framed(scene, f"Board: {title(scene.key)}", [table], links=False)


def thread(scene: Scene) -> str:
    """The oldest post first, the opening one among them; page 1 also tells how many there are by now."""
    n = scene.document.posts_per_page
    first = (scene.page - 1) * n
    posts = [
        f'<article class="post" id="post-{i}"><h3>{name(scene.key, "author", i)}</h3>'
        f'<time datetime="{iso(scene.made_at(i))}">{iso(scene.made_at(i))}</time>'
        f"<p>{sentence(scene.key, 'post', i)} {sentence(scene.key, 'more', i)}</p></article>"
        for i in range(first, min(first + n, scene.version + 1))
    ]
    last_page = n_pages(scene.version + 1, scene.document)
    pager = "".join(f' <a href="?page={p}"{_rel(p, last_page)}>{p}</a>' for p in near(scene.page, last_page))
    last = iso(scene.made_at(scene.version))
    count = f"{scene.version} replies, the last at <time datetime='{last}'>{last}</time>"
    summary = f"<p class='summary'>{count}</p>" if scene.page == 1 else ""
    return _framed(scene, title(scene.key), [summary, *posts, f"<p class='pager'>Pages:{pager}</p>"])


def near(page: int, last_page: int) -> list[int]:
    """The pages that a pager names."""
    return sorted({1, last_page} | {p for p in range(page - 2, page + 3) if 1 <= p <= last_page})


def _rel(page: int, last_page: int) -> str:
    return ' rel="last"' if page == last_page else ""


def _framed(scene: Scene, heading: str, main: list[str], *, links: bool = True) -> str:
    document = scene.document
    nav = "".join(f'<li><a href="{escape(row.url)}">{row.title}</a></li>' for row in scene.listed if links)
    return f"""<!DOCTYPE html>
<html lang="en" data-build="{hidden(document, "1")}">
<head>
<meta charset="utf-8">
<title>{heading} – {document.host}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem }}</style>
<script nonce="{hidden(document, "1")}">var session = "{hidden(document, "1")}";</script>
</head>
<body>
<header><nav><ul>{nav}</ul></nav></header>
<main>
<h1>{heading}</h1>
{chr(10).join(main)}
</main>
{_extras(document)}</body>
</html>
"""


def _extras(document: Document) -> str:
    token, stamp = hidden(document), visible(document)
    frame = f'<div class="ad" id="ad-{token}"><img src="/ad/{token}.gif" alt=""></div><!-- {token} -->\n'
    return (frame if token else "") + (f"<footer><p>{stamp}</p></footer>\n" if stamp else "")
