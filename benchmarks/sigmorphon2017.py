"""Paradigm completion on the data of CoNLL-SIGMORPHON 2017, sub-task 2.

For each language LANG the folder holds LANG-train-CONDITION, LANG-covered-SPLIT and
LANG-uncovered-SPLIT, as in the folder `all/task2` of the task's public repository. The score is
exact match over the holes, averaged over languages; beside it is the accuracy of the task's rule
baseline, trained and scored on the same tables (`rule_baseline.py`). The last line printed is a
JSON object.

With --compare-lemma the same model is also run with the lemma as its only source, on the languages
where at least a tenth of the cells are given, and the difference is tested with a paired bootstrap
over lexemes. With --compare-messages the model is run with k-best and with n-gram messages, and
accuracy and time of both are printed. With --ablate it is run without each of its ingredients.
With --halves DIR no language is completed with weights learned from its own tables: DIR holds what
`learn_weights.py --halves DIR` wrote, and each half of the languages gets the other half's weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np

from ablation import ablation_report
from fsbp.metrics import paired_bootstrap
from paradigms.lexemes import Lexeme
from paradigms.messages import MessageUse
from paradigms.model import ParadigmModel
from paradigms.tables import read_table
from paradigms.weights import Weights
from rule_baseline import learned_rules
from scoring import (
    BOOTSTRAP_DRAWS,
    Scores,
    completed_scores,
    peak_mebibytes,
    pooled,
    print_row,
)

CONDITIONS = ("low", "medium", "high")
PUBLISHED = {
    "official rule baseline, 26 languages, dev": (46.1, 63.9, 74.8),
    "winner (neural), same languages, test": (69.0, 83.1, 89.0),
    "oracle over all submissions, same languages, test": (77.2, 89.2, 93.6),
}
COMPARED_MESSAGES: tuple[MessageUse, ...] = ("kbest", "ngram")
COLUMNS = {
    "holes": "holes",
    "given": "given %",
    "accuracy": "accuracy",
    "baseline": "baseline",
    "whole": "whole",
    "calibration_error": "calib. err",
    "coverage": "at 95 %",
    "seconds": "seconds",
}
BASELINE_MARGIN = 1.0
MIN_SHARE_GIVEN = 0.10


def available_languages(data: Path, condition: str, split: str) -> list[str]:
    """Returns the languages whose three files are all in `data`, sorted."""
    suffix = f"-train-{condition}"
    found = (path.name.removesuffix(suffix) for path in data.glob(f"*{suffix}"))
    return sorted(
        language
        for language in found
        if all((data / f"{language}-{part}-{split}").exists() for part in ("covered", "uncovered"))
    )


def unimorph_lexemes(path: Path, limit: int | None = None) -> list[Lexeme]:
    """Returns the first lexemes, or all, of a file of lemma, form and features."""
    return read_table(path, format="unimorph").lexemes()[:limit]


def weights_file(language: str, options: argparse.Namespace) -> Path | None:
    """Returns the file of the weights to complete a language with; None for those shipped."""
    if options.halves is None:
        return options.weights
    learned_from = json.loads((options.halves / "languages.json").read_text())
    half = next(name for name, languages in learned_from.items() if language not in languages)
    return options.halves / f"{half}.json"


def untrained_model(language: str, options: argparse.Namespace) -> ParadigmModel:
    """Returns the model that the options ask for."""
    file = weights_file(language, options)
    return ParadigmModel(
        seed=options.seed,
        adapt=options.adapt,
        messages=options.messages,
        weights=Weights.from_dict(json.loads(file.read_text())) if file else Weights.shipped(),
    )


def language_scores(model: ParadigmModel, language: str, options: argparse.Namespace) -> Scores:
    """Returns the scores of an untrained `model` on one language."""
    return completed_scores(
        model,
        unimorph_lexemes(options.data / f"{language}-train-{options.condition}"),
        unimorph_lexemes(options.data / f"{language}-covered-{options.split}", options.lexemes),
        unimorph_lexemes(options.data / f"{language}-uncovered-{options.split}", options.lexemes),
        options.jobs,
    )


def baseline_accuracy(language: str, options: argparse.Namespace) -> float:
    """Returns the share of holes that the rule baseline fills correctly, in per cent."""
    rules = learned_rules(unimorph_lexemes(options.data / f"{language}-train-{options.condition}"))
    covered, gold = (
        unimorph_lexemes(options.data / f"{language}-{part}-{options.split}", options.lexemes)
        for part in ("covered", "uncovered")
    )
    hits = [
        rules.form(lexeme.lemma or "", cell) in complete.cells[cell]
        for lexeme, complete in zip(covered, gold, strict=True)
        for cell in lexeme.holes
    ]
    return 100 * float(np.mean(hits))


def scores_by_language(
    languages: Sequence[str], options: argparse.Namespace
) -> tuple[dict[str, Scores], dict[str, float]]:
    """Returns scores of the joint model and accuracies of the rule baseline, and prints both."""
    print_row("language", *COLUMNS.values())
    scores, baseline = {}, {}
    for language in languages:
        model = untrained_model(language, options)
        scores[language] = language_scores(model, language, options)
        baseline[language] = baseline_accuracy(language, options)
        figures = scores[language].figures() | {"baseline": baseline[language]}
        print_row(language, *(figures[name] for name in COLUMNS))
    return scores, baseline


def languages_below_baseline(
    scores: Mapping[str, Scores], baseline: Mapping[str, float]
) -> list[str]:
    """Returns the languages whose accuracy is more than 1 point below the rule baseline."""
    return [
        language
        for language, each in scores.items()
        if each.figures()["accuracy"] < baseline[language] - BASELINE_MARGIN
    ]


def macro_figures(scores: Sequence[Scores]) -> dict[str, float]:
    """Returns means over languages; calibration and coverage are those of all holes pooled."""
    per_language = [each.figures() for each in scores]
    means = {
        name: float(np.mean([figures[name] for figures in per_language]))
        for name in ("given", "accuracy", "whole")
    }
    together = pooled(scores).figures()
    of_all = ("holes", "calibration_error", "coverage", "seconds")
    return means | {name: together[name] for name in of_all}


def lemma_comparison(joint: Mapping[str, Scores], options: argparse.Namespace) -> dict[str, object]:
    """Returns how far the joint model is ahead of the lemma alone, and prints it by language."""
    rng = np.random.default_rng(options.seed)
    languages = [name for name, scores in joint.items() if scores.share_given >= MIN_SHARE_GIVEN]
    lemma_only: dict[str, Scores] = {}
    print(f"\nAgainst the lemma alone, where at least {MIN_SHARE_GIVEN:.0%} of cells are given")
    print_row("language", "joint", "lemma", "margin", "p")
    for language in languages:
        model = replace(untrained_model(language, options), sources="lemma")
        lemma_only[language] = language_scores(model, language, options)
        print_row(language, *comparison_row(joint[language], lemma_only[language], rng))
    if not languages:
        print("no such language")
        return {}
    margins = {
        name: 100 * float(joint[name].correct_h.mean() - lemma_only[name].correct_h.mean())
        for name in languages
    }
    difference, low, high, p_value = paired_bootstrap(
        pooled([joint[name] for name in languages]).accuracy_by_lexeme,
        pooled([lemma_only[name] for name in languages]).accuracy_by_lexeme,
        rng,
        BOOTSTRAP_DRAWS,
    )
    macro = float(np.mean(list(margins.values())))
    print(
        f"macro margin {macro:+.2f} points over {len(languages)} languages; mean over lexemes "
        f"{100 * difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}], p = {p_value:.4g}"
    )
    return {
        "margin": macro,
        "margin_by_language": margins,
        "margin_over_lexemes": [100 * difference, 100 * low, 100 * high],
        "p_value": p_value,
    }


def message_comparison(
    scores: Mapping[str, Scores], options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Returns accuracy and time with k-best and n-gram messages, and prints them by language."""
    rng = np.random.default_rng(options.seed)
    scores_of: dict[MessageUse, dict[str, Scores]] = {options.messages: dict(scores)}
    print("\nK-best against n-gram messages")
    print_row("language", "k-best", "n-gram", "margin", "p", "seconds", "seconds")
    for language in scores:
        for messages in COMPARED_MESSAGES:
            if language not in scores_of.setdefault(messages, {}):
                model = replace(untrained_model(language, options), messages=messages)
                scores_of[messages][language] = language_scores(model, language, options)
        kbest, ngram = (scores_of[messages][language] for messages in COMPARED_MESSAGES)
        print_row(language, *comparison_row(kbest, ngram, rng), kbest.seconds, ngram.seconds)
    figures: dict[str, dict[str, float]] = {}
    for messages in COMPARED_MESSAGES:
        figures[messages] = macro_figures(list(scores_of[messages].values()))
        accuracy, seconds = (figures[messages][name] for name in ("accuracy", "seconds"))
        print(f"{messages}: {accuracy:.1f} % in {seconds:.0f} s")
    return figures


def comparison_row(
    ours: Scores, theirs: Scores, rng: np.random.Generator
) -> tuple[float, float, str, str]:
    """Returns both accuracies, the margin and its p-value for one language."""
    first, second = (100 * float(each.correct_h.mean()) for each in (ours, theirs))
    *_, p_value = paired_bootstrap(
        ours.accuracy_by_lexeme, theirs.accuracy_by_lexeme, rng, BOOTSTRAP_DRAWS
    )
    return first, second, f"{first - second:+.1f}", f"{p_value:.4f}"


def options_from_command_line() -> argparse.Namespace:
    """Returns the command-line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--condition", choices=CONDITIONS, default="low")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--languages", help="comma-separated; by default all in DIR")
    parser.add_argument(
        "--lexemes", type=int, metavar="N", help="complete only the first N tables of each language"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--no-adapt",
        dest="adapt",
        action="store_false",
        help="do not learn from the given cells of the tables to be completed",
    )
    parser.add_argument(
        "--messages",
        choices=get_args(MessageUse),
        default="kbest",
        help="how messages about a hole are approximated (default: %(default)s)",
    )
    parser.add_argument(
        "--weights", type=Path, metavar="FILE", help="written by learn_weights.py; default: shipped"
    )
    parser.add_argument(
        "--halves", type=Path, metavar="DIR", help="written by learn_weights.py --halves"
    )
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--compare-lemma", action="store_true")
    parser.add_argument("--compare-messages", action="store_true")
    options = parser.parse_args()
    available = available_languages(options.data, options.condition, options.split)
    chosen = options.languages.split(",") if options.languages else available
    missing = sorted(set(chosen) - set(available))
    if missing or not chosen:
        parser.error(f"no files in {options.data} for: {', '.join(missing) or 'any language'}")
    options.languages = chosen
    return options


def main() -> None:
    """Runs the benchmark."""
    options = options_from_command_line()
    scores, baseline = scores_by_language(options.languages, options)
    below = languages_below_baseline(scores, baseline)
    macro = macro_figures(list(scores.values())) | {
        "baseline": float(np.mean(list(baseline.values())))
    }
    print_row("macro average", *(macro[name] for name in COLUMNS))
    print("(calib. err and at 95 %: of all holes pooled; holes and seconds: sums)")
    print("(at 95 %: largest share of holes, most probable first, of which 95 % are right)")
    print(f"more than {BASELINE_MARGIN:.0f} point below baseline: {', '.join(below) or 'none'}\n")
    for system, figures in PUBLISHED.items():
        print(f"{figures[CONDITIONS.index(options.condition)]:6.1f}  {system}")
    comparison = lemma_comparison(scores, options) if options.compare_lemma else {}
    by_messages = message_comparison(scores, options) if options.compare_messages else {}
    ablation = (
        ablation_report(
            scores,
            lambda language, changed: language_scores(
                changed(untrained_model(language, options)), language, options
            ),
            options.seed,
        )
        if options.ablate
        else {}
    )
    peak = peak_mebibytes(options.jobs)
    print(f"peak memory at most {peak:.0f} MiB")
    report = {
        "benchmark": "sigmorphon2017",
        "condition": options.condition,
        "split": options.split,
        "adapt": options.adapt,
        "messages": options.messages,
        "lexemes": options.lexemes,
        "macro": macro,
        "languages": {
            name: each.figures() | {"baseline": baseline[name]} for name, each in scores.items()
        },
        "below_baseline": below,
        "against_lemma_only": comparison,
        "by_messages": by_messages,
        "ablation": ablation,
        "peak_mebibytes": peak,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
