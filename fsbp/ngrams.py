"""N-gram acceptors: histories, counts, Witten-Bell back-off and moment matching.

Rows are dense: every history has a weight for every symbol and for the end, so no failure arcs
are needed. Public names: `HistoryAutomaton`, `history_automaton`, `full_history_automaton`,
`NgramCounts`, `ngram_counts`, `ngram_acceptor`, `expected_ngram_counts`, `tilted_ngram_counts`,
`moment_matched`, `NoMassError`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pynini

from fsbp.arrays import ArcArrays, FloatArray, IntArray, Machine, arrays_to_fst
from fsbp.composition import composed
from fsbp.connectivity import trimmed
from fsbp.fixpoint import completions

HistoryLabels: TypeAlias = tuple[int, ...]

BOS = 0


class NoMassError(ValueError):
    """No string has positive weight, so there is no distribution to take expectations of."""


@dataclass(frozen=True, eq=False)
class HistoryAutomaton:
    """A complete deterministic automaton whose states are the histories of an n-gram model.

    Args:
        histories: H distinct label sequences, closed under prefixes and suffixes; 0 stands for
            the beginning of the string and can only come first. Holds ().
        next_ha: int32[H, K], the history after each history and symbol: the longest suffix of
            the history with the symbol that is itself a history.
    """

    histories: tuple[HistoryLabels, ...]
    next_ha: IntArray

    @property
    def start(self) -> int:
        """The history of the beginning of a string."""
        return self.histories.index((BOS,)) if (BOS,) in self.histories else 0

    @property
    def num_symbols(self) -> int:
        """The number of symbols K."""
        return int(self.next_ha.shape[1])

    def acceptor(self, log_weight_hs: FloatArray) -> pynini.Fst:
        """Return the acceptor with a weight for each history and symbol.

        Args:
            log_weight_hs: float64[H, K + 1], nats; the last column is the end. Arcs of weight
                -inf, and histories no string reaches, are left out.

        Cost: O(H * K).
        """
        return arrays_to_fst(trimmed(self.arrays(log_weight_hs)))

    def arrays(self, log_weight_hs: FloatArray) -> ArcArrays:
        """Return the untrimmed arrays of `acceptor`, arcs by history and then symbol.

        Args:
            log_weight_hs: float64[H, K + 1], nats; the last column is the end.

        Cost: O(H * K).
        """
        size, symbols = self.next_ha.shape
        label_a = np.tile(np.arange(1, symbols + 1, dtype=np.int32), size)
        return ArcArrays(
            self.start,
            np.ascontiguousarray(log_weight_hs[:, -1]),
            np.repeat(np.arange(size, dtype=np.int32), symbols),
            label_a,
            label_a,
            self.next_ha.ravel(),
            log_weight_hs[:, :-1].ravel(),
        )


def history_automaton(histories: Iterable[Sequence[int]], num_symbols: int) -> HistoryAutomaton:
    """Return the automaton of the given histories, their prefixes and their suffixes.

    Args:
        histories: Sequences of labels; 0, the beginning of the string, can only come first.
        num_symbols: The number of symbols K.

    Cost: O(H * K * longest history).
    Source: Aho and Corasick (1975), "Efficient string matching".
    """
    parts = {(), (BOS,)}
    for history in map(tuple, histories):
        for begin in range(len(history)):
            parts |= {history[begin:end] for end in range(begin + 1, len(history) + 1)}
    return _automaton(parts, num_symbols)


def full_history_automaton(num_symbols: int, n: int) -> HistoryAutomaton:
    """Return the automaton of all histories of an n-gram model.

    Args:
        num_symbols: The number of symbols K.
        n: The order, 1 or more.

    Raises:
        ValueError: The order is not positive.

    Cost: O(K^n).
    """
    _check_order(n)
    labels = range(1, num_symbols + 1)
    parts: set[HistoryLabels] = {()}
    for length in range(1, n):
        parts |= set(product(labels, repeat=length))
        parts |= {(BOS, *rest) for rest in product(labels, repeat=length - 1)}
    return _automaton(parts, num_symbols)


def _automaton(parts: set[HistoryLabels], num_symbols: int) -> HistoryAutomaton:
    ordered = tuple(sorted(parts, key=lambda history: (len(history), history)))
    index = {history: h for h, history in enumerate(ordered)}
    next_ha = np.zeros((len(ordered), num_symbols), dtype=np.int32)
    longer_h: list[list[int]] = [[] for _ in ordered]
    for h, history in enumerate(ordered):
        if history and history != (BOS,):
            longer_h[index[history[:-1]]].append(h)
    for h, history in enumerate(ordered):
        if history:
            next_ha[h] = next_ha[index[history[1:]]]
        for longer in longer_h[h]:
            next_ha[h, ordered[longer][-1] - 1] = longer
    return HistoryAutomaton(ordered, next_ha)


def _check_order(n: int) -> None:
    if n < 1:
        raise ValueError(f"order {n}: an n-gram model needs an order of 1 or more")


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of symbols (and of the end) after each history.

    Args:
        automaton: The histories.
        counts_hs: float64[H, K + 1], how often each symbol follows each history, whatever the
            longest history was; the last column is the end.
    """

    automaton: HistoryAutomaton
    counts_hs: FloatArray

    def log_probs_hs(self, discount: float = 1.0) -> FloatArray:
        """Return float64[H, K + 1], Witten-Bell log-probabilities, all finite; rows sum to 1.

        p(a | h) = (c(h a) + d T(h) p(a | h')) / (c(h) + d T(h)), where T(h) is the number of
        distinct symbols seen after h, h' is h without its oldest symbol, and the last back-off is
        uniform over the symbols and the end.

        Args:
            discount: The factor d > 0; 1 is Witten-Bell, more trusts long histories less.

        Raises:
            ValueError: The discount is not positive.

        Cost: O(H * K).
        Source: Witten and Bell (1991), "The zero-frequency problem", method C; Chen and Goodman
            (1999), "An empirical study of smoothing techniques for language modeling".
        """
        if not discount > 0.0:
            raise ValueError(f"discount {discount} must be positive, so that no string is lost")
        index = {history: h for h, history in enumerate(self.automaton.histories)}
        width = self.counts_hs.shape[1]
        prob_hs = np.empty_like(self.counts_hs)
        total_h = self.counts_hs.sum(axis=1)
        kinds_h = discount * np.count_nonzero(self.counts_hs, axis=1)
        for h, history in enumerate(self.automaton.histories):
            backoff = prob_hs[index[history[1:]]] if history else np.full(width, 1.0 / width)
            if total_h[h] == 0.0:
                prob_hs[h] = backoff
            else:
                row = self.counts_hs[h] + kinds_h[h] * backoff
                prob_hs[h] = row / (total_h[h] + kinds_h[h])
        return np.log(prob_hs)


def ngram_counts(
    label_strings: Sequence[Sequence[int]],
    num_symbols: int,
    n: int,
    weights: Sequence[float] | FloatArray | None = None,
    max_arcs: int | None = None,
) -> NgramCounts:
    """Return the counts of all n-grams up to an order in strings.

    Args:
        label_strings: N sequences of labels between 1 and `num_symbols`.
        num_symbols: The number of symbols K.
        n: The order, 1 or more.
        weights: float64[N], how often each string counts; once each by default.
        max_arcs: The order is lowered, down to 1, until histories x symbols are no more than this.

    Raises:
        ValueError: The order is not positive.

    Cost: O(n * total length + H * K).
    """
    _check_order(n)
    weight_n = np.ones(len(label_strings)) if weights is None else np.asarray(weights, np.float64)
    events: dict[HistoryLabels, dict[int, float]] = {(): {}}
    for string, weight in zip(label_strings, weight_n.tolist(), strict=True):
        padded = (BOS, *string, num_symbols + 1)
        for position in range(1, len(padded)):
            for begin in range(max(0, position - n + 1), position + 1):
                row = events.setdefault(padded[begin:position], {})
                row[padded[position]] = row.get(padded[position], 0.0) + weight
    if max_arcs is not None and n > 1 and len(events) * num_symbols > max_arcs:
        return ngram_counts(label_strings, num_symbols, n - 1, weights, max_arcs)
    automaton = _automaton(set(events), num_symbols)
    counts_hs = np.zeros((len(automaton.histories), num_symbols + 1))
    for h, history in enumerate(automaton.histories):
        for label, count in events[history].items():
            counts_hs[h, label - 1] = count
    return NgramCounts(automaton, counts_hs)


def ngram_acceptor(
    label_strings: Sequence[Sequence[int]],
    num_symbols: int,
    n: int,
    weights: Sequence[float] | FloatArray | None = None,
    discount: float = 1.0,
) -> pynini.Fst:
    """Return a Witten-Bell n-gram model of strings: a deterministic acceptor whose total is 1.

    Every string over the alphabet has positive weight. With no string at all the model is
    uniform over the next symbol and the end.

    Args:
        label_strings: N sequences of labels between 1 and `num_symbols`.
        num_symbols: The number of symbols K.
        n: The order, 1 or more.
        weights: float64[N], how often each string counts; once each by default.
        discount: The factor of `NgramCounts.log_probs_hs`.

    Raises:
        ValueError: The order or the discount is not positive.

    Cost: O(n * total length + H * K).
    Source: That of `NgramCounts.log_probs_hs`.
    """
    counts = ngram_counts(label_strings, num_symbols, n, weights)
    return counts.automaton.acceptor(counts.log_probs_hs(discount))


def expected_ngram_counts(
    acceptor: Machine, automaton: HistoryAutomaton, max_arcs: int
) -> FloatArray:
    """Return float64[H, K + 1], how often a drawn string has each symbol after each history.

    The history is the automaton's state, so each position of a string counts once. The last
    column is the end.

    Args:
        acceptor: Acceptor with a finite, positive total weight, over labels 1..K.
        automaton: The histories.
        max_arcs: The largest number of arcs of the product.

    Raises:
        MachineTooLargeError: The product has more arcs.
        DivergentSumError: The sum over paths is infinite.
        NoMassError: The acceptor accepts nothing.

    Cost: O(arcs of the product x log(arcs per state)), plus that of `expected_arc_counts`.
    Source: Cotterell and Eisner (2015), "Penalized expectation propagation for graphical models
        over strings".
    """
    size, symbols = automaton.next_ha.shape
    return tilted_ngram_counts(acceptor, automaton, np.zeros((size, symbols + 1)), max_arcs)[0]


def tilted_ngram_counts(
    acceptor: Machine, automaton: HistoryAutomaton, log_weight_hs: FloatArray, max_arcs: int
) -> tuple[FloatArray, float]:
    """Return expected n-gram counts of an acceptor times an n-gram model, and their log total.

    Args:
        acceptor: Acceptor over labels 1..K.
        automaton: The histories.
        log_weight_hs: float64[H, K + 1], the n-gram model's weights, nats; the last column is
            the end. The product must have a finite, positive total.
        max_arcs: The largest number of arcs of the product.

    Returns:
        float64[H, K + 1], how often a string drawn from the product has each symbol after each
        history, and the log of the product's total (nats).

    Raises:
        MachineTooLargeError: The product has more arcs.
        DivergentSumError: The sum over paths is infinite.
        NoMassError: The product accepts nothing.

    Cost: O(arcs of the product x log(arcs per state)), plus twice that of `backward`.
    Source: That of `expected_ngram_counts`.
    """
    paths = composed(acceptor, _counting(automaton, log_weight_hs), max_arcs)
    if paths.start < 0:
        raise NoMassError("the product accepts nothing, so no n-gram has an expected count")
    moves = paths.source_a, paths.target_a, paths.log_weight_a
    ahead_s = completions(*moves, paths.final_s, "sum")
    begin_s = np.full(paths.num_states, -np.inf)
    begin_s[paths.start] = 0.0
    behind_s = completions(paths.target_a, paths.source_a, paths.log_weight_a, begin_s, "sum")
    total = float(ahead_s[paths.start])
    log_count_a = behind_s[paths.source_a] + paths.log_weight_a + ahead_s[paths.target_a]
    counts: npt.NDArray[np.float64] = np.bincount(
        paths.olabel_a, weights=np.exp(log_count_a - total), minlength=log_weight_hs.size + 1
    ).astype(np.float64)
    return counts[1:].reshape(log_weight_hs.shape), total


def _counting(automaton: HistoryAutomaton, log_weight_hs: FloatArray) -> ArcArrays:
    """Return the transducer from strings to the numbers of the n-grams in them, ends included."""
    size, width = log_weight_hs.shape
    number_hs = np.arange(1, size * width + 1, dtype=np.int32).reshape(size, width)
    plain = automaton.arrays(log_weight_hs)
    state_h = np.arange(size, dtype=np.int32)
    final_s = np.full(size + 1, -np.inf)
    final_s[size] = 0.0
    log_weight_a = np.concatenate((plain.log_weight_a, plain.final_s))
    kept = log_weight_a > -np.inf
    return ArcArrays.from_arcs(
        automaton.start,
        final_s,
        np.concatenate((plain.source_a, state_h))[kept],
        np.concatenate((plain.ilabel_a, np.zeros(size, dtype=np.int32)))[kept],
        np.concatenate((number_hs[:, :-1].ravel(), number_hs[:, -1]))[kept],
        np.concatenate((plain.target_a, np.full(size, size, dtype=np.int32)))[kept],
        log_weight_a[kept],
    )


def moment_matched(automaton: HistoryAutomaton, counts_hs: FloatArray) -> pynini.Fst:
    """Return the n-gram model nearest to the distribution whose expected counts are given.

    argmin over q of KL(p || q) among models with one free row per history: each weight is
    log(count / visits of the history), so q has the same expected counts, and its total is 1.

    Args:
        automaton: The histories.
        counts_hs: float64[H, K + 1], from `expected_ngram_counts` with this automaton.

    Returns:
        A deterministic acceptor; what has no expected count is not accepted.

    Cost: O(H * K).
    Source: Cotterell and Eisner (2015), "Penalized expectation propagation for graphical models
        over strings", on the closed form for n-gram families.
    """
    with np.errstate(divide="ignore"):
        log_count_hs = np.log(counts_hs)
        log_visits_h = np.log(counts_hs.sum(axis=1))
    visited_h = log_visits_h > -np.inf
    log_weight_hs = log_count_hs - np.where(visited_h, log_visits_h, 0.0)[:, None]
    return automaton.acceptor(log_weight_hs)
