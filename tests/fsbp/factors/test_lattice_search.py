"""The best outputs of a transducer against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import ArcArrays
from fsbp.edit_channel import EditChannel
from fsbp.factors import lattice_search
from fsbp.factors.edit import EditFactor
from fsbp.factors.lattice import pair_lattice
from fsbp.factors.lattice_search import OutputSearch, best_outputs, output_search
from fsbp.factors.pairs import PairFactor
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.transducers import edit_topology
from fsbp.variables import Scored, StringTable, Variable
from tests.cases import ALPHABET, S, T, enumerate_strings, random_table, transducer_factor

LONG = enumerate_strings(ALPHABET, 8)


def edit_factor(rng: np.random.Generator) -> EditFactor:
    """Return a channel whose weights are no probabilities, with few insertions and deletions."""
    log_prob_pno = rng.normal(scale=0.5, size=(3, 3, 4)) - 1.0
    log_prob_pno[..., 2:] -= 1.5
    return EditFactor(S, T, EditChannel(ALPHABET, log_prob_pno))


def factor_of(kind: str, rng: np.random.Generator) -> PairFactor:
    if kind == "edit":
        return edit_factor(rng)
    return transducer_factor(S, T, rng, edit_topology(ALPHABET, history="class"))


@pytest.mark.parametrize("kind", ["edit", "transducer"])
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    to_target=st.booleans(),
    semiring=st.sampled_from(["sum", "max"]),
    exponent=st.sampled_from([0.7, 1.0, 3.0]),
)
def test_best_strings_are_those_of_enumeration(
    kind: str, seed: int, to_target: bool, semiring: Semiring, exponent: float
) -> None:
    rng = np.random.default_rng(seed)
    factor, table = factor_of(kind, rng), random_table(rng)
    target = T if to_target else S
    best = factor.best_strings(target, table, semiring, exponent, 6)
    universes = (table.strings, LONG) if to_target else (LONG, table.strings)
    score_nm = exponent * factor.log_scores(universes)
    score_nm = (score_nm if to_target else score_nm.T) + table.log_weights_n[:, None]
    reduce = np.logaddexp.reduce if semiring == "sum" else np.max
    expected = reduce(score_nm, axis=0)
    np.testing.assert_allclose(best.log_weights_n, np.sort(expected)[:-7:-1], rtol=1e-9, atol=1e-9)
    own = dict(zip(LONG, expected, strict=True))
    np.testing.assert_allclose(
        best.log_weights_n, [own[text] for text in best.strings], rtol=1e-9, atol=1e-9
    )
    assert len(set(best.strings)) == 6


@pytest.mark.parametrize("target", [S, T])
def test_a_search_finds_the_strings_of_the_machine(target: Variable) -> None:
    rng = np.random.default_rng(4)
    factor, table = edit_factor(rng), random_table(rng)
    machine = factor.message_to(target, {S: table, T: table}, "sum")
    assert isinstance(machine, Scored)
    expected = machine.bounding_acceptor.k_best(10)
    found = factor.best_strings(target, table, "sum", 1.0, 10)
    assert found.strings == expected.strings
    np.testing.assert_allclose(found.log_weights_n, expected.log_weights_n, rtol=1e-9)


def test_maxima_are_searched_for() -> None:
    table = random_table(np.random.default_rng(4))
    factor = edit_factor(np.random.default_rng(4))
    message = factor.message_to(T, {S: table}, "max")
    assert isinstance(message, Scored)
    assert message.k_best(5).strings == factor.best_strings(T, table, "max", 1.0, 5).strings
    assert "bounding_acceptor" not in vars(message)


def copier(insertion: float) -> OutputSearch:
    """Return the transducer that copies a's and inserts b's at the end of some."""
    arrays = ArcArrays.from_arcs(
        0, [-1.0, -2.0], [0, 0, 1], [1, 0, 0], [1, 2, 2], [0, 1, 1], [-0.5, -1.0, insertion]
    )
    return output_search(pair_lattice(arrays))


def test_all_outputs_when_there_are_fewer() -> None:
    search = copier(-np.inf)
    outputs, weights = best_outputs(search, [(1,)], np.array([0.5]), "sum", 2.0, 5)
    assert outputs == [(1,), (1, 2)]
    np.testing.assert_allclose(weights, [0.5 - 2 * 1.5, 0.5 - 2 * 3.5])


def test_nothing_to_read_yields_nothing() -> None:
    search = copier(-1.0)
    for inputs, log_weight_n in (([], []), ([(1,)], [-np.inf])):
        outputs, weights = best_outputs(search, inputs, np.array(log_weight_n), "sum", 1.0, 5)
        assert outputs == []
        assert len(weights) == 0


def test_labels_that_no_arc_reads_are_refused() -> None:
    search = copier(-1.0)
    outputs, _ = best_outputs(search, [(1, 9), (2,), ()], np.zeros(3), "sum", 1.0, 2)
    assert outputs == [(), (2,)]


def test_infinite_sums_are_noticed_where_they_are_reached() -> None:
    with pytest.raises(DivergentSumError):
        best_outputs(copier(0.0), [(1,)], np.zeros(1), "max", 1.0, 1)
    unreached = ArcArrays.from_arcs(0, [0.0, 0.0], [0, 1], [1, 0], [1, 1], [0, 1], [-0.5, 0.5])
    outputs, _ = best_outputs(
        output_search(pair_lattice(unreached)), [(1,)], np.zeros(1), "max", 1.0, 1
    )
    assert outputs == [(1,)]


def test_searches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_search, "MAX_CELLS", 20)
    table = StringTable(("ab", "ba"), np.zeros(2))
    with pytest.raises(MachineTooLargeError, match="outgrew"):
        edit_factor(np.random.default_rng(0)).best_strings(T, table, "sum", 1.0, 50)
