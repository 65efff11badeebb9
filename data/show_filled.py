"""Print the filled rows of the German table from the details file that `paradigms` has written.

Each noun takes two lines, singular and plural, with a column for each case. A filled form stands
with its probability, a given form in brackets.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping

CASES = ("NOM", "GEN", "DAT", "ACC")
NUMBERS = ("SG", "PL")
WIDTH = 23


def best_candidates(path: str) -> list[dict[str, str]]:
    """Returns the first candidate of each cell in the details file at `path`."""
    with open(path, encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if row["rank"] == "1"]


def shown(candidate: Mapping[str, str]) -> str:
    """Returns the form in brackets if it was given, else the form and its probability."""
    if candidate["status"] == "given":
        return f"({candidate['form']})"
    return f"{candidate['form']} {float(candidate['probability']):.2f}"


def filled_rows(candidates: Iterable[Mapping[str, str]]) -> list[str]:
    """Returns the lines to print, for the nouns with at least one filled cell."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    filled = set()
    for candidate in candidates:
        texts[candidate["lemma"]][candidate["cell"]] = shown(candidate)
        if candidate["status"] == "predicted":
            filled.add(candidate["lemma"])
    lines = [" " * 20 + "".join(f" {case:<{WIDTH}}" for case in CASES)]
    for lemma, text_of in texts.items():
        if lemma in filled:
            for name, number in zip((lemma, ""), NUMBERS, strict=True):
                forms = "".join(f" {text_of[f'N;{case};{number}']:<{WIDTH}}" for case in CASES)
                lines.append(f"{name:<17} {number}{forms}")
    return [line.rstrip() for line in lines]


if __name__ == "__main__":
    print(*filled_rows(best_candidates(sys.argv[1])), sep="\n")
