"""The threads of a list that nobody has described, in blocks that are alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recrawl.parse.threads.boards import Row, count, thread_url
from recrawl.parse.threads.elements import attribute, led, line, lines
from recrawl.parse.threads.outline import Element
from recrawl.parse.threads.roles import WORDS, others

_REPLIES = re.compile(
    r"([0-9][0-9.,]{0,8}[Kk]?)\s{0,2}(?:comments?|repl(?:y|ies)|antworten|posts|réponses|respuestas)",
    re.IGNORECASE,
)


def listed(elements: Sequence[Element], blocks: Sequence[tuple[int, ...]], base: str) -> list[Row]:
    """The threads of blocks: where the longest link of each leads, with the last of its times."""
    found: list[Row] = []
    for block in blocks:
        links = [
            (line(elements[i].node), i) for i in block if elements[i].tag == "a" and not elements[i].time
        ]
        links = [one for one in links if WORDS.search(one[0])]
        times = [elements[i].time for i in block if elements[i].time]
        title, i = max(links, key=lambda one: len(one[0]), default=("", -1))
        target = led(base, attribute(elements[i].node, "href")) if i >= 0 else ""
        if target and times:
            own = set(block)
            apart = others(elements, block, own)
            whole = [i for i in block if elements[i].parent not in own]
            row = " ".join(said for i in whole for said in lines(elements[i].node, apart))
            replies = _REPLIES.search(row[:2_000])
            n_replies = count(replies[1]) if replies else -1
            found.append(
                Row(
                    url=thread_url(target),
                    title=title[:500],
                    written=times[-1],
                    n_posts=n_replies + 1 if n_replies >= 0 else -1,
                )
            )
    return found
