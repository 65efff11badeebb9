"""N-gram expectation propagation on the phonology graph.

Each variable has one dense automaton of histories, shared by its messages; multiplying messages is
adding arrays. A word's messages are moment-matched on its lattice, then the best strings of each
belief are compared in one loopy propagation among them (`fsbp.examples.phonology.decoded`).

The order adapts for suffixes only: their histories grow under a penalty while messages are passed.
A stem's histories are chosen before, once, and stay: the n-grams that two of its words share (all
n-grams, where it has one word).

Public names: `Order`, `expectation_propagation`, `learned_channel`.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from fsbp.arrays import FloatArray, compiled
from fsbp.edit_channel import EditChannel
from fsbp.examples.phonology import Answer, Phonology, decoded
from fsbp.ngram_potential import history_map
from fsbp.ngrams import BOS, HistoryAutomaton, full_history_automaton, history_automaton
from fsbp.word_lattice import LatticeCounts, word_lattice
from fsbp.word_lists import Labels, likeliest_strings

LOG = logging.getLogger(__name__)
SMOOTHING = 1e-4
SMALLEST = 1e-20
TOLERANCE = 2e-3
VISITED = 1e-2
MAX_SWEEPS = 20
CANDIDATES = 10
# Histories tried for a suffix: the commonest in the endings of the first so many of its words.
TRIED_HISTORIES = 20
WORDS_READ = 20
# Words over whose lattices the gain of those histories is averaged: the first so many.
WORDS_WEIGHED = 4


@dataclass(frozen=True)
class Order:
    """Which n-grams the messages count.

    Args:
        fixed: All n-grams of this order, for stems and suffixes; None to adapt: a stem's histories
            are then fixed from its words, a suffix's grow.
        longest: Longest n-gram of an adaptive order.
        penalty: Nats that an arc of a suffix's automaton must earn, per word.
        growing_sweeps: Sweeps before which suffixes may get more histories.
    """

    fixed: int | None = None
    longest: int = 3
    penalty: float = 0.01
    growing_sweeps: int = 1


@compiled
def _matched(
    count_hs: FloatArray, belief_hs: FloatArray, message_hs: FloatArray, smoothing: float
) -> float:
    """Move a belief and a message in place to the matched moments; return by how much.

    New belief = log of the smoothed conditional frequencies; message = belief - cavity. Where the
    counts say nothing the belief stays what it is.
    """
    change = 0.0
    for h in range(len(count_hs)):
        visits = count_hs[h].sum()
        if visits <= 1e-12:
            continue
        for s in range(count_hs.shape[1]):
            old = belief_hs[h, s]
            share = (count_hs[h, s] + smoothing * np.exp(old)) / (visits + smoothing)
            new = np.log(max(share, SMALLEST))
            change += count_hs[h, s] * abs(new - old)
            message_hs[h, s] += new - old
            belief_hs[h, s] = new
    return change


class _State:
    """Automata, beliefs and messages of a run."""

    def __init__(self, model: Phonology, order: Order) -> None:
        self.model = model
        self.order = order
        self.automaton_v = [self._first_automaton(v) for v in range(len(model.names))]
        self.belief_v = [
            np.tile(np.log(model.prior_s(v)), (len(automaton.histories), 1))
            for v, automaton in enumerate(self.automaton_v)
        ]
        self._moved_v = np.zeros(len(model.names))
        self._seen_w = np.full(len(model.words), -np.inf)
        self.unexplained: set[int] = set()
        self.message_we = [
            [np.zeros_like(self.belief_v[v]) for v in ends] for ends in model.ends_wv.tolist()
        ]

    def _first_automaton(self, variable: int) -> HistoryAutomaton:
        """Return the histories to begin with: a stem's are those of the words that show it."""
        size = len(self.model.channel.alphabet)
        if self.order.fixed is not None:
            return full_history_automaton(size, self.order.fixed)
        if not self.model.is_stem(variable):
            return history_automaton([], size)
        words = [self._labels(w) for w in self.model.words_of_variable[variable]]
        longest = self.order.longest - 1
        shown = Counter(gram for word in words for gram in _ngrams((BOS, *word), longest))
        needed = min(2, len(words))
        return history_automaton([g for g, times in shown.items() if times >= needed], size)

    def _labels(self, word: int) -> Labels:
        return self.model.channel.alphabet.labels(self.model.words[word].surface)

    def counts(self, word: int, *, operations: bool = False) -> LatticeCounts:
        """Return the moments of a word's factor times its cavities."""
        stem, suffix = self.model.ends_wv[word].tolist()
        return self._lattice(
            word,
            self.automaton_v[stem],
            self.belief_v[stem] - self.message_we[word][0],
            self.automaton_v[suffix],
            self.belief_v[suffix] - self.message_we[word][1],
            operations,
        )

    def _lattice(
        self,
        word: int,
        stem: HistoryAutomaton,
        stem_hs: FloatArray,
        suffix: HistoryAutomaton,
        suffix_hs: FloatArray,
        operations: bool,
    ) -> LatticeCounts:
        return word_lattice(
            self.model.tables[word], stem.next_ha, stem_hs, stem.start, suffix.next_ha, suffix_hs,
            suffix.start, operations,
        )  # fmt: skip

    def sweep(self, backwards: bool) -> float:
        """Update the messages of every word whose beliefs have moved; return the mean change.

        A belief has moved by the sum of C |change of log row|, in nats, since the word was last
        updated; 0.01 nats and less count as nothing. The mean is over all words. A word that
        nothing explains (its lattice's total is 0) keeps its messages and is in `unexplained`.
        """
        order = range(len(self.model.words))
        before = self._moved_v.sum()
        for word in reversed(order) if backwards else order:
            stem, suffix = self.model.ends_wv[word].tolist()
            if self._moved_v[stem] + self._moved_v[suffix] - self._seen_w[word] <= VISITED:
                continue
            found = self.counts(word)
            if found.log_total == -np.inf:
                self.unexplained.add(word)
            else:
                self.unexplained.discard(word)
                for end, v, count_hs in ((0, stem, found.stem_hs), (1, suffix, found.suffix_hs)):
                    self._moved_v[v] += _matched(
                        count_hs, self.belief_v[v], self.message_we[word][end], SMOOTHING
                    )
            self._seen_w[word] = self._moved_v[stem] + self._moved_v[suffix]
        return float(self._moved_v.sum() - before) / len(order)

    def grow(self) -> None:
        """Give every suffix the histories that pay."""
        for v in range(self.model.num_stems, len(self.model.names)):
            self._grow(v)

    def _grow(self, variable: int) -> None:
        """Try the histories of the words' endings, and keep those worth their arcs.

        They are weighed on the first four words of the suffix.
        """
        old = self.automaton_v[variable]
        trial = history_automaton([*old.histories, *self._endings(variable)], old.num_symbols)
        mapped_h = history_map(old, trial)
        words = self.model.words_of_variable[variable][:WORDS_WEIGHED]
        counts_hs = np.zeros((len(trial.histories), old.num_symbols + 1))
        for word in words:
            stem = int(self.model.ends_wv[word, 0])
            cavity_hs = (self.belief_v[variable] - self.message_we[word][1])[mapped_h]
            counts_hs += self._lattice(
                word, self.automaton_v[stem], self.belief_v[stem] - self.message_we[word][0],
                trial, cavity_hs, False,
            ).suffix_hs / len(words)  # fmt: skip
        kept = _worth_their_arcs(trial, counts_hs, self.order.penalty)
        new = history_automaton([*old.histories, *kept], old.num_symbols)
        mapped_h = history_map(old, new)
        self.automaton_v[variable] = new
        self.belief_v[variable] = self.belief_v[variable][mapped_h]
        for word in self.model.words_of_variable[variable]:
            self.message_we[word][1] = self.message_we[word][1][mapped_h]

    def _endings(self, variable: int) -> list[Labels]:
        """Return the 20 commonest beginnings of endings of its first 20 words, as histories."""
        longest = self.order.longest - 1
        endings: Counter[Labels] = Counter()
        for word in self.model.words_of_variable[variable][:WORDS_READ]:
            labels = self._labels(word)
            for length in range(1, min(longest + 1, len(labels)) + 1):
                ending = labels[len(labels) - length :]
                endings.update({(BOS, *ending[: cut + 1]) for cut in range(min(length, longest))})
        return [history for history, _ in endings.most_common(TRIED_HISTORIES)]

    def candidates(self) -> list[list[Labels]]:
        """Return the best strings of each belief."""
        return [
            likeliest_strings(automaton.next_ha, belief_hs, automaton.start, longest, CANDIDATES)
            for automaton, belief_hs, longest in zip(
                self.automaton_v, self.belief_v, self.model.longest_v, strict=True
            )
        ]


def _ngrams(labels: Labels, longest: int) -> set[Labels]:
    return {
        labels[begin:end]
        for begin in range(len(labels))
        for end in range(begin + 1, min(begin + longest, len(labels)) + 1)
    }


def _worth_their_arcs(
    trial: HistoryAutomaton, counts_hs: FloatArray, penalty: float
) -> list[Labels]:
    """Return the histories w with sum_a c(w a) log(p(a | w) / p(a | shorter w)) > penalty x arcs.

    The arcs are those that w uses: symbols with one per cent of its visits or more.
    """
    index = {history: h for h, history in enumerate(trial.histories)}
    total_hs = counts_hs.copy()
    for h in range(len(trial.histories) - 1, 0, -1):
        total_hs[index[trial.histories[h][1:]]] += total_hs[h]
    prob_hs = total_hs / np.maximum(total_hs.sum(axis=1, keepdims=True), 1e-300)
    kept = []
    for h, history in enumerate(trial.histories):
        if not history:
            continue
        shorter = index[history[1:]]
        used = prob_hs[h] >= 0.01
        ratio_s = np.log(prob_hs[h][used] / np.maximum(prob_hs[shorter][used], 1e-300))
        gain = float((total_hs[h][used] * ratio_s).sum())
        if gain > penalty * int(used.sum()):
            kept.append(history)
    return kept


def expectation_propagation(
    model: Phonology, order: Order | None = None, *, count_operations: bool = False
) -> Answer:
    """Return the best stems and suffixes by n-gram expectation propagation.

    Sweeps alternate in direction, and visit the words whose beliefs have moved by more than 0.01
    nats since they were last visited, until a sweep moves them by less than 0.002 nats in the mean
    over words, or for 20 sweeps. Then the ten best strings of each belief are compared by
    `decoded`. What did not settle, and words that nothing explains, are logged, and the answer is
    not `converged`.

    Args:
        model: Observed words and the channel.
        order: Of the messages; adaptive by default.
        count_operations: Whether the answer holds the channel's expected operations.

    Cost: One lattice per word and sweep, and four per suffix to choose its histories.
    Source: Cotterell and Eisner (2015), "Penalized expectation propagation for graphical models
        over strings".
    """
    order = order or Order()
    tables = model.tables
    begin = time.process_time()
    state = _State(model, order)
    sweeps, change = 0, np.inf
    while change > TOLERANCE and sweeps < MAX_SWEEPS:
        if order.fixed is None and sweeps < order.growing_sweeps:
            state.grow()
        change = state.sweep(backwards=sweeps % 2 == 1)
        sweeps += 1
    if change > TOLERANCE:
        LOG.warning("beliefs still move by %.2g nats a word after %d sweeps", change, sweeps)
    for word in sorted(state.unexplained):
        LOG.warning("nothing explains the word %r: it was left out", model.words[word].surface)
    lists = decoded(model, state.candidates())
    operations_pno = np.zeros((3, 3, 4))
    if count_operations:
        for word in range(len(tables)):
            operations_pno += state.counts(word, operations=True).operations_pno
    return Answer(
        lists.best(model),
        sweeps,
        change <= TOLERANCE and not state.unexplained and lists.converged,
        time.process_time() - begin,
        operations_pno,
    )


def learned_channel(
    model: Phonology, rounds: int, order: Order | None = None
) -> tuple[EditChannel, Answer]:
    """Return a channel learned by expectation-maximisation, and the answer under the last one.

    Each round runs expectation propagation, takes the expected operations of every word under its
    cavities, and makes their relative frequencies the channel.

    Args:
        model: With the channel to begin from.
        rounds: How many, one or more.
        order: Of the messages; adaptive by default.
    """
    channel = model.channel
    for _ in range(rounds):
        answer = expectation_propagation(
            replace(model, channel=channel), order, count_operations=True
        )
        channel = channel.reestimated(answer.operations_pno)
    return channel, expectation_propagation(replace(model, channel=channel), order)
