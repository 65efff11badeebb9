"""The fixpoint behind every path sum: beta = final + P beta, over sums or maxima.

States are taken component by component, against the arcs: a component without a cycle needs one
pass over its arcs, a cyclic one a linear system, scaled by its best paths so that every unknown
is at least 1. The cyclic system also tells whether the sum exists: with P >= 0, (I - P) x = 1 has
a solution x >= 1 exactly when the powers of P sum to something finite. Public names:
`DivergentSumError`, `Semiring`, `completions`, `divergent`.
"""

from typing import Literal, TypeAlias

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import splu

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.connectivity import csr_order, strong_components

Semiring: TypeAlias = Literal["sum", "max"]

DENSE_STATES = 300
LARGEST_VISITS = 1e13
SWEEPS = 200
SETTLED = 1e-14


class DivergentSumError(ArithmeticError):
    """The weights of the paths have no finite sum (or no maximum)."""


def divergent(semiring: Semiring) -> DivergentSumError:
    """Return the error to raise, with a text that says what to do."""
    if semiring == "max":
        return DivergentSumError("a cycle gains weight, so no path is best; cap the length")
    return DivergentSumError(
        "the cycles weigh 1 or more, so the sum over paths is infinite; "
        "cap the length (fsbp.acceptors.length_restricted) or lower the weights of the cycles"
    )


@compiled
def _pass_over_states(
    states: IntArray,
    first: IntArray,
    order: IntArray,
    target_a: IntArray,
    weight_a: FloatArray,
    beta: FloatArray,
    component: IntArray,
    best: bool,
) -> None:
    """Add to beta[states] what arcs into other components give, in the order of the states."""
    for state in states:
        peak = beta[state]
        for i in range(first[state], first[state + 1]):
            arc = order[i]
            target = target_a[arc]
            if component[target] != component[state]:
                peak = max(peak, weight_a[arc] + beta[target])
        if best or peak == -np.inf or peak == np.inf:
            beta[state] = peak
            continue
        total = np.exp(beta[state] - peak)
        for i in range(first[state], first[state + 1]):
            arc = order[i]
            target = target_a[arc]
            if component[target] != component[state]:
                total += np.exp(weight_a[arc] + beta[target] - peak)
        beta[state] = peak + np.log(total)


@compiled
def _best_within(
    states: IntArray,
    first: IntArray,
    order: IntArray,
    target_a: IntArray,
    weight_a: FloatArray,
    beta: FloatArray,
) -> bool:
    """Raise beta[states] of one component to the best paths; False if a cycle gains."""
    for _ in range(len(states) + 1):
        changed = False
        for state in states:
            value = beta[state]
            for i in range(first[state], first[state + 1]):
                arc = order[i]
                candidate = weight_a[arc] + beta[target_a[arc]]
                rounding = 0.0 if value == -np.inf else 1e-12 * (1.0 + abs(value))
                if candidate > value + rounding:
                    value = candidate
                    changed = True
            beta[state] = value
        if not changed:
            return True
    return False


@compiled
def _iterated(
    first: IntArray, target_a: IntArray, weight_a: FloatArray, right: FloatArray
) -> tuple[FloatArray, bool]:
    """Return x = right + P x by sweeps from below, and whether they settled.

    All terms are positive, so that sweeps rise towards the solution if there is one; where cycles
    weigh little they settle long before a factorisation is done.
    """
    size, columns = right.shape
    solution = right.copy()
    for _ in range(SWEEPS):
        largest = 0.0
        for state in range(size):
            for column in range(columns):
                total = right[state, column]
                for a in range(first[state], first[state + 1]):
                    total += weight_a[a] * solution[target_a[a], column]
                if total > LARGEST_VISITS:
                    return solution, False
                if total > 0.0:
                    largest = max(largest, abs(total - solution[state, column]) / total)
                solution[state, column] = total
        if largest < SETTLED:
            return solution, True
    return solution, False


def _solved_within(
    inner_source: IntArray,
    inner_target: IntArray,
    weight: FloatArray,
    exit_s: FloatArray,
    scale_s: FloatArray,
) -> FloatArray | None:
    """Return log beta of one cyclic component, or None when its sum diverges.

    Args:
        inner_source: int[A'], arcs inside the component, states numbered 0..n-1.
        inner_target: int[A'].
        weight: float64[A'], nats.
        exit_s: float64[n], log-weight of leaving the component from each state.
        scale_s: float64[n], log-weight of the best path from each state.
    """
    size = len(exit_s)
    with np.errstate(under="ignore"):
        scaled = np.exp(weight + scale_s[inner_target] - scale_s[inner_source])
        exits = np.exp(exit_s - scale_s)
    right = np.stack((exits, np.ones(size)), axis=1)
    solution = None
    if size > DENSE_STATES:
        order, first = csr_order(inner_source, size)
        iterated, settled = _iterated(first, inner_target[order], scaled[order], right)
        solution = iterated if settled else None
    try:
        if size <= DENSE_STATES:
            system = np.eye(size)
            np.subtract.at(system, (inner_source, inner_target), scaled)
            solution = np.linalg.solve(system, right)
        elif solution is None:
            moves = csc_matrix((scaled, (inner_source, inner_target)), shape=(size, size))
            solution = splu(identity(size, format="csc") - moves).solve(right)
    except (np.linalg.LinAlgError, RuntimeError):
        return None
    visits = solution[:, 1]
    if not (np.all(visits > 0.999) and np.all(visits < LARGEST_VISITS)):
        return None
    result: FloatArray = np.log(solution[:, 0]) + scale_s
    return result


def completions(
    source_a: IntArray,
    target_a: IntArray,
    weight_a: FloatArray,
    final_s: FloatArray,
    semiring: Semiring,
) -> FloatArray:
    """Return float64[S], the log-weight of all paths from each state to a final one.

    Args:
        source_a: int32[A], in any order.
        target_a: int32[A].
        weight_a: float64[A], nats.
        final_s: float64[S], nats.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: A cycle from which a final state can be reached has no finite sum.

    Cost: O(S + A log A), plus O(n^3) for a cyclic component of n states (above 300,
        sweeps where they settle, else sparse).
    Source: Mohri (2002), "Semiring frameworks and algorithms for shortest-distance problems";
        Berman and Plemmons (1994), chapter 6, for the test of convergence.
    """
    num_states = len(final_s)
    order, first = csr_order(source_a, num_states)
    component = strong_components(source_a, target_a, num_states)
    states = np.argsort(component, kind="stable").astype(np.int32)
    beta = final_s.copy()
    inner = np.flatnonzero(component[source_a] == component[target_a])
    inner = inner[np.argsort(component[source_a[inner]], kind="stable")]
    cyclic, first_inner = np.unique(component[source_a[inner]], return_index=True)
    begins = np.searchsorted(component[states], cyclic, side="left")
    ends = np.searchsorted(component[states], cyclic, side="right")
    position = np.zeros(num_states, dtype=np.int32)
    graph = (first, order, target_a, weight_a, beta, component)
    done = 0
    for c, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        _pass_over_states(states[done:end], *graph, semiring == "max")
        done = end
        members = states[begin:end]
        exit_s = beta[members]
        if np.all(exit_s == -np.inf):
            continue
        if not _best_within(members, first, order, target_a, weight_a, beta):
            raise divergent(semiring)
        if semiring == "max":
            continue
        position[members] = np.arange(len(members))
        arcs = inner[first_inner[c] : first_inner[c + 1] if c + 1 < len(cyclic) else None]
        ends_of_arcs = position[source_a[arcs]], position[target_a[arcs]]
        solved = _solved_within(*ends_of_arcs, weight_a[arcs], exit_s, beta[members])
        if solved is None:
            raise divergent(semiring)
        beta[members] = solved
    _pass_over_states(states[done:], *graph, semiring == "max")
    return beta
