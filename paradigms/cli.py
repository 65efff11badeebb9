"""The command ``paradigms``: complete, train, evaluate and inspect."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from paradigms.delimited import is_stream, write_atomically
from paradigms.evaluate import NothingToScoreError, evaluate, read_details
from paradigms.inspection import UnknownLexemeError, inspected_in_model, inspected_in_table
from paradigms.layout import Completions, is_open
from paradigms.messages import MessageUse
from paradigms.model import ModelFileError, ParadigmModel
from paradigms.options import FORMATS_HELP, Probability, Reader, table_options
from paradigms.plots import PLOT_FORMATS, drawing_bytes, lexeme_drawing
from paradigms.report import evaluation_table, summary_table, write_details
from paradigms.spelling import normalised
from paradigms.tables import LemmaUse, Table, TableError

READ = click.Path(exists=True, dir_okay=False, readable=True)
WRITE = click.Path(dir_okay=False, writable=True)

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
  paradigms complete holes.tsv --min-probability 0.9 -o sure.tsv
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
  paradigms inspect nouns.model --plot graph.svg
  paradigms inspect nouns.model --plot g.png --table holes.tsv --lexeme Raum
"""


class InputError(click.ClickException):
    """An error in what the user gave: one line on standard error, exit code 2."""

    exit_code = 2


jobs_option = click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes."
)
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
@click.option(
    "--min-probability",
    type=Probability(),
    default=0.0,
    show_default=True,
    help="Leave a hole open where the likeliest form has less than this, 0 to 1. A probability is"
    " the share of such forms that are right: of all forms at 0.9, 9 in 10. So take the share that"
    " you ask of the least certain form: 0.95 where nobody checks the output, 0.5 where somebody"
    " does; 0 fills everything.",
)
@click.option("--no-adapt", is_flag=True, help="Do not learn from the given cells of TABLE.")
@click.option(
    "--messages",
    type=click.Choice(["kbest", "ngram", "exact"]),
    default="kbest",
    show_default=True,
    help="What the given cells say about a hole: kbest, the 20 best forms of each; exact, all forms"
    " of each; ngram, an n-gram model of the forms of each (much slower, as a rule less accurate).",
)
@jobs_option
@seed_option
@table_options
def complete(
    table: str,
    train: str | None,
    model: str | None,
    output: str,
    details: str | None,
    min_probability: float,
    no_adapt: bool,
    messages: MessageUse,
    jobs: int,
    seed: int,
    reader: Reader,
) -> None:
    """Fill the holes of TABLE.

    Without --train or --model it learns from the filled cells of TABLE itself; with either, the
    given cells of TABLE join what was learned (what was learned already counts once), unless
    --no-adapt. The output has the format, rows and order of TABLE, given cells are copied as they
    are, and every hole holds its most probable form; where that is less probable than
    --min-probability, the hole stays as it was, and standard error says how many did. The same seed
    gives the same output, whatever the number of jobs.

    The details file is TSV with a header: lemma, cell, rank, form, probability (of this form among
    all strings, 0 to 1) and status. Given cells have the status given and probability 1, candidates
    for holes the status predicted, or open where the hole was left. A lemma that stands in several
    rows of a wide table is written lemma, lemma#2, ...
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
            learned = fitted(sources[0] if sources else target, reader.lemma, adapt, seed, jobs)
        learned.messages = messages
        with progress_bar("completing", learned.passes * len(lexemes)) as advance:
            completions = learned.complete_lexemes(lexemes, jobs=jobs, progress=advance)
    if details:
        write_details(details, target.layout, completions, min_probability)
    target.write(output, completions, min_probability)
    left = num_open(completions, min_probability)
    summary = f"{holes - left} holes filled in {len(lexemes)} lexemes, written to {output}"
    if left:
        why = f"their likeliest form has a probability below {min_probability:g}"
        click.echo(f"{summary}; {left} left open: {why}", err=True)
    else:
        say(summary)


@cli.command(epilog=TRAIN_EXAMPLES + FORMATS_HELP)
@click.argument("table", type=READ)
@click.option("-o", "--output", type=WRITE, required=True, help="The model: one zip file.")
@jobs_option
@seed_option
@table_options
def train(table: str, output: str, jobs: int, seed: int, reader: Reader) -> None:
    """Learn a model from the filled cells of TABLE, complete or not.

    The model holds OpenFst files, arrays and JSON; loading it never runs code.
    """
    require_writable(output)
    (source,) = reader.tables(table)
    fitted(source, reader.lemma, True, seed, jobs).save(output)
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
    of lexemes with every hole right, and the mean edit distance to the nearest right form. Holes
    left open count as wrong; where there are any, their share and the accuracy of the others are
    printed too. With --details also how often a right form is among the candidates, and the
    calibration error: how far, on average, the probabilities are from the accuracy. Lexemes are
    matched by lemma and cells by name, so the files may differ in format. Where GOLD has several
    forms for a cell (by repeated rows, or with --alternatives) any of them is right.
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
@click.option(
    "--plot",
    type=WRITE,
    help="Instead draw the factor graph that one lexeme gets: .svg, .png, .pdf (with the extra"
    " plot: pip install 'fsbp[plot]') or .dot, for Graphviz.",
)
@click.option("--table", type=READ, help="Draw a lexeme of this table; its cells join the model.")
@click.option(
    "--lexeme",
    metavar="NAME",
    help="The lexeme to draw: its lemma. Without this the first of TABLE that has a hole, or the"
    " first of those with most cells in MODEL.",
)
@table_options
def inspect(
    model: str,
    as_json: bool,
    plot: str | None,
    table: str | None,
    lexeme: str | None,
    reader: Reader,
) -> None:
    """Say what MODEL learned, and from how much; or draw what it does.

    With --plot: given cells are shaded, holes are white and show their likeliest form with its
    probability, and every factor says what it is and how much it counts. A lexeme without a hole,
    such as those that MODEL has learned from, is drawn with every second cell hidden.
    """
    if plot:
        draw(plot, ParadigmModel.load(model), table, lexeme, reader)
    elif table or lexeme:
        raise click.UsageError("--table and --lexeme say what to draw: add --plot FILE.")
    else:
        summary = ParadigmModel.load(model).summary()
        if as_json:
            click.echo(json.dumps(summary, ensure_ascii=False, indent=2))
        else:
            Console().print(summary_table(summary))


def draw(
    plot: str, model: ParadigmModel, table: str | None, name: str | None, reader: Reader
) -> None:
    """Draws the graph of one lexeme into a file.

    Raises:
        InputError: The file has no known ending or cannot be written, matplotlib is missing, or
            there is no such lexeme.
    """
    require_writable(plot)
    suffix = Path(plot).suffix.lower()
    if suffix not in PLOT_FORMATS:
        raise InputError(f"{plot}: unknown kind of picture; end it with {', '.join(PLOT_FORMATS)}")
    name = None if name is None else normalised(name)
    try:
        if table:
            (read,) = reader.tables(table)
            lexemes = read.lexemes()
            with progress_bar("completing", (model.passes - 1) * len(lexemes)) as advance:
                inspected = inspected_in_table(model, lexemes, name, advance)
        else:
            inspected = inspected_in_model(model, name)
        write_atomically(plot, drawing_bytes(lexeme_drawing(inspected), suffix))
    except UnknownLexemeError as error:
        raise InputError(f"{table or 'the model'}: {error}; check the spelling") from error
    except ImportError as error:
        raise InputError(f"{plot}: {error}; or write a .dot file") from error


def num_open(completions: Completions, min_probability: float) -> int:
    """How many holes are left, as their likeliest form is less probable than asked for."""
    return sum(
        is_open(candidates, min_probability)
        for candidates_of in completions
        for candidates in candidates_of.values()
    )


def fitted(source: Table, lemma: LemmaUse, adapt: bool, seed: int, jobs: int) -> ParadigmModel:
    """A model that has learned from the table.

    Raises:
        TableError: No cell of the table is filled.
    """
    lexemes = source.lexemes()
    if not any(lexeme.given for lexeme in lexemes):
        remedy = "fill in some cells, or add --train or --model"
        raise TableError("no cell is filled: nothing to learn from", remedy, source.name)
    model = ParadigmModel(lemma=lemma, adapt=adapt, seed=seed)
    with progress_bar("learning", model.sweeps * len(lexemes)) as advance:
        return model.fit(lexemes, jobs=jobs, progress=advance)


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
