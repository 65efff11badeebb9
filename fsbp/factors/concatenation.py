"""A string that is other strings end to end: stem + affix = word.

Public names: `ConcatenationFactor`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import cast

import numpy as np
import pynini

from fsbp.acceptors import MachineTooLargeError, intersection, universe_acceptor
from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, arrays_to_fst
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.lists import all_strings, as_list, best_log_weight, constant_log_weight, is_list
from fsbp.factors.ranked import Ranking, joined, ranking
from fsbp.pathsum import DivergentSumError, Semiring
from fsbp.potentials import MAX_ARCS
from fsbp.powered import Powered
from fsbp.transducers import image
from fsbp.variables import (
    MAX_LISTED,
    Acceptor,
    Potential,
    Scored,
    StringPotential,
    StringTable,
    Variable,
)

MAX_TRIPLES = 300_000
WHOLES_READ = (16, 128, 1_024)


@dataclass(frozen=True, eq=False)
class ConcatenationFactor(Factor):
    """Two or more string variables whose concatenation is another.

    log_score = 0 where part_1 + ... + part_n = whole, -inf elsewhere. Lists of strings are joined
    and cut as lists; machines are concatenated, and cut by a right or left quotient. Texts are cut
    between the symbols of the whole's alphabet: a part that begins with a combining mark, which the
    symbol before it would take up, fits no whole but as its beginning.

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
        """Return 0 where the parts spell the whole, symbol by symbol, and -inf elsewhere."""
        spelled = self._symbols(*(assignment[part] for part in self.parts))
        return 0.0 if spelled == self._symbols(assignment[self.whole]) else -np.inf

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the concatenation of the parts, or what is left of the whole without the others.

        Raises:
            MachineTooLargeError: A product outgrew `max_arcs`, or a maximum is over more than
                10,000 strings of the whole, and as many combinations of the other parts.
            DivergentSumError: A maximum is over strings of the whole and of a part that both have
                no finite sum.

        Cost: For lists, the product of their sizes (to the whole) or the whole's strings times
            their length squared (to a part); for machines, linear to the whole, and the arcs of
            whole x others to a part. For a maximum, nothing until scored or searched: then one
            look-up per piece of a string and part, or a pair of parts per string found.
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
        everywhere = constant_log_weight(whole)
        if everywhere is not None:
            others = [cast(StringPotential, incoming[v]) for v in self.parts if v != target]
            return whole.shifted(sum(best_log_weight(potential) for potential in others))
        return self._best_rest(left, whole, right)

    def _best_rest(
        self, left: StringPotential, whole: StringPotential, right: StringPotential
    ) -> StringPotential:
        """Return x -> the maximum over l and r of left(l) + whole(l x r) + right(r)."""
        if not (is_list(left) and is_list(right)):
            try:
                return self._cut(left, all_strings(whole), right, "max")
            except (MachineTooLargeError, DivergentSumError):
                pass
        before, after = all_strings(left), all_strings(right)
        if len(before.strings) * len(after.strings) > MAX_LISTED:
            raise MachineTooLargeError(
                f"a maximum over more than {MAX_LISTED} strings around {self.whole.name!r}'s part: "
                "use a k-best message family"
            )
        loose = Scored(
            score=lambda strings: self._best_within(before, strings, after, whole),
            bound=lambda: self._quotient(before, whole, after),
            tight=False,
        )
        return replace(loose, search=lambda k: self._best_cut_out(before, whole, after, loose, k))

    def _best_cut_out(
        self, left: StringTable, whole: StringPotential, right: StringTable, loose: Scored, k: int
    ) -> StringTable:
        """Return the `k` best strings between left and right, cut from the best wholes if possible.

        Where they weigh no less than the next whole with the best of left and right, no other whole
        has anything better.

        Raises:
            MachineTooLargeError: Already the search for the best wholes outgrew its bound.
        """
        around = left.log_total("max") + right.log_total("max")
        for read in WHOLES_READ:
            try:
                wholes = whole.k_best(read)
            except DivergentSumError:
                break
            if wholes.floor > -math.inf:
                break
            best = self._cut(left, wholes, right, "max").k_best(k)
            if len(wholes.strings) < read:
                return best
            unread = float(wholes.log_weights_n[-1]) + around
            if len(best.strings) == k > 0 and best.log_weights_n[-1] >= unread:
                return best
        return loose.k_best(k)

    def _symbols(self, *texts: str) -> tuple[str, ...]:
        return tuple(symbol for text in texts for symbol in self.whole.alphabet.split(text))

    def _joined_text(self, *texts: str) -> str | None:
        """Return the texts end to end; None where that would change their symbols."""
        symbols = self._symbols(*texts)
        joined_text = self.whole.alphabet.join(symbols)
        return joined_text if self._symbols(joined_text) == symbols else None

    def _concatenated(
        self, parts: Sequence[Variable], incoming: Incoming, semiring: Semiring
    ) -> StringPotential:
        """Return the potential of some consecutive parts end to end; of the empty string for none.

        A maximum over the ways to cut a string is carried by no machine, but scored.
        """
        if not parts:
            return StringTable(("",), np.zeros(1))
        potentials = [as_list(cast(StringPotential, incoming[part])) for part in parts]
        if len(potentials) == 1:
            return potentials[0]
        lists = [potential for potential in potentials if is_list(potential)]
        if len(lists) == len(potentials):
            if math.prod(len(table.strings) for table in lists) <= MAX_LISTED:
                return reduce(lambda a, b: self._joined_lists(a, b, semiring), lists)
        if semiring == "sum":
            return self._joined_machines(potentials)
        return Scored(
            score=lambda strings: self._best_cuts(potentials, strings),
            bound=lambda: self._joined_machines(potentials),
            tight=False,
            search=self._ranked(potentials).best,
        )

    def _joined_lists(self, a: StringTable, b: StringTable, semiring: Semiring) -> StringTable:
        texts = [self._joined_text(x, y) for x in a.strings for y in b.strings]
        weights = np.add.outer(a.log_weights_n, b.log_weights_n).ravel()
        return _collected(texts, weights, semiring)

    def _joined_machines(self, potentials: Sequence[StringPotential]) -> Acceptor:
        """Return the sum over all ways to cut; of bounds, where a potential is carried by none."""
        machines = self._over_one_alphabet(*potentials)
        alphabet = machines[0].alphabet
        fst = reduce(pynini.concat, [machine.fst for machine in machines])
        return Acceptor(self._spelt_out(fst, alphabet), alphabet)

    def _spelt_out(self, fst: pynini.Fst, alphabet: Alphabet) -> pynini.Fst:
        """Return a machine without the strings of symbols that are not the symbols of their text.

        A combining mark is a symbol of its own only where it comes first.
        """
        first = "x"
        attaching = [
            label
            for label, symbol in enumerate(alphabet.symbols, start=1)
            if alphabet.split(alphabet.join((first, symbol))) != (first, symbol)
        ]
        if not attaching:
            return fst
        return intersection(fst, _nowhere_but_first(attaching, len(alphabet)), self.max_arcs)

    def _ranked(self, potentials: Sequence[StringPotential]) -> Ranking:
        """Return the strings that the potentials' strings make end to end, best first."""
        return reduce(
            lambda a, b: joined(a, b, self._joined_text), [ranking(p) for p in potentials]
        )

    def _best_cuts(
        self, potentials: Sequence[StringPotential], strings: Sequence[str]
    ) -> FloatArray:
        """Return, for each string, the largest weight over the ways to cut it.

        Cost: One look-up per potential and piece of a string.
        """
        best_n = [self._best_cut(potentials, self._symbols(text)) for text in strings]
        return np.array(best_n, dtype=np.float64)

    def _best_cut(self, potentials: Sequence[StringPotential], symbols: tuple[str, ...]) -> float:
        best_at = {0: 0.0}
        length = len(symbols)
        for n, potential in enumerate(potentials, start=1):
            stops = range(length + 1) if n < len(potentials) else (length,)
            spans = [(begin, end) for begin in best_at for end in stops if begin <= end]
            pieces = [self.whole.alphabet.join(symbols[begin:end]) for begin, end in spans]
            best_until: dict[int, float] = {}
            weights = potential.log_weights(pieces).tolist()
            for (begin, end), weight in zip(spans, weights, strict=True):
                if best_at[begin] + weight > best_until.get(end, -math.inf):
                    best_until[end] = best_at[begin] + weight
            best_at = best_until
        return best_at.get(length, -math.inf)

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
        spelt_out = self._spelt_out(middle.fst, middle.alphabet)
        return Acceptor(image(cutting, spelt_out, self.max_arcs), middle.alphabet)

    def _best_within(
        self, left: StringTable, strings: Sequence[str], right: StringTable, whole: StringPotential
    ) -> FloatArray:
        """Return, for each x, the maximum over listed l and r of left(l) + whole(l x r) + right(r).

        Raises:
            MachineTooLargeError: There are more than 300,000 triples (l, x, r).

        Cost: One look-up in the whole per triple.
        """
        if len(left.strings) * len(strings) * len(right.strings) > MAX_TRIPLES:
            raise MachineTooLargeError(
                f"a maximum over more than {MAX_TRIPLES} ways to put the parts of "
                f"{self.whole.name!r} together: use a k-best message family"
            )
        if not (left.strings and right.strings and strings):
            return np.full(len(strings), -np.inf)
        triples = [
            self._joined_text(head, text, tail)
            for text in strings
            for head in left.strings
            for tail in right.strings
        ]
        scores = np.full(len(triples), -np.inf)
        spelt = [n for n, text in enumerate(triples) if text is not None]
        scores[spelt] = whole.log_weights([text for text in triples if text is not None])
        by_string = scores.reshape(len(strings), len(left.strings), -1)
        by_string = by_string + left.log_weights_n[:, None] + right.log_weights_n
        best_n: FloatArray = by_string.max(axis=(1, 2))
        return best_n

    def _over_one_alphabet(self, *potentials: StringPotential) -> list[Acceptor]:
        """Return the potentials as machines, those that no machine carries by their bounds."""
        carriers = [
            potential.bounding_acceptor if isinstance(potential, Scored | Powered) else potential
            for potential in potentials
        ]
        alphabet = self.whole.alphabet
        for carrier in carriers:
            alphabet = carrier.to_acceptor(alphabet).alphabet
        return [carrier.to_acceptor(alphabet) for carrier in carriers]


def _collected(texts: Sequence[str | None], weights: FloatArray, semiring: Semiring) -> StringTable:
    """Return a table of distinct texts, the weights of equal ones summed or their best kept."""
    position_of: dict[str, int] = {}
    kept = [n for n, text in enumerate(texts) if text is not None]
    group_n = np.array(
        [position_of.setdefault(text, len(position_of)) for text in texts if text is not None],
        np.intp,
    )
    weight_g = np.full(len(position_of), -np.inf)
    combine = np.maximum if semiring == "max" else np.logaddexp
    combine.at(weight_g, group_n, weights[kept])
    allowed = np.flatnonzero(weight_g > -np.inf).tolist()
    return StringTable(tuple(position_of), weight_g).subset(allowed)


def _erasing(acceptor: Acceptor) -> pynini.Fst:
    """Return the transducer that reads the acceptor's strings and writes nothing."""
    arrays = acceptor.arrays
    return arrays_to_fst(replace(arrays, olabel_a=np.zeros_like(arrays.olabel_a)))


def _nowhere_but_first(attaching: Sequence[int], num_symbols: int) -> pynini.Fst:
    """Return the acceptor of all strings in which some labels occur at the beginning only."""
    labels = np.arange(1, num_symbols + 1)
    later = np.setdiff1d(labels, attaching)
    label_a = np.concatenate([labels, later])
    source_a = np.repeat([0, 1], [len(labels), len(later)])
    return arrays_to_fst(
        ArcArrays.from_arcs(
            0,
            np.zeros(2),
            source_a,
            label_a,
            label_a,
            np.ones_like(label_a),
            np.zeros(len(label_a)),
        )
    )
