"""Learns the weights that the package ships, from the training tables of CoNLL-SIGMORPHON 2017.

For each language and condition, cells of complete training tables are hidden at the rate seen in
the development tables, whose given cells join the evidence; their gold forms are never read. All
languages and conditions count alike. What is guessed of holes meanwhile comes from fixed weights,
`START`, and never from weights learned before. Writes paradigms/weights.json, or what -o names.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sigmorphon2017 import available_languages, unimorph_lexemes

from paradigms.learning import Hole, learned_weights, simulated_holes
from paradigms.weights import FEATURES, Weights

LEXEMES = {"low": 9, "medium": 20, "high": 20}
FOLDS = {"low": 3, "medium": 2, "high": 1}
"""Into how many parts the lexemes are divided; the cells of one part at a time are hidden."""
SWEEPS = {"low": 1, "medium": 1, "high": 0}
"""Over the tables with holes; where many tables are complete, holes teach little."""
MAX_HOLES = 16
START = Weights.from_dict(
    dict.fromkeys(FEATURES, 0.0)
    | {"direct: one over sources": 1.0, "borrowed": 0.5, "novelty": 3.0}
)
"""Weights by reason alone: all rules together count once, a borrowed one counts half, edits and
copies count nothing, and a form that nothing proposes is as likely as one with a probability of
0.02 in the only source."""
SHIPPED = Path(__file__).resolve().parents[1] / "paradigms" / "weights.json"


def language_holes(data: Path, language: str, condition: str, seed: int) -> list[Hole]:
    """Returns simulated holes of one language, with weights that sum to one."""
    training = unimorph_lexemes(data / f"{language}-train-{condition}")
    covered = unimorph_lexemes(data / f"{language}-covered-dev")
    cells = sum(len(lexeme.cells) for lexeme in covered)
    share_given = sum(len(lexeme.given) for lexeme in covered) / cells
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(training))[: LEXEMES[condition]].tolist()
    holes: list[Hole] = []
    for fold in range(FOLDS[condition]):
        hidden = chosen[fold :: FOLDS[condition]]
        holes += simulated_holes(
            training, hidden, covered, share_given, MAX_HOLES, SWEEPS[condition], rng, START
        )
    total = sum(hole.weight for hole in holes)
    return [replace(hole, weight=hole.weight / total) for hole in holes]


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
        help="also write DIR/first.json and DIR/second.json, learned from every other language",
    )
    return parser.parse_args()


def main() -> None:
    """Runs the command line."""
    options = options_from_command_line()
    wanted = options.languages.split(",") if options.languages else None
    tasks = [
        (language, condition)
        for condition in options.conditions.split(",")
        for language in available_languages(options.data, condition, "dev")
        if wanted is None or language in wanted
    ]
    parts = Parallel(n_jobs=options.jobs, verbose=1)(
        delayed(language_holes)(options.data, language, condition, options.seed)
        for language, condition in tasks
    )
    weights = written_weights(options.output, parts, options.penalty)
    if options.halves:
        languages = sorted({language for language, _ in tasks})
        for name, half in (("first", languages[::2]), ("second", languages[1::2])):
            chosen = [
                part for (language, _), part in zip(tasks, parts, strict=True) if language in half
            ]
            written_weights(options.halves / f"{name}.json", chosen, options.penalty)
            print(f"{name}.json: learned from {', '.join(half)}")
    for feature, weight in weights.items():
        print(f"{weight:8.3f}  {feature}")
    holes = sum(len(part) for part in parts)
    print(json.dumps({"benchmark": "learn_weights", "tasks": len(tasks), "holes": holes}))


def written_weights(
    path: Path, parts: Sequence[Sequence[Hole]], penalty: float
) -> dict[str, float]:
    """Returns the weights learned from the holes of some languages, and writes them."""
    weights = learned_weights([hole for part in parts for hole in part], penalty).to_dict()
    path.write_text(json.dumps(weights, indent=2) + "\n")
    return weights


if __name__ == "__main__":
    main()
