"""When two versions differ in their words by more than chance."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb, exp, factorial

import numpy as np
import pytest

from recrawl.detect import significance as module
from recrawl.detect import tails
from recrawl.detect.significance import Significances, significance, significances
from recrawl.detect.text import Text
from recrawl.model import Bags, Floats, Ints, Snapshot

RNG_SEED = 11


def said(text: str) -> Counter[str]:
    return Counter(text.split())


def zipf(n_words: int) -> Floats:
    share = 1.0 / (np.arange(n_words) + 2.7)
    return np.asarray(share / share.sum())


def bags_of(counts: Ints) -> Bags:
    row, word = np.nonzero(counts)
    bounds = np.concatenate([[0], np.cumsum(np.count_nonzero(counts, axis=1))])
    return Bags(bounds, word, counts[row, word].astype(np.float64))


def drawn(p: Floats, q: Floats, sizes: tuple[int, int], n: int) -> Significances:
    rng = np.random.default_rng(RNG_SEED)
    counts = np.concatenate([rng.multinomial(sizes[0], p, n), rng.multinomial(sizes[1], q, n)])
    return significances(bags_of(counts), np.arange(n), n + np.arange(n))


def equal(one: Significances, other: Significances) -> bool:
    return all(np.allclose(getattr(one, name), getattr(other, name)) for name in Significances.__slots__)


@pytest.mark.parametrize(
    ("statistic", "df", "p"),
    [
        (3.841458820694124, 1, 0.05),
        (10.827566170662733, 1, 0.001),
        (18.307038053275146, 10, 0.05),
        (124.34211340400407, 100, 0.05),
        (0.0, 7, 1.0),
        (5000.0, 3, 0.0),
    ],
)
def test_the_tail_of_chi_squared_is_that_of_the_tables(statistic: float, df: int, p: float) -> None:
    assert tails.chi_squared(np.array([statistic]), np.array([df]))[0] == pytest.approx(p, rel=1e-9)


def test_the_tail_of_an_even_number_of_degrees_is_a_sum_of_poisson_chances() -> None:
    x = np.array([0.5, 3.0, 9.9, 10.1, 30.0, 60.0])
    expected = [sum(exp(-v) * v**k / factorial(k) for k in range(10)) for v in x]
    assert np.allclose(tails.chi_squared(2.0 * x, np.full(6, 20.0)), expected, rtol=1e-11, atol=0.0)


def test_the_number_of_ways_is_right_for_small_and_large_numbers() -> None:
    n, k = np.array([5.0, 16.0, 50.0, 900.0]), np.array([2.0, 8.0, 25.0, 3.0])
    ways = [comb(int(a), int(b)) for a, b in zip(n, k, strict=True)]
    assert np.allclose(np.exp(tails.log_choose(n, k)), ways, rtol=1e-10)


def test_the_same_words_are_no_change_and_no_words_are_none_either() -> None:
    same = significance(said("a b b c"), said("c b a b"))
    assert (same.statistic, same.p, same.magnitude, same.significant) == (0.0, 1.0, 0.0, False)
    nothing = significance({}, {})
    assert (nothing.p, nothing.df, nothing.magnitude, nothing.effect) == (1.0, 0, 0.0, 0.0)


def test_a_tiny_page_whose_every_word_is_replaced_changed_and_one_with_another_word_did_not() -> None:
    replaced = significance(said("closed for the winter"), said("we open again tomorrow"))
    assert replaced.significant
    assert replaced.p == pytest.approx(2 / comb(8, 4))
    assert (replaced.magnitude, replaced.effect) == (1.0, 1.0)
    one = significance(said("closed for the winter"), said("closed for the summer"))
    assert not one.significant
    assert one.p == 1.0  # whoever deals out words that occur once or twice can hardly do otherwise
    assert one.magnitude == 0.25
    assert not significance(said("a b c"), said("d e f")).significant  # one of ten ways to part six words


def test_all_words_gone_or_come_is_significant() -> None:
    for before, after in (("", "a page"), ("a page", "")):
        found = significance(said(before), said(after))
        assert (found.p, found.significant, found.magnitude) == (0.0, True, 1.0)


def test_few_words_are_judged_by_all_the_ways_to_deal_them_out() -> None:
    every = {"x": 3, "y": 2, "z": 1}
    ways = [
        sum(Counter(row[:4])[word] ** 2 / n for word, n in every.items())
        for row in permutations(Counter(every).elements())
    ]
    assert len(ways) == 720
    ours = 3**2 / 3 + 1 / 2
    assert significance(said("x x x y"), said("y z")).p == pytest.approx(
        np.mean([way >= ours - 1e-9 for way in ways])
    )


@pytest.mark.parametrize("n_words", [12, 200])
def test_many_words_are_judged_as_if_they_had_been_dealt_out_at_random(n_words: int) -> None:
    rng = np.random.default_rng(RNG_SEED)
    before, after = rng.multinomial(70, zipf(n_words)), rng.multinomial(90, np.roll(zipf(n_words), 3))
    every = np.repeat(np.arange(n_words), before + after)
    dealt = rng.permuted(np.tile(every, (1_000, 1)), axis=1)[:, :70]
    counts = np.stack(
        [np.bincount(row, minlength=n_words) for row in [np.repeat(np.arange(n_words), before), *dealt]]
    )
    both = bags_of(np.concatenate([counts, (before + after) - counts]))
    found = significances(both, np.arange(1_001), 1_001 + np.arange(1_001))
    share = np.mean(found.p[1:] <= found.p[0] + 1e-12)
    assert found.p[0] == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("sizes", [(5, 5), (8, 8), (12, 12), (20, 20), (10, 100), (300, 300)])
@pytest.mark.parametrize("n_words", [20, 600])
def test_two_draws_of_one_distribution_are_hardly_ever_significant(
    sizes: tuple[int, int], n_words: int
) -> None:
    found = drawn(zipf(n_words), zipf(n_words), sizes, 800)
    shared = found.magnitude < 1.0  # those without a common word are told apart two by two: another question
    assert np.mean(found.significant & shared) < 0.05 + 3 * 0.0077  # three standard errors of 800 draws


def test_two_draws_of_five_thousand_words_are_significant_as_often_as_they_should_be() -> None:
    found = drawn(zipf(300), zipf(300), (5_000, 5_000), 800)
    assert np.mean(found.significant) == pytest.approx(0.05, abs=3 * 0.0077)


def test_what_differs_is_found_with_enough_words_and_more_surely_with_more() -> None:
    p = zipf(200)
    q = p.copy()
    q[:60] = p[:60][::-1]  # the common words are others
    power = [np.mean(drawn(p, q, (n, n), 300).significant) for n in (10, 40, 160)]
    assert power[0] < power[1] < power[2]
    assert power[2] == 1.0


def test_common_words_that_shift_are_found_among_many_rare_ones_that_stay() -> None:
    """In one table with all the others they would not be seen."""
    rare = {f"r{chr(97 + i % 26)}{chr(97 + i // 26)}": 1 for i in range(120)}
    assert significance(rare | {"sun": 30, "rain": 30}, rare | {"sun": 50, "rain": 10}).p < 0.01


def test_rare_words_that_are_all_replaced_are_found_although_none_is_common() -> None:
    """Pooled, they would be one column that cannot differ."""
    before = {f"a{i}": 2 for i in range(30)} | {"menu": 4}
    after = {f"b{i}": 2 for i in range(30)} | {"menu": 4}
    assert significance(before, after).p < 1e-6


def test_numbers_times_and_ignored_words_decide_nothing() -> None:
    before = said("a page of words") | Counter({str(n): 3 for n in range(100, 130)})
    after = said("a page of words") | Counter({str(n): 3 for n in range(200, 230)})
    assert significance(before, after) == significance(said("a page of words"), said("a page of words"))
    banners = {f"banner{i}x": 3 for i in range(30)}
    shown = said("a page of words") | Counter(banners)
    assert significance(said("a page of words"), shown).significant
    assert not significance(said("a page of words"), shown, ignored=set(banners)).significant
    bags = Bags.of([{1: 2.0, 2: 1.0}, {1: 2.0, 2: 1.0, 7: 30.0}])
    pair = np.array([0]), np.array([1])
    assert significances(bags, *pair).significant[0]
    assert significances(bags, *pair, ignored=np.array([7])).p[0] == 1.0


def test_the_magnitude_is_that_of_a_verdict_on_the_same_words() -> None:
    before, after = "one two two three four", "two three three five six seven"
    verdict = Text().compare(
        *(Snapshot(body=text.encode(), media_type="text/plain") for text in (before, after))
    )
    assert significance(said(before), said(after)).magnitude == pytest.approx(verdict.magnitude)


def test_columns_say_the_same_as_pairs_whatever_the_numbers_of_words_and_however_many_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(RNG_SEED)
    counts = np.stack([rng.multinomial(n, zipf(80)) for n in rng.integers(0, 120, 60)])
    before, after = rng.integers(0, 60, 40), rng.integers(0, 60, 40)
    bags = bags_of(counts)
    found = significances(bags, before, after)
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        one = significance(
            *(
                {f"w{chr(97 + w % 26)}{chr(97 + w // 26)}": int(n) for w, n in enumerate(counts[row]) if n}
                for row in (old, new)
            )
        )
        assert one.p == pytest.approx(found.p[i])
        assert (one.df, one.significant) == (found.df[i], found.significant[i])
        assert one.statistic == pytest.approx(found.statistic[i])
    hashed = Bags(bags.bounds, bags.word + (2**63 - 100), bags.count)
    assert equal(significances(hashed, before, after), found)
    monkeypatch.setattr(module, "_AT_ONCE", 90)
    assert equal(significances(bags, before, after), found)


def test_no_pairs_are_no_rows() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = significances(Bags.of([{1: 1.0}]), none, none)
    assert len(found.p) == len(found.significant) == 0
