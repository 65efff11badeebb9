"""Sums and maxima over the paths of a weighted machine, cyclic or not.

Public names: `backward`, `forward`, `log_total`, `expected_arc_counts`, `expected_final_counts`,
`is_acyclic`, and from the modules below `DivergentSumError`, `Semiring`, `string_log_weights`.
"""

import numpy as np
import numpy.typing as npt

from fsbp.arrays import ArcArrays, FloatArray, Machine, as_arrays
from fsbp.connectivity import strong_components, useful_states
from fsbp.fixpoint import DivergentSumError, Semiring, completions
from fsbp.reading import string_log_weights

__all__ = [
    "DivergentSumError",
    "Semiring",
    "backward",
    "expected_arc_counts",
    "expected_final_counts",
    "forward",
    "is_acyclic",
    "log_total",
    "string_log_weights",
]


def _useful_arcs(arrays: ArcArrays) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    useful = useful_states(arrays)
    kept = useful[arrays.source_a] & useful[arrays.target_a] & (arrays.log_weight_a > -np.inf)
    return useful, np.flatnonzero(kept)


def backward(machine: Machine, semiring: Semiring = "sum") -> FloatArray:
    """Return float64[S], the log-weight of all completions from each state.

    beta(s) = log(exp(final(s)) + sum over arcs s -> t of exp(weight + beta(t))), or the maximum
    instead of the sum. States on no accepting path of positive weight get -inf.

    Args:
        machine: Any log64 machine, epsilons and cycles allowed.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: The sum is infinite (sum), or a cycle gains weight (max).

    Cost: O(S + A log A), plus O(n^3) for a cyclic component of n states (sparse above 300).
    Source: Mohri (2002), "Semiring frameworks and algorithms for shortest-distance problems";
        Berman and Plemmons (1994), chapter 6, for the test of convergence.
    """
    arrays = as_arrays(machine)
    useful, arcs = _useful_arcs(arrays)
    return completions(
        arrays.source_a[arcs],
        arrays.target_a[arcs],
        arrays.log_weight_a[arcs],
        np.where(useful, arrays.final_s, -np.inf),
        semiring,
    )


def forward(machine: Machine, semiring: Semiring = "sum") -> FloatArray:
    """Return float64[S], the log-weight of all paths from the start to each state.

    alpha(start) counts the empty path. States on no accepting path get -inf.

    Args:
        machine: Any log64 machine, epsilons and cycles allowed.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: The sum is infinite (sum), or a cycle gains weight (max).

    Cost: That of `backward`.
    Source: That of `backward`.
    """
    arrays = as_arrays(machine)
    useful, arcs = _useful_arcs(arrays)
    begin_s = np.full(arrays.num_states, -np.inf)
    if arrays.start >= 0 and useful[arrays.start]:
        begin_s[arrays.start] = 0.0
    return completions(
        arrays.target_a[arcs],
        arrays.source_a[arcs],
        arrays.log_weight_a[arcs],
        begin_s,
        semiring,
    )


def log_total(machine: Machine, semiring: Semiring = "sum") -> float:
    """Return the log-weight of all accepting paths together (or of the best one).

    Args:
        machine: Any log64 machine, epsilons and cycles allowed.
        semiring: "sum" or "max".

    Returns:
        Nats; -inf when the machine accepts nothing.

    Raises:
        DivergentSumError: The sum is infinite (sum), or a cycle gains weight (max).

    Cost: That of `backward`.
    Source: That of `backward`.
    """
    arrays = as_arrays(machine)
    return float(backward(arrays, semiring)[arrays.start]) if arrays.start >= 0 else -np.inf


def expected_arc_counts(machine: Machine) -> FloatArray:
    """Return float64[A], how often a path drawn from the machine takes each arc.

    count(a) = exp(alpha(source) + weight + beta(target) - log_total), the derivative of the log
    total in the arc's log-weight.

    Args:
        machine: Any log64 machine with a finite, positive total weight.

    Raises:
        DivergentSumError: The sum is infinite.
        ValueError: The machine accepts nothing, so there is no path to draw.

    Cost: Twice that of `backward`.
    Source: Eisner (2016), "Inside-outside and forward-backward algorithms are just backprop".
    """
    arrays = as_arrays(machine)
    alpha, beta = forward(arrays), backward(arrays)
    if arrays.start < 0 or beta[arrays.start] == -np.inf:
        raise ValueError("the machine accepts nothing, so its arcs have no expected counts")
    log_count_a = alpha[arrays.source_a] + arrays.log_weight_a + beta[arrays.target_a]
    result: FloatArray = np.exp(log_count_a - beta[arrays.start])
    return result


def expected_final_counts(machine: Machine) -> FloatArray:
    """Return float64[S], the probability that a path drawn from the machine ends in each state.

    Args:
        machine: Any log64 machine with a finite, positive total weight.

    Raises:
        DivergentSumError: The sum is infinite.
        ValueError: The machine accepts nothing.

    Cost: That of `forward`.
    """
    arrays = as_arrays(machine)
    log_weight_s = forward(arrays) + arrays.final_s
    total = np.logaddexp.reduce(log_weight_s, initial=-np.inf)
    if total == -np.inf:
        raise ValueError("the machine accepts nothing, so no path ends anywhere")
    result: FloatArray = np.exp(log_weight_s - total)
    return result


def is_acyclic(machine: Machine) -> bool:
    """Return whether no state of the machine lies on a cycle.

    Cost: O(S + A log A).
    """
    arrays = as_arrays(machine)
    component = strong_components(arrays.source_a, arrays.target_a, arrays.num_states)
    return not np.any(component[arrays.source_a] == component[arrays.target_a])
