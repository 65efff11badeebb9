from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp import supports
from fsbp.acceptors import string_acceptor, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, arrays_to_fst
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.opinions import Opinion
from fsbp.powered import powered
from fsbp.supports import (
    common_support,
    is_empty,
    is_same_support,
    named_symbols,
    nothing,
    support,
)
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable
from tests.cases import ALPHABET, COLOUR, STRINGS, S, T, random_machine, random_table

EVERYTHING = Acceptor(universe_acceptor(len(ALPHABET)), ALPHABET)
SEEDS = st.integers(0, 2**32 - 1)


def allowed(potential: Potential) -> list[bool]:
    assert isinstance(potential, StringPotential)
    return (potential.log_weights(STRINGS) > -np.inf).tolist()


def random_potential(rng: np.random.Generator) -> StringPotential:
    """Return a machine with many paths per string, epsilons and dead ends, or a table."""
    if rng.random() < 0.3:
        return random_table(rng)
    size, arcs = int(rng.integers(1, 6)), int(rng.integers(0, 12))
    label_a = rng.integers(0, 3, size=arcs)
    weight_a = np.where(rng.random(arcs) < 0.1, -np.inf, rng.normal(size=arcs))
    final_s = np.where(rng.random(size) < 0.5, rng.normal(size=size), -np.inf)
    ends = rng.integers(0, size, size=(2, arcs))
    arrays = ArcArrays.from_arcs(0, final_s, ends[0], label_a, label_a, ends[1], weight_a - 3.0)
    return Acceptor(arrays_to_fst(arrays), ALPHABET)


@settings(max_examples=150, deadline=None)
@given(seed=SEEDS)
def test_a_support_allows_what_the_potential_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_potential(rng), random_potential(rng)
    one, two = support(first, EVERYTHING), support(second, EVERYTHING)
    assert allowed(one) == allowed(first)
    assert is_same_support(one, support(one, EVERYTHING))
    common = common_support([one, two])
    assert allowed(common) == [
        a and b for a, b in zip(allowed(first), allowed(second), strict=True)
    ]
    if any(allowed(common)):
        assert not is_empty(common)
    if allowed(one) != allowed(two):
        assert not is_same_support(one, two)


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_equal_sets_are_the_same_machine(seed: int) -> None:
    """A list, and its strings cut into their prefixes and the rest and joined in another order."""
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    shuffled = table.subset(rng.permutation(len(table.strings)).tolist())
    machine = shuffled.to_acceptor(ALPHABET)
    whole = Variable("W", ALPHABET)
    joined = ConcatenationFactor((S, T), whole).message_to(
        whole, {S: machine, T: StringTable(("",), np.zeros(1)).to_acceptor(ALPHABET)}, "sum"
    )
    for other in (machine, joined):
        assert is_same_support(support(table, EVERYTHING), support(other, EVERYTHING))


def test_all_strings_are_one_state() -> None:
    loose = Acceptor(universe_acceptor(2), ALPHABET)
    whole = Variable("W", ALPHABET)
    twice = ConcatenationFactor((S, T), whole).message_to(whole, {S: loose, T: loose}, "sum")
    assert is_same_support(support(twice, EVERYTHING), EVERYTHING)


def test_weights_are_forgotten_however_small() -> None:
    table = StringTable(("a", "b", "ab"), np.array([-1e300, -np.inf, 0.0]))
    assert allowed(support(table, EVERYTHING)) == [text in ("a", "ab") for text in STRINGS]
    finite = np.array([-1e300, -np.inf, math.nan])
    np.testing.assert_array_equal(support(finite, np.zeros(3)), [0.0, -np.inf, 0.0])
    strange = Acceptor(string_acceptor(ALPHABET.labels("a"), math.nan), ALPHABET)
    assert support(strange, EVERYTHING) is EVERYTHING


def test_what_has_a_floor_or_is_an_opinion_allows_everything() -> None:
    table = StringTable(("a",), np.zeros(1), floor=-900.0)
    opinion = Opinion(string_acceptor(ALPHABET.labels("a")), ALPHABET, unseen=0.0)
    for potential in (table, opinion, powered(opinion, 0.5)):
        assert support(potential, EVERYTHING) is EVERYTHING


def test_scores_have_the_support_of_their_bound_where_it_knows_all_symbols() -> None:
    machine = random_machine(np.random.default_rng(1))
    scored = Scored(machine.log_weights, lambda: machine, tight=False)
    assert is_same_support(support(scored, EVERYTHING), support(machine, EVERYTHING))
    assert is_same_support(support(powered(scored, 2.0), EVERYTHING), support(machine, EVERYTHING))
    larger = Acceptor(universe_acceptor(3), Alphabet(("a", "b", "c")))
    assert support(scored, larger) is larger


def test_beyond_bounds_a_support_is_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    table = StringTable(STRINGS[3:9], np.zeros(6))
    small = support(StringTable(STRINGS[3:5], np.zeros(2)), EVERYTHING)
    large = support(table, EVERYTHING)
    for name, bound in (("MAX_STATES", 2), ("MAX_WORK", 3)):
        with monkeypatch.context() as bounded:
            bounded.setattr(supports, name, bound)
            assert support(table, EVERYTHING) is EVERYTHING
    monkeypatch.setattr(supports, "MAX_WORK", 1)
    assert common_support([small, large]) is small


def test_nothing_is_empty() -> None:
    assert is_empty(support(nothing(S), EVERYTHING))
    assert is_empty(support(nothing(COLOUR), np.zeros(3)))
    assert not is_empty(EVERYTHING)
    assert not is_empty(np.array([-np.inf, 0.0]))


def test_symbols_are_named_by_lists_and_machines() -> None:
    table = StringTable(("ac", "b"), np.zeros(2))
    assert named_symbols(table, ALPHABET) == {"a", "b", "c"}
    machine = table.to_acceptor(Alphabet(("d",)))
    scored = Scored(machine.log_weights, lambda: machine, tight=True)
    assert named_symbols(scored, ALPHABET) >= {"a", "b", "c", "d"}
    assert named_symbols(np.zeros(2), ALPHABET) == set()
