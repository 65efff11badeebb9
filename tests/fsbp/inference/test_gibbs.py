"""Sampling visits values as often as enumeration says, within four standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.gibbs import Samples, gibbs
from fsbp.variables import StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FLAG,
    MAX_LENGTH,
    REWRITES,
    STRINGS,
    S,
    T,
    random_machine,
    random_opinion,
    random_table,
    switch_of_acceptors,
    table_factor,
    transducer_factor,
)

MIDDLE = Variable("M", ALPHABET)


def full_table(rng: np.random.Generator) -> StringTable:
    return StringTable(STRINGS, rng.normal(size=len(STRINGS)))


def loop_of_lists(rng: np.random.Generator) -> list[Factor]:
    """Three strings on a cycle, each with a list, and a colour."""
    return [
        *(AcceptorFactor(v, full_table(rng)) for v in (S, T, MIDDLE)),
        RewriteFactor(S, T, REWRITES, 0.3),
        RewriteFactor(T, MIDDLE, REWRITES, 0.3),
        transducer_factor(MIDDLE, S, rng),
        switch_of_acceptors(COLOUR, T, rng),
    ]


def pair_of_machines(rng: np.random.Generator) -> list[Factor]:
    """Two strings, linked twice, whose full conditionals are products of machines."""
    return [
        AcceptorFactor(S, random_machine(rng)),
        AcceptorFactor(T, random_machine(rng)),
        transducer_factor(S, T, rng),
        transducer_factor(T, S, rng),
    ]


def loop_of_tables(rng: np.random.Generator) -> list[Factor]:
    """Three finite variables on a cycle."""
    other = Variable("other", ("x", "y"))
    pairs = ((COLOUR, FLAG), (FLAG, other), (other, COLOUR))
    return [TableFactor(pair, rng.normal(size=[len(v.values) for v in pair])) for pair in pairs]


def check(samples: Samples) -> None:
    """Compare the commonest values' shares with the exact marginals."""
    truth = enumerate_graph(samples.graph, MAX_LENGTH)
    for name in samples.values:
        marginal = truth.log_marginal(name)
        for value in sorted(marginal, key=lambda value: -marginal[value])[:4]:
            share, error = samples.probability(name, value)
            probability = math.exp(marginal[value])
            independent = math.sqrt(probability * (1 - probability) / len(samples.values[name]))
            assert abs(share - probability) <= 4 * max(error, independent)


@pytest.mark.parametrize(
    ("factors", "sweeps"), [(loop_of_lists, 900), (pair_of_machines, 500), (loop_of_tables, 2000)]
)
def test_shares_are_marginals(factors, sweeps: int) -> None:
    graph = FactorGraph(tuple(factors(np.random.default_rng(3))))
    check(gibbs(graph, sweeps=sweeps, burn_in=50, rng=np.random.default_rng(5)))


def test_standard_errors_are_honest() -> None:
    """Over runs, shares vary by about their stated standard error."""
    graph = FactorGraph(tuple(loop_of_tables(np.random.default_rng(3))))
    runs = [
        gibbs(graph, sweeps=300, burn_in=20, rng=np.random.default_rng(seed)).probability(
            "flag", "yes"
        )
        for seed in range(30)
    ]
    share_r, error_r = np.array(runs).T
    assert share_r.std(ddof=1) == pytest.approx(error_r.mean(), rel=0.4)


def test_many_particles_without_free_neighbours_are_exact_draws() -> None:
    rng = np.random.default_rng(7)
    graph = FactorGraph((AcceptorFactor(S, full_table(rng)), transducer_factor(S, T, rng)))
    samples = gibbs(graph.observe({"T": "ab"}), sweeps=40, burn_in=0, particles=50, rng=rng)
    assert {len(particles) for particles in samples.values["S"]} == {50}
    check(samples)


def test_particles_average_over_their_neighbours_particles() -> None:
    """A factor that allows equal values only keeps a mixture of particles a mixture."""
    equal = TableFactor((FLAG, Variable("copy", FLAG.values)), np.log([[1.0, 1e-9], [1e-9, 1.0]]))
    graph = FactorGraph((equal,))
    one, many = (gibbs(graph, sweeps=30, burn_in=0, particles=n) for n in (1, 200))
    assert len(set(one.values["flag"])) == 1
    assert {len(set(particles)) for particles in many.values["flag"][:1]} <= {1, 2}
    assert one.belief("flag").kbest(1)[0][1] == 1.0


def test_opinions_weigh_and_propose_nothing() -> None:
    rng = np.random.default_rng(2)
    floored = random_table(rng, floor=-3.0)
    opinion = random_opinion(rng)
    graph = FactorGraph((AcceptorFactor(S, floored), AcceptorFactor(S, opinion)))
    samples = gibbs(graph, sweeps=600, burn_in=20, rng=rng)
    log_weight_n = floored.log_weights_n + opinion.log_weights(floored.strings)
    probability_n = np.exp(log_weight_n - np.logaddexp.reduce(log_weight_n))
    for text, probability in zip(floored.strings, probability_n, strict=True):
        share, error = samples.probability("S", text)
        assert abs(share - probability) <= 4 * max(error, math.sqrt(probability / 600))


def test_runs_are_reproducible_and_beliefs_count() -> None:
    rng = np.random.default_rng(1)
    graph = FactorGraph((AcceptorFactor(S, full_table(rng)), table_factor((FLAG,), rng)))
    first, second = (gibbs(graph, sweeps=50, rng=np.random.default_rng(9)) for _ in range(2))
    assert first.values == second.values
    best, probability = first.belief("S").kbest(1)[0]
    assert probability == pytest.approx(first.probability("S", best)[0])
    assert math.isnan(gibbs(graph, sweeps=1).probability("S", best)[1])


def test_first_values() -> None:
    table = StringTable(("a", "b"), np.zeros(2))
    copies = RewriteFactor(S, T, REWRITES)
    graph = FactorGraph((AcceptorFactor(S, table), AcceptorFactor(T, table), copies))
    started = gibbs(graph, sweeps=1, burn_in=0, initial={"S": "b", "T": "b"})
    assert set(started.values) == {"S", "T"}
    clash = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    impossible = FactorGraph((TableFactor((FLAG, Variable("other", FLAG.values)), clash),))
    with pytest.raises(ValueError, match="agrees with the current values"):
        gibbs(impossible, initial={"flag": "no", "other": "yes"})
    with pytest.raises(ValueError, match="no first value for 'S'"):
        gibbs(FactorGraph((AcceptorFactor(S, StringTable((), np.zeros(0))),)))


@pytest.mark.parametrize("wrong", [{"sweeps": 0}, {"particles": 0}, {"draws": 0}, {"burn_in": -1}])
def test_numbers_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        gibbs(FactorGraph((TableFactor((FLAG,), np.zeros(2)),)), **wrong)
