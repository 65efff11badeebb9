"""From a grid of text to lexemes, and from completions back to places in the grid.

Files and DataFrames alike are grids; a `Layout` says which fields are forms of which lexeme and
cell. Public names: `Grid`, `Slot`, `Layout`, `Options`, `is_open`, `require_probability`,
`long_layout`, `wide_layout`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paradigms.delimited import TableError, shown
from paradigms.lexemes import Candidate, Lexeme
from paradigms.spelling import Spelling, normalised

LemmaUse = Literal["form", "id"]
Completions = Sequence[Mapping[str, Sequence[Candidate]]]

LEMMA_NAMES = frozenset({"lemma", "lexeme", "headword", "citation form"})
EXTRA_NAMES = frozenset(
    "class;comment;count;definition;freq;frequency;gender;gloss;id;index;inflection class;meaning;"
    "note;notes;pos;source;translation;upos;url".split(";")
)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Options:
    """How the fields of a table are read.

    Args:
        lemma: Whether the lemma column is a form, and so evidence, or only an identifier.
        alternatives: Mark between alternative forms in one field, or None for one form a field.
        extra: Names of wide columns that are neither lemma nor cell, besides those that
            `wide_layout` finds; names that are no column have no effect.
    """

    lemma: LemmaUse = "form"
    alternatives: str | None = None
    extra: Collection[str] = ()


@dataclass(frozen=True)
class Grid:
    """Rows of fields, each with the line (or row number) it came from.

    Args:
        name: File name, or ``DataFrame``.
        rows: Fields of every row; blank lines are left out.
        lines: Line of each row, counted from 1.
        header: Column names, or None.
    """

    name: str
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]
    header: Sequence[str] | None = None


@dataclass(frozen=True)
class Slot:
    """One field that holds forms: where it is, whose it is, and its forms (none: a hole)."""

    row: int
    column: int
    lexeme: int
    cell: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """The lexemes of a grid, and the slots their forms stand in.

    Args:
        lexemes: In order of appearance, with distinct keys.
        slots: In reading order.
        spelling: How the grid spells composed letters.
        columns: Names in the header, normalised; none where there is no header.
    """

    lexemes: tuple[Lexeme, ...]
    slots: tuple[Slot, ...]
    spelling: Spelling
    columns: tuple[str, ...] = ()

    def fillings(
        self, completions: Completions, min_probability: float = 0.0
    ) -> dict[tuple[int, int], str]:
        """The form for each empty field that is to be filled, by (row, column).

        An empty field whose cell is given in another row gets the first given form; any other gets
        the best candidate, unless that is less probable than asked for.

        Args:
            completions: For each lexeme, in order, its holes' candidates, best first.
            min_probability: 0 to 1; a hole whose best candidate has less stays empty.

        Raises:
            ValueError: A hole has no candidate, or the probability is out of range.
        """
        require_probability(min_probability)
        forms: dict[tuple[int, int], str] = {}
        for slot in self.slots:
            if slot.forms:
                continue
            lexeme = self.lexemes[slot.lexeme]
            given = lexeme.cells[slot.cell]
            candidates = () if given else completions[slot.lexeme].get(slot.cell, ())
            if not given and not candidates:
                raise ValueError(f"no candidate for {slot.cell} of {lexeme.key}")
            if not given and is_open(candidates, min_probability):
                continue
            form = given[0] if given else candidates[0].form
            forms[slot.row, slot.column] = self.spelling.spell(form)
        return forms


def require_probability(min_probability: float) -> None:
    """Makes sure that a probability below which holes stay open is one.

    Raises:
        ValueError: It is out of range.
    """
    if not 0.0 <= min_probability <= 1.0:
        raise ValueError(f"min_probability={min_probability!r}: expected 0 to 1")


def is_open(candidates: Sequence[Candidate], min_probability: float) -> bool:
    """Whether a hole stays open: its likeliest form is less probable than asked for."""
    return candidates[0].probability < min_probability


def long_layout(grid: Grid, columns: tuple[int, int, int], options: Options) -> Layout:
    """The layout of rows that each hold one form of one cell.

    Rows with the same lemma, next to each other or not, are one lexeme; rows with the same lemma
    and cell hold alternatives.

    Args:
        grid: The rows.
        columns: Positions of lemma, form and features.
        options: How fields are read.

    Raises:
        TableError: A row without lemma or features, or a field of nothing but separators.
    """
    lemma_column, form_column, features_column = columns
    index: dict[str, int] = {}
    slots = []
    for row, fields in enumerate(grid.rows):
        lemma, cell = normalised(fields[lemma_column]), normalised(fields[features_column])
        for text, what in ((lemma, "lemma"), (cell, "features")):
            if not text:
                problem, remedy = f"the {what} field is empty", "fill it in or delete the row"
                raise TableError(problem, remedy, grid.name, grid.lines[row])
        _check_cell(cell, grid, grid.lines[row])
        forms = _forms(fields[form_column], grid, row, options)
        slots.append(Slot(row, form_column, index.setdefault(lemma, len(index)), cell, forms))
    lemmas = [lemma if options.lemma == "form" else None for lemma in index]
    return _layout(list(index), lemmas, slots, grid)


def wide_layout(grid: Grid, options: Options) -> Layout:
    """The layout of rows that each hold one lexeme, with a header of cells.

    The lemma is in the column called lemma (or lexeme, headword, citation form), otherwise in the
    first column. Extra columns are those named in the options, those with a name of `EXTRA_NAMES`,
    those without a name, and those with a number in every row. Every other column is a cell.

    Raises:
        TableError: A repeated column name, no cell column, or a field of nothing but
            separators.
    """
    header = [normalised(name) for name in grid.header or ()]
    _check_header(header, grid)
    lemma_column = next((i for i, n in enumerate(header) if n.casefold() in LEMMA_NAMES), 0)
    extra = {normalised(name) for name in options.extra}
    cells = [
        (column, name)
        for column, name in enumerate(header)
        if column != lemma_column and name not in extra and not _is_extra(grid, column, name)
    ]
    if not cells:
        remedy = "add one column for each cell, with its name in the header"
        raise TableError("no column of forms", remedy, grid.name, 1)
    names = [normalised(fields[lemma_column]) for fields in grid.rows]
    slots = [
        Slot(row, column, row, cell, _forms(fields[column], grid, row, options))
        for row, fields in enumerate(grid.rows)
        for column, cell in cells
    ]
    lemmas = [(name or None) if options.lemma == "form" else None for name in names]
    return _layout(_distinct(names), lemmas, slots, grid)


def _layout(
    keys: Sequence[str], lemmas: Sequence[str | None], slots: Sequence[Slot], grid: Grid
) -> Layout:
    """Gathers the forms of each lexeme's cells, without repetitions, in reading order."""
    cells: list[dict[str, dict[str, None]]] = [{} for _ in keys]
    for slot in slots:
        cells[slot.lexeme].setdefault(slot.cell, {}).update(dict.fromkeys(slot.forms))
    lexemes = tuple(
        Lexeme(key, lemma, {cell: tuple(forms) for cell, forms in forms_of.items()})
        for key, lemma, forms_of in zip(keys, lemmas, cells, strict=True)
    )
    spelling = Spelling.of(field.strip() for fields in grid.rows for field in fields)
    columns = tuple(map(normalised, grid.header or ()))
    return Layout(lexemes, tuple(slots), spelling, columns)


def _forms(field: str, grid: Grid, row: int, options: Options) -> tuple[str, ...]:
    """The alternatives in the field, normalised; none for a hole."""
    text = normalised(field)
    if not text or options.alternatives is None:
        return (text,) if text else ()
    forms = tuple(filter(None, map(normalised, text.split(options.alternatives))))
    if not forms:
        problem = f"{shown(text)} has no form beside the separator"
        remedy = "empty the field to make it a hole"
        raise TableError(problem, remedy, grid.name, grid.lines[row])
    return forms


def _check_header(header: Sequence[str], grid: Grid) -> None:
    """Raises `TableError` where two columns have one name, or one has a name kept for us."""
    repeated = [name for name, count in Counter(header).items() if count > 1 and name]
    if repeated:
        problem = f"two columns are called {shown(repeated[0])}"
        raise TableError(problem, "give every column a name of its own", grid.name, 1)
    for name in header:
        _check_cell(name, grid, 1)


def _check_cell(name: str, grid: Grid, line: int) -> None:
    """Raises `TableError` where a cell's name has the character that begins internal names."""
    if "\0" in name:
        problem = f"the cell name {shown(name)} has a NUL character in it"
        raise TableError(problem, "give the cell another name", grid.name, line)


def _is_extra(grid: Grid, column: int, name: str) -> bool:
    """Whether a column is extra by its name or its content."""
    if not name or name.casefold() in EXTRA_NAMES:
        return True
    return all(_NUMBER.fullmatch(row[column].strip()) for row in grid.rows)


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with #2, #3 ... added where they have come before."""
    taken: set[str] = set()
    repeats: Counter[str] = Counter()
    distinct = []
    for name in names:
        key = name
        while key in taken or not key:
            repeats[name] += 1
            key = f"{name}#{repeats[name] + bool(name)}"
        taken.add(key)
        distinct.append(key)
    return distinct
