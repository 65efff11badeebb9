import numpy as np
import pytest
from hypothesis import given

from fsbp.arrays import ArcArrays
from fsbp.fixpoint import DivergentSumError
from fsbp.reading import reader, string_log_weights
from tests.machines import SHORT_STRINGS, enumerated_strings, machines, quick, solved_string


@quick
@given(machines())
def test_strings_of_acyclic_acceptors_are_enumeration(arrays):
    for semiring in ("sum", "max"):
        expected = enumerated_strings(arrays, semiring)
        np.testing.assert_allclose(
            string_log_weights(arrays, SHORT_STRINGS, semiring),
            [expected.get(string, -np.inf) for string in SHORT_STRINGS],
            atol=1e-12,
        )


@quick
@given(machines(cyclic=True))
def test_strings_through_epsilon_cycles_are_the_linear_solution(arrays):
    with np.errstate(divide="ignore"):
        expected = np.log([solved_string(arrays, string) for string in SHORT_STRINGS])
    np.testing.assert_allclose(string_log_weights(arrays, SHORT_STRINGS), expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_dense_epsilon_cycles_are_the_linear_solution(seed):
    rng = np.random.default_rng(seed)
    size = 5
    source_a, target_a, label_a = np.indices((size, size, 3)).reshape(3, -1)
    weight_a = np.log(rng.uniform(0.0, 0.3, len(label_a)))
    arrays = ArcArrays.from_arcs(
        0, rng.normal(size=size), source_a, label_a, label_a, target_a, weight_a
    )
    np.testing.assert_allclose(
        string_log_weights(arrays, SHORT_STRINGS),
        np.log([solved_string(arrays, string) for string in SHORT_STRINGS]),
        atol=1e-10,
    )


@quick
@given(machines(cyclic=True))
def test_best_path_of_a_string_bounds_the_sum(arrays):
    best = string_log_weights(arrays, SHORT_STRINGS, "max")
    total = string_log_weights(arrays, SHORT_STRINGS)
    assert np.all(best <= total + 1e-12)
    assert np.array_equal(best == -np.inf, total == -np.inf)


@quick
@given(machines(cyclic=True))
def test_order_and_repetition_change_nothing(arrays):
    doubled = [*reversed(SHORT_STRINGS), *SHORT_STRINGS]
    once = string_log_weights(arrays, SHORT_STRINGS)
    prepared = reader(arrays)
    assert np.array_equal(string_log_weights(prepared, doubled), [*once[::-1], *once])


def test_unknown_labels_and_empty_requests():
    arrays = ArcArrays.from_arcs(0, [0.0], [0], [1], [1], [0], [-1.0])
    assert string_log_weights(arrays, [(1, 7), (1, 1), (0,)]).tolist() == [-np.inf, -2.0, -np.inf]
    assert string_log_weights(arrays, []).shape == (0,)
    nothing = ArcArrays.from_arcs(0, [-np.inf], [], [], [], [], [])
    assert string_log_weights(nothing, [()]).tolist() == [-np.inf]


@pytest.mark.parametrize("weight", [1.0, 1.1])
def test_divergent_epsilon_cycles_raise(weight):
    arrays = ArcArrays.from_arcs(0, [0.0], [0], [0], [0], [0], [np.log(weight)])
    with pytest.raises(DivergentSumError):
        string_log_weights(arrays, [()])


def test_best_paths_ignore_epsilon_cycles_that_gain_nothing():
    flat = ArcArrays.from_arcs(0, [0.0], [0], [0], [0], [0], [0.0])
    assert string_log_weights(flat, [()], "max").tolist() == [0.0]
    with pytest.raises(DivergentSumError):
        reader(ArcArrays.from_arcs(0, [0.0], [0], [0], [0], [0], [0.1]), "max")
