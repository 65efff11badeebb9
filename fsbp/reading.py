"""Reading strings: the log-weights a weighted acceptor gives to whole strings and to prefixes.

A `Reader` holds the arcs of an acceptor grouped by label and the closure of its epsilon arcs, in
the form compiled loops want. Public names: `Reader`, `reader`, `string_log_weights`, and the
compiled `log_add`, `close_epsilons`, `read_label`.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fsbp.arrays import ArcArrays, FloatArray, IntArray, Machine, as_arrays, compiled
from fsbp.connectivity import csr_order, strong_components, trimmed
from fsbp.fixpoint import Semiring, divergent


class Reader(NamedTuple):
    """A trimmed acceptor, ready to read strings.

    Args:
        start: Start state, or -1 when it accepts nothing.
        best: Whether paths are maximised over rather than summed.
        final_s: float64[S], nats.
        first_l: int32[L + 2]; arcs with label l are those from entry l up to entry l + 1.
        source_a: int32[A], grouped by label.
        target_a: int32[A].
        log_weight_a: float64[A], nats.
        epsilon_state_e: int32[E], states that epsilon arcs leave, sources before targets.
        component_first_c: int32[C + 1], the strong components of the epsilon arcs in that order.
        block_first_c: int32[C + 1], where each component's closure begins in `block`; components
            without a cycle have none.
        block: float64[...], row-major closures, nats.
        epsilon_first_s: int32[S + 1], epsilon arcs between components, by source state.
        epsilon_target_a: int32[...].
        epsilon_log_weight_a: float64[...], nats.
    """

    start: int
    best: bool
    final_s: FloatArray
    first_l: IntArray
    source_a: IntArray
    target_a: IntArray
    log_weight_a: FloatArray
    epsilon_state_e: IntArray
    component_first_c: IntArray
    block_first_c: IntArray
    block: FloatArray
    epsilon_first_s: IntArray
    epsilon_target_a: IntArray
    epsilon_log_weight_a: FloatArray


@compiled
def log_add(x: float, y: float, best: bool) -> float:
    """Return log(exp(x) + exp(y)), or the larger of the two."""
    if x < y:
        x, y = y, x
    if best or y == -np.inf:
        return x
    return x + math.log1p(math.exp(y - x))


@compiled
def _closed(weight: FloatArray, best: bool) -> bool:
    """Replace log P by log (I + P + P^2 + ...) in place; False when the sum diverges."""
    size = len(weight)
    for k in range(size):
        loop = weight[k, k]
        if loop > 1e-12 or (not best and loop > -1e-13):
            return False
        star = 0.0 if best else -np.log1p(-np.exp(loop))
        for i in range(size):
            through = weight[i, k] + star
            if i == k or through == -np.inf:
                continue
            for j in range(size):
                if j != k:
                    weight[i, j] = log_add(weight[i, j], through + weight[k, j], best)
            weight[i, k] = through
        for j in range(size):
            if j != k:
                weight[k, j] += star
        weight[k, k] = star + loop
    for k in range(size):
        weight[k, k] = log_add(weight[k, k], 0.0, best)
    return True


def reader(machine: Machine, semiring: Semiring = "sum") -> Reader:
    """Return the reader of an acceptor.

    Args:
        machine: Acceptor (input labels are read); epsilons and epsilon cycles allowed.
        semiring: "sum" or "max" over the paths of a string.

    Raises:
        DivergentSumError: A cycle of epsilon arcs has no finite sum (or gains weight, for "max").

    Cost: O(S + A log A), plus O(n^3) for a cyclic component of n states joined by epsilons.
    Source: Mohri (2002), "Generic epsilon-removal and input epsilon-normalization algorithms".
    """
    arrays = trimmed(machine)
    best = semiring == "max"
    empty = arrays.ilabel_a == 0
    labelled = np.flatnonzero(~empty)
    labels = arrays.ilabel_a[labelled]
    order, first_l = csr_order(labels, int(labels.max(initial=0)) + 1)
    by_label = labelled[order]
    return Reader(
        arrays.start,
        best,
        arrays.final_s,
        first_l,
        arrays.source_a[by_label],
        arrays.target_a[by_label],
        arrays.log_weight_a[by_label],
        *_epsilon_closure(arrays, np.flatnonzero(empty), semiring),
    )


def _epsilon_closure(
    arrays: ArcArrays, arcs: np.ndarray[tuple[int], np.dtype[np.intp]], semiring: Semiring
) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray, IntArray, FloatArray]:
    """Return the last seven fields of a `Reader`."""
    source, target = arrays.source_a[arcs], arrays.target_a[arcs]
    log_weight = arrays.log_weight_a[arcs]
    component = strong_components(source, target, arrays.num_states)
    is_inner = component[source] == component[target]
    states = np.unique(source)
    states = states[np.argsort(-component[states], kind="stable")].astype(np.int32)
    _, begins = np.unique(-component[states], return_index=True)
    component_first = np.append(begins, len(states)).astype(np.int32)
    position = np.zeros(arrays.num_states, dtype=np.int32)
    inner = np.flatnonzero(is_inner)
    inner = inner[np.argsort(-component[source[inner]], kind="stable")]
    rank = -component[source[inner]]
    blocks: list[FloatArray] = []
    for begin, end in pairwise(component_first):
        lowest = -component[states[begin]]
        within = inner[np.searchsorted(rank, lowest) : np.searchsorted(rank, lowest, "right")]
        if len(within) == 0:
            blocks.append(np.zeros(0))
            continue
        position[states[begin:end]] = np.arange(end - begin)
        block = np.full((end - begin, end - begin), -np.inf)
        at = (position[source[within]], position[target[within]])
        join = np.maximum if semiring == "max" else np.logaddexp
        join.at(block, at, log_weight[within])
        if not _closed(block, semiring == "max"):
            raise divergent(semiring)
        blocks.append(block.ravel())
    sizes = np.cumsum([0] + [len(block) for block in blocks]).astype(np.int32)
    outer = np.flatnonzero(~is_inner)
    order, first = csr_order(source[outer], arrays.num_states)
    kept = outer[order]
    return (
        states,
        component_first,
        sizes,
        np.concatenate([np.zeros(0), *blocks]),
        first,
        target[kept],
        log_weight[kept],
    )


@compiled
def close_epsilons(r: Reader, alpha: FloatArray) -> None:
    """Add to alpha (float64[S], nats, in place) what epsilon arcs carry on from each state.

    Cost: O(number of states and arcs that epsilons join).
    """
    for c in range(len(r.component_first_c) - 1):
        begin, end = r.component_first_c[c], r.component_first_c[c + 1]
        at = r.block_first_c[c]
        if r.block_first_c[c + 1] > at:
            size = end - begin
            before = np.empty(size)
            for i in range(size):
                before[i] = alpha[r.epsilon_state_e[begin + i]]
            for j in range(size):
                value = -np.inf
                for i in range(size):
                    if before[i] > -np.inf:
                        value = log_add(value, before[i] + r.block[at + i * size + j], r.best)
                alpha[r.epsilon_state_e[begin + j]] = value
        for e in range(begin, end):
            state = r.epsilon_state_e[e]
            if alpha[state] == -np.inf:
                continue
            for a in range(r.epsilon_first_s[state], r.epsilon_first_s[state + 1]):
                target = r.epsilon_target_a[a]
                carried = alpha[state] + r.epsilon_log_weight_a[a]
                alpha[target] = log_add(alpha[target], carried, r.best)


@compiled
def read_label(r: Reader, label: int, alpha: FloatArray, after: FloatArray) -> bool:
    """Fill `after` with alpha carried over the arcs of a label and over epsilons.

    Args:
        r: The reader.
        label: A label, 1 or more.
        alpha: float64[S], closed log-weights of the prefix, by state.
        after: float64[S], overwritten.

    Returns:
        Whether any state is left.

    Cost: O(arcs with the label, states, epsilon arcs).
    """
    after[:] = -np.inf
    alive = False
    if label <= 0 or label >= len(r.first_l) - 1:
        return alive
    for a in range(r.first_l[label], r.first_l[label + 1]):
        weight = alpha[r.source_a[a]]
        if weight > -np.inf:
            target = r.target_a[a]
            after[target] = log_add(after[target], weight + r.log_weight_a[a], r.best)
            alive = True
    if alive:
        close_epsilons(r, after)
    return alive


@compiled
def _read_all(r: Reader, flat: IntArray, first_n: IntArray, order: IntArray) -> FloatArray:
    longest = 0
    for n in range(len(first_n) - 1):
        longest = max(longest, first_n[n + 1] - first_n[n])
    alpha = np.full((longest + 1, len(r.final_s)), -np.inf)
    alpha[0, r.start] = 0.0
    close_epsilons(r, alpha[0])
    result = np.full(len(first_n) - 1, -np.inf)
    previous = -1
    read = 0
    for n in order:
        begin, length = first_n[n], first_n[n + 1] - first_n[n]
        shared = 0
        if previous >= 0:
            while shared < min(read, length) and flat[previous + shared] == flat[begin + shared]:
                shared += 1
        read = shared
        alive = True
        while alive and read < length:
            alive = read_label(r, flat[begin + read], alpha[read], alpha[read + 1])
            if alive:
                read += 1
        previous = begin
        if read == length:
            for state in range(len(r.final_s)):
                result[n] = log_add(result[n], alpha[length, state] + r.final_s[state], r.best)
    return result


def string_log_weights(
    machine: Machine | Reader, strings: Sequence[Sequence[int]], semiring: Semiring = "sum"
) -> FloatArray:
    """Return float64[N], the log-weight the acceptor gives to each string; -inf if it refuses it.

    The weight of a string is the sum (or maximum) over its paths. Strings are read in sorted
    order, so that common prefixes are read once.

    Args:
        machine: Acceptor with or without epsilons, or its `reader`, which already fixes the
            semiring.
        strings: Sequences of labels, 1 or more; labels the machine lacks are refused, not an
            error.
        semiring: "sum" or "max".

    Raises:
        DivergentSumError: A cycle of epsilon arcs has no finite sum (or gains weight, for "max").

    Cost: O(sum over distinct prefixes of the number of arcs with their last label).
    """
    prepared = machine if isinstance(machine, Reader) else reader(as_arrays(machine), semiring)
    keys = [tuple(string) for string in strings]
    if prepared.start < 0 or not keys:
        return np.full(len(keys), -np.inf)
    flat = np.array([label for key in keys for label in key], dtype=np.int32)
    first_n = np.cumsum([0] + [len(key) for key in keys]).astype(np.int32)
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int32)
    return _read_all(prepared, flat, first_n, order)
