"""Composition under a bound: it stops before the product grows past the number of arcs allowed.

Public names: `composed`, `MachineTooLargeError`.
"""

import numpy as np
import numpy.typing as npt

from fsbp.arrays import ArcArrays, FloatArray, IntArray, Machine, compiled
from fsbp.connectivity import trimmed

FIRST_CAPACITY = 1024


class MachineTooLargeError(ValueError):
    """A machine would exceed the size the caller allows."""


@compiled
def _moves(
    begin_1: int,
    end_1: int,
    begin_2: int,
    end_2: int,
    olabel_1: IntArray,
    ilabel_2: IntArray,
    filtered: bool,
    room: int,
) -> list[tuple[np.int64, np.int64]]:
    """Return the moves from a pair of states as pairs of arcs, -1 for the machine that stays.

    Machine 1 moves alone only where the pair is not filtered. The list stops growing once it
    is longer than the room.
    """
    moves = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(begin_1, end_1):
        if olabel_1[i] == 0:
            if not filtered:
                moves.append((np.int64(i), np.int64(-1)))
            continue
        j = begin_2 + np.searchsorted(ilabel_2[begin_2:end_2], olabel_1[i])
        while j < end_2 and ilabel_2[j] == olabel_1[i] and len(moves) <= room:
            moves.append((np.int64(i), np.int64(j)))
            j += 1
    j = begin_2
    while j < end_2 and ilabel_2[j] == 0 and len(moves) <= room:
        moves.append((np.int64(-1), np.int64(j)))
        j += 1
    return moves


@compiled
def _composed(
    start: int,
    first_1: IntArray,
    ilabel_1: IntArray,
    olabel_1: IntArray,
    target_1: IntArray,
    weight_1: FloatArray,
    silent_1: npt.NDArray[np.bool_],
    first_2: IntArray,
    ilabel_2: IntArray,
    olabel_2: IntArray,
    target_2: IntArray,
    weight_2: FloatArray,
    max_arcs: int,
) -> tuple[IntArray, FloatArray, list[np.int64], bool]:
    """Return arcs (int32[A, 4]: source, ilabel, olabel, target), weights, pairs and success.

    A pair of states is the number (state 1 * S2 + state 2) * 2 + filter. The filter is 1 once
    machine 2 has moved alone since the last common move, when machine 1 may no longer do so;
    thus every pair of paths is counted once. States of machine 1 that cannot move alone (those
    not in silent_1) need no filter.
    """
    size_2 = len(first_2) - 1
    arcs: IntArray = np.empty((FIRST_CAPACITY, 4), dtype=np.int32)
    weights: FloatArray = np.empty(FIRST_CAPACITY)
    number = {np.int64(start): np.int64(0)}
    pairs = [np.int64(start)]
    count = 0
    done = 0
    while done < len(pairs):
        state_1, state_2 = (pairs[done] // 2) // size_2, (pairs[done] // 2) % size_2
        ends_1 = first_1[state_1], first_1[state_1 + 1]
        ends_2 = first_2[state_2], first_2[state_2 + 1]
        filtered = pairs[done] % 2 == 1
        moves = _moves(*ends_1, *ends_2, olabel_1, ilabel_2, filtered, max_arcs - count)
        if count + len(moves) > max_arcs:
            return arcs, weights, pairs, False
        while count + len(moves) > len(weights):
            arcs = np.concatenate((arcs, np.empty_like(arcs)))
            weights = np.concatenate((weights, np.empty_like(weights)))
        for i, j in moves:
            next_1 = np.int64(target_1[i]) if i >= 0 else state_1
            next_2 = np.int64(target_2[j]) if j >= 0 else state_2
            blocked = 1 if i < 0 and silent_1[state_1] else 0
            after = (next_1 * size_2 + next_2) * 2 + blocked
            if after not in number:
                number[after] = np.int64(len(pairs))
                pairs.append(after)
            arcs[count, 0] = done
            arcs[count, 1] = ilabel_1[i] if i >= 0 else 0
            arcs[count, 2] = olabel_2[j] if j >= 0 else 0
            arcs[count, 3] = number[after]
            weights[count] = (weight_1[i] if i >= 0 else 0.0) + (weight_2[j] if j >= 0 else 0.0)
            count += 1
        done += 1
    return arcs[:count], weights[:count], pairs, True


def composed(first: Machine, second: Machine, max_arcs: int) -> ArcArrays:
    """Return the composition of two machines, trimmed.

    weight(x, z) = log sum over y of exp(first(x, y) + second(y, z)). Two acceptors compose to
    their intersection.

    Args:
        first: Any machine; its output labels are matched.
        second: Any machine; its input labels are matched.
        max_arcs: The largest number of arcs to build, counted before trimming.

    Raises:
        MachineTooLargeError: The product has more arcs; nothing larger is ever held.

    Cost: O(arcs built x log(arcs per state)).
    Source: Mohri, Pereira and Riley (1996), "Weighted automata in text and speech processing",
        for the epsilon filter.
    """
    one, two = trimmed(first), trimmed(second)
    if one.start < 0 or two.start < 0:
        return trimmed(one if one.start < 0 else two)
    two = _sorted_by_input(two)
    silent_s = np.bincount(one.source_a[one.olabel_a == 0], minlength=one.num_states) > 0
    arcs, weights, pairs, complete = _composed(
        2 * (one.start * two.num_states + two.start),
        one.first_arc_s(), one.ilabel_a, one.olabel_a, one.target_a, one.log_weight_a,
        silent_s,
        two.first_arc_s(), two.ilabel_a, two.olabel_a, two.target_a, two.log_weight_a,
        max_arcs,
    )  # fmt: skip
    if not complete:
        raise MachineTooLargeError(
            f"the product of machines with {one.num_arcs} and {two.num_arcs} arcs has more than "
            f"{max_arcs} arcs; use a k-best message family or allow more arcs"
        )
    pair_s: npt.NDArray[np.int64] = np.array(pairs, dtype=np.int64) // 2
    final_s = one.final_s[pair_s // two.num_states] + two.final_s[pair_s % two.num_states]
    source_a, ilabel_a, olabel_a, target_a = np.ascontiguousarray(arcs.T)
    return trimmed(ArcArrays(0, final_s, source_a, ilabel_a, olabel_a, target_a, weights))


def _sorted_by_input(arrays: ArcArrays) -> ArcArrays:
    order = np.lexsort((arrays.ilabel_a, arrays.source_a))
    return ArcArrays(
        arrays.start,
        arrays.final_s,
        arrays.source_a,
        arrays.ilabel_a[order],
        arrays.olabel_a[order],
        arrays.target_a[order],
        arrays.log_weight_a[order],
    )
