"""The best strings that a transducer writes, given a list of strings that it may read.

Best-first search over prefixes of the output. A prefix keeps, for every listed input, the weights
of all (position, state) in which it may have just been completed; together with the weights of
all ways to go on from there they bound every output that begins with it. This is the search of
`fsbp.kbest` with one bound per input, so that it finds the best strings of a sum of powers too.

Public names: `OutputSearch`, `output_search`, `best_outputs`.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fsbp.acceptors import MachineTooLargeError
from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.factors.lattice import PairLattice
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.reading import log_add
from fsbp.tries import flat_labels

MAX_CELLS = 10_000_000


class OutputSearch(NamedTuple):
    """A transducer prepared for searches.

    Args:
        lattice: Its arcs.
        first_q: int32[S x base + 1]; the arcs that leave state s and read label l begin at entry
            s x base + l, and end where the next begin.
        closure_st: float64[S, S], log-weight of all paths between two states that read nothing;
            +inf where it has no finite sum.
    """

    lattice: PairLattice
    first_q: IntArray
    closure_st: FloatArray


def output_search(lattice: PairLattice) -> OutputSearch:
    """Return a transducer prepared for searches.

    Cost: O(A log A + S^3).
    """
    base, size = lattice.base, len(lattice.final_s)
    source_a, label_a = np.divmod(lattice.key_a, base * base)
    inserting = np.flatnonzero(label_a < base)
    step_st = np.full((size, size), -np.inf)
    ends = source_a[inserting], lattice.target_a[inserting]
    np.logaddexp.at(step_st, ends, lattice.log_weight_a[inserting])
    _close(step_st)
    first_q = np.searchsorted(lattice.key_a, np.arange(size * base + 1) * base).astype(np.int32)
    return OutputSearch(lattice, first_q, step_st)


def best_outputs(
    search: OutputSearch,
    inputs: Sequence[Sequence[int]],
    log_weight_n: FloatArray,
    semiring: Semiring,
    exponent: float,
    k: int,
) -> tuple[list[tuple[int, ...]], FloatArray]:
    """Return the `k` best outputs, best first, exactly, and their log-weights.

    weight(y) = log sum over n of exp(log_weight(n) + exponent x log T(x_n, y)), or the maximum
    over n instead of the sum; T(x, y) is always the sum over paths.

    Args:
        search: Of the transducer T.
        inputs: N distinct label sequences; labels the transducer lacks are refused, not an error.
        log_weight_n: float64[N], nats; below +inf.
        semiring: "sum" or "max".
        exponent: Above 0.
        k: How many; fewer are returned where fewer have any weight.

    Raises:
        DivergentSumError: An input has outputs without a finite sum.
        MachineTooLargeError: The prefixes kept have more than ten million cells.

    Cost: O(prefixes opened x (cells live there) x arcs), and O(arcs) per input symbol before.
    Source: That of `fsbp.kbest`, with one bound per input.
    """
    allowed = np.flatnonzero(log_weight_n > -np.inf)
    if k <= 0 or not len(allowed):
        return [], np.zeros(0)
    label_t, first_n = flat_labels([inputs[n] for n in allowed.tolist()])
    beta_gs = _completions(search, label_t, first_n)
    if np.isposinf(beta_gs[first_n[:-1] + np.arange(len(allowed)), search.lattice.start]).any():
        raise DivergentSumError("the strings that a transducer writes have no finite sum")
    results, weights, parent, label_of, complete = _best_outputs(
        search, beta_gs, label_t, first_n, log_weight_n[allowed], semiring == "max",
        exponent, k, MAX_CELLS,
    )  # fmt: skip
    if not complete:
        raise MachineTooLargeError(
            f"{len(results)} of {k} strings found before the search outgrew its bound; "
            "ask for fewer strings, or sharpen the weights"
        )
    outputs = []
    for prefix in results:
        labels = []
        while prefix > 0:
            labels.append(int(label_of[prefix]))
            prefix = parent[prefix]
        outputs.append(tuple(reversed(labels)))
    return outputs, weights


@compiled
def _through(x: float, y: float) -> float:
    """Return the log of a product; nothing times infinity is nothing."""
    if x == -np.inf or y == -np.inf:
        return -np.inf
    return x + y


@compiled
def _either(x: float, y: float) -> float:
    """Return the log of a sum of weights that may be infinite."""
    if x == np.inf or y == np.inf:
        return np.inf
    return log_add(x, y, False)


@compiled
def _close(weight: FloatArray) -> None:
    """Replace log P by log (I + P + P^2 + ...) in place, +inf where the sum diverges."""
    size = len(weight)
    for k in range(size):
        loop = weight[k, k]
        star = np.inf if loop > -1e-13 else -np.log1p(-np.exp(loop))
        before_i, after_j = weight[:, k].copy(), weight[k].copy()
        for i in range(size):
            reaching = _through(before_i[i], star)
            if reaching > -np.inf:
                for j in range(size):
                    weight[i, j] = _either(weight[i, j], _through(reaching, after_j[j]))
    for k in range(size):
        weight[k, k] = _either(weight[k, k], 0.0)


@compiled
def _arcs(search: OutputSearch, state: int, ilabel: int) -> tuple[int, int]:
    """Return the range of arcs that leave a state and read a label, whatever they write."""
    if ilabel >= search.lattice.base:
        return 0, 0
    query = state * search.lattice.base + ilabel
    return search.first_q[query], search.first_q[query + 1]


@compiled
def _completions(search: OutputSearch, label_t: IntArray, first_n: IntArray) -> FloatArray:
    """Return beta[g, s], the weight of all that may follow in state s at a position of an input.

    Position i of input n is row g = first_n[n] + n + i.
    """
    lattice, closure_st = search.lattice, search.closure_st
    size = len(lattice.final_s)
    beta_gs = np.empty((len(label_t) + len(first_n) - 1, size))
    raw_s = np.empty(size)
    for n in range(len(first_n) - 1):
        for t in range(first_n[n + 1], first_n[n] - 1, -1):
            if t == first_n[n + 1]:
                raw_s[:] = lattice.final_s
            else:
                raw_s[:] = -np.inf
                for s in range(size):
                    begin, end = _arcs(search, s, label_t[t])
                    for a in range(begin, end):
                        after = beta_gs[t + n + 1, lattice.target_a[a]]
                        raw_s[s] = _either(raw_s[s], _through(lattice.log_weight_a[a], after))
            for s in range(size):
                total = -np.inf
                for then in range(size):
                    total = _either(total, _through(closure_st[s, then], raw_s[then]))
                beta_gs[t + n, s] = total
    return beta_gs


@compiled
def _opened(
    search: OutputSearch, beta_gs: FloatArray, label_t: IntArray, first_n: IntArray,
    live_n: IntArray, alpha_gs: FloatArray, ending_n: FloatArray,
) -> tuple[list[np.int64], list[float]]:  # fmt: skip
    """Return the moves that write one more symbol: (symbol, row, state) as one number, and weight.

    `alpha_gs` holds the arrivals at a prefix in the live inputs, and is emptied; `ending_n` is set
    to the weight of the prefix as the whole output of each.
    """
    lattice = search.lattice
    rows, size = beta_gs.shape
    codes, weights = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    for n in live_n:
        ending_n[n] = -np.inf
        for t in range(first_n[n], first_n[n + 1] + 1):
            row, at_end = t + n, t == first_n[n + 1]
            for s in range(size):
                here = alpha_gs[row, s]
                if here == -np.inf:
                    continue
                alpha_gs[row, s] = -np.inf
                if at_end:
                    ending_n[n] = log_add(ending_n[n], here + lattice.final_s[s], False)
                for reading in range(1 if at_end else 2):
                    ilabel = label_t[t] if reading else 0
                    begin, end = _arcs(search, s, ilabel)
                    key = (np.int64(s) * lattice.base + ilabel) * lattice.base
                    for a in range(begin, end):
                        then, weight = lattice.target_a[a], here + lattice.log_weight_a[a]
                        if weight == -np.inf or beta_gs[row + reading, then] == -np.inf:
                            continue
                        symbol = lattice.key_a[a] - key
                        if symbol == 0:
                            alpha_gs[row + 1, then] = log_add(
                                alpha_gs[row + 1, then], weight, False
                            )
                        else:
                            codes.append((symbol * rows + row + reading) * size + then)
                            weights.append(weight)
    return codes, weights


@compiled
def _kept_complete(complete: list[float], ending: float, k: int) -> bool:
    """Add an output's weight to the heap of the best `k`; return whether it is among them."""
    if ending == -np.inf or (len(complete) == k and ending < complete[0]):
        return False
    heapq.heappush(complete, ending)
    if len(complete) > k:
        heapq.heappop(complete)
    return True


@compiled
def _grouped(
    order: IntArray, at: int, codes: list[np.int64], moved: list[float], beta_gs: FloatArray,
    input_g: IntArray, log_weight_n: FloatArray, best: bool, exponent: float,
    pool_cell: list[np.int64], pool_weight: list[float],
) -> tuple[int, float]:  # fmt: skip
    """Append the cells that one symbol's moves lead to, equal ones added up, to the pool.

    `order` sorts the moves by symbol, then by cell; the symbol's begin at position `at` of it.
    Returns the position where the next symbol's begin, and the bound on all outputs that go on so.
    """
    rows, size = beta_gs.shape
    cells = np.int64(rows * size)
    symbol = codes[order[at]] // cells
    priority, total, of_input = -np.inf, -np.inf, -1
    while at < len(order) and codes[order[at]] // cells == symbol:
        code, weight = codes[order[at]], -np.inf
        while at < len(order) and codes[order[at]] == code:
            weight = log_add(weight, moved[order[at]], False)
            at += 1
        cell = code % cells
        pool_cell.append(cell)
        pool_weight.append(weight)
        row = cell // size
        if input_g[row] != of_input:
            if of_input >= 0:
                bound = log_weight_n[of_input] + exponent * total
                priority = log_add(priority, bound, best)
            total, of_input = -np.inf, input_g[row]
        total = log_add(total, weight + beta_gs[row, cell % size], False)
    return at, log_add(priority, log_weight_n[of_input] + exponent * total, best)


@compiled
def _best_outputs(
    search: OutputSearch, beta_gs: FloatArray, label_t: IntArray, first_n: IntArray,
    log_weight_n: FloatArray, best: bool, exponent: float, k: int, max_cells: int,
) -> tuple[IntArray, FloatArray, IntArray, IntArray, bool]:  # fmt: skip
    """Return (prefix of each result, its weight, parent and label of each prefix, success).

    The pool holds each prefix's cells, (row, state) as one number, and their weights.
    """
    rows, size = beta_gs.shape
    cells = np.int64(rows * size)
    input_g = np.empty(rows, np.int32)
    results, weights, found = np.zeros(k, np.int32), np.zeros(k), 0
    parent, label_of = [np.int32(-1)], [np.int32(0)]
    pool_cell, pool_weight = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    begin_of, end_of = [np.int64(0)], [np.int64(len(log_weight_n))]
    root = -np.inf
    for n in range(len(log_weight_n)):
        row = first_n[n] + n
        input_g[row : first_n[n + 1] + n + 1] = n
        pool_cell.append(np.int64(row) * size + search.lattice.start)
        pool_weight.append(0.0)
        bound = log_weight_n[n] + exponent * beta_gs[row, search.lattice.start]
        root = log_add(root, bound, best)
    queue: list[tuple[float, Any, Any, bool]] = [(-root, np.int64(0), np.int64(0), False)]
    entries = 1
    complete = [0.0 for _ in range(0)]
    alpha_gs, ending_n = np.full((rows, size), -np.inf), np.empty(len(log_weight_n))
    live_n = np.empty(len(log_weight_n), np.int32)
    while len(queue) > 0 and found < k:
        negative, _, prefix, ended = heapq.heappop(queue)
        if ended:
            results[found], weights[found] = prefix, -negative
            found += 1
            continue
        live = 0
        for i in range(begin_of[prefix], end_of[prefix]):
            row = pool_cell[i] // size
            alpha_gs[row, pool_cell[i] % size] = pool_weight[i]
            if live == 0 or live_n[live - 1] != input_g[row]:
                live_n[live] = input_g[row]
                live += 1
        codes, moved = _opened(search, beta_gs, label_t, first_n, live_n[:live], alpha_gs, ending_n)
        ending = -np.inf
        for n in live_n[:live]:
            ending = log_add(ending, log_weight_n[n] + exponent * ending_n[n], best)
        if _kept_complete(complete, ending, k):
            heapq.heappush(queue, (-ending, np.int64(entries), prefix, True))
            entries += 1
        order = np.argsort(np.array(codes)).astype(np.int32)
        at = 0
        while at < len(order):
            symbol, begin = codes[order[at]] // cells, len(pool_cell)
            at, priority = _grouped(
                order, at, codes, moved, beta_gs, input_g, log_weight_n, best, exponent,
                pool_cell, pool_weight,
            )  # fmt: skip
            if len(complete) == k and priority < complete[0]:
                while len(pool_cell) > begin:
                    pool_cell.pop()
                    pool_weight.pop()
                continue
            heapq.heappush(queue, (-priority, np.int64(entries), np.int64(len(parent)), False))
            entries += 1
            begin_of.append(np.int64(begin))
            end_of.append(np.int64(len(pool_cell)))
            parent.append(np.int32(prefix))
            label_of.append(np.int32(symbol))
        if len(pool_cell) > max_cells:
            return results[:found], weights[:found], np.array(parent), np.array(label_of), False
    return results[:found], weights[:found], np.array(parent), np.array(label_of), True
