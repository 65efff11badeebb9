from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pynini
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import log_sum_exp
from fsbp.edit_channel import EditChannel
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.edit import EditFactor
from fsbp.factors.tempered import TemperedFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import Status, infer
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import history_automaton
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.variables import Acceptor, StringPotential, StringTable, Variable
from tests.cases import ALPHABET, STRINGS, S, T, random_machine, random_table, transducer_factor

W, SURFACE = Variable("W", ALPHABET), Variable("surface", ALPHABET)
SHORT = ("", "a", "b", "ab")
FACTOR = ConcatenationFactor((S, T), W)


def test_score_is_equality() -> None:
    assert FACTOR.log_score({S: "a", T: "ba", W: "aba"}) == 0.0
    assert FACTOR.log_score({S: "ab", T: "a", W: "aba"}) == 0.0
    assert FACTOR.log_score({S: "a", T: "b", W: "ba"}) == -np.inf


def test_lists_join_and_cut() -> None:
    stems, affixes = (
        StringTable(("a", "ab"), np.array([1.0, 2.0])),
        StringTable(("b", ""), np.array([0.5, 0.25])),
    )
    joined = FACTOR.message_to(W, {S: stems, T: affixes}, "sum")
    assert isinstance(joined, StringTable)
    assert joined.weight_of["ab"] == pytest.approx(np.logaddexp(1.5, 2.25))
    cut = FACTOR.message_to(S, {T: affixes, W: StringTable(("ab",), np.zeros(1))}, "max")
    assert isinstance(cut, StringTable)
    assert cut.weight_of == {"a": 0.5, "ab": 0.25}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_lists_and_machines_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = {variable: random_table(rng) for variable in (S, T, W)}
    machines = {variable: table.to_acceptor(ALPHABET) for variable, table in tables.items()}
    for target in (S, T, W):
        listed = FACTOR.message_to(target, tables, "sum").log_weights(STRINGS)
        machine = FACTOR.message_to(target, machines, "sum")
        assert isinstance(machine, Acceptor)
        np.testing.assert_allclose(machine.log_weights(STRINGS), listed, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("semiring", ["sum", "max"])
def test_three_parts_are_two_twice(semiring: str) -> None:
    rng = np.random.default_rng(1)
    middle, whole = Variable("M", ALPHABET), Variable("V", ALPHABET)
    flat = ConcatenationFactor((S, T, middle), whole)
    tables = {v: random_table(rng) for v in (S, T, middle, whole)}
    inner = FACTOR.message_to(W, tables, semiring)
    nested = ConcatenationFactor((W, middle), whole)
    expected = nested.message_to(whole, {W: inner, middle: tables[middle]}, semiring)
    found = flat.message_to(whole, tables, semiring)
    np.testing.assert_allclose(found.log_weights(STRINGS), expected.log_weights(STRINGS))
    weights = []
    for text in STRINGS:
        rows = [
            tables[S].log_weights([head])[0]
            + tables[middle].log_weights([tail])[0]
            + tables[whole].log_weights([head + text + tail])[0]
            for head in tables[S].strings
            for tail in tables[middle].strings
        ]
        weights.append(max(rows) if semiring == "max" else np.logaddexp.reduce(rows))
    np.testing.assert_allclose(flat.message_to(T, tables, semiring).log_weights(STRINGS), weights)


def test_ngram_messages_are_machines() -> None:
    automaton = history_automaton([(0, 1)], 2)
    row_hs = np.log(np.tile([0.3, 0.3, 0.4], (len(automaton.histories), 1)))
    ngram = NgramPotential(automaton, ALPHABET, row_hs)
    sent = FACTOR.message_to(W, {S: ngram, T: ngram}, "sum")
    expected = 3 * 0.3**2 * 0.4**2
    assert np.exp(sent.log_weights(["ab"])[0]) == pytest.approx(expected)
    assert sent.log_total() == pytest.approx(0.0, abs=1e-9)


def test_maximum_of_machines_is_scored() -> None:
    rng = np.random.default_rng(4)
    uniform = Acceptor(universe_acceptor(2), ALPHABET)
    machine = random_machine(rng)
    sent = FACTOR.message_to(W, {S: uniform, T: machine}, "max")
    expected = max(machine.log_weights(["", "a", "ba"]))
    assert sent.log_weights(["ba"])[0] == pytest.approx(expected)
    with pytest.raises(DivergentSumError):
        sent.k_best(1)


def test_tokens_are_joined_by_their_separator() -> None:
    words = Alphabet(("be", "not", "to"), separator=" ")
    first, second, third = (Variable(name, words) for name in "xyz")
    factor = ConcatenationFactor((first, second), third)
    assert factor.log_score({first: "to be", second: "not", third: "to be not"}) == 0.0
    whole = StringTable(("to be",), np.zeros(1))
    cut = factor.message_to(first, {second: StringTable(("be",), np.zeros(1)), third: whole}, "sum")
    assert isinstance(cut, StringTable)
    assert cut.strings == ("to",)


def test_wrong_variables_are_refused() -> None:
    with pytest.raises(ValueError, match="two or more"):
        ConcatenationFactor((S,), W)
    with pytest.raises(ValueError, match="twice"):
        ConcatenationFactor((S, S), W)


def tied_potential(strings: Sequence[str], kind: str, rng: np.random.Generator) -> StringPotential:
    """Return weights with ties, as a list, or as a machine in which half the strings count twice.

    Any more paths would not change what ties mean; two make the sum over paths differ from the
    best path.
    """
    table = StringTable(tuple(strings), rng.integers(-2, 1, size=len(strings)).astype(np.float64))
    if kind == "list":
        return table
    half = StringTable(table.strings[::2], table.log_weights_n[::2])
    machines = [part.to_acceptor(ALPHABET).fst for part in (table, half)]
    return Acceptor(pynini.union(*machines), ALPHABET)


def best_by_value(
    parts: Sequence[Variable],
    potential_of: Mapping[Variable, StringPotential],
    last: Factor | None,
) -> dict[str, dict[str, float]]:
    """Return every variable's max-marginals, by going through all strings of the parts."""
    best: dict[str, dict[str, float]] = defaultdict(dict)
    surfaces = SHORT if last is not None else ("",)
    for texts in itertools.product(SHORT, repeat=len(parts)):
        total = 0.0
        values = dict(zip(parts, texts, strict=True))
        values[W] = "".join(texts)
        for variable, potential in potential_of.items():
            if variable in values:
                total += potential.log_weights([values[variable]])[0]
        for surface in surfaces:
            values[SURFACE] = surface
            score = total
            if last is not None:
                score += last.log_score(values) + potential_of[SURFACE].log_weights([surface])[0]
            for variable, text in values.items():
                best[variable.name][text] = max(score, best[variable.name].get(text, -np.inf))
    return best


def relations() -> dict[str, Factor | None]:
    """Return what may stand between the whole and a surface; None for nothing."""
    transducer = transducer_factor(W, SURFACE, np.random.default_rng(3))
    return {
        "alone": None,
        "edit": EditFactor(W, SURFACE, EditChannel.uniform(ALPHABET, 0.1, 0.2, 0.2)),
        "transducer": transducer,
        "tempered": TemperedFactor(transducer, 0.5),
    }


@pytest.mark.parametrize("relation", ["alone", "edit", "transducer", "tempered"])
@pytest.mark.parametrize("kinds", [*itertools.product(["list", "machine"], repeat=2)])
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("family", [Exact(), KBest(k=400, backoff=math.inf)], ids=["exact", "list"])
def test_maxima_agree_with_enumeration(
    relation: str, kinds: Sequence[str], count: int, family: MessageFamily
) -> None:
    rng = np.random.default_rng(count)
    parts = [Variable(f"part{n}", ALPHABET) for n in range(count)]
    potential_of = {v: tied_potential(SHORT, kinds[n % 2], rng) for n, v in enumerate(parts)}
    last = relations()[relation]
    if last is not None:
        potential_of[SURFACE] = tied_potential(SHORT, kinds[1], rng)
    factors = [ConcatenationFactor(tuple(parts), W), *([last] if last is not None else [])]
    unary = [AcceptorFactor(variable, own) for variable, own in potential_of.items()]
    result = infer(FactorGraph((*factors, *unary)), family, "max")
    assert result.status is Status.CONVERGED
    for name, best_of in best_by_value(parts, potential_of, last).items():
        if name == SURFACE.name and last is None:
            continue
        best = max(best_of.values())
        assert result.log_partition == pytest.approx(best, abs=1e-9)
        belief = dict(result.beliefs[name].kbest(len(best_of)))
        expected = {text: np.exp(weight - best) for text, weight in best_of.items()}
        assert belief == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("is_tied", [True, False])
def test_maxima_of_long_lists_are_found_at_once(count: int, is_tied: bool) -> None:
    """Thousands of strings per part, of which many pairs make the same whole."""
    strings = tuple("a" * i + "b" * j for i in range(50) for j in range(50))
    weights = np.zeros(len(strings))
    if not is_tied:
        weights = np.random.default_rng(0).normal(size=len(strings))
    long = StringTable(strings, weights)
    parts = [Variable(f"part{n}", ALPHABET) for n in range(count)]
    factor = ConcatenationFactor(tuple(parts), W)
    started = time.process_time()
    sent = factor.message_to(W, dict.fromkeys(parts, long), "max")
    best = sent.k_best(20)
    assert time.process_time() - started < 5.0
    assert best.log_weights_n[0] == pytest.approx(count * weights.max())
    np.testing.assert_allclose(sent.log_weights(best.strings), best.log_weights_n)


@pytest.mark.parametrize("seed", range(3))
def test_best_rests_of_an_endless_whole_are_exact(seed: int) -> None:
    """The whole has more strings than a list may hold, but the best of them tell."""
    rng = np.random.default_rng(seed)
    automaton = history_automaton([(0, 1)], 2)
    row_hs = np.log(np.tile([0.2, 0.3, 0.5], (len(automaton.histories), 1)))
    whole = NgramPotential(automaton, ALPHABET, row_hs)
    tail = StringTable(SHORT, rng.integers(-1, 1, size=len(SHORT)).astype(np.float64))
    sent = FACTOR.message_to(S, {W: whole, T: tail}, "max")
    texts = [text + last for text in STRINGS for last in SHORT]
    values = whole.log_weights(texts).reshape(len(STRINGS), -1) + tail.log_weights_n
    np.testing.assert_allclose(sent.log_weights(STRINGS), values.max(axis=1))
    best = sent.k_best(4)
    np.testing.assert_allclose(best.log_weights_n, np.sort(values.max(axis=1))[::-1][:4])
    np.testing.assert_allclose(best.log_weights_n, sent.log_weights(best.strings))


def test_a_maximum_without_limits_is_constant() -> None:
    rng = np.random.default_rng(4)
    machine, table = random_machine(rng), random_table(rng)
    middle = Variable("M", ALPHABET)
    factor = ConcatenationFactor((S, T, middle), W)
    best = machine.log_total("max") + table.log_total("max")
    incoming = {S: machine, middle: table}
    anything = StringTable((), np.zeros(0), floor=-1.0)
    unlimited = Acceptor(universe_acceptor(len(ALPHABET)), ALPHABET)
    said = factor.message_to(T, {**incoming, W: anything}, "max")
    np.testing.assert_allclose(said.log_weights(STRINGS), best - 1.0)
    said = factor.message_to(T, {**incoming, W: unlimited}, "max")
    np.testing.assert_allclose(said.log_weights(STRINGS), best)


def test_a_maximum_out_of_reach_names_the_remedy() -> None:
    many = Acceptor(universe_acceptor(len(ALPHABET), 14), ALPHABET)
    with pytest.raises(MachineTooLargeError, match="k-best"):
        FACTOR.message_to(S, {T: many, W: many}, "max")


MARK = "\u0301"
MARKED = Alphabet(("b", "e", "e" + MARK, MARK))


@pytest.mark.parametrize("semiring", ["sum", "max"])
@pytest.mark.parametrize("as_machines", [False, True])
def test_combining_marks_join_no_other_part(semiring: Semiring, as_machines: bool) -> None:
    """A part that begins with a mark fits nothing before it, to the score as to the messages."""
    stem, affix, whole = (Variable(name, MARKED) for name in "xyz")
    factor = ConcatenationFactor((stem, affix), whole)
    strings = {
        stem: ("", "e", "eb"),
        affix: ("", "b", MARK, MARK + "b"),
        whole: ("", "b", "e", "eb", "e" + MARK, "e" + MARK + "b", MARK, MARK + "b", "ebb"),
    }
    assert factor.log_score({stem: "e", affix: MARK, whole: "e" + MARK}) == -np.inf
    assert factor.log_score({stem: "", affix: MARK, whole: MARK}) == 0.0
    scores = factor.log_scores([strings[v] for v in factor.variables])
    incoming: dict[Variable, StringPotential] = {
        v: StringTable(texts, np.zeros(len(texts))) for v, texts in strings.items()
    }
    if as_machines:
        incoming = {v: table.to_acceptor(MARKED) for v, table in incoming.items()}
    combine = np.max if semiring == "max" else log_sum_exp
    for axis, target in enumerate(factor.variables):
        others = tuple(n for n in range(3) if n != axis)
        expected = combine(scores, axis=others)
        sent = factor.message_to(target, incoming, semiring)
        assert isinstance(sent, StringPotential)
        np.testing.assert_allclose(sent.log_weights(strings[target]), expected, atol=1e-9)
        possible = {t for t, w in zip(strings[target], expected, strict=True) if w > -np.inf}
        found = sent.k_best(20)
        assert possible == {
            t
            for t, w in zip(found.strings, found.log_weights_n, strict=True)
            if t in strings[target] and w > -np.inf
        }
        if target == whole:
            assert set(found.strings) == possible
