"""A language of stems and affixes in which every lexeme shows a single form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paradigms.lexemes import Lexeme

EXPONENT_OF = {"N;NOM;SG": "a", "N;GEN;SG": "esto", "N;NOM;PL": "imu", "N;GEN;PL": "okad"}


@dataclass(frozen=True)
class Affixed:
    """A lexeme of the language.

    Args:
        stem: Its stem.
        cell: The one cell that it shows.
        forms: All its forms by cell.
    """

    stem: str
    cell: str
    forms: dict[str, str]

    @property
    def lexeme(self) -> Lexeme:
        """The lexeme with its holes."""
        cells = {c: (form,) if c == self.cell else () for c, form in self.forms.items()}
        return Lexeme(self.stem, None, cells)


def affixed_lexemes(number: int, seed: int, backwards: bool = False) -> list[Affixed]:
    """Return lexemes of a language with suffixes, or of its mirror image with prefixes."""
    rng = np.random.default_rng(seed)
    stems: dict[str, None] = {}
    while len(stems) < number:
        letters = [str(rng.choice(list("ptkmnslr"))) for _ in range(rng.integers(2, 5))]
        vowels = [str(rng.choice(list("aeiou"))) for _ in letters[1:]]
        stems["".join(c + v for c, v in zip(letters, [*vowels, ""], strict=True))] = None
    step = -1 if backwards else 1
    return [
        Affixed(
            stem[::step],
            list(EXPONENT_OF)[n % len(EXPONENT_OF)],
            {cell: (stem + exponent)[::step] for cell, exponent in EXPONENT_OF.items()},
        )
        for n, stem in enumerate(stems)
    ]
