"""A conditional distribution over rewritings, edit by edit, each edit chosen by its context.

P(target | source) sums over the sequences of edits that read the source and write the target: copy
the next symbol, delete it, write some symbol, or end. Each edit is drawn from a log-linear model of
its context, so that the whole is a probabilistic finite-state transducer whose states are contexts.
One model can serve many relations at once: weights are shared among the groups of a pair.

Public names: `EditExample`, `ContextualEdits`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from fsbp.arrays import FloatArray, IntArray
from fsbp.edit_contexts import COPY, DELETE, END, WRITE, Rows
from fsbp.edit_places import Places, places_of
from fsbp.edit_scores import Weights
from fsbp.edit_search import likeliest_targets
from fsbp.edit_sums import log_probabilities
from fsbp.edit_training import trained_weights
from fsbp.rewrites import SymbolCosts, chunk_alignment, label_array

MAX_WEIGHTS = 1 << 23
MAX_ROWS = 1 << 17
MAX_KEPT = 300
"""Sources whose places are kept, since each is asked about several times in a row."""
PASSES = 10
RATE = 0.05
SHARED = 0
"""The group that all pairs are in."""


class EditExample(NamedTuple):
    """A pair to learn from.

    Args:
        source: The string read.
        target: The string written.
        groups: What else the edits depend on, such as the cell that the target fills.
    """

    source: str
    target: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ContextualEdits:
    """P(target | source, groups), a locally normalised log-linear transducer.

    Args:
        written_w: int32[W], code points that edits can write, sorted; others can only be copied.
        vowel_v: int32[V], code points of the vowels, sorted.
        weight_re: float32[R, 3 + W], weights of the edits by hashed context and group.

    Source: Cotterell, Peng and Eisner (2014), "Stochastic contextual edit distance and
    probabilistic FSTs"; weights are learned along one alignment of each pair.
    """

    written_w: IntArray
    vowel_v: IntArray
    weight_re: Weights

    @classmethod
    def from_examples(
        cls,
        examples: Sequence[EditExample],
        costs: SymbolCosts,
        passes: int = PASSES,
        seed: int = 0,
    ) -> ContextualEdits:
        """Return the model learned from at least one example.

        Args:
            examples: Pairs; their order matters a little, as the seed does.
            costs: For the alignments; their vowels are the model's.
            passes: Over all examples.
            seed: Of the order in which examples are visited.

        Raises:
            ValueError: There is no example.

        Cost: O(passes x symbols x contexts x groups x edits).
        """
        if not examples:
            raise ValueError("a model of contextual edits needs at least one example")
        sequences = [_edits(example.source, example.target, costs) for example in examples]
        written = sorted({symbol for edits in sequences for edit, symbol in edits if edit == WRITE})
        number_of = {symbol: WRITE + n for n, symbol in enumerate(written)}
        written_w = np.array(written, dtype=np.int32)
        cased = {v for vowel in costs.vowels for v in (vowel, vowel.upper()) if len(v) == 1}
        vowel_v = np.array(sorted(map(ord, cased)), dtype=np.int32)
        edits_e = [
            np.array([number_of[s] if edit == WRITE else edit for edit, s in edits], dtype=np.int32)
            for edits in sequences
        ]
        rng = np.random.default_rng(seed)
        weight_re = trained_weights(
            [label_array(example.source).copy() for example in examples],
            [label_array(example.target).copy() for example in examples],
            edits_e,
            [_group_hashes(example.groups) for example in examples],
            vowel_v,
            np.zeros((_num_rows(WRITE + len(written)), WRITE + len(written)), dtype=np.float32),
            np.array([rng.permutation(len(examples)) for _ in range(passes)]),
            RATE,
        )
        weight_re.flags.writeable = False
        return cls(written_w, vowel_v, weight_re)

    def log_probs(
        self, source: str, targets: Sequence[str], groups: tuple[str, ...] = ()
    ) -> FloatArray:
        """Return log P(target | source, groups), float64[N]; -inf where no edits lead there.

        Sequences of edits less likely than e^-16 are left out.

        Cost: O(lengths of source x target x contexts x groups x edits); targets that begin alike
            share the work, and so do places that no likely edits reach.
        """
        order = sorted(range(len(targets)), key=targets.__getitem__)
        in_order = [targets[n] for n in order]
        log_prob_n = np.empty(len(targets))
        log_prob_n[order] = log_probabilities(
            self._places(source, groups),
            label_array("".join(in_order)).copy(),
            np.cumsum([0, *map(len, in_order)]),
        )
        return log_prob_n

    def likeliest(self, source: str, k: int, groups: tuple[str, ...] = ()) -> list[str]:
        """Return at most k targets found by a beam search of that width, likeliest edits first.

        Raises:
            ValueError: k is less than 1.

        Cost: O(k x length x contexts x groups x edits).
        """
        if k < 1:
            raise ValueError(f"k={k}: expected 1 or more")
        found = likeliest_targets(self._places(source, groups), k)
        texts = ("".join(map(chr, labels.tolist())) for labels in found)
        return list(dict.fromkeys(texts))

    def _places(self, source: str, groups: tuple[str, ...]) -> Places:
        """Return the places that a source has led to; those of the last few sources are kept."""
        key = (source, groups)
        if key not in self._kept:
            while len(self._kept) >= MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = places_of(
                label_array(source).copy(),
                _group_hashes(groups),
                self.written_w,
                self.vowel_v,
                self.weight_re,
            )
        return self._kept[key]

    @cached_property
    def _kept(self) -> dict[tuple[str, tuple[str, ...]], Places]:
        return {}

    def __getstate__(self) -> dict[str, object]:
        """Return the fields alone."""
        return {key: value for key, value in self.__dict__.items() if key != "_kept"}


def _num_rows(num_edits: int) -> int:
    """Return the largest power of two that keeps the weights within their bound."""
    rows = MAX_ROWS
    while rows > 1 and rows * num_edits > MAX_WEIGHTS:
        rows //= 2
    return rows


def _edits(source: str, target: str, costs: SymbolCosts) -> list[tuple[int, int]]:
    """Return edits and symbols written: islands are copied, between them deletions come first."""
    edits: list[tuple[int, int]] = []
    i = j = 0
    end = (len(source), len(target), 0)
    for start, start_in_target, length in (*chunk_alignment(source, target, costs), end):
        edits += [(DELETE, 0)] * (start - i)
        edits += [(WRITE, ord(symbol)) for symbol in target[j:start_in_target]]
        edits += [(COPY, 0)] * length
        i, j = start + length, start_in_target + length
    return [*edits, (END, 0)]


@lru_cache(maxsize=1 << 14)
def _group_hashes(groups: tuple[str, ...]) -> Rows:
    """Return int64[1 + groups]: the group of all pairs, then the others, the same in every run."""
    hashes = [zlib.crc32(group.encode("utf-8", "surrogatepass")) + 1 for group in groups]
    return np.array([SHARED, *hashes], dtype=np.int64)
