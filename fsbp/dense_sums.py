"""Sums over the paths of a small dense automaton of histories, without building a machine.

Public names: `log_moves`, `dense_completions`.
"""

from __future__ import annotations

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.fixpoint import LARGEST_VISITS, Semiring, divergent


@compiled
def log_moves(
    next_ha: IntArray, log_weight_hs: FloatArray, start: int, best: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the log-weights of moving from history to history and of stopping, once reached.

    moves[h, h'] is the log of the sum over the symbols that lead from h to h'. Histories that no
    string reaches lead nowhere, and nothing stops there.

    Args:
        next_ha: int32[H, K].
        log_weight_hs: float64[H, K + 1], nats; the last column is the end.
        start: The history of the beginning.
        best: Whether to take the best symbol instead of the sum.

    Returns:
        float64[H, H] and float64[H].

    Cost: O(H * (K + H)).
    """
    size, symbols = next_ha.shape
    moves_hh = np.full((size, size), -np.inf)
    exit_h = np.full(size, -np.inf)
    reached = np.zeros(size, dtype=np.bool_)
    reached[start] = True
    stack = [start]
    while len(stack) > 0:
        h = stack.pop()
        exit_h[h] = log_weight_hs[h, symbols]
        for a in range(symbols):
            target = next_ha[h, a]
            if log_weight_hs[h, a] > moves_hh[h, target]:
                moves_hh[h, target] = log_weight_hs[h, a]
            if log_weight_hs[h, a] > -np.inf and not reached[target]:
                reached[target] = True
                stack.append(target)
        if best:
            continue
        total = np.zeros(size)
        for a in range(symbols):
            if log_weight_hs[h, a] > -np.inf:
                target = next_ha[h, a]
                total[target] += np.exp(log_weight_hs[h, a] - moves_hh[h, target])
        for target in range(size):
            if total[target] > 0.0:
                moves_hh[h, target] += np.log(total[target])
    return moves_hh, exit_h


@compiled
def _best_completions(moves_hh: FloatArray, exit_h: FloatArray) -> tuple[FloatArray, bool]:
    """Return the log-weight of the best completion of each history, and whether one exists."""
    size = len(exit_h)
    best_h = exit_h.copy()
    for _ in range(size + 1):
        changed = False
        for h in range(size):
            value = best_h[h]
            for target in range(size):
                candidate = moves_hh[h, target] + best_h[target]
                rounding = 0.0 if value == -np.inf else 1e-12 * (1.0 + abs(value))
                if candidate > value + rounding:
                    value = candidate
                    changed = True
            best_h[h] = value
        if not changed:
            return best_h, True
    return best_h, False


def dense_completions(
    moves_hh: FloatArray, exit_h: FloatArray, semiring: Semiring = "sum"
) -> FloatArray:
    """Return float64[H], the log-weight of all completions from each state; -inf for none.

    The states that have a completion make one linear system, scaled by their best completions so
    that every unknown is at least 1.

    Args:
        moves_hh: float64[H, H], log-weight of moving from one state to another, nats.
        exit_h: float64[H], log-weight of stopping in each state, nats.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: The sum is infinite, or a cycle gains weight.

    Cost: O(H^3).
    Source: That of `fsbp.fixpoint.completions`, which it equals.
    """
    best_h, exists = _best_completions(moves_hh, exit_h)
    if not exists:
        raise divergent(semiring)
    useful = np.flatnonzero(best_h > -np.inf)
    if semiring == "max" or len(useful) == 0:
        return best_h
    scale_h = best_h[useful]
    scaled_hh = np.exp(moves_hh[np.ix_(useful, useful)] + scale_h - scale_h[:, None])
    right = np.stack((np.exp(exit_h[useful] - scale_h), np.ones(len(useful))), axis=1)
    try:
        solution = np.linalg.solve(np.eye(len(useful)) - scaled_hh, right)
    except np.linalg.LinAlgError:
        raise divergent(semiring) from None
    visits_h = solution[:, 1]
    if not (np.all(visits_h > 0.999) and np.all(visits_h < LARGEST_VISITS)):
        raise divergent(semiring)
    total_h = np.full(len(exit_h), -np.inf)
    total_h[useful] = np.log(solution[:, 0]) + scale_h
    return total_h
