"""Random graphical models that mix string and finite variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.graph import FactorGraph
from fsbp.variables import Variable
from tests.cases import (
    ALPHABET,
    random_machine,
    random_table,
    switch_of_acceptors,
    switch_of_transducers,
    table_factor,
    transducer_factor,
)

MAX_STRINGS = 3


@dataclass(frozen=True)
class Shape:
    """A tree to be filled with factors.

    Args:
        is_string_v: Whether each variable is string-valued; the rest are finite.
        parent_v: An earlier variable for each but the first.
        has_switch_v: Whether a string with a string parent gets a switch with a selector.
        observed: Variables with evidence.
        seed: Of the weights.
    """

    is_string_v: tuple[bool, ...]
    parent_v: tuple[int, ...]
    has_switch_v: tuple[bool, ...]
    observed: frozenset[int]
    seed: int


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Draw a tree of two to five variables, at most three of them strings."""
    count = draw(st.integers(2, 5))
    is_string_v = draw(
        st.lists(st.booleans(), min_size=count, max_size=count).filter(
            lambda kinds: sum(kinds) <= MAX_STRINGS
        )
    )
    return Shape(
        is_string_v=tuple(is_string_v),
        parent_v=tuple(draw(st.integers(0, v - 1)) for v in range(1, count)),
        has_switch_v=tuple(draw(st.lists(st.booleans(), min_size=count, max_size=count))),
        observed=draw(st.frozensets(st.integers(0, count - 1), max_size=1)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def tree(shape: Shape) -> FactorGraph:
    """Return a model of that shape; a machine or table on every string caps its length."""
    rng = np.random.default_rng(shape.seed)
    variables = [
        Variable(f"x{v}", ALPHABET if is_string else tuple("uvw"[: 2 + v % 2]))
        for v, is_string in enumerate(shape.is_string_v)
    ]
    factors: list[Factor] = []
    for variable in variables:
        if variable.is_string:
            potential = random_machine(rng) if rng.random() < 0.7 else random_table(rng)
            factors.append(AcceptorFactor(variable, potential))
        elif rng.random() < 0.5:
            factors.append(table_factor((variable,), rng))
    for v, parent in enumerate(shape.parent_v, start=1):
        factors.append(_link(variables[parent], variables[v], shape.has_switch_v[v], rng))
    order = rng.permutation(len(factors))
    graph = FactorGraph(tuple(factors[n] for n in order))
    evidence = {}
    for v in shape.observed:
        values = ("ab", "", "ba") if shape.is_string_v[v] else variables[v].values
        evidence[variables[v].name] = values[int(rng.integers(len(values)))]
    return graph.observe(evidence)


def _link(parent: Variable, child: Variable, switched: bool, rng: np.random.Generator) -> Factor:
    if not parent.is_string and not child.is_string:
        return table_factor((parent, child), rng)
    if parent.is_string and child.is_string:
        if switched:
            return switch_of_transducers(
                Variable(f"switch-{child.name}", ("on", "off")), parent, child, rng
            )
        return transducer_factor(parent, child, rng)
    string, selector = (parent, child) if parent.is_string else (child, parent)
    return switch_of_acceptors(selector, string, rng)
