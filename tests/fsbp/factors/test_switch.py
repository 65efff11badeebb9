"""Switches: misfits, selectors with evidence, and lists of unequal length."""

from __future__ import annotations

import numpy as np
import pytest

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from fsbp.potentials import point
from fsbp.variables import StringTable, Variable
from tests.cases import COLOUR, FLAG, S, T, switch_of_acceptors


def opinion(*strings: str, floor: float = -np.inf) -> AcceptorFactor:
    return AcceptorFactor(S, StringTable(strings, np.zeros(len(strings)), floor))


def test_an_observed_selector_leaves_one_branch() -> None:
    switch = SwitchFactor(FLAG, (opinion("a"), opinion("b")), (0, 1))
    message = switch.message_to(S, {FLAG: point(FLAG, "yes")}, "sum")
    assert isinstance(message, StringTable)
    assert message.strings == ("b",)


def test_no_allowed_branch_allows_nothing() -> None:
    switch = switch_of_acceptors(FLAG, S, np.random.default_rng(0))
    message = switch.message_to(S, {FLAG: np.full(2, -np.inf)}, "sum")
    assert isinstance(message, StringTable)
    assert not message.strings
    assert message.floor == -np.inf
    inner = SwitchFactor(FLAG, (TableFactor((COLOUR,), np.zeros(3)),), (0, 0))
    to_colour = inner.message_to(COLOUR, {FLAG: np.full(2, -np.inf)}, "max")
    assert np.isneginf(to_colour).all()


def test_branches_are_compared_over_the_same_strings() -> None:
    """A long list is no better than a short one that gives the same weights."""
    short = opinion("a", floor=-2.0)
    long = AcceptorFactor(S, StringTable(("a", "b", "c"), np.array([0.0, -2.0, -2.0]), floor=-2.0))
    switch = SwitchFactor(FLAG, (short, long), (0, 1))
    incoming = {S: StringTable(("a",), np.zeros(1), floor=-1.0)}
    no, yes = switch.message_to(FLAG, incoming, "sum")
    assert no == pytest.approx(yes)


def test_a_shared_class_is_inferred_from_several_strings() -> None:
    kinds = Variable("kind", ("weak", "strong", "unused"))
    other = AcceptorFactor(T, StringTable(("x", "y"), np.log([0.9, 0.1]), floor=-20.0))
    swapped = AcceptorFactor(T, StringTable(("x", "y"), np.log([0.1, 0.9]), floor=-20.0))
    graph = FactorGraph(
        (
            SwitchFactor(kinds, (opinion("a", floor=-20.0), opinion("b", floor=-20.0)), (0, 1, 1)),
            SwitchFactor(kinds, (other, swapped), (0, 1, 1)),
            TableFactor((kinds,), np.array([0.0, 0.0, -np.inf])),
        )
    )
    result = infer(graph.observe({"S": "b"}), KBest())
    assert result.beliefs["kind"].kbest(1)[0][0] == "strong"
    assert result.beliefs["T"].kbest(1)[0][0] == "y"
    assert result.beliefs["T"].kbest(1)[0][1] == pytest.approx(0.9, rel=1e-6)


def test_misfits_are_errors() -> None:
    with pytest.raises(ValueError, match="same variables"):
        SwitchFactor(FLAG, (opinion("a"), TableFactor((COLOUR,), np.zeros(3))), (0, 1))
    with pytest.raises(ValueError, match="inside the branches"):
        SwitchFactor(COLOUR, (TableFactor((COLOUR,), np.zeros(3)),), (0, 0, 0))
    with pytest.raises(ValueError, match="per value"):
        SwitchFactor(COLOUR, (opinion("a"),), (0,))
    with pytest.raises(ValueError, match="does not have"):
        SwitchFactor(FLAG, (opinion("a"),), (0, 1))
