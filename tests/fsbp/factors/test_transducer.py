"""The lattice route of a transducer factor against composition, and what only it can do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.arrays import ArcArrays
from fsbp.factors.lattice import expected_pair_counts, pair_lattice, pair_log_weights
from fsbp.factors.transducer import TransducerFactor
from fsbp.pathsum import log_total
from fsbp.transducers import edit_topology, expected_arc_counts_of_transducer
from fsbp.variables import Acceptor, Scored, StringPotential, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, S, T, random_machine, random_table, transducer_factor

TEXTS = st.text("abñ", max_size=6)


@settings(max_examples=40, deadline=None)
@given(x=TEXTS, y=TEXTS, seed=st.integers(0, 2**32 - 1))
def test_lattice_equals_composition(x: str, y: str, seed: int) -> None:
    """One pair of strings, symbols outside the alphabet included."""
    factor = transducer_factor(S, T, np.random.default_rng(seed))
    point = StringTable((x,), np.zeros(1)).to_acceptor(ALPHABET.extended([x, y]))
    message = factor.message_to(T, {S: point}, "sum")
    assert isinstance(message, Acceptor)
    composed = message.log_weights([y])[0]
    assert factor.log_score({S: x, T: y}) == pytest.approx(composed, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("target", [S, T])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_fast_route_equals_general_route(target: Variable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = transducer_factor(S, T, rng)
    other = T if target == S else S
    table = random_table(rng)
    fast = factor.message_to(target, {other: table}, "sum")
    general = factor.message_to(target, {other: table.to_acceptor(ALPHABET)}, "sum")
    assert isinstance(fast, Scored)
    assert isinstance(general, Acceptor)
    found, expected = fast.log_weights(STRINGS), general.log_weights(STRINGS)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    by_machine = fast.to_acceptor(ALPHABET).log_weights(STRINGS)
    np.testing.assert_allclose(by_machine, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_expected_counts_by_lattice_equal_those_by_composition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = transducer_factor(S, T, rng)
    inputs, outputs = random_table(rng), random_table(rng)
    fast = factor.expected_counts({S: inputs, T: outputs})
    machines = {S: inputs.to_acceptor(ALPHABET), T: outputs.to_acceptor(ALPHABET)}
    np.testing.assert_allclose(fast, factor.expected_counts(machines), rtol=1e-9, atol=1e-9)


def test_pair_counts_equal_arc_counts() -> None:
    topology = edit_topology(ALPHABET)
    theta = np.random.default_rng(1).normal(scale=0.2, size=len(topology.feature_names)) - 0.5
    arrays = topology.arrays(theta)
    x, y = ALPHABET.labels("abba"), ALPHABET.labels("bab")
    point_x, point_y = (StringTable((t,), np.zeros(1)) for t in ("abba", "bab"))
    expected = expected_arc_counts_of_transducer(
        arrays, point_x.to_acceptor(ALPHABET).fst, point_y.to_acceptor(ALPHABET).fst, 100_000
    )
    found = expected_pair_counts(pair_lattice(arrays), [x], [y], np.ones((1, 1)))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_labels_a_lattice_lacks_are_refused() -> None:
    arrays = edit_topology(ALPHABET).arrays(np.zeros(len(edit_topology(ALPHABET).feature_names)))
    weights = pair_log_weights(pair_lattice(arrays), [(1, 7), ()], [(2,), ()])
    assert np.isinf(weights[0]).all()
    assert np.isfinite(weights[1]).all()


def test_empty_arcs_are_refused() -> None:
    looped = ArcArrays.from_arcs(0, [0.0], [0], [0], [0], [0], [-1.0])
    with pytest.raises(ValueError, match="both sides"):
        pair_lattice(looped)


def test_an_empty_list_with_a_floor_stands_for_every_string() -> None:
    rng = np.random.default_rng(2)
    topology = edit_topology(ALPHABET)
    costly = {"substitute": -6.0, "insert": -7.0, "delete": -5.0}
    factor = TransducerFactor(S, T, topology, topology.theta(costly) - 0.1)
    uniform = StringTable((), np.zeros(0), floor=0.0)
    message = factor.message_to(T, {S: uniform}, "sum")
    assert isinstance(message, StringPotential)
    machine = random_machine(rng)
    met = factor.message_to(S, {T: machine}, "sum")
    assert isinstance(met, Acceptor)
    total = np.logaddexp.reduce(message.log_weights(STRINGS) + machine.log_weights(STRINGS))
    assert total == pytest.approx(log_total(met.arrays), rel=1e-9)


def test_a_maximum_over_too_many_strings_is_refused() -> None:
    long = Acceptor(universe_acceptor(2, 14), ALPHABET)
    factor = transducer_factor(S, T, np.random.default_rng(0))
    with pytest.raises(MachineTooLargeError, match="maximum"):
        factor.message_to(T, {S: long}, "max")


def test_weights_must_fit_the_topology() -> None:
    with pytest.raises(ValueError, match="weights for"):
        TransducerFactor(S, T, edit_topology(ALPHABET), np.zeros(3))
