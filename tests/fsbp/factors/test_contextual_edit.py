"""Messages of contextual edits against sums over lists, and the search for what they propose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.contextual_edits import ContextualEdits, EditExample
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.contextual_edit import BEAM, EDIT_FLOOR, ContextualEditFactor
from fsbp.factors.evidence import MAX_STRINGS
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.pathsum import Semiring
from fsbp.potentials import point
from fsbp.rewrites import SymbolCosts
from fsbp.variables import Acceptor, StringTable, Variable

LETTERS = Alphabet(tuple("abcdefghijklmnopqrstuvwxyzäöüABCDEFGHIJKLMNOPQRSTUVWXYZ"))
SG, PL = Variable("SG", LETTERS), Variable("PL", LETTERS)
PAIRS = [("Tag", "Tage"), ("Weg", "Wege"), ("Haus", "Häuser"), ("Frau", "Frauen"), ("Bär", "Bären")]
GROUPS = ("cell PL",)
MODEL = ContextualEdits.from_examples(
    [EditExample(x, y, GROUPS) for x, y in PAIRS] + [EditExample(x, x) for x, _ in PAIRS],
    SymbolCosts(frozenset("aeiouäöü")),
)
SINGULARS = ("Maus", "Zug", "Steg", "Жук", "Mau", "Mäus", "")
PLURALS = ("Mäuser", "Maue", "Züge", "Zuge", "Жуке", "Жуки", "Mauen", "e", "Mäusen")
EXPONENTS = st.floats(-1.5, 2.0)
SEEDS = st.integers(0, 2**32 - 1)


def factor_of(exponent: float = 1.0, floor: float = EDIT_FLOOR) -> ContextualEditFactor:
    return ContextualEditFactor(SG, PL, MODEL, GROUPS, exponent, floor)


def table(strings: tuple[str, ...], seed: int, floor: float = -math.inf) -> StringTable:
    return StringTable(strings, np.random.default_rng(seed).normal(size=len(strings)), floor)


def scores(factor: ContextualEditFactor, sources: StringTable, targets: StringTable) -> np.ndarray:
    """Return log_score plus both tables' weights, float64[X, Y]."""
    joint = [[factor.log_score({SG: x, PL: y}) for y in targets.strings] for x in sources.strings]
    return np.array(joint) + sources.log_weights_n[:, None] + targets.log_weights_n


def test_the_score_is_the_log_evidence() -> None:
    factor = factor_of(2.5, floor=0.01)
    log_prob = float(MODEL.log_probs("Steg", ["Stege"], GROUPS)[0])
    assert math.exp(log_prob) > 0.05
    expected = 2.5 * math.log(1 + math.exp(log_prob) / 0.01)
    assert factor.log_score({SG: "Steg", PL: "Stege"}) == pytest.approx(expected)
    assert factor.log_score({SG: "Steg", PL: "Жuk"}) == 0.0, "no edit writes this"
    elsewhere = ContextualEditFactor(SG, PL, MODEL, (), 2.5, 0.01)
    assert elsewhere.log_score({SG: "Steg", PL: "Steg"}) > factor.log_score(
        {SG: "Steg", PL: "Steg"}
    )


@settings(max_examples=40)
@given(EXPONENTS, SEEDS, st.sampled_from(["sum", "max"]))
def test_messages_equal_sums_over_the_lists(exponent: float, seed: int, semiring: Semiring) -> None:
    factor = factor_of(exponent)
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


@settings(max_examples=40)
@given(EXPONENTS, SEEDS)
def test_total_and_its_gradient(exponent: float, seed: int) -> None:
    factor = factor_of(exponent)
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


@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_what_messages_list(semiring: Semiring) -> None:
    """Towards the target what the beam finds for any source, towards the source nothing."""
    factor = factor_of(1.5)
    sources = StringTable(("Steg", "Zug"), np.array([1.0, 2.0]))
    message = factor.message_to(PL, {SG: sources}, semiring)
    listed = message.k_best(1000)
    proposed = [MODEL.likeliest(x, BEAM, GROUPS) for x in sources.strings]
    assert set(listed.strings) == {y for targets in proposed for y in targets}
    assert listed.floor == pytest.approx(2.0 if semiring == "max" else np.logaddexp(1.0, 2.0))
    weight_n = message.log_weights(listed.strings)
    np.testing.assert_allclose(listed.log_weights_n, weight_n)
    assert weight_n.tolist() == sorted(weight_n, reverse=True)
    assert listed.strings[0] == "Zuge"
    assert message.k_best(3).strings == listed.strings[:3]
    nobody = StringTable(("Жжж",), np.array([0.5]))
    backwards = factor.message_to(SG, {PL: nobody}, semiring)
    assert backwards.log_weights(["Steg", "Zug"]) == pytest.approx([0.5, 0.5])
    assert backwards.k_best(10).strings == ()
    assert backwards.k_best(10).floor == 0.5


@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_an_empty_list_says_nothing(semiring: Semiring) -> None:
    nothing = StringTable((), np.zeros(0), floor=0.0)
    for target, other in ((SG, PL), (PL, SG)):
        message = factor_of().message_to(target, {other: nothing}, semiring)
        assert isinstance(message, StringTable)
        assert (message.strings, message.floor) == ((), 0.0)


def test_too_many_strings_are_an_error() -> None:
    everything = Acceptor(universe_acceptor(len(LETTERS), 2), LETTERS)
    assert len(LETTERS) ** 2 > MAX_STRINGS
    factor = factor_of()
    for target, other in ((SG, PL), (PL, SG)):
        with pytest.raises(MachineTooLargeError, match="at most 1000 strings"):
            factor.message_to(target, {other: everything}, "sum")
    with pytest.raises(MachineTooLargeError, match="at most 1000 strings"):
        factor.expected_counts({SG: point(SG, "Tag"), PL: everything})


def test_few_strings_of_a_machine_are_listed() -> None:
    few = Alphabet(tuple("ab"))
    machine = Acceptor(universe_acceptor(len(few), 2), few)
    strings = ("", "a", "b", "aa", "ab", "ba", "bb")
    listed = StringTable(strings, np.zeros(len(strings)))
    factor = factor_of()
    message, expected = (
        factor.message_to(PL, {SG: incoming}, "sum").log_weights(PLURALS)
        for incoming in (machine, listed)
    )
    np.testing.assert_allclose(message, expected, atol=1e-9)


def test_exact_messages_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    """Inference ends with a status and the remedy; the message itself raises."""
    result = infer(FactorGraph((factor_of(),)).observe({"SG": "Zug"}), Exact())
    assert (result.status, result.beliefs) == (Status.TOO_LARGE, {})
    assert "use a k-best message family" in caplog.text
    with pytest.raises(MachineTooLargeError, match="use a k-best message family"):
        factor_of().message_to(PL, {SG: point(SG, "Zug")}, "sum").to_acceptor(LETTERS)


def test_exponent_is_the_parameter() -> None:
    factor = factor_of(0.5, floor=0.01)
    other = factor.with_theta(np.array([2.0]))
    assert factor.theta.tolist() == [0.5]
    assert (other.exponent, other.floor, other.groups) == (2.0, 0.01, GROUPS)
    pair = {SG: "Zug", PL: "Zuge"}
    assert other.log_score(pair) == pytest.approx(4 * factor.log_score(pair))
    assert factor_of(0.0).log_score(pair) == 0.0


def test_two_sources_in_a_graph() -> None:
    """The list of the target is what either source proposes, and both score all of it."""
    dative = Variable("DAT", LETTERS)
    pairs = [(plural + "n", plural) for plural in ("Tage", "Häuser", "Wege", "Züge", "Mäuse")]
    datives = ContextualEdits.from_examples(
        [EditExample(x, y) for x, y in pairs], SymbolCosts(frozenset("aeiouäöü"))
    )
    factors = (factor_of(), ContextualEditFactor(dative, PL, datives))
    belief = infer(FactorGraph(factors, {"SG": "Flug", "DAT": "Flügen"}), KBest()).beliefs["PL"]
    listed = [form for form, _ in belief.kbest(1000)]
    proposed = {*MODEL.likeliest("Flug", BEAM, GROUPS)}, {*datives.likeliest("Flügen", BEAM)}
    assert proposed[0] - proposed[1]
    assert proposed[1] - proposed[0]
    assert {*listed} == proposed[0] | proposed[1]
    weight_n = [
        sum(f.log_score({SG: "Flug", dative: "Flügen", PL: form}) for f in factors)
        for form in listed
    ]
    expected = np.exp(weight_n - np.logaddexp.reduce(weight_n))
    np.testing.assert_allclose([p for _, p in belief.kbest(1000)], expected, atol=1e-9)


def test_a_hidden_source() -> None:
    """What others list is scored: the source's belief follows from its prior by Bayes' rule."""
    prior = StringTable(("Tag", "Weg"), np.log([0.25, 0.75]))
    graph = FactorGraph((AcceptorFactor(SG, prior), factor_of()))
    beliefs = infer(graph.observe({"PL": "Tage"}), KBest()).beliefs
    log_scores = [factor_of().log_score({SG: x, PL: "Tage"}) for x in prior.strings]
    odds = math.exp(log_scores[0] - log_scores[1]) / 3
    assert odds > 1
    expected = {"Tag": odds / (1 + odds), "Weg": 1 / (1 + odds)}
    assert dict(beliefs["SG"].kbest(2)) == pytest.approx(expected)
