"""Acceptors: weighted sets of strings, built, intersected, sampled and measured.

Public names: `string_acceptor`, `table_acceptor`, `universe_acceptor`, `intersection`,
`length_restricted`, `without_parallel_arcs`, `scaled`, `sample_strings`, `string_sampler`,
`StringSampler`, `entropy`, and from the modules below `k_best_strings` and `MachineTooLargeError`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pynini

from fsbp.arrays import (
    ArcArrays,
    FloatArray,
    IntArray,
    Machine,
    arrays_to_fst,
    as_arrays,
    compiled,
    log_sum_exp,
)
from fsbp.composition import MachineTooLargeError, composed
from fsbp.connectivity import trimmed
from fsbp.kbest import best_strings, k_best_strings
from fsbp.pathsum import backward, expected_arc_counts, expected_final_counts, log_total

__all__ = [
    "MachineTooLargeError",
    "StringSampler",
    "entropy",
    "intersection",
    "k_best_strings",
    "length_restricted",
    "sample_strings",
    "scaled",
    "string_acceptor",
    "string_sampler",
    "table_acceptor",
    "universe_acceptor",
    "without_parallel_arcs",
]


def string_acceptor(labels: Sequence[int], log_weight: float = 0.0) -> pynini.Fst:
    """Return the acceptor of one string.

    Args:
        labels: Labels of the string, 1 or more.
        log_weight: Its log-weight, nats.

    Cost: O(length).
    """
    length = len(labels)
    final_s = np.full(length + 1, -np.inf)
    final_s[length] = log_weight
    label_a = np.asarray(labels, dtype=np.int32)
    state_s = np.arange(length + 1, dtype=np.int32)
    return arrays_to_fst(
        ArcArrays(0, final_s, state_s[:-1], label_a, label_a, state_s[1:], np.zeros(length))
    )


def table_acceptor(
    label_strings: Sequence[Sequence[int]], log_weights: Sequence[float] | FloatArray
) -> pynini.Fst:
    """Return the deterministic acceptor of a list of strings with a log-weight each.

    The machine is the tree of prefixes. The weights of a string listed twice add up.

    Args:
        label_strings: N sequences of labels, 1 or more.
        log_weights: float64[N], nats.

    Cost: O(total length).
    """
    children: dict[tuple[int, int], int] = {}
    final_s = [-np.inf]
    for string, log_weight in zip(label_strings, log_weights, strict=True):
        state = 0
        for label in string:
            new = children.setdefault((state, label), len(final_s))
            if new == len(final_s):
                final_s.append(-np.inf)
            state = new
        final_s[state] = float(np.logaddexp(final_s[state], log_weight))
    arcs = np.array([(*key, target) for key, target in children.items()], dtype=np.int32)
    source_a, label_a, target_a = arcs.reshape(-1, 3).T
    return arrays_to_fst(
        ArcArrays.from_arcs(
            0, final_s, source_a, label_a, label_a, target_a, np.zeros(len(label_a))
        )
    )


def universe_acceptor(num_symbols: int, max_length: int | None = None) -> pynini.Fst:
    """Return the acceptor that gives log-weight 0 to every string, or to those not too long.

    Args:
        num_symbols: Labels are 1 to this number.
        max_length: The largest length accepted; None for all lengths, when the machine is cyclic
            and has no finite total (unless there is no symbol).

    Cost: O(num_symbols * (max_length or 1)).
    """
    label_a = np.arange(1, num_symbols + 1, dtype=np.int32)
    if max_length is None:
        here = np.zeros(num_symbols, dtype=np.int32)
        return arrays_to_fst(
            ArcArrays(0, np.zeros(1), here, label_a, label_a, here, np.zeros(num_symbols))
        )
    source_a = np.repeat(np.arange(max_length, dtype=np.int32), num_symbols)
    labels = np.tile(label_a, max_length)
    return arrays_to_fst(
        ArcArrays(
            0, np.zeros(max_length + 1), source_a, labels, labels, source_a + 1,
            np.zeros(len(labels)),
        )
    )  # fmt: skip


def intersection(first: Machine, second: Machine, max_arcs: int) -> pynini.Fst:
    """Return the acceptor whose log-weight of a string is the sum of the two machines'.

    Args:
        first: Acceptor, epsilons and cycles allowed.
        second: Acceptor, epsilons and cycles allowed.
        max_arcs: The largest number of arcs to build.

    Raises:
        MachineTooLargeError: The product has more arcs; it is never built.

    Cost: O(arcs built x log(arcs per state)).
    Source: `fsbp.composition.composed`.
    """
    return arrays_to_fst(composed(first, second, max_arcs))


def length_restricted(acceptor: Machine, max_length: int) -> pynini.Fst:
    """Return the acceptor of the same strings and weights up to a length, without longer strings.

    The machine is acyclic unless epsilons form a cycle.

    Args:
        acceptor: Acceptor, epsilons and cycles allowed.
        max_length: The largest number of labels of an accepted string.

    Cost: O((S + A) * max_length).
    """
    arrays = as_arrays(acceptor)
    lengths = np.arange(max_length + 1)[:, None]
    consumed = (arrays.ilabel_a != 0).astype(np.int64)
    source = (lengths * arrays.num_states + arrays.source_a).ravel()
    target = ((lengths + consumed) * arrays.num_states + arrays.target_a).ravel()
    copies = max_length + 1
    kept = target < copies * arrays.num_states
    layered = ArcArrays.from_arcs(
        arrays.start,
        np.tile(arrays.final_s, copies),
        source[kept],
        np.tile(arrays.ilabel_a, copies)[kept],
        np.tile(arrays.olabel_a, copies)[kept],
        target[kept],
        np.tile(arrays.log_weight_a, copies)[kept],
    )
    return arrays_to_fst(trimmed(layered))


def scaled(machine: Machine, log_factor: float) -> pynini.Fst:
    """Return the machine with a constant added to the log-weight of every path.

    Args:
        machine: Any machine.
        log_factor: Nats; minus the log total makes the machine a distribution.

    Cost: O(S + A).
    """
    arrays = as_arrays(machine)
    return arrays_to_fst(
        ArcArrays(
            arrays.start, arrays.final_s + log_factor, arrays.source_a, arrays.ilabel_a,
            arrays.olabel_a, arrays.target_a, arrays.log_weight_a,
        )
    )  # fmt: skip


def without_parallel_arcs(acceptor: Machine) -> ArcArrays:
    """Return the machine with one arc for all arcs of the same source, label and target.

    The weights of parallel arcs add up, so no string's total changes.

    Args:
        acceptor: Acceptor, epsilons and cycles allowed.

    Cost: O(A + S * largest label), the latter for a table in memory.
    """
    arrays = as_arrays(acceptor)
    kept, log_weight_a = _merged_arcs(
        arrays.first_arc_s(), arrays.ilabel_a, arrays.target_a, arrays.log_weight_a
    )
    label_a = arrays.ilabel_a[kept]
    return ArcArrays(
        arrays.start, arrays.final_s, arrays.source_a[kept], label_a, label_a,
        arrays.target_a[kept], log_weight_a,
    )  # fmt: skip


@compiled
def _merged_arcs(
    first_s: IntArray, label_a: IntArray, target_a: IntArray, log_weight_a: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the first arc of each set of parallel ones, and the log-weight of all of the set."""
    num_states = len(first_s) - 1
    num_labels = 1 + (label_a.max() if len(label_a) else 0)
    number_lt = np.full(num_labels * num_states, -1, dtype=np.int32)
    kept = np.empty(len(label_a), dtype=np.int32)
    total = np.empty(len(label_a))
    count = 0
    for state in range(num_states):
        begin = count
        for a in range(first_s[state], first_s[state + 1]):
            if log_weight_a[a] == -np.inf:
                continue
            cell = label_a[a] * num_states + target_a[a]
            number = number_lt[cell]
            if number < begin:
                number_lt[cell] = count
                kept[count] = a
                total[count] = log_weight_a[a]
                count += 1
            else:
                larger = max(total[number], log_weight_a[a])
                smaller = min(total[number], log_weight_a[a])
                total[number] = larger + np.log1p(np.exp(smaller - larger))
    return kept[:count].copy(), total[:count].copy()


@compiled
def _drawn_paths(
    start: int,
    first_s: IntArray,
    label_a: IntArray,
    target_a: IntArray,
    cumulative_a: FloatArray,
    num_paths: int,
    rng: np.random.Generator,
) -> tuple[list[np.int64], list[np.int64]]:
    labels = [np.int64(0) for _ in range(0)]
    ends = [np.int64(0) for _ in range(0)]
    for _ in range(num_paths):
        state = start
        while True:
            begin, end = first_s[state], first_s[state + 1]
            arc = begin + np.searchsorted(cumulative_a[begin:end], rng.random(), side="right")
            if arc >= end:
                break
            if label_a[arc] > 0:
                labels.append(np.int64(label_a[arc]))
            state = target_a[arc]
        ends.append(np.int64(len(labels)))
    return labels, ends


class StringSampler(NamedTuple):
    """A machine prepared for drawing strings from it, any number of times.

    Args:
        arrays: Trimmed, with a finite, positive total weight.
        first_s: Position of each state's first arc, and the number of arcs.
        cumulative_a: Probability of leaving an arc's state by it or an earlier one of that state.
    """

    arrays: ArcArrays
    first_s: IntArray
    cumulative_a: FloatArray

    def sample(self, num_strings: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return the labels of strings drawn independently.

        Args:
            num_strings: How many strings to draw, perhaps none.
            rng: The source of randomness; it is advanced.

        Cost: O(length x log(arcs per state)) a string.
        """
        if not num_strings:
            return []
        labels, ends = _drawn_paths(
            self.arrays.start, self.first_s, self.arrays.ilabel_a, self.arrays.target_a,
            self.cumulative_a, num_strings, rng,
        )  # fmt: skip
        begins = [np.int64(0), *ends[:-1]]
        return [tuple(map(int, labels[begin:end])) for begin, end in zip(begins, ends, strict=True)]


def string_sampler(acceptor: Machine) -> StringSampler:
    """Return what draws strings independently, each with probability exp(weight - log_total).

    Args:
        acceptor: Acceptor with a finite, positive total weight; epsilons and cycles allowed.

    Raises:
        DivergentSumError: The sum is infinite.
        ValueError: The acceptor accepts nothing.

    Cost: That of `backward`.
    Source: Devroye (1986), "Non-uniform random variate generation", section III.2 (inversion).
    """
    arrays = trimmed(acceptor)
    if arrays.start < 0:
        raise ValueError("the acceptor accepts nothing, so no string can be drawn")
    beta = backward(arrays)
    source_a, first_s = arrays.source_a, arrays.first_arc_s()
    prob_a = np.exp(arrays.log_weight_a + beta[arrays.target_a] - beta[source_a])
    stop_s = np.exp(arrays.final_s - beta)
    running = np.concatenate(([0.0], np.cumsum(prob_a)))
    cumulative_a = running[1:] - running[first_s[source_a]]
    never_stops = stop_s == 0.0
    has_arc = np.diff(first_s) > 0
    cumulative_a[first_s[1:][never_stops & has_arc] - 1] = 1.0
    return StringSampler(arrays, first_s, cumulative_a)


def sample_strings(
    acceptor: Machine, num_strings: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return strings drawn from `string_sampler`, once.

    Args:
        acceptor: Acceptor with a finite, positive total weight; epsilons and cycles allowed.
        num_strings: How many strings to draw.
        rng: The source of randomness; it is advanced.

    Raises:
        DivergentSumError: The sum is infinite.
        ValueError: The acceptor accepts nothing.
    """
    return string_sampler(acceptor).sample(num_strings, rng)


def _is_deterministic(arrays: ArcArrays) -> bool:
    keys = np.stack((arrays.source_a, arrays.ilabel_a), axis=1)
    return not np.any(arrays.ilabel_a == 0) and len(np.unique(keys, axis=0)) == len(keys)


def entropy(acceptor: Machine, tolerance: float = 1e-9, max_strings: int = 100_000) -> float:
    """Return the entropy of the distribution over strings that an acceptor defines.

    H = log_total - E[log weight], exactly, when the acceptor is deterministic. Otherwise a string
    has several paths, and H = - sum of p log p runs over the likeliest strings until the
    probability of all others together is at most the tolerance.

    Args:
        acceptor: Acceptor with a finite, positive total weight; epsilons and cycles allowed.
        tolerance: Probability that may be left out when the acceptor is not deterministic.
        max_strings: The largest number of strings to enumerate in that case.

    Returns:
        Nats.

    Raises:
        DivergentSumError: The sum is infinite.
        ValueError: The acceptor accepts nothing.
        MachineTooLargeError: More strings are needed; average -log_prob over samples instead.

    Cost: That of `backward` when deterministic, else that of `k_best_strings`.
    Source: Cortes, Mohri, Rastogi and Riley (2008), "On the computation of the relative entropy
        of probabilistic automata".
    """
    arrays = trimmed(acceptor)
    if arrays.start < 0:
        raise ValueError("the acceptor accepts nothing, so it has no entropy")
    total = log_total(arrays)
    if _is_deterministic(arrays):
        ends = arrays.final_s > -np.inf
        mean = expected_arc_counts(arrays) @ arrays.log_weight_a
        return float(total - mean - expected_final_counts(arrays)[ends] @ arrays.final_s[ends])
    enough = total + np.log1p(-tolerance)
    listed = best_strings(arrays, max_strings, "sum", log_mass=enough)
    log_prob_n = np.array([log_weight for _, log_weight in listed]) - total
    if len(listed) == max_strings and log_sum_exp(log_prob_n) < np.log1p(-tolerance):
        raise MachineTooLargeError(
            f"the {max_strings} likeliest strings leave more than {tolerance} of the probability; "
            "average -log_prob over sampled strings, or raise max_strings"
        )
    return float(-np.exp(log_prob_n) @ log_prob_n)
