"""Messages over words that no alphabet lists, against sums over the lists; and the floor."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.evidence import MAX_STRINGS
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from fsbp.pathsum import Semiring
from fsbp.potentials import point
from fsbp.rewrite_model import Example, RewriteModel
from fsbp.rewrites import SymbolCosts
from fsbp.variables import Acceptor, StringTable, Variable

LETTERS = Alphabet(tuple("abcdefghijklmnopqrstuvwxyzäöüABCDEFGHIJKLMNOPQRSTUVWXYZ"))
SG, PL = Variable("SG", LETTERS), Variable("PL", LETTERS)
PAIRS = [("Tag", "Tage"), ("Weg", "Wege"), ("Haus", "Häuser"), ("Frau", "Frauen"), ("Bär", "Bären")]
MODEL = RewriteModel.from_examples(
    [Example(x, y) for x, y in PAIRS], SymbolCosts(frozenset("aeiouäöü"))
)
SINGULARS = ("Maus", "Zug", "Steg", "Жук", "Mau", "Mäus", "")
PLURALS = ("Mäuser", "Maue", "Züge", "Zuge", "Жуке", "Жуки", "Mauen", "e", "Mäusen")


def table(strings: tuple[str, ...], seed: int, floor: float = -math.inf) -> StringTable:
    return StringTable(strings, np.random.default_rng(seed).normal(size=len(strings)), floor)


def scores(factor: RewriteFactor, sources: StringTable, targets: StringTable) -> np.ndarray:
    """Return log_score plus both tables' weights, float64[X, Y]."""
    joint = [[factor.log_score({SG: x, PL: y}) for y in targets.strings] for x in sources.strings]
    return np.array(joint) + sources.log_weights_n[:, None] + targets.log_weights_n


EXPONENTS = st.floats(-1.5, 2.0)
SEEDS = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(EXPONENTS, SEEDS, st.sampled_from(["sum", "max"]))
def test_messages_equal_sums_over_the_lists(exponent: float, seed: int, semiring: Semiring) -> None:
    factor = RewriteFactor(SG, PL, MODEL, exponent)
    reduce = np.max if semiring == "max" else np.logaddexp.reduce
    sources, targets = table(SINGULARS, seed, -9.0), table(PLURALS, seed + 1)
    zeros = StringTable(PLURALS, np.zeros(len(PLURALS)))
    forwards = factor.message_to(PL, {SG: sources}, semiring)
    expected = reduce(scores(factor, sources, zeros), axis=0)
    np.testing.assert_allclose(forwards.log_weights(PLURALS), expected, atol=1e-9)
    zeros = StringTable(SINGULARS, np.zeros(len(SINGULARS)))
    backwards = factor.message_to(SG, {PL: targets}, semiring)
    expected = reduce(scores(factor, zeros, targets), axis=1)
    np.testing.assert_allclose(backwards.log_weights(SINGULARS), expected, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(EXPONENTS, SEEDS)
def test_total_and_its_gradient(exponent: float, seed: int) -> None:
    factor = RewriteFactor(SG, PL, MODEL, exponent)
    incoming = {SG: table(SINGULARS, seed, -3.0), PL: table(PLURALS, seed + 1, 0.0)}
    joint = scores(factor, incoming[SG], incoming[PL])
    assert factor.log_total(incoming, "sum") == pytest.approx(np.logaddexp.reduce(joint.ravel()))
    assert factor.log_total(incoming, "max") == pytest.approx(joint.max())
    step = 1e-5
    above, below = (
        factor.with_theta(factor.theta + sign * step).log_total(incoming, "sum") for sign in (1, -1)
    )
    (found,) = factor.expected_counts(incoming)
    assert found == pytest.approx((above - below) / (2 * step), rel=1e-6, abs=1e-9)


def test_what_no_rule_yields_scores_nothing() -> None:
    factor = RewriteFactor(SG, PL, MODEL, 2.5)
    assert factor.log_score({SG: "Steg", PL: "Bahnhof"}) == 0.0
    proposals = factor.log_evidence("Steg")
    assert max(proposals, key=proposals.__getitem__) == "Stege"
    assert all(evidence > 0 for evidence in proposals.values())
    probability = MODEL.distribution("Steg")["Stege"]
    expected = 2.5 * math.log(1 + probability / factor.floor)
    assert factor.log_score({SG: "Steg", PL: "Stege"}) == pytest.approx(expected)


def test_floors_of_messages() -> None:
    factor = RewriteFactor(SG, PL, MODEL)
    message = factor.message_to(PL, {SG: point(SG, "Steg")}, "sum")
    assert isinstance(message, StringTable)
    assert message.floor == 0.0
    assert message.weight_of == pytest.approx(factor.log_evidence("Steg"))
    one_of = StringTable(("Steg", "Zug"), np.array([1.0, 2.0]))
    assert factor.message_to(PL, {SG: one_of}, "max").floor == 2.0
    assert factor.message_to(PL, {SG: one_of}, "sum").floor == pytest.approx(np.logaddexp(1, 2))
    nobody = factor.message_to(SG, {PL: StringTable(("Жжж",), np.array([0.5]))}, "sum")
    assert nobody.log_weights(["Steg", "Жж"]) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_an_empty_list_says_nothing(semiring: Semiring) -> None:
    nothing = StringTable((), np.zeros(0), floor=0.0)
    for target, other in ((SG, PL), (PL, SG)):
        message = RewriteFactor(SG, PL, MODEL).message_to(target, {other: nothing}, semiring)
        assert (message.strings, message.floor) == ((), 0.0)


def test_too_many_strings_are_an_error() -> None:
    everything = Acceptor(universe_acceptor(len(LETTERS), 2), LETTERS)
    assert len(LETTERS) ** 2 > MAX_STRINGS
    factor = RewriteFactor(SG, PL, MODEL)
    with pytest.raises(ValueError, match="k-best"):
        factor.message_to(PL, {SG: everything}, "sum")
    with pytest.raises(ValueError, match="k-best"):
        factor.expected_counts({SG: point(SG, "Tag"), PL: everything})


def test_exponent_is_the_parameter() -> None:
    factor = RewriteFactor(SG, PL, MODEL, 0.5, floor=0.01)
    other = factor.with_theta(np.array([2.0]))
    assert (other.exponent, other.floor) == (2.0, 0.01)
    pair = {SG: "Zug", PL: "Zuge"}
    assert other.log_score(pair) == pytest.approx(4 * factor.log_score(pair))
    assert RewriteFactor(SG, PL, MODEL, 0.0).log_score(pair) == 0.0


def test_two_sources_in_a_graph() -> None:
    dative = Variable("DAT", LETTERS)
    datives = RewriteModel.from_examples(
        [Example("Tagen", "Tage"), Example("Häusern", "Häuser"), Example("Wegen", "Wege")],
        SymbolCosts(frozenset("aeiouäöü")),
    )
    factors = (RewriteFactor(SG, PL, MODEL), RewriteFactor(dative, PL, datives))
    graph = FactorGraph(factors, {"SG": "Zug", "DAT": "Zügen"})
    belief = infer(graph, KBest()).beliefs["PL"]
    listed = tuple(form for form, _ in belief.kbest(1000))
    weight_n = [
        sum(f.log_score({SG: "Zug", dative: "Zügen", PL: form}) for f in factors) for form in listed
    ]
    expected = np.exp(weight_n - np.logaddexp.reduce(weight_n))
    np.testing.assert_allclose([p for _, p in belief.kbest(1000)], expected, atol=1e-9)
    assert listed[0] == "Züge"


def test_a_hidden_source() -> None:
    prior = StringTable(("Tag", "Weg"), np.log([0.25, 0.75]))
    graph = FactorGraph((AcceptorFactor(SG, prior), RewriteFactor(SG, PL, MODEL)))
    beliefs = infer(graph.observe({"PL": "Tage"}), KBest()).beliefs
    factor = RewriteFactor(SG, PL, MODEL)
    odds = math.exp(factor.log_score({SG: "Tag", PL: "Tage"})) / 3
    expected = {"Tag": odds / (1 + odds), "Weg": 1 / (1 + odds)}
    assert dict(beliefs["SG"].kbest(2)) == pytest.approx(expected)
