from pathlib import Path

import pytest

from paradigms.delimited import TableError
from paradigms.evaluate import NothingToScoreError, evaluate, read_details
from paradigms.lexemes import Candidate, Lexeme

GOLD = [
    Lexeme("Tag", "Tag", {"SG": ("Tag",), "PL": ("Tage", "Täge")}),
    Lexeme("Weg", "Weg", {"SG": ("Weg",), "PL": ("Wege",)}),
    Lexeme("Bau", "Bau", {"SG": ("Bau",), "PL": ()}),
]
COMPLETED = [
    Lexeme("Weg", "Weg", {"PL": ("Weggen",), "SG": ("Weg",)}),
    Lexeme("Tag", "Tag", {"PL": ("Täge",), "SG": ("Tag",)}),
]


def test_without_a_covered_table_every_gold_cell_counts() -> None:
    scores = evaluate(COMPLETED, GOLD)
    assert (scores.holes, scores.missing, scores.lexemes) == (5, 1, 3)
    assert scores.accuracy == pytest.approx(3 / 5)
    assert scores.share_open == pytest.approx(1 / 5)
    assert scores.filled_accuracy == pytest.approx(3 / 4)
    assert scores.whole_paradigm_accuracy == pytest.approx(1 / 3)
    assert scores.mean_edit_distance == pytest.approx((2 + 3) / 5)
    assert scores.by_cell == {"SG": pytest.approx(2 / 3), "PL": 0.5}
    assert scores.calibration_error is None
    assert scores.candidate_accuracy is None


def test_with_a_covered_table_only_its_holes_count() -> None:
    covered = [
        Lexeme("Tag", "Tag", {"SG": ("Tag",), "PL": ()}),
        Lexeme("Weg", "Weg", {"SG": ("Weg",), "PL": ()}),
        Lexeme("Bau", "Bau", {"SG": ("Bau",), "PL": ()}),
    ]
    scores = evaluate(COMPLETED, GOLD, covered)
    assert (scores.holes, scores.lexemes) == (2, 2)
    assert scores.accuracy == scores.whole_paradigm_accuracy == 0.5
    assert scores.mean_edit_distance == 1.0


def test_details_give_calibration_and_candidate_accuracy() -> None:
    details = {
        ("Tag", "PL"): [Candidate("Täge", 0.75)],
        ("Weg", "PL"): [Candidate("Weggen", 0.5), Candidate("Wege", 0.25)],
    }
    covered = [Lexeme(key, key, {"PL": ()}) for key in ("Tag", "Weg")]
    scores = evaluate(COMPLETED, GOLD, covered, details)
    assert scores.candidate_accuracy == 1.0
    assert scores.calibration_error == pytest.approx((0.25 + 0.5) / 2)


def test_nothing_in_common_is_an_error() -> None:
    with pytest.raises(NothingToScoreError):
        evaluate(COMPLETED, GOLD, [Lexeme("Tag", "Tag", {"PL": ("Tage",)})])


HEADER = "lemma\tcell\trank\tform\tprobability\tstatus\n"


def test_details_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.write_text(
        HEADER
        + "x\tSG\t1\tx\t1.000000\tgiven\nx\tPL\t1\te\u0301\t0.7\tpredicted\n"
        + 'x\tPL\t2\t"a\tb"\t0.2\tpredicted\n'
    )
    assert read_details(path) == {("x", "PL"): [Candidate("é", 0.7), Candidate("a\tb", 0.2)]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\tPL\t1\ty\t0.7\tpredicted\n", ":1: the first line is not lemma TAB cell"),
        (HEADER + "x\tPL\t1\ty\tlikely\tpredicted\n", ":2: not lemma, cell, rank"),
        (HEADER + "x\tPL\t1\ty\tnan\tpredicted\n", ":2: not lemma, cell, rank"),
        (HEADER + "x\tPL\t1\n", ":2: not lemma, cell, rank"),
    ],
)
def test_foreign_details_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d"
    path.write_text(text)
    with pytest.raises(TableError) as error:
        read_details(path)
    assert str(error.value).startswith(f"{path}{message}")
