"""Lists of candidate strings behind observed words: proposed, scored, and propagated.

A candidate stem leaves a vector over positions in the word (how well it explains each prefix), a
candidate suffix another (each rest); a pair's weight is their inner product. Public names:
`prefix_weights`, `suffix_weights`, `pair_weights`, `unlisted_endings`, `proposed_strings`,
`likeliest_strings`.
"""

import heapq

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.edit_channel import WordTables

MAX_PREFIXES = 100_000
Labels = tuple[int, ...]


@compiled
def _read(tables: WordTables, column: int, before_j: FloatArray, after_j: FloatArray) -> None:
    """Set `after_j` to what reading a symbol of a column makes of prefix weights, in place or not.

    Whatever is inserted before the symbol belongs to the reading.
    """
    waiting, written = 0.0, 0.0
    for j in range(len(before_j)):
        waiting += before_j[j]
        after_j[j] = waiting * tables.delete_jc[j, column] + written
        written = waiting * tables.write_jc[j, column]
        waiting *= tables.insert_jc[j, column]


@compiled
def _read_back(tables: WordTables, column: int, after_j: FloatArray, before_j: FloatArray) -> None:
    """Set `before_j` to the weights of the rests before reading, given those after; as `_read`."""
    ahead, following = 0.0, 0.0
    for j in range(len(after_j) - 1, -1, -1):
        ahead = (
            tables.delete_jc[j, column] * after_j[j]
            + tables.write_jc[j, column] * following
            + tables.insert_jc[j, column] * ahead
        )
        following = after_j[j]
        before_j[j] = ahead


@compiled
def prefix_weights(tables: WordTables, label_t: IntArray, first_n: IntArray) -> FloatArray:
    """Return float64[N, n + 1], the weight with which each string yields each prefix of the word.

    Args:
        tables: The channel around the word of n symbols.
        label_t: From `fsbp.tries.flat_labels`.
        first_n: Likewise.

    Cost: O(total length x n).
    """
    weight_nj = np.zeros((len(first_n) - 1, len(tables.ending_j)))
    for n in range(len(first_n) - 1):
        row_j = weight_nj[n]
        row_j[0] = 1.0
        for t in range(first_n[n], first_n[n + 1]):
            _read(tables, tables.column_a[label_t[t] - 1], row_j, row_j)
    return weight_nj


@compiled
def suffix_weights(tables: WordTables, label_t: IntArray, first_n: IntArray) -> FloatArray:
    """Return float64[N, n + 1], the weight with which each string, at the end, yields word[j:].

    Args:
        tables: The channel around the word of n symbols.
        label_t: From `fsbp.tries.flat_labels`.
        first_n: Likewise.

    Cost: O(total length x n).
    """
    weight_nj = np.zeros((len(first_n) - 1, len(tables.ending_j)))
    for n in range(len(first_n) - 1):
        row_j = weight_nj[n]
        row_j[:] = tables.ending_j
        for t in range(first_n[n + 1] - 1, first_n[n] - 1, -1):
            _read_back(tables, tables.column_a[label_t[t] - 1], row_j, row_j)
    return weight_nj


@compiled
def pair_weights(
    tables: WordTables,
    stem_t: IntArray,
    stem_first: IntArray,
    suffix_t: IntArray,
    suffix_first: IntArray,
) -> FloatArray:
    """Return float64[N, M], P(word | stem suffix) for each pair of candidates (not logs).

    Cost: O((total length + N M) x n).
    """
    rest_mj = suffix_weights(tables, suffix_t, suffix_first)
    pair_nm: FloatArray = np.dot(prefix_weights(tables, stem_t, stem_first), rest_mj.T)
    for n in range(pair_nm.shape[0]):
        for m in range(pair_nm.shape[1]):
            length = stem_first[n + 1] - stem_first[n] + suffix_first[m + 1] - suffix_first[m]
            if length > tables.max_input:
                pair_nm[n, m] = 0.0
    return pair_nm


@compiled
def _completions(
    tables: WordTables, last_j: FloatArray, column_weight_c: FloatArray, end: float, longest: int
) -> FloatArray:
    """Return float64[longest + 1, n + 1], the mass of all ways to go on after i symbols."""
    mass_ij = np.zeros((longest + 1, len(last_j)))
    mass_ij[longest] = end * last_j
    ahead_j = np.empty(len(last_j))
    for i in range(longest - 1, -1, -1):
        mass_ij[i] = end * last_j
        for column in range(len(column_weight_c)):
            _read_back(tables, column, mass_ij[i + 1], ahead_j)
            mass_ij[i] += column_weight_c[column] * ahead_j
    return mass_ij


@compiled
def unlisted_endings(tables: WordTables, prob_s: FloatArray, longest: int) -> FloatArray:
    """Return float64[n + 1], the weight with which any string drawn at random yields word[j:].

    Args:
        tables: The channel around the word of n symbols.
        prob_s: float64[K + 1], probability of each symbol and, last, of the end.
        longest: Longer strings are left out.

    Cost: O(longest x columns x n).
    """
    symbols = len(prob_s) - 1
    column_weight_c = np.zeros(tables.column_a.max() + 1)
    for a in range(symbols):
        column_weight_c[tables.column_a[a]] += prob_s[a]
    mass_ij = _completions(tables, tables.ending_j, column_weight_c, prob_s[symbols], longest)
    beginning_j: FloatArray = mass_ij[0]
    return beginning_j


@compiled
def _proposals(
    tables: WordTables,
    first_j: FloatArray,
    last_j: FloatArray,
    prob_s: FloatArray,
    longest: int,
    k: int,
) -> tuple[IntArray, IntArray, IntArray]:
    width, symbols = len(first_j), len(prob_s) - 1
    end = prob_s[symbols]
    columns = tables.column_a.max() + 1
    column_weight_c = np.zeros(columns)
    for a in range(symbols):
        column_weight_c[tables.column_a[a]] += prob_s[a]
    mass_ij = _completions(tables, last_j, column_weight_c, end, longest)
    capacity = 4096
    pool_nj = np.zeros((capacity, width))
    parent_n, label_n = np.full(capacity, -1, np.int32), np.zeros(capacity, np.int32)
    length_n = np.zeros(capacity, np.int32)
    pool_nj[0] = first_j
    count = 1
    queue = [(-(first_j * mass_ij[0]).sum(), 0, False)]
    complete = [0.0 for _ in range(0)]
    results = np.zeros(k, np.int32)
    found = 0
    after_cj, priority_c = np.zeros((columns, width)), np.zeros(columns)
    while len(queue) > 0 and found < k:
        _, node, ended = heapq.heappop(queue)
        if ended:
            results[found] = node
            found += 1
            continue
        ending = end * (pool_nj[node] * last_j).sum()
        if ending > 0.0 and (len(complete) < k or ending > complete[0]):
            heapq.heappush(queue, (-ending, node, True))
            heapq.heappush(complete, ending)
            if len(complete) > k:
                heapq.heappop(complete)
        if length_n[node] == longest:
            continue
        layer = length_n[node] + 1
        for column in range(columns):
            _read(tables, column, pool_nj[node], after_cj[column])
            priority_c[column] = (after_cj[column] * mass_ij[layer]).sum()
        for a in range(symbols):
            priority = prob_s[a] * priority_c[tables.column_a[a]]
            if priority <= 0.0 or (len(complete) == k and priority <= complete[0]):
                continue
            if count == capacity:
                if capacity >= MAX_PREFIXES:
                    return results[:found], parent_n, label_n
                grown_nj = np.zeros((2 * capacity, width))
                grown_nj[:capacity] = pool_nj
                pool_nj = grown_nj
                parent_n = np.concatenate((parent_n, np.full(capacity, -1, np.int32)))
                label_n = np.concatenate((label_n, np.zeros(capacity, np.int32)))
                length_n = np.concatenate((length_n, np.zeros(capacity, np.int32)))
                capacity *= 2
            pool_nj[count] = prob_s[a] * after_cj[tables.column_a[a]]
            parent_n[count], label_n[count], length_n[count] = node, a + 1, layer
            heapq.heappush(queue, (-priority, count, False))
            count += 1
    return results[:found], parent_n, label_n


def proposed_strings(
    tables: WordTables,
    first_j: FloatArray,
    last_j: FloatArray,
    prob_s: FloatArray,
    longest: int,
    k: int,
) -> list[Labels]:
    """Return the `k` strings x that best explain the middle of a word, best first, exactly.

    weight(x) = prior(x) x sum over j, j' of first(j) P(word[j:j'] | x) last(j').

    Args:
        tables: The channel around the word of n symbols.
        first_j: float64[n + 1], weight of what comes before ending at each position.
        last_j: float64[n + 1], weight of what comes after beginning at each position.
        prob_s: float64[K + 1], prior probability of each symbol and, last, of the end.
        longest: Longest string proposed.
        k: How many. Fewer are returned where a search would keep more than 100,000 prefixes.

    Cost: O(prefixes opened x (columns x n + K)).
    Source: Best-first search over prefixes, priority = mass of all completions, as in
        `fsbp.kbest`.
    """
    found = _proposals(tables, first_j, last_j, prob_s, longest, k)
    return _as_tuples(*_spelled(*found, longest))


@compiled
def _likeliest(
    next_ha: IntArray, log_prob_hs: FloatArray, start: int, longest: int, k: int
) -> tuple[IntArray, IntArray, IntArray]:
    symbols = next_ha.shape[1]
    parent_n, label_n = [np.int32(-1)], [np.int32(0)]
    history_n, length_n = [np.int32(start)], [np.int32(0)]
    queue = [(0.0, 0, False)]
    complete = [0.0 for _ in range(0)]
    results = np.zeros(k, np.int32)
    found = 0
    while len(queue) > 0 and found < k and len(parent_n) < MAX_PREFIXES:
        cost, node, ended = heapq.heappop(queue)
        if ended:
            results[found] = node
            found += 1
            continue
        history = history_n[node]
        ending = log_prob_hs[history, symbols] - cost
        if ending > -np.inf and (len(complete) < k or ending > complete[0]):
            heapq.heappush(queue, (-ending, node, True))
            heapq.heappush(complete, ending)
            if len(complete) > k:
                heapq.heappop(complete)
        if length_n[node] == longest:
            continue
        for a in range(symbols):
            weight = log_prob_hs[history, a] - cost
            if weight > -np.inf and (len(complete) < k or weight > complete[0]):
                heapq.heappush(queue, (-weight, len(parent_n), False))
                parent_n.append(np.int32(node))
                label_n.append(np.int32(a + 1))
                history_n.append(next_ha[history, a])
                length_n.append(np.int32(length_n[node] + 1))
    return results[:found], np.array(parent_n), np.array(label_n)


def likeliest_strings(
    next_ha: IntArray, log_prob_hs: FloatArray, start: int, longest: int, k: int
) -> list[Labels]:
    """Return the `k` most probable strings of a locally normalised n-gram model, best first.

    Args:
        next_ha: int32[H, K], as in `HistoryAutomaton`.
        log_prob_hs: float64[H, K + 1], log-probabilities: rows sum to 1 at most, so that the
            probability of a prefix bounds that of all its completions.
        start: The history at the beginning.
        longest: Longest string returned.
        k: How many. Fewer are returned where a search would keep more than 100,000 prefixes.

    Cost: O(prefixes opened x K).
    """
    found = _likeliest(next_ha, log_prob_hs, start, longest, k)
    return _as_tuples(*_spelled(*found, longest))


@compiled
def _spelled(
    node_k: IntArray, parent_n: IntArray, label_n: IntArray, longest: int
) -> tuple[IntArray, IntArray]:
    """Return the labels of the prefixes, right-aligned in rows, and where each row begins."""
    label_kt = np.zeros((len(node_k), longest), np.int32)
    begin_k = np.full(len(node_k), longest, np.int32)
    for row in range(len(node_k)):
        node = node_k[row]
        while node > 0:
            begin_k[row] -= 1
            label_kt[row, begin_k[row]] = label_n[node]
            node = parent_n[node]
    return label_kt, begin_k


def _as_tuples(label_kt: IntArray, begin_k: IntArray) -> list[Labels]:
    rows = zip(label_kt.tolist(), begin_k.tolist(), strict=True)
    return [tuple(row[begin:]) for row, begin in rows]
