"""Factors at a temperature."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.factors.base import Factor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.tempered import TemperedFactor, tempered
from fsbp.variables import Acceptor, StringPotential, StringTable
from tests.cases import ALPHABET, FACTOR_CASES, FLAG, STRINGS, FactorCase, S, T, transducer_factor


@pytest.mark.parametrize("temperature", [0.3, 1.0])
@pytest.mark.parametrize("case", FACTOR_CASES, ids=[case.name for case in FACTOR_CASES])
def test_every_factor_can_be_tempered(case: FactorCase, temperature: float) -> None:
    factor = case.factor
    cooler = tempered(factor, temperature)
    assert cooler.variables == factor.variables
    universes = [STRINGS[::5] if v.is_string else v.values for v in factor.variables]
    for values in itertools.product(*universes):
        assignment = dict(zip(factor.variables, values, strict=True))
        expected = factor.log_score(assignment) / temperature
        assert cooler.log_score(assignment) == pytest.approx(expected, rel=1e-12)


def string_factors() -> list[Factor]:
    """Return a factor whose messages are searched, and one whose messages are read off a bound."""
    pair = transducer_factor(S, T, np.random.default_rng(3))
    return [pair, SwitchFactor(FLAG, (pair,), (0, 0))]


@pytest.mark.parametrize("inner", string_factors(), ids=["searched", "read off a bound"])
def test_best_strings_of_a_message_are_exact(inner: Factor) -> None:
    """From all strings of at most three symbols."""
    factor = TemperedFactor(inner, 0.3)
    table = StringTable(("ab", "b"), np.array([0.0, -0.5]))
    for target, other in ((T, S), (S, T)):
        message = factor.message_to(target, {other: table, FLAG: np.zeros(2)}, "sum")
        assert isinstance(message, StringPotential)
        best = message.k_best(4)
        order = np.argsort(-message.log_weights(STRINGS))[:4]
        assert set(best.strings) == {STRINGS[n] for n in order}
        np.testing.assert_allclose(best.log_weights_n, message.log_weights(best.strings))


def test_nothing_said_is_passed_on() -> None:
    factor = TemperedFactor(transducer_factor(S, T, np.random.default_rng(3)), 0.3)
    message = factor.message_to(T, {S: StringTable((), np.zeros(0), floor=0.0)}, "sum")
    assert isinstance(message, StringTable)
    assert message.strings == ()
    assert message.floor == 0.0


def test_long_lists_are_refused() -> None:
    factor = TemperedFactor(transducer_factor(S, T, np.random.default_rng(3)), 0.3)
    many = Acceptor(universe_acceptor(len(ALPHABET), 14), ALPHABET)
    with pytest.raises(MachineTooLargeError, match="k-best"):
        factor.message_to(T, {S: many}, "sum")


@pytest.mark.parametrize("temperature", [0.0, -1.0, 1.5])
def test_temperatures_out_of_range(temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        tempered(transducer_factor(S, T, np.random.default_rng(3)), temperature)
