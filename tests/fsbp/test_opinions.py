"""Opinions weigh strings that others propose, and propose none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.kbest import KBest
from fsbp.ngrams import ngram_acceptor
from fsbp.opinions import Opinion
from fsbp.pathsum import DivergentSumError
from fsbp.variables import Acceptor, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, S

SAMPLES = st.lists(st.lists(st.integers(1, 2), max_size=4).map(tuple), max_size=5)
WEIGHTS = st.floats(-2.0, 2.0)


def ngrams(samples: list[tuple[int, ...]], order: int) -> Acceptor:
    return Acceptor(ngram_acceptor(samples, len(ALPHABET), order), ALPHABET)


LANGUAGE = ngrams([ALPHABET.labels(text) for text in ("ab", "aab", "b")], 2)


@settings(max_examples=60, deadline=None)
@given(samples=SAMPLES, order=st.integers(1, 3), exponent=WEIGHTS, per_symbol=WEIGHTS)
def test_tempered_weights(
    samples: list[tuple[int, ...]], order: int, exponent: float, per_symbol: float
) -> None:
    acceptor = ngrams(samples, order)
    found = Opinion.tempered(acceptor, exponent, per_symbol).log_weights(STRINGS)
    length_n = np.array([len(text) for text in STRINGS])
    expected = exponent * acceptor.log_weights(STRINGS) + per_symbol * length_n
    np.testing.assert_allclose(found, expected, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(exponent=WEIGHTS, per_symbol=WEIGHTS, known=st.sampled_from(STRINGS), data=st.data())
def test_unseen_symbols_count_apart(
    exponent: float, per_symbol: float, known: str, data: st.DataObject
) -> None:
    opinion = Opinion.tempered(LANGUAGE, exponent, per_symbol)
    positions = data.draw(st.lists(st.integers(0, len(known)), max_size=3))
    text = known
    for position in positions:
        text = text[:position] + "ж" + text[position:]
    assert LANGUAGE.log_weights([text])[0] == -math.inf or not positions
    each = per_symbol + exponent * math.log(1 / (len(ALPHABET) + 1))
    found, bare = opinion.log_weights([text, known])
    assert found == pytest.approx(bare + len(positions) * each)


def test_a_forbidden_string_stays_forbidden() -> None:
    only = StringTable(("a", "ab"), np.log([0.5, 0.5])).to_acceptor(ALPHABET)
    for exponent in (0.0, 1.0, -1.0):
        weights = Opinion.tempered(only, exponent, 0.0).log_weights(["a", "ab", "b"])
        np.testing.assert_allclose(np.exp(weights), [0.5**exponent, 0.5**exponent, 0.0])


def test_it_proposes_nothing_and_needs_no_finite_sum() -> None:
    endless = Opinion.tempered(LANGUAGE, 0.5, 1.0)
    with pytest.raises(DivergentSumError):
        endless.log_total()
    table = endless.k_best(5)
    assert table.strings == ()
    assert table.floor == 0.0


def test_shifting_keeps_it_an_opinion() -> None:
    opinion = Opinion.tempered(LANGUAGE, 0.5, 1.0)
    shifted = opinion.shifted(-3.0)
    asked = ["ab", "", "aжb"]
    np.testing.assert_allclose(shifted.log_weights(asked), opinion.log_weights(asked) - 3.0)
    assert shifted.k_best(5).strings == ()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), exponent=WEIGHTS, per_symbol=WEIGHTS)
def test_it_weighs_what_a_table_lists(seed: int, exponent: float, per_symbol: float) -> None:
    rng = np.random.default_rng(seed)
    strings = (*rng.permutation(np.array(STRINGS))[:5].tolist(), "aжb")
    table = StringTable(strings, rng.normal(size=len(strings)))
    opinion = Opinion.tempered(LANGUAGE, exponent, per_symbol)
    factors = (AcceptorFactor(S, opinion), AcceptorFactor(S, table))
    weights = table.log_weights_n + opinion.log_weights(strings)
    expected = np.exp(weights - np.logaddexp.reduce(weights))
    for ordered in (factors, factors[::-1]):
        result = infer(FactorGraph(ordered), KBest())
        belief = result.beliefs[S.name]
        assert result.status is Status.CONVERGED
        assert dict(belief.kbest(10)) == pytest.approx(
            dict(zip(strings, expected.tolist(), strict=True)), abs=1e-9
        )
        assert belief.log_total == pytest.approx(np.logaddexp.reduce(weights))


def test_alone_it_leaves_the_belief_empty() -> None:
    opinion = AcceptorFactor(S, Opinion.tempered(LANGUAGE, 0.5, 1.0))
    result = infer(FactorGraph((opinion,)), KBest())
    assert result.status is Status.EMPTY_BELIEF
    assert result.beliefs[S.name].kbest(3) == []


def test_a_switch_chooses_between_opinions() -> None:
    selector = Variable("prefers", ("short", "long"))
    short, long = (Opinion.tempered(LANGUAGE, 0.0, sign) for sign in (-1.0, 1.0))
    branches = (AcceptorFactor(S, short), AcceptorFactor(S, long))
    table = StringTable(("a", "aaa"), np.zeros(2))
    graph = FactorGraph((SwitchFactor(selector, branches, (0, 1)), AcceptorFactor(S, table)))
    for choice, sign in (("short", -1.0), ("long", 1.0)):
        found = dict(infer(graph.observe({"prefers": choice}), KBest()).beliefs[S.name].kbest(2))
        assert math.log(found["aaa"] / found["a"]) == pytest.approx(2 * sign)
