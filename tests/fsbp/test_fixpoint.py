import numpy as np
import pytest

from fsbp import fixpoint
from fsbp.arrays import ArcArrays
from fsbp.fixpoint import DivergentSumError
from fsbp.pathsum import backward, forward, log_total
from tests.machines import loop


def ring(size, weight, exit_weight=0.0):
    """A cycle of so many states whose arcs weigh so much together; the first may stop."""
    states = np.arange(size)
    final_s = np.full(size, -np.inf)
    final_s[0] = exit_weight
    label_a = np.ones(size)
    weight_a = np.full(size, weight / size)
    return ArcArrays.from_arcs(0, final_s, states, label_a, label_a, (states + 1) % size, weight_a)


@pytest.mark.parametrize("weight", [1.0, 1.1, 5.0, 1e300])
def test_divergent_loops_raise(weight):
    with pytest.raises(DivergentSumError, match="length_restricted"):
        log_total(loop(weight))


@pytest.mark.parametrize("weight", [1e-300, 0.5, 0.9, 1 - 1e-9])
def test_geometric_series(weight):
    assert log_total(loop(weight)) == pytest.approx(-np.log1p(-weight), rel=1e-6, abs=1e-15)


def test_two_loops_that_diverge_only_together():
    two = ArcArrays.from_arcs(0, [0.0], [0, 0], [1, 2], [1, 2], [0, 0], np.log([0.6, 0.5]))
    with pytest.raises(DivergentSumError):
        log_total(two)


@pytest.mark.parametrize("size", [2, 50, fixpoint.DENSE_STATES + 50])
def test_rings_dense_and_sparse(size):
    assert log_total(ring(size, np.log(0.75))) == pytest.approx(np.log(4.0), rel=1e-12)
    with pytest.raises(DivergentSumError):
        log_total(ring(size, np.log(1.001)))
    with pytest.raises(DivergentSumError):
        log_total(ring(size, 0.0))


def test_weights_far_beyond_floating_range():
    up_and_down = ArcArrays.from_arcs(
        0, [-np.inf, 900.0], [0, 1], [1, 1], [1, 1], [1, 0], [2000.0, -2000.0 + np.log(0.5)]
    )
    assert log_total(up_and_down) == pytest.approx(2900.0 + np.log(2.0), rel=1e-14)
    tiny = ArcArrays.from_arcs(0, [-np.inf, 0.0], [0, 1], [1, 1], [1, 1], [1, 0], [-900.0, -900.0])
    np.testing.assert_allclose(backward(tiny), [-900.0, 0.0])
    np.testing.assert_allclose(forward(tiny), [0.0, -900.0])


def test_divergence_off_every_accepting_path_is_harmless():
    dead_end = ArcArrays.from_arcs(
        0, [0.0, -np.inf, 0.0], [0, 1, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 2], [1.0] * 4
    )
    assert log_total(dead_end) == 0.0


def test_best_path_around_cycles():
    assert log_total(loop(1.0), "max") == 0.0
    assert log_total(loop(0.5), "max") == 0.0
    with pytest.raises(DivergentSumError, match="gains"):
        log_total(loop(1.001), "max")
    assert log_total(ring(7, -0.1, exit_weight=3.0), "max") == 3.0


@pytest.mark.parametrize("gain", [0.3, 0.9, 0.99])
def test_large_components_equal_the_dense_solution(
    gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cycles that weigh little settle by sweeps, others are factorised."""
    rng = np.random.default_rng(3)
    size = fixpoint.DENSE_STATES + 20
    source_a, target_a = rng.integers(0, size, size=(2, 8_000)).astype(np.int32)
    into_a = np.bincount(source_a, minlength=size)[source_a]
    weight_a = np.log(gain / into_a)
    final_s = rng.normal(size=size)
    swept = fixpoint.completions(source_a, target_a, weight_a, final_s, "sum")
    monkeypatch.setattr(fixpoint, "DENSE_STATES", size)
    dense = fixpoint.completions(source_a, target_a, weight_a, final_s, "sum")
    np.testing.assert_allclose(swept, dense, rtol=1e-11, atol=1e-11)
