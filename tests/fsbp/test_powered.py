"""Powers of potentials: same order, other weights."""

from __future__ import annotations

import numpy as np
import pynini
import pytest

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import full_history_automaton
from fsbp.opinions import Opinion
from fsbp.potentials import product
from fsbp.powered import Powered, powered
from fsbp.variables import Acceptor, StringPotential, StringTable
from tests.cases import ALPHABET, STRINGS, random_machine, random_opinion, random_table


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


def several_paths(strings: tuple[str, ...], rng: np.random.Generator) -> Acceptor:
    """Return a machine with two paths for each string."""
    tables = [StringTable(strings, rng.normal(size=len(strings))) for _ in range(2)]
    first, second = (table.to_acceptor(ALPHABET).fst for table in tables)
    return Acceptor(pynini.union(first, second), ALPHABET)


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_powers_of_few_strings_are_machines(exponent: float) -> None:
    base = several_paths(STRINGS, np.random.default_rng(0))
    changed = powered(base, exponent)
    assert isinstance(changed, Powered)
    expected = StringTable(STRINGS, exponent * base.log_weights(STRINGS))
    machine = changed.to_acceptor(ALPHABET)
    np.testing.assert_allclose(machine.log_weights(STRINGS), expected.log_weights_n, atol=1e-9)
    assert changed.log_total() == pytest.approx(expected.log_total())
    assert changed.entropy() == pytest.approx(expected.entropy())
    assert set(changed.sample(5, np.random.default_rng(0))) <= set(STRINGS)
    bound = changed.bounding_acceptor.log_weights(STRINGS)
    assert np.all(bound >= expected.log_weights_n - 1e-9)


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_products_with_powers_are_exact(exponent: float) -> None:
    rng = np.random.default_rng(1)
    power, machine = powered(several_paths(STRINGS, rng), exponent), random_machine(rng)
    weights = power.log_weights(STRINGS) + machine.log_weights(STRINGS)
    found = product([power, machine])
    best = found.k_best(3)
    assert best.strings == StringTable(STRINGS, weights).k_best(3).strings
    np.testing.assert_allclose(best.log_weights_n, np.sort(weights)[::-1][:3])


def test_powers_of_many_strings_are_no_machines() -> None:
    universe = Acceptor(universe_acceptor(len(ALPHABET), 14), ALPHABET)
    changed = powered(Acceptor(pynini.union(universe.fst, universe.fst), ALPHABET), 2.0)
    assert isinstance(changed, Powered)
    for refused in (
        changed.log_total,
        changed.entropy,
        lambda: changed.to_acceptor(ALPHABET),
        lambda: changed.sample(1, np.random.default_rng(0)),
    ):
        with pytest.raises(MachineTooLargeError, match="k-best"):
            refused()


def test_machines_with_one_path_per_string_stay_machines() -> None:
    table = random_table(np.random.default_rng(2))
    sharper = powered(table.to_acceptor(ALPHABET), 3.0)
    assert type(sharper) is Acceptor
    np.testing.assert_allclose(
        sharper.log_weights(table.strings), 3.0 * table.log_weights_n, atol=1e-9
    )
    opinion = random_opinion(np.random.default_rng(2))
    surer = powered(opinion, 3.0)
    assert isinstance(surer, Opinion)
    texts = ("ab", "a?b")
    np.testing.assert_allclose(surer.log_weights(texts), 3.0 * opinion.log_weights(texts))


def test_a_table_keeps_its_list() -> None:
    table = StringTable(("a", "b"), np.array([1.0, 2.0]), floor=-3.0)
    changed = powered(table, 2.0)
    assert isinstance(changed, StringTable)
    assert changed.weight_of == {"a": 2.0, "b": 4.0}
    assert changed.floor == -6.0
