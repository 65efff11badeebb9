"""How right a completed table is, against a gold table.

Scored are the holes: the cells that are empty in the covered table, or without one every gold cell.
Forms are compared in NFC; a gold cell with several forms counts any of them as right. Public names:
`Evaluation`, `NothingToScoreError`, `evaluate`, `read_details`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fsbp.metrics import calibration_error, edit_distance
from paradigms.delimited import TableError, decoded, quoted_records
from paradigms.lexemes import Candidate, Lexeme
from paradigms.spelling import normalised
from paradigms.tables import CANDIDATE_COLUMNS

Details = Mapping[tuple[str, str], Sequence[Candidate]]


class NothingToScoreError(ValueError):
    """No hole of the completed lexemes has a gold form."""


@dataclass(frozen=True)
class Evaluation:
    """Scores over the holes of a table.

    Args:
        holes: Number of cells scored.
        missing: How many of them have no form in the completed table: they were left open, and
            count as wrong everywhere but in `filled_accuracy`.
        share_open: Share of the cells left open.
        accuracy: Share of cells whose form is one of the gold forms.
        filled_accuracy: The same among the cells that have a form; None where none has.
        lexemes: Number of lexemes with at least one cell scored.
        whole_paradigm_accuracy: Share of lexemes with every scored cell right.
        mean_edit_distance: Mean Levenshtein distance to the nearest gold form, in characters.
        calibration_error: Mean gap between the probability and the accuracy of the forms in the
            table, over ten bins of equal mass; None without probabilities.
        candidate_accuracy: Share of cells with a gold form among the candidates; None without them.
        by_cell: Cell to its accuracy.
    """

    holes: int
    missing: int
    share_open: float
    accuracy: float
    filled_accuracy: float | None
    lexemes: int
    whole_paradigm_accuracy: float
    mean_edit_distance: float
    calibration_error: float | None
    candidate_accuracy: float | None
    by_cell: Mapping[str, float]

    def to_dict(self) -> dict[str, object]:
        """The scores as plain numbers, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Scored:
    """One hole: its lexeme and cell, the form in the table, the gold forms."""

    key: str
    cell: str
    form: str
    gold: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.form in self.gold

    @property
    def distance(self) -> int:
        return 0 if self.right else min(edit_distance(self.form, gold) for gold in self.gold)


def evaluate(
    completed: Sequence[Lexeme],
    gold: Sequence[Lexeme],
    covered: Sequence[Lexeme] | None = None,
    details: Details | None = None,
) -> Evaluation:
    """The scores of completed lexemes against gold lexemes with the same keys.

    Args:
        completed: What a model filled in; of several forms in a cell the first is scored.
        gold: The right forms; cells without one are not scored.
        covered: The table before completion: only its holes are scored. None scores every gold
            cell, given ones included.
        details: Lexeme key and cell to candidates, as `read_details` gives them.

    Raises:
        NothingToScoreError: No cell to score.

    Cost: O(cells x length^2).
    """
    scored = list(_scored(completed, gold, covered))
    if not scored:
        raise NothingToScoreError("no hole has a form here; spell lemmas and cells alike")
    right = np.array([item.right for item in scored], dtype=np.float64)
    filled = np.array([bool(item.form) for item in scored])
    by_lexeme, by_cell = defaultdict(list), defaultdict(list)
    for item in scored:
        by_lexeme[item.key].append(item.right)
        by_cell[item.cell].append(item.right)
    return Evaluation(
        holes=len(scored),
        missing=int((~filled).sum()),
        share_open=float((~filled).mean()),
        accuracy=float(right.mean()),
        filled_accuracy=float(right[filled].mean()) if filled.any() else None,
        lexemes=len(by_lexeme),
        whole_paradigm_accuracy=float(np.mean([all(r) for r in by_lexeme.values()])),
        mean_edit_distance=float(np.mean([item.distance for item in scored])),
        calibration_error=_calibration(scored, details),
        candidate_accuracy=_candidate_accuracy(scored, details),
        by_cell={cell: float(np.mean(r)) for cell, r in by_cell.items()},
    )


def read_details(path: str | Path) -> dict[tuple[str, str], list[Candidate]]:
    """The candidates for holes in a details file, by lexeme key and cell, best first.

    Holes that were left open have their candidates too.

    Raises:
        TableError: The file is no details file; the message names file, line and remedy.
        OSError: The file cannot be read.
    """
    name = str(path)
    header, *records = quoted_records(decoded(Path(path).read_bytes(), name), "\t", name)
    if tuple(field.value for field in header.fields) != CANDIDATE_COLUMNS:
        problem = f"the first line is not {' TAB '.join(CANDIDATE_COLUMNS)}"
        raise TableError(problem, "give a file written by --details", name, 1)
    details: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for record in records:
        try:
            lemma, cell, _, form, probability, status = (field.value for field in record.fields)
            candidate = Candidate(normalised(form), float(probability))
            if not 0 <= candidate.probability <= 1:
                raise ValueError("not a probability")
        except ValueError as error:
            problem = "not lemma, cell, rank, form, probability (0 to 1), status"
            remedy = "write the file again with --details"
            raise TableError(problem, remedy, name, record.line) from error
        if status in ("predicted", "open"):
            details[normalised(lemma), normalised(cell)].append(candidate)
    return dict(details)


def _scored(
    completed: Sequence[Lexeme], gold: Sequence[Lexeme], covered: Sequence[Lexeme] | None
) -> Iterator[_Scored]:
    """The holes that have a gold form, in the order of the gold table."""
    forms = {(lex.key, cell): forms[0] for lex in completed for cell, forms in lex.given.items()}
    holes = None if covered is None else {(lex.key, cell) for lex in covered for cell in lex.holes}
    for lexeme in gold:
        for cell, answers in lexeme.given.items():
            if holes is None or (lexeme.key, cell) in holes:
                yield _Scored(lexeme.key, cell, forms.get((lexeme.key, cell), ""), answers)


def _calibration(scored: Sequence[_Scored], details: Details | None) -> float | None:
    """Calibration error of the forms in the table, over the holes that have candidates."""
    if details is None:
        return None
    probabilities, right = [], []
    for item in scored:
        for candidate in details.get((item.key, item.cell), ()):
            if candidate.form == item.form:
                probabilities.append(candidate.probability)
                right.append(item.right)
    if not probabilities:
        return None
    return float(calibration_error(np.array(probabilities), np.array(right, dtype=np.float64)))


def _candidate_accuracy(scored: Sequence[_Scored], details: Details | None) -> float | None:
    """Share of the holes with a gold form among the candidates."""
    if details is None:
        return None
    found = [
        any(candidate.form in item.gold for candidate in details.get((item.key, item.cell), ()))
        for item in scored
    ]
    return float(np.mean(found))
