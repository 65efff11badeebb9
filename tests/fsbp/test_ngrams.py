import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, table_acceptor
from fsbp.arrays import fst_to_arrays
from fsbp.ngrams import (
    BOS,
    expected_ngram_counts,
    full_history_automaton,
    history_automaton,
    moment_matched,
    ngram_acceptor,
    ngram_counts,
)
from fsbp.pathsum import log_total, string_log_weights
from tests.machines import SHORT_STRINGS, enumerated_strings, machines, quick

samples = st.lists(st.lists(st.integers(1, 2), max_size=4).map(tuple), max_size=5)
orders = st.integers(1, 4)


def witten_bell(strings, num_symbols, n, history, symbol, discount=1.0):
    """The probability of a symbol after a history, by counting and recursion; end is the last."""
    followers = []
    for string in strings:
        padded = (BOS, *string, num_symbols + 1)
        for end in range(1, len(padded)):
            if len(history) <= end and padded[end - len(history) : end] == history:
                followers.append(padded[end])
    shorter = 1 / (num_symbols + 1)
    if history:
        shorter = witten_bell(strings, num_symbols, n, history[1:], symbol, discount)
    kinds = discount * len(set(followers))
    if not followers:
        return shorter
    return (followers.count(symbol) + kinds * shorter) / (len(followers) + kinds)


def probability(strings, num_symbols, n, string):
    padded = (BOS, *string, num_symbols + 1)
    result = 1.0
    for end in range(1, len(padded)):
        history = padded[max(0, end - n + 1) : end]
        result *= witten_bell(strings, num_symbols, n, history, padded[end])
    return result


@quick
@given(samples, orders)
def test_strings_have_their_witten_bell_probability(strings, n):
    fst = ngram_acceptor(strings, 2, n)
    np.testing.assert_allclose(
        np.exp(string_log_weights(fst, SHORT_STRINGS)),
        [probability(strings, 2, n, string) for string in SHORT_STRINGS],
        rtol=1e-10,
    )


@quick
@given(samples, orders, st.floats(0.05, 5.0))
def test_models_sum_to_one(strings, n, discount):
    assert log_total(ngram_acceptor(strings, 2, n, discount=discount)) == pytest.approx(0, abs=1e-9)


@quick
@given(samples, orders)
def test_models_are_deterministic_and_complete(strings, n):
    arrays = fst_to_arrays(ngram_acceptor(strings, 2, n))
    assert np.all(arrays.final_s > -np.inf)
    keys = set(zip(arrays.source_a.tolist(), arrays.ilabel_a.tolist(), strict=True))
    assert len(keys) == arrays.num_arcs == 2 * arrays.num_states


@quick
@given(st.lists(st.tuples(st.sampled_from(SHORT_STRINGS), st.integers(1, 3)), max_size=4), orders)
def test_weights_count_like_repetition(rows, n):
    repeated = [string for string, times in rows for _ in range(times)]
    weighted = ngram_counts([s for s, _ in rows], 2, n, [float(times) for _, times in rows])
    plain = ngram_counts(repeated, 2, n)
    assert weighted.automaton.histories == plain.automaton.histories
    assert np.array_equal(weighted.counts_hs, plain.counts_hs)


def test_bigrams_by_hand():
    counts = ngram_counts([(1, 1), (1,)], 2, 2)
    assert counts.automaton.histories == ((), (0,), (1,))
    assert counts.counts_hs.tolist() == [[3, 0, 2], [2, 0, 0], [1, 0, 2]]
    empty = np.array([3 + 2 / 3, 2 / 3, 2 + 2 / 3]) / 7
    start, after = (np.array([2.0, 0, 0]) + empty) / 3, (np.array([1.0, 0, 2]) + 2 * empty) / 5
    np.testing.assert_allclose(np.exp(counts.log_probs_hs()), [empty, start, after])


@pytest.mark.parametrize("discount", [0.0, -1.0, float("nan")])
def test_discounts_that_lose_strings_are_refused(discount):
    with pytest.raises(ValueError, match="discount"):
        ngram_acceptor([(1,)], 2, 2, discount=discount)


def test_orders_start_at_one():
    with pytest.raises(ValueError, match="order 0"):
        ngram_acceptor([(1,)], 2, 0)
    with pytest.raises(ValueError, match="order 0"):
        full_history_automaton(2, 0)


@quick
@given(st.lists(st.lists(st.integers(1, 2), min_size=1, max_size=3).map(tuple), max_size=4))
def test_next_history_is_the_longest_suffix(histories):
    automaton = history_automaton([*histories, (BOS, 1)], 2)
    known = set(automaton.histories)
    for h, history in enumerate(automaton.histories):
        assert history[:-1] in known
        assert history[1:] in known
        for label in (1, 2):
            longer = (*history, label)
            suffixes = [longer[begin:] for begin in range(len(longer) + 1)]
            expected = next(suffix for suffix in suffixes if suffix in known)
            assert automaton.histories[automaton.next_ha[h, label - 1]] == expected


@quick
@given(machines(), orders)
def test_expected_counts_are_enumeration(arrays, n):
    strings = enumerated_strings(arrays)
    assume(strings)
    automaton = full_history_automaton(2, n)
    index = {history: h for h, history in enumerate(automaton.histories)}
    expected = np.zeros((len(automaton.histories), 3))
    total = np.logaddexp.reduce(list(strings.values()))
    for string, weight in strings.items():
        padded = (BOS, *string, 3)
        for end in range(1, len(padded)):
            history = index[padded[max(0, end - n + 1) : end]]
            expected[history, padded[end] - 1] += np.exp(weight - total)
    np.testing.assert_allclose(
        expected_ngram_counts(arrays, automaton, 10_000), expected, atol=1e-10
    )


@quick
@given(machines(cyclic=True), orders)
def test_matched_models_have_the_same_expected_counts(arrays, n):
    assume(log_total(arrays) > -np.inf)
    automaton = full_history_automaton(2, n)
    counts = expected_ngram_counts(arrays, automaton, 10_000)
    model = moment_matched(automaton, counts)
    assert log_total(model) == pytest.approx(0.0, abs=1e-8)
    again = expected_ngram_counts(model, automaton, 10_000)
    np.testing.assert_allclose(again, counts, atol=1e-8)
    projected_twice = moment_matched(automaton, again)
    np.testing.assert_allclose(
        np.exp(string_log_weights(projected_twice, SHORT_STRINGS)),
        np.exp(string_log_weights(model, SHORT_STRINGS)),
        atol=1e-8,
    )


def test_matched_model_is_the_nearest():
    strings, prob_n = [(1, 2), (2, 2), (1,), ()], np.array([0.4, 0.3, 0.2, 0.1])
    automaton = full_history_automaton(2, 2)
    counts = expected_ngram_counts(table_acceptor(strings, np.log(prob_n)), automaton, 1_000)
    nearest = prob_n @ string_log_weights(moment_matched(automaton, counts), strings)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = moment_matched(automaton, counts * np.exp(rng.normal(0, 0.3, counts.shape)))
        assert prob_n @ string_log_weights(other, strings) < nearest


def test_matching_long_histories_loses_nothing():
    strings, prob_n = [(1, 2), (2, 2), (1,), ()], np.array([0.4, 0.3, 0.2, 0.1])
    automaton = full_history_automaton(2, 4)
    counts = expected_ngram_counts(table_acceptor(strings, np.log(prob_n) + 5), automaton, 1_000)
    matched = string_log_weights(moment_matched(automaton, counts), strings)
    np.testing.assert_allclose(np.exp(matched), prob_n, rtol=1e-12)


def test_counting_is_bounded():
    with pytest.raises(MachineTooLargeError):
        expected_ngram_counts(ngram_acceptor([(1,)], 2, 2), full_history_automaton(2, 3), 3)


@pytest.mark.parametrize("max_arcs", [0, 3, 12, 20, 40, 1_000])
def test_the_order_is_lowered_until_the_automaton_fits(max_arcs: int) -> None:
    strings = [(1, 2, 3), (2, 2, 1), (3, 1)]
    found = ngram_counts(strings, 3, 4, max_arcs=max_arcs)
    by_order = [ngram_counts(strings, 3, order) for order in range(1, 5)]
    fitting = [c for c in by_order if c.automaton.next_ha.size <= max_arcs] or by_order[:1]
    assert found.automaton.histories == fitting[-1].automaton.histories
    np.testing.assert_array_equal(found.counts_hs, fitting[-1].counts_hs)
