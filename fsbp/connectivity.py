"""The shape of a machine apart from its weights: useful states and strong components.

Public names: `csr_order`, `strong_components`, `useful_states`, `trimmed`.
"""

import numpy as np
import numpy.typing as npt

from fsbp.arrays import ArcArrays, IntArray, Machine, as_arrays, compiled

BoolArray = npt.NDArray[np.bool_]


def csr_order(state_a: IntArray, num_states: int) -> tuple[IntArray, IntArray]:
    """Return (order, first): arcs sorted by a state, and where each state's arcs begin.

    Args:
        state_a: int32[A], the state to sort by.
        num_states: The number of states S.

    Returns:
        int32[A] arc numbers in a stable order, and int32[S + 1] offsets into it.

    Cost: O(S + A).
    """
    return _counting_order(state_a, num_states)


@compiled
def _counting_order(state_a: IntArray, num_states: int) -> tuple[IntArray, IntArray]:
    first = np.zeros(num_states + 1, dtype=np.int32)
    for a in range(len(state_a)):
        first[state_a[a] + 1] += 1
    for state in range(num_states):
        first[state + 1] += first[state]
    free = first[:-1].copy()
    order = np.empty(len(state_a), dtype=np.int32)
    for a in range(len(state_a)):
        order[free[state_a[a]]] = a
        free[state_a[a]] += 1
    return order, first


@compiled
def _reached(start_s: BoolArray, first: IntArray, order: IntArray, target_a: IntArray) -> BoolArray:
    reached = start_s.copy()
    stack = list(np.nonzero(start_s)[0])
    while len(stack) > 0:
        state = stack.pop()
        for i in range(first[state], first[state + 1]):
            target = target_a[order[i]]
            if not reached[target]:
                reached[target] = True
                stack.append(np.int64(target))
    return reached


@compiled
def _strong_components(first: IntArray, order: IntArray, target_a: IntArray) -> IntArray:
    num_states = len(first) - 1
    component = np.full(num_states, -1, dtype=np.int32)
    number = np.full(num_states, -1, dtype=np.int32)
    low = np.zeros(num_states, dtype=np.int32)
    position = first[:-1].copy()
    path = np.empty(num_states, dtype=np.int32)
    pending = np.empty(num_states, dtype=np.int32)
    depth = 0
    waiting = 0
    numbered = 0
    components = 0
    for root in range(num_states):
        if number[root] >= 0:
            continue
        path[0] = root
        depth = 1
        while depth > 0:
            state = path[depth - 1]
            if number[state] < 0:
                number[state] = numbered
                low[state] = numbered
                numbered += 1
                pending[waiting] = state
                waiting += 1
            if position[state] < first[state + 1]:
                target = target_a[order[position[state]]]
                position[state] += 1
                if number[target] < 0:
                    path[depth] = target
                    depth += 1
                elif component[target] < 0:
                    low[state] = min(low[state], number[target])
                continue
            if low[state] == number[state]:
                while True:
                    waiting -= 1
                    member = pending[waiting]
                    component[member] = components
                    if member == state:
                        break
                components += 1
            depth -= 1
            if depth > 0:
                parent = path[depth - 1]
                low[parent] = min(low[parent], low[state])
    return component


def strong_components(source_a: IntArray, target_a: IntArray, num_states: int) -> IntArray:
    """Return int32[S], the strong component of each state.

    Components are numbered against the arcs: an arc between two components leads from the
    higher number to the lower.

    Args:
        source_a: int32[A].
        target_a: int32[A].
        num_states: The number of states S.

    Cost: O(S + A log A).
    Source: Tarjan (1972), "Depth-first search and linear graph algorithms".
    """
    order, first = csr_order(source_a, num_states)
    return _strong_components(first, order, target_a)


def useful_states(arrays: ArcArrays) -> BoolArray:
    """Return bool[S]: whether some accepting path of positive weight visits each state.

    Cost: O(S + A log A).
    """
    num_states = arrays.num_states
    if arrays.start < 0:
        return np.zeros(num_states, dtype=np.bool_)
    kept = np.flatnonzero(arrays.log_weight_a > -np.inf)
    source, target = arrays.source_a[kept], arrays.target_a[kept]
    starts = np.zeros(num_states, dtype=np.bool_)
    starts[arrays.start] = True
    out_order, out_first = csr_order(source, num_states)
    in_order, in_first = csr_order(target, num_states)
    accessible = _reached(starts, out_first, out_order, target)
    finals = arrays.final_s > -np.inf
    return accessible & _reached(finals, in_first, in_order, source)


def trimmed(machine: Machine) -> ArcArrays:
    """Return the machine without states and arcs that no accepting path of positive weight uses.

    States are renumbered in their old order. The machine that accepts nothing has no state and
    start -1.

    Cost: O(S + A log A).
    """
    arrays = as_arrays(machine)
    useful = useful_states(arrays)
    if arrays.start < 0 or not useful[arrays.start]:
        nothing = np.zeros(0, dtype=np.int32)
        none = np.zeros(0)
        return ArcArrays(-1, none, nothing, nothing, nothing, nothing, none)
    new_state = (np.cumsum(useful) - 1).astype(np.int32)
    kept = useful[arrays.source_a] & useful[arrays.target_a] & (arrays.log_weight_a > -np.inf)
    return ArcArrays(
        int(new_state[arrays.start]),
        arrays.final_s[useful],
        new_state[arrays.source_a[kept]],
        arrays.ilabel_a[kept],
        arrays.olabel_a[kept],
        new_state[arrays.target_a[kept]],
        arrays.log_weight_a[kept],
    )
