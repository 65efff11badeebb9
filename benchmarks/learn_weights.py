"""Learns the weights that the package ships, from the training tables of CoNLL-SIGMORPHON 2017.

For each language and condition, cells of complete training tables are hidden in three ways:

- adapted: at the rate seen in the development tables, whose given cells join the evidence; their
  gold forms are never read;
- not adapted: likewise, but only complete tables teach anything;
- bare: all lemmas are dropped and cells of all tables hidden, so that each shows two forms on
  average and none is complete; in high only, since few such tables teach too little.

High is not learned from without adaptation, which changes least there. A fourth way has features of
its own, whose weights are learned afterwards, beside all others:

- single: as bare, but every table shows one form only, so that nothing is known of pairs of cells.

All of them count alike. What is guessed of holes meanwhile comes from fixed weights, `START`, and
never from weights learned before. Writes paradigms/weights.json, or what -o names.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sigmorphon2017 import available_languages, unimorph_lexemes

from paradigms.learning import (
    Hole,
    covered_lexeme,
    holes_of,
    learned_weights,
    simulated_holes,
)
from paradigms.lexemes import Lexeme
from paradigms.weights import FEATURES, Weights

LEXEMES = {"low": 9, "medium": 12, "high": 20}
FOLDS = {"low": 3, "medium": 1, "high": 1}
"""Into how many parts the lexemes are divided; the cells of one part at a time are hidden."""
SWEEPS = {"low": 1, "medium": 1, "high": 0}
"""Over the tables with holes; where many tables are complete, holes teach little."""
MAX_HOLES = 16
BARE_LEXEMES, SHOWN_BARE, BARE_SWEEPS = 40, 2, 1
"""Bare tables whose holes are asked for, forms that each shows on average, and sweeps."""
SINGLE, SINGLE_SWEEPS = "single", 2
OF_SINGLE = ("direct: shown alone", "novelty: shown alone")
"""Features that all other ways leave at 0."""
WAYS = {
    "low": ("adapted", "not adapted"),
    "medium": ("adapted", "not adapted"),
    "high": ("adapted", "bare", SINGLE),
}
START = Weights.from_dict(
    dict.fromkeys(FEATURES, 0.0)
    | {"direct: one over sources": 1.0, "borrowed": 0.5, "novelty": 3.0}
)
"""Weights by reason alone: all rules together count once, a borrowed one counts half, edits and
copies count nothing, and a form that nothing proposes is as likely as one with a probability of
0.02 in the only source."""
Task = tuple[str, str, str]
"""Language, condition and way."""
SHIPPED = Path(__file__).resolve().parents[1] / "paradigms" / "weights.json"


def language_holes(data: Path, language: str, condition: str, way: str, seed: int) -> list[Hole]:
    """Returns simulated holes of one language, with weights that sum to one."""
    training = unimorph_lexemes(data / f"{language}-train-{condition}")
    rng = np.random.default_rng(seed)
    if way == SINGLE:
        holes = single_holes(training, rng)
    elif way == "bare":
        holes = bare_holes(training, rng)
    else:
        covered = unimorph_lexemes(data / f"{language}-covered-dev")
        holes = holes_beside(covered, training, condition, way == "adapted", rng)
    total = sum(hole.weight for hole in holes)
    return [replace(hole, weight=hole.weight / total) for hole in holes]


def holes_beside(
    covered: Sequence[Lexeme],
    training: Sequence[Lexeme],
    condition: str,
    adapt: bool,
    rng: np.random.Generator,
) -> list[Hole]:
    """Returns holes made in complete tables, part by part, at the rate seen in other tables."""
    cells = sum(len(lexeme.cells) for lexeme in covered)
    share_given = sum(len(lexeme.given) for lexeme in covered) / cells
    chosen = rng.permutation(len(training))[: LEXEMES[condition]].tolist()
    sweeps = SWEEPS[condition]
    holes: list[Hole] = []
    for fold in range(FOLDS[condition]):
        hidden = chosen[fold :: FOLDS[condition]]
        holes += simulated_holes(
            training, hidden, covered, share_given, MAX_HOLES, sweeps, rng, START, adapt
        )
    return holes


def bare_holes(training: Sequence[Lexeme], rng: np.random.Generator) -> list[Hole]:
    """Returns holes of tables none of which is complete or has a lemma."""
    bare = [replace(lexeme, lemma=None) for lexeme in training]
    asked, others = bare[:BARE_LEXEMES], bare[BARE_LEXEMES:]
    share_given = SHOWN_BARE * len(bare) / sum(len(lexeme.cells) for lexeme in bare)
    covered = [covered_lexeme(lexeme, share_given, rng) for lexeme in others]
    return simulated_holes(
        asked, range(len(asked)), covered, share_given, MAX_HOLES, BARE_SWEEPS, rng, START
    )


def single_holes(training: Sequence[Lexeme], rng: np.random.Generator) -> list[Hole]:
    """Returns holes of tables that show one form each and have no lemma."""
    bare = [replace(lexeme, lemma=None) for lexeme in training]
    covered = []
    for lexeme in bare:
        shown = list(lexeme.cells)[rng.integers(len(lexeme.cells))]
        cells = {cell: forms if cell == shown else () for cell, forms in lexeme.cells.items()}
        covered.append(replace(lexeme, cells=cells))
    asked, others = covered[:BARE_LEXEMES], covered[BARE_LEXEMES:]
    return holes_of(bare[:BARE_LEXEMES], asked, [], others, MAX_HOLES, SINGLE_SWEEPS, rng, START)


def options_from_command_line() -> argparse.Namespace:
    """Returns the command-line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--conditions", default="low,medium,high")
    parser.add_argument("--languages", help="comma-separated; by default all in DIR")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--penalty", type=float, default=0.003)
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    parser.add_argument(
        "--halves",
        type=Path,
        metavar="DIR",
        help="also learn DIR/first.json and DIR/second.json from half of the languages each, and "
        "list these in DIR/languages.json",
    )
    return parser.parse_args()


def main() -> None:
    """Runs the command line."""
    options = options_from_command_line()
    wanted = options.languages.split(",") if options.languages else None
    tasks = [
        (language, condition, way)
        for condition in options.conditions.split(",")
        for language in available_languages(options.data, condition, "dev")
        if wanted is None or language in wanted
        for way in WAYS[condition]
    ]
    languages = sorted({language for language, *_ in tasks})
    if len(languages) < 1 + bool(options.halves):
        sys.exit(f"learn_weights: too few languages with files in {options.data}: {languages}")
    parts = Parallel(n_jobs=options.jobs, verbose=1)(
        delayed(language_holes)(options.data, *task, options.seed) for task in tasks
    )
    weights = written_weights(options.output, tasks, parts, options.penalty)
    if options.halves:
        halves = {"first": languages[::2], "second": languages[1::2]}
        (options.halves / "languages.json").write_text(json.dumps(halves, indent=2) + "\n")
        for name, half in halves.items():
            own = [n for n, (language, *_) in enumerate(tasks) if language in half]
            file = options.halves / f"{name}.json"
            written_weights(file, [tasks[n] for n in own], [parts[n] for n in own], options.penalty)
    for feature, weight in weights.items():
        print(f"{weight:8.3f}  {feature}")
    holes = sum(len(part) for part in parts)
    print(json.dumps({"benchmark": "learn_weights", "tasks": len(tasks), "holes": holes}))


def written_weights(
    path: Path, tasks: Sequence[Task], parts: Sequence[Sequence[Hole]], penalty: float
) -> dict[str, float]:
    """Returns the weights learned from the holes of some tasks, and writes them."""
    of_single = [way == SINGLE for *_, way in tasks]
    shared, single = (
        [
            hole
            for part, each in zip(parts, of_single, strict=True)
            if each == wanted
            for hole in part
        ]
        for wanted in (False, True)
    )
    unknown = dict.fromkeys(OF_SINGLE, 0.0)
    weights = learned_weights(shared, penalty, unknown).to_dict()
    if single:
        known = {name: weight for name, weight in weights.items() if name not in OF_SINGLE}
        weights = learned_weights(single, penalty, known).to_dict()
    path.write_text(json.dumps(weights, indent=2) + "\n")
    return weights


if __name__ == "__main__":
    main()
