"""What the benchmarks share: completing one table, scoring its holes, printing, peak memory.

Public names: `BOOTSTRAP_DRAWS`, `Scores`, `completed_scores`, `pooled`, `peak_mebibytes`,
`print_row`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib.externals.loky import get_reusable_executor
from numpy.typing import NDArray

from fsbp.metrics import calibration_error, coverage_at_precision
from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel

PRECISION = 0.95
BOOTSTRAP_DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class Scores:
    """What became of the holes of one or more tables.

    Args:
        lexeme_h: For each hole, the number of its lexeme.
        correct_h: For each hole, whether the first candidate is right.
        probability_h: For each hole, the probability of the first candidate.
        share_given: Cells given over all cells, 0 to 1.
        seconds: Time taken by training and completion together.
    """

    lexeme_h: NDArray[np.int64]
    correct_h: NDArray[np.bool_]
    probability_h: NDArray[np.float64]
    share_given: float
    seconds: float

    @property
    def accuracy_by_lexeme(self) -> NDArray[np.float64]:
        """For each lexeme with a hole, the share of its holes that are right."""
        _, number_h = np.unique(self.lexeme_h, return_inverse=True)
        return np.bincount(number_h, weights=self.correct_h) / np.bincount(number_h)

    def figures(self) -> dict[str, float]:
        """Returns the figures of one line of a report; shares in per cent.

        The coverage is the largest share of holes, most probable first, of which 95 % are right.
        """
        return {
            "holes": len(self.correct_h),
            "given": 100 * self.share_given,
            "accuracy": 100 * float(self.correct_h.mean()),
            "whole": 100 * float((self.accuracy_by_lexeme == 1).mean()),
            "calibration_error": 100 * calibration_error(self.probability_h, self.correct_h),
            "coverage": 100 * coverage_at_precision(self.probability_h, self.correct_h, PRECISION),
            "seconds": self.seconds,
        }


def completed_scores(
    model: ParadigmModel,
    train: Sequence[Lexeme],
    covered: Sequence[Lexeme],
    gold: Sequence[Lexeme],
    jobs: int,
) -> Scores:
    """Returns the scores of `model`, trained on `train`, on the holes of `covered`.

    Args:
        model: An untrained model.
        train: Lexemes to learn from.
        covered: Lexemes with holes.
        gold: The same lexemes in the same order, complete.
        jobs: Number of worker processes.

    Raises:
        ValueError: `covered` and `gold` are not the same lexemes.
    """
    if [lexeme.key for lexeme in covered] != [lexeme.key for lexeme in gold]:
        raise ValueError("the table with holes and the gold table list different lexemes")
    start = time.perf_counter()
    completions = model.fit(train).complete_lexemes(covered, jobs=jobs)
    seconds = time.perf_counter() - start
    holes = [
        (number, completions[number][cell][0], gold[number].cells[cell])
        for number, lexeme in enumerate(covered)
        for cell in lexeme.holes
    ]
    num_cells = sum(len(lexeme.cells) for lexeme in covered)
    return Scores(
        np.array([number for number, _, _ in holes], dtype=np.int64),
        np.array([best.form in forms for _, best, forms in holes], dtype=np.bool_),
        np.array([best.probability for _, best, _ in holes], dtype=np.float64),
        share_given=1 - len(holes) / num_cells,
        seconds=seconds,
    )


def pooled(scores: Sequence[Scores]) -> Scores:
    """Returns the holes of several tables as one; shares given are averaged, seconds added."""
    first = np.cumsum([0] + [int(each.lexeme_h.max()) + 1 for each in scores])
    return Scores(
        np.concatenate(
            [each.lexeme_h + offset for each, offset in zip(scores, first, strict=False)]
        ),
        np.concatenate([each.correct_h for each in scores]),
        np.concatenate([each.probability_h for each in scores]),
        share_given=float(np.mean([each.share_given for each in scores])),
        seconds=sum(each.seconds for each in scores),
    )


def peak_mebibytes(jobs: int) -> float:
    """Returns an upper bound on memory in use: this process plus `jobs` of the largest worker.

    It ends the worker processes first, because the system counts only those that have ended.
    """
    if jobs > 1:
        get_reusable_executor().shutdown(wait=True)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if jobs > 1 else 0
    return (own + jobs * worker) / 1024


def print_row(*fields: object) -> None:
    """Prints one line of a table: a name, then numbers to one decimal place (counts to none)."""
    name, *numbers = fields
    texts = [f"{number:.1f}" if isinstance(number, float) else str(number) for number in numbers]
    print(f"{name!s:<18}" + "".join(f"{text:>11}" for text in texts), flush=True)
