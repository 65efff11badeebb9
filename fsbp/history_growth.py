"""Variable-order histories: which n-grams an automaton should tell apart.

Public names: `longer_histories`, `grown_automaton`, `coarser_counts`.
"""

from __future__ import annotations

import numpy as np

from fsbp.arrays import FloatArray, IntArray
from fsbp.ngrams import HistoryAutomaton, HistoryLabels, history_automaton

DEPTH = 3
LIKELY = 0.01


def longer_histories(
    automaton: HistoryAutomaton, counts_hs: FloatArray, longest: int, number: int
) -> list[HistoryLabels]:
    """Return the most expected n-grams that are no histories yet, likeliest first.

    Each history is followed by up to three symbols, as expected by the counts: a long history may
    pay where the shorter ones in it do not.

    Args:
        automaton: The present histories.
        counts_hs: float64[H, K + 1], expected counts of symbols and of the end after each.
        longest: The largest number of symbols in a history.
        number: How many n-grams to return, and to keep at each step.

    Cost: O(H * K + number * K * log(number * K)).
    """
    visits_h = counts_hs.sum(axis=1, keepdims=True)
    prob_ha = (counts_hs / np.where(visits_h > 0.0, visits_h, 1.0))[:, :-1]
    known = set(automaton.histories)
    expected: dict[HistoryLabels, float] = {}
    grams = list(automaton.histories)
    states: IntArray = np.arange(len(grams), dtype=np.int32)
    count_b: FloatArray = visits_h[:, 0]
    for _ in range(DEPTH):
        count_ba = count_b[:, None] * prob_ha[states]
        best = np.argsort(-count_ba, axis=None, kind="stable")[:number]
        best = best[count_ba.ravel()[best] > 0.0]
        rows, columns = np.divmod(best, automaton.num_symbols)
        grams = [
            (*grams[row], column + 1)[-longest:]
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]
        states, count_b = automaton.next_ha[states[rows], columns], count_ba[rows, columns]
        for gram, count in zip(grams, count_b.tolist(), strict=True):
            if gram and gram not in known:
                expected[gram] = max(expected.get(gram, 0.0), count)
    return sorted(expected, key=lambda gram: (-expected[gram], gram))[:number]


def grown_automaton(
    automaton: HistoryAutomaton,
    trial: HistoryAutomaton,
    counts_hs: FloatArray,
    penalty: float,
) -> HistoryAutomaton:
    """Return the automaton with those histories of a trial that pay for their arcs.

    A history w pays if sum over a of c(w a) log(p(a | w) / p(a | w')) > penalty x arcs, where w' is
    its longest suffix kept so far, and the arcs are the likely symbols after w and after the parts
    of w that must be added with it. The left side is by how much KL falls, in nats per string.

    Args:
        automaton: The present histories, all kept.
        trial: A refinement of it.
        counts_hs: float64[H of trial, K + 1], expected counts.
        penalty: Nats per arc.

    Returns:
        `automaton` itself when nothing pays.

    Cost: O(H of trial * (K + longest history^2)).
    Source: Cotterell and Eisner (2015), "Penalized expectation propagation for graphical models
        over strings", section 5.
    """
    following = _following(trial, counts_hs)
    kept = set(automaton.histories)
    for history in trial.histories:
        if history in kept:
            continue
        shorter = next(
            history[begin:] for begin in range(1, len(history) + 1) if history[begin:] in kept
        )
        added = _parts(history) - kept
        arcs = sum(_likely_symbols(following[part]) for part in added)
        if _gain(following[history], following[shorter]) > penalty * arcs:
            kept |= added
    if len(kept) == len(automaton.histories):
        return automaton
    return history_automaton(kept, automaton.num_symbols)


def coarser_counts(counts_hs: FloatArray, coarser_h: IntArray, size: int) -> FloatArray:
    """Return expected counts added up over the histories of a coarser automaton.

    Args:
        counts_hs: float64[H, K + 1], counts of a refinement.
        coarser_h: int32[H], from `history_map`.
        size: The number of histories of the coarser automaton.
    """
    total_hs = np.zeros((size, counts_hs.shape[1]))
    np.add.at(total_hs, coarser_h, counts_hs)
    return total_hs


def _parts(history: HistoryLabels) -> set[HistoryLabels]:
    """Return all non-empty stretches of a history, itself included."""
    size = len(history)
    return {history[begin:end] for begin in range(size) for end in range(begin + 1, size + 1)}


def _following(
    automaton: HistoryAutomaton, counts_hs: FloatArray
) -> dict[HistoryLabels, FloatArray]:
    """Return float64[K + 1] for each history, the counts of what follows it, seen as a suffix."""
    following = {h: counts_hs[n].copy() for n, h in enumerate(automaton.histories)}
    for history in sorted(following, key=len, reverse=True):
        if history:
            following[history[1:]] += following[history]
    return following


def _gain(counts_s: FloatArray, shorter_s: FloatArray) -> float:
    """Return by how many nats per string a longer history predicts better than a shorter one."""
    seen = counts_s > 0.0
    if not seen.any():
        return 0.0
    log_own_s = np.log(counts_s[seen]) - np.log(counts_s.sum())
    log_shorter_s = np.log(shorter_s[seen]) - np.log(shorter_s.sum())
    return float(counts_s[seen] @ (log_own_s - log_shorter_s))


def _likely_symbols(counts_s: FloatArray) -> int:
    """Return the number of symbols, ends included, of at least one percent probability."""
    total = counts_s.sum()
    return int(np.count_nonzero(counts_s >= LIKELY * total)) if total > 0.0 else 1
