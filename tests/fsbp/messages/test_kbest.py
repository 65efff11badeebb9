"""What candidate lists keep, and what they fall back on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_graph
from fsbp.inference.propagation import infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.pathsum import DivergentSumError
from fsbp.variables import Acceptor, StringTable
from tests.cases import ALPHABET, FLAG, MAX_LENGTH, STRINGS, S, T, random_machine, transducer_factor

RNG = np.random.default_rng(0)
EVERYTHING = Acceptor(universe_acceptor(2, None), ALPHABET)


def table(floor: float = -math.inf, **weight_of: float) -> StringTable:
    return StringTable(tuple(weight_of), np.array(list(weight_of.values())), floor)


def test_strings_that_the_context_lists_are_kept_with_their_own_weight() -> None:
    family = KBest(k=1)
    message = table(a=0.0, b=-1.0, ab=-2.0)
    kept = family.project(S, message, table(ab=5.0, zz=9.0), RNG)
    assert isinstance(kept, StringTable)
    assert dict(kept.weight_of) == {"a": 0.0, "ab": -2.0}


def test_the_backoff_is_below_the_best_and_floors_are_kept() -> None:
    nothing = KBest().uniform(S)
    softened = KBest(backoff=7.0).project(S, table(a=3.0, b=1.0), nothing, RNG)
    assert isinstance(softened, StringTable)
    assert softened.floor == -4.0
    floored = KBest(backoff=7.0).project(S, table(-2.0, a=3.0), nothing, RNG)
    assert isinstance(floored, StringTable)
    assert floored.floor == -2.0
    hard = KBest(backoff=math.inf).project(S, table(a=3.0), nothing, RNG)
    assert isinstance(hard, StringTable)
    assert hard.floor == -math.inf


def test_a_context_is_a_union() -> None:
    context = KBest().context(S, [table(a=0.0), table(b=0.0), EVERYTHING])
    assert isinstance(context, StringTable)
    assert context.strings == ("a", "b")
    finite = KBest().context(FLAG, [np.array([0.0, 1.0]), np.array([2.0, 0.0])])
    assert isinstance(finite, np.ndarray)
    assert finite.tolist() == [2.0, 1.0]


def test_a_machine_without_a_sum_scores_what_others_list() -> None:
    scored = KBest().project(S, EVERYTHING, table(ab=-1.0, ñ=0.0), RNG)
    assert isinstance(scored, StringTable)
    assert dict(scored.weight_of) == {"ab": 0.0}
    with pytest.raises(DivergentSumError):
        KBest().project(S, EVERYTHING, KBest().uniform(S), RNG)


def test_exact_messages_are_bounded() -> None:
    machine = random_machine(RNG)
    uniform = Exact().uniform(S)
    assert Exact().project(S, machine, uniform, RNG) is machine
    with pytest.raises(MachineTooLargeError, match="'S'"):
        Exact(max_arcs=3).project(S, machine, uniform, RNG)


def test_lists_approach_the_truth_as_they_grow() -> None:
    """Hard lists bound log Z from below, and with every string on them they are exact."""
    rng = np.random.default_rng(4)
    graph = FactorGraph(
        (
            AcceptorFactor(S, random_machine(rng)),
            AcceptorFactor(T, random_machine(rng)),
            transducer_factor(S, T, rng),
        )
    )
    truth = enumerate_graph(graph, MAX_LENGTH).log_partition
    missing = [
        truth - infer(graph, KBest(k, backoff=math.inf)).log_partition for k in (1, 3, 8, 15)
    ]
    assert len(STRINGS) == 15
    assert missing == sorted(missing, reverse=True)
    assert missing[0] > 0.1
    assert missing[-1] == pytest.approx(0.0, abs=1e-9)
