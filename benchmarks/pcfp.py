"""Paradigm cell filling: 1,000 tables with n forms shown, no lemma, and nothing else to learn from.

The folder holds, for each set such as de.N, SET.n.tsv with holes and SET.gold.tsv: identifier, form
and features. The model learns from the given cells of the table that it completes. The score is
exact match over the holes, averaged over sets. The last line printed is a JSON object.
Source: Silfverberg and Hulden (2018), An encoder-decoder approach to the paradigm cell filling
problem.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel
from paradigms.tables import read_table
from scoring import Scores, completed_scores, peak_mebibytes, print_row

PUBLISHED = {
    "ten-model neural vote, mean of six sets": {1: 29.3, 2: 85.6, 3: 92.8},
    "LSTM baseline, mean of six sets": {1: 22.6, 2: 68.3, 3: 81.1},
}


def identified_lexemes(path: Path) -> list[Lexeme]:
    """Returns the lexemes of a file of identifier, form and features."""
    return read_table(path, format="unimorph", lemma="id").lexemes()


def set_scores(name: str, num_shown: int, options: argparse.Namespace) -> Scores:
    """Returns the scores on one set with `num_shown` forms shown."""
    covered = identified_lexemes(options.data / f"{name}.{num_shown}.tsv")
    gold = identified_lexemes(options.data / f"{name}.gold.tsv")
    model = ParadigmModel(seed=options.seed, adapt=False)
    return completed_scores(model, covered, covered, gold, options.jobs)


def options_from_command_line() -> argparse.Namespace:
    """Returns the command-line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--n", default="1,2,3", help="numbers of forms shown, comma-separated")
    parser.add_argument("--sets", help="such as de.N,lv.N; by default all in DIR")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    available = sorted(
        path.name.removesuffix(".gold.tsv") for path in options.data.glob("*.gold.tsv")
    )
    options.sets = options.sets.split(",") if options.sets else available
    options.n = [int(number) for number in options.n.split(",")]
    files = [f"{name}.{part}.tsv" for name in options.sets for part in (*options.n, "gold")]
    missing = [name for name in files if not (options.data / name).exists()]
    if missing or not files:
        parser.error(f"not in {options.data}: {', '.join(missing) or 'any SET.gold.tsv'}")
    return options


def main() -> None:
    """Runs the benchmark."""
    options = options_from_command_line()
    report: dict[str, dict[str, dict[str, float]]] = {}
    for num_shown in options.n:
        print(f"\n{num_shown} shown of each table")
        print_row("set", "holes", "given %", "accuracy", "whole", "calib. err", "seconds")
        figures = {}
        for name in options.sets:
            figures[name] = set_scores(name, num_shown, options).figures()
            print_row(name, *figures[name].values())
        mean = float(np.mean([each["accuracy"] for each in figures.values()]))
        print(f"{mean:6.1f}  mean accuracy of {len(figures)} sets")
        for system, published in PUBLISHED.items():
            if num_shown in published:
                print(f"{published[num_shown]:6.1f}  {system}")
        report[str(num_shown)] = figures
    peak = peak_mebibytes(options.jobs)
    print(f"\npeak memory at most {peak:.0f} MiB")
    print(json.dumps({"benchmark": "pcfp", "shown": report, "peak_mebibytes": peak}))


if __name__ == "__main__":
    main()
