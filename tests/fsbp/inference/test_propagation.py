"""Propagation against enumeration, on slides worked by hand, and on published graphs."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import universe_acceptor
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.table import TableFactor
from fsbp.factors.transducer import TransducerFactor
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.enumeration import Enumeration, enumerate_graph
from fsbp.inference.propagation import Result, Status, infer
from fsbp.inference.schedules import (
    Schedule,
    StaleQueue,
    forward_backward,
    residual,
    residual_splash,
    sequential,
    spanning_tree,
    synchronous,
)
from fsbp.messages.exact import Exact
from fsbp.messages.kbest import KBest
from fsbp.transducers import edit_topology
from fsbp.variables import Acceptor, StringPotential, StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FLAG,
    MAX_LENGTH,
    S,
    T,
    random_machine,
    switch_of_transducers,
    transducer_factor,
)
from tests.strategies import Shape, shapes, tree

SCHEDULES = (
    synchronous,
    sequential,
    residual,
    forward_backward,
    spanning_tree,
    residual_splash,
)
HARD_LISTS = KBest(k=15, backoff=math.inf)
REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "data" / "reference" / "libdai"


def assert_equals_enumeration(graph: FactorGraph, result: Result, truth: Enumeration) -> None:
    if truth.log_partition == -math.inf:
        assert result.log_partition == -math.inf
        return
    assert result.log_partition == pytest.approx(truth.log_partition, rel=1e-9, abs=1e-9)
    for variable in graph.variables:
        marginal = truth.log_marginal(variable.name)
        found = log_probs(result.beliefs[variable.name], tuple(marginal))
        likely = np.array(list(marginal.values())) > -40
        expected = np.array(list(marginal.values()))
        np.testing.assert_allclose(found[likely], expected[likely], rtol=1e-9, atol=1e-9)
        assert np.all(found[~likely] < -39)


def log_probs(belief: Belief, values: tuple[str, ...]) -> np.ndarray:
    """Return log-probabilities, all strings at once where a machine scores them."""
    if isinstance(belief.potential, StringPotential):
        return belief.potential.log_weights(values) - belief.log_total
    return np.array([belief.log_prob(value) for value in values])


@settings(max_examples=200, deadline=None)
@given(shape=shapes())
def test_trees_are_exact(shape: Shape) -> None:
    graph = tree(shape)
    assert graph.is_forest
    truth = enumerate_graph(graph, MAX_LENGTH)
    result = infer(graph)
    if truth.log_partition > -math.inf:
        assert result.status is Status.CONVERGED
    assert_equals_enumeration(graph, result, truth)


@settings(max_examples=40, deadline=None)
@given(shape=shapes())
def test_max_product_finds_the_best_assignment(shape: Shape) -> None:
    graph = tree(shape)
    truth = enumerate_graph(graph, MAX_LENGTH)
    assignment, score = truth.best()
    for family in (Exact(), HARD_LISTS):
        result = infer(graph, family, "max")
        assert result.log_partition == pytest.approx(score, rel=1e-9, abs=1e-9)
        if score > -math.inf:
            found = {name: belief.kbest(1)[0][0] for name, belief in result.beliefs.items()}
            assert found == assignment


@settings(max_examples=40, deadline=None)
@given(shape=shapes(), k=st.integers(1, 4))
def test_kbest_is_a_lower_bound_and_becomes_exact(shape: Shape, k: int) -> None:
    graph = tree(shape)
    truth = enumerate_graph(graph, MAX_LENGTH)
    pruned = infer(graph, KBest(k, backoff=math.inf))
    assert pruned.log_partition <= truth.log_partition + 1e-9
    assert_equals_enumeration(graph, infer(graph, HARD_LISTS), truth)


@settings(max_examples=20, deadline=None)
@given(shape=shapes(), data=st.data())
def test_order_does_not_matter_on_trees(shape: Shape, data: st.DataObject) -> None:
    graph = tree(shape)
    order = data.draw(st.permutations(range(len(graph.edges))))

    def drawn(graph: FactorGraph, stale: StaleQueue, step: int) -> list[list[int]]:
        return [[edge] for edge in order]

    truth = enumerate_graph(graph, MAX_LENGTH)
    for schedule in (*SCHEDULES, drawn):
        result = infer(graph, HARD_LISTS, schedule=schedule)
        if truth.log_partition > -math.inf:
            assert result.status is Status.CONVERGED
            for variable in graph.variables:
                marginal = truth.log_marginal(variable.name)
                best = max(marginal, key=marginal.__getitem__)
                found = result.beliefs[variable.name].log_prob(best)
                assert found == pytest.approx(marginal[best], rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(shape=shapes(), data=st.data())
def test_queries_limit_the_work_and_change_no_belief(shape: Shape, data: st.DataObject) -> None:
    graph = tree(shape)
    names = [variable.name for variable in graph.variables]
    queries = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    full, limited = infer(graph, HARD_LISTS), infer(graph, HARD_LISTS, queries=queries)
    assert limited.updates <= full.updates
    assert set(limited.beliefs) == set(queries)
    for name in queries:
        for (value, p), (other, q) in zip(
            full.beliefs[name].kbest(3), limited.beliefs[name].kbest(3), strict=True
        ):
            assert value == other
            assert p == pytest.approx(q, rel=1e-9)
    assert limited.log_partition == pytest.approx(full.log_partition, rel=1e-9, abs=1e-9)


def test_expected_counts_are_the_gradient_of_log_partition() -> None:
    rng = np.random.default_rng(4)
    factors = [
        AcceptorFactor(S, random_machine(rng)),
        AcceptorFactor(T, random_machine(rng)),
        switch_of_transducers(FLAG, S, T, rng),
        TableFactor((FLAG, COLOUR), rng.normal(size=(2, 3))),
    ]
    result = infer(FactorGraph(tuple(factors)))
    for f in (2, 3):
        theta, counts = factors[f].theta, result.expected_counts(f)
        for p in range(0, len(theta), 7):
            totals = []
            for sign in (2, 1, -1, -2):
                moved = theta.copy()
                moved[p] += sign * 1e-4
                others = [*factors[:f], factors[f].with_theta(moved), *factors[f + 1 :]]
                totals.append(infer(FactorGraph(tuple(others))).log_partition)
            slope = (8 * (totals[1] - totals[2]) - (totals[0] - totals[3])) / 12e-4
            assert counts[p] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_two_strings_survive_disjoint_lists() -> None:
    """With k = 2 and no back-off the lists have nothing in common; with one they live on."""
    opinions = (("a", "b"), ("ab", "ba"), ("aa", "bb"))
    graph = FactorGraph(
        tuple(AcceptorFactor(S, StringTable(words, np.array([0.0, -1.0]))) for words in opinions)
    )
    assert infer(graph, KBest(2, backoff=math.inf)).status is Status.EMPTY_BELIEF
    result = infer(graph, KBest(2))
    assert result.status is Status.CONVERGED
    assert {text for text, _ in result.beliefs["S"].kbest(3)} == {"a", "ab", "aa"}


def test_short_lists_do_not_die_in_a_chain() -> None:
    rng = np.random.default_rng(8)
    cells = [Variable(f"cell{n}", ALPHABET) for n in range(6)]
    factors = [transducer_factor(a, b, rng) for a, b in itertools.pairwise(cells)]
    opinions = [AcceptorFactor(cell, random_machine(rng)) for cell in cells]
    result = infer(FactorGraph((*factors, *opinions)), KBest(2))
    assert result.status is Status.CONVERGED
    assert all(belief.entropy() > 0 for belief in result.beliefs.values())


def test_every_message_scores_every_candidate() -> None:
    """A candidate of one machine is weighed by the other, though it is not among its best."""
    low = StringTable(("a", "b", "ab"), np.array([0.0, -1.0, -5.0])).to_acceptor(ALPHABET)
    high = StringTable(("ab", "ba"), np.array([0.0, -1.0])).to_acceptor(ALPHABET)
    graph = FactorGraph((AcceptorFactor(S, low), AcceptorFactor(S, high)))
    result = infer(graph, KBest(1, backoff=math.inf))
    assert result.beliefs["S"].kbest(2) == [("ab", 1.0)]
    assert result.log_partition == pytest.approx(-5.0)


def test_observed_variables_cut_cycles() -> None:
    rng = np.random.default_rng(2)
    middle = Variable("M", ALPHABET)
    graph = FactorGraph(
        (
            transducer_factor(S, T, rng),
            transducer_factor(T, middle, rng),
            transducer_factor(middle, S, rng),
            AcceptorFactor(S, random_machine(rng)),
            AcceptorFactor(middle, random_machine(rng)),
        )
    )
    assert not graph.is_forest
    cut = graph.observe({"T": "ab"})
    assert cut.is_forest
    assert_equals_enumeration(cut, infer(cut), enumerate_graph(cut, MAX_LENGTH))


def test_unseen_symbols_are_never_fatal() -> None:
    topology = edit_topology(ALPHABET)
    weights = topology.theta({"substitute": -3.0, "insert": -3.0, "delete": -3.0})
    opinion = AcceptorFactor(T, StringTable(("ñab", "ab", "zü"), np.zeros(3)))
    graph = FactorGraph((TransducerFactor(S, T, topology, weights), opinion))
    result = infer(graph.observe({"S": "ña"}), KBest(5))
    assert result.status is Status.CONVERGED
    assert result.beliefs["T"].kbest(1)[0][0] == "ñab"


def test_infinite_sums_are_reported() -> None:
    topology = edit_topology(ALPHABET)
    everything = Acceptor(universe_acceptor(len(ALPHABET), None), ALPHABET)
    free_insertion = TransducerFactor(S, T, topology, np.zeros(len(topology.feature_names)))
    graph = FactorGraph((AcceptorFactor(T, everything), free_insertion))
    result = infer(graph.observe({"S": "ab"}))
    assert result.status is Status.DIVERGENT_SUM
    assert math.isnan(result.log_partition)


def test_not_a_number_is_reported() -> None:
    graph = FactorGraph((TableFactor((FLAG,), np.array([math.nan, 0.0])),))
    assert infer(graph).status is Status.NONFINITE


@pytest.mark.parametrize(
    "wrong", [{"damping": 1.0}, {"max_updates": -1}, {"tolerance": -1e-9}, {"tolerance": math.nan}]
)
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        infer(FactorGraph((TableFactor((FLAG,), np.zeros(2)),)), **wrong)


# Slides 56 to 63 count soldiers: "there's 1 of me" is a log-odds of 1, and factors that enforce
# equality pass it on, so that the log-odds of a message is the number of soldiers behind it.


def soldiers(links: list[tuple[int, int]]) -> FactorGraph:
    count = 1 + max(max(link) for link in links)
    members = [Variable(f"soldier{n}", ("F", "T")) for n in range(count)]
    equal = np.where(np.eye(2) > 0, 0.0, -np.inf)
    return FactorGraph(
        (
            *(TableFactor((members[a], members[b]), equal) for a, b in links),
            *(TableFactor((member,), np.array([0.0, 1.0])) for member in members),
        )
    )


def reports(result: Result, factor: int) -> dict[str, float]:
    return {name: float(m[1] - m[0]) for name, m in result.incoming(factor).items()}


def log_odds(result: Result, soldier: int) -> float:
    belief = result.beliefs[f"soldier{soldier}"]
    return belief.log_prob("T") - belief.log_prob("F")


def test_soldiers_in_a_line() -> None:
    graph = soldiers([(n, n + 1) for n in range(5)])
    result = infer(graph)
    for n in range(5):
        behind = reports(result, n)
        assert behind[f"soldier{n}"] == pytest.approx(n + 1)
        assert behind[f"soldier{n + 1}"] == pytest.approx(5 - n)
    assert [log_odds(result, n) for n in range(6)] == pytest.approx([6.0] * 6)


def test_soldiers_in_a_tree() -> None:
    """Slides 59 to 62: branches of 7, 3 and 3 around one soldier make 14."""
    middle, fork = [(0, 1), (0, 2), (0, 3)], [(1, 4), (1, 5)]
    chains = [(4, 6), (6, 7), (5, 8), (8, 9), (2, 10), (10, 11), (3, 12), (12, 13)]
    graph = soldiers(middle + fork + chains)
    result = infer(graph)
    assert reports(result, 0) == pytest.approx({"soldier0": 3 + 3 + 1, "soldier1": 7})
    assert reports(result, 1) == pytest.approx({"soldier0": 7 + 3 + 1, "soldier2": 3})
    assert reports(result, 2) == pytest.approx({"soldier0": 7 + 3 + 1, "soldier3": 3})
    assert [log_odds(result, n) for n in range(14)] == pytest.approx([14.0] * 14)


def test_soldiers_in_a_ring_count_for_ever() -> None:
    """Slide 63: this wouldn't work correctly with a loopy graph."""
    graph = soldiers([(0, 1), (1, 2), (2, 3), (3, 0)])
    result = infer(graph, max_updates=200)
    assert result.status is Status.MAX_STEPS
    assert log_odds(result, 0) > 4 + 1


def equality_cycle() -> FactorGraph:
    """Slides 108 to 110: equality all round, and one factor says T is twice as likely as F."""
    corners = [Variable(name, ("F", "T")) for name in ("up", "right", "down", "left")]
    equal = np.where(np.eye(2) > 0, 0.0, -np.inf)
    return FactorGraph(
        (
            *(TableFactor((corners[n], corners[(n + 1) % 4]), equal) for n in range(4)),
            TableFactor((corners[0],), np.log([1.0, 2.0])),
        )
    )


def test_equality_cycle_has_the_slides_true_marginal() -> None:
    truth = enumerate_graph(equality_cycle(), 0)
    for name in ("up", "right", "down", "left"):
        assert math.exp(truth.log_marginal(name)["T"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("schedule", [synchronous, residual])
def test_equality_cycle_convinces_itself(schedule: Schedule) -> None:
    """Messages loop around: 2, 4, 8, 16, 32, ...; beliefs go to (1, 0), not (2/3, 1/3)."""
    graph = equality_cycle()
    met = []
    for max_updates in range(9, 180, 3):
        result = infer(graph, schedule=schedule, max_updates=max_updates)
        assert result.status is Status.MAX_STEPS
        to_right = result.incoming(0)["up"]
        ratio = round(math.exp(float(to_right[1] - to_right[0])), 6)
        if ratio not in met:
            met.append(ratio)
    assert met[:5] == [2.0, 4.0, 8.0, 16.0, 32.0]
    far = infer(graph, schedule=schedule, max_updates=2000)
    assert all(math.exp(belief.log_prob("T")) > 1 - 1e-9 for belief in far.beliefs.values())


def read_fg(path: Path) -> FactorGraph:
    """Read libDAI's format: labels, sizes, and non-zero entries, first variable fastest."""
    text = (line.partition("#")[0] for line in path.read_text().splitlines())
    words = iter(" ".join(text).split())
    factors = []
    for _ in range(int(next(words))):
        labels = [next(words) for _ in range(int(next(words)))]
        sizes = [int(next(words)) for _ in labels]
        table = np.full(math.prod(sizes), -np.inf)
        for _ in range(int(next(words))):
            entry = int(next(words))
            table[entry] = math.log(float(next(words)))
        variables = tuple(
            Variable(f"x{label}", tuple(str(value) for value in range(size)))
            for label, size in zip(labels, sizes, strict=True)
        )
        factors.append(TableFactor(variables, table.reshape(sizes, order="F")))
    return FactorGraph(tuple(factors))


def published_marginals(method: str) -> dict[str, list[float]]:
    """Read one method's marginals from libDAI's test output, four significant digits."""
    lines = (REFERENCE / "testfast.out").read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if line.split()[:1] == [method])
    marginals = {}
    for line in lines[begin + 1 : begin + 17]:
        name, _, numbers = line.removeprefix("# ({").partition("}, (")
        marginals[name] = [float(number) for number in numbers.rstrip(")").split(",")]
    return marginals


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="reference data are not beside the repository")
@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_published_grid(schedule: Schedule, damping: float) -> None:
    graph = read_fg(REFERENCE / "testfast.fg")
    result = infer(graph, schedule=schedule, damping=damping)
    assert result.status is Status.CONVERGED
    truth = enumerate_graph(graph, 0)
    for name, expected in published_marginals("BP_SEQFIX").items():
        found = [math.exp(result.beliefs[name].log_prob(value)) for value in ("0", "1")]
        assert found == pytest.approx(expected, rel=6e-4)
    for name, expected in published_marginals("EXACT").items():
        exact = [math.exp(truth.log_marginal(name)[value]) for value in ("0", "1")]
        assert exact == pytest.approx(expected, rel=6e-4)
    assert result.log_partition - truth.log_partition == pytest.approx(7.187e-4, rel=1e-3)
