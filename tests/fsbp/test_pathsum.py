import numpy as np
import pytest
from hypothesis import given

from fsbp.arrays import ArcArrays, arrays_to_fst
from fsbp.pathsum import (
    backward,
    expected_arc_counts,
    expected_final_counts,
    forward,
    is_acyclic,
    log_total,
)
from tests.machines import enumerated_paths, loop, machines, quick, solved_total

EMPTY = ArcArrays.from_arcs(0, [-np.inf], [], [], [], [], [])


@quick
@given(machines(transducer=True))
def test_total_of_acyclic_machines_is_enumeration(arrays):
    weights = [weight for _, _, weight in enumerated_paths(arrays)]
    expected = np.logaddexp.reduce(weights, initial=-np.inf)
    assert log_total(arrays) == pytest.approx(expected, abs=1e-12)
    assert log_total(arrays, "max") == pytest.approx(max(weights, default=-np.inf), abs=1e-12)
    assert is_acyclic(arrays)


@quick
@given(machines(cyclic=True, transducer=True))
def test_total_of_cyclic_machines_is_the_linear_solution(arrays):
    with np.errstate(divide="ignore"):
        expected = np.log(solved_total(arrays))
    assert log_total(arrays) == pytest.approx(expected, abs=1e-10)
    assert log_total(arrays_to_fst(arrays)) == log_total(arrays)


@quick
@given(machines(cyclic=True))
def test_forward_and_backward_meet(arrays):
    alpha, beta = forward(arrays), backward(arrays)
    total = np.logaddexp.reduce(alpha + arrays.final_s)
    assert log_total(arrays) == pytest.approx(total, abs=1e-10)
    assert np.array_equal(alpha == -np.inf, beta == -np.inf)


@quick
@given(machines(cyclic=True, transducer=True))
def test_expected_counts_are_central_differences(arrays):
    if log_total(arrays) == -np.inf:
        return
    step = 1e-4
    for arc, count in enumerate(expected_arc_counts(arrays)):
        shift = np.zeros(arrays.num_arcs)
        shift[arc] = step
        above = log_total(arrays.with_log_weights(arrays.log_weight_a + shift))
        below = log_total(arrays.with_log_weights(arrays.log_weight_a - shift))
        assert count == pytest.approx((above - below) / (2 * step), abs=1e-7)


@quick
@given(machines(cyclic=True))
def test_visits_balance(arrays):
    if log_total(arrays) == -np.inf:
        return
    count_a, final_s = expected_arc_counts(arrays), expected_final_counts(arrays)
    arriving = np.bincount(arrays.target_a, count_a, arrays.num_states)
    arriving[arrays.start] += 1.0
    leaving = np.bincount(arrays.source_a, count_a, arrays.num_states) + final_s
    np.testing.assert_allclose(arriving, leaving, atol=1e-10)
    assert final_s.sum() == pytest.approx(1.0, abs=1e-12)


def test_loop_by_hand():
    assert expected_arc_counts(loop(0.75)).tolist() == pytest.approx([3.0], rel=1e-12)
    assert not is_acyclic(loop(0.75))


def test_empty_machines():
    assert log_total(EMPTY) == -np.inf
    assert backward(EMPTY).tolist() == [-np.inf]
    with pytest.raises(ValueError, match="accepts nothing"):
        expected_arc_counts(EMPTY)
    with pytest.raises(ValueError, match="accepts nothing"):
        expected_final_counts(EMPTY)
