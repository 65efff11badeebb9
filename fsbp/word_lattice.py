"""Expected n-gram counts of the latent strings behind one observed word.

An observed word came through an edit channel from latent strings end to end, each weighed by a
dense automaton of histories. Compiled loops run over (input length, history, position in the
word), in linear space with one scale per input length; at the end of the stem the run goes on at
the beginning of the suffix, so concatenation costs nothing. One forward-backward pass gives the
counts of both, and of the channel's operations. Public names: `LatticeCounts`, `word_lattice`.
"""

from typing import NamedTuple

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled
from fsbp.edit_channel import WordTables

TINY = 1e-290


class LatticeCounts(NamedTuple):
    """What a word says of the two strings behind it.

    Args:
        log_total: log sum over stems s and suffixes u of
            exp(stem(s) + suffix(u)) x P(word | s u), nats; -inf where nothing fits.
        stem_hs: float64[H, K + 1], expected uses of each symbol (last: the end) after each
            history, under the distribution that the total normalises.
        suffix_hs: Likewise.
        operations_pno: float64[3, 3, 4], expected uses of the channel's operations; zero unless
            asked for.
    """

    log_total: float
    stem_hs: FloatArray
    suffix_hs: FloatArray
    operations_pno: FloatArray


class _Moves(NamedTuple):
    """An automaton's moves, the symbols of one column that lead to one history taken together.

    A pair is a column and a next history; the channel's part of a move depends on its pair alone.

    Args:
        first_h: int32[H + 1]: history h has the moves from entry h up to entry h + 1.
        pair_m: int32[moves].
        weight_m: float64[moves].
        column_p: int32[pairs].
        target_p: int32[pairs].
        move_ha: int32[H, K], each symbol's move.
        weight_ha: float64[H, K].
        final_h: float64[H].
        start: The history at the beginning.
    """

    first_h: IntArray
    pair_m: IntArray
    weight_m: FloatArray
    column_p: IntArray
    target_p: IntArray
    move_ha: IntArray
    weight_ha: FloatArray
    final_h: FloatArray
    start: int


def word_lattice(
    tables: WordTables,
    stem_next_ha: IntArray,
    stem_log_weight_hs: FloatArray,
    stem_start: int,
    suffix_next_ha: IntArray,
    suffix_log_weight_hs: FloatArray,
    suffix_start: int,
    count_operations: bool = False,
) -> LatticeCounts:
    """Return the total and the expected counts of a word's stem and suffix.

    Args:
        tables: The channel around the word.
        stem_next_ha: int32[H, K], as in `HistoryAutomaton`.
        stem_log_weight_hs: float64[H, K + 1], nats; no +inf; need not be summable.
        stem_start: The history at the beginning.
        suffix_next_ha: Likewise for the suffix.
        suffix_log_weight_hs: Likewise.
        suffix_start: Likewise.
        count_operations: Whether to count the channel's operations.

    Cost: O(layers x (H + H') x moves per history x n), where moves are distinct pairs of a column
        of the word's tables and a next history; vectorised over n.
    Source: Cotterell and Eisner (2015), "Penalized expectation propagation for graphical models
        over strings", for the counts; the lattice is ours.
    """
    return LatticeCounts(*_word_lattice(
        tables, stem_next_ha, stem_log_weight_hs, stem_start, suffix_next_ha,
        suffix_log_weight_hs, suffix_start, count_operations,
    ))  # fmt: skip


@compiled
def _moves(
    next_ha: IntArray, log_weight_hs: FloatArray, start: int, column_a: IntArray, shift: float
) -> _Moves:
    size, symbols = next_ha.shape
    first_h = np.zeros(size + 1, np.int32)
    pair_m = np.empty(size * symbols, np.int32)
    weight_m = np.zeros(size * symbols)
    column_p = np.empty(size * symbols, np.int32)
    target_p = np.empty(size * symbols, np.int32)
    move_ha = np.empty((size, symbols), np.int32)
    weight_ha = np.empty((size, symbols))
    pair_ch = np.full((column_a.max() + 1, size), -1, np.int32)
    latest_p = np.full(size * symbols, -1, np.int32)
    moves, pairs = 0, 0
    for h in range(size):
        first_h[h] = moves
        for a in range(symbols):
            column, target = column_a[a], next_ha[h, a]
            pair = pair_ch[column, target]
            if pair < 0:
                pair = pairs
                pair_ch[column, target] = pair
                column_p[pair], target_p[pair] = column, target
                pairs += 1
            move = latest_p[pair]
            if move < first_h[h]:
                move = moves
                pair_m[move] = pair
                latest_p[pair] = move
                moves += 1
            weight = np.exp(log_weight_hs[h, a] - shift)
            weight_m[move] += weight
            move_ha[h, a] = move
            weight_ha[h, a] = weight
    first_h[size] = moves
    final_h = np.exp(log_weight_hs[:, symbols])
    return _Moves(
        first_h, pair_m[:moves], weight_m[:moves], column_p[:pairs], target_p[:pairs], move_ha,
        weight_ha, final_h, start,
    )  # fmt: skip


@compiled
def _arriving(moves: _Moves, now_hj: FloatArray) -> FloatArray:
    """Return float64[pairs, n + 1], the weight about to read a symbol of each pair."""
    width = now_hj.shape[1]
    arriving_pj = np.zeros((len(moves.column_p), width))
    for h in range(len(moves.final_h)):
        if now_hj[h].max() > TINY:
            for m in range(moves.first_h[h], moves.first_h[h + 1]):
                pair, weight = moves.pair_m[m], moves.weight_m[m]
                for j in range(width):
                    arriving_pj[pair, j] += weight * now_hj[h, j]
    return arriving_pj


@compiled
def _layer(tables: WordTables, moves: _Moves, now_hj: FloatArray, after_hj: FloatArray) -> None:
    """Add to `after_hj` what reading one input symbol makes of `now_hj`."""
    width = len(tables.ending_j)
    arriving_pj = _arriving(moves, now_hj)
    for p in range(len(moves.column_p)):
        column, target = moves.column_p[p], moves.target_p[p]
        waiting, written = 0.0, 0.0
        for j in range(width):
            waiting += arriving_pj[p, j]
            after_hj[target, j] += waiting * tables.delete_jc[j, column] + written
            written = waiting * tables.write_jc[j, column]
            waiting *= tables.insert_jc[j, column]


@compiled
def _layer_back(
    tables: WordTables,
    moves: _Moves,
    now_hj: FloatArray,
    later_hj: FloatArray,
    ratio: float,
    back_hj: FloatArray,
    count_m: FloatArray,
) -> FloatArray:
    """Add to `back_hj` what completions from the next layer make, and count the moves.

    Returns:
        float64[pairs, n + 1], the weight of all completions after deciding to read each pair.
    """
    width = len(tables.ending_j)
    ahead_pj = np.empty((len(moves.column_p), width))
    for p in range(len(moves.column_p)):
        column, target = moves.column_p[p], moves.target_p[p]
        after, ahead = 0.0, 0.0
        for j in range(width - 1, -1, -1):
            ahead = (
                tables.delete_jc[j, column] * later_hj[target, j]
                + tables.write_jc[j, column] * after
            ) * ratio + tables.insert_jc[j, column] * ahead
            after = later_hj[target, j]
            ahead_pj[p, j] = ahead
    for h in range(len(moves.final_h)):
        if now_hj[h].max() > TINY:
            for m in range(moves.first_h[h], moves.first_h[h + 1]):
                pair, weight = moves.pair_m[m], moves.weight_m[m]
                total = 0.0
                for j in range(width):
                    back_hj[h, j] += weight * ahead_pj[pair, j]
                    total += now_hj[h, j] * ahead_pj[pair, j]
                count_m[m] += weight * total
    return ahead_pj


@compiled
def _count_operations(
    tables: WordTables,
    moves: _Moves,
    now_hj: FloatArray,
    later_hj: FloatArray,
    ratio: float,
    ahead_pj: FloatArray,
    operations_pno: FloatArray,
) -> None:
    """Add the channel's expected operations around one input symbol."""
    width = len(tables.ending_j)
    arriving_pj = _arriving(moves, now_hj)
    for p in range(len(moves.column_p)):
        column, target = moves.column_p[p], moves.target_p[p]
        waiting = 0.0
        for j in range(width):
            waiting += arriving_pj[p, j]
            uses_o = operations_pno[tables.previous_j[j], tables.class_c[column]]
            uses_o[3] += waiting * ratio * tables.delete_jc[j, column] * later_hj[target, j]
            if j + 1 < width:
                written = waiting * ratio * tables.write_jc[j, column] * later_hj[target, j + 1]
                uses_o[0 if tables.is_copy_jc[j, column] else 1] += written
                waiting *= tables.insert_jc[j, column]
                uses_o[2] += waiting * ahead_pj[p, j + 1]


@compiled
def _count_ending(tables: WordTables, ending: FloatArray, operations_pno: FloatArray) -> None:
    """Add the operations after the last input symbol, `ending` being how often each j ends."""
    last = len(tables.class_c) - 1
    inserting = 0.0
    for j in range(len(ending)):
        inserting += ending[j]
        operation = 2 if j + 1 < len(ending) else 0
        operations_pno[tables.previous_j[j], tables.class_c[last], operation] += inserting


@compiled
def _symbol_counts(moves: _Moves, count_m: FloatArray, end_h: FloatArray) -> FloatArray:
    """Return float64[H, K + 1]: each move's count shared out among its symbols by weight."""
    size, symbols = moves.move_ha.shape
    counts_hs = np.zeros((size, symbols + 1))
    for h in range(size):
        for a in range(symbols):
            m = moves.move_ha[h, a]
            if count_m[m] > 0.0:
                counts_hs[h, a] = count_m[m] * moves.weight_ha[h, a] / moves.weight_m[m]
        counts_hs[h, symbols] = end_h[h]
    return counts_hs


@compiled
def _word_lattice(
    tables: WordTables,
    stem_next_ha: IntArray,
    stem_log_weight_hs: FloatArray,
    stem_start: int,
    suffix_next_ha: IntArray,
    suffix_log_weight_hs: FloatArray,
    suffix_start: int,
    count_operations: bool,
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    shift = max(stem_log_weight_hs[:, :-1].max(), suffix_log_weight_hs[:, :-1].max())
    stem = _moves(stem_next_ha, stem_log_weight_hs, stem_start, tables.column_a, shift)
    suffix = _moves(suffix_next_ha, suffix_log_weight_hs, suffix_start, tables.column_a, shift)
    size, suffix_size, width = len(stem.final_h), len(suffix.final_h), len(tables.ending_j)
    layers = tables.max_input + 1
    stem_ihj = np.zeros((layers, size, width))
    suffix_ihj = np.zeros((layers, suffix_size, width))
    scale_i = np.zeros(layers)
    ended_i = np.zeros(layers)
    stem_ihj[0, stem.start, 0] = 1.0
    used = 0
    for i in range(layers):
        for h in range(size):
            if stem.final_h[h] > 0.0:
                suffix_ihj[i, suffix.start] += stem.final_h[h] * stem_ihj[i, h]
        for h in range(suffix_size):
            ended_i[i] += suffix.final_h[h] * (suffix_ihj[i, h] * tables.ending_j).sum()
        used = i + 1
        if used == layers:
            break
        _layer(tables, stem, stem_ihj[i], stem_ihj[i + 1])
        _layer(tables, suffix, suffix_ihj[i], suffix_ihj[i + 1])
        peak = max(stem_ihj[i + 1].max(), suffix_ihj[i + 1].max())
        if peak <= 0.0:
            break
        stem_ihj[i + 1] /= peak
        suffix_ihj[i + 1] /= peak
        scale_i[i + 1] = scale_i[i] + np.log(peak) + shift
    log_total = -np.inf
    for i in range(used):
        if ended_i[i] > 0.0:
            log_total = np.logaddexp(log_total, scale_i[i] + np.log(ended_i[i]))
    stem_m, suffix_m = np.zeros(len(stem.weight_m)), np.zeros(len(suffix.weight_m))
    stem_end_h, suffix_end_h = np.zeros(size), np.zeros(suffix_size)
    operations_pno = np.zeros((3, 3, 4))
    if log_total > -np.inf:
        stem_later, suffix_later = np.zeros((size, width)), np.zeros((suffix_size, width))
        for i in range(used - 1, -1, -1):
            stem_back, suffix_back = np.zeros((size, width)), np.zeros((suffix_size, width))
            share = np.exp(scale_i[i] - log_total)
            if ended_i[i] > 0.0:
                for h in range(suffix_size):
                    suffix_back[h] += share * suffix.final_h[h] * tables.ending_j
                    ending_j = suffix_ihj[i, h] * suffix_back[h]
                    suffix_end_h[h] += ending_j.sum()
                    if count_operations:
                        _count_ending(tables, ending_j, operations_pno)
            if i + 1 < used:
                ratio = np.exp(scale_i[i] + shift - scale_i[i + 1])
                ahead_pj = _layer_back(
                    tables, suffix, suffix_ihj[i], suffix_later, ratio, suffix_back, suffix_m
                )
                if count_operations:
                    _count_operations(
                        tables, suffix, suffix_ihj[i], suffix_later, ratio, ahead_pj,
                        operations_pno,
                    )  # fmt: skip
            for h in range(size):
                if stem.final_h[h] > 0.0:
                    completion_j = stem.final_h[h] * suffix_back[suffix.start]
                    stem_back[h] += completion_j
                    stem_end_h[h] += (stem_ihj[i, h] * completion_j).sum()
            if i + 1 < used:
                ahead_pj = _layer_back(
                    tables, stem, stem_ihj[i], stem_later, ratio, stem_back, stem_m
                )
                if count_operations:
                    _count_operations(
                        tables, stem, stem_ihj[i], stem_later, ratio, ahead_pj, operations_pno
                    )
            stem_later, suffix_later = stem_back, suffix_back
    return (
        log_total,
        _symbol_counts(stem, stem_m, stem_end_h),
        _symbol_counts(suffix, suffix_m, suffix_end_h),
        operations_pno,
    )
