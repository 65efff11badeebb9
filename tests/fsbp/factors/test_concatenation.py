from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import history_automaton
from fsbp.variables import Acceptor, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, S, T, random_machine, random_table

W = Variable("W", ALPHABET)
FACTOR = ConcatenationFactor((S, T), W)


def test_score_is_equality() -> None:
    assert FACTOR.log_score({S: "a", T: "ba", W: "aba"}) == 0.0
    assert FACTOR.log_score({S: "ab", T: "a", W: "aba"}) == 0.0
    assert FACTOR.log_score({S: "a", T: "b", W: "ba"}) == -np.inf


def test_lists_join_and_cut() -> None:
    stems, affixes = (
        StringTable(("a", "ab"), np.array([1.0, 2.0])),
        StringTable(("b", ""), np.array([0.5, 0.25])),
    )
    joined = FACTOR.message_to(W, {S: stems, T: affixes}, "sum")
    assert isinstance(joined, StringTable)
    assert joined.weight_of["ab"] == pytest.approx(np.logaddexp(1.5, 2.25))
    cut = FACTOR.message_to(S, {T: affixes, W: StringTable(("ab",), np.zeros(1))}, "max")
    assert isinstance(cut, StringTable)
    assert cut.weight_of == {"a": 0.5, "ab": 0.25}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_lists_and_machines_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = {variable: random_table(rng) for variable in (S, T, W)}
    machines = {variable: table.to_acceptor(ALPHABET) for variable, table in tables.items()}
    for target in (S, T, W):
        listed = FACTOR.message_to(target, tables, "sum").log_weights(STRINGS)
        machine = FACTOR.message_to(target, machines, "sum")
        assert isinstance(machine, Acceptor)
        np.testing.assert_allclose(machine.log_weights(STRINGS), listed, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_three_parts_are_two_twice(semiring: str) -> None:
    rng = np.random.default_rng(1)
    middle, whole = Variable("M", ALPHABET), Variable("V", ALPHABET)
    flat = ConcatenationFactor((S, T, middle), whole)
    tables = {v: random_table(rng) for v in (S, T, middle, whole)}
    inner = FACTOR.message_to(W, tables, semiring)
    nested = ConcatenationFactor((W, middle), whole)
    expected = nested.message_to(whole, {W: inner, middle: tables[middle]}, semiring)
    found = flat.message_to(whole, tables, semiring)
    np.testing.assert_allclose(found.log_weights(STRINGS), expected.log_weights(STRINGS))
    weights = []
    for text in STRINGS:
        rows = [
            tables[S].log_weights([head])[0]
            + tables[middle].log_weights([tail])[0]
            + tables[whole].log_weights([head + text + tail])[0]
            for head in tables[S].strings
            for tail in tables[middle].strings
        ]
        weights.append(max(rows) if semiring == "max" else np.logaddexp.reduce(rows))
    np.testing.assert_allclose(flat.message_to(T, tables, semiring).log_weights(STRINGS), weights)


def test_ngram_messages_are_machines() -> None:
    automaton = history_automaton([(0, 1)], 2)
    row_hs = np.log(np.tile([0.3, 0.3, 0.4], (len(automaton.histories), 1)))
    ngram = NgramPotential(automaton, ALPHABET, row_hs)
    sent = FACTOR.message_to(W, {S: ngram, T: ngram}, "sum")
    expected = 3 * 0.3**2 * 0.4**2
    assert np.exp(sent.log_weights(["ab"])[0]) == pytest.approx(expected)
    assert sent.log_total() == pytest.approx(0.0, abs=1e-9)


def test_maximum_of_machines_is_scored() -> None:
    rng = np.random.default_rng(4)
    uniform = Acceptor(universe_acceptor(2), ALPHABET)
    machine = random_machine(rng)
    sent = FACTOR.message_to(W, {S: uniform, T: machine}, "max")
    expected = max(machine.log_weights(["", "a", "ba"]))
    assert sent.log_weights(["ba"])[0] == pytest.approx(expected)
    with pytest.raises(MachineTooLargeError, match="k-best"):
        FACTOR.message_to(S, {T: uniform, W: StringTable((), np.zeros(0), 0.0)}, "max")


def test_tokens_are_joined_by_their_separator() -> None:
    words = Alphabet(("be", "not", "to"), separator=" ")
    first, second, third = (Variable(name, words) for name in "xyz")
    factor = ConcatenationFactor((first, second), third)
    assert factor.log_score({first: "to be", second: "not", third: "to be not"}) == 0.0
    whole = StringTable(("to be",), np.zeros(1))
    cut = factor.message_to(first, {second: StringTable(("be",), np.zeros(1)), third: whole}, "sum")
    assert isinstance(cut, StringTable)
    assert cut.strings == ("to",)


def test_wrong_variables_are_refused() -> None:
    with pytest.raises(ValueError, match="two or more"):
        ConcatenationFactor((S,), W)
    with pytest.raises(ValueError, match="twice"):
        ConcatenationFactor((S, S), W)
