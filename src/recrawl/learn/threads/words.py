"""The words of posts: tokens of three letters and more that say something, by their stems, numbered and
counted; weighed by how rare they are; and of each thread those that tell most about its gaps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.stems import stem
from recrawl.model import Bags, Bools, Floats, Ints

_TOKEN = re.compile(r"[^\W\d_]{3,}")

# Words of three letters and more that stand in any text; what an apostrophe leaves of them too.
_STOPWORDS = """
    about above after again against ain all also although always among and another any anybody anyone
    anything are aren around because been before being below between both but came can cannot come could
    couldn did didn does doesn doing don done down during each either else enough even ever every everybody
    everyone everything few for from further gets getting goes going got had hadn has hasn have haven having
    hence her here hers herself him himself his how however into isn its itself just least less let like many
    may maybe might mine more most much must myself need neither never nobody none nor not nothing now off
    often once one only other others ought our ours ourselves out over own perhaps quite rather really same
    shall she should shouldn since some somebody someone something still such than that the their theirs them
    themselves then there therefore these they thing things this those though through thus too toward under
    until upon use used very via was wasn well went were weren what whatever when where whether which while
    who whom whose why will with within without won would wouldn yes yet you your yours yourself yourselves
"""
STOPWORDS = frozenset(_STOPWORDS.split())


def counted(texts: Iterable[str]) -> tuple[Bags, list[str]]:
    """A bag for each text, and the stems by their numbers, which are given in the order of appearance."""
    numbers: dict[str, int] = {}
    known: dict[str, int] = {}  # tokens; -1: they do not count

    def number(token: str) -> int:
        known[token] = -1 if token in STOPWORDS else numbers.setdefault(stem(token), len(numbers))
        return known[token]

    rows = []
    for text in texts:
        tokens = _TOKEN.findall(text.lower())
        row = Counter(known[token] if token in known else number(token) for token in tokens)
        row.pop(-1, None)
        rows.append(row)
    return Bags.of(rows), list(numbers)


def rarity(bags: Bags, known: Bools) -> Bags:
    """Counts times the logarithm of how rare a word is (tf-idf) among the rows from which may be learned,
    1 + ln((1 + rows) / (1 + rows with the word)); every row as a vector of length 1."""
    n_with = np.bincount(bags.word[known[bags.row]], minlength=int(bags.word.max(initial=-1)) + 1)
    weight = 1.0 + np.log((1.0 + known.sum()) / (1.0 + n_with))
    count = bags.count * weight[bags.word]
    length = np.sqrt(np.bincount(bags.row, count * count, len(bags)))
    return Bags(bags.bounds, bags.word, count / length[bags.row])


def gathered(threads: Threads, bags: Bags, weight: Floats) -> Bags:
    """Of each post: its words and those of the posts before it in its thread, which count `weight[1]`,
    `weight[2]` and so on. With ones these are the words of a window."""
    post, row = bags.row, threads.row
    posts, words, counts = [post], [bags.word], [bags.count * weight[0]]
    for j in range(1, len(weight)):
        there = post + j < len(row)
        there[there] = row[post[there] + j] == row[post[there]]
        posts.append(post[there] + j)
        words.append(bags.word[there])
        counts.append(bags.count[there] * weight[j])
    n_words = int(bags.word.max(initial=-1)) + 1
    key = np.concatenate(posts) * n_words + np.concatenate(words)
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.empty(0, dtype=np.int64)
    count = np.add.reduceat(np.concatenate(counts)[order], first) if len(key) else np.empty(0)
    n_each = np.bincount(key[first] // max(n_words, 1), minlength=len(row))
    bounds = np.concatenate([[0], np.cumsum(n_each)]).astype(np.int64)
    return Bags(bounds, key[first] % max(n_words, 1), count)


def telling(threads: Threads, bags: Bags, value: Floats, known: Bools, k: int) -> Ints:
    """Of each thread the k words whose counts go best with a value, over the posts that are `known`: those
    with the largest F of a regression on one word alone. -1 where it has fewer words that vary."""
    row, n_words = threads.row, int(bags.word.max(initial=-1)) + 1
    n = np.bincount(row[known], minlength=threads.n).astype(np.float64)
    y = np.where(known, value, 0.0)
    y = y - (np.bincount(row, y, threads.n) / np.maximum(n, 1.0))[row]
    y_spread = np.bincount(row[known], y[known] ** 2, threads.n)
    here = known[bags.row]
    post, x = bags.row[here], bags.count[here]
    pairs, at = np.unique(row[post] * n_words + bags.word[here], return_inverse=True)
    of = pairs // max(n_words, 1)
    sum_x = np.bincount(at, x, len(pairs))
    x_spread = np.bincount(at, x * x, len(pairs)) - sum_x * sum_x / np.maximum(n[of], 1.0)
    both = np.bincount(at, x * y[post], len(pairs))
    varies = (x_spread > 1e-9 * sum_x) & (y_spread[of] > 0.0)
    # F rises with the squared correlation, so that decides. Rounding must not part equals.
    square = np.where(varies, both**2 / np.where(varies, x_spread * y_spread[of], 1.0), -1.0).round(12)
    order = np.lexsort((pairs, -square, of))
    order = order[varies[order]]
    rank = np.arange(len(order)) - np.searchsorted(of[order], of[order])
    best = np.full((threads.n, k), -1, dtype=np.int64)
    taken = rank < k
    best[of[order][taken], rank[taken]] = pairs[order][taken] % max(n_words, 1)
    return best


def columns(threads: Threads, bags: Bags, words: Ints) -> Floats:
    """How often each post has its thread's words, a column for each; 0 where the thread has none."""
    n_words = int(max(bags.word.max(initial=-1), words.max(initial=-1))) + 1
    there = words >= 0
    key = (np.arange(threads.n)[:, None] * n_words + words)[there]
    order = np.argsort(key)
    place = np.broadcast_to(np.arange(words.shape[1]), words.shape)[there][order]
    asked = threads.row[bags.row] * n_words + bags.word
    found = np.searchsorted(key[order], asked)
    hit = np.zeros(len(asked), dtype=np.bool_)
    inside = found < len(key)
    hit[inside] = key[order][found[inside]] == asked[inside]
    counts = np.zeros((len(threads.at), words.shape[1]))
    counts[bags.row[hit], place[found[hit]]] = bags.count[hit]
    return counts
