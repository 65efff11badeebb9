"""Questions to beliefs, and the oracle's own answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.enumeration import enumerate_graph, enumerate_strings
from fsbp.variables import StringTable
from tests.cases import ALPHABET, COLOUR, FLAG, STRINGS, S, random_machine


def test_finite_beliefs() -> None:
    belief = Belief(COLOUR, 900 + np.log([0.5, 0.2, 0.3]))
    assert [value for value, _ in belief.kbest(2)] == ["red", "blue"]
    assert [p for _, p in belief.kbest(5)] == pytest.approx([0.5, 0.3, 0.2])
    assert math.exp(belief.log_prob("green")) == pytest.approx(0.2)
    assert belief.entropy() == pytest.approx(-sum(p * math.log(p) for p in (0.5, 0.2, 0.3)))
    drawn = belief.sample(np.random.default_rng(0), 4000)
    assert abs(drawn.count("red") / 4000 - 0.5) <= 4 * math.sqrt(0.25 / 4000)
    with pytest.raises(KeyError):
        belief.log_prob("grey")


def test_string_beliefs() -> None:
    machine = random_machine(np.random.default_rng(5))
    weights = machine.log_weights(STRINGS)
    for potential in (machine, StringTable(STRINGS, weights, floor=-3.0)):
        belief = Belief(S, potential)
        assert math.fsum(p for _, p in belief.kbest(100)) == pytest.approx(1.0)
        assert math.fsum(math.exp(belief.log_prob(s)) for s in STRINGS) == pytest.approx(1.0)
        assert belief.log_prob("aaaaaaa") == -math.inf


def test_max_marginals_are_relative_to_the_best() -> None:
    belief = Belief(COLOUR, np.array([3.0, 1.0, 2.0]), "max")
    assert belief.kbest(2) == [("red", 1.0), ("blue", pytest.approx(math.exp(-1)))]


@pytest.mark.parametrize("potential", [np.full(2, -np.inf), StringTable((), np.zeros(0))])
def test_empty_beliefs(potential: np.ndarray | StringTable) -> None:
    belief = Belief(FLAG if isinstance(potential, np.ndarray) else S, potential)
    assert belief.is_empty
    assert belief.kbest(3) == []
    assert belief.log_prob("no") == -math.inf
    with pytest.raises(ValueError, match="empty"):
        belief.entropy()
    with pytest.raises(ValueError, match="empty"):
        belief.sample(np.random.default_rng(0), 1)


def test_the_oracle_on_a_table_worked_by_hand() -> None:
    table = np.log([[1.0, 2.0], [3.0, 4.0], [0.5, 1.5]])
    truth = enumerate_graph(FactorGraph((TableFactor((COLOUR, FLAG), table),)), 0)
    assert truth.log_partition == pytest.approx(math.log(12.0))
    assert math.exp(truth.log_marginal("flag")["yes"]) == pytest.approx(7.5 / 12)
    assert math.exp(truth.log_max_marginal("colour")["blue"]) == pytest.approx(1.5)
    assert truth.best() == ({"colour": "green", "flag": "yes"}, pytest.approx(math.log(4.0)))


def test_the_oracle_lists_all_short_strings() -> None:
    assert enumerate_strings(ALPHABET, 2) == ("", "a", "b", "aa", "ab", "ba", "bb")
