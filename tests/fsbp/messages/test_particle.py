"""Particles estimate sums without bias, and are exact where they can list everything."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import Enumeration, enumerate_graph
from fsbp.inference.propagation import Result, Status, infer
from fsbp.messages.particle import Particle, thinned
from fsbp.variables import StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    MAX_LENGTH,
    STRINGS,
    S,
    T,
    random_machine,
    random_table,
    switch_of_acceptors,
    transducer_factor,
)


def standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def chain(seed: int) -> FactorGraph:
    """Return two strings and a colour on a path, so that propagation with exact messages is."""
    rng = np.random.default_rng(seed)
    return FactorGraph(
        (
            AcceptorFactor(S, random_machine(rng)),
            AcceptorFactor(T, random_machine(rng)),
            transducer_factor(S, T, rng),
            switch_of_acceptors(COLOUR, T, rng),
        )
    )


def distance(result: Result, truth: Enumeration) -> float:
    """Return the largest total variation between beliefs and marginals."""
    distances = []
    for name, belief in result.beliefs.items():
        gaps = [
            abs(math.exp(belief.log_prob(value)) - math.exp(log_prob))
            for value, log_prob in truth.log_marginal(name).items()
        ]
        distances.append(sum(gaps) / 2)
    return max(distances)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 6))
def test_thinning_keeps_the_total_and_the_size(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    thin = thinned(table, size, rng)
    assert len(thin.strings) == min(size, len(table.strings))
    assert thin.log_total() == pytest.approx(table.log_total(), rel=1e-9)
    assert set(thin.strings) <= set(table.strings)
    assert all(thin.weight_of[s] >= table.weight_of[s] - 1e-9 for s in thin.strings)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_thinning_is_unbiased(size: int) -> None:
    rng = np.random.default_rng(size)
    table = StringTable(STRINGS, rng.normal(size=len(STRINGS)))
    weight_rn = np.exp([thinned(table, size, rng).log_weights(STRINGS) for _ in range(4000)])
    for n, log_weight in enumerate(table.log_weights_n):
        error = standard_error(weight_rn[:, n])
        assert abs(weight_rn[:, n].mean() - math.exp(log_weight)) <= max(4 * error, 1e-9)


def test_thinning_leaves_out_what_weighs_nothing() -> None:
    table = StringTable(("a", "b", "ab"), np.array([0.0, -800.0, -1.0]), floor=-900.0)
    thin = thinned(table, 2, np.random.default_rng(0))
    assert (thin.strings, thin.floor) == (("a", "ab"), -math.inf)
    nothing = StringTable(STRINGS, np.full(len(STRINGS), -np.inf))
    assert thinned(nothing, 2, np.random.default_rng(0)) is nothing


@pytest.mark.parametrize("count", [1, 2, 8])
def test_products_of_machines_are_estimated_without_bias(count: int) -> None:
    rng = np.random.default_rng(4)
    machines = [random_machine(rng) for _ in range(2)]
    true_n = np.exp(sum(machine.log_weights(STRINGS) for machine in machines))
    draws = [Particle(count).product(S, machines, rng) for _ in range(250)]
    assert all(len(table.strings) <= count for table in draws)
    weight_rn = np.exp([table.log_weights(STRINGS) for table in draws])
    total_r = weight_rn.sum(axis=1)
    assert abs(total_r.mean() - true_n.sum()) <= 4 * standard_error(total_r)
    for n in np.argsort(-true_n)[:3]:
        error = standard_error(weight_rn[:, n])
        assert abs(weight_rn[:, n].mean() - true_n[n]) <= 4 * error


def test_one_particle_stands_for_a_whole_machine() -> None:
    rng = np.random.default_rng(2)
    machine = random_machine(rng)
    drawn = [Particle(1, draws=1).product(S, [machine], rng) for _ in range(600)]
    assert {len(table.strings) for table in drawn} == {1}
    np.testing.assert_allclose([t.log_total() for t in drawn], machine.log_total(), rtol=1e-9)
    best = machine.k_best(1).strings[0]
    probability = math.exp(machine.log_weights([best])[0] - machine.log_total())
    share = np.mean([table.strings[0] == best for table in drawn])
    assert abs(share - probability) <= 4 * math.sqrt(probability * (1 - probability) / len(drawn))


def test_the_estimate_of_z_is_unbiased_on_trees() -> None:
    graph = chain(3)
    truth = enumerate_graph(graph, MAX_LENGTH).log_partition
    ratio_r = np.exp(
        [
            infer(graph, Particle(8), rng=np.random.default_rng(seed), queries=["T"]).log_partition
            - truth
            for seed in range(60)
        ]
    )
    assert 0.0 < standard_error(ratio_r) < 0.1
    assert abs(ratio_r.mean() - 1.0) <= 4 * standard_error(ratio_r)


def test_skewed_estimates_of_z_are_unbiased_too() -> None:
    """Three strings in a row: with few particles the median is below Z, and the mean is Z."""
    rng = np.random.default_rng(2)
    row = [Variable(name, ALPHABET) for name in "PQR"]
    graph = FactorGraph(
        (
            *(AcceptorFactor(string, random_table(rng)) for string in row),
            *(transducer_factor(a, b, rng) for a, b in pairwise(row)),
        )
    )
    truth = enumerate_graph(graph, MAX_LENGTH).log_partition
    ratio_r = np.exp(
        [
            infer(graph, Particle(3), rng=np.random.default_rng(seed), queries=["P"]).log_partition
            - truth
            for seed in range(1500)
        ]
    )
    assert np.median(ratio_r) < 0.9
    assert np.log(ratio_r).mean() < 0.0
    assert 0.0 < standard_error(ratio_r) < 0.05
    assert abs(ratio_r.mean() - 1.0) <= 4 * standard_error(ratio_r)


def test_beliefs_approach_the_truth_as_particles_grow() -> None:
    graph = chain(5)
    truth = enumerate_graph(graph, MAX_LENGTH)
    mean_error = [
        np.mean(
            [
                distance(infer(graph, Particle(count), rng=np.random.default_rng(seed)), truth)
                for seed in range(4)
            ]
        )
        for count in (1, 8, 64, 256)
    ]
    assert mean_error == sorted(mean_error, reverse=True)
    assert mean_error[-1] < 0.01


def test_lists_that_fit_are_exact() -> None:
    rng = np.random.default_rng(6)
    graph = FactorGraph(
        (
            AcceptorFactor(S, random_table(rng)),
            AcceptorFactor(T, random_table(rng)),
            transducer_factor(S, T, rng),
        )
    )
    truth = enumerate_graph(graph, MAX_LENGTH)
    result = infer(graph, Particle(len(STRINGS)))
    assert result.log_partition == pytest.approx(truth.log_partition, rel=1e-9)
    assert distance(result, truth) < 1e-9


def test_loops_settle() -> None:
    rng = np.random.default_rng(8)
    opinions = [AcceptorFactor(v, random_machine(rng)) for v in (S, T)]
    links = [transducer_factor(S, T, rng) for _ in range(2)]
    graph = FactorGraph((*opinions, *links))
    result = infer(graph, Particle(30), max_updates=200)
    assert result.status is Status.CONVERGED


def test_a_product_without_a_finite_sum_is_reported() -> None:
    graph = FactorGraph((AcceptorFactor(S, Particle().uniform(S)),))
    assert infer(graph, Particle()).status is Status.DIVERGENT_SUM


def test_numbers_and_semirings_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one particle"):
        Particle(0)
    with pytest.raises(ValueError, match="at least one particle"):
        Particle(draws=0)
    with pytest.raises(ValueError, match="not maxima"):
        infer(chain(1), Particle(), "max")


def test_finite_variables_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    tables = [np.array([0.0, 1.0, -np.inf]), np.array([1.0, 1.0, 1.0])]
    np.testing.assert_array_equal(Particle(1).product(COLOUR, tables, rng), tables[0] + tables[1])
    assert Particle(1).project(S, EVERYTHING, EVERYTHING, rng) is EVERYTHING


EVERYTHING = StringTable(("a",), np.zeros(1)).to_acceptor(ALPHABET)
