"""The model of first sights as text: the same bits come back, and nothing else is believed."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.sights import sighted

from recrawl.errors import BadInputError, NewerStoreError, RecrawlError, UnsoundStoreError
from recrawl.learn.groups import Classes
from recrawl.learn.sights import trees as trees_module
from recrawl.learn.sights.boosting import regressed
from recrawl.learn.sights.evidence import Evidence
from recrawl.learn.sights.learners import grown_tree
from recrawl.learn.sights.model import VERSION, Trained
from recrawl.learn.sights.text import plain
from recrawl.learn.sights.trees import exported, joined, singles
from recrawl.model import DAY_S, Floats, Ints

NOW = 1_700_000_000.0


def made(n_trees: int = 12) -> tuple[Trained, Floats, Ints]:
    """A small model with trees of both kinds, without the search for the best one."""
    world = sighted(200, 0.6)
    label = (world.per_day < 0.1).astype(np.int64)
    regression = regressed(world.values, Evidence.of(world.seen), n_trees, 3)
    columns = np.array([0, 2, 3])
    grown = grown_tree(world.values[:, columns], label)
    share = grown.tree_.value[:, 0, :]
    model = Trained(
        features=world.names,
        format=1,
        middle=regression.middle,
        trees=regression.trees,
        ratio_shape=0.7,
        ratio_scale=0.7,
        classes=Classes(np.array([DAY_S, 30 * DAY_S]), np.array([0.1]), np.array([100, 100])),
        tree=exported(grown, columns),
        leaf_class=share.argmax(axis=1).astype(np.int64),
        leaf_p=np.asarray(share),
        trained_at=NOW,
        report={"resources": 200, "note": "ü"},
    )
    return model, world.values, label


def resealed(text: str, **said: Any) -> str:
    """A text that somebody has altered with its seal."""
    outer = json.loads(text)
    inner = json.dumps({**json.loads(outer["model"]), **said}, sort_keys=True)
    return json.dumps({**outer, "model": inner, "seal": sha256(inner.encode()).hexdigest()})


def test_what_was_written_comes_back_bit_by_bit() -> None:
    model, values, _ = made()
    again = Trained.read(model.written())
    for one, other in zip(model.hunches(values), again.hunches(values), strict=True):
        assert one.tobytes() == other.tobytes()
    assert again.p_classes(values).tobytes() == model.p_classes(values).tobytes()
    assert again.written() == model.written()
    assert again.report == model.report
    assert again.name == model.name
    assert made(3)[0].name != model.name


def test_hunches_need_no_scikit_learn(tmp_path: Path) -> None:
    model, values, _ = made()
    (tmp_path / "model.json").write_text(model.written())
    np.save(tmp_path / "values.npy", values)
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np; from pathlib import Path\n"
        "from recrawl.learn.sights.model import Trained\n"
        "found = Trained.read(Path('model.json').read_text()).hunches(np.load('values.npy'))\n"
        "np.save('found.npy', np.stack(found))\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert np.load(tmp_path / "found.npy").tobytes() == np.stack(model.hunches(values)).tobytes()


def test_a_tree_followed_in_columns_says_what_scikit_learn_says() -> None:
    """Also of values that were not known, in columns where all were known when it was grown."""
    rng = np.random.default_rng(1)
    values = rng.lognormal(0.0, 3.0, (600, 5))
    values[rng.random((600, 5)) < [0.0, 0.2, 0.0, 0.4, 0.0]] = np.nan
    label = ((np.nan_to_num(values[:, 1], nan=5.0) > values[:, 0]) + 2 * (rng.random(600) < 0.3)).astype(int)
    grown = grown_tree(values, label)
    others = rng.lognormal(0.0, 3.0, (2_000, 5))
    others[rng.random((2_000, 5)) < [0.0, 0.3, 0.0, 0.3, 0.0]] = np.nan
    assert exported(grown).leaves(others).tolist() == grown.apply(singles(others)).tolist()
    # what never was unknown before goes with the more
    tree, heavier = exported(grown), grown.tree_.weighted_n_node_samples
    for node in np.flatnonzero(~tree.leaf & (tree.feature == 0)).tolist():
        goes_left = heavier[tree.left[node]] > heavier[tree.right[node]]
        assert bool(tree.unknown_left[node]) == bool(goes_left)


def test_infinite_and_huge_values_go_somewhere() -> None:
    model, values, _ = made()
    strange = values[:4].copy()
    strange[0], strange[1], strange[2], strange[3] = np.inf, -np.inf, 1e300, np.nan
    per_day, gap_s = model.hunches(strange)
    assert np.isfinite(per_day).all()
    assert np.isfinite(gap_s).all()
    assert per_day[0] == per_day[2]


def test_compiled_and_not_the_sums_are_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    model, values, _ = made()
    plainly = model.trees.sums(values)
    monkeypatch.setattr(trees_module, "_MANY", 0)
    assert model.trees.sums(values).tobytes() == plainly.tobytes()
    monkeypatch.setattr(trees_module, "_CHUNK", 7)
    monkeypatch.setattr(trees_module, "can_compile", lambda: False)
    assert model.trees.sums(values).tobytes() == plainly.tobytes()
    one_by_one = sum(model.trees.value[model.trees.leaves(values, tree)] for tree in range(len(model.trees)))
    assert plainly == pytest.approx(one_by_one)
    assert joined([]).sums(values).tolist() == [0.0] * len(values)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "{",
        "null",
        "[]",
        '{"shape": 1.0, "scale_s": 2.0}',
        "[" * 100_000,
        '{"kind": "recrawl sight model"}',
    ],
)
def test_what_is_something_else_is_refused_with_a_remedy(wrong: str) -> None:
    with pytest.raises(UnsoundStoreError, match=r"cannot be used: .*; learn it anew with `recrawl train`\."):
        Trained.read(wrong)


def test_damage_anywhere_is_seen() -> None:
    text = made()[0].written()
    rng = np.random.default_rng(2)
    for at in rng.integers(0, len(text), 60).tolist():
        hurt = text[:at] + chr((ord(text[at]) - 31) % 90 + 33) + text[at + 1 :]
        with pytest.raises(RecrawlError, match="recrawl train"):
            Trained.read(hurt)
    with pytest.raises(UnsoundStoreError):
        Trained.read(text[: len(text) // 2])


def test_a_newer_and_an_older_text_say_so() -> None:
    outer = json.loads(made()[0].written())
    with pytest.raises(NewerStoreError, match="upgrade recrawl"):
        Trained.read(json.dumps({**outer, "version": VERSION + 1}))
    with pytest.raises(UnsoundStoreError, match="older recrawl"):
        Trained.read(json.dumps({**outer, "version": VERSION - 1}))


def test_a_sealed_text_whose_parts_do_not_fit_is_refused() -> None:
    model, _, _ = made()
    text = model.written()
    said = json.loads(json.loads(text)["model"])
    inner = np.flatnonzero(~model.tree.leaf)[-1]
    back = np.where(np.arange(len(model.tree.left)) == inner, 0, model.tree.left)
    ring = {**said["tree"], "left": plain(back)}  # from there a way leads back to the root
    wrong: list[dict[str, Any]] = [
        {"tree": ring},
        {"features": ["links"]},
        {"leaf_p": plain(model.leaf_p[:-1])},
        {"leaf_class": plain(model.leaf_class + 2)},
        {"interval_s": plain(model.classes.interval_s[::-1].copy())},
        {"bounds": plain(np.empty(0))},
        {"ratio": [0.0, 1.0]},
        {"ratio": "ab"},
        {"n": {"type": "<i8", "shape": [3], "bytes": "AA=="}},
        {"n": {"type": "|O", "shape": [2], "bytes": ""}},
        {"trees": None},
        {"report": 7},
        {"trained_at": "soon"},
    ]
    for one in wrong:
        with pytest.raises(UnsoundStoreError, match="recrawl train"):
            Trained.read(resealed(text, **one))
    assert Trained.read(resealed(text)).name == model.name


def test_sights_of_another_width_are_refused() -> None:
    model, values, _ = made()
    with pytest.raises(BadInputError, match="has 10 features, not 9"):
        model.hunches(values[:, :-1])
    assert not model.present  # its features are not those that sights have
