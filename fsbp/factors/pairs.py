"""What all factors share that relate two strings by a transducer.

Public names: `PairFactor`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self, cast

import pynini

from fsbp.alphabet import Alphabet
from fsbp.arrays import ArcArrays, FloatArray, arrays_to_fst
from fsbp.factors.base import Assignment, Factor, Incoming
from fsbp.factors.lattice import PairLattice, pair_lattice
from fsbp.factors.lattice_search import OutputSearch, best_outputs, output_search
from fsbp.factors.lists import listed, summed
from fsbp.pathsum import Semiring
from fsbp.transducers import image, preimage
from fsbp.variables import Acceptor, Potential, Scored, StringPotential, StringTable, Variable


class PairFactor(Factor):
    """A transducer between two string variables, without arcs that read and write nothing.

    log_score(x, y) = log-sum over the paths that read x and write y. Where one side is a list of
    strings, messages score strings pair by pair, and build a machine only when asked for one, or
    for the best strings of a sum; otherwise they are images and preimages of machines.

    Args:
        source: String variable on the input side.
        target: String variable on the output side.
        max_arcs: Bound on every machine built.
    """

    source: Variable
    target: Variable
    max_arcs: int

    @property
    @abstractmethod
    def alphabet(self) -> Alphabet:
        """Owner of the transducer's labels."""

    @abstractmethod
    def _arrays(self) -> ArcArrays:
        """Return the transducer."""

    @abstractmethod
    def _over(self, alphabet: Alphabet) -> Self:
        """Return the factor over an alphabet that begins with its own, as far as it can."""

    @cached_property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        """Source, then target."""
        return (self.source, self.target)

    def log_score(self, assignment: Assignment) -> float:
        """Return the sum over paths for one pair of strings."""
        return float(self.log_scores([[assignment[v]] for v in self.variables])[0, 0])

    def message_to(self, target: Variable, incoming: Incoming, semiring: Semiring) -> Potential:
        """Return the image (to the target) or preimage (to the source) of a potential.

        Raises:
            MachineTooLargeError: A product outgrew `max_arcs`, or a maximum is over more than
                10,000 strings.

        Cost: Nothing for a list until scored; that of `image` for a machine.
        """
        other = self.source if target == self.target else self.target
        potential = cast(StringPotential, incoming[other])
        table = listed(potential, semiring)
        if table is None:
            return self._mapped(target, potential)
        tight = semiring == "sum"
        return Scored(
            score=lambda strings: self._scores(target, table, strings, semiring),
            bound=lambda: self._mapped(target, table),
            tight=tight,
            search=None if tight else lambda k: self.best_strings(target, table, "max", 1.0, k),
        )

    def best_strings(
        self, target: Variable, table: StringTable, semiring: Semiring, exponent: float, k: int
    ) -> StringTable:
        """Return the `k` best strings of a message from a list, its scores to a power.

        message(x) = log sum over listed y of exp(exponent x log_score + table(y)), or the maximum
        instead of the sum.

        Args:
            target: Whose message.
            table: The strings of the other variable; its floor does not count.
            semiring: "sum" or "max".
            exponent: Above 0.
            k: How many.

        Raises:
            DivergentSumError: The strings of the target have no finite sum.
            MachineTooLargeError: The search outgrew its bound.

        Cost: That of `best_outputs`.
        """
        alphabet = self.alphabet.extended(table.strings)
        model = self._over(alphabet)
        search = model._outputs if target == self.target else model._inputs
        labels = [alphabet.labels(text) for text in table.strings]
        best, weights = best_outputs(search, labels, table.log_weights_n, semiring, exponent, k)
        return StringTable(tuple(alphabet.text(y) for y in best), weights)

    @cached_property
    def _fst(self) -> pynini.Fst:
        return arrays_to_fst(self._arrays())

    @cached_property
    def _lattice(self) -> PairLattice:
        return pair_lattice(self._arrays())

    @cached_property
    def _outputs(self) -> OutputSearch:
        return output_search(self._lattice)

    @cached_property
    def _inputs(self) -> OutputSearch:
        arrays = self._arrays()
        swapped = replace(arrays, ilabel_a=arrays.olabel_a, olabel_a=arrays.ilabel_a)
        return output_search(pair_lattice(swapped))

    def _scores(
        self, target: Variable, table: StringTable, strings: Sequence[str], semiring: Semiring
    ) -> FloatArray:
        """Return the message's log-weight of each string, given a list on the other side."""
        if target == self.target:
            pair_nm = self.log_scores((table.strings, strings))
        else:
            pair_nm = self.log_scores((strings, table.strings)).T
        return summed(pair_nm + table.log_weights_n[:, None], semiring)

    def _mapped(self, target: Variable, potential: StringPotential) -> Acceptor:
        """Return the image or preimage as a machine."""
        machine = potential.to_acceptor(self.alphabet)
        model = self._over(machine.alphabet)
        mapped = image if target == self.target else preimage
        return Acceptor(mapped(model._fst, machine.fst, self.max_arcs), machine.alphabet)
