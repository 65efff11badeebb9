"""Inflection tables: files and DataFrames to lexemes, and completions back into their holes.

Two formats. UniMorph: one form a line, ``lemma TAB form TAB features``, an empty form is a hole.
Wide: CSV or TSV, one lexeme a row, the header names the cells, an empty field is a hole. Writing
keeps everything that is not a hole byte for byte. Public names: `Table`, `TableError`,
`read_table`, `detected_format`, `frame_to_lexemes`, `completed_frame`, `candidates_frame`,
`candidate_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
from pandas.api.types import is_object_dtype

from paradigms.delimited import (
    BOM,
    Record,
    TableError,
    decoded,
    quoted_field,
    quoted_records,
    replaced,
    shown,
    tabbed_records,
    write_atomically,
)
from paradigms.layout import (
    LEMMA_NAMES,
    Completions,
    Grid,
    Layout,
    LemmaUse,
    Options,
    is_open,
    long_layout,
    wide_layout,
)
from paradigms.lexemes import Candidate, Lexeme

__all__ = [
    "CANDIDATE_COLUMNS",
    "Candidate",
    "Completions",
    "LemmaUse",
    "Lexeme",
    "Table",
    "TableError",
    "TableFormat",
    "candidate_rows",
    "candidates_frame",
    "completed_frame",
    "detected_format",
    "frame_to_lexemes",
    "read_table",
]

TableFormat = Literal["unimorph", "wide"]
CANDIDATE_COLUMNS = ("lemma", "cell", "rank", "form", "probability", "status")
LONG_COLUMNS = ("lemma", "form", "features")
DELIMITERS = ("\t", ",", ";")


@dataclass(frozen=True)
class Table:
    """A table as it stands in a file.

    Args:
        name: The file, for messages.
        format: ``unimorph`` or ``wide``.
        text: The whole text, byte-order mark and line ends included.
        records: Every row of forms; not the header, not blank lines.
        layout: Its lexemes and where their forms stand.
        delimiter: Mark between wide fields, or None where fields are never quoted.
    """

    name: str
    format: TableFormat
    text: str
    records: tuple[Record, ...]
    layout: Layout
    delimiter: str | None

    def lexemes(self) -> list[Lexeme]:
        """The lexemes, in order of appearance."""
        return list(self.layout.lexemes)

    def filled(self, completions: Completions, min_probability: float = 0.0) -> str:
        """The text of the table with every hole filled by its best candidate.

        Args:
            completions: For each lexeme, in order, its holes' candidates, best first.
            min_probability: 0 to 1; a hole whose best candidate has less stays as it is.

        Raises:
            ValueError: A hole has no candidate, or the probability is out of range.
        """
        spans = {}
        for (row, column), form in self.layout.fillings(completions, min_probability).items():
            field = self.records[row].fields[column]
            spans[field.start, field.end] = self._written(form, self.text[field.start : field.end])
        return replaced(self.text, spans)

    def write(
        self, path: str | Path, completions: Completions, min_probability: float = 0.0
    ) -> None:
        """Writes the filled table; the file appears whole or not at all.

        Raises:
            ValueError: A hole has no candidate, or the probability is out of range.
            OSError: The file cannot be written.
        """
        write_atomically(path, self.filled(completions, min_probability).encode("utf-8"))

    def _written(self, form: str, hole: str) -> str:
        """The form as a field of this file, in quotes if the hole was.

        Where fields are never quoted, a space stands for tabs and line ends.
        """
        if self.delimiter is None:
            return re.sub(r"[\t\r\n]+", " ", form)
        return quoted_field(form, self.delimiter, always=hole.startswith('"'))


def read_table(
    path: str | Path,
    *,
    format: Literal["auto", "unimorph", "wide"] = "auto",
    lemma: LemmaUse = "form",
    alternatives: str | None = None,
    extra: Collection[str] = (),
) -> Table:
    """The table in a file.

    Args:
        path: UTF-8 file, with or without byte-order mark, with any line ends.
        format: ``auto`` recognises the format by content.
        lemma: Whether the lemma column is a form (evidence) or only an identifier.
        alternatives: Mark between alternative forms in one field, such as ``/``, or None.
        extra: Wide columns that are no cells, besides those `wide_layout` finds by itself.

    Raises:
        TableError: The file is no such table; the message names file, line and remedy.
        OSError: The file cannot be read.
    """
    name = str(path)
    text = decoded(Path(path).read_bytes(), name)
    options = Options(lemma, alternatives, tuple(extra))
    if format == "auto":
        format = detected_format(text, name)
    if format == "unimorph":
        return _unimorph_table(text, name, options)
    return _wide_table(text, name, options)


def detected_format(text: str, name: str) -> TableFormat:
    """The format of a table by its content.

    UniMorph where most lines have three tab-separated fields, and either the third looks like
    features in most lines after the first (capitals, or holding a semicolon), or lemmas and third
    fields both repeat, or the first line says lemma, form, features. Otherwise wide, if the first
    line has at least two fields.

    Raises:
        TableError: The first line has a single field.
    """
    lines = text.removeprefix(BOM).replace("\r", "\n").split("\n")
    rows = [line.split("\t") for line in lines if line.strip()]
    triples = [row for row in rows if len(row) == 3]
    if 2 * len(triples) > len(rows) and _hold_features(triples):
        return "unimorph"
    if _delimiter(text) is not None:
        return "wide"
    problem = "the first line has no tab, comma or semicolon between fields"
    remedy = "give lemma TAB form TAB features, or a CSV/TSV with a header of cells"
    raise TableError(problem, remedy, name, 1)


def frame_to_lexemes(
    frame: pd.DataFrame,
    *,
    lemma: LemmaUse = "form",
    alternatives: str | None = None,
    extra: Collection[str] = (),
) -> list[Lexeme]:
    """The lexemes of a DataFrame.

    Long frames have the columns lemma, form and features; any other frame is wide, read as
    `wide_layout` says. Missing values and empty strings are holes.

    Raises:
        TableError: The frame is no such table; lines in messages are rows counted from 1.
    """
    return list(_frame_layout(frame, Options(lemma, alternatives, tuple(extra))).lexemes)


def completed_frame(
    frame: pd.DataFrame,
    completions: Completions,
    *,
    lemma: LemmaUse = "form",
    alternatives: str | None = None,
    extra: Collection[str] = (),
    min_probability: float = 0.0,
) -> pd.DataFrame:
    """A copy of the frame with every hole filled; index, columns and given cells are unchanged.

    Args:
        frame: Long or wide frame.
        completions: For each lexeme of `frame_to_lexemes`, its holes' candidates, best first.
        lemma: As for `frame_to_lexemes`.
        alternatives: As for `frame_to_lexemes`.
        extra: As for `frame_to_lexemes`.
        min_probability: 0 to 1; a hole whose best candidate has less stays as it is.

    Raises:
        TableError: The frame is no table.
        ValueError: A hole has no candidate, or the probability is out of range.
    """
    layout = _frame_layout(frame, Options(lemma, alternatives, tuple(extra)))
    complete = _with_lemma_column(frame)
    for column, forms in _forms_by_column(layout.fillings(completions, min_probability)).items():
        values = complete.iloc[:, column].to_list()
        for row, form in forms.items():
            values[row] = form
        kept = is_object_dtype(complete.dtypes.iloc[column])
        complete.isetitem(column, pd.Series(values, dtype=object if kept else "str").array)
    if complete.shape[1] > frame.shape[1]:
        complete = complete.set_index(complete.columns[0])
    return complete


def candidate_rows(
    layout: Layout, completions: Completions, min_probability: float = 0.0
) -> Iterator[tuple[str, str, int, str, float, str]]:
    """One row for each candidate, under `CANDIDATE_COLUMNS`, in reading order.

    Given forms have probability 1 and status ``given``; candidates for holes are ``predicted``, or
    ``open`` where the best of them has less than `min_probability`, so that the hole stays.
    """
    spell = layout.spelling.spell
    for lexeme, candidates_of in zip(layout.lexemes, completions, strict=True):
        key = spell(lexeme.key)
        for cell, forms in lexeme.cells.items():
            for rank, form in enumerate(forms, start=1):
                yield key, spell(cell), rank, spell(form), 1.0, "given"
            candidates = () if forms else candidates_of[cell]
            status = "open" if candidates and is_open(candidates, min_probability) else "predicted"
            for rank, candidate in enumerate(candidates, start=1):
                form = spell(candidate.form)
                yield key, spell(cell), rank, form, candidate.probability, status


def candidates_frame(
    frame: pd.DataFrame,
    completions: Completions,
    *,
    lemma: LemmaUse = "form",
    alternatives: str | None = None,
    extra: Collection[str] = (),
    min_probability: float = 0.0,
) -> pd.DataFrame:
    """All candidates, one a row, under `CANDIDATE_COLUMNS`; arguments as `completed_frame`."""
    layout = _frame_layout(frame, Options(lemma, alternatives, tuple(extra)))
    rows = candidate_rows(layout, completions, min_probability)
    return pd.DataFrame(rows, columns=list(CANDIDATE_COLUMNS))


def _unimorph_table(text: str, name: str, options: Options) -> Table:
    records = [record for record in tabbed_records(text) if record.fields]
    for record in records:
        if len(record.fields) != 3:
            problem = f"{len(record.fields)} tab-separated fields instead of 3"
            remedy = "write lemma TAB form TAB features, or force another --format"
            raise TableError(problem, remedy, name, record.line)
    if tuple(field.value.casefold() for field in records[0].fields) == LONG_COLUMNS:
        records = records[1:]
    layout = long_layout(_grid(records, name, None), (0, 1, 2), options)
    return Table(name, "unimorph", text, tuple(records), layout, None)


def _wide_table(text: str, name: str, options: Options) -> Table:
    delimiter = _delimiter(text) or ","
    records = [r for r in quoted_records(text, delimiter, name) if r.fields]
    header = [field.value for field in records[0].fields]
    for record in records[1:]:
        if len(record.fields) != len(header):
            problem = f"{len(record.fields)} columns, but the header has {len(header)}"
            remedy = f"add or remove a {shown(delimiter)}, or quote fields that contain it"
            raise TableError(problem, remedy, name, record.line)
    if {column.strip().casefold() for column in header} >= set(LONG_COLUMNS):
        remedy = "save it as lemma TAB form TAB features"
        raise TableError("a long table in CSV is not supported", remedy, name, 1)
    layout = wide_layout(_grid(records[1:], name, header), options)
    return Table(name, "wide", text, tuple(records[1:]), layout, delimiter)


def _grid(records: list[Record], name: str, header: list[str] | None) -> Grid:
    """The values of at least one record."""
    if not records:
        raise TableError("there is no row below the header", "add at least one row", name)
    rows = [[field.value for field in record.fields] for record in records]
    return Grid(name, rows, [record.line for record in records], header)


def _hold_features(triples: list[list[str]]) -> bool:
    """Whether the third fields are features rather than one more column of forms."""
    if tuple(field.casefold() for field in triples[0]) == LONG_COLUMNS:
        return True
    features = [row[2].strip() for row in triples]
    judged = [tags for tags in features[1:] or features if tags]
    alike = sum(";" in tags or (tags.isascii() and tags.isupper()) for tags in judged)
    lemmas = [row[0] for row in triples]
    return 2 * alike > len(judged) or (_repeats(lemmas) and _repeats(features))


def _repeats(values: list[str]) -> bool:
    """Whether values that are not empty occur twice or more on average, given four or more."""
    filled = [value for value in values if value]
    return len(filled) >= 4 and 2 * len(set(filled)) <= len(filled)


def _delimiter(text: str) -> str | None:
    """The first of tab, comma and semicolon that divides the header, or None."""
    first = next(line for line in text.removeprefix(BOM).splitlines() if line.strip())
    bare = "".join(first.split('"')[::2])
    return next((delimiter for delimiter in DELIMITERS if delimiter in bare), None)


def _frame_layout(frame: pd.DataFrame, options: Options) -> Layout:
    """The layout of a long or wide frame."""
    frame = _with_lemma_column(frame)
    if frame.empty:
        raise TableError("is empty", "give at least one row and one column", "DataFrame")
    header = [str(column) for column in frame.columns]
    text = frame.astype(object).where(frame.notna(), "").map(str)
    grid = Grid("DataFrame", text.to_numpy().tolist(), range(1, len(frame) + 1), header)
    places = {name.casefold(): column for column, name in enumerate(header)}
    if places.keys() >= set(LONG_COLUMNS):
        lemma, form, features = (places[name] for name in LONG_COLUMNS)
        return long_layout(grid, (lemma, form, features), options)
    return wide_layout(grid, options)


def _with_lemma_column(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame, with its index as first column where the index is called lemma."""
    named = str(frame.index.name).casefold() in LEMMA_NAMES
    return frame.reset_index() if named else frame.copy()


def _forms_by_column(fillings: dict[tuple[int, int], str]) -> dict[int, dict[int, str]]:
    """Column to row to form."""
    columns: dict[int, dict[int, str]] = {}
    for (row, column), form in fillings.items():
        columns.setdefault(column, {})[row] = form
    return columns
