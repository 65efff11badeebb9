"""N-gram messages on whole graphs: symbols of several alphabets, floors, and temperatures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import log_sum_exp
from fsbp.edit_channel import EditChannel
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.edit import EditFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.annealing import anneal, tempered_graph
from fsbp.inference.enumeration import Enumeration, enumerate_graph, enumerate_strings
from fsbp.inference.propagation import Result, Status, infer
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram
from fsbp.variables import Acceptor, StringTable, Variable
from tests.cases import ALPHABET, REWRITES, TOPOLOGY, S, random_machine

LARGER = Alphabet(tuple("abxy"))
TEXTS = enumerate_strings(LARGER, 2)
CHANNELS = (ALPHABET, Alphabet(tuple("abx")), Alphabet(tuple("yab")))
SEEDS = st.integers(0, 2**32 - 1)
FAMILIES = [Ngram(4), Ngram("adaptive", penalty=0.0, max_order=4)]


def table(rng: np.random.Generator, size: int, floor: float = -math.inf) -> StringTable:
    """Return a list of short strings, many of them with symbols outside `ALPHABET`."""
    texts = rng.choice(np.array(TEXTS), size=size, replace=False).tolist()
    return StringTable(tuple(texts), rng.normal(size=size), floor)


def opinions(*tables: StringTable) -> FactorGraph:
    return FactorGraph(tuple(AcceptorFactor(S, each) for each in tables))


def words(*texts: str, floor: float = -math.inf) -> StringTable:
    return StringTable(texts, np.zeros(len(texts)), floor)


def mixed_graph(seed: int, alphabet: Alphabet, has_floors: bool) -> FactorGraph:
    """Return a tree of lists, a channel and rewrites; the same one over whatever alphabet."""
    rng = np.random.default_rng(seed)
    p, q, r = (Variable(name, alphabet) for name in "PQR")
    factors: list[Factor] = [AcceptorFactor(p, table(rng, 16))]
    for _ in range(int(rng.integers(1, 4))):
        if has_floors:
            factors.append(AcceptorFactor(p, table(rng, 3, float(rng.normal()))))
        else:
            factors.append(AcceptorFactor(p, table(rng, 12)))
    channel = EditChannel.uniform(CHANNELS[int(rng.integers(3))], 0.1, 0.1, 0.1)
    factors += [EditFactor(p, q, channel), AcceptorFactor(q, table(rng, 16))]
    if has_floors:
        pair = (p, r) if rng.random() < 0.5 else (r, p)
        factors += [RewriteFactor(*pair, REWRITES), AcceptorFactor(r, table(rng, 12))]
    order = rng.permutation(len(factors))
    return FactorGraph(tuple(factors[n] for n in order))


def check(result: Result, truth: Enumeration, error: float = 1e-6) -> None:
    """Compare with enumeration."""
    if truth.log_partition == -math.inf:
        assert result.status is Status.EMPTY_BELIEF
        return
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(truth.log_partition, abs=error)
    for name, belief in result.beliefs.items():
        for value, expected in truth.log_marginal(name).items():
            found = math.exp(belief.log_prob(value))
            assert found == pytest.approx(math.exp(expected), abs=error)


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS)
def test_symbols_outside_the_alphabet_are_those_of_a_larger_one(seed: int) -> None:
    truth = enumerate_graph(mixed_graph(seed, LARGER, has_floors=False), 2)
    for family in FAMILIES:
        check(infer(mixed_graph(seed, ALPHABET, has_floors=False), family), truth)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_floors_and_rewrites_are_exact_on_trees(seed: int) -> None:
    truth = enumerate_graph(mixed_graph(seed, LARGER, has_floors=True), 2)
    check(infer(mixed_graph(seed, ALPHABET, has_floors=True), FAMILIES[0]), truth)


@pytest.mark.parametrize(
    "lists", [(("x", "y"), ("y",)), (("x", "a"), ("y", "a")), (("xy", "a"), ("a", "z", "xy"))]
)
@pytest.mark.parametrize("family", [Ngram(2), Ngram(3), Ngram("adaptive")])
def test_lists_with_symbols_of_their_own(lists: tuple[tuple[str, ...], ...], family: Ngram) -> None:
    graph = opinions(*(words(*texts) for texts in lists))
    exact, found = infer(graph, Exact()), infer(graph, family)
    assert found.status is Status.CONVERGED
    assert found.log_partition == pytest.approx(exact.log_partition, abs=1e-6)
    for text in {text for texts in lists for text in texts}:
        expected = math.exp(exact.beliefs["S"].log_prob(text))
        assert math.exp(found.beliefs["S"].log_prob(text)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("first", "second"), [("az", "aq"), ("e\u0301", "a\u0323")])
def test_parts_with_symbols_of_their_own_make_a_whole(first: str, second: str) -> None:
    p, q, w = (Variable(name, ALPHABET) for name in "PQW")
    whole = words(first + second, second + first, "ab")
    opinions_of = ((p, words(first, "a")), (q, words(second, "b")), (w, whole))
    unary = tuple(AcceptorFactor(variable, each) for variable, each in opinions_of)
    result = infer(FactorGraph((*unary, ConcatenationFactor((p, q), w))), Ngram(4))
    assert result.status is Status.CONVERGED
    for text in (first + second, "ab"):
        assert math.exp(result.beliefs["W"].log_prob(text)) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_list_and_a_floor_settle_in_either_order(order: int, reverse: bool) -> None:
    """The total is right whatever the order: only one list has to be approximated."""
    tables = [words("a", "aa"), words("b", floor=-1.0)]
    result = infer(opinions(*(tables[::-1] if reverse else tables)), Ngram(order))
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(math.log(2.0) - 1.0, abs=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_cap_that_changes_no_listed_string_lets_the_others_in(reverse: bool) -> None:
    cap = Acceptor(universe_acceptor(2, 2), ALPHABET)
    factors = (AcceptorFactor(S, cap), AcceptorFactor(S, words("a", floor=-1.0)))
    result = infer(FactorGraph(factors[::-1] if reverse else factors), Ngram(3))
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(math.log1p(6.0 * math.exp(-1.0)), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, count=st.integers(2, 4))
def test_floors_alone_are_summed_over_all_lists(seed: int, count: int) -> None:
    """As products of tables are: disjoint lists settle at once."""
    rng = np.random.default_rng(seed)
    graph = opinions(*(table(rng, 3, float(rng.normal())) for _ in range(count)))
    exact, found = infer(graph, KBest(100)), infer(graph, Ngram(4))
    assert found.status is Status.CONVERGED
    assert found.updates <= 4 * count
    assert found.log_partition == pytest.approx(exact.log_partition, abs=1e-6)
    for text, probability in exact.beliefs["S"].kbest(20):
        assert math.exp(found.beliefs["S"].log_prob(text)) == pytest.approx(probability, abs=1e-6)


def test_rewrites_that_propose_nothing_in_common_settle() -> None:
    p, q = Variable("P", ALPHABET), Variable("Q", ALPHABET)
    graph = FactorGraph((RewriteFactor(p, S, REWRITES), RewriteFactor(q, S, REWRITES)))
    graph = graph.observe({"P": "a", "Q": "bba"})
    exact, found = infer(graph, KBest(100)), infer(graph, Ngram(5))
    assert found.status is Status.CONVERGED
    assert found.log_partition == pytest.approx(exact.log_partition, abs=1e-5)


def test_rewrites_in_a_row_say_nothing_of_what_they_do_not_know() -> None:
    p, q = Variable("P", ALPHABET), Variable("Q", ALPHABET)
    graph = FactorGraph((RewriteFactor(p, S, REWRITES), RewriteFactor(S, q, REWRITES)))
    graph = graph.observe({"P": "a"})
    exact, found = infer(graph, KBest(100)), infer(graph, Ngram(5))
    assert found.status is Status.CONVERGED
    assert found.log_partition == pytest.approx(exact.log_partition, abs=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_floor_that_never_has_a_sum_is_reported(reverse: bool) -> None:
    loose = AcceptorFactor(S, Acceptor(universe_acceptor(2, None), ALPHABET))
    factors = (AcceptorFactor(S, words("a", floor=-1.0)), loose)
    graph = FactorGraph(factors[::-1] if reverse else factors)
    assert infer(graph, Ngram(2), max_updates=100).status is Status.DIVERGENT_SUM


def noisy_pair(seed: int) -> FactorGraph:
    rng = np.random.default_rng(seed)
    p, q = Variable("P", ALPHABET), Variable("Q", ALPHABET)
    theta = TOPOLOGY.theta({"copy": -0.3, "substitute": -2.0, "insert": -2.5, "delete": -2.5})
    link = TransducerFactor(p, q, TOPOLOGY, theta)
    return FactorGraph((*(AcceptorFactor(v, random_machine(rng)) for v in (p, q)), link))


@pytest.mark.parametrize("temperature", [0.8, 0.4, 0.15])
def test_tempered_graphs_are_exact(temperature: float) -> None:
    """Powers of path sums have no machine: their best strings and the context's stand for them."""
    graph = noisy_pair(3)
    scores = enumerate_graph(graph, 3).log_score_table / temperature
    result = infer(tempered_graph(graph, temperature), Ngram(5))
    assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(log_sum_exp(scores), abs=1e-5)


def test_annealing_finds_the_best_assignment() -> None:
    graph = noisy_pair(4)
    assignment, score = enumerate_graph(graph, 3).best()
    result = anneal(graph, Ngram(5), (1.0, 0.4))
    assert result.log_partition == pytest.approx(score, abs=1e-5)
    assert {name: belief.kbest(1)[0][0] for name, belief in result.beliefs.items()} == assignment
