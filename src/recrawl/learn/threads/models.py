"""The models of Tan (2012) by name. Each says for every post how long it is to the next one of its thread,
from the posts up to it; what a model fits beforehand is fitted to the first `n_train` posts of each thread.

`fixed`, `mean` and `window-mean` are in `gaps`; `sgd`, with its variants, in `sgd`. All others are support
vector machines: `svr` on the last gaps, day and hour; with the counts of the 5 to 50 words that tell most
(`svr-words-5` and so on), with words weighed by their rarity (`svr-tf-idf`), with parts of speech
(`svr-tags`), with words, parts of speech and the thread's age, length and authors (`svr-all`); and
`discounted-svr` on discounted sums over all posts so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.threads import gaps
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.features import stage
from recrawl.learn.threads.sgd import sgd
from recrawl.learn.threads.svr import MOST_WORDS, N_WORDS, Windows
from recrawl.learn.threads.svr import predicted as machines
from recrawl.model import Floats, Ints

VOCABULARIES = tuple(range(5, MOST_WORDS + 1, 5))
BASELINES = ("fixed", "mean", "window-mean")
WORDS = (*(f"svr-words-{k}" for k in VOCABULARIES), "svr-tf-idf", "discounted-svr", "sgd-words")
TAGS = ("svr-tags", "svr-all")  # the last needs words too
MODELS = (*BASELINES, "svr", *WORDS, *TAGS, "sgd", "sgd-clipped")


def possible(threads: Threads) -> tuple[str, ...]:
    """The models for which these threads tell enough."""
    missing = (WORDS + TAGS[1:] if threads.bags is None else ()) + (TAGS if threads.tags is None else ())
    return tuple(name for name in MODELS if name not in missing)


def predicted(name: str, threads: Threads, n_train: Ints) -> Floats:
    """The gap after each post, in seconds."""
    return dict(all_predicted([name], threads, n_train))[name]


def all_predicted(
    names: Sequence[str],
    threads: Threads,
    n_train: Ints,
    heard: Callable[[int], None] = lambda _: None,
) -> Iterator[tuple[str, Floats]]:
    """One model after the other. Words are read and chosen only once. `heard` is told how many threads the
    machine that is being fitted has behind it."""
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        raise BadInputError(f"There is no model named {unknown[0]}; take one of {', '.join(MODELS)}.")
    windows = Windows(threads, n_train)
    for name in names:
        yield name, _predicted(name, windows, heard)


def _predicted(name: str, windows: Windows, heard: Callable[[int], None]) -> Floats:
    threads, n_train = windows.threads, windows.n_train
    if name in BASELINES:
        return {"fixed": gaps.fixed, "mean": gaps.mean, "window-mean": gaps.window_mean}[name](
            threads, n_train
        )
    if name == "sgd-words":
        return sgd(threads, n_train, np.minimum(windows.words[:, :N_WORDS], 1.0))
    if name.startswith("sgd"):
        return sgd(threads, n_train, clipped=name == "sgd-clipped")
    return machines(windows, _columns(name, windows), heard)


def _columns(name: str, windows: Windows) -> Floats:
    if name == "svr":
        return windows.plain
    if name == "discounted-svr":
        return windows.sums
    if name == "svr-tf-idf":
        return np.hstack([windows.plain, windows.rare_words])
    if name == "svr-tags":
        return np.hstack([windows.plain, windows.tags])
    if name == "svr-all":
        own = stage(windows.threads, windows.w)
        return np.hstack([windows.plain, own, windows.words[:, :N_WORDS], windows.tags])
    return np.hstack([windows.plain, windows.words[:, : int(name.rsplit("-", 1)[1])]])
