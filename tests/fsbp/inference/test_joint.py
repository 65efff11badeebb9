"""Joint draws know their own probability, and are exact where nothing is left out."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.graph import FactorGraph
from fsbp.inference.annealing import tempered_graph
from fsbp.inference.blocks import block, linked_blocks
from fsbp.inference.enumeration import enumerate_graph, enumerate_strings
from fsbp.inference.joint import BlockSampler, JointDraws
from fsbp.potentials import point
from fsbp.variables import StringTable, Variable
from tests.cases import ALPHABET, transducer_factor

STEM, AFFIX, WORD, SURFACE = (Variable(name, ALPHABET) for name in ("s", "u", "w", "surface"))
PLENTY = 100_000


def machine_factor(variable: Variable, max_length: int, rng: np.random.Generator) -> AcceptorFactor:
    strings = enumerate_strings(ALPHABET, max_length)
    table = StringTable(strings, rng.normal(size=len(strings)))
    return AcceptorFactor(variable, table.to_acceptor(ALPHABET))


def word_graph(seed: int = 0, cyclic: bool = False) -> FactorGraph:
    """Stem and affix make a word, of which an observed surface tells; perhaps a link more."""
    rng = np.random.default_rng(seed)
    factors = [
        machine_factor(STEM, 1, rng),
        machine_factor(AFFIX, 1, rng),
        ConcatenationFactor((STEM, AFFIX), WORD),
        transducer_factor(WORD, SURFACE, rng),
        *([transducer_factor(STEM, AFFIX, rng)] if cyclic else []),
    ]
    return FactorGraph(tuple(factors)).observe({"surface": "ab"})


def draws_of(graph: FactorGraph, max_arcs: int = PLENTY, parts_first: bool = False) -> JointDraws:
    plan = block(graph, graph.free, parts_first)
    outside = {graph.variables[v]: graph.variables[v].name for v in plan.outside}
    given = {v: point(v, graph.evidence[name]) for v, name in outside.items()}
    return JointDraws(graph, plan, given, max_arcs)


def assignments(graph: FactorGraph) -> list[dict[int, str]]:
    positions = [graph.positions[variable] for variable in (STEM, AFFIX, WORD)]
    strings = enumerate_strings(ALPHABET, 1)
    pairs = itertools.product(strings, repeat=2)
    return [dict(zip(positions, (s, u, s + u), strict=True)) for s, u in pairs]


def test_the_ratio_of_exact_draws_is_the_sum_of_all_weights() -> None:
    graph = word_graph()
    joint = draws_of(graph)
    log_partition = enumerate_graph(graph, 2).log_partition
    for values in assignments(graph):
        assert joint.log_ratio(values) == pytest.approx(log_partition, abs=1e-9)
    assert not joint.proposes


@pytest.mark.parametrize(
    ("cyclic", "max_arcs", "parts_first"),
    [(True, PLENTY, False), (True, PLENTY, True), (False, PLENTY, True), (False, 1, True)],
)
def test_proposals_know_their_probability(cyclic: bool, max_arcs: int, parts_first: bool) -> None:
    """Probabilities sum to one over what can be drawn, and weight is that of all factors."""
    graph = word_graph(cyclic=cyclic)
    joint = draws_of(graph, max_arcs, parts_first)
    assert joint.proposes
    weights = np.array([joint.log_weight(values) for values in assignments(graph)])
    ratios = np.array([joint.log_ratio(values) for values in assignments(graph)])
    assert np.exp(weights - ratios).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.logaddexp.reduce(weights) == pytest.approx(enumerate_graph(graph, 2).log_partition)


def test_draws_have_their_probability() -> None:
    graph = word_graph(cyclic=True)
    joint = draws_of(graph)
    drawn = joint.draw(4000, np.random.default_rng(1))
    for values in assignments(graph):
        probability = math.exp(joint.log_weight(values) - joint.log_ratio(values))
        error = math.sqrt(probability * (1 - probability) / len(drawn))
        assert abs(drawn.count(values) / len(drawn) - probability) <= 4 * error


def test_powers_of_path_sums_are_drawn_from_their_bounds() -> None:
    graph = tempered_graph(word_graph(), 0.5)
    joint = draws_of(graph)
    drawn = joint.draw(4000, np.random.default_rng(1))
    assert joint.proposes
    ratio_n = np.exp([joint.log_ratio(values) for values in drawn])
    expected = math.exp(enumerate_graph(graph, 2).log_partition)
    assert abs(ratio_n.mean() - expected) <= 4 * ratio_n.std() / math.sqrt(len(ratio_n))


def test_dead_ends_are_left_out() -> None:
    """Parts are drawn without looking ahead, and half of the wholes are forbidden."""
    graph = FactorGraph(
        (
            AcceptorFactor(STEM, StringTable(("a", "b"), np.zeros(2))),
            AcceptorFactor(AFFIX, StringTable(("a",), np.zeros(1))),
            *(ConcatenationFactor((STEM, AFFIX), Variable(name, ALPHABET)) for name in "wv"),
            AcceptorFactor(Variable("v", ALPHABET), StringTable(("aa",), np.zeros(1))),
        )
    )
    drawn = draws_of(graph, parts_first=True).draw(100, np.random.default_rng(0))
    assert 0 < len(drawn) < 100
    assert {values[graph.positions[STEM]] for values in drawn} == {"a"}


def test_a_factor_out_of_bounds_is_asked_only_about_points() -> None:
    """The concatenation's own bound forbids every machine that it would cut from another."""
    graph = word_graph()
    tight = replace(graph.factors[2], max_arcs=1)
    bounded = FactorGraph((*graph.factors[:2], tight, *graph.factors[3:]), graph.evidence)
    joint = draws_of(bounded, parts_first=True)
    log_partition = enumerate_graph(graph, 2).log_partition
    drawn = joint.draw(3000, np.random.default_rng(2))
    ratio_n = np.exp([joint.log_ratio(values) - log_partition for values in drawn])
    assert abs(ratio_n.mean() - 1) <= 4 * ratio_n.std() / math.sqrt(len(ratio_n))


def test_a_block_without_possible_values_is_said_to_be_so() -> None:
    only = (
        AcceptorFactor(variable, StringTable((text,), np.zeros(1)))
        for variable, text in ((STEM, "a"), (AFFIX, "b"), (WORD, "ba"))
    )
    graph = FactorGraph((*only, ConcatenationFactor((STEM, AFFIX), WORD)))
    [plan] = linked_blocks(graph)
    sampler = BlockSampler(graph, plan, 4, PLENTY, np.random.default_rng(0))
    with pytest.raises(ValueError, match="agrees with the current values"):
        sampler.renew([("a",), ("b",), ("ab",)])
