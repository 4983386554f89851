"""Learning from first sights: what is learned is true, and where nothing is to be learned nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.unit.sights import Sighted, sighted

from recrawl.errors import BadInputError
from recrawl.learn.groups import equal_classes
from recrawl.learn.histories import Histories
from recrawl.learn.priors import fitted, scaled
from recrawl.learn.sights.boosting import held_out, held_out_with, regressed
from recrawl.learn.sights.evidence import GRID, STEP, Evidence, told
from recrawl.learn.sights.growing import Binned, grown
from recrawl.learn.sights.model import Trained
from recrawl.learn.sights.splits import by_resource, by_site
from recrawl.learn.sights.training import FEWEST, trained
from recrawl.learn.sights.trees import singles
from recrawl.model import DAY_S, Floats

NOW = 1_700_000_000.0


def learned(world: Sighted, values: Floats | None = None) -> Trained:
    values = world.values if values is None else values
    return trained(values, world.seen, world.site, now=NOW, features=world.names)


def likelihood(model: Trained, world: Sighted) -> float:
    """The mean logarithm of the probability of other resources' visits, under the priors of their hunches."""
    at = Evidence.of(scaled(world.seen, model.per_day(world.values)))
    return float(at.foretold_by(model.ratio_shape, model.ratio_scale).mean())


def likelihood_without(taught: Sighted, world: Sighted) -> float:
    plain = fitted(taught.seen, np.zeros(taught.seen.n, dtype=np.int64))
    return float(Evidence.of(world.seen).foretold_by(plain.shape, plain.scale_s / DAY_S).mean())


@pytest.fixture(scope="module")
def world() -> Sighted:
    return sighted(700, 0.6)


@pytest.fixture(scope="module")
def model(world: Sighted) -> Trained:
    return learned(world)


def test_visits_of_resources_that_nobody_has_seen_are_foretold_better(world: Sighted, model: Trained) -> None:
    other = sighted(1_500, 0.6, seed=2)
    assert likelihood(model, other) > likelihood_without(world, other) + 0.12
    hunch = np.log(model.per_day(other.values))
    assert np.corrcoef(hunch, np.log(other.per_day))[0, 1] > 0.6  # of at most the root of 0.6


def test_the_report_says_of_held_out_sites_what_is_true_of_others(model: Trained) -> None:
    said = model.report["log_rate"]["by_site"]
    other = sighted(1_500, 0.6, seed=3)
    about = np.log(other.per_day) - np.log(model.per_day(other.values))
    assert said["explained"] == pytest.approx(1.0 - about.var() / np.log(other.per_day).var(), abs=0.1)
    assert said["error"] < 0.9 * said["error_without"]
    assert said["gain"] > 3.0 * said["gain_error"] > 0.0
    assert model.report["log_rate"]["by_resource"]["explained"] == pytest.approx(said["explained"], abs=0.1)
    important = [one["feature"] for one in model.report["importance"][:4]]
    assert len({*important} & {"links", "bytes", "words", "depth"}) >= 3


def test_a_model_has_proven_itself_where_its_prior_gains_more_than_a_standard_error(model: Trained) -> None:
    assert model.ratio.proven
    assert (model.ratio.shape, model.ratio.scale) == (model.ratio_shape, model.ratio_scale)
    gain = model.report["gain_of_the_prior"]
    for error, proven in ((1.01 * gain, False), (0.99 * gain, True)):
        said = {**model.report, "gain_of_the_prior_error": error}
        assert replace(model, report=said).ratio.proven is proven
    assert not replace(model, report={}).ratio.proven  # whoever says nothing of it has proven nothing


def test_rates_lie_about_hunches_as_the_prior_says(model: Trained) -> None:
    other = sighted(1_500, 0.6, seed=4)
    ratio = other.per_day / model.per_day(other.values)
    quarters = stats.gamma.ppf([0.25, 0.5, 0.75], model.ratio_shape, scale=1.0 / model.ratio_scale)
    below = [(ratio < one).mean() for one in quarters]
    assert below == pytest.approx([0.25, 0.5, 0.75], abs=0.12)


def test_where_features_tell_nothing_hunches_are_all_the_same_and_the_prior_is_the_plain_one(
    world: Sighted,
) -> None:
    rng = np.random.default_rng(5)
    shuffled = world.values[rng.permutation(len(world.values))]
    model = learned(world, shuffled)
    other = sighted(1_500, 0.6, seed=6)
    without = likelihood_without(world, other)
    assert likelihood(model, other) == pytest.approx(without, abs=0.02)
    plain = fitted(world.seen, np.zeros(world.seen.n, dtype=np.int64))
    assert model.ratio_shape == pytest.approx(plain.shape, rel=0.15)
    assert not model.ratio.proven
    hunches = model.per_day(other.values)
    assert hunches.std() < 0.05 * hunches.mean()
    assert hunches.mean() == pytest.approx(plain.shape / plain.scale_s * DAY_S, rel=0.1)


def test_shuffled_features_hardly_ever_bring_a_tree() -> None:
    n_trees = []
    for seed in range(6):
        world = sighted(150, 0.6, seed=seed)
        values = np.random.default_rng(seed).permutation(world.values)
        found = held_out(values, Evidence.of(world.seen), by_site(world.site, 4), world.site)
        n_trees.append(found.n_trees)
        assert (found.log_p - found.log_p_without).sum() >= 0.0
    assert sum(n > 0 for n in n_trees) <= 2


def test_the_same_seed_gives_the_same_model(world: Sighted) -> None:
    some = np.arange(60)
    part = replace(world, values=world.values[some], seen=world.seen.pick(some), site=world.site[some])
    assert learned(part).written() == learned(part).written()


def test_one_site_alone_is_judged_by_its_resources() -> None:
    world = sighted(120, 0.6, n_sites=1)
    model = learned(world)
    assert model.report["log_rate"]["by_site"] is None
    assert model.report["classifier"]["error_by_site"] is None
    assert model.report["log_rate"]["by_resource"]["gain"] >= 0.0


def test_classes_may_be_given(world: Sighted) -> None:
    some = np.arange(100)
    made = equal_classes(world.per_day[some], 3)
    model = trained(
        world.values[some],
        world.seen.pick(some),
        world.site[some],
        classes=made,
        now=NOW,
        features=world.names,
    )
    assert model.classes.interval_s.tolist() == made.interval_s.tolist()
    assert model.report["classes"]["by"] == "given"
    assert model.p_classes(world.values).shape == (700, 3)


def test_too_few_resources_and_sights_that_do_not_fit_are_refused(world: Sighted) -> None:
    few = np.arange(FEWEST - 1)
    with pytest.raises(BadInputError, match="visit more"):
        trained(world.values[few], world.seen.pick(few), world.site[few], now=NOW, features=world.names)
    with pytest.raises(BadInputError, match="give one of each"):
        trained(world.values[:-1], world.seen, world.site, now=NOW, features=world.names)


def history(*gaps: tuple[float, bool]) -> Histories:
    return Histories(
        n=1,
        row=np.zeros(len(gaps), dtype=np.int64),
        gap_s=np.array([days * DAY_S for days, _ in gaps]),
        changed=np.array([changed for _, changed in gaps]),
        after_s=np.full(len(gaps), np.nan),
    )


def test_a_page_seen_twice_says_little_and_one_seen_often_much() -> None:
    guess, spread = np.log(np.array([0.1])), 1.5
    known = []
    for n in (1, 5, 40):
        evidence = Evidence.of(history(*[(5.0, i % 2 == 0) for i in range(n)]))
        step, weight = told(evidence.believed(guess, spread), guess, spread)
        known.append(float(weight[0]))
        assert step[0] > 0.0
    assert known[0] < 0.5 < known[1] < 0.9 < known[2]
    assert np.exp(guess + step)[0] == pytest.approx(np.log(2.0) / 5.0, rel=0.05)


def test_never_and_always_changed_say_slow_and_fast_and_no_more() -> None:
    guess, spread = np.log(np.array([0.1])), 1.5
    never = Evidence.of(history(*[(5.0, False)] * 20)).believed(guess, spread)
    always = Evidence.of(history(*[(5.0, True)] * 20)).believed(guess, spread)
    assert guess[0] - 4 * spread < never.mean[0] < guess[0] < always.mean[0] < guess[0] + 4 * spread
    assert 0.3 < never.variance[0] < spread**2
    assert 0.3 < always.variance[0] < spread**2


def test_the_probability_of_visits_under_a_bell_is_that_of_the_integral() -> None:
    seen = history((5.0, True), (2.0, False), (9.0, True))
    at = np.linspace(np.log(1e-5), np.log(2e3), 20_001)
    bell = stats.norm.pdf(at, np.log(0.2), 1.3)
    rate = np.exp(at)
    visits = -np.expm1(-5 * rate) * np.exp(-2 * rate) * -np.expm1(-9 * rate)
    exact = float((visits * bell).sum() / bell.sum())
    assert np.exp(Evidence.of(seen).foretold(np.log(np.array([0.2])), 1.3)[0]) == pytest.approx(
        exact, rel=1e-3
    )
    assert GRID[1] - GRID[0] == pytest.approx(STEP)


def test_a_grown_tree_finds_the_split_that_tells_and_where_the_unknown_belong() -> None:
    rng = np.random.default_rng(7)
    values = rng.random((400, 3))
    values[:100, 1] = np.nan  # those are as what is above 0.6
    high = np.isnan(values[:, 1]) | (values[:, 1] > 0.6)
    pull = np.where(high, 1.0, -1.0)
    compared = singles(values)
    tree = grown(Binned.of(compared), np.arange(400), pull, np.ones(400), depth=1, ridge=1.0, smallest=5.0)
    assert tree.feature[0] == 1
    assert tree.threshold[0] == pytest.approx(0.6, abs=0.05)
    leaf = tree.leaves(values)
    assert (leaf == np.where(high, tree.right[0], tree.left[0])).mean() > 0.97


def test_more_trees_than_help_are_seen_to_hurt() -> None:
    world = sighted(150, 0.3, seed=8)
    evidence = Evidence.of(world.seen)
    fold = by_resource(150, 4)
    few = held_out(world.values, evidence, fold, np.arange(150))
    many = held_out_with(world.values, evidence, fold, n_trees=120, depth=3)
    assert few.n_trees < 120
    assert many.log_p.sum() < few.log_p.sum()
    assert len(regressed(world.values, evidence, 7, 1).trees) == 7


def test_folds_by_site_part_no_site_and_are_about_even() -> None:
    site = np.random.default_rng(9).integers(0, 40, 1_000)
    fold = by_site(site, 4)
    assert all(len(np.unique(fold[site == one])) == 1 for one in range(40))
    sizes = np.bincount(fold)
    assert len(sizes) == 4
    assert sizes.min() > 200
    assert np.bincount(by_resource(1_000, 4)).tolist() == [250] * 4
