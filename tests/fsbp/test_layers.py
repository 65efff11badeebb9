"""Imports run downwards only: a module may import what stands before it in `ORDER`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Modules of one line do not import each other.
ORDER = (
    {"fsbp.alphabet", "fsbp.arrays"},
    {"fsbp.metrics", "fsbp.connectivity"},
    {"fsbp.fixpoint"},
    {"fsbp.reading", "fsbp.dense_sums"},
    {"fsbp.pathsum"},
    {"fsbp.composition"},
    {"fsbp.kbest"},
    {"fsbp.acceptors"},
    {"fsbp.transducers", "fsbp.ngrams", "fsbp.rewrites", "fsbp.tries"},
    {"fsbp.rewrite_model", "fsbp.edit_channel", "fsbp.edit_contexts"},
    {"fsbp.edit_scores"},
    {"fsbp.edit_places"},
    {"fsbp.edit_training", "fsbp.edit_sums", "fsbp.edit_search"},
    {"fsbp.contextual_edits"},
    {"fsbp.word_lattice", "fsbp.word_lists"},
    {"fsbp.variables"},
    {"fsbp.opinions", "fsbp.ngram_potential", "fsbp.history_growth"},
    {"fsbp.pooled", "fsbp.params", "fsbp.powered", "fsbp.floors", "fsbp.threshold"},
    {"fsbp.potentials", "fsbp.proposals"},
    {"fsbp.factors.base", "fsbp.factors.lattice", "fsbp.factors.lists", "fsbp.factors.ranked"},
    {"fsbp.messages.base"},
    {"fsbp.factors.lattice_search"},
    {"fsbp.factors.pairs", "fsbp.factors.evidence"},
    {"fsbp.factors.*", "fsbp.messages.*"},
    {"fsbp.factors.tempered"},
    {"fsbp.supports"},
    {"fsbp.graph"},
    {
        "fsbp.inference.schedules",
        "fsbp.inference.beliefs",
        "fsbp.inference.bounded",
        "fsbp.inference.enumeration",
        "fsbp.inference.blocks",
    },
    {"fsbp.inference.joint"},
    {"fsbp.inference.free_energy", "fsbp.inference.contradictions"},
    {"fsbp.inference.mailbox"},
    {"fsbp.inference.propagation"},
    {"fsbp.inference.annealing", "fsbp.inference.plots"},
    {"fsbp.inference.gibbs"},
    {"fsbp.examples.phonology"},
    {"fsbp.examples.*"},
    {"fsbp"},
)
SOURCES = sorted((ROOT / "fsbp").rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path) for path in SOURCES}


def layer_of(module: str) -> int:
    """Return the position of a module in `ORDER`, named or by its package."""
    for name in (module, module.rpartition(".")[0] + ".*"):
        for layer, names in enumerate(ORDER):
            if name in names:
                return layer
    raise AssertionError(f"{module} has no place in ORDER of {Path(__file__).name}")


def imported(path: Path) -> set[str]:
    """Return the modules of this project that a file imports, wherever it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.add(full if full in MODULES else str(node.module))
    return {name for name in names if name.split(".")[0] in ("fsbp", "paradigms")}


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_imports_run_downwards(path: Path) -> None:
    module = module_name(path)
    if path.name == "__init__.py" and module != "fsbp":
        assert not imported(path)
        return
    above = [name for name in imported(path) if layer_of(name) >= layer_of(module)]
    assert not above, f"{module} imports {above}, which are not below it"


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_nothing_is_pickled(path: Path) -> None:
    names = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not names & {"pickle", "dill", "cloudpickle", "marshal", "shelve"}
