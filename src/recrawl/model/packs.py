"""Words, packed for keeping.

A word is 32 bits of a hash, the same everywhere: no list of words must be kept beside, nor cleaned when a
resource is erased. Two words of one page share a number about once in two thousand pages with 2,000 words.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from recrawl.model.bags import Bags

WORD_BITS = 32
_MOST = 0xFFFF  # times that a word is counted
_N_PLANES = 6  # bytes of a word and its count


def packed(words: Mapping[int, int]) -> bytes:
    """Numbers of up to 32 bits in order, each as its distance from the one before, and their counts; byte by
    byte of all together, since the high ones are nearly all alike."""
    word = np.array(sorted(words), dtype=np.int64)
    count = np.array([min(words[one], _MOST) for one in word.tolist()], dtype="<u2")
    steps = np.diff(word, prepend=0).astype("<u4")
    planes = np.vstack([steps.view(np.uint8).reshape(-1, 4).T, count.view(np.uint8).reshape(-1, 2).T])
    return zlib.compress(planes.tobytes(), 6)


def unpacked(rows: Sequence[bytes]) -> Bags:
    """Each as a row."""
    words, counts, sizes = [np.empty(0, np.int64)], [np.empty(0)], [0]
    for row in rows:
        planes = np.frombuffer(zlib.decompress(row), np.uint8).reshape(_N_PLANES, -1).T
        words.append(np.cumsum(planes[:, :4].copy().view("<u4").ravel(), dtype=np.int64))
        counts.append(planes[:, 4:].copy().view("<u2").ravel().astype(np.float64))
        sizes.append(len(planes))
    return Bags(np.cumsum(sizes, dtype=np.int64), np.concatenate(words), np.concatenate(counts))
