import io
from pathlib import Path

from rich.console import Console
from rich.table import Table

from paradigms.evaluate import evaluate, read_details
from paradigms.lexemes import Candidate, Lexeme
from paradigms.report import evaluation_table, summary_table, write_details
from paradigms.tables import read_table


def printed(table: Table) -> str:
    stream = io.StringIO()
    Console(file=stream, width=100).print(table)
    return stream.getvalue()


def test_details_file_has_a_line_for_each_candidate(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x\ta\tSG\nx\t\tPL\n")
    completions = [{"PL": [Candidate('b "c"', 2 / 3), Candidate("d", 0.25)]}]
    write_details(tmp_path / "d", read_table(tmp_path / "t").layout, completions)
    assert (tmp_path / "d").read_text() == (
        "lemma\tcell\trank\tform\tprobability\tstatus\n"
        "x\tSG\t1\ta\t1.000000\tgiven\n"
        'x\tPL\t1\t"b ""c"""\t0.666667\tpredicted\n'
        "x\tPL\t2\td\t0.250000\tpredicted\n"
    )
    assert read_details(tmp_path / "d") == {
        ("x", "PL"): [Candidate('b "c"', 0.666667), Candidate("d", 0.25)]
    }


def test_scores_are_printed_in_per_cent() -> None:
    gold = [Lexeme("x", "x", {"PL": ("a",), "SG": ("b",), "DU": ("c",)})]
    completed = [Lexeme("x", "x", {"PL": ("a",), "SG": ("bb",)})]
    text = printed(evaluation_table(evaluate(completed, gold)))
    assert text.split("\n")[2].split() == ["accuracy", "33.33", "%"]
    assert "calibration" not in text
    details = {("x", "PL"): [Candidate("a", 0.5)]}
    text = printed(evaluation_table(evaluate(completed, gold, None, details)))
    assert text.rstrip().endswith("calibration error        50.00 %")


def test_open_holes_are_counted_beside_the_others() -> None:
    gold = [Lexeme("x", "x", {"PL": ("a",), "SG": ("b",), "DU": ("c",)})]
    completed = [Lexeme("x", "x", {"PL": ("a",), "SG": ("bb",), "DU": ()})]
    text = printed(evaluation_table(evaluate(completed, gold)))
    lines = {" ".join(line.split()) for line in text.split("\n")}
    assert {"accuracy 33.33 %", "left open (wrong) 1", "share left open 33.33 %"} <= lines
    assert "accuracy where filled 50.00 %" in lines
    nothing = printed(evaluation_table(evaluate([], gold)))
    assert "share left open          100.00 %" in nothing
    assert "where filled" not in nothing
    full = printed(evaluation_table(evaluate(gold, gold)))
    assert "share left open" not in full
    assert "where filled" not in full


def test_details_keep_the_candidates_of_open_holes(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x\ta\tSG\nx\t\tPL\nx\t\tDU\n")
    completions = [{"PL": [Candidate("b", 0.5), Candidate("c", 0.25)], "DU": [Candidate("d", 0.6)]}]
    write_details(tmp_path / "d", read_table(tmp_path / "t").layout, completions, 0.6)
    assert [line.split("\t")[1:] for line in (tmp_path / "d").read_text().splitlines()[1:]] == [
        ["SG", "1", "a", "1.000000", "given"],
        ["PL", "1", "b", "0.500000", "open"],
        ["PL", "2", "c", "0.250000", "open"],
        ["DU", "1", "d", "0.600000", "predicted"],
    ]
    assert read_details(tmp_path / "d")["x", "PL"] == completions[0]["PL"]


def test_summaries_print_brackets_as_they_are() -> None:
    text = printed(
        summary_table({"[b]cells": ["N;SG", "[/x]"], "sizes": {"a": 1, "b": 0.12345678}})
    )
    assert "[b]cells  N;SG, [/x]" in text
    assert "a: 1, b: 0.123457" in text
