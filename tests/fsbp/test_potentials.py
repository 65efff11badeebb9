"""Products, mixtures and inner products, against sums over listed strings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import log_sum_exp
from fsbp.pathsum import Semiring
from fsbp.pooled import log_inner_of_each, mixture_of_tables
from fsbp.potentials import (
    cavities,
    damped,
    difference,
    log_inner,
    log_total,
    mixture,
    normalised,
    point,
    product,
)
from fsbp.variables import Acceptor, Scored, StringPotential, StringTable
from tests.cases import COLOUR, STRINGS, S, random_machine, random_table

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.lists(st.sampled_from(["machine", "closed", "floored", "loose"]), min_size=1, max_size=4)


def drawn(kind: str, rng: np.random.Generator) -> StringPotential:
    if kind == "machine":
        return random_machine(rng)
    if kind == "loose":
        machine = random_machine(rng)
        return Scored(lambda s: machine.log_weights(s) - 0.5, lambda: machine, tight=False)
    return random_table(rng, floor=-1.5 if kind == "floored" else -math.inf)


@settings(max_examples=100, deadline=None)
@given(kinds=KINDS, seed=SEEDS)
def test_products_add_log_weights(kinds: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    potentials = [drawn(kind, rng) for kind in kinds]
    expected = np.sum([p.log_weights(STRINGS) for p in potentials], axis=0)
    found = product(potentials)
    assert isinstance(found, StringPotential)
    np.testing.assert_allclose(found.log_weights(STRINGS), expected, rtol=1e-9, atol=1e-9)
    if len(potentials) > 1:
        for n, cavity in enumerate(cavities(potentials)):
            others = [p.log_weights(STRINGS) for m, p in enumerate(potentials) if m != n]
            assert isinstance(cavity, StringPotential)
            np.testing.assert_allclose(
                cavity.log_weights(STRINGS), np.sum(others, axis=0), rtol=1e-9, atol=1e-9
            )


@settings(max_examples=60, deadline=None)
@given(kinds=KINDS, seed=SEEDS, semiring=st.sampled_from(["sum", "max"]))
def test_mixtures(kinds: list[str], seed: int, semiring: Semiring) -> None:
    rng = np.random.default_rng(seed)
    potentials = [drawn(kind, rng) for kind in kinds]
    weights = rng.normal(size=len(kinds)).tolist()
    rows = np.stack([p.log_weights(STRINGS) + w for p, w in zip(potentials, weights, strict=True)])
    expected = rows.max(axis=0) if semiring == "max" else log_sum_exp(rows, axis=0)
    mixed = mixture(potentials, weights, semiring)
    assert isinstance(mixed, StringPotential)
    np.testing.assert_allclose(mixed.log_weights(STRINGS), expected, rtol=1e-9, atol=1e-9)
    if semiring == "max" and "floored" not in kinds:
        assert mixed.log_total("max") == pytest.approx(expected.max())


@settings(max_examples=100, deadline=None)
@given(
    floors=st.lists(st.sampled_from([-math.inf, -2.0, 3.0]), min_size=2, max_size=5),
    seed=SEEDS,
    semiring=st.sampled_from(["sum", "max"]),
)
def test_many_tables_at_once(floors: list[float], seed: int, semiring: Semiring) -> None:
    rng = np.random.default_rng(seed)
    tables = [random_table(rng, floor) for floor in floors]
    other = tables.pop()
    mixed = mixture_of_tables(tables, semiring)
    rows = np.stack([table.log_weights(mixed.strings) for table in tables])
    expected = rows.max(axis=0) if semiring == "max" else log_sum_exp(rows, axis=0)
    np.testing.assert_allclose(mixed.log_weights_n, expected, rtol=1e-9, atol=1e-9)
    union = tuple({text: None for table in [other, *tables] for text in table.strings})
    products = [table.log_weights(union) + other.log_weights(union) for table in tables]
    inner = [max(row) if semiring == "max" else log_sum_exp(row) for row in products]
    found = log_inner_of_each(tables, other, semiring)
    np.testing.assert_allclose(found, inner, rtol=1e-9, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, semiring=st.sampled_from(["sum", "max"]))
def test_inner_product_of_table_and_machine(seed: int, semiring: Semiring) -> None:
    rng = np.random.default_rng(seed)
    machine, table = random_machine(rng), random_table(rng, floor=0.0)
    row = machine.log_weights(table.strings) + table.log_weights_n
    expected = row.max() if semiring == "max" else log_sum_exp(row)
    assert log_inner(machine, table, semiring) == pytest.approx(expected)
    assert log_inner(table, machine, semiring) == pytest.approx(expected)


def test_forbidden_strings_stay_forbidden_under_a_floor() -> None:
    first = StringTable(("a", "b"), np.array([-np.inf, 0.0]), floor=-1.0)
    second = StringTable(("c",), np.zeros(1), floor=-1.0)
    both = product([first, second])
    assert isinstance(both, StringTable)
    assert both.log_weights(["a", "b", "c", "d"]).tolist() == [-np.inf, -1.0, -1.0, -2.0]


def test_products_are_bounded() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(MachineTooLargeError):
        product([random_machine(rng), random_machine(rng)], max_arcs=3)
    union = mixture([random_machine(rng), random_machine(rng)], [0.0, 0.0], "sum", max_arcs=3)
    with pytest.raises(MachineTooLargeError, match="mixture"):
        log_total(union)


def test_points() -> None:
    at_blue = point(COLOUR, "blue")
    assert isinstance(at_blue, np.ndarray)
    assert at_blue.tolist() == [-np.inf, -np.inf, 0.0]
    at_text = point(S, "aña")
    assert isinstance(at_text, StringTable)
    assert at_text.log_weights(["aña", "a"]).tolist() == [0.0, -np.inf]
    with pytest.raises(KeyError):
        point(COLOUR, "grey")


def test_differences() -> None:
    a = StringTable(("a", "b"), np.array([0.0, -1.0]), floor=-9.0)
    b = StringTable(("a", "c"), np.array([0.5, -8.0]), floor=-3.0)
    assert difference(a, a) == 0.0
    assert difference(a, b) == 2.0
    assert difference(np.array([0.0, -np.inf]), np.array([0.25, -np.inf])) == 0.25
    assert difference(np.array([0.0, -np.inf]), np.array([0.0, 0.0])) == np.inf
    machine = random_machine(np.random.default_rng(1))
    assert difference(machine, machine.shifted(0.125)) == pytest.approx(0.125)


def test_normalised_puts_the_best_at_zero() -> None:
    table = normalised(StringTable(("a", "b"), np.array([3.0, 1.0]), floor=0.0))
    assert isinstance(table, StringTable)
    assert (table.log_weights_n.tolist(), table.floor) == ([0.0, -2.0], -3.0)
    finite = normalised(np.array([3.0, -np.inf]))
    assert isinstance(finite, np.ndarray)
    assert finite.tolist() == [0.0, -np.inf]
    machine = random_machine(np.random.default_rng(1))
    assert isinstance(normalised(machine), Acceptor)
    nothing = np.array([-np.inf, -np.inf])
    assert normalised(nothing) is nothing


def test_damping_mixes_log_weights() -> None:
    finite = damped(np.array([0.0, -np.inf]), np.array([-1.0, -np.inf]), 0.25)
    assert isinstance(finite, np.ndarray)
    assert finite.tolist() == [-0.25, -np.inf]
    new = StringTable(("a",), np.array([0.0]), floor=-4.0)
    old = StringTable(("b",), np.array([0.0]), floor=-8.0)
    mixed = damped(new, old, 0.5)
    assert isinstance(mixed, StringTable)
    assert mixed.log_weights(["a", "b", "c"]).tolist() == [-4.0, -2.0, -6.0]
    assert damped(new, old, 0.0) is new
