"""Kinds of error on hand-made examples, and the tables that count them."""

from __future__ import annotations

import pandas as pd
import pytest

from paradigms.errors import (
    CHANGES,
    PLACES,
    ErrorKind,
    calibration_table,
    coverage_table,
    error_kind,
    error_table,
    example_table,
    hole_table,
    regularity_table,
)
from paradigms.evidence import Evidence
from paradigms.lexemes import Candidate, Lexeme

CASES = [
    # gold, predicted, lemma, change
    ("Bäume", "Baume", "Baum", "stem"),
    ("gesungen", "gesingen", "singen", "stem"),
    ("bagged", "baged", "bag", "stem"),
    ("Fluse", "Flusse", "Flus", "stem"),
    ("כותבים", "כתבים", "כתב", "stem"),
    ("Tages", "Tags", "Tag", "affix"),
    ("Tag", "Tage", "Tag", "affix"),
    ("Tage", "Tagee", "Tag", "affix"),
    ("ungut", "gut", "gut", "affix"),
    ("ferries", "ferrys", "ferry", "affix"),
    ("Museen", "Museums", "Museum", "affix"),
    ("Bäume", "Baums", "Baum", "stem and affix"),
    ("went", "goed", "go", "whole form"),
    ("xyz", "abc", "abd", "whole form"),
    ("Bäume", "Baume", None, "stem"),
    ("Tagen", "Tage", None, "affix"),
]


@pytest.mark.parametrize(("gold", "predicted", "lemma", "change"), CASES)
def test_the_change_is_told(gold: str, predicted: str, lemma: str | None, change: str) -> None:
    kind = error_kind([gold], predicted, [predicted, gold], lemma)
    assert kind == ErrorKind(change, "second")
    assert change in CHANGES


@pytest.mark.parametrize(
    ("candidates", "place"),
    [
        (["Tags", "Tages"], "second"),
        (["Tags", "Tag", "Tags’", "Tages"], "lower"),
        (["Tags", "Tag"], "missing"),
    ],
)
def test_the_place_of_the_right_form_is_told(candidates: list[str], place: str) -> None:
    assert error_kind(["Tages"], "Tags", candidates, "Tag").place == place
    assert place in PLACES


def test_of_several_right_forms_the_nearest_counts() -> None:
    kind = error_kind(["Täges", "Tagens"], "Tagen", ["Tagen", "Tagens", "Täges"], "Tag")
    assert kind == ErrorKind("affix", "second")
    with pytest.raises(ValueError, match="'Tages' is right"):
        error_kind(["Tags", "Tages"], "Tages", [], "Tag")


GOLD = [
    Lexeme("Baum", "Baum", {"SG": ("Baum",), "PL": ("Bäume",), "GEN": ("Baums", "Baumes")}),
    Lexeme("Tag", "Tag", {"SG": ("Tag",), "PL": ("Tage",), "GEN": ("Tages",)}),
]
COVERED = [
    Lexeme("Tag", "Tag", {"SG": ("Tag",), "PL": (), "GEN": ()}),
    Lexeme("Baum", "Baum", {"SG": ("Baum",), "PL": (), "GEN": (), "OLD": ()}),
]
COMPLETIONS = [
    {"PL": [Candidate("Tage", 0.9)], "GEN": [Candidate("Tags", 0.5), Candidate("Tages", 0.4)]},
    {
        "PL": [Candidate("Baume", 0.6), Candidate("Baum", 0.2)],
        "GEN": [Candidate("Baumes", 0.8)],
        "OLD": [Candidate("Baum", 0.1)],
    },
]


@pytest.fixture(scope="module")
def holes() -> pd.DataFrame:
    return hole_table(COVERED, COMPLETIONS, GOLD)


def test_holes_without_gold_are_left_out(holes: pd.DataFrame) -> None:
    assert holes[["lemma", "cell", "gold", "right"]].to_numpy().tolist() == [
        ["Tag", "PL", "Tage", True],
        ["Tag", "GEN", "Tages", False],
        ["Baum", "PL", "Bäume", False],
        ["Baum", "GEN", "Baums/Baumes", True],
    ]
    assert holes["change"].tolist() == ["", "affix", "stem", ""]
    assert holes["place"].tolist() == ["", "second", "missing", ""]


def test_errors_are_counted_by_kind(holes: pd.DataFrame) -> None:
    counts = error_table(holes)
    assert counts.index.tolist() == [*CHANGES, "all"]
    assert counts.columns.tolist() == [*PLACES, "all"]
    assert counts.to_numpy().tolist() == [
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [1, 0, 1, 2],
    ]


def test_examples_come_from_different_lexemes(holes: pd.DataFrame) -> None:
    again = holes.assign(probability=holes["probability"] + 0.1, cell="DAT")
    examples = example_table(pd.concat([holes, again]), each=2)
    assert examples[["change", "lemma", "cell", "predicted"]].to_numpy().tolist() == [
        ["stem", "Baum", "DAT", "Baume"],
        ["affix", "Tag", "DAT", "Tags"],
    ]


def test_calibration_and_coverage(holes: pd.DataFrame) -> None:
    bins = calibration_table(holes, bins=2)
    assert bins.to_numpy().tolist() == [
        [pytest.approx(0.55), 0.0, 2],
        [pytest.approx(0.85), 1.0, 2],
    ]
    assert calibration_table(holes)["holes"].tolist() == [1] * 4
    coverage = coverage_table(holes)
    assert coverage["min probability"].tolist() == [0.9, 0.8, 0.6, 0.5]
    assert coverage["coverage"].tolist() == [0.25, 0.5, 0.75, 1.0]
    assert coverage["precision"].tolist() == pytest.approx([1, 1, 2 / 3, 1 / 2])
    tied = coverage_table(holes.assign(probability=0.5))
    assert tied.to_numpy().tolist() == [[0.5, 1.0, 0.5]]


def test_without_holes_the_tables_are_empty() -> None:
    holes = hole_table([], [], GOLD)
    assert error_table(holes).to_numpy().sum() == 0
    assert (
        len(example_table(holes))
        == len(calibration_table(holes))
        == len(coverage_table(holes))
        == 0
    )


def test_cells_are_ordered_by_regularity() -> None:
    table = regularity_table(Evidence.from_lexemes(GOLD))
    assert table["cell"].tolist() == ["GEN", "PL", "SG"]
    assert table.set_index("cell").loc["SG"].tolist() == ["the lemma", 1.0, 2]
    assert table.set_index("cell").loc["PL", "share"] == 0.5


def test_regularity_seen_once_counts_for_less() -> None:
    rare = Lexeme("Weg", "Weg", {"SG": ("Weg",), "ABL": ("Wegab",)})
    table = regularity_table(Evidence.from_lexemes([*GOLD, *GOLD, rare]))
    assert table.set_index("cell").loc["ABL", "share"] == 1
    assert table["cell"].tolist().index("ABL") < table["cell"].tolist().index("SG")
