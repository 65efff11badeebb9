import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from paradigms import cli

Run = Callable[..., Result]
HOLES = "lemma,SG,PL,class\nTag,Tag,Tage,m\nWeg,Weg,,m\n"
FULL = "lemma,SG,PL,class\nTag,Tag,Tage,m\nWeg,Weg,Weg+PL,m\n"


@pytest.fixture
def holes(run: Run) -> Path:
    path = Path("holes.csv")
    path.write_text(HOLES)
    return path


@pytest.mark.usefixtures("holes")
def test_complete_learns_from_the_table_itself(run: Run, fake_model: type) -> None:
    result = run("complete", "holes.csv", "-o", "full.csv", "--details", "d.tsv", "--jobs", "2")
    assert (result.exit_code, result.output) == (0, "")
    assert Path("full.csv").read_text() == FULL
    assert fake_model.calls == [
        ("fit", ("form", ["Tag", "Weg"])),
        ("complete", (False, 2, False)),
    ]
    assert Path("d.tsv").read_text().splitlines()[-2:] == [
        "Weg\tPL\t1\tWeg+PL\t0.750000\tpredicted",
        "Weg\tPL\t2\tother\t0.200000\tpredicted",
    ]


@pytest.mark.usefixtures("holes")
@pytest.mark.parametrize(("option", "adapts"), [([], True), (["--no-adapt"], False)])
def test_complete_learns_from_another_table(
    run: Run, fake_model: type, option: list[str], adapts: bool
) -> None:
    Path("known.tsv").write_text("Bau\tBaus\tN;GEN\n")
    result = run("complete", "holes.csv", "--train", "known.tsv", "-o", "full.csv", *option)
    assert result.exit_code == 0
    assert fake_model.calls == [("fit", ("form", ["Bau"])), ("complete", (adapts, 1, False))]


@pytest.mark.usefixtures("holes")
@pytest.mark.parametrize(("option", "adapts"), [([], True), (["--no-adapt"], False)])
def test_complete_uses_a_saved_model(
    run: Run, fake_model: type, option: list[str], adapts: bool
) -> None:
    assert run("train", "holes.csv", "-o", "m.zip").exit_code == 0
    result = run("complete", "holes.csv", "--model", "m.zip", "-o", "full.csv", *option)
    assert result.exit_code == 0
    assert Path("full.csv").read_text() == FULL
    assert fake_model.calls[-1] == ("complete", (adapts, 1, False))


@pytest.mark.usefixtures("holes")
def test_learning_uses_the_processes_too(run: Run, fake_model: type) -> None:
    assert run("complete", "holes.csv", "-o", "full.csv", "--jobs", "3").exit_code == 0
    assert run("train", "holes.csv", "-o", "m.zip", "--jobs", "2").exit_code == 0
    assert fake_model.fit_jobs == [3, 2]


def test_a_table_without_holes_is_copied_without_learning(run: Run, fake_model: type) -> None:
    Path("t.csv").write_bytes(b"\xef\xbb\xbflemma,SG\r\nTag,Tag\r\n")
    assert run("complete", "t.csv", "-o", "t.csv").exit_code == 0
    assert Path("t.csv").read_bytes() == b"\xef\xbb\xbflemma,SG\r\nTag,Tag\r\n"
    assert fake_model.calls == []


def test_table_options_are_obeyed(run: Run, fake_model: type) -> None:
    Path("t.tsv").write_text("id\tstem\tSG\tPL\n7\ttag\ta/b\t\n")
    arguments = ("complete", "t.tsv", "-o", "out.tsv", "--details", "d.tsv")
    options = ("--lemma", "id", "--alternatives", "/", "--extra", "stem", "--format", "wide")
    assert run(*arguments, *options).exit_code == 0
    assert fake_model.calls[0] == ("fit", ("id", ["7"]))
    assert Path("out.tsv").read_text() == "id\tstem\tSG\tPL\n7\ttag\ta/b\t7+PL\n"
    assert [line.split("\t")[:4] for line in Path("d.tsv").read_text().splitlines()[1:3]] == [
        ["7", "SG", "1", "a"],
        ["7", "SG", "2", "b"],
    ]


@pytest.mark.usefixtures("fake_model")
def test_holes_stay_where_the_likeliest_form_is_too_improbable(run: Run) -> None:
    table = 'lemma,SG,PL,class\r\nTag,Tag,Tage,m\r\nWeg,Weg," ",m\r\n'
    Path("holes.csv").write_bytes(table.encode())
    arguments = ("complete", "holes.csv", "-o", "full.csv", "--details", "d.tsv")
    result = run(*arguments, "--min-probability", "0.75")
    assert (result.exit_code, result.output) == (0, "")
    assert "Weg+PL" in Path("full.csv").read_text()
    assert "\topen" not in Path("d.tsv").read_text()

    result = run(*arguments, "--min-probability", "0.76")
    assert result.exit_code == 0
    assert result.output == (
        "0 holes filled in 2 lexemes, written to full.csv;"
        " 1 left open: their likeliest form has a probability below 0.76\n"
    )
    assert Path("full.csv").read_bytes() == table.encode()
    assert [line.split("\t") for line in Path("d.tsv").read_text().splitlines()[-2:]] == [
        ["Weg", "PL", "1", "Weg+PL", "0.750000", "open"],
        ["Weg", "PL", "2", "other", "0.200000", "open"],
    ]


@pytest.mark.usefixtures("fake_model", "holes")
@pytest.mark.parametrize("text", ["-0.1", "1.01", "95", "nan", "inf", "much", "", "0,9"])
def test_a_probability_out_of_range_is_refused(run: Run, text: str) -> None:
    result = run("complete", "holes.csv", "-o", "x", f"--min-probability={text}")
    assert result.exit_code == 2
    assert f"'{text}' is no number from 0 to 1; write 95 % as 0.95." in result.output
    assert not Path("x").exists()


@pytest.mark.usefixtures("fake_model", "holes")
def test_evaluate_tells_the_open_holes_from_the_filled(run: Run) -> None:
    run("complete", "holes.csv", "-o", "full.csv", "--details", "d.tsv", "--min-probability", "1")
    Path("gold.csv").write_text("lemma,SG,PL\nWeg,Weg,Weg+PL\nTag,Tag,Tage\n")
    arguments = ("evaluate", "full.csv", "--gold", "gold.csv", "--details", "d.tsv", "--json")
    scores = json.loads(run(*arguments).output)
    assert (scores["share_open"], scores["accuracy"], scores["filled_accuracy"]) == (0.25, 0.75, 1)
    scores = json.loads(run(*arguments, "--covered", "holes.csv").output)
    assert (scores["share_open"], scores["accuracy"], scores["filled_accuracy"]) == (1, 0, None)
    assert scores["candidate_accuracy"] == 1
    assert scores["calibration_error"] is None


@pytest.mark.usefixtures("fake_model", "holes")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("complete absent.csv -o x", "'absent.csv' does not exist"),
        ("complete holes.csv", "Missing option '-o'"),
        ("complete holes.csv -o no/x.csv", "Error: no/x.csv: the folder does not exist; "),
        ("complete holes.csv -o x --details x", "one file for two outputs; "),
        ("complete holes.csv -o x --train holes.csv --model holes.csv", "exclude each other"),
        ("complete holes.csv -o x --no-adapt", "leaves nothing to learn from"),
        ("complete holes.csv -o x --model holes.csv", "Error: holes.csv: not a model; "),
        ("complete holes.csv -o x --extra stem", "holes.csv:1: --extra stem: no column has this"),
        ("complete holes.csv -o x --format unimorph", "holes.csv:1: 1 tab-separated fields"),
        ("complete holes.csv -o x --jobs 0", "Invalid value for '--jobs'"),
        ("train blank.csv -o x", "Error: blank.csv: no cell is filled: nothing to learn from; "),
        ("complete holes.csv -o x --train blank.csv", "Error: blank.csv: no cell is filled"),
        ("inspect holes.csv", "Error: holes.csv: not a model; "),
        ("evaluate holes.csv --gold other.tsv", "Error: other.tsv: no hole has a form here; "),
        (
            "evaluate holes.csv --gold holes.csv --details holes.csv",
            "Error: holes.csv:1: the first",
        ),
    ],
)
def test_wrong_use_is_explained(run: Run, arguments: str, message: str) -> None:
    Path("blank.csv").write_text("lemma,SG\nTag,\n")
    Path("other.tsv").write_text("Bau\t\tN;PL\n")
    result = run(*arguments.split())
    assert result.exit_code == 2
    assert message in result.output
    assert not Path("x").exists()


@pytest.mark.usefixtures("fake_model", "holes")
def test_evaluate_prints_scores_and_json(run: Run) -> None:
    run("complete", "holes.csv", "-o", "full.csv", "--details", "d.tsv")
    Path("gold.tsv").write_text("Weg\tWege\tPL\nWeg\tWeg+PL\tPL\nWeg\tx\tSG\nTag\tTag\tSG\n")
    arguments = ("evaluate", "full.csv", "--gold", "gold.tsv", "--details", "d.tsv")
    result = run(*arguments, "--covered", "holes.csv")
    assert result.exit_code == 0
    assert "accuracy                 100.00 %" in result.output
    scores = json.loads(run(*arguments, "--json").output)
    assert scores["holes"] == 3
    assert scores["by_cell"] == {"PL": 1.0, "SG": 0.5}
    assert scores["calibration_error"] == pytest.approx(0.25)


@pytest.mark.usefixtures("fake_model", "holes")
def test_inspect_prints_the_summary(run: Run) -> None:
    run("train", "holes.csv", "-o", "m.zip")
    assert "cells [with brackets]  N;SG, [/b]" in run("inspect", "m.zip").output
    assert json.loads(run("inspect", "m.zip", "--json").output)["lexemes"] == 2


@pytest.mark.parametrize("command", ["complete", "train", "evaluate", "inspect"])
def test_help_teaches_by_examples(command: str) -> None:
    result = CliRunner().invoke(cli.cli, [command, "--help"])
    assert f"  paradigms {command} " in result.output
    assert command == "inspect" or "Columns of a wide table:" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_progress_is_silent_in_a_pipe() -> None:
    with cli.progress_bar("task", 3) as advance:
        assert advance is None


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(cli, "Console", lambda stderr: Console(file=screen, force_terminal=True))
    with cli.progress_bar("task", 3) as advance:
        assert advance is not None
        advance(3)
    assert "3/3" in screen.getvalue()


def test_the_module_runs_as_a_program() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "paradigms", "--help"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert "paradigms complete holes.tsv -o full.tsv" in result.stdout
