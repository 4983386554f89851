"""Words of posts: stems, stopwords, counts, rarity, which of them tell of gaps, and parts of speech."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.threads import drawn, thread

from recrawl.learn.threads.speech import TAGS, tagged, tags
from recrawl.learn.threads.stems import stem
from recrawl.learn.threads.words import STOPWORDS, columns, counted, gathered, rarity, telling
from recrawl.model import Bags, Floats

# The examples that Porter gives for each of his rules, taken through all of them.
STEMS = """
caresses caress, ponies poni, ties ti, cats cat, feed feed, agreed agre, plastered plaster, bled bled,
motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan,
falling fall, hissing hiss, fizzed fizz, failing fail, filing file, happy happi, sky sky, relational
relat, conditional condit, rational ration, digitizer digit, conformably conform, radically radic,
differently differ, vilely vile, analogously analog, vietnamization vietnam, predication predic, operator
oper, feudalism feudal, decisiveness decis, hopefulness hope, callousness callous, formality formal,
sensitivity sensit, sensibility sensibl, triplicate triplic, formative form, formalize formal,
electricity electr, electrical electr, hopeful hope, goodness good, revival reviv, allowance allow,
inference infer, airliner airlin, gyroscopic gyroscop, adjustable adjust, defensible defens, irritant
irrit, replacement replac, adjustment adjust, dependent depend, adoption adopt, communism commun,
activate activ, angularity angular, homologous homolog, effective effect, bowdlerize bowdler, probate
probat, rate rate, cease ceas, control control, controlling control, roll roll
"""
# Written and tagged by hand before the tagger saw them.
SENTENCES = {
    "My sister painted the kitchen walls bright yellow": "d n v d n n a a",
    "The train to London was cancelled without any warning": "d n i n x v i d n",
    "You can download the latest firmware from their website": "p x v d a n i d n",
    "Does anybody know how long the battery lasts": "x p v q a d n v",
    "I returned the second receiver because the remote never worked": "p v d a n c d n r v",
    "Several customers complained loudly about the slow delivery": "d n v r i d a n",
    "After lunch we walked along the river and fed the ducks": "i n p v i d n c v d n",
    "This thread should really be moved to another forum": "d n x r x v i d n",
    "He is usually careful but yesterday he forgot his keys": "p x r a c r p v d n",
    "Which of these 3 boards supports wireless charging": "q i d m n v a n",
    "They will probably announce the winner in November": "p x r v d n i n",
    "Thanks, that solved my problem immediately": "j p v d n r",
}
LETTERS = dict(zip("nvarpdicxqmj", TAGS, strict=True))


def test_stems_are_those_of_the_published_examples() -> None:
    pairs = [pair.split() for pair in STEMS.replace("\n", " ").split(",")]
    assert len(pairs) > 60
    assert {word: stem(word) for word, _ in pairs} == dict(pairs)


@pytest.mark.parametrize("word", ["is", "as", "schön", "по", "日本語"])
def test_short_words_and_those_of_other_alphabets_stay(word: str) -> None:
    assert stem(word) == word


def test_words_are_counted_by_their_stems_without_those_that_say_nothing() -> None:
    bags, stems = counted(["The cables, the CABLE and 3 cabled amps!", "", "Don't run; it is an amp."])
    assert stems == ["cabl", "amp", "run"]
    assert bags.bounds.tolist() == [0, 2, 2, 4]
    assert bags.word.tolist() == [0, 1, 1, 2]
    assert bags.count.tolist() == [3.0, 1.0, 1.0, 1.0]


def test_no_stopword_is_shorter_than_what_counts_at_all() -> None:
    assert all(len(word) >= 3 and word.isalpha() for word in STOPWORDS)


def test_a_window_has_the_words_of_its_posts_and_of_no_other_thread() -> None:
    threads = drawn()
    assert threads.bags is not None
    weight = np.array([1.0, 0.5, 0.25])
    found = _dense(gathered(threads, threads.bags, weight), 30)
    own = _dense(threads.bags, 30)
    for post, (row, place) in enumerate(zip(threads.row, threads.place, strict=True)):
        by_hand = sum(weight[j] * own[post - j] for j in range(min(3, place + 1)))
        assert np.allclose(found[post], by_hand), (row, place)


def test_rarer_words_count_for_more_and_rows_have_length_one() -> None:
    bags = Bags.of([{0: 1.0, 1: 1.0}, {0: 2.0}, {0: 1.0}])
    found = rarity(bags, np.array([True, True, False]))
    often, rare = 1.0 + np.log(3.0 / 3.0), 1.0 + np.log(3.0 / 2.0)
    length = np.hypot(often, rare)
    assert found.count == pytest.approx([often / length, rare / length, 1.0, 1.0])


def test_the_words_that_tell_most_have_the_largest_f_of_a_regression() -> None:
    threads = drawn(n=3, n_words=12)
    assert threads.bags is not None
    known = threads.known(threads.n_posts - 3)
    best = telling(threads, threads.bags, threads.gap_s, known, 12)
    dense = _dense(threads.bags, 12)
    for row in range(threads.n):
        own = known & (threads.row == row)
        r = np.array([np.corrcoef(word, threads.gap_s[own])[0, 1] for word in dense[own].T])
        f = r * r / (1.0 - r * r) * (own.sum() - 2)
        assert best[row].tolist() == np.argsort(-f, kind="stable").tolist()


def test_a_word_that_never_varies_tells_nothing() -> None:
    threads = thread([0, 10, 30, 70, 90], Bags.of([{0: 1.0, 1: float(i)} for i in range(1, 6)]))
    assert threads.bags is not None
    best = telling(threads, threads.bags, threads.gap_s, threads.known(np.array([5])), 3)
    assert best.tolist() == [[1, -1, -1]]
    assert columns(threads, threads.bags, best)[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert not columns(threads, threads.bags, best)[:, 1:].any()


def test_nothing_is_told_of_threads_without_words() -> None:
    threads = thread([0, 10, 30], Bags.of([{}, {}, {}]))
    assert threads.bags is not None
    bags = gathered(threads, threads.bags, np.ones(2))
    best = telling(threads, bags, threads.gap_s, threads.known(np.array([3])), 2)
    assert best.tolist() == [[-1, -1]]
    assert not columns(threads, bags, best).any()


def test_nine_words_in_ten_of_plain_prose_are_tagged_as_by_hand() -> None:
    n_right = n_words = 0
    for sentence, letters in SENTENCES.items():
        by_hand = [LETTERS[letter] for letter in letters.split()]
        found = tags(sentence)
        assert len(found) == len(by_hand), sentence
        n_right += sum(a == b for a, b in zip(found, by_hand, strict=True))
        n_words += len(found)
    assert n_words == 104
    assert n_right / n_words >= 0.9


def test_parts_of_speech_are_counted_for_each_text() -> None:
    bags = tagged(["the dog can't find a bone", ""])
    assert {TAGS[word]: count for word, count in zip(bags.word, bags.count, strict=True)} == {
        "noun": 2.0,
        "verb": 1.0,
        "determiner": 2.0,
        "auxiliary": 1.0,
    }
    assert bags.bounds.tolist() == [0, 4, 4]


def _dense(bags: Bags, n_words: int) -> Floats:
    counts = np.zeros((len(bags), n_words))
    counts[bags.row, bags.word] = bags.count
    return counts


def test_threads_carry_their_words_along_when_some_are_picked() -> None:
    threads = drawn()
    some = threads.pick(np.array([4, 1]))
    assert some.bags is not None
    assert threads.bags is not None
    whole = np.r_[threads.bounds[4] : threads.bounds[5], threads.bounds[1] : threads.bounds[2]]
    assert np.array_equal(_dense(some.bags, 30), _dense(threads.bags, 30)[whole])
