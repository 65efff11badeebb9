"""Variables, and the potentials over them.

A finite variable's potential is a float64 log table with one entry per value. A string variable's
is a `StringPotential`, carried by an `Acceptor` (a log64 machine), a `StringTable` (a list) or a
`Scored` (a scoring function, with a machine that bounds it). Potentials are unnormalised, in nats,
larger is better. The value of a string under a machine is always the sum over the machine's paths;
the semiring says how a *variable* is eliminated.

Public names: `Semiring`, `Variable`, `StringPotential`, `Acceptor`, `StringTable`, `Scored`,
`complete_list`, `Potential`, `MAX_LISTED`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import pynini

from fsbp import acceptors, pathsum
from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, arrays_to_fst, fst_to_arrays, log_sum_exp
from fsbp.pathsum import Semiring
from fsbp.reading import Reader, reader
from fsbp.tries import floored_trie

MAX_READ, MAX_LISTED = 100_000, 10_000


@dataclass(frozen=True)
class Variable:
    """A named variable whose values are strings, or come from a finite list.

    Args:
        name: Unique in a graph.
        domain: The alphabet of a string variable, or the values of a finite one.
    """

    name: str
    domain: Alphabet | tuple[str, ...]

    def __hash__(self) -> int:
        """Return a hash of the name alone: domains are long and names are unique."""
        return hash(self.name)

    @property
    def is_string(self) -> bool:
        """Whether the values are strings over an alphabet."""
        return isinstance(self.domain, Alphabet)

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of a string variable.

        Raises:
            TypeError: The variable is finite.
        """
        if not isinstance(self.domain, Alphabet):
            raise TypeError(f"variable {self.name!r} is finite: it has values, not an alphabet")
        return self.domain

    @property
    def values(self) -> tuple[str, ...]:
        """The values of a finite variable.

        Raises:
            TypeError: The variable is string-valued.
        """
        if isinstance(self.domain, Alphabet):
            raise TypeError(f"variable {self.name!r} is string-valued: its values have no list")
        return self.domain

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position of each value of a finite variable in its log tables."""
        return {value: position for position, value in enumerate(self.values)}


class StringPotential(ABC):
    """Log-weights of strings: what string variables and their factors exchange."""

    @abstractmethod
    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string, float64[N], -inf where forbidden."""

    @abstractmethod
    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return the same potential as a machine over `alphabet`, extended as needed."""

    @abstractmethod
    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the sum, or the maximum, of the weights of all strings (nats)."""

    @abstractmethod
    def k_best(self, k: int) -> StringTable:
        """Return the `k` distinct strings of largest weight, best first."""

    @abstractmethod
    def shifted(self, log_weight: float) -> StringPotential:
        """Return the potential with `log_weight` added to every string's log-weight."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` strings drawn from the normalised potential."""

    @abstractmethod
    def entropy(self) -> float:
        """Return the entropy of the normalised potential (nats)."""

    @cached_property
    def _searched(self) -> dict[int, StringTable]:
        """Lists already searched for: a message is projected again when its context changes."""
        return {}


@dataclass(frozen=True, eq=False)
class Acceptor(StringPotential):
    """A potential carried by a log64 acceptor; a string's weight sums over its paths.

    Args:
        fst: log64 acceptor without symbol tables.
        alphabet: Owner of the labels.
    """

    fst: pynini.Fst
    alphabet: Alphabet

    @cached_property
    def arrays(self) -> ArcArrays:
        """The machine as arrays."""
        return fst_to_arrays(self.fst)

    @cached_property
    def _reader(self) -> Reader:
        """The machine prepared for scoring, once for many batches of strings."""
        return reader(self.arrays)

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string; -inf for symbols outside the alphabet.

        Cost: O(sum of lengths x arcs leaving the states met).
        """
        known = [n for n, text in enumerate(strings) if not self.alphabet.unseen(text)]
        log_weights_n = np.full(len(strings), -np.inf)
        labels = [self.alphabet.labels(strings[n]) for n in known]
        log_weights_n[known] = pathsum.string_log_weights(self._reader, labels)
        return log_weights_n

    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return this machine with the labels of `alphabet`, extended by the missing symbols."""
        if alphabet.symbols[: len(self.alphabet)] == self.alphabet.symbols:
            return Acceptor(self.fst, alphabet)
        if self.alphabet.symbols[: len(alphabet)] == alphabet.symbols:
            return self
        extended = alphabet.extended(self.alphabet.symbols)
        label_of = {symbol: label + 1 for label, symbol in enumerate(extended.symbols)}
        renamed_l = np.array([0, *(label_of[symbol] for symbol in self.alphabet.symbols)], np.int32)
        label_a = renamed_l[self.arrays.ilabel_a]
        renamed = replace(self.arrays, ilabel_a=label_a, olabel_a=label_a)
        return Acceptor(arrays_to_fst(renamed), extended)

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the total, or of the best string's, weight.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
        """
        if semiring == "sum":
            return pathsum.log_total(self.arrays)
        return self.k_best(1).log_total("max")

    def k_best(self, k: int) -> StringTable:
        """Return the `k` strings of largest total path weight, best first.

        Raises:
            DivergentSumError: The weights of the strings have no finite sum.
        """
        if k not in self._searched:
            best = acceptors.k_best_strings(self.arrays, k, "sum")
            texts = tuple(self.alphabet.text(labels) for labels, _ in best)
            self._searched[k] = StringTable(texts, np.array([weight for _, weight in best]))
        return self._searched[k]

    def shifted(self, log_weight: float) -> Self:
        """Return the machine with `log_weight` added to every final weight."""
        arrays = replace(self.arrays, final_s=self.arrays.final_s + log_weight)
        return replace(self, fst=arrays_to_fst(arrays))

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` strings drawn in proportion to their weight."""
        return [self.alphabet.text(labels) for labels in self._sampler.sample(n, rng)]

    @cached_property
    def _sampler(self) -> acceptors.StringSampler:
        """The machine prepared for sampling, once for any number of draws."""
        return acceptors.string_sampler(self.arrays)

    def entropy(self) -> float:
        """Return the entropy of the distribution over strings (nats)."""
        return acceptors.entropy(self.fst)


@dataclass(frozen=True, eq=False)
class StringTable(StringPotential):
    """A potential carried by a list of strings, with one weight for all others.

    The floor is a back-off, for strings that another table lists. Sums, maxima, samples and
    entropies run over the listed strings only. Strings need not be over any variable's alphabet.

    Args:
        strings: Distinct strings.
        log_weights_n: float64[N], nats.
        floor: Log-weight of every string not listed; -inf makes the list all there is.
    """

    strings: tuple[str, ...]
    log_weights_n: FloatArray
    floor: float = -math.inf

    @cached_property
    def weight_of(self) -> Mapping[str, float]:
        """Log-weight of each listed string.

        Raises:
            ValueError: A string is listed twice, or weights and strings differ in number.
        """
        weight_of = dict(zip(self.strings, self.log_weights_n.tolist(), strict=True))
        if len(weight_of) != len(self.strings):
            raise ValueError("a string table lists a string twice: merge the weights first")
        return weight_of

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the log-weight of each string; the floor where it is not listed."""
        get, floor = self.weight_of.get, self.floor
        return np.array([get(text, floor) for text in strings], dtype=np.float64)

    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return a trie over `alphabet` extended by the strings' symbols.

        With a floor above -inf the machine accepts every string over that alphabet.
        """
        extended = alphabet.extended(self.strings)
        labels = [extended.labels(text) for text in self.strings]
        if self.floor == -math.inf:
            return Acceptor(acceptors.table_acceptor(labels, self.log_weights_n), extended)
        trie = floored_trie(labels, self.log_weights_n, self.floor, len(extended))
        return Acceptor(arrays_to_fst(trie), extended)

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the sum, or the maximum, over the listed strings."""
        if semiring == "max":
            return float(self.log_weights_n.max(initial=-math.inf))
        return float(log_sum_exp(self.log_weights_n)) if self.strings else -math.inf

    def k_best(self, k: int) -> StringTable:
        """Return the `k` best listed strings, best first, ties in listed order; same floor."""
        order = np.argsort(-self.log_weights_n, kind="stable")[:k]
        return self.subset(order.tolist())

    def subset(self, positions: Sequence[int]) -> StringTable:
        """Return the table that lists only the strings at `positions`, in that order."""
        strings = tuple(self.strings[n] for n in positions)
        return StringTable(strings, self.log_weights_n[list(positions)], self.floor)

    def shifted(self, log_weight: float) -> StringTable:
        """Return the table with `log_weight` added to every string's and to the floor."""
        return StringTable(self.strings, self.log_weights_n + log_weight, self.floor + log_weight)

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` listed strings drawn in proportion to their weight."""
        drawn = rng.choice(len(self.strings), size=n, p=self._probabilities())
        return [self.strings[position] for position in drawn]

    def entropy(self) -> float:
        """Return the entropy over the listed strings (nats)."""
        positive = self._probabilities()[self._probabilities() > 0]
        return float(-(positive * np.log(positive)).sum())

    def _probabilities(self) -> FloatArray:
        weight_n = np.exp(self.log_weights_n - self.log_weights_n.max())
        return np.asarray(weight_n / weight_n.sum())


@dataclass(frozen=True, eq=False)
class Scored(StringPotential):
    """A potential carried by a scoring function, with a machine that bounds it from above.

    Two uses. A fast route scores strings without composing machines: then the bound is tight, the
    same function as an acceptor. A maximum of path sums is carried by no acceptor but a list: then
    the sum bounds it, and the best strings are found by reading the bound's in decreasing order.

    Args:
        score: Strings to log-weights, float64[N].
        bound: Returns an acceptor whose weights are nowhere below the scores; called when needed.
        tight: Whether bound and scores are equal, for strings over the bound's alphabet.
        search: Returns the k strings of largest score, best first; by default the bound is read.
    """

    score: Callable[[Sequence[str]], FloatArray]
    bound: Callable[[], Acceptor]
    tight: bool
    search: Callable[[int], StringTable] | None = None

    @cached_property
    def bounding_acceptor(self) -> Acceptor:
        """The bound, computed once."""
        return self.bound()

    def log_weights(self, strings: Sequence[str]) -> FloatArray:
        """Return the score of each string, computed once."""
        new = [text for text in dict.fromkeys(strings) if text not in self._score_of]
        if new:
            self._score_of.update(zip(new, self.score(new).tolist(), strict=True))
        return np.array([self._score_of[text] for text in strings])

    @cached_property
    def _score_of(self) -> dict[str, float]:
        """Scores already computed: a message is projected again when its context changes."""
        return {}

    def to_acceptor(self, alphabet: Alphabet) -> Acceptor:
        """Return the bound where it is tight, and else the machine of all strings.

        Raises:
            MachineTooLargeError: The bound is not tight, and there are more than 10,000 strings.
        """
        carrier = self.bounding_acceptor if self.tight else complete_list(self, "a machine")
        return carrier.to_acceptor(alphabet)

    def log_total(self, semiring: Semiring = "sum") -> float:
        """Return the log of the sum, from `to_acceptor`, or the maximum of the weights."""
        if semiring == "max":
            return self.k_best(1).log_total("max")
        return self.to_acceptor(self.bounding_acceptor.alphabet).log_total()

    def k_best(self, k: int) -> StringTable:
        """Return the `k` strings of largest score, best first.

        Raises:
            MachineTooLargeError: The search outgrew its bound, 100,000 strings read off a machine.
        """
        if k not in self._searched:
            self._searched[k] = self.search(k) if self.search else self._read(k)
        return self._searched[k]

    def _read(self, k: int) -> StringTable:
        """Return the `k` best strings: the bound of what is not read is no better than they are."""
        if self.tight:
            return self.bounding_acceptor.k_best(k)
        read = k
        while True:
            bounds = self.bounding_acceptor.k_best(read)
            best = StringTable(bounds.strings, self.log_weights(bounds.strings)).k_best(k)
            if len(bounds.strings) < read or best.log_weights_n[-1] >= bounds.log_weights_n[-1]:
                return best
            if read >= MAX_READ:
                raise acceptors.MachineTooLargeError(
                    f"the {k} best strings are not among {read} read off a bound: ask for fewer"
                )
            read *= 2

    def shifted(self, log_weight: float) -> Scored:
        """Return the potential with `log_weight` added to every score and to the bound."""
        return Scored(
            score=lambda strings: self.log_weights(strings) + log_weight,
            bound=lambda: self.bounding_acceptor.shifted(log_weight),
            tight=self.tight,
            search=lambda k: self.k_best(k).shifted(log_weight),
        )

    def sample(self, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` strings drawn in proportion to their weight, from `to_acceptor`."""
        return self.to_acceptor(self.bounding_acceptor.alphabet).sample(n, rng)

    def entropy(self) -> float:
        """Return the entropy over the strings of `to_acceptor` (nats)."""
        return self.to_acceptor(self.bounding_acceptor.alphabet).entropy()


def complete_list(potential: StringPotential, what: str) -> StringTable:
    """Return the list of all strings of a potential; `what` needs it, for the error.

    Raises:
        MachineTooLargeError: There are more than 10,000.
        DivergentSumError: They have no finite sum.
    """
    found = potential if isinstance(potential, StringTable) else potential.k_best(MAX_LISTED + 1)
    if len(found.strings) > MAX_LISTED or found.floor > -math.inf:
        raise acceptors.MachineTooLargeError(
            f"{what} over more than {MAX_LISTED} strings: use a k-best message family"
        )
    return found


Potential: TypeAlias = StringPotential | FloatArray
