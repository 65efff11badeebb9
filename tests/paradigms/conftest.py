"""A stand-in for the model, so that the shell is tested apart from what it calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner, Result

from paradigms import cli
from paradigms.lexemes import Candidate, Lexeme


@dataclass
class FakeModel:
    """Completes every hole with the lemma (or key) and the cell; remembers how it was called."""

    calls: ClassVar[list[tuple[str, object]]] = []
    fit_jobs: ClassVar[list[int]] = []

    lemma: str = "form"
    adapt: bool = True
    seed: int = 0
    sweeps: int = 1
    passes: int = 2
    learned: list[str] = field(default_factory=list)

    def fit(
        self,
        lexemes: Sequence[Lexeme],
        jobs: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> FakeModel:
        self.learned = [lexeme.key for lexeme in lexemes]
        self.calls.append(("fit", (self.lemma, self.learned)))
        self.fit_jobs.append(jobs)
        return self

    def complete_lexemes(
        self,
        lexemes: Sequence[Lexeme],
        jobs: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> list[dict[str, list[Candidate]]]:
        self.calls.append(("complete", (self.adapt, jobs, progress is not None)))
        return [
            {
                cell: [
                    Candidate(f"{lexeme.lemma or lexeme.key}+{cell}", 0.75),
                    Candidate("other", 0.2),
                ]
                for cell in lexeme.holes
            }
            for lexeme in lexemes
        ]

    def save(self, path: str) -> None:
        Path(path).write_text(json.dumps(self.learned), encoding="utf-8")

    @classmethod
    def load(cls, path: str) -> FakeModel:
        try:
            return cls(learned=json.loads(Path(path).read_text(encoding="utf-8")))
        except ValueError as error:
            raise cli.ModelFileError(f"{path}: not a model; train it again") from error

    def summary(self) -> dict[str, object]:
        return {"lexemes": len(self.learned), "cells [with brackets]": ["N;SG", "[/b]"]}


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch) -> type[FakeModel]:
    """The command line with the stand-in for a model; returns its class."""
    monkeypatch.setattr(cli, "ParadigmModel", FakeModel)
    monkeypatch.setattr(FakeModel, "calls", [])
    monkeypatch.setattr(FakeModel, "fit_jobs", [])
    return FakeModel


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli.cli, arguments)

    return invoke
