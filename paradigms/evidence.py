"""What is known of a language: forms by lexeme and cell, and statistics of them.

A lemma that is itself a form is one more cell, `LEMMA`.

What is only guessed of holes stands beside what is given: it may help to learn what other cells
look like, never what the guessed ones do.

Public names: `LEMMA`, `STEM`, `Evidence`, `Guess`, `forms_of`, `tags_of`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from fsbp.alphabet import Alphabet
from fsbp.arrays import FloatArray, IntArray
from fsbp.rewrites import SymbolCosts, label_array
from paradigms.lexemes import Lexeme
from paradigms.predictability import shares_of_commonest_change

LEMMA = "\0lemma"
"""The lemma as a cell; no table can name a cell so."""
STEM = "\0stem"
"""A latent cell that no table shows: what the forms of a lexeme have in common."""


class Guess(NamedTuple):
    """A form that a hole may have, and how sure we are (0 to 1)."""

    form: str
    weight: float


def tags_of(cell: str) -> frozenset[str]:
    """Return the features in a cell's name; the lemma's own name for the lemma."""
    return frozenset(tag for tag in re.split(r"[;:+,.|\s_]+", cell) if tag) or frozenset([cell])


def forms_of(lexeme: Lexeme) -> dict[str, tuple[str, ...]]:
    """Return the given forms by cell, the lemma among them where it is a form."""
    lemma = {LEMMA: (lexeme.lemma,)} if lexeme.lemma else {}
    return {**lemma, **lexeme.given}


@dataclass(frozen=True, eq=False)
class Evidence:
    """Forms by lexeme and cell, with statistics derived from them.

    Args:
        lexemes: Given forms by cell for each lexeme; holes left out.
        cells: All cells there are, seen filled or not, in reading order; `LEMMA` first if any.
        guesses: For each lexeme, guesses about some of its holes, best first; or nothing at all.
    """

    lexemes: tuple[Mapping[str, tuple[str, ...]], ...]
    cells: tuple[str, ...]
    guesses: tuple[Mapping[str, tuple[Guess, ...]], ...] = ()

    @classmethod
    def from_lexemes(cls, lexemes: Sequence[Lexeme]) -> Evidence:
        """Return what the filled cells of some tables show; cells are sorted."""
        forms = tuple(forms_of(lexeme) for lexeme in lexemes)
        names = {cell for lexeme in lexemes for cell in lexeme.cells}
        lemma = [LEMMA] if any(LEMMA in cells for cells in forms) else []
        return cls(forms, (*lemma, *sorted(names)))

    def joined(self, other: Evidence) -> Evidence:
        """Return the evidence of both; the other's lexemes come after this one's."""
        names = set(self.cells) | set(other.cells)
        first = [cell for cell in (STEM, LEMMA) if cell in names]
        guesses = self._all_guesses + other._all_guesses
        return Evidence(
            self.lexemes + other.lexemes,
            (*first, *sorted(names - {STEM, LEMMA})),
            guesses if any(guesses) else (),
        )

    def guessing(self, guesses: Sequence[Mapping[str, tuple[Guess, ...]]]) -> Self:
        """Return the evidence with other guesses, one mapping for each lexeme."""
        stem = [STEM] if any(STEM in guessed for guessed in guesses) else []
        cells = (*stem, *(cell for cell in self.cells if cell != STEM))
        return replace(self, cells=cells, guesses=tuple(guesses))

    def guessed(self, lexeme: int, cell: str) -> tuple[Guess, ...]:
        """Return the guesses about a cell of a lexeme, best first."""
        return self.guesses[lexeme].get(cell, ()) if self.guesses else ()

    @property
    def _all_guesses(self) -> tuple[Mapping[str, tuple[Guess, ...]], ...]:
        return self.guesses or ({},) * len(self.lexemes)

    @cached_property
    def position_of(self) -> dict[str, int]:
        """Position of each cell."""
        return {cell: position for position, cell in enumerate(self.cells)}

    @cached_property
    def lexemes_with(self) -> dict[str, frozenset[int]]:
        """Lexemes in which a cell is filled."""
        having: dict[str, set[int]] = {cell: set() for cell in self.cells}
        for number, forms in enumerate(self.lexemes):
            for cell in forms:
                having[cell].add(number)
        return {cell: frozenset(numbers) for cell, numbers in having.items()}

    def learned_from(self, given: Mapping[str, str]) -> bool:
        """Return whether some lexeme shows all given forms of another, which are at least two.

        Args:
            given: Form by cell; the stem does not count.

        Cost: O(lexemes that show the rarest of the forms x forms).
        """
        shown = {cell: form for cell, form in given.items() if cell != STEM}
        if len(shown) < 2:
            return False
        fewest = min((self._lexemes_showing.get(item, ()) for item in shown.items()), key=len)
        return any(
            all(self.lexemes[n].get(cell, (None,))[0] == form for cell, form in shown.items())
            for n in fewest
        )

    @cached_property
    def _lexemes_showing(self) -> dict[tuple[str, str], list[int]]:
        """Lexemes by cell and first form."""
        showing: dict[tuple[str, str], list[int]] = {}
        for number, forms in enumerate(self.lexemes):
            for cell, alternatives in forms.items():
                showing.setdefault((cell, alternatives[0]), []).append(number)
        return showing

    @cached_property
    def shown_alone(self) -> frozenset[str]:
        """Cells that some lexeme shows, but none beside another cell."""
        beside = {cell for forms in self.lexemes if len(forms) > 1 for cell in forms}
        return frozenset(cell for forms in self.lexemes for cell in forms) - beside

    @cached_property
    def rank_of(self) -> list[int]:
        """For each lexeme, its place in an order that does not depend on that of the rows.

        Where a measure looks at some lexemes only, it takes those that come first. The order is
        shuffled, so that these do not all begin alike.
        """
        key_l = [tuple(sorted(forms.items())) for forms in self.lexemes]
        shuffled = np.random.default_rng(0).permutation(len(self.lexemes)).tolist()
        rank_of = [0] * len(self.lexemes)
        for place, lexeme in zip(
            shuffled, sorted(range(len(key_l)), key=key_l.__getitem__), strict=True
        ):
            rank_of[lexeme] = place
        return rank_of

    @cached_property
    def forms(self) -> list[str]:
        """All forms, with repetitions."""
        return [
            f for forms in self.lexemes for alternatives in forms.values() for f in alternatives
        ]

    @cached_property
    def costs(self) -> SymbolCosts:
        """Costs of unmatched symbols in this language."""
        return SymbolCosts.from_strings(dict.fromkeys(self.forms))

    @cached_property
    def alphabet(self) -> Alphabet:
        """Symbols of all forms."""
        return Alphabet.from_strings(self.forms)

    @cached_property
    def tags(self) -> dict[str, frozenset[str]]:
        """Features of each cell."""
        return {cell: tags_of(cell) for cell in self.cells}

    @cached_property
    def similarity_cc(self) -> FloatArray:
        """float64[C, C], Jaccard similarity of the cells' features; 0 with the lemma."""
        names = sorted(set().union(*self.tags.values()))
        column = {name: n for n, name in enumerate(names)}
        has_ct = np.zeros((len(self.cells), len(names)))
        for row, cell in zip(has_ct, self.cells, strict=True):
            row[[column[tag] for tag in self.tags[cell]]] = 1.0
        both_cc = has_ct @ has_ct.T
        size_c = has_ct.sum(axis=1)
        similarity: FloatArray = both_cc / (size_c[:, None] + size_c - both_cc)
        return similarity

    @cached_property
    def _first_forms(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Form numbers int32[C, lexemes] (-1: none), given and given or else guessed; the forms.

        Lexemes come by their rank. Forms are code points int32[F, S] and lengths int32[F].
        """
        number_of: dict[str, int] = {}
        rank_of = self.rank_of
        given_cl = np.full((len(self.cells), len(self.lexemes)), -1, dtype=np.int32)
        guessed_cl = np.full_like(given_cl, -1)
        for lexeme, (forms, guessed) in enumerate(
            zip(self.lexemes, self._all_guesses, strict=True)
        ):
            for cell, alternatives in forms.items():
                number = number_of.setdefault(alternatives[0], len(number_of))
                given_cl[self.position_of[cell], rank_of[lexeme]] = number
            for cell, guesses in guessed.items():
                if guesses:
                    number = number_of.setdefault(guesses[0].form, len(number_of))
                    guessed_cl[self.position_of[cell], rank_of[lexeme]] = number
        length_f = np.array([len(form) for form in number_of], dtype=np.int32)
        symbol_fs = np.zeros((len(number_of), max(length_f, default=0) + 1), dtype=np.int32)
        for row, form in zip(symbol_fs, number_of, strict=True):
            row[: len(form)] = label_array(form)
        return given_cl, np.where(given_cl >= 0, given_cl, guessed_cl), symbol_fs, length_f

    def reliability(self, source: str) -> tuple[FloatArray, IntArray]:
        """Return how well one cell predicts each other one, and from how many lexemes we know.

        A guess about the source counts like a form, a guess about the other cell does not.

        Returns:
            float64[C], the share of the commonest change from the source; int32[C], lexemes with
            both cells filled.
        """
        if source not in self._reliability_of:
            given_cl, known_cl, symbol_fs, length_f = self._first_forms
            self._reliability_of[source] = shares_of_commonest_change(
                known_cl[self.position_of[source]], given_cl, symbol_fs, length_f
            )
        return self._reliability_of[source]

    @cached_property
    def _reliability_of(self) -> dict[str, tuple[FloatArray, IntArray]]:
        return {}
