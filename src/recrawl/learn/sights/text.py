"""Arrays and trees as JSON text, with a seal by which damage is seen."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from recrawl.learn.sights.trees import Trees
from recrawl.model import Bools, Floats, Ints

KIND = "recrawl sight model"
_TYPES = {"<f8": np.float64, "<i8": np.int64, "|b1": np.bool_}


class TextError(Exception):
    """A text is not what was written; says why, without an end."""


def text_of(said: Mapping[str, Any], version: int) -> str:
    inner = json.dumps(said, sort_keys=True, allow_nan=False)
    return json.dumps({"kind": KIND, "version": version, "seal": _seal(inner), "model": inner})


def unsealed(text: str) -> tuple[Mapping[str, Any], int]:
    """What was written, and its version. Of another version it is not looked into."""
    try:
        outer = json.loads(text)
    except (ValueError, RecursionError):
        raise TextError("it is no JSON text") from None
    if not isinstance(outer, dict) or outer.get("kind") != KIND or type(outer.get("version")) is not int:
        raise TextError("it is something else")
    inner = outer.get("model")
    if not isinstance(inner, str) or outer.get("seal") != _seal(inner):
        raise TextError("it is damaged")
    try:
        said = json.loads(inner)
    except (ValueError, RecursionError):
        raise TextError("it is damaged") from None
    if not isinstance(said, dict):
        raise TextError("it is something else")
    return said, outer["version"]


def plain(values: Floats | Ints | Bools) -> dict[str, Any]:
    """An array as its little-endian bytes."""
    kind = values.dtype.newbyteorder("<").str if values.dtype != np.bool_ else "|b1"
    data = np.ascontiguousarray(values.astype(kind)).tobytes()
    return {"type": kind, "shape": list(values.shape), "bytes": b64encode(data).decode()}


def array(said: Mapping[str, Any], kind: type, n_axes: int) -> npt.NDArray[Any]:
    if _TYPES.get(said["type"]) is not kind or len(said["shape"]) != n_axes:
        raise TextError("an array in it is of another kind")
    data = b64decode(said["bytes"], validate=True)
    return np.frombuffer(data, dtype=said["type"]).reshape(said["shape"]).astype(kind)


def trees_of(trees: Trees) -> dict[str, Any]:
    names = ("root", "feature", "threshold", "left", "right", "unknown_left", "value")
    return {name: plain(getattr(trees, name)) for name in names}


def read_trees(said: Mapping[str, Any], n_features: int) -> Trees:
    """Every way down ends: children come after their parents, and a leaf is its own."""
    root, feature, left, right = (
        array(said[name], np.int64, 1) for name in ("root", "feature", "left", "right")
    )
    threshold, value = (array(said[name], np.float64, 1) for name in ("threshold", "value"))
    unknown_left = array(said["unknown_left"], np.bool_, 1)
    n = len(feature)
    own = np.arange(n)
    if {len(each) for each in (left, right, threshold, value, unknown_left)} != {n}:
        raise TextError("its trees do not fit together")
    leaf = left == own
    sound = (
        bool(((root >= 0) & (root < n)).all()),
        bool(((feature >= 0) & (feature < n_features)).all()),
        bool((leaf == (right == own)).all()),
        bool((leaf | ((left > own) & (left < n) & (right > own) & (right < n))).all()),
        bool(np.isfinite(value).all() and not np.isnan(threshold).any()),
    )
    if not all(sound):
        raise TextError("its trees do not fit together")
    depth = np.zeros(n, dtype=np.int64)
    for node in np.flatnonzero(~leaf).tolist():
        for child in (int(left[node]), int(right[node])):
            depth[child] = max(depth[child], depth[node] + 1)
    return Trees(
        root=root,
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        unknown_left=unknown_left,
        value=value,
        depth=int(depth.max(initial=0)),
    )


def _seal(inner: str) -> str:
    return sha256(inner.encode()).hexdigest()
