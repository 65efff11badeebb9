"""Powers of potentials: same order, other weights."""

from __future__ import annotations

import numpy as np
import pytest

from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import full_history_automaton
from fsbp.powered import Powered, powered
from fsbp.variables import StringPotential, StringTable
from tests.cases import ALPHABET, STRINGS, random_machine, random_table


def string_potentials() -> list[StringPotential]:
    rng = np.random.default_rng(3)
    automaton = full_history_automaton(len(ALPHABET), 2)
    weights = rng.normal(size=(len(automaton.histories), len(ALPHABET) + 1)) - 5.0
    return [
        random_machine(rng),
        random_table(rng),
        random_table(rng, floor=-9.0),
        NgramPotential(automaton, ALPHABET, weights),
    ]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("potential", string_potentials(), ids=lambda p: type(p).__name__)
def test_log_weights_are_multiplied(potential: StringPotential, exponent: float) -> None:
    changed = powered(potential, exponent)
    assert isinstance(changed, StringPotential)
    expected = exponent * potential.log_weights(STRINGS)
    np.testing.assert_allclose(changed.log_weights(STRINGS), expected, rtol=1e-12)
    back = powered(changed, 1.0 / exponent)
    assert isinstance(back, StringPotential)
    np.testing.assert_allclose(
        back.log_weights(STRINGS), potential.log_weights(STRINGS), rtol=1e-12
    )
    shifted = changed.shifted(2.0)
    np.testing.assert_allclose(shifted.log_weights(STRINGS), expected + 2.0, rtol=1e-12)
    best, base = changed.k_best(4), potential.k_best(4)
    assert best.strings == base.strings
    np.testing.assert_allclose(best.log_weights_n, exponent * base.log_weights_n, rtol=1e-12)
    assert changed.log_total("max") == pytest.approx(exponent * potential.log_total("max"))


def test_arrays_are_multiplied() -> None:
    np.testing.assert_array_equal(powered(np.array([0.0, -np.inf, 2.0]), 0.5), [0.0, -np.inf, 1.0])


def test_sums_over_powers_of_machines_are_refused() -> None:
    changed = powered(random_machine(np.random.default_rng(0)), 2.0)
    assert isinstance(changed, Powered)
    for refused in (
        changed.log_total,
        changed.entropy,
        lambda: changed.to_acceptor(ALPHABET),
        lambda: changed.sample(1, np.random.default_rng(0)),
    ):
        with pytest.raises(TypeError, match="k-best"):
            refused()


def test_a_table_keeps_its_list() -> None:
    table = StringTable(("a", "b"), np.array([1.0, 2.0]), floor=-3.0)
    changed = powered(table, 2.0)
    assert isinstance(changed, StringTable)
    assert changed.weight_of == {"a": 2.0, "b": 4.0}
    assert changed.floor == -6.0
