"""Every family projects idempotently, and the exact one changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.messages.base import MessageFamily
from fsbp.messages.ngram import GROWTH_VISITS
from fsbp.potentials import difference, log_total, product
from fsbp.variables import Acceptor, StringPotential
from tests.cases import (
    COLOUR,
    FAMILY_CASES,
    STRINGS,
    FamilyCase,
    S,
    concrete_subclasses,
    random_potential,
)

IDS = [case.name for case in FAMILY_CASES]
WEIGHT_KEEPERS = [case for case in FAMILY_CASES if case.keeps_weights]
ITERATING = [case for case in FAMILY_CASES if case.family.iterates]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("case", FAMILY_CASES, ids=IDS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_projection_is_idempotent(case: FamilyCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for variable in (S, COLOUR):
        potential, context = (random_potential(variable, rng) for _ in range(2))
        context = case.family.project(variable, context, case.family.uniform(variable), RNG)
        once = case.family.project(variable, potential, context, RNG)
        twice = case.family.project(variable, once, context, RNG)
        assert difference(once, twice) == 0.0
        if isinstance(once, StringPotential):
            np.testing.assert_array_equal(once.log_weights(STRINGS), twice.log_weights(STRINGS))


@pytest.mark.parametrize("case", ITERATING, ids=lambda case: case.name)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_message_that_comes_back_as_a_machine_is_kept(case: FamilyCase, seed: int) -> None:
    """Projection is idempotent even where the family cannot see that it has been at work."""
    rng = np.random.default_rng(seed)
    potential, context = (random_potential(S, rng) for _ in range(2))
    context = case.family.project(S, context, case.family.uniform(S), RNG)
    once = case.family.project(S, potential, context, RNG)
    assert isinstance(once, StringPotential)
    machine = once.to_acceptor(S.alphabet)
    twice = case.family.updated(S, machine, context, once, GROWTH_VISITS)
    first, second = (product([message, context]) for message in (once, twice))
    total = log_total(first)
    assert log_total(second) == pytest.approx(total, abs=1e-7)
    probability_n = np.exp(first.log_weights(STRINGS) - total)
    np.testing.assert_allclose(
        np.exp(second.log_weights(STRINGS) - total), probability_n, rtol=1e-6, atol=1e-9
    )
    assert case.family.change(twice, once, first) < 1e-6


@pytest.mark.parametrize("case", WEIGHT_KEEPERS, ids=lambda case: case.name)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_listed_strings_keep_their_weights(case: FamilyCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    potential, context = (random_potential(S, rng) for _ in range(2))
    context = case.family.project(S, context, case.family.uniform(S), RNG)
    projected = case.family.project(S, potential, context, RNG)
    listed = projected.k_best(len(STRINGS)).strings
    expected = potential.log_weights(listed)
    np.testing.assert_allclose(projected.log_weights(listed), expected, rtol=1e-9, atol=1e-9)
    if case.is_exact:
        assert projected is potential


@pytest.mark.parametrize("case", FAMILY_CASES, ids=IDS)
def test_uniform_changes_no_product(case: FamilyCase) -> None:
    rng = np.random.default_rng(3)
    for variable in (S, COLOUR):
        potential = random_potential(variable, rng)
        uniform = case.family.uniform(variable)
        if isinstance(potential, Acceptor):
            potential = case.family.project(variable, potential, uniform, RNG)
        assert difference(product([potential, uniform]), potential) <= 1e-9


def test_every_family_has_a_row() -> None:
    missing = concrete_subclasses(MessageFamily) - {type(case.family) for case in FAMILY_CASES}
    assert not missing, f"add a row to tests/cases.py for {missing}"
