"""Every factor's messages equal enumeration, and its expected counts are a gradient."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fsbp.factors.base import Factor
from fsbp.pathsum import Semiring
from fsbp.potentials import point
from fsbp.variables import Potential, StringPotential, Variable
from tests.cases import (
    ALPHABET,
    FACTOR_CASES,
    FactorCase,
    concrete_subclasses,
    enumerate_strings,
    random_potential,
)

IDS = [case.name for case in FACTOR_CASES]


def values_of(variable: Variable, case: FactorCase) -> tuple[str, ...]:
    if variable.is_string:
        return enumerate_strings(ALPHABET, case.max_length)
    return variable.values


def weights(variable: Variable, potential: Potential, values: tuple[str, ...]) -> np.ndarray:
    if isinstance(potential, StringPotential):
        return potential.log_weights(values)
    return potential


def joint(case: FactorCase, incoming: dict[Variable, Potential]) -> np.ndarray:
    """Return log_score plus the incoming potentials, one axis per variable."""
    factor = case.factor
    universes = [values_of(v, case) for v in factor.variables]
    scores = [
        factor.log_score(dict(zip(factor.variables, values, strict=True)))
        for values in itertools.product(*universes)
    ]
    table = np.array(scores).reshape([len(universe) for universe in universes])
    for axis, variable in enumerate(factor.variables):
        if variable in incoming:
            shape = [1] * table.ndim
            shape[axis] = -1
            own = weights(variable, incoming[variable], universes[axis])
            table = table + own.reshape(shape)
    return table


def incoming_for(factor: Factor, seed: int) -> dict[Variable, Potential]:
    rng = np.random.default_rng(seed)
    return {variable: random_potential(variable, rng) for variable in factor.variables}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("semiring", ["sum", "max"])
@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_messages_equal_enumeration(case: FactorCase, semiring: Semiring, seed: int) -> None:
    incoming = incoming_for(case.factor, seed)
    reduce = np.logaddexp.reduce if semiring == "sum" else np.max
    sent = case.factor.messages(incoming, semiring)
    for axis, target in enumerate(case.factor.variables):
        others = {v: potential for v, potential in incoming.items() if v != target}
        table = np.moveaxis(joint(case, others), axis, 0)
        expected = reduce(table.reshape(len(table), -1), axis=1)
        for message in (sent[target], case.factor.message_to(target, others, semiring)):
            found = weights(target, message, values_of(target, case))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_scores_in_batches_equal_scores_one_by_one(case: FactorCase) -> None:
    universes = [values_of(v, case)[1:4] for v in case.factor.variables]
    batch = case.factor.log_scores(universes)
    one_by_one = Factor.log_scores(case.factor, universes)
    np.testing.assert_allclose(batch, one_by_one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("semiring", ["sum", "max"])
@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_total_equals_enumeration(case: FactorCase, semiring: Semiring) -> None:
    incoming = incoming_for(case.factor, 5)
    table = joint(case, incoming)
    expected = table.max() if semiring == "max" else np.logaddexp.reduce(table.ravel())
    found = case.factor.log_total(incoming, semiring)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_observed_neighbours_are_points(case: FactorCase) -> None:
    incoming = {v: point(v, values_of(v, case)[-1]) for v in case.factor.variables}
    expected = case.factor.log_score({v: values_of(v, case)[-1] for v in case.factor.variables})
    found = case.factor.log_total(incoming, "sum")
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_expected_counts_are_the_gradient(case: FactorCase, seed: int) -> None:
    factor, incoming = case.factor, incoming_for(case.factor, seed)
    counts = factor.expected_counts(incoming)
    assert counts.shape == factor.theta.shape
    step = 1e-4
    for p in range(seed, len(factor.theta), 1 + len(factor.theta) // 40):
        totals = []
        for sign in (2, 1, -1, -2):
            theta = factor.theta.copy()
            theta[p] += sign * step
            totals.append(factor.with_theta(theta).log_total(incoming, "sum"))
        slope = (8 * (totals[1] - totals[2]) - (totals[0] - totals[3])) / (12 * step)
        assert counts[p] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("case", FACTOR_CASES, ids=IDS)
def test_theta_round_trip(case: FactorCase) -> None:
    factor = case.factor
    again = factor.with_theta(factor.theta)
    np.testing.assert_array_equal(again.theta, factor.theta)
    for values in itertools.product(*(values_of(v, case)[:2] for v in factor.variables)):
        assignment = dict(zip(factor.variables, values, strict=True))
        assert again.log_score(assignment) == factor.log_score(assignment)
    with pytest.raises(ValueError, match=r"."):
        factor.with_theta(np.zeros(len(factor.theta) + 1))


def test_every_factor_has_a_row() -> None:
    missing = concrete_subclasses(Factor) - {type(case.factor) for case in FACTOR_CASES}
    assert not missing, f"add a row to tests/cases.py for {missing}"
