"""The command ``paradigms``: complete, train, evaluate and inspect."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from paradigms.delimited import is_stream
from paradigms.evaluate import NothingToScoreError, evaluate, read_details
from paradigms.messages import MessageUse
from paradigms.model import ModelFileError, ParadigmModel
from paradigms.report import evaluation_table, summary_table, write_details
from paradigms.spelling import normalised
from paradigms.tables import Completions, LemmaUse, Table, TableError, read_table

READ = click.Path(exists=True, dir_okay=False, readable=True)
WRITE = click.Path(dir_okay=False, writable=True)

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

START = """
\b
Fill the holes of a table, learning from its own filled cells:
  paradigms complete holes.tsv -o full.tsv
Learn from complete tables, and look at every candidate's probability:
  paradigms complete holes.tsv --train known.tsv -o full.tsv --details d.tsv
Learn once, complete often:
  paradigms train known.tsv -o model.zip
  paradigms complete holes.tsv --model model.zip -o full.tsv
Compare with the right forms:
  paradigms evaluate full.tsv --gold gold.tsv --covered holes.tsv
"""
COMPLETE_EXAMPLES = """
\b
Examples:
  paradigms complete nouns.csv -o nouns.full.csv --jobs 2
  paradigms complete holes.tsv --train known.tsv -o full.tsv --details d.tsv
  paradigms complete ids.tsv --lemma id -o full.tsv
  paradigms complete verbs.csv --alternatives / --extra stem -o full.csv
"""
TRAIN_EXAMPLES = """
\b
Examples:
  paradigms train nouns.tsv -o nouns.model
  paradigms train ids.tsv --lemma id -o nouns.model
"""
EVALUATE_EXAMPLES = """
\b
Examples:
  paradigms evaluate full.tsv --gold gold.tsv --covered holes.tsv
  paradigms evaluate full.csv --gold gold.csv --details d.tsv --json
"""
INSPECT_EXAMPLES = """
\b
Examples:
  paradigms inspect nouns.model
  paradigms inspect nouns.model --json
"""


class InputError(click.ClickException):
    """An error in what the user gave: one line on standard error, exit code 2."""

    exit_code = 2


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


seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of what is drawn at random: nothing so far, so every seed gives the same result.",
)


class Group(click.Group):
    """A group of commands that turns errors in files into one line each."""

    def invoke(self, ctx: click.Context) -> Any:
        """What the command returns.

        Raises:
            InputError: A table or model cannot be used, or a file cannot be read or written.
        """
        try:
            return super().invoke(ctx)
        except (TableError, ModelFileError) as error:
            raise InputError(str(error)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"{error.filename or 'file'}: {error.strerror or error}") from error


@click.group(cls=Group, epilog=START, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fsbp")
def cli() -> None:
    """Complete inflection tables with a joint model of all their cells.

    Each command explains itself: paradigms COMMAND --help.
    """


@cli.command(epilog=COMPLETE_EXAMPLES + FORMATS_HELP)
@click.argument("table", type=READ)
@click.option("--train", type=READ, help="Learn from the filled cells of this table.")
@click.option("--model", type=READ, help="Use a model written by `paradigms train`.")
@click.option("-o", "--output", type=WRITE, required=True, help="The completed table.")
@click.option("--details", type=WRITE, help="Also write every candidate with its probability.")
@click.option("--no-adapt", is_flag=True, help="Do not learn from the given cells of TABLE.")
@click.option(
    "--messages",
    type=click.Choice(["kbest", "ngram", "exact"]),
    default="kbest",
    show_default=True,
    help="What the given cells say about a hole: kbest, the 20 best forms of each; exact, all forms"
    " of each; ngram, an n-gram model of the forms of each (12 times slower, as accurate).",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@seed_option
@table_options
def complete(
    table: str,
    train: str | None,
    model: str | None,
    output: str,
    details: str | None,
    no_adapt: bool,
    messages: MessageUse,
    jobs: int,
    seed: int,
    reader: Reader,
) -> None:
    """Fill every hole of TABLE.

    Without --train or --model it learns from the filled cells of TABLE itself; with either, the
    given cells of TABLE join what was learned, unless --no-adapt. The output has the format, rows
    and order of TABLE, given cells are copied as they are, and every hole holds its most probable
    form. The same seed gives the same output, whatever the number of jobs.

    The details file is TSV with a header: lemma, cell, rank, form, probability (of this form among
    all strings, 0 to 1) and status. Given cells have the status given and probability 1, others
    predicted. A lemma that stands in several rows of a wide table is written lemma, lemma#2, ...
    """
    if train and model:
        raise click.UsageError("--train and --model exclude each other.")
    if no_adapt and not (train or model):
        raise click.UsageError("--no-adapt leaves nothing to learn from: add --train or --model.")
    require_writable(output, details)
    target, *sources = reader.tables(table, *filter(None, [train]))
    lexemes = target.lexemes()
    holes = sum(len(lexeme.holes) for lexeme in lexemes)
    completions: Completions = [{} for _ in lexemes]
    if holes:
        if model:
            learned = ParadigmModel.load(model)
            learned.adapt = not no_adapt
            if learned.lemma == "id" and reader.lemma == "form":
                raise InputError(f"{model}: was trained with --lemma id; add --lemma id here too")
        else:
            adapt = bool(train) and not no_adapt
            learned = fitted(sources[0] if sources else target, reader.lemma, adapt, seed)
        learned.messages = messages
        with progress_bar("completing", len(lexemes)) as advance:
            completions = learned.complete_lexemes(lexemes, jobs=jobs, progress=advance)
    if details:
        write_details(details, target.layout, completions)
    target.write(output, completions)
    say(f"{holes} holes filled in {len(lexemes)} lexemes, written to {output}")


@cli.command(epilog=TRAIN_EXAMPLES + FORMATS_HELP)
@click.argument("table", type=READ)
@click.option("-o", "--output", type=WRITE, required=True, help="The model: one zip file.")
@seed_option
@table_options
def train(table: str, output: str, seed: int, reader: Reader) -> None:
    """Learn a model from the filled cells of TABLE, complete or not.

    The model holds OpenFst files, arrays and JSON; loading it never runs code.
    """
    require_writable(output)
    (source,) = reader.tables(table)
    fitted(source, reader.lemma, True, seed).save(output)
    say(f"learned from {len(source.lexemes())} lexemes, written to {output}")


@cli.command("evaluate", epilog=EVALUATE_EXAMPLES + FORMATS_HELP)
@click.argument("completed", type=READ)
@click.option("--gold", type=READ, required=True, help="The table with the right forms.")
@click.option("--covered", type=READ, help="The table before completion; only its holes count.")
@click.option("--details", type=READ, help="The details file, for the calibration error.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the accuracy by cell.")
@table_options
def evaluate_command(
    completed: str,
    gold: str,
    covered: str | None,
    details: str | None,
    as_json: bool,
    reader: Reader,
) -> None:
    """Compare COMPLETED with the right forms in GOLD.

    Prints the accuracy over the holes of --covered (without it, over all cells of GOLD), the share
    of lexemes with every hole right, and the mean edit distance to the nearest right form; with
    --details also how often a right form is among the candidates, and the calibration error: how
    far, on average, the probabilities are from the accuracy. Lexemes are matched by lemma and
    cells by name, so the files may differ in format. Where GOLD has several forms for a cell (by
    repeated rows, or with --alternatives) any of them is right.
    """
    tables = reader.tables(completed, gold, *filter(None, [covered]))
    filled, right, *before = (table.lexemes() for table in tables)
    candidates = read_details(details) if details else None
    try:
        evaluation = evaluate(filled, right, before[0] if before else None, candidates)
    except NothingToScoreError as error:
        raise InputError(f"{gold}: {error}") from error
    if as_json:
        click.echo(json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2))
    else:
        Console().print(evaluation_table(evaluation))


@cli.command(epilog=INSPECT_EXAMPLES)
@click.argument("model", type=READ)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(model: str, as_json: bool) -> None:
    """Say what MODEL learned, and from how much."""
    summary = ParadigmModel.load(model).summary()
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        Console().print(summary_table(summary))


def fitted(source: Table, lemma: LemmaUse, adapt: bool, seed: int) -> ParadigmModel:
    """A model that has learned from the table.

    Raises:
        TableError: No cell of the table is filled.
    """
    if not any(lexeme.given for lexeme in source.lexemes()):
        remedy = "fill in some cells, or add --train or --model"
        raise TableError("no cell is filled: nothing to learn from", remedy, source.name)
    console = Console(stderr=True)
    with console.status("learning") if console.is_terminal else nullcontext():
        return ParadigmModel(lemma=lemma, adapt=adapt, seed=seed).fit(source.lexemes())


def require_writable(*paths: str | None) -> None:
    """Makes sure, before any work, that the files can be written and are different.

    Raises:
        InputError: A folder is missing or not writable, or two files are one.
    """
    targets = [Path(path).resolve() for path in paths if path]
    for path, target in zip(filter(None, paths), targets, strict=True):
        if is_stream(path):
            continue
        if not target.parent.is_dir():
            raise InputError(f"{path}: the folder does not exist; create it first")
        if not os.access(target.parent, os.W_OK):
            raise InputError(f"{path}: the folder is not writable; choose another")
    if len(set(targets)) < len(targets):
        raise InputError(f"{targets[0]}: one file for two outputs; give two names")


@contextmanager
def progress_bar(task: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A function to call with the number of items just done; None where nobody is watching."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn(task), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task(task, total=total)
        yield lambda done: progress.advance(bar, done)


def say(message: str) -> None:
    """Prints a message to standard error if that is a terminal."""
    if sys.stderr.isatty():
        click.echo(message, err=True)


def main() -> None:
    """Runs the command line."""
    cli(prog_name="paradigms")
