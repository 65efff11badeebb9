"""What is linked is drawn together, and every factor has its say once its variables are known."""

from __future__ import annotations

import numpy as np
import pytest

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.blocks import Block, block, linked_blocks
from fsbp.variables import StringTable, Variable
from tests.cases import ALPHABET, FLAG, REWRITES

STEM, STEM_2, AFFIX, AFFIX_2, WORD, WORD_2, LONGER = (
    Variable(name, ALPHABET) for name in ("s", "s2", "u", "u2", "w", "w2", "x")
)
CONCATENATION = ConcatenationFactor((STEM, AFFIX), WORD)
PARADIGM = FactorGraph(
    tuple(
        ConcatenationFactor((stem, affix), Variable(stem.name + affix.name, ALPHABET))
        for stem in (STEM, STEM_2)
        for affix in (AFFIX, AFFIX_2)
    )
)


def names(graph: FactorGraph, found: Block) -> list[str]:
    return [graph.variables[variable].name for variable in found.order]


def test_nothing_is_linked_without_a_deterministic_factor() -> None:
    graph = FactorGraph((RewriteFactor(STEM, WORD, REWRITES), TableFactor((FLAG,), np.zeros(2))))
    assert linked_blocks(graph) == []
    [found] = linked_blocks(graph, [("s", "w")])
    assert set(names(graph, found)) == {"s", "w"}
    with pytest.raises(KeyError):
        linked_blocks(graph, [("s", "nobody")])


def test_wholes_are_drawn_first_or_last() -> None:
    longer = ConcatenationFactor((WORD, AFFIX_2), LONGER)
    prior = AcceptorFactor(STEM, StringTable(("a",), np.zeros(1)))
    graph = FactorGraph((CONCATENATION, longer, prior))
    [found] = linked_blocks(graph)
    assert names(graph, found) == ["x", "w", "s", "u", "u2"]
    assert found.sums_out_later
    assert found.below[graph.positions[STEM]] == (2,)
    assert found.above[graph.positions[STEM]] == (0,)
    turned = block(graph, found.order, parts_first=True)
    order = names(graph, turned)
    assert order.index("w") > max(order.index("s"), order.index("u"))
    assert order[-1] == "x"
    assert not turned.sums_out_later


def test_observed_variables_stay_outside() -> None:
    graph = FactorGraph((CONCATENATION, RewriteFactor(AFFIX, LONGER, REWRITES))).observe(
        {"w": "ab"}
    )
    [found] = linked_blocks(graph)
    assert set(names(graph, found)) == {"s", "u"}
    assert {graph.variables[variable].name for variable in found.outside} == {"w", "x"}


def test_cycles_make_overlapping_blocks_without_cycles() -> None:
    found = linked_blocks(PARADIGM)
    assert all(one.sums_out_later for one in found)
    members = {frozenset(names(PARADIGM, one)) for one in found}
    assert frozenset({"s", "su", "su2"}) in members
    assert frozenset({"s", "u", "su", "su2", "s2u"}) in members


def test_an_observed_whole_moves_its_parts_together() -> None:
    observed = PARADIGM.observe({"su": "ab", "s2u2": "ba", "su2": "a", "s2u": "b"})
    for one in linked_blocks(observed):
        assert set(names(observed, one)) == {"s", "s2", "u", "u2"}
        assert not one.sums_out_later
        heard = [f for v in one.order for f in (*one.below[v], *one.above[v])]
        assert set(heard) == {0, 1, 2, 3}
