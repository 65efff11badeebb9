"""A stochastic edit channel, and what it makes of one observed word.

The channel reads an underlying string and writes a surface string. Before each input symbol (and
at the end) it may insert symbols; then it copies the symbol, substitutes another or deletes it.
The choice depends on the class of the last symbol written and on the class of the next one to
read. Public names: `EditChannel`, `WordTables`, `OPERATIONS`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fsbp.alphabet import Alphabet, AlphabetError
from fsbp.arrays import ArcArrays, FloatArray, IntArray, compiled
from fsbp.reading import log_add
from fsbp.transducers import sound_class
from fsbp.tries import Trie, flat_labels, trie

OPERATIONS = ("copy", "substitute", "insert", "delete")
COPY, SUBSTITUTE, INSERT, DELETE = range(4)
BEGINNING, END = 2, 2
MAX_EXTRA = 4
_START = 9


class WordTables(NamedTuple):
    """The channel's weights (not logs) around one observed word of n symbols.

    Input symbols that the channel cannot tell apart, given the word, share a column; the last
    column is the end of the input, which "copies" nothing: it stops.

    Args:
        column_a: int32[K], the column of each symbol.
        insert_jc: float64[n + 1, C], weight of inserting word[j] before column c; 0 at j = n.
        delete_jc: float64[n + 1, C].
        write_jc: float64[n + 1, C], weight of copying or substituting into word[j]; 0 at j = n.
        ending_j: float64[n + 1], weight of inserting word[j:] at the end, and stopping.
        is_copy_jc: bool[n + 1, C], whether `write_jc` is that of a copy.
        previous_j: int32[n + 1], class of word[j - 1], or BEGINNING.
        class_c: int32[C], class of the symbols of each column; END for the last one.
        max_input: Longest underlying string: n + `EditChannel.max_extra`.
    """

    column_a: IntArray
    insert_jc: FloatArray
    delete_jc: FloatArray
    write_jc: FloatArray
    ending_j: FloatArray
    is_copy_jc: np.ndarray
    previous_j: IntArray
    class_c: IntArray
    max_input: int


def _state(previous: int, following: int) -> int:
    return 3 * previous + following


@dataclass(frozen=True, eq=False)
class EditChannel:
    """P(surface | underlying), for underlying strings at most `max_extra` symbols longer.

    An insertion writes one of the K symbols, a substitution one of the K - 1 others, each with the
    same probability.

    Args:
        alphabet: K symbols, two or more.
        log_prob_pno: float64[3, 3, 4], log-probability of each operation, given the class of the
            last symbol written (other, vowel, BEGINNING) and of the next symbol to read (other,
            vowel, END). At the END "copy" stops, and only "insert" is possible besides. Any
            weights will do; then scores are no log-probabilities.
        max_extra: Longer underlying strings are impossible; so all sums over them are finite.
    """

    alphabet: Alphabet
    log_prob_pno: FloatArray
    max_extra: int = MAX_EXTRA

    @classmethod
    def uniform(
        cls, alphabet: Alphabet, insert: float, delete: float, substitute: float
    ) -> "EditChannel":
        """Return the channel whose probabilities are the same in every context.

        Args:
            alphabet: Two or more symbols.
            insert: Probability of an insertion, between 0 and 1.
            delete: Likewise.
            substitute: Likewise; what is left over copies.

        Raises:
            ValueError: The probabilities do not leave a positive one for copying.
        """
        copy = 1.0 - insert - delete - substitute
        if not copy > 0.0 or min(insert, delete, substitute) < 0.0:
            raise ValueError("insertion, deletion and substitution must leave room for copying")
        prob_pno = np.zeros((3, 3, 4))
        prob_pno[:, :END] = (copy, substitute, insert, delete)
        prob_pno[:, END] = (1.0 - insert, 0.0, insert, 0.0)
        with np.errstate(divide="ignore"):
            return cls(alphabet, np.log(prob_pno))

    @cached_property
    def class_a(self) -> IntArray:
        """The class of each symbol: 1 for a vowel, 0 for any other."""
        vowels = [sound_class(symbol) == "vowel" for symbol in self.alphabet.symbols]
        return np.array(vowels, dtype=np.int32)

    def tables(self, word: str) -> WordTables:
        """Return the channel's weights around an observed word.

        Raises:
            AlphabetError: A symbol of the word is not in the alphabet.

        Cost: O(n x number of distinct symbols).
        """
        labels = np.array(self.alphabet.labels(word), dtype=np.int32)
        own = np.unique(labels)
        num_own, size = len(own), len(self.alphabet)
        column_a = num_own + self.class_a
        column_a[own - 1] = np.arange(num_own)
        class_c = np.concatenate([self.class_a[own - 1], [0, 1, END]]).astype(np.int32)
        previous_j = np.concatenate([[BEGINNING], self.class_a[labels - 1]]).astype(np.int32)
        prob_jco = np.exp(self.log_prob_pno)[previous_j[:, None], class_c]
        column_j = np.append(column_a[labels - 1], -1)
        is_copy_jc = column_j[:, None] == np.arange(len(class_c))
        write_jc = np.where(is_copy_jc, prob_jco[..., COPY], prob_jco[..., SUBSTITUTE] / (size - 1))
        insert_jc = prob_jco[..., INSERT] / size
        write_jc[-1] = insert_jc[-1] = 0.0
        write_jc[:, -1] = 0.0
        ending_j = np.append(insert_jc[:-1, -1], prob_jco[-1, -1, COPY])[::-1].cumprod()[::-1]
        delete_jc = np.ascontiguousarray(prob_jco[..., DELETE])
        return WordTables(
            column_a.astype(np.int32), insert_jc, delete_jc, write_jc, ending_j, is_copy_jc,
            previous_j, class_c, len(labels) + self.max_extra,
        )  # fmt: skip

    def log_prob(self, underlying: str, surface: str) -> float:
        """Return log P(surface | underlying), summed over alignments (nats).

        The plain recursion, one symbol at a time: the specification of what is faster elsewhere.

        Cost: O(product of the lengths).
        """
        tables = self.tables(surface)
        labels = self.alphabet.labels(underlying)
        if len(labels) > tables.max_input:
            return -np.inf
        weight_j = np.zeros(len(tables.ending_j))
        weight_j[0] = 1.0
        for label in labels:
            column = tables.column_a[label - 1]
            weight_j = self._inserted(weight_j, tables.insert_jc[:, column])
            written_j = weight_j * tables.write_jc[:, column]
            weight_j = weight_j * tables.delete_jc[:, column]
            weight_j[1:] += written_j[:-1]
        with np.errstate(divide="ignore"):
            return float(np.log(weight_j @ tables.ending_j))

    @staticmethod
    def _inserted(weight_j: FloatArray, insert_j: FloatArray) -> FloatArray:
        after_j = weight_j.copy()
        for j in range(1, len(after_j)):
            after_j[j] += after_j[j - 1] * insert_j[j - 1]
        return after_j

    def log_probs(self, underlying: Sequence[str], surface: Sequence[str]) -> FloatArray:
        """Return float64[N, M], log P(surface | underlying) of all pairs, without bound on length.

        Symbols outside the alphabet have no probability.

        Cost: O(prefixes of the underlying strings x prefixes of the surface strings).
        """
        log_prob_nm = np.full((len(underlying), len(surface)), -np.inf)
        read, rows = self._known(underlying)
        surfaces, columns = self._known(surface)
        if not (rows and columns):
            return log_prob_nm
        order = sorted(range(len(rows)), key=read.__getitem__)
        label_t, first_n = flat_labels([read[n] for n in order])
        written = trie(surfaces)
        spread_o = -np.log([1, max(len(self.alphabet) - 1, 1), len(self.alphabet), 1])
        log_weight_pno = self.log_prob_pno + spread_o
        log_prob_nm[np.ix_([rows[n] for n in order], columns)] = _log_probs(
            log_weight_pno, self.class_a, label_t, first_n, written
        )
        return log_prob_nm

    def _known(self, texts: Sequence[str]) -> tuple[list[tuple[int, ...]], list[int]]:
        """Return the labels of the texts over the alphabet, and their positions."""
        known, positions = [], []
        for n, text in enumerate(texts):
            try:
                known.append(self.alphabet.labels(text))
            except AlphabetError:
                continue
            positions.append(n)
        return known, positions

    def transducer(self) -> ArcArrays:
        """Return the channel as a transducer, underlying to surface, without bound on length.

        Cost: O(K^2) arcs.
        """
        skeleton, cell_a, spread_a = self._machine
        final_s = skeleton.final_s.copy()
        final_s[[_state(p, END) for p in range(3)]] = self.log_prob_pno[:, END, COPY]
        final_s[_START] = self.log_prob_pno[BEGINNING, END, COPY]
        log_weight_a = self.log_prob_pno.ravel()[cell_a] + spread_a
        return replace(skeleton, final_s=final_s, log_weight_a=log_weight_a)

    def counting_transducer(self) -> tuple[ArcArrays, IntArray]:
        """Return the transducer with stopping as arcs without labels, and each arc's cell.

        Its arcs are those of `transducer`, with one more for each state that may stop: `cell_a`
        then says which entry of `log_prob_pno.ravel()` every arc uses.
        """
        plain = self.transducer()
        stopping_s = np.array([*(_state(p, END) for p in range(3)), _START], dtype=np.int32)
        previous_s = np.array([0, 1, BEGINNING, BEGINNING])
        source_a = np.concatenate([plain.source_a, stopping_s])
        silent_s = np.zeros(len(stopping_s), dtype=np.int32)
        order = np.argsort(source_a, kind="stable")
        final_s = np.full(_START + 2, -np.inf)
        final_s[-1] = 0.0
        machine = ArcArrays.from_arcs(
            _START,
            final_s,
            source_a,
            np.concatenate([plain.ilabel_a, silent_s]),
            np.concatenate([plain.olabel_a, silent_s]),
            np.concatenate([plain.target_a, np.full(len(stopping_s), _START + 1)]),
            np.concatenate([plain.log_weight_a, self.log_prob_pno[previous_s, END, COPY]]),
        )
        stop_s = np.ravel_multi_index((previous_s, END, COPY), (3, 3, 4)).astype(np.int32)
        return machine, np.concatenate([self._machine[1], stop_s])[order]

    @cached_property
    def _machine(self) -> tuple[ArcArrays, IntArray, FloatArray]:
        """The transducer without weights, each arc's cell, and the log-spread of its output.

        A state knows the class of the last symbol written and promises that of the next one to
        read; the start promises any.
        """
        size = len(self.alphabet)
        log_inserted, log_substituted = -math.log(size), -math.log(max(size - 1, 1))
        rows: list[tuple[int, int, int, int, int, float]] = []
        contexts = [(_state(p, n), p, n) for p in range(3) for n in range(3)]
        contexts += [(_START, BEGINNING, n) for n in range(3)]
        for state, previous, following in contexts:
            cell = 12 * previous + 4 * following
            for b in range(size):
                target = _state(int(self.class_a[b]), following)
                rows.append((state, 0, b + 1, target, cell + INSERT, log_inserted))
            for a in np.flatnonzero(self.class_a == following).tolist():
                for then in range(3):
                    rows.append((state, a + 1, 0, _state(previous, then), cell + DELETE, 0.0))
                    for b in range(size):
                        written = _state(int(self.class_a[b]), then)
                        operation, spread = (COPY, 0.0) if a == b else (SUBSTITUTE, log_substituted)
                        rows.append((state, a + 1, b + 1, written, cell + operation, spread))
        rows.sort(key=lambda row: row[0])
        source, ilabel, olabel, target_a, cell_a, spread_a = zip(*rows, strict=True)
        skeleton = ArcArrays.from_arcs(
            _START, np.full(_START + 1, -np.inf), source, ilabel, olabel, target_a,
            np.zeros(len(rows)),
        )  # fmt: skip
        return skeleton, np.array(cell_a, dtype=np.int32), np.array(spread_a)

    def reestimated(self, counts_pno: FloatArray, smoothing: float = 1.0) -> "EditChannel":
        """Return the channel whose probabilities are relative expected frequencies.

        p(o | p, n) = (count + smoothing x old p) / (total + smoothing).

        Args:
            counts_pno: float64[3, 3, 4], expected uses of each operation in each context.
            smoothing: Weight of the old probabilities, in uses of a context; above 0.
        """
        old_pno = np.exp(self.log_prob_pno)
        old_pno /= old_pno.sum(axis=2, keepdims=True)
        new_pno = counts_pno + smoothing * old_pno
        new_pno /= new_pno.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore"):
            return replace(self, log_prob_pno=np.log(new_pno))


@compiled
def _inserted(
    row_v: FloatArray, log_weight_pno: FloatArray, following: int, previous_v: IntArray,
    parent_v: IntArray, inserted_v: FloatArray,
) -> None:  # fmt: skip
    """Set `inserted_v` to what any insertions before a symbol of one class make of a row."""
    inserted_v[0] = row_v[0]
    for v in range(1, len(row_v)):
        before = parent_v[v]
        through = inserted_v[before] + log_weight_pno[previous_v[before], following, INSERT]
        inserted_v[v] = log_add(row_v[v], through, False)


@compiled
def _log_probs(
    log_weight_pno: FloatArray, class_a: IntArray, label_t: IntArray, first_n: IntArray,
    written: Trie,
) -> FloatArray:  # fmt: skip
    """Return float64[N, M] for inputs in lexicographic order: each reuses the last one's rows.

    Row i holds log-weights of having read i symbols and written each prefix of the outputs.
    """
    parent_v, label_v = written.parent_v, written.label_v
    previous_v = np.full(len(parent_v), BEGINNING, np.int32)
    previous_v[1:] = class_a[label_v[1:] - 1]
    longest = 0
    for n in range(len(first_n) - 1):
        longest = max(longest, first_n[n + 1] - first_n[n])
    row_iv = np.full((longest + 1, len(parent_v)), -np.inf)
    row_iv[0, 0] = 0.0
    inserted_v = np.empty(len(parent_v))
    log_prob_nm = np.empty((len(first_n) - 1, len(written.node_n)))
    for n in range(len(first_n) - 1):
        x = label_t[first_n[n] : first_n[n + 1]]
        shared = 0
        if n > 0:
            last = label_t[first_n[n - 1] : first_n[n]]
            while shared < min(len(x), len(last)) and x[shared] == last[shared]:
                shared += 1
        for i in range(shared, len(x)):
            following = class_a[x[i] - 1]
            _inserted(row_iv[i], log_weight_pno, following, previous_v, parent_v, inserted_v)
            for v in range(len(parent_v)):
                weight = inserted_v[v] + log_weight_pno[previous_v[v], following, DELETE]
                if v > 0:
                    before = parent_v[v]
                    operation = COPY if label_v[v] == x[i] else SUBSTITUTE
                    writing = log_weight_pno[previous_v[before], following, operation]
                    weight = log_add(weight, inserted_v[before] + writing, False)
                row_iv[i + 1, v] = weight
        _inserted(row_iv[len(x)], log_weight_pno, END, previous_v, parent_v, inserted_v)
        for m in range(len(written.node_n)):
            v = written.node_n[m]
            log_prob_nm[n, m] = inserted_v[v] + log_weight_pno[previous_v[v], END, COPY]
    return log_prob_nm
