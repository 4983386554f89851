"""The posts of a corpus's threads: their times from its events, authors and words from `posts.jsonl.gz`.

Every version of a resource is a post. Two of one moment are two: threads are often known to the minute.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.corpora.builtin import Builtin
from recrawl.corpora.native import EVENTS, Corpus
from recrawl.corpora.opened import Histories, Tell
from recrawl.corpora.rows import counting, read_rows
from recrawl.corpora.sources.lines import Flaw, lines
from recrawl.errors import BadInputError
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.speech import tagged
from recrawl.learn.threads.words import counted
from recrawl.model import Floats, Ints
from recrawl.simulate.posts import said

POSTS = "posts.jsonl.gz"
MAX_LINE_BYTES = 64 << 20  # a thread is a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Boards:
    threads: Threads
    every: Threads  # those of any size, their times alone
    words: Sequence[str]  # stems, by their numbers in the threads' bags
    hosts: Sequence[str]  # by the numbers of the boards
    n_spoken: int  # threads whose words are known


def boards(corpus: Histories, least: int, most: int, tell: Tell, board: str | None = None) -> Boards:
    """The threads of that many posts, of all boards or one. Bags are there where the words of some are known;
    a post whose words nobody knows has an empty one."""
    if isinstance(corpus, Builtin):
        bounds, at, number, host, hosts = _drawn(corpus)
    elif isinstance(corpus, Corpus):
        bounds, at, number, host, hosts = _read(corpus)
    else:
        raise BadInputError("Posts are read from a folder with a corpus; give its path.")
    if board is not None:
        bounds, at, number, host = _of_board(board, bounds, at, number, host, hosts)
    n_posts = np.diff(bounds)
    rows = np.flatnonzero((n_posts >= least) & (n_posts <= most))
    if not len(rows):
        raise BadInputError(
            f"No thread of {corpus.about.name} has {least:,} to {most:,} posts (it has {len(n_posts):,} "
            f"threads, the longest of {int(n_posts.max(initial=0)):,}); ask for other sizes, as with --posts "
            "20-1000."
        )
    none = np.full(len(at), -1, dtype=np.int64)
    every = Threads(bounds, at, none, None, host)
    chosen = every.pick(rows)
    tell(0.3, f"the words of {chosen.n:,} threads")
    found = (
        _spoken(corpus, chosen, number[rows])
        if isinstance(corpus, Builtin)
        else _kept(corpus.folder / POSTS, chosen, number[rows])
    )
    author, texts, n_spoken = _joined(chosen, found)
    bags, words = counted(texts) if n_spoken else (None, [])
    tags = tagged(texts) if n_spoken else None
    return Boards(
        threads=Threads(chosen.bounds, chosen.at, author, bags, chosen.board, tags),
        every=every,
        words=words,
        hosts=hosts,
        n_spoken=n_spoken,
    )


_Times = tuple[Ints, Floats, Ints, Ints, Sequence[str]]  # bounds, times, numbers, hosts, hosts' names


def _of_board(
    name: str, bounds: Ints, at: Floats, number: Ints, host: Ints, hosts: Sequence[str]
) -> tuple[Ints, Floats, Ints, Ints]:
    if name not in hosts:
        known = ", ".join(hosts[:10]) + (" and more" if len(hosts) > 10 else "")
        raise BadInputError(f"There is no board {name!r}; choose one of: {known}.")
    own = host == hosts.index(name)
    n_posts = np.diff(bounds)
    kept = np.repeat(own, n_posts)
    return np.concatenate([[0], np.cumsum(n_posts[own])]).astype(np.int64), at[kept], number[own], host[own]


def _drawn(corpus: Builtin) -> _Times:
    from recrawl.simulate.worlds import host_of

    traces = corpus.traces()
    n = len(traces)
    bounds = traces.bounds + np.arange(n + 1)
    at = np.empty(int(bounds[-1]))
    at[bounds[:-1]] = traces.born_at
    at[np.arange(len(traces.at)) + np.repeat(np.arange(n), traces.n_changes) + 1] = traces.at
    hosts = [host_of(one) for one in range(int(traces.host.max(initial=-1)) + 1)]
    return bounds, at, np.arange(n), traces.host, hosts


def _read(corpus: Corpus) -> _Times:
    if corpus.about.observation != "every-change":
        raise BadInputError(
            f"{corpus.about.name} was looked at now and then, so it has no times of posts; give a corpus "
            "that knows every change."
        )
    skipped = Counter[str]()
    rows = list(read_rows(corpus.folder / EVENTS, corpus.number, counting(skipped, strict=False)))
    place = np.concatenate([np.zeros(0, dtype=np.int64), *(part.place for part in rows)])
    at = np.concatenate([np.zeros(0, dtype=np.int64), *(part.at for part in rows)])
    order = np.lexsort((at, place))
    there, n_posts = np.unique(place, return_counts=True)
    bounds = np.concatenate([[0], np.cumsum(n_posts)]).astype(np.int64)
    return bounds, at[order].astype(np.float64), corpus.number[there], corpus.host[there], corpus.hosts


_Post = tuple[float, Any, str]  # when, who, what


def _spoken(corpus: Builtin, threads: Threads, number: Ints) -> Iterator[tuple[int, list[_Post]]]:
    for row, resource in enumerate(number.tolist()):
        talk = corpus.world.talk_of(resource)
        if talk is not None:
            at = threads.at[threads.bounds[row] : threads.bounds[row + 1]]
            found = said(talk, at, resource, corpus.world.seed)
            who = [(int(threads.board[row]), author) for author in found.author.tolist()]
            yield row, list(zip(at.tolist(), who, found.texts(talk), strict=True))


def _kept(path: Path, threads: Threads, number: Ints) -> Iterator[tuple[int, list[_Post]]]:
    """Those of the threads that the file has; what is no thread is passed over."""
    if not path.is_file():
        return
    row_of = {resource: row for row, resource in enumerate(number.tolist())}
    for place, line in lines(path, max_bytes=MAX_LINE_BYTES):
        if isinstance(line, Flaw):
            raise BadInputError(f"{path}, line {place}: {line}; get the file again, or take it away.")
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        row = row_of.pop(told.get("resource"), None) if isinstance(told, dict) else None
        if row is not None and isinstance(told.get("posts"), list):
            board = int(threads.board[row])
            yield row, [_post(one, board) for one in told["posts"] if _sound(one)]


def _sound(post: Any) -> bool:
    return isinstance(post, dict) and isinstance(post.get("at"), int | float)


def _post(post: Mapping[str, Any], board: int) -> _Post:
    who, text = post.get("user"), post.get("text")
    known = (board, who) if isinstance(who, int | str) and who != "" else None
    return float(post["at"]), known, text if isinstance(text, str) else ""


def _joined(threads: Threads, found: Iterator[tuple[int, list[_Post]]]) -> tuple[Ints, list[str], int]:
    """Authors and texts of the posts, each at its moment; those of one moment in the order told."""
    author = np.full(len(threads.at), -1, dtype=np.int64)
    numbers: dict[Any, int] = {}
    texts = [""] * len(threads.at)
    n_spoken = 0
    for row, posts in found:
        places: dict[float, list[int]] = defaultdict(list)
        for place in range(int(threads.bounds[row + 1]) - 1, int(threads.bounds[row]) - 1, -1):
            places[float(threads.at[place])].append(place)
        n_spoken += any(text for *_, text in posts)
        for at, who, text in posts:
            if places.get(at):
                place = places[at].pop()
                texts[place] = text
                if who is not None:
                    author[place] = numbers.setdefault(who, len(numbers))
    return author, texts, n_spoken
