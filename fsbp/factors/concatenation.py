"""A string that is other strings end to end: stem + affix = word.

Public names: `ConcatenationFactor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import cast

import numpy as np
import pynini

from fsbp.acceptors import universe_acceptor
from fsbp.arrays import FloatArray, arrays_to_fst
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.lists import MAX_LISTED, all_strings, as_list, is_list
from fsbp.pathsum import Semiring
from fsbp.potentials import MAX_ARCS
from fsbp.transducers import image
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable


@dataclass(frozen=True, eq=False)
class ConcatenationFactor(Factor):
    """Two or more string variables whose concatenation is another.

    log_score = 0 where part_1 + ... + part_n = whole, -inf elsewhere. Lists of strings are joined
    and cut as lists; machines are concatenated, and cut by a right or left quotient. Texts are cut
    between the symbols of the whole's alphabet, so no part may begin with a combining mark that
    the symbol before it would take up.

    Args:
        parts: Two or more distinct string variables, in order.
        whole: Another string variable.
        max_arcs: Bound on every machine built.

    Raises:
        ValueError: There are fewer than two parts, or a variable occurs twice.
    """

    parts: tuple[Variable, ...]
    whole: Variable
    max_arcs: int = MAX_ARCS

    def __post_init__(self) -> None:
        """Check the variables."""
        if len(self.parts) < 2:
            raise ValueError("a concatenation needs two or more parts")
        if len(set(self.variables)) < len(self.variables):
            raise ValueError("a concatenation names a variable twice")

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """The parts, then the whole."""
        return (*self.parts, self.whole)

    @property
    def determined(self) -> Variable:
        """The whole."""
        return self.whole

    def log_score(self, assignment: Assignment) -> float:
        """Return 0 where the parts spell the whole, -inf elsewhere."""
        spelled = self._joined_text(*(assignment[part] for part in self.parts))
        return 0.0 if spelled == self._joined_text(assignment[self.whole]) else -np.inf

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the concatenation of the parts, or what is left of the whole without the others.

        Raises:
            MachineTooLargeError: A product outgrew `max_arcs`, or a maximum is over more than
                10,000 strings.

        Cost: For lists, the product of their sizes (to the whole) or the whole's strings times
            their length squared (to a part); for machines, linear to the whole, and the arcs of
            whole x others to a part.
        """
        if target == self.whole:
            return self._concatenated(self.parts, incoming, semiring)
        at = self.parts.index(target)
        left = self._concatenated(self.parts[:at], incoming, semiring)
        right = self._concatenated(self.parts[at + 1 :], incoming, semiring)
        whole = as_list(cast(StringPotential, incoming[self.whole]))
        if is_list(whole):
            return self._cut(left, whole, right, semiring)
        if semiring == "sum":
            return self._quotient(left, whole, right)
        if is_list(left) and is_list(right):
            before, after = left, right
            return Scored(
                score=lambda strings: self._best_within(before, strings, after, whole),
                bound=lambda: self._quotient(left, whole, right),
                tight=False,
            )
        return self._cut(left, all_strings(whole), right, semiring)

    def _joined_text(self, *texts: str) -> str:
        alphabet = self.whole.alphabet
        return alphabet.join(symbol for text in texts for symbol in alphabet.split(text))

    def _concatenated(
        self, parts: Sequence[Variable], incoming: Incoming, semiring: Semiring
    ) -> StringPotential:
        """Return the potential of some consecutive parts end to end; of the empty string for none.

        A maximum over the ways to cut a string is carried by no machine, but scored.
        """
        if not parts:
            return StringTable(("",), np.zeros(1))
        potentials = [as_list(cast(StringPotential, incoming[part])) for part in parts]
        return reduce(lambda a, b: self._pair(a, b, semiring), potentials)

    def _pair(self, a: StringPotential, b: StringPotential, semiring: Semiring) -> StringPotential:
        if is_list(a) and is_list(b):
            if len(a.strings) * len(b.strings) <= MAX_LISTED:
                return self._joined_lists(a, b, semiring)
        if semiring == "sum":
            return self._joined_machines(a, b)
        return Scored(
            score=lambda strings: self._best_cut(a, b, strings),
            bound=lambda: self._joined_machines(a, b),
            tight=False,
        )

    def _joined_lists(self, a: StringTable, b: StringTable, semiring: Semiring) -> StringTable:
        texts = [self._joined_text(x, y) for x in a.strings for y in b.strings]
        return _collected(texts, np.add.outer(a.log_weights_n, b.log_weights_n).ravel(), semiring)

    def _joined_machines(self, a: StringPotential, b: StringPotential) -> Acceptor:
        first, second = self._over_one_alphabet(a, b)
        return Acceptor(pynini.concat(first.fst, second.fst), second.alphabet)

    def _best_cut(
        self, a: StringPotential, b: StringPotential, strings: Sequence[str]
    ) -> FloatArray:
        """Return, for each string, the largest weight over the ways to cut it in two."""
        best_n = np.full(len(strings), -np.inf)
        for n, text in enumerate(strings):
            alphabet, symbols = self.whole.alphabet, self.whole.alphabet.split(text)
            cuts = range(len(symbols) + 1)
            heads = a.log_weights([alphabet.join(symbols[:cut]) for cut in cuts])
            best_n[n] = (heads + b.log_weights([alphabet.join(symbols[c:]) for c in cuts])).max()
        return best_n

    def _cut(
        self, left: StringPotential, whole: StringTable, right: StringPotential, semiring: Semiring
    ) -> StringTable:
        """Return what stands between left and right in the strings of a list."""
        alphabet = self.whole.alphabet
        heads: list[str] = []
        middles: list[str] = []
        tails: list[str] = []
        from_whole: list[float] = []
        for text, weight in zip(whole.strings, whole.log_weights_n.tolist(), strict=True):
            symbols = alphabet.split(text)
            for begin in range(len(symbols) + 1):
                for end in range(begin, len(symbols) + 1):
                    heads.append(alphabet.join(symbols[:begin]))
                    middles.append(alphabet.join(symbols[begin:end]))
                    tails.append(alphabet.join(symbols[end:]))
                    from_whole.append(weight)
        weights = left.log_weights(heads) + np.array(from_whole) + right.log_weights(tails)
        return _collected(middles, weights, semiring)

    def _quotient(
        self, left: StringPotential, whole: StringPotential, right: StringPotential
    ) -> Acceptor:
        """Return x -> log sum over l, r of exp(left(l) + whole(l x r) + right(r)) as a machine."""
        before, middle, after = self._over_one_alphabet(left, whole, right)
        kept = universe_acceptor(len(middle.alphabet))
        cutting = pynini.concat(pynini.concat(_erasing(before), kept), _erasing(after))
        return Acceptor(image(cutting, middle.fst, self.max_arcs), middle.alphabet)

    def _best_within(
        self, left: StringTable, strings: Sequence[str], right: StringTable, whole: StringPotential
    ) -> FloatArray:
        """Return, for each x, the maximum over listed l and r of left(l) + whole(l x r) + right(r).

        Cost: One look-up in the whole per triple.
        """
        if not (left.strings and right.strings and strings):
            return np.full(len(strings), -np.inf)
        triples = [
            self._joined_text(head, text, tail)
            for text in strings
            for head in left.strings
            for tail in right.strings
        ]
        scores = whole.log_weights(triples).reshape(len(strings), len(left.strings), -1)
        scores = scores + left.log_weights_n[:, None] + right.log_weights_n
        best_n: FloatArray = scores.max(axis=(1, 2))
        return best_n

    def _over_one_alphabet(self, *potentials: StringPotential) -> list[Acceptor]:
        alphabet = self.whole.alphabet
        for potential in potentials:
            alphabet = potential.to_acceptor(alphabet).alphabet
        return [potential.to_acceptor(alphabet) for potential in potentials]


def _collected(texts: Sequence[str], weights: FloatArray, semiring: Semiring) -> StringTable:
    """Return a table of distinct texts, the weights of equal ones summed or their best kept."""
    position_of: dict[str, int] = {}
    group_n = np.array([position_of.setdefault(text, len(position_of)) for text in texts], np.intp)
    weight_g = np.full(len(position_of), -np.inf)
    combine = np.maximum if semiring == "max" else np.logaddexp
    combine.at(weight_g, group_n, weights)
    allowed = np.flatnonzero(weight_g > -np.inf).tolist()
    return StringTable(tuple(position_of), weight_g).subset(allowed)


def _erasing(acceptor: Acceptor) -> pynini.Fst:
    """Return the transducer that reads the acceptor's strings and writes nothing."""
    arrays = acceptor.arrays
    return arrays_to_fst(replace(arrays, olabel_a=np.zeros_like(arrays.olabel_a)))
