"""Paradigm cell filling: 1,000 tables with n forms shown, no lemma, and nothing else to learn from.

The folder holds, for each set such as de.N, SET.n.tsv with holes and SET.gold.tsv: identifier, form
and features. The model learns from the given cells of the table that it completes. The score is
exact match over the holes, averaged over sets, beside that of the published neural system. The last
line printed is a JSON object.
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
from scoring import Scores, completed_scores, peak_mebibytes, pooled, print_row

NEURAL_VOTE = {
    2: {"de.N": 84.7, "de.V": 92.7, "fi.N": 81.7, "fr.V": 78.3, "kat.N": 90.5, "lv.N": 85.4},
}
PUBLISHED = {
    "ten-model neural vote, mean of six sets": {1: 29.3, 2: 85.6, 3: 92.8},
    "LSTM baseline, mean of six sets": {1: 22.6, 2: 68.3, 3: 81.1},
}

COLUMNS = {
    "holes": "holes",
    "given": "given %",
    "accuracy": "accuracy",
    "neural_vote": "neural",
    "whole": "whole",
    "calibration_error": "calib. err",
    "coverage": "at 95 %",
    "seconds": "seconds",
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


def scores_by_set(num_shown: int, options: argparse.Namespace) -> dict[str, Scores]:
    """Returns the scores with `num_shown` forms shown, and prints a line for each set."""
    print(f"\n{num_shown} shown of each table")
    print_row("set", *COLUMNS.values())
    published = NEURAL_VOTE.get(num_shown, {})
    scores = {}
    for name in options.sets:
        scores[name] = set_scores(name, num_shown, options)
        figures = scores[name].figures() | {"neural_vote": published.get(name, "-")}
        print_row(name, *(figures[column] for column in COLUMNS))
    return scores


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
    shown: dict[str, dict[str, dict[str, float]]] = {}
    all_holes: dict[str, dict[str, float]] = {}
    for num_shown in options.n:
        scores = scores_by_set(num_shown, options)
        figures = {name: each.figures() for name, each in scores.items()}
        together = pooled(list(scores.values())).figures()
        mean = float(np.mean([each["accuracy"] for each in figures.values()]))
        print(f"{mean:6.1f}  mean accuracy of {len(figures)} sets")
        print(f"{together['coverage']:6.1f}  % of all holes, most probable first, with 95 % right")
        for system, published in PUBLISHED.items():
            if num_shown in published:
                print(f"{published[num_shown]:6.1f}  {system}")
        shown[str(num_shown)] = figures
        all_holes[str(num_shown)] = together
    peak = peak_mebibytes(options.jobs)
    print(f"\npeak memory at most {peak:.0f} MiB")
    report = {"benchmark": "pcfp", "shown": shown, "pooled": all_holes, "peak_mebibytes": peak}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
