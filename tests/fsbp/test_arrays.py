import numpy as np
import pynini
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays

from fsbp.arrays import ArcArrays, arrays_to_fst, as_arrays, fst_to_arrays, log_sum_exp
from tests.machines import arc_rows, machines, quick

FIELDS = ("final_s", "source_a", "ilabel_a", "olabel_a", "target_a", "log_weight_a")


VECTOR_HEADER_BYTES = 63


def bits(arrays):
    """Every bit of the arrays, minus zero read as zero."""
    return arrays.start, *((getattr(arrays, field) + 0).tobytes() for field in FIELDS)


def body(fst):
    """The states and arcs of a machine as bytes, without the cache of known properties."""
    return fst.start(), fst.write_to_string()[VECTOR_HEADER_BYTES:]


def built_by_hand(arrays):
    fst = pynini.Fst(arc_type="log64")
    fst.add_states(arrays.num_states)
    fst.set_start(arrays.start)
    for state, log_weight in enumerate(arrays.final_s.tolist()):
        fst.set_final(state, pynini.Weight("log64", 0.0 - log_weight))
    for source, ilabel, olabel, target, log_weight in arc_rows(arrays):
        weight = pynini.Weight("log64", 0.0 - log_weight)
        fst.add_arc(source, pynini.Arc(ilabel, olabel, weight, target))
    return fst


@quick
@given(machines(cyclic=True, transducer=True), st.randoms(use_true_random=False))
def test_arrays_survive_the_machine_bit_for_bit(arrays, random):
    noisy = arrays.with_log_weights(
        np.array([weight * (1 + random.random()) for weight in arrays.log_weight_a])
    )
    assert bits(fst_to_arrays(arrays_to_fst(noisy))) == bits(noisy)


@quick
@given(machines(cyclic=True, transducer=True))
def test_machine_survives_the_arrays(arrays):
    fst = built_by_hand(arrays)
    assert bits(fst_to_arrays(fst)) == bits(arrays)
    assert body(arrays_to_fst(fst_to_arrays(fst))) == body(fst)


def test_arcs_read_as_openfst_sees_them():
    fst = pynini.Fst(arc_type="log64")
    fst.add_states(2)
    fst.set_start(1)
    fst.set_final(0, pynini.Weight("log64", 1 / 3))
    fst.add_arc(1, pynini.Arc(3, 0, pynini.Weight("log64", -0.7), 0))
    arrays = fst_to_arrays(fst)
    assert arrays.start == 1
    assert arrays.final_s.tolist() == [-1 / 3, -np.inf]
    assert (arrays.ilabel_a[0], arrays.olabel_a[0], arrays.log_weight_a[0]) == (3, 0, 0.7)
    assert arrays_to_fst(arrays) == fst
    assert arrays_to_fst(arrays).num_output_epsilons(1) == 1


def test_empty_machine():
    empty = fst_to_arrays(pynini.Fst(arc_type="log64"))
    assert (empty.start, empty.num_states, empty.num_arcs) == (-1, 0, 0)
    assert arrays_to_fst(empty).num_states() == 0


def test_symbol_tables_are_dropped():
    fst = arrays_to_fst(ArcArrays.from_arcs(0, [0.0], [0], [1], [1], [0], [-1.0]))
    table = pynini.SymbolTable()
    table.add_symbol("a")
    fst.set_input_symbols(table)
    assert fst_to_arrays(fst).num_arcs == 1
    assert fst.input_symbols() is not None


def test_other_semirings_are_refused():
    with pytest.raises(ValueError, match="log64"):
        fst_to_arrays(pynini.Fst(arc_type="standard"))


def test_from_arcs_sorts_by_source_and_keeps_order_within():
    arrays = ArcArrays.from_arcs(0, [0, 0], [1, 0, 1], [5, 6, 7], [5, 6, 7], [0, 1, 1], [1, 2, 3])
    assert arrays.ilabel_a.tolist() == [6, 5, 7]
    assert arrays.first_arc_s().tolist() == [0, 1, 3]


def test_projection_and_inversion():
    arrays = ArcArrays.from_arcs(0, [0.0], [0], [1], [2], [0], [-1.0])
    assert arrays.projected("output").ilabel_a.tolist() == [2]
    assert arrays.projected("input").olabel_a.tolist() == [1]
    assert arrays.inverted().ilabel_a.tolist() == [2]
    assert as_arrays(arrays) is arrays


@quick
@given(
    numpy_arrays(np.float64, (3, 4), elements=st.one_of(st.just(-np.inf), st.floats(-700.0, 700.0)))
)
def test_log_sum_exp(x):
    np.testing.assert_allclose(log_sum_exp(x), np.logaddexp.reduce(x, axis=None), atol=1e-12)
    np.testing.assert_allclose(log_sum_exp(x, axis=1), np.logaddexp.reduce(x, axis=1), atol=1e-12)


def test_log_sum_exp_of_nothing_and_of_large_numbers():
    assert log_sum_exp([]) == -np.inf
    assert log_sum_exp([-1e5, -1e5]) == pytest.approx(-1e5 + np.log(2), rel=1e-15)
