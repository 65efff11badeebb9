"""Loops of strings: messages stay bounded, and beliefs come near the truth of enumeration."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from fsbp.arrays import log_sum_exp
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_strings
from fsbp.inference.propagation import Result, Status, infer
from fsbp.messages.base import MessageFamily
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram
from fsbp.messages.particle import Particle
from fsbp.ngrams import full_history_automaton, ngram_acceptor
from fsbp.variables import Acceptor, StringPotential, StringTable, Variable
from tests.cases import ALPHABET, TOPOLOGY

UNBOUNDED = Exact(max_arcs_on_loops=10**7)
X, Y = Variable("X", ALPHABET), Variable("Y", ALPHABET)
STEMS, SUFFIXES = ("s1", "s2"), ("u1", "u2")
WORD_OF = {
    pair: f"w{number}" for number, pair in enumerate(itertools.product(STEMS, SUFFIXES), start=1)
}
SEEN = dict(zip(WORD_OF.values(), ("ab", "a", "bb", "b"), strict=True))
MORPHS = enumerate_strings(ALPHABET, 1)
NOISE = TOPOLOGY.theta({"copy": -0.2, "substitute": -2.0, "insert": -2.5, "delete": -2.5})


def language(n: int = 2) -> Acceptor:
    """Return a proper distribution over all strings."""
    labels = [ALPHABET.labels(text) for text in ("ab", "abab", "aab", "b")]
    return Acceptor(ngram_acceptor(labels, len(ALPHABET), n), ALPHABET)


def cycle() -> FactorGraph:
    """Return the slides' cycle: two strings, tied by two relations that insert and delete."""
    theta = TOPOLOGY.theta({"copy": -0.3, "substitute": -4.0, "insert": -4.0, "delete": -4.0})
    links = (TransducerFactor(X, Y, TOPOLOGY, theta), TransducerFactor(X, Y, TOPOLOGY, theta))
    return FactorGraph((AcceptorFactor(X, language()), AcceptorFactor(Y, language()), *links))


def largest_message(family: MessageFamily, updates: int) -> int:
    """Return the number of arcs, or of listed strings, of the largest belief."""
    sizes = []
    for belief in infer(cycle(), family, max_updates=updates).beliefs.values():
        if isinstance(belief.potential, StringTable):
            sizes.append(len(belief.potential.strings))
        else:
            potential = belief.potential
            assert isinstance(potential, StringPotential)
            sizes.append(potential.to_acceptor(ALPHABET).arrays.num_arcs)
    return max(sizes)


def test_messages_around_a_cycle_grow_when_exact() -> None:
    assert largest_message(UNBOUNDED, 6) > 5 * largest_message(UNBOUNDED, 4)


@pytest.mark.parametrize(
    ("family", "bound"),
    [
        (Exact(), 3_000),
        (KBest(8), 32),
        (Ngram(2), 2 * len(full_history_automaton(2, 2).histories)),
        (Ngram("adaptive", penalty=0.005, max_order=3), 2 * 7),
    ],
    ids=["exact", "kbest", "ngram-two", "ngram-adaptive"],
)
def test_messages_around_a_cycle_stay_bounded(family: MessageFamily, bound: int) -> None:
    assert largest_message(family, 6) <= bound
    assert largest_message(family, 60) <= bound


def test_ngrams_converge_around_a_cycle() -> None:
    result = infer(cycle(), Ngram(2), tolerance=1e-6, max_updates=400)
    assert result.status is Status.CONVERGED
    assert result.beliefs["X"].kbest(1)[0][0] in ("", "ab", "b")
    assert math.isfinite(result.log_partition)


def test_damping_reaches_the_same_beliefs() -> None:
    plain = infer(cycle(), Ngram(2), tolerance=1e-5)
    slow = infer(cycle(), Ngram(2), tolerance=1e-5, damping=0.3)
    assert slow.status is Status.CONVERGED
    for name, belief in plain.beliefs.items():
        assert slow.beliefs[name].log_prob("ab") == pytest.approx(belief.log_prob("ab"), abs=1e-2)


def words(seed: int, are_lists: bool) -> FactorGraph:
    """Return two stems and two suffixes of at most one symbol, and the four words they make.

    Words are seen through a channel of edits; morphs have opinions of their own.
    """
    rng = np.random.default_rng(seed)
    named = {name: Variable(name, ALPHABET) for name in (*STEMS, *SUFFIXES, *WORD_OF.values())}
    factors: list[Factor] = []
    for name in (*STEMS, *SUFFIXES):
        table = StringTable(MORPHS, rng.normal(size=len(MORPHS)))
        opinion = table if are_lists else table.to_acceptor(ALPHABET)
        factors.append(AcceptorFactor(named[name], opinion))
    for (stem, suffix), word in WORD_OF.items():
        factors.append(ConcatenationFactor((named[stem], named[suffix]), named[word]))
        factors.append(
            TransducerFactor(named[word], Variable(f"seen {word}", ALPHABET), TOPOLOGY, NOISE)
        )
    return FactorGraph(tuple(factors)).observe({f"seen {word}": s for word, s in SEEN.items()})


@functools.cache
def truth(seed: int) -> tuple[float, dict[str, dict[str, float]]]:
    """Return log Z and the marginals by brute force: the morphs decide what the words are."""
    graph = words(seed, are_lists=True)
    score_of: dict[tuple[tuple[str, str], ...], float] = {}
    for texts in itertools.product(MORPHS, repeat=4):
        value_of = dict(zip((*STEMS, *SUFFIXES), texts, strict=True))
        value_of |= {word: value_of[a] + value_of[b] for (a, b), word in WORD_OF.items()}
        assignment = {graph.variable(n): v for n, v in {**value_of, **graph.evidence}.items()}
        total = math.fsum(factor.log_score(assignment) for factor in graph.factors)
        score_of[tuple(value_of.items())] = total
    log_partition = float(log_sum_exp(list(score_of.values())))
    marginals: dict[str, dict[str, float]] = {}
    for values, score in score_of.items():
        for name, value in values:
            row = marginals.setdefault(name, {})
            row[value] = row.get(value, 0.0) + math.exp(score - log_partition)
    return log_partition, marginals


def largest_error(result: Result, marginals: dict[str, dict[str, float]]) -> float:
    return max(
        abs(math.exp(result.beliefs[name].log_prob(value)) - probability)
        for name, row in marginals.items()
        for value, probability in row.items()
    )


@pytest.mark.parametrize("are_lists", [True, False], ids=["lists", "machines"])
@pytest.mark.parametrize(
    ("family", "error_of_z", "error"),
    [
        (Exact(), 0.02, 0.02),
        (Exact(max_arcs=200, overflow=30), 0.02, 0.02),
        (KBest(10), 0.02, 0.02),
        (Particle(50), 0.05, 0.05),
        (Ngram(3), 0.02, 0.02),
        (Ngram("adaptive"), 0.05, 0.05),
        (Ngram(2), 1.0, 0.7),
    ],
    ids=["exact", "exact-bounded", "kbest", "particles", "three", "adaptive", "two"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_words_that_share_stems_and_suffixes(
    seed: int, family: MessageFamily, error_of_z: float, error: float, are_lists: bool
) -> None:
    """Loops cost a hundredth of a probability; bigrams cannot tell "a" from "aa", and cost more.

    Machines that are now within a bound and now replaced by their best strings may change for ever,
    but not by much.
    """
    log_partition, marginals = truth(seed)
    result = infer(words(seed, are_lists), family, tolerance=1e-4, max_updates=400)
    if family.max_arcs != 200:
        assert result.status is Status.CONVERGED
    assert result.log_partition == pytest.approx(log_partition, abs=error_of_z)
    assert largest_error(result, marginals) < error


def test_exact_messages_on_loops_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    """Stems and suffixes of any length: machines would grow for ever."""
    factors = [
        AcceptorFactor(f.variable, language()) if isinstance(f, AcceptorFactor) else f
        for f in words(0, are_lists=True).factors
    ]
    graph = FactorGraph(tuple(factors)).observe({f"seen {word}": s for word, s in SEEN.items()})
    result = infer(graph, Exact(max_arcs_on_loops=1_000), tolerance=1e-3, max_updates=80)
    assert result.status in (Status.CONVERGED, Status.MAX_STEPS)
    assert "best strings" in caplog.text
    lists = infer(graph, KBest(20), tolerance=1e-3)
    assert result.log_partition == pytest.approx(lists.log_partition, abs=0.02)


def test_exact_messages_have_their_own_bound_on_loops() -> None:
    assert Exact(max_arcs=100).on_loops().max_arcs == 100
    assert Exact().on_loops().max_arcs == Exact().max_arcs_on_loops
    assert Exact(overflow=0).on_loops().max_arcs == Exact().max_arcs
    assert KBest().on_loops() == KBest()
