"""Options that commands share: how tables are read, and numbers that are probabilities.

Public names: `FORMATS_HELP`, `Reader`, `table_options`, `Probability`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

import click

from paradigms.spelling import normalised
from paradigms.tables import LemmaUse, Table, TableError, read_table

FORMATS_HELP = """
\b
Formats, recognised by content (force one with --format):
  unimorph  one form a line: lemma TAB form TAB features. An empty form is a
            hole. Rows with the same lemma are one lexeme wherever they stand;
            rows with the same lemma and features hold alternatives.
  wide      CSV or TSV, one lexeme a row. The header names the cells; an empty
            field is a hole. Every hole is filled, so mix parts of speech with
            different cells in unimorph files only.

\b
Columns of a wide table:
  lemma     the one called lemma, lexeme, headword or citation form, otherwise
            the first. It is never filled.
  extra     kept untouched, never read: those named by --extra; those called
            class, comment, count, definition, freq, frequency, gender, gloss,
            id, index, inflection class, meaning, note, notes, pos, source,
            translation, upos or url; those without a name; those with a
            number in every row.
  cells     all others.
"""


class Probability(click.ParamType):
    """A number from 0 to 1."""

    name = "P"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; anything else is an error that says how to write it."""
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0.0 <= number <= 1.0:
            self.fail(f"{value!r} is no number from 0 to 1; write 95 % as 0.95.", param, ctx)
        return number


@dataclass(frozen=True)
class Reader:
    """How the tables of one command are read."""

    format: Literal["auto", "unimorph", "wide"]
    lemma: LemmaUse
    alternatives: str | None
    extra: tuple[str, ...]

    def tables(self, *paths: str) -> list[Table]:
        """The tables in the files; a name given by --extra must be a column of one of them."""
        tables = [
            read_table(
                path,
                format=self.format,
                lemma=self.lemma,
                alternatives=self.alternatives,
                extra=self.extra,
            )
            for path in paths
        ]
        for name in self.extra:
            if not any(normalised(name) in table.layout.columns for table in tables):
                problem = f"--extra {name}: no column has this name"
                raise TableError(problem, "write it as in the header", paths[0], 1)
        return tables


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options that say how tables are read, passed to it as ``reader``."""

    @click.option(
        "--format",
        type=click.Choice(["auto", "unimorph", "wide"]),
        default="auto",
        show_default=True,
        help="Format of the tables; auto recognises it by content.",
    )
    @click.option(
        "--lemma",
        type=click.Choice(["form", "id"]),
        default="form",
        show_default=True,
        help="Whether the lemma column is itself a form, and so evidence, or only an identifier.",
    )
    @click.option(
        "--alternatives",
        type=click.Choice(["/", "|"]),
        metavar="MARK",
        help="/ or |, the mark between alternative forms in one cell, as in a/b; without this"
        " option both are letters like any other.",
    )
    @click.option(
        "--extra",
        multiple=True,
        metavar="NAME",
        help="A column of a wide table that is neither lemma nor cell; may be repeated.",
    )
    @wraps(command)
    def with_reader(
        *,
        format: Literal["auto", "unimorph", "wide"],
        lemma: LemmaUse,
        alternatives: str | None,
        extra: tuple[str, ...],
        **arguments: Any,
    ) -> Any:
        return command(reader=Reader(format, lemma, alternatives, extra), **arguments)

    return with_reader
