"""Rebuilds data/phonology/german_nouns.tsv: nouns of german_nouns.tsv cut into stem and suffix.

The stem is the longest common beginning of four cells, umlaut aside, as the first cell has it: the
umlaut is left for the channel to explain. Kept are the nouns with a stem of 3 to 9 letters,
suffixes of at most 3 letters and at least two different ones, each suffix frequent.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from itertools import takewhile
from pathlib import Path

FOLDER = Path(__file__).parent
CELLS = ("N;NOM;SG", "N;GEN;SG", "N;NOM;PL", "N;DAT;PL")
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzäöüß")
PLAIN = str.maketrans("äöü", "aou")
NUM_STEMS = 125
MIN_USES = 20


def analysed(forms: list[str]) -> tuple[str, list[str], list[str]]:
    """Returns the stem of some forms, what follows it in each, and the forms."""
    columns = zip(*(form.translate(PLAIN) for form in forms), strict=False)
    length = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
    return forms[0][:length], [form[length:] for form in forms], forms


def main() -> None:
    """Writes the table."""
    with (FOLDER / "german_nouns.tsv").open(encoding="utf-8", newline="") as file:
        tables = [
            analysed([row[cell].split("/")[0].lower() for cell in CELLS])
            for row in csv.DictReader(file, delimiter="\t")
            if all(set(row[cell].split("/")[0].lower()) <= LETTERS for cell in CELLS)
        ]
    fitting = [
        (stem, suffixes, forms)
        for stem, suffixes, forms in tables
        if 3 <= len(stem) <= 9 and max(map(len, suffixes)) <= 3 and len(set(suffixes)) > 1
    ]
    uses = Counter(suffix for _, suffixes, _ in fitting for suffix in suffixes)
    frequent = [
        (stem, suffixes, forms)
        for stem, suffixes, forms in fitting
        if min(uses[suffix] for suffix in suffixes) >= MIN_USES
    ]
    frequent.sort(key=lambda table: hashlib.sha256(table[0].encode()).hexdigest())
    with (FOLDER / "phonology" / "german_nouns.tsv").open("w", encoding="utf-8") as file:
        file.write("stem\tsuffix\tword\n")
        for stem, suffixes, forms in frequent[:NUM_STEMS]:
            for suffix, form in zip(suffixes, forms, strict=True):
                file.write(f"{stem}\t{suffix}\t{form}\n")


if __name__ == "__main__":
    main()
