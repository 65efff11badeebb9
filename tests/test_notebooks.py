"""The notebooks run as they are, and are kept without outputs."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
TIMEOUT = 120


def printed(notebook: nbformat.NotebookNode) -> str:
    """Returns all that the cells print, as plain text; figures are named."""
    parts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                parts.append(output.text)
            else:
                parts.append(output.data["text/plain"] + " ".join(output.data))
    return "\n".join(parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)


def test_the_error_analysis_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSBP_SIGMORPHON", raising=False)
    text = printed(executed(FOLDER / "paradigm_errors.ipynb"))
    assert "701" in text
    assert "N;GEN;SG" in text
    assert text.count("image/png") == 2
    for kind in ("stem and affix", "whole form", "second", "missing"):
        assert kind in text


def test_the_error_analysis_runs_on_the_shared_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for language in ("english", "hungarian", "navajo"):
        for part in ("train-medium", "covered-dev", "uncovered-dev"):
            path = tmp_path / f"{language}-{part}"
            path.write_text("".join(rows(language, part)), encoding="utf-8")
    monkeypatch.setenv("FSBP_SIGMORPHON", str(tmp_path))
    text = printed(executed(FOLDER / "paradigm_errors.ipynb"))
    assert "navajo" in text
    assert "german" not in text


def rows(language: str, part: str) -> list[str]:
    """Returns a few tables of an invented language, with every second plural hidden."""
    stems = ["tal", "mur", "bok", "sin", "wel", "dom"]
    stems = stems[:4] if part == "train-medium" else stems[4:]
    shown = {"SG": "", "PL": "en" if language == "english" else "i", "DU": "o"}
    return [
        f"{stem}\t{'' if part == 'covered-dev' and cell == 'PL' else stem + end}\tN;{cell}\n"
        for stem in stems
        for cell, end in shown.items()
    ]


def executed(path: Path) -> nbformat.NotebookNode:
    """Returns the notebook as it is after all its cells have run, in its own folder."""
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=TIMEOUT, resources={"metadata": {"path": str(path.parent)}}
    )
    # Warnings of the machinery that runs notebooks are not about ours.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return client.execute()
