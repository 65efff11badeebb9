"""`paradigms inspect --plot` with a real model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from paradigms import cli

Run = Callable[..., Result]
TABLE = "lemma,SG,PL,DAT\nTag,Tag,Tage,Tagen\nWeg,Weg,Wege,Wegen\nBär,Bär,,\n"


@pytest.fixture
def model(run: Run) -> str:
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    assert run("train", "t.csv", "-o", "m.zip").exit_code == 0
    return "m.zip"


@pytest.mark.parametrize("ending", ["svg", "PNG", "pdf", "dot"])
def test_a_lexeme_of_the_model_is_drawn(run: Run, model: str, ending: str) -> None:
    result = run("inspect", model, "--plot", f"g.{ending}")
    assert (result.exit_code, result.output) == (0, "")
    assert Path(f"g.{ending}").stat().st_size > 1000


def test_a_lexeme_of_a_table_is_drawn(run: Run, model: str) -> None:
    arguments = ("inspect", model, "--plot", "g.dot", "--table", "t.csv")
    assert run(*arguments).exit_code == 0
    assert "2 given forms and 2 holes of Bär" in Path("g.dot").read_text()
    # Written in another normal form, the name is the same.
    assert run(*arguments, "--lexeme", "Ba\u0308r").exit_code == 0
    assert "2 holes of Bär" in Path("g.dot").read_text()
    assert run(*arguments, "--lexeme", "Weg").exit_code == 0
    assert "2 holes of Weg" in Path("g.dot").read_text()
    assert run("inspect", model, "--plot", "g.dot", "--lexeme", "Wege").exit_code == 0
    assert "as if it were new" in Path("g.dot").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--table t.csv", "add --plot FILE"),
        ("--lexeme Tag", "add --plot FILE"),
        ("--plot g.gif", "g.gif: unknown kind of picture; end it with .svg, .png, .pdf, .dot"),
        ("--plot g", "g: unknown kind of picture; "),
        ("--plot no/g.svg", "no/g.svg: the folder does not exist; "),
        ("--plot g.svg --lexeme Nix", "the model: no lexeme is called Nix; check the spelling"),
        ("--plot g.svg --table t.csv --lexeme Nix", "t.csv: no lexeme is called Nix; "),
        ("--plot g.svg --table absent.csv", "'absent.csv' does not exist"),
        ("--plot g.svg --table bad.csv", "bad.csv:2: 3 columns, but the header has 2; "),
    ],
)
def test_wrong_use_is_explained(run: Run, model: str, arguments: str, message: str) -> None:
    Path("bad.csv").write_text("lemma,SG\nTag,Tag,x\n")
    result = run("inspect", model, *arguments.split())
    assert result.exit_code == 2
    assert message in result.output
    assert not list(Path().glob("g*"))


def test_progress_over_a_table_is_shown(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, int]] = []
    done: list[int] = []

    @contextmanager
    def bar(task: str, total: int) -> Iterator[Callable[[int], None]]:
        shown.append((task, total))
        yield done.append

    monkeypatch.setattr(cli, "progress_bar", bar)
    assert run("inspect", model, "--plot", "g.dot", "--table", "t.csv").exit_code == 0
    assert shown == [("completing", 3)]
    assert sum(done) == 3


def test_without_matplotlib_the_way_out_is_named(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("inspect", model, "--plot", "g.svg")
    assert result.exit_code == 2
    assert "pip install 'fsbp[plot]'; or write a .dot file" in result.output
    assert not Path("g.svg").exists()
