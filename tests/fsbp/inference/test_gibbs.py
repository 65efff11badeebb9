"""Sampling visits values as often as enumeration says, within four standard errors."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.factors.switch import SwitchFactor
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.enumeration import enumerate_graph, enumerate_strings
from fsbp.inference.gibbs import Samples, gibbs
from fsbp.variables import StringTable, Variable
from tests.cases import (
    ALPHABET,
    COLOUR,
    FLAG,
    MAX_LENGTH,
    REWRITES,
    STRINGS,
    S,
    T,
    random_machine,
    random_opinion,
    random_table,
    switch_of_acceptors,
    table_factor,
    transducer_factor,
)

MIDDLE = Variable("M", ALPHABET)
STEM, AFFIX, AFFIX_2, WORD, WORD_2, SURFACE = (
    Variable(name, ALPHABET) for name in ("s", "u", "u2", "w", "w2", "surface")
)


def full_table(rng: np.random.Generator) -> StringTable:
    return StringTable(STRINGS, rng.normal(size=len(STRINGS)))


def loop_of_lists(rng: np.random.Generator) -> list[Factor]:
    """Three strings on a cycle, each with a list, and a colour."""
    return [
        *(AcceptorFactor(v, full_table(rng)) for v in (S, T, MIDDLE)),
        RewriteFactor(S, T, REWRITES, 0.3),
        RewriteFactor(T, MIDDLE, REWRITES, 0.3),
        transducer_factor(MIDDLE, S, rng),
        switch_of_acceptors(COLOUR, T, rng),
    ]


def pair_of_machines(rng: np.random.Generator) -> list[Factor]:
    """Two strings, linked twice, whose full conditionals are products of machines."""
    return [
        AcceptorFactor(S, random_machine(rng)),
        AcceptorFactor(T, random_machine(rng)),
        transducer_factor(S, T, rng),
        transducer_factor(T, S, rng),
    ]


def loop_of_tables(rng: np.random.Generator) -> list[Factor]:
    """Three finite variables on a cycle."""
    other = Variable("other", ("x", "y"))
    pairs = ((COLOUR, FLAG), (FLAG, other), (other, COLOUR))
    return [TableFactor(pair, rng.normal(size=[len(v.values) for v in pair])) for pair in pairs]


def machine_factor(
    variable: Variable, max_length: int, rng: np.random.Generator, per_symbol: float = 0.0
) -> AcceptorFactor:
    """Return random weights of the strings of some length at most, as a machine."""
    strings = enumerate_strings(ALPHABET, max_length)
    length_n = np.array([len(text) for text in strings])
    table = StringTable(strings, rng.normal(size=len(strings)) + per_symbol * length_n)
    return AcceptorFactor(variable, table.to_acceptor(ALPHABET))


def word(rng: np.random.Generator) -> list[Factor]:
    """A stem and an affix, and the word that they make."""
    return [
        machine_factor(STEM, 2, rng),
        machine_factor(AFFIX, 1, rng),
        ConcatenationFactor((STEM, AFFIX), WORD),
        machine_factor(WORD, 3, rng),
    ]


def words_of_one_stem(rng: np.random.Generator) -> list[Factor]:
    return [
        machine_factor(STEM, 1, rng),
        *(machine_factor(affix, 1, rng) for affix in (AFFIX, AFFIX_2)),
        ConcatenationFactor((STEM, AFFIX), WORD),
        ConcatenationFactor((STEM, AFFIX_2), WORD_2),
        *(machine_factor(whole, 2, rng) for whole in (WORD, WORD_2)),
    ]


def words_that_surface_alike(rng: np.random.Generator) -> list[Factor]:
    """Two words of one stem, which an unknown surface links once more."""
    surfaces = [transducer_factor(whole, SURFACE, rng) for whole in (WORD, WORD_2)]
    return [*words_of_one_stem(rng), *surfaces, machine_factor(SURFACE, 1, rng)]


def three_parts(rng: np.random.Generator) -> list[Factor]:
    """A word, itself a part of a longer one."""
    return [
        *(machine_factor(part, 1, rng) for part in (STEM, AFFIX, AFFIX_2)),
        ConcatenationFactor((STEM, AFFIX), WORD),
        ConcatenationFactor((WORD, AFFIX_2), WORD_2),
        machine_factor(WORD_2, 3, rng),
    ]


def order_of_parts(rng: np.random.Generator) -> list[Factor]:
    """A finite variable says which part comes first."""
    orders = (
        ConcatenationFactor((STEM, AFFIX), WORD),
        ConcatenationFactor((AFFIX, STEM), WORD),
    )
    return [
        SwitchFactor(FLAG, orders, (0, 1)),
        table_factor((COLOUR, FLAG), rng),
        *(machine_factor(variable, 2, rng) for variable in (STEM, AFFIX)),
        machine_factor(WORD, 3, rng),
    ]


def doubled(rng: np.random.Generator) -> list[Factor]:
    """A word, its stem and its affix, of which two are linked once more: a cycle."""
    links = transducer_factor(STEM, WORD, rng), transducer_factor(STEM, AFFIX, rng)
    return [*word(rng), *links, machine_factor(WORD, 3, rng, per_symbol=4.0)]


def check(samples: Samples) -> None:
    """Compare the commonest values' shares with the exact marginals."""
    truth = enumerate_graph(samples.graph, MAX_LENGTH)
    for name in samples.values:
        marginal = truth.log_marginal(name)
        for value in sorted(marginal, key=lambda value: -marginal[value])[:4]:
            share, error = samples.probability(name, value)
            probability = math.exp(marginal[value])
            independent = math.sqrt(probability * (1 - probability) / len(samples.values[name]))
            assert abs(share - probability) <= 4 * max(error, independent)


@pytest.mark.parametrize(
    ("factors", "sweeps"), [(loop_of_lists, 900), (pair_of_machines, 500), (loop_of_tables, 2000)]
)
def test_shares_are_marginals(factors, sweeps: int) -> None:
    graph = FactorGraph(tuple(factors(np.random.default_rng(3))))
    check(gibbs(graph, sweeps=sweeps, burn_in=50, rng=np.random.default_rng(5)))


@pytest.mark.parametrize(
    ("factors", "observed"),
    [
        (word, {}),
        (word, {"w": "ab"}),
        (words_of_one_stem, {}),
        (words_of_one_stem, {"w": "a"}),
        (words_that_surface_alike, {"surface": "a"}),
        (three_parts, {}),
        (three_parts, {"w2": "ab"}),
        (doubled, {}),
    ],
)
def test_what_a_concatenation_links_moves_together(factors, observed: dict[str, str]) -> None:
    graph = FactorGraph(tuple(factors(np.random.default_rng(4)))).observe(observed)
    samples = gibbs(graph, sweeps=400, burn_in=10, rng=np.random.default_rng(6))
    assert not samples.frozen
    assert all(len({*particles_s}) > 1 for particles_s in samples.values.values())
    check(samples)


def test_a_switch_moves_with_what_its_branches_link() -> None:
    graph = FactorGraph(tuple(order_of_parts(np.random.default_rng(4))))
    samples = gibbs(graph, sweeps=400, rng=np.random.default_rng(6))
    assert not samples.frozen
    check(samples)


def test_words_with_a_free_surface() -> None:
    """The block of the words alternates with the surface, which is a neighbour outside."""
    graph = FactorGraph(tuple(words_that_surface_alike(np.random.default_rng(4))))
    check(gibbs(graph, sweeps=600, burn_in=20, rng=np.random.default_rng(6)))


def test_a_linked_paradigm_moves_in_overlapping_blocks() -> None:
    """Stems and affixes that combine freely make a cycle; with short words it can be counted."""
    rng = np.random.default_rng(8)
    stems, affixes = (STEM, MIDDLE), (AFFIX, AFFIX_2)
    one_symbol = StringTable(("", "a"), np.zeros(2))
    factors: list[Factor] = [AcceptorFactor(part, one_symbol) for part in (*stems, *affixes)]
    for stem in stems:
        for affix in affixes:
            whole = Variable(stem.name + affix.name, ALPHABET)
            factors.append(ConcatenationFactor((stem, affix), whole))
            factors.append(AcceptorFactor(whole, StringTable(("", "a", "aa"), rng.normal(size=3))))
    samples = gibbs(FactorGraph(tuple(factors)), sweeps=600, rng=np.random.default_rng(9))
    tables = [factor.potential for factor in factors[5::2]]
    weight_of = {}
    for parts in np.ndindex(2, 2, 2, 2):
        counts = [stem + affix for stem in parts[:2] for affix in parts[2:]]
        weight_of[parts] = math.exp(
            sum(table.log_weights_n[n] for table, n in zip(tables, counts, strict=True))
        )
    for position, part in enumerate((*stems, *affixes)):
        expected = sum(weight for parts, weight in weight_of.items() if parts[position])
        share, error = samples.probability(part.name, "a")
        assert abs(share - expected / sum(weight_of.values())) <= 4 * error


@pytest.mark.parametrize("factors", [word, words_of_one_stem])
def test_messages_out_of_bounds_leave_competing_proposals(factors) -> None:
    graph = FactorGraph(tuple(factors(np.random.default_rng(4))))
    samples = gibbs(graph, sweeps=150, burn_in=10, max_arcs=5, rng=np.random.default_rng(6))
    assert not samples.frozen
    check(samples)


def test_linked_variables_with_an_infinite_sum_are_drawn_one_by_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rng = np.random.default_rng(2)
    opinions = [AcceptorFactor(part, random_opinion(rng)) for part in (STEM, AFFIX, WORD)]
    graph = FactorGraph((*opinions, ConcatenationFactor((STEM, AFFIX), WORD)))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        samples = gibbs(graph, sweeps=3, initial={"s": "a", "u": "b", "w": "ab"})
    assert "drawn one by one" in caplog.text
    assert samples.values["w"][-1] == ("ab",)


def test_runs_with_blocks_are_reproducible() -> None:
    graph = FactorGraph(tuple(doubled(np.random.default_rng(4))))
    first, second = (
        gibbs(graph, sweeps=20, burn_in=0, rng=np.random.default_rng(9)) for _ in range(2)
    )
    assert first.values == second.values


def test_particles_of_linked_variables_fit_together() -> None:
    graph = FactorGraph(tuple(word(np.random.default_rng(4))))
    samples = gibbs(graph, sweeps=5, burn_in=0, particles=40)
    for sweep in zip(*(samples.values[name] for name in ("s", "u", "w")), strict=True):
        assert all(stem + affix == whole for stem, affix, whole in zip(*sweep, strict=True))
    check(samples)


EQUAL = TableFactor((FLAG, Variable("copy", FLAG.values)), np.log([[0.5, 1e-300], [1e-300, 0.5]]))


def test_what_never_moved_is_said(caplog: pytest.LogCaptureFixture) -> None:
    graph = FactorGraph((EQUAL, TableFactor((COLOUR,), np.zeros(3))))
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        samples = gibbs(graph, sweeps=50)
    assert samples.frozen == {"flag", "copy"}
    assert "flag, copy: one value in all 50 sweeps" in caplog.text
    assert "colour" not in caplog.text
    share, error = samples.probability("flag", "no")
    assert share in (0.0, 1.0)
    assert math.isnan(error)
    assert samples.probability("colour", "red")[1] > 0


def test_what_the_caller_names_moves_together() -> None:
    samples = gibbs(FactorGraph((EQUAL,)), sweeps=400, together=[("flag", "copy")])
    assert not samples.frozen
    assert samples.values["flag"] == samples.values["copy"]
    share, error = samples.probability("flag", "no")
    assert abs(share - 0.5) <= 4 * error


def test_what_has_one_value_is_not_frozen(caplog: pytest.LogCaptureFixture) -> None:
    only = AcceptorFactor(STEM, StringTable(("a",), np.zeros(1)))
    graph = FactorGraph((only, ConcatenationFactor((STEM, AFFIX), WORD))).observe({"w": "ab"})
    with caplog.at_level(logging.WARNING, logger="fsbp"):
        samples = gibbs(graph, sweeps=20)
    assert not samples.frozen
    assert not caplog.text
    assert samples.probability("u", "b") == (1.0, 0.0)


def test_standard_errors_are_honest() -> None:
    """Over runs, shares vary by about their stated standard error."""
    graph = FactorGraph(tuple(loop_of_tables(np.random.default_rng(3))))
    runs = [
        gibbs(graph, sweeps=300, burn_in=20, rng=np.random.default_rng(seed)).probability(
            "flag", "yes"
        )
        for seed in range(30)
    ]
    share_r, error_r = np.array(runs).T
    assert share_r.std(ddof=1) == pytest.approx(error_r.mean(), rel=0.4)


def test_many_particles_without_free_neighbours_are_exact_draws() -> None:
    rng = np.random.default_rng(7)
    graph = FactorGraph((AcceptorFactor(S, full_table(rng)), transducer_factor(S, T, rng)))
    samples = gibbs(graph.observe({"T": "ab"}), sweeps=40, burn_in=0, particles=50, rng=rng)
    assert {len(particles) for particles in samples.values["S"]} == {50}
    check(samples)


def test_particles_average_over_their_neighbours_particles() -> None:
    """A factor that allows equal values only keeps a mixture of particles a mixture."""
    equal = TableFactor((FLAG, Variable("copy", FLAG.values)), np.log([[1.0, 1e-9], [1e-9, 1.0]]))
    graph = FactorGraph((equal,))
    one, many = (gibbs(graph, sweeps=30, burn_in=0, particles=n) for n in (1, 200))
    assert len(set(one.values["flag"])) == 1
    assert {len(set(particles)) for particles in many.values["flag"][:1]} <= {1, 2}
    assert one.belief("flag").kbest(1)[0][1] == 1.0


def test_opinions_weigh_and_propose_nothing() -> None:
    rng = np.random.default_rng(2)
    floored = random_table(rng, floor=-3.0)
    opinion = random_opinion(rng)
    graph = FactorGraph((AcceptorFactor(S, floored), AcceptorFactor(S, opinion)))
    samples = gibbs(graph, sweeps=600, burn_in=20, rng=rng)
    log_weight_n = floored.log_weights_n + opinion.log_weights(floored.strings)
    probability_n = np.exp(log_weight_n - np.logaddexp.reduce(log_weight_n))
    for text, probability in zip(floored.strings, probability_n, strict=True):
        share, error = samples.probability("S", text)
        assert abs(share - probability) <= 4 * max(error, math.sqrt(probability / 600))


def test_runs_are_reproducible_and_beliefs_count() -> None:
    rng = np.random.default_rng(1)
    graph = FactorGraph((AcceptorFactor(S, full_table(rng)), table_factor((FLAG,), rng)))
    first, second = (gibbs(graph, sweeps=50, rng=np.random.default_rng(9)) for _ in range(2))
    assert first.values == second.values
    best, probability = first.belief("S").kbest(1)[0]
    assert probability == pytest.approx(first.probability("S", best)[0])
    assert math.isnan(gibbs(graph, sweeps=1).probability("S", best)[1])


def test_first_values() -> None:
    table = StringTable(("a", "b"), np.zeros(2))
    copies = RewriteFactor(S, T, REWRITES)
    graph = FactorGraph((AcceptorFactor(S, table), AcceptorFactor(T, table), copies))
    started = gibbs(graph, sweeps=1, burn_in=0, initial={"S": "b", "T": "b"})
    assert set(started.values) == {"S", "T"}
    clash = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    impossible = FactorGraph((TableFactor((FLAG, Variable("other", FLAG.values)), clash),))
    with pytest.raises(ValueError, match="agrees with the current values"):
        gibbs(impossible, initial={"flag": "no", "other": "yes"})
    with pytest.raises(ValueError, match="no first value for 'S'"):
        gibbs(FactorGraph((AcceptorFactor(S, StringTable((), np.zeros(0))),)))


@pytest.mark.parametrize("wrong", [{"sweeps": 0}, {"particles": 0}, {"draws": 0}, {"burn_in": -1}])
def test_numbers_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        gibbs(FactorGraph((TableFactor((FLAG,), np.zeros(2)),)), **wrong)
