"""What goes wrong in completed tables: kinds of error, and tables of holes to look at.

Public names: `CHANGES`, `PLACES`, `ErrorKind`, `error_kind`, `hole_table`, `error_table`,
`example_table`, `calibration_table`, `coverage_table`, `regularity_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fsbp.metrics import edit_distance
from fsbp.rewrites import SymbolCosts, chunk_alignment
from paradigms.evidence import LEMMA, STEM, Evidence
from paradigms.layout import Completions
from paradigms.lexemes import Lexeme
from paradigms.predictability import discounted_share

CHANGES = ("stem", "affix", "stem and affix", "whole form")
"""Where a wrong form differs from the right one."""
PLACES = ("second", "lower", "missing")
"""Where the right form stands among the candidates."""

COSTS = SymbolCosts(frozenset())


@dataclass(frozen=True)
class ErrorKind:
    """What is wrong with a form, and where the right one was.

    Args:
        change: One of `CHANGES`.
        place: One of `PLACES`.
    """

    change: str
    place: str


def error_kind(
    gold: Sequence[str], predicted: str, candidates: Sequence[str], lemma: str | None
) -> ErrorKind:
    """The kind of an error.

    The wrong form is aligned with the nearest right one. A stretch where they differ is in the stem
    where letters that the right form shares with the lemma stand on both sides of it, as in Bäume,
    Baume; or where one letter is doubled in one of them, as in bagged, baged. Any other is in an
    affix, as in Tages, Tags. A right form that shares nothing with the wrong one or with the lemma
    (went, of go) is wrong as a whole.

    Args:
        gold: The right forms, at least one.
        predicted: A form that is none of them.
        candidates: All forms proposed, best first.
        lemma: None for an unknown lemma: what the two forms share then stands for it.

    Raises:
        ValueError: The form is right.
    """
    if predicted in gold:
        raise ValueError(f"{predicted!r} is right: no error")
    nearest = min(gold, key=lambda form: edit_distance(predicted, form))
    ranks = [rank for rank, form in enumerate(candidates, start=1) if form in gold]
    place = "missing" if not ranks else "second" if ranks[0] == 2 else "lower"
    return ErrorKind(_change(nearest, predicted, lemma or predicted), place)


def hole_table(
    covered: Sequence[Lexeme], completions: Completions, gold: Sequence[Lexeme]
) -> pd.DataFrame:
    """One row for each hole with a gold form.

    Columns: lemma (or key), cell, gold (alternatives joined by a slash), predicted, probability,
    right, and for errors change and place, otherwise empty.

    Args:
        covered: Lexemes with holes.
        completions: For each of them, its holes' candidates, best first.
        gold: The right forms; lexemes are matched by their keys.
    """
    answers = {lexeme.key: lexeme.given for lexeme in gold}
    rows = []
    for lexeme, candidates_of in zip(covered, completions, strict=True):
        for cell in lexeme.holes:
            right = answers.get(lexeme.key, {}).get(cell)
            if right:
                forms = [candidate.form for candidate in candidates_of[cell]]
                kind = None
                if forms[0] not in right:
                    kind = error_kind(right, forms[0], forms, lexeme.lemma)
                rows.append(
                    {
                        "lemma": lexeme.lemma or lexeme.key,
                        "cell": cell,
                        "gold": "/".join(right),
                        "predicted": forms[0],
                        "probability": candidates_of[cell][0].probability,
                        "right": kind is None,
                        "change": kind.change if kind else "",
                        "place": kind.place if kind else "",
                    }
                )
    columns = ["lemma", "cell", "gold", "predicted", "probability", "right", "change", "place"]
    return pd.DataFrame(rows, columns=columns)


def error_table(holes: pd.DataFrame) -> pd.DataFrame:
    """Number of errors by change (rows) and place (columns), with sums.

    Args:
        holes: As `hole_table` returns them.
    """
    errors = holes[~holes["right"].astype(bool)]
    counts = pd.crosstab(errors["change"], errors["place"])
    counts = counts.reindex(index=CHANGES, columns=PLACES, fill_value=0)
    counts["all"] = counts.sum(axis=1)
    counts.loc["all"] = counts.sum(axis=0)
    return counts.rename_axis(index="wrong", columns="right form")


def example_table(holes: pd.DataFrame, each: int = 3) -> pd.DataFrame:
    """Errors of every kind, the most confident first: those are the most instructive.

    Args:
        holes: As `hole_table` returns them.
        each: Number of examples of each change and place.
    """
    errors = holes[~holes["right"].astype(bool)].sort_values(
        "probability", ascending=False, kind="stable"
    )
    kinds = [
        errors[(errors["change"] == change) & (errors["place"] == place)]
        for change in CHANGES
        for place in PLACES
    ]
    columns = ["change", "place", "lemma", "cell", "predicted", "gold", "probability"]
    # One example a lexeme: its other cells are mostly wrong in the same way.
    distinct = [kind.drop_duplicates("lemma").head(each) for kind in kinds]
    return pd.concat(distinct)[columns].reset_index(drop=True)


def calibration_table(holes: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Mean probability and share right in bins of equal mass, least probable first.

    Args:
        holes: As `hole_table` returns them.
        bins: At most this many.
    """
    ordered = holes.sort_values("probability", kind="stable")
    parts = [part for part in np.array_split(np.arange(len(ordered)), bins) if len(part)]
    rows = [
        {
            "probability": float(ordered["probability"].iloc[part].mean()),
            "right": float(ordered["right"].iloc[part].mean()),
            "holes": len(part),
        }
        for part in parts
    ]
    return pd.DataFrame(rows, columns=["probability", "right", "holes"])


def coverage_table(holes: pd.DataFrame) -> pd.DataFrame:
    """What each `--min-probability` gives: the share of holes filled, and of those right.

    One row for each probability that occurs, the largest first.

    Args:
        holes: As `hole_table` returns them.
    """
    ordered = holes.sort_values("probability", ascending=False, kind="stable")
    filled = np.arange(1, len(ordered) + 1)
    table = pd.DataFrame(
        {
            "min probability": ordered["probability"].to_numpy(dtype=np.float64),
            "coverage": filled / max(len(ordered), 1),
            "precision": np.cumsum(ordered["right"].to_numpy(dtype=np.float64)) / filled,
        }
    )
    return table.drop_duplicates("min probability", keep="last").reset_index(drop=True)


def regularity_table(evidence: Evidence) -> pd.DataFrame:
    """How regularly each cell follows from its best source, the least regular first.

    Columns: cell, best source, share (of the commonest change, among the lexemes with both cells),
    lexemes (with both). What few lexemes show counts for less: order and best source go by
    share x lexemes / (lexemes + 1).

    Args:
        evidence: What was learned from.
    """
    rows = []
    reliability_of = {source: evidence.reliability(source) for source in evidence.cells}
    for target, cell in enumerate(evidence.cells):
        sources = [
            (float(share_c[target]), int(count_c[target]), source)
            for source, (share_c, count_c) in reliability_of.items()
            if source != cell and count_c[target]
        ]
        if cell != LEMMA and sources:
            share, count, source = max(sources, key=lambda s: (discounted_share(*s[:2]), s[2]))
            name = {LEMMA: "the lemma", STEM: "the stem"}.get(source, source)
            rows.append({"cell": cell, "best source": name, "share": share, "lexemes": count})
    rows.sort(key=lambda row: discounted_share(row["share"], row["lexemes"]))
    return pd.DataFrame(rows, columns=["cell", "best source", "share", "lexemes"])


def _change(gold: str, predicted: str, lemma: str) -> str:
    """One of `CHANGES`."""
    shared = chunk_alignment(predicted, gold, COSTS)
    stems = chunk_alignment(lemma, gold, COSTS)
    if not shared or not stems:
        return "whole form"
    first, last = stems[0].target, stems[-1].target + stems[-1].length
    inside = set()
    at_predicted = at_gold = 0
    for island in [*shared, None]:
        to_predicted = island.source if island else len(predicted)
        to_gold = island.target if island else len(gold)
        wrong, right = predicted[at_predicted:to_predicted], gold[at_gold:to_gold]
        if wrong or right:
            between = first < at_gold and to_gold < last
            inside.add(between or _doubled(gold, at_gold, wrong, right))
        if island:
            at_predicted, at_gold = to_predicted + island.length, to_gold + island.length
    return "stem and affix" if len(inside) == 2 else "stem" if True in inside else "affix"


def _doubled(gold: str, at: int, wrong: str, right: str) -> bool:
    """Whether one of the forms has a letter twice that the other has once, inside a word."""
    letter = wrong or right
    if len(wrong) + len(right) != 1 or not 0 < at + len(right) < len(gold):
        return False
    return letter == gold[at - 1] or letter == gold[at + len(right)]
