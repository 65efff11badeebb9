"""What people see: the details file, and tables for the terminal.

Public names: `write_details`, `evaluation_table`, `summary_table`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table as RichTable
from rich.text import Text

from paradigms.delimited import joined_rows, write_atomically
from paradigms.evaluate import Evaluation
from paradigms.layout import Completions, Layout
from paradigms.tables import CANDIDATE_COLUMNS, candidate_rows


def write_details(
    path: str | Path, layout: Layout, completions: Completions, min_probability: float = 0.0
) -> None:
    """Writes one line for each candidate, as TSV with the header `CANDIDATE_COLUMNS`.

    Candidates of a hole that stays open, as its best is below `min_probability`, are listed too.
    Fields that hold a tab, a line end or a double quote are quoted as in CSV; probabilities have
    six decimals. The file appears whole or not at all.

    Raises:
        OSError: The file cannot be written.
    """
    rows = [
        (lemma, cell, str(rank), form, f"{probability:.6f}", status)
        for lemma, cell, rank, form, probability, status in candidate_rows(
            layout, completions, min_probability
        )
    ]
    write_atomically(path, joined_rows([CANDIDATE_COLUMNS, *rows]).encode("utf-8"))


def evaluation_table(evaluation: Evaluation) -> RichTable:
    """The scores with their names, one a row; shares in per cent."""
    scores = [
        ("holes", str(evaluation.holes)),
        ("  left open (wrong)", str(evaluation.missing)),
        ("accuracy", _percent(evaluation.accuracy)),
        ("lexemes", str(evaluation.lexemes)),
        ("whole-paradigm accuracy", _percent(evaluation.whole_paradigm_accuracy)),
        ("mean edit distance", f"{evaluation.mean_edit_distance:.3f}"),
    ]
    if evaluation.missing:
        scores.append(("share left open", _percent(evaluation.share_open)))
    if evaluation.missing and evaluation.filled_accuracy is not None:
        scores.append(("accuracy where filled", _percent(evaluation.filled_accuracy)))
    if evaluation.candidate_accuracy is not None:
        scores.append(("gold among candidates", _percent(evaluation.candidate_accuracy)))
    if evaluation.calibration_error is not None:
        scores.append(("calibration error", _percent(evaluation.calibration_error)))
    return _two_columns(scores)


def summary_table(summary: Mapping[str, object]) -> RichTable:
    """A model's summary, one entry a row; lists and mappings are joined by commas."""
    return _two_columns([(name, _plain(value)) for name, value in summary.items()])


def _two_columns(rows: list[tuple[str, str]]) -> RichTable:
    table = RichTable(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
