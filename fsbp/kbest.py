"""Distinct best strings of a weighted acceptor, by best-first search over prefixes.

The priority of a prefix is the total weight of all strings that begin with it, which bounds each
of them; so strings leave the queue in order, and no determinization is needed. Public names:
`k_best_strings`, `best_strings`.
"""

import heapq
from typing import Any

import numpy as np

from fsbp.arrays import FloatArray, IntArray, Machine, compiled
from fsbp.composition import MachineTooLargeError
from fsbp.connectivity import csr_order, trimmed
from fsbp.pathsum import Semiring, backward
from fsbp.reading import Reader, close_epsilons, log_add, reader

MAX_PREFIXES = 2_000_000


@compiled
def _moves_by_label(
    alpha: FloatArray,
    first_s: IntArray,
    label_a: IntArray,
    target_a: IntArray,
    weight_a: FloatArray,
    num_labels: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return (first move of each label, target of each move, log-weight carried there)."""
    first_l = np.zeros(num_labels + 1, dtype=np.int32)
    for state in range(len(alpha)):
        if alpha[state] > -np.inf:
            for a in range(first_s[state], first_s[state + 1]):
                first_l[label_a[a] + 1] += 1
    for label in range(num_labels):
        first_l[label + 1] += first_l[label]
    free_l = first_l.copy()
    target_m = np.empty(first_l[-1], dtype=np.int32)
    carried_m = np.empty(first_l[-1])
    for state in range(len(alpha)):
        if alpha[state] > -np.inf:
            for a in range(first_s[state], first_s[state + 1]):
                at = free_l[label_a[a]]
                target_m[at] = target_a[a]
                carried_m[at] = alpha[state] + weight_a[a]
                free_l[label_a[a]] += 1
    return first_l, target_m, carried_m


@compiled
def _search(
    r: Reader,
    first_s: IntArray,
    label_a: IntArray,
    target_a: IntArray,
    weight_a: FloatArray,
    beta: FloatArray,
    k: int,
    log_mass: float,
    max_prefixes: int,
) -> tuple[list[np.int64], list[float], list[np.int64], list[np.int64], bool]:
    """Return (prefix of each result, its weight, parent and label of each prefix, success).

    A prefix is stored as the states it may be in and their log-weights, before epsilons; arcs
    come grouped by source state.
    """
    num_states, num_labels = len(beta), len(r.first_l) - 1
    results = [np.int64(0) for _ in range(0)]
    weights = [0.0 for _ in range(0)]
    parent, label_of = [np.int64(-1)], [np.int64(0)]
    begin_of, end_of = [np.int64(0)], [np.int64(1)]
    pool_state, pool_weight = [np.int64(r.start)], [np.float64(0.0)]
    queue: list[tuple[float, Any, Any, bool]] = [(-beta[r.start], np.int64(0), np.int64(0), False)]
    entries = 1
    complete = [0.0 for _ in range(0)]
    found = -np.inf
    alpha = np.full(num_states, -np.inf)
    after = np.full(num_states, -np.inf)
    while len(queue) > 0 and len(results) < k and found < log_mass:
        negative, _, prefix, ended = heapq.heappop(queue)
        if ended:
            results.append(prefix)
            weights.append(-negative)
            found = log_add(found, -negative, False)
            continue
        alpha[:] = -np.inf
        for i in range(begin_of[prefix], end_of[prefix]):
            alpha[pool_state[i]] = pool_weight[i]
        close_epsilons(r, alpha)
        ending = -np.inf
        for state in range(num_states):
            ending = log_add(ending, alpha[state] + r.final_s[state], r.best)
        if ending > -np.inf and (len(complete) < k or ending >= complete[0]):
            heapq.heappush(queue, (-ending, np.int64(entries), prefix, True))
            entries += 1
            heapq.heappush(complete, ending)
            if len(complete) > k:
                heapq.heappop(complete)
        first_l, moves, carried = _moves_by_label(
            alpha, first_s, label_a, target_a, weight_a, num_labels
        )
        for label in range(num_labels):
            begin, end = first_l[label], first_l[label + 1]
            if begin == end:
                continue
            for i in range(begin, end):
                after[moves[i]] = log_add(after[moves[i]], carried[i], r.best)
            priority = -np.inf
            for i in range(begin, end):
                priority = log_add(priority, carried[i] + beta[moves[i]], r.best)
            if len(complete) == k and priority < complete[0]:
                for i in range(begin, end):
                    after[moves[i]] = -np.inf
                continue
            if len(parent) == max_prefixes:
                return results, weights, parent, label_of, False
            begin_of.append(np.int64(len(pool_state)))
            for i in range(begin, end):
                if after[moves[i]] > -np.inf:
                    pool_state.append(np.int64(moves[i]))
                    pool_weight.append(after[moves[i]])
                    after[moves[i]] = -np.inf
            end_of.append(np.int64(len(pool_state)))
            heapq.heappush(queue, (-priority, np.int64(entries), np.int64(len(parent)), False))
            entries += 1
            parent.append(prefix)
            label_of.append(np.int64(label))
    return results, weights, parent, label_of, True


def best_strings(
    acceptor: Machine, k: int, semiring: Semiring = "sum", log_mass: float = np.inf
) -> list[tuple[tuple[int, ...], float]]:
    """Return distinct strings, best first, until there are k or their weights add up to a mass.

    Args:
        acceptor: Acceptor with a finite total; epsilons and cycles allowed.
        k: The largest number of strings.
        semiring: Whether the weight of a string is the sum or the maximum over its paths.
        log_mass: Stop once the listed strings have this log-weight together, nats.

    Returns:
        Pairs (labels, log-weight in nats) by falling weight; all strings when there are fewer.

    Raises:
        DivergentSumError: The total is infinite (sum), or a cycle gains weight (max).
        MachineTooLargeError: More than two million prefixes would have to be kept.

    Cost: O(prefixes opened x (states + arcs of the states they may be in)).
    Source: Mohri and Riley (2002), "An efficient algorithm for the n-best-strings problem", with
        the total weight of the completions in place of determinization.
    """
    arrays = trimmed(acceptor)
    if arrays.start < 0 or k <= 0:
        return []
    labelled = np.flatnonzero(arrays.ilabel_a > 0)
    _, first_s = csr_order(arrays.source_a[labelled], arrays.num_states)
    results, weights, parent, label_of, complete = _search(
        reader(arrays, semiring),
        first_s,
        arrays.ilabel_a[labelled],
        arrays.target_a[labelled],
        arrays.log_weight_a[labelled],
        backward(arrays, semiring),
        k,
        log_mass,
        MAX_PREFIXES,
    )
    if not complete:
        raise MachineTooLargeError(
            f"{len(results)} of {k} strings found with {MAX_PREFIXES} prefixes kept; "
            "ask for fewer strings, or sharpen the weights"
        )
    return [
        (_spelled(prefix, parent, label_of), float(weight))
        for prefix, weight in zip(results, weights, strict=True)
    ]


def _spelled(prefix: np.int64, parent: list[np.int64], label_of: list[np.int64]) -> tuple[int, ...]:
    labels = []
    while prefix > 0:
        labels.append(int(label_of[prefix]))
        prefix = parent[prefix]
    return tuple(reversed(labels))


def k_best_strings(
    acceptor: Machine, k: int, semiring: Semiring = "sum"
) -> list[tuple[tuple[int, ...], float]]:
    """Return the k distinct strings of largest weight, best first, exactly.

    Args:
        acceptor: Acceptor with a finite total; epsilons and cycles allowed.
        k: How many strings.
        semiring: Whether the weight of a string is the sum or the maximum over its paths.

    Returns:
        Pairs (labels, log-weight in nats) by falling weight; all strings when there are fewer.

    Raises:
        DivergentSumError: The total is infinite (sum), or a cycle gains weight (max).
        MachineTooLargeError: More than two million prefixes would have to be kept.

    Cost: That of `best_strings`.
    Source: That of `best_strings`.
    """
    return best_strings(acceptor, k, semiring)
