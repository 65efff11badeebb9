"""Phonology: latent stems and suffixes, end to end, seen as words through an edit channel.

Every word has a stem and a suffix, both shared with other words and both unknown; an edit channel
turns their concatenation into the surface form. Given some surface forms, inference finds the
stems and suffixes, and so the words held out. The graph has a factor per word and is full of
loops. `fsbp.examples.phonology_ep` and `fsbp.examples.phonology_kbest` pass messages at scale;
`Phonology.graph` is the model as a `FactorGraph`, for the general engine.

Public names: `Word`, `Phonology`, `Lists`, `Answer`, `read_words`, `decoded`.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fsbp.arrays import FloatArray, IntArray, compiled, log_sum_exp
from fsbp.edit_channel import EditChannel, WordTables
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.concatenation import ConcatenationFactor
from fsbp.factors.edit import EditFactor
from fsbp.graph import FactorGraph
from fsbp.ngram_potential import NgramPotential
from fsbp.ngrams import history_automaton
from fsbp.tries import flat_labels
from fsbp.variables import Variable
from fsbp.word_lists import Labels, prefix_weights, suffix_weights

LOG = logging.getLogger(__name__)
MAX_SWEEPS = 50
FLOOR = 1e-100


class Word(NamedTuple):
    """A cell: which stem, which suffix, and the surface form.

    Args:
        stem: Name of the stem's variable; words that share a stem share its name.
        suffix: Likewise.
        surface: As observed.
    """

    stem: str
    suffix: str
    surface: str


@dataclass(frozen=True, eq=False)
class Phonology:
    """A model of some observed words.

    The priors draw symbols one by one from the surface forms' letter frequencies.

    Args:
        words: Observed.
        channel: From underlying to surface forms.
        stem_end: Probability that a stem ends after each symbol, also before the first.
        suffix_end: Likewise.
    """

    words: tuple[Word, ...]
    channel: EditChannel
    stem_end: float = 0.15
    suffix_end: float = 0.4

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables' names: all stems, then all suffixes."""
        stems = [f"stem:{name}" for name in dict.fromkeys(word.stem for word in self.words)]
        return (*stems, *(f"suffix:{s}" for s in dict.fromkeys(w.suffix for w in self.words)))

    @cached_property
    def num_stems(self) -> int:
        """The number of stems."""
        return len({word.stem for word in self.words})

    @cached_property
    def ends_wv(self) -> IntArray:
        """int32[W, 2], positions in `names` of each word's stem and suffix."""
        at = {name: v for v, name in enumerate(self.names)}
        ends = [(at[f"stem:{word.stem}"], at[f"suffix:{word.suffix}"]) for word in self.words]
        return np.array(ends, dtype=np.int32).reshape(-1, 2)

    @cached_property
    def words_of_variable(self) -> tuple[tuple[int, ...], ...]:
        """For each variable, the words that have it."""
        members: list[list[int]] = [[] for _ in self.names]
        for w, (stem, suffix) in enumerate(self.ends_wv.tolist()):
            members[stem].append(w)
            members[suffix].append(w)
        return tuple(map(tuple, members))

    @cached_property
    def tables(self) -> tuple[WordTables, ...]:
        """The channel around each word."""
        return tuple(self.channel.tables(word.surface) for word in self.words)

    @cached_property
    def longest_v(self) -> tuple[int, ...]:
        """The longest string that each variable may be, given the channel's bound on length.

        Its shortest word's length + `EditChannel.max_extra`.
        """
        return tuple(
            min(self.tables[word].max_input for word in words) for words in self.words_of_variable
        )

    @cached_property
    def symbol_prob_a(self) -> FloatArray:
        """float64[K], relative frequencies of the surface symbols, one added to each."""
        alphabet = self.channel.alphabet
        labels = [label for word in self.words for label in alphabet.labels(word.surface)]
        count_a = 1.0 + np.bincount(np.array(labels, dtype=np.intp) - 1, minlength=len(alphabet))
        prob_a: FloatArray = count_a / count_a.sum()
        return prob_a

    def is_stem(self, variable: int) -> bool:
        """Whether a variable is a stem."""
        return variable < self.num_stems

    def prior_s(self, variable: int) -> FloatArray:
        """Return float64[K + 1], prior probability of each symbol and, last, of the end."""
        return self._priors[0 if self.is_stem(variable) else 1]

    @cached_property
    def _priors(self) -> tuple[FloatArray, FloatArray]:
        stem, suffix = (
            np.append((1.0 - end) * self.symbol_prob_a, end)
            for end in (self.stem_end, self.suffix_end)
        )
        return stem, suffix

    def log_prior(self, variable: int, strings: Sequence[Labels]) -> FloatArray:
        """Return the prior log-probability of each string (nats)."""
        label_t, first_n = flat_labels(strings)
        log_s = np.log(self.prior_s(variable))
        sum_t = np.concatenate([[0.0], np.cumsum(log_s[label_t - 1])])
        log_prior_n: FloatArray = sum_t[first_n[1:]] - sum_t[first_n[:-1]] + log_s[-1]
        return log_prior_n

    def graph(self) -> FactorGraph:
        """Return the model as a factor graph with the surface forms as evidence.

        Variables are those of `names`, and "underlying:i" and "surface:i" for word i. It lacks the
        channel's bound on length, which `EditFactor` does not know: an underlying string of any
        length is possible, at the price of its deletions.
        """
        alphabet = self.channel.alphabet
        automaton = history_automaton([], len(alphabet))
        variables = [Variable(name, alphabet) for name in self.names]
        factors: list[Factor] = []
        for v, variable in enumerate(variables):
            row_hs = np.tile(np.log(self.prior_s(v)), (len(automaton.histories), 1))
            factors.append(AcceptorFactor(variable, NgramPotential(automaton, alphabet, row_hs)))
        for w, (stem, suffix) in enumerate(self.ends_wv.tolist()):
            underlying = Variable(f"underlying:{w}", alphabet)
            surface = Variable(f"surface:{w}", alphabet)
            parts = variables[stem], variables[suffix]
            factors.append(ConcatenationFactor(parts, underlying))
            factors.append(EditFactor(underlying, surface, self.channel))
        evidence = {f"surface:{w}": word.surface for w, word in enumerate(self.words)}
        return FactorGraph(tuple(factors)).observe(evidence)


@dataclass(frozen=True, eq=False)
class Answer:
    """What inference found.

    Args:
        best: Most probable string of each variable, by name.
        sweeps: Rounds until the messages settled or the limit was reached. Not comparable between
            methods: one of expectation propagation visits the words whose beliefs have moved, one
            of lists proposes for every word and propagates among all candidates.
        converged: Whether the messages settled before the limit, those among the candidates too,
            and every word had an explanation. What did not is in the log.
        seconds: Processor time taken, without the channel's tables around the words.
        operations_pno: float64[3, 3, 4], expected uses of the channel's operations; see
            `EditChannel.reestimated`.
    """

    best: dict[str, str]
    sweeps: int
    converged: bool
    seconds: float
    operations_pno: FloatArray = field(default_factory=lambda: np.zeros((3, 3, 4)))

    def share_of_stems(self, stems: Iterable[str]) -> float:
        """Return the share of stems that are right: those equal to their variable's name."""
        names = list(dict.fromkeys(stems))
        return sum(self.best.get(f"stem:{name}") == name for name in names) / len(names)

    def share_of_words(self, words: Sequence[Word]) -> float:
        """Return the share of (held-out) words whose predicted form is right.

        A word with a stem or suffix that no observed word shows has no prediction: it is wrong.
        """
        return sum(self.predicted(word) == word.surface for word in words) / len(words)

    def predicted(self, word: Word) -> str | None:
        """Return stem and suffix end to end; None where either has not been seen.

        This underlying form is taken for the surface form, as if the channel copied it: changes
        that the channel expects (of the final consonant, of the vowel) are not predicted.
        """
        stem, suffix = self.best.get(f"stem:{word.stem}"), self.best.get(f"suffix:{word.suffix}")
        return None if stem is None or suffix is None else stem + suffix


def read_words(path: Path) -> list[Word]:
    """Return the words of a table with the columns stem, suffix and word.

    Args:
        path: Tab-separated, UTF-8.

    Raises:
        ValueError: A column is missing.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not {"stem", "suffix", "word"} <= set(reader.fieldnames or ()):
            raise ValueError(f"{path.name} lacks one of the columns stem, suffix and word")
        return [Word(row["stem"], row["suffix"], row["word"]) for row in reader]


class Lists(NamedTuple):
    """Candidate strings of every variable, and belief propagation's log-messages about them.

    Args:
        strings_v: For each variable, its candidates.
        log_belief_v: For each variable, float64[candidates], normalised (nats).
        to_stem_w: For each word, float64[candidates], its message to its stem.
        to_suffix_w: Likewise to its suffix.
        converged: Whether the beliefs settled.
    """

    strings_v: list[list[Labels]]
    log_belief_v: list[FloatArray]
    to_stem_w: list[FloatArray]
    to_suffix_w: list[FloatArray]
    converged: bool

    def best(self, model: Phonology) -> dict[str, str]:
        """Return the most probable candidate of each variable, by name."""
        return {
            name: model.channel.alphabet.text(strings[int(log_belief_n.argmax())])
            for name, strings, log_belief_n in zip(
                model.names, self.strings_v, self.log_belief_v, strict=True
            )
        }


def decoded(model: Phonology, strings_v: list[list[Labels]], tolerance: float = 1e-4) -> Lists:
    """Return beliefs and messages among candidates: loopy belief propagation, finite variables.

    Each message is summed over all candidates; the beliefs are those of loopy propagation, and so
    approximate. There are at most 50 sweeps over the words; beliefs that still move then are
    reported in `Lists.converged` and in the log. 1e-100 is added to every message's weights before
    logs are taken, so a candidate that does not explain a word is improbable, not impossible. The
    channel's bound on length is left out: candidates are few, so no sum needs it.

    Args:
        model: The words.
        strings_v: For each variable, its candidates, at least one.
        tolerance: Largest change of a probability that counts as none.

    Cost: O((candidates of the stem + of the suffix) x length) a word and sweep: a candidate is a
        vector over positions in the word, so no pair of candidates is looked at.
    """
    flat_v = [flat_labels(strings) for strings in strings_v]
    rows_e = [
        weights(tables, *flat_v[v])
        for tables, ends in zip(model.tables, model.ends_wv.tolist(), strict=True)
        for weights, v in zip((prefix_weights, suffix_weights), ends, strict=True)
    ]
    width = max(rows.shape[1] for rows in rows_e)
    first_e = np.cumsum([0, *(len(rows) for rows in rows_e)])
    row_tj = np.zeros((int(first_e[-1]), width))
    for rows, first in zip(rows_e, first_e, strict=False):
        row_tj[first : first + len(rows), : rows.shape[1]] = rows
    log_total_n = np.concatenate([model.log_prior(v, s) for v, s in enumerate(strings_v)])
    first_v = np.cumsum([0, *(len(strings) for strings in strings_v)])
    log_message_t, change = _propagated(
        row_tj, first_e, model.ends_wv.ravel(), log_total_n, first_v, tolerance, MAX_SWEEPS
    )
    converged = bool(change < tolerance)
    if not converged:
        LOG.warning(
            "candidates: probabilities still move by up to %.2g after %d sweeps", change, MAX_SWEEPS
        )
    messages = np.split(log_message_t, first_e[1:-1])
    beliefs = np.split(log_total_n, first_v[1:-1])
    return Lists(
        strings_v,
        [belief - log_sum_exp(belief) for belief in beliefs],
        messages[0::2],
        messages[1::2],
        converged,
    )


@compiled
def _propagated(
    row_tj: FloatArray,
    first_e: IntArray,
    variable_e: IntArray,
    log_total_n: FloatArray,
    first_v: IntArray,
    tolerance: float,
    max_sweeps: int,
) -> tuple[FloatArray, float]:
    """Return all log-messages and the last change, and add them to the priors in `log_total_n`.

    Ends 2 w and 2 w + 1 are word w's stem and suffix. A floor keeps what no candidate explains.
    """
    log_message_t = np.zeros(len(row_tj))
    belief_n = np.zeros(len(log_total_n))
    change = np.inf
    for _ in range(max_sweeps):
        for e in range(len(variable_e)):
            other = e + 1 - 2 * (e % 2)
            begin, end = first_v[variable_e[other]], first_v[variable_e[other] + 1]
            cavity_n = log_total_n[begin:end] - log_message_t[first_e[other] : first_e[other + 1]]
            cavity_n = np.exp(cavity_n - cavity_n.max())
            summed_j = np.dot(cavity_n, row_tj[first_e[other] : first_e[other + 1]])
            new_n = np.log(np.dot(row_tj[first_e[e] : first_e[e + 1]], summed_j) + FLOOR)
            new_n -= new_n.max()
            begin, end = first_v[variable_e[e]], first_v[variable_e[e] + 1]
            log_total_n[begin:end] += new_n - log_message_t[first_e[e] : first_e[e + 1]]
            log_message_t[first_e[e] : first_e[e + 1]] = new_n
        change = 0.0
        for v in range(len(first_v) - 1):
            row_n = np.exp(
                log_total_n[first_v[v] : first_v[v + 1]]
                - log_total_n[first_v[v] : first_v[v + 1]].max()
            )
            row_n /= row_n.sum()
            change = max(change, np.abs(row_n - belief_n[first_v[v] : first_v[v + 1]]).max())
            belief_n[first_v[v] : first_v[v + 1]] = row_n
        if change < tolerance:
            break
    return log_message_t, change
