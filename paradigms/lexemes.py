"""What a paradigm model reads and returns: `Lexeme` and `Candidate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Lexeme:
    """One lexeme's paradigm: the forms that are given, cell by cell.

    Args:
        key: Identifier of the lexeme, unique in its table.
        lemma: Citation form as evidence, or None where the table has none.
        cells: Cell name to observed alternatives, in reading order; an empty tuple is a hole.
    """

    key: str
    lemma: str | None
    cells: Mapping[str, tuple[str, ...]]

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """Cells with at least one observed form."""
        return {cell: forms for cell, forms in self.cells.items() if forms}

    @property
    def holes(self) -> list[str]:
        """Cells to be completed, in reading order."""
        return [cell for cell, forms in self.cells.items() if not forms]


@dataclass(frozen=True)
class Candidate:
    """One form proposed for a hole, with its posterior probability (0 to 1)."""

    form: str
    probability: float
