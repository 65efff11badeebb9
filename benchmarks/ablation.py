"""What each ingredient of the paradigm model is worth: the model without it, one at a time.

Public names: `ABLATIONS`, `ablation_report`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fsbp.metrics import paired_bootstrap
from paradigms.model import ParadigmModel
from paradigms.weights import FEATURES, FORM_FEATURES, Weights
from scoring import BOOTSTRAP_DRAWS, Scores, pooled, print_row

KINDS = ("direct", "borrowed", "copying", "edits")


def without(weights: Weights, features: Sequence[str]) -> Weights:
    """Returns the weights with those of some features set to 0."""
    return Weights.from_dict(weights.to_dict() | dict.fromkeys(features, 0.0))


def equal_exponents(weights: Weights) -> Weights:
    """Returns weights under which every source but copies counts once."""
    sources = [name for name in FEATURES if name.startswith(KINDS)]
    flat = without(weights, sources).to_dict()
    return Weights.from_dict(flat | {"direct": 1.0, "borrowed": 1.0, "edits": 1.0})


ABLATIONS: Mapping[str, Callable[[ParadigmModel], ParadigmModel]] = {
    "holes teach nothing": lambda model: replace(model, sweeps=0),
    "no adaptation nor sweep": lambda model: replace(model, adapt=False),
    "holes do not agree": lambda model: replace(model, agreement=False),
    "lemma alone": lambda model: replace(model, sources="lemma"),
    "equal exponents": lambda model: replace(model, weights=equal_exponents(model.weights)),
    "no contextual edits": lambda model: replace(
        model,
        weights=without(model.weights, [name for name in FEATURES if name.startswith("edits")]),
    ),
    "no letter n-grams": lambda model: replace(
        model, weights=without(model.weights, FORM_FEATURES)
    ),
    "borrowed unweighted": lambda model: replace(
        model,
        weights=without(model.weights, [name for name in FEATURES if name.startswith("borrowed")]),
    ),
}
"""The model without one ingredient, by what is missing."""


def ablation_report(
    full: Mapping[str, Scores],
    scores_of: Callable[[str, Callable[[ParadigmModel], ParadigmModel]], Scores],
    seed: int,
) -> dict[str, dict[str, object]]:
    """Returns what is lost without each ingredient, and prints a line for each.

    The loss is the mean over languages in points; interval and p-value are of the mean over
    lexemes, by a paired bootstrap.

    Args:
        full: Scores of the whole model by language.
        scores_of: The scores of a changed model on one language.
        seed: Of the bootstrap.
    """
    print(f"\nWithout one ingredient, {len(full)} languages")
    print_row("without", "accuracy", "loss", "lexemes", "95 % from", "to", "p")
    report: dict[str, dict[str, object]] = {}
    for name, changed in ABLATIONS.items():
        scores = {language: scores_of(language, changed) for language in full}
        accuracies = [
            [100 * float(each[language].correct_h.mean()) for language in full]
            for each in (full, scores)
        ]
        accuracy, loss = float(np.mean(accuracies[1])), float(np.subtract(*accuracies).mean())
        by_lexeme = [
            pooled([each[language] for language in full]).accuracy_by_lexeme
            for each in (full, scores)
        ]
        rng = np.random.default_rng(seed)
        mean, low, high, p_value = paired_bootstrap(
            by_lexeme[0], by_lexeme[1], rng, BOOTSTRAP_DRAWS
        )
        interval = [100 * low, 100 * high]
        print_row(name, accuracy, loss, 100 * mean, *interval, f"{p_value:.4f}")
        report[name] = {
            "accuracy": accuracy,
            "loss": loss,
            "loss_over_lexemes": [100 * mean, *interval],
            "p_value": p_value,
        }
    return report
