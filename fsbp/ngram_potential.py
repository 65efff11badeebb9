"""Potentials that add up weights of n-grams: what n-gram expectation propagation exchanges.

The log-weight of a string is the sum, over its positions and its end, of a weight that depends on
the history so far and on the next symbol. Products add weights and quotients subtract them, on a
common refinement of the two automata, so a product of any number of messages is no larger than
the union of their histories.

Public names: `NgramPotential`, `common_refinement`, `history_map`, `on_common_refinement`,
`sum_of_ngrams`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fsbp import acceptors
from fsbp.alphabet import Alphabet, common_alphabet
from fsbp.arrays import ArcArrays, FloatArray, IntArray, compiled
from fsbp.dense_sums import dense_completions, log_moves
from fsbp.fixpoint import divergent
from fsbp.ngrams import BOS, HistoryAutomaton, NoMassError, history_automaton
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.variables import Acceptor, StringPotential, StringTable


@compiled
def _walked(
    next_ha: IntArray,
    log_weight_hs: FloatArray,
    start: int,
    label_t: IntArray,
    end_n: IntArray,
) -> FloatArray:
    """Return the log-weight of each string; the labels of all strings come one after another."""
    log_weight_n = np.zeros(len(end_n))
    begin = 0
    for n in range(len(end_n)):
        history = start
        for t in range(begin, end_n[n]):
            log_weight_n[n] += log_weight_hs[history, label_t[t] - 1]
            history = next_ha[history, label_t[t] - 1]
        log_weight_n[n] += log_weight_hs[history, -1]
        begin = end_n[n]
    return log_weight_n


def history_map(old: HistoryAutomaton, new: HistoryAutomaton) -> IntArray:
    """Return int32[H of new], the history of `old` that each history of `new` implies.

    m(()) = (), m(BOS) = the start, m(h a) = next_old[m(h), a].

    Args:
        old: The coarser automaton.
        new: A refinement: its histories include those of `old`.

    Raises:
        ValueError: `new` lacks a history or a symbol of `old`.

    Cost: O(H of new).
    """
    if old is new:
        return np.arange(len(old.histories), dtype=np.int32)
    if new.num_symbols != old.num_symbols or not set(old.histories) <= set(new.histories):
        raise ValueError("only an automaton with all the old histories and symbols refines it")
    implied = {(): 0, (BOS,): old.start}
    next_rows = old.next_ha.tolist()
    for history in new.histories:
        if history not in implied:
            implied[history] = next_rows[implied[history[:-1]]][history[-1] - 1]
    return np.array([implied[history] for history in new.histories], dtype=np.int32)


def common_refinement(automata: Sequence[HistoryAutomaton]) -> HistoryAutomaton:
    """Return the smallest automaton that refines one or more: that of the union of histories.

    One of the given automata is returned where it will do.

    Args:
        automata: At least one, over the same number of symbols.

    Raises:
        ValueError: They differ in the number of symbols.

    Cost: O(H * K * longest history) where a new one must be built, else O(H).
    """
    if len({automaton.num_symbols for automaton in automata}) > 1:
        raise ValueError("automata over different numbers of symbols have no common refinement")
    largest = max(automata, key=lambda automaton: len(automaton.histories))
    others = [automaton for automaton in automata if automaton is not largest]
    union = set(largest.histories).union(*(other.histories for other in others))
    if len(union) == len(largest.histories):
        return largest
    return history_automaton(union, largest.num_symbols)


@dataclass(frozen=True, eq=False)
class NgramPotential(StringPotential):
    """A potential carried by a dense deterministic automaton of histories.

    log_weight(x) = sum over positions t of log_weight_hs[history before t, x_t], plus
    log_weight_hs[history at the end, end]. Weights need not be normalised, nor have a finite sum.

    Args:
        automaton: The histories, over labels 1..K.
        alphabet: Owner of the labels, K symbols.
        log_weight_hs: float64[H, K + 1], nats; the last column is the end.
        unseen: Log-weight of every symbol outside the alphabet (nats).
        tables: Those with a floor for which it stands, if for nothing else but weights of 0.

    Raises:
        ValueError: The array's shape is not that of automaton and alphabet.
    """

    automaton: HistoryAutomaton
    alphabet: Alphabet
    log_weight_hs: FloatArray
    unseen: float = -math.inf
    tables: tuple[StringTable, ...] = ()

    def __post_init__(self) -> None:
        """Check the shape."""
        size, symbols = self.automaton.next_ha.shape
        if self.log_weight_hs.shape != (size, symbols + 1) or len(self.alphabet) != symbols:
            raise ValueError(
                f"weights of shape {self.log_weight_hs.shape} for {size} histories, "
                f"{symbols} arcs each, and {len(self.alphabet)} symbols"
            )

    @classmethod
    def uniform(cls, automaton: HistoryAutomaton, alphabet: Alphabet) -> NgramPotential:
        """Return log-weight 0 for every string, over whatever symbols."""
        size, symbols = automaton.next_ha.shape
        return cls(automaton, alphabet, np.zeros((size, symbols + 1)), unseen=0.0)

    @cached_property
    def arrays(self) -> ArcArrays:
        """The machine as arrays, untrimmed: one arc per history and symbol."""
        return self.automaton.arrays(self.log_weight_hs)

    @property
    def num_arcs(self) -> int:
        """The number of arcs, those of weight -inf included."""
        return int(self.automaton.next_ha.size)

    @property
    def is_free(self) -> bool:
        """Whether no string is ruled out by what it stands for: tables with a floor, or nothing."""
        return self.unseen == 0.0

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string.

        Cost: O(total length); that of `over` where symbols are outside the alphabet and allowed.
        """
        if self.unseen > -math.inf:
            if (wider := self.alphabet.extended(strings)) is not self.alphabet:
                return self.over(wider).log_weights(strings)
        known = [n for n, text in enumerate(strings) if not self.alphabet.unseen(text)]
        log_weights_n = np.full(len(strings), -np.inf)
        if known:
            labels = [self.alphabet.labels(strings[n]) for n in known]
            label_t = np.array([label for string in labels for label in string], dtype=np.int32)
            end_n = np.cumsum([len(string) for string in labels], dtype=np.int32)
            log_weights_n[known] = _walked(
                self.automaton.next_ha, self.log_weight_hs, self.automaton.start, label_t, end_n
            )
        return log_weights_n

    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return the same potential as a machine over `alphabet`, extended as needed."""
        if self.unseen > -math.inf:
            wider = common_alphabet([self.alphabet, alphabet])
            return self.over(wider)._acceptor.to_acceptor(alphabet)
        return self._acceptor.to_acceptor(alphabet)

    @cached_property
    def _acceptor(self) -> Acceptor:
        return Acceptor(self.automaton.acceptor(self.log_weight_hs), self.alphabet)

    def log_completions_h(self, semiring: Semiring = "sum") -> FloatArray:
        """Return float64[H], the log-weight of all completions (or the best) from each history.

        Histories that no string reaches, or that no string ends from, get -inf.

        Raises:
            DivergentSumError: The sum is infinite, or a cycle gains weight.

        Cost: O(H * K + H^3).
        """
        if semiring not in self._completions:
            try:
                self._completions[semiring] = dense_completions(*self._moves(semiring), semiring)
            except DivergentSumError:
                self._completions[semiring] = None
        found = self._completions[semiring]
        if found is None:
            raise divergent(semiring)
        return found

    @cached_property
    def _completions(self) -> dict[Semiring, FloatArray | None]:
        """Completions already computed; None where the sum is infinite."""
        return {}

    def _moves(self, semiring: Semiring) -> tuple[FloatArray, FloatArray]:
        """Return float64[H, H] and float64[H]: moving between histories, and stopping there."""
        automaton = self.automaton
        return log_moves(automaton.next_ha, self.log_weight_hs, automaton.start, semiring == "max")

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the sum, or the maximum, of the weights of all strings (nats).

        Raises:
            DivergentSumError: The weights of the strings have no finite sum, or no maximum.

        Cost: O(H * K + H^3).
        """
        return float(self.log_completions_h(semiring)[self.automaton.start])

    @property
    def is_summable(self) -> bool:
        """Whether the weights of all strings have a finite, positive sum."""
        try:
            return self.log_total() > -np.inf
        except DivergentSumError:
            return False

    def log_probs_hs(self) -> FloatArray:
        """Return float64[H, K + 1], the log-probability of each symbol after each history.

        log p(a | h) = weight(h, a) + completions(next(h, a)) - completions(h). Histories that no
        string visits are uniform.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.

        Cost: O(H * K + H^3).
        """
        ahead_h = self.log_completions_h()
        log_prob_hs = self.log_weight_hs.copy()
        log_prob_hs[:, :-1] += ahead_h[self.automaton.next_ha]
        visited_h = ahead_h > -np.inf
        log_prob_hs[visited_h] -= ahead_h[visited_h, None]
        log_prob_hs[~visited_h] = -np.log(log_prob_hs.shape[1])
        return log_prob_hs

    def expected_counts_hs(self) -> FloatArray:
        """Return float64[H, K + 1], how often a drawn string has each symbol after each history.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
            NoMassError: No string has positive weight.

        Cost: O(H * K + H^3).
        """
        total = self.log_total()
        if total == -np.inf:
            raise NoMassError("no string has positive weight, so no n-gram has an expected count")
        ahead_h = self.log_completions_h()
        begin_h = np.full(len(ahead_h), -np.inf)
        begin_h[self.automaton.start] = 0.0
        moves_hh = np.where(ahead_h > -np.inf, self._moves("sum")[0].T, -np.inf)
        behind_h = dense_completions(np.ascontiguousarray(moves_hh), begin_h)
        log_count_hs = self.log_weight_hs + (behind_h - total)[:, None]
        log_count_hs[:, :-1] += ahead_h[self.automaton.next_ha]
        counts_hs: FloatArray = np.exp(log_count_hs)
        return counts_hs

    def refined(self, automaton: HistoryAutomaton) -> NgramPotential:
        """Return the same potential on an automaton with more histories.

        Args:
            automaton: Its histories include this potential's.

        Raises:
            ValueError: It lacks a history or a symbol.

        Cost: O(H * K) of the new automaton.
        """
        if automaton is self.automaton:
            return self
        mapped_h = history_map(self.automaton, automaton)
        return replace(self, automaton=automaton, log_weight_hs=self.log_weight_hs[mapped_h])

    def over(self, alphabet: Alphabet) -> NgramPotential:
        """Return the same potential over an alphabet with more symbols, in any order.

        Args:
            alphabet: Holds this potential's own symbols; the others have the weight `unseen`, and
                the history after them is the empty one.

        Raises:
            ValueError: It lacks a symbol.

        Cost: O(H * K) of the new alphabet.
        """
        if alphabet.symbols == self.alphabet.symbols:
            return self
        column_of = {symbol: column for column, symbol in enumerate(alphabet.symbols)}
        if not column_of.keys() >= set(self.alphabet.symbols):
            raise ValueError("an n-gram potential moves only to an alphabet that has its symbols")
        columns = [column_of[symbol] for symbol in self.alphabet.symbols]
        label_of = [BOS, *(column + 1 for column in columns)]
        histories = self.automaton.histories
        next_ha = np.full((len(histories), len(alphabet)), histories.index(()), dtype=np.int32)
        next_ha[:, columns] = self.automaton.next_ha
        weight_hs = np.full((len(histories), len(alphabet) + 1), self.unseen)
        weight_hs[:, [*columns, -1]] = self.log_weight_hs
        renamed = tuple(tuple([label_of[label] for label in history]) for history in histories)
        return replace(
            self,
            automaton=HistoryAutomaton(renamed, next_ha),
            alphabet=alphabet,
            log_weight_hs=weight_hs,
        )

    def minus(self, other: NgramPotential) -> NgramPotential:
        """Return the quotient, on the common refinement: log-weights subtract.

        Where `other` forbids a symbol the quotient is free, and 0 is taken.

        Args:
            other: Another potential.

        Cost: That of `on_common_refinement`.
        """
        own, divisor = on_common_refinement([self, other])
        free_hs = divisor.log_weight_hs == -np.inf
        known_hs = np.where(free_hs, 0.0, divisor.log_weight_hs)
        quotient_hs = np.where(free_hs, 0.0, own.log_weight_hs - known_hs)
        unseen = self.unseen - other.unseen if other.unseen > -math.inf else 0.0
        return NgramPotential(own.automaton, own.alphabet, quotient_hs, unseen)

    def k_best(self, k: int) -> StringTable:
        """Return the `k` strings of largest weight, best first; none where all weigh the same.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
        """
        floor = float(self.log_weight_hs[0, -1])
        if self.is_free and np.all(self.log_weight_hs == [*[0.0] * len(self.alphabet), floor]):
            return StringTable((), np.zeros(0), floor)
        best = acceptors.k_best_strings(self.arrays, k)
        texts = tuple(self.alphabet.text(labels) for labels, _ in best)
        return StringTable(texts, np.array([weight for _, weight in best], dtype=np.float64))

    def shifted(self, log_weight: float) -> NgramPotential:
        """Return the potential with `log_weight` added to the weight of every end."""
        moved_hs = self.log_weight_hs.copy()
        moved_hs[:, -1] += log_weight
        tables = (*(t.shifted(log_weight) for t in self.tables[:1]), *self.tables[1:])
        return replace(self, log_weight_hs=moved_hs, tables=tables)

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` strings drawn in proportion to their weight.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
        """
        drawn = acceptors.sample_strings(self.arrays, n, rng)
        return [self.alphabet.text(labels) for labels in drawn]

    def entropy(self) -> float:
        """Return the entropy of the distribution over strings (nats), exactly.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
        """
        return acceptors.entropy(self.arrays)


def on_common_refinement(potentials: Sequence[NgramPotential]) -> list[NgramPotential]:
    """Return one or more n-gram potentials on their common alphabet and one automaton.

    Args:
        potentials: At least one.

    Cost: That of `common_refinement`, and O(H * K) a potential where it is not trivial.
    """
    alphabet = common_alphabet([potential.alphabet for potential in potentials])
    over_one = [potential.over(alphabet) for potential in potentials]
    automaton = common_refinement([potential.automaton for potential in over_one])
    return [potential.refined(automaton) for potential in over_one]


def sum_of_ngrams(potentials: Sequence[NgramPotential]) -> NgramPotential:
    """Return the product of one or more n-gram potentials: log-weights add.

    Cost: That of `on_common_refinement`.
    """
    first, *others = on_common_refinement(potentials)
    total_hs = sum((other.log_weight_hs for other in others), start=first.log_weight_hs)
    unseen = math.fsum(potential.unseen for potential in potentials)
    tables = tuple(table for potential in potentials for table in potential.tables)
    return replace(first, log_weight_hs=total_hs, unseen=unseen, tables=tables)
