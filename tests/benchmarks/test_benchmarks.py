"""The benchmarks run on small data of the published shape and end with one JSON object."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paradigms.weights import FEATURES, Weights

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PLURALS = {
    "Hund": "Hunde", "Tisch": "Tische", "Fisch": "Fische", "Blume": "Blumen", "Nase": "Nasen",
}  # fmt: skip


def rows(nouns: list[str], hidden: str = "", key: str = "") -> str:
    """Three cells for each noun as lemma, form and features; the hidden cell is a hole."""
    lines = []
    for spoilter, noun in enumerate(nouns):
        plural = PLURALS[noun]
        dative = plural if plural.endswith("n") else plural + "n"
        for cell, form in (("N;NOM;SG", noun), ("N;NOM;PL", plural), ("N;DAT;PL", dative)):
            name = f"{key}{spoilter}" if key else noun
            lines.append(f"{name}\t{'' if cell == hidden else form}\t{cell}\n")
    return "".join(lines)


def report(script: str, *arguments: str) -> dict[str, Any]:
    """The JSON object on the last line that a benchmark prints."""
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_sigmorphon2017(tmp_path: Path) -> None:
    train, dev = ["Hund", "Tisch", "Blume"], ["Fisch", "Nase"]
    (tmp_path / "german-train-low").write_text(rows(train))
    (tmp_path / "german-covered-dev").write_text(rows(dev, hidden="N;DAT;PL"))
    (tmp_path / "german-uncovered-dev").write_text(rows(dev))
    found = report("sigmorphon2017.py", "--data", str(tmp_path), "--jobs", "1", "--compare-lemma")
    assert list(found["languages"]) == ["german"]
    assert found["languages"]["german"]["holes"] == 2
    assert found["macro"]["accuracy"] == found["macro"]["coverage"] == 100
    assert found["languages"]["german"]["baseline"] == found["macro"]["baseline"] == 100
    assert found["below_baseline"] == []
    assert found["against_lemma_only"]["margin"] >= 0
    assert found["peak_mebibytes"] > 0
    assert found["messages"] == "kbest"
    options = ("--jobs", "1", "--messages", "ngram", "--lexemes", "1")
    ngram = report("sigmorphon2017.py", "--data", str(tmp_path), *options)
    assert ngram["messages"] == "ngram"
    assert ngram["macro"]["holes"] == 1


def test_an_ablation_names_every_ingredient(tmp_path: Path) -> None:
    (tmp_path / "german-train-low").write_text(rows(["Hund", "Tisch", "Blume"]))
    (tmp_path / "german-covered-dev").write_text(rows(["Fisch", "Nase"], hidden="N;DAT;PL"))
    (tmp_path / "german-uncovered-dev").write_text(rows(["Fisch", "Nase"]))
    contrary = tmp_path / "contrary.json"
    contrary.write_text(json.dumps(dict.fromkeys(FEATURES, 0.0) | {"direct": -1.0}))
    options = ("--data", str(tmp_path), "--jobs", "1", "--ablate")
    found = report("sigmorphon2017.py", *options)["ablation"]
    assert len(found) == 8
    for without in found.values():
        mean, low, high = without["loss_over_lexemes"]
        assert low <= mean <= high
        assert without["loss"] == pytest.approx(100 - without["accuracy"])
    spoilt = report("sigmorphon2017.py", *options, "--weights", str(contrary))
    assert spoilt["macro"]["accuracy"] < 100
    assert spoilt["ablation"]["equal exponents"]["loss"] < 0


def test_weights_are_learned_from_fixed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language in ("german", "hessian"):
        for condition in ("low", "high"):
            file = tmp_path / f"{language}-train-{condition}"
            file.write_text(rows(["Hund", "Tisch", "Blume"]))
        (tmp_path / f"{language}-covered-dev").write_text(rows(["Fisch", "Nase"], "N;DAT;PL"))
        (tmp_path / f"{language}-uncovered-dev").write_text(rows(["Fisch", "Nase"]))

    def refused() -> Weights:
        raise AssertionError("weights learned before are no place to start from")

    monkeypatch.setattr(Weights, "shipped", refused)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    script = runpy.run_path(str(BENCHMARKS / "learn_weights.py"))
    output = tmp_path / "weights.json"
    monkeypatch.setattr(
        sys, "argv", ["x", "--data", str(tmp_path), "--jobs", "1", "-o", str(output),
                      "--halves", str(tmp_path)],
    )  # fmt: skip
    script["main"]()
    learned = json.loads(output.read_text())
    assert set(learned) == set(FEATURES)
    assert learned["novelty: shown alone"], "tables that show one form each"
    halves = [(tmp_path / f"{name}.json").read_text() for name in ("first", "second")]
    assert halves[0] == halves[1], "the same tables in both"
    contrary = dict.fromkeys(FEATURES, 0.0) | {"direct": -1.0}
    (tmp_path / "first.json").write_text(json.dumps(contrary))
    options = ("--data", str(tmp_path), "--jobs", "1", "--halves", str(tmp_path))
    found = report("sigmorphon2017.py", *options)["languages"]
    assert found["hessian"]["accuracy"] < found["german"]["accuracy"] == 100, "the other half's"


def test_pcfp(tmp_path: Path) -> None:
    nouns = list(PLURALS)
    (tmp_path / "de.N.2.tsv").write_text(
        rows(nouns[:2], key="a") + rows(nouns[3:4], key="b") + rows(nouns[2:], "N;DAT;PL", key="c")
    )
    (tmp_path / "de.N.gold.tsv").write_text(
        rows(nouns[:2], key="a") + rows(nouns[3:4], key="b") + rows(nouns[2:], key="c")
    )
    found = report("pcfp.py", "--data", str(tmp_path), "--n", "2", "--jobs", "1")
    assert found["shown"]["2"]["de.N"]["holes"] == 3
    assert found["shown"]["2"]["de.N"]["accuracy"] == 100
    assert found["shown"]["2"]["de.N"]["coverage"] == found["pooled"]["2"]["coverage"] == 100


def test_missing_files_are_named(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "pcfp.py"), "--data", str(tmp_path), "--sets", "xx"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "xx.gold.tsv" in done.stderr


def test_messages() -> None:
    found = report("messages.py", "--words", "24", "--runs", "1")
    for channel in ("easy", "hard", "veryhard", "learned"):
        assert found[f"speedup_{channel}"] > 0
        assert found[f"stems_ep_{channel}"] >= 80
        assert found[f"stems_kbest_{channel}"] >= 50
    assert found["accuracy_ep_hard"] >= found["accuracy_kbest_hard"] - 20
    assert found["learning_seconds"] > 0
    assert found["slope"] is None
    held = [mebibytes for mebibytes in found["mebibytes_veryhard"].values() if mebibytes]
    assert len(held) in (0, 5), "either the system tells of no method or of all"
    if held:
        assert found["mebibytes_veryhard"]["EP order 3"] > found["mebibytes_veryhard"]["EP order 1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--words", "4"), "--words must be 5 or more"),
        (("--words", "1000000"), "has 500 words"),
        (("--runs", "0"), "--runs must be 1 or more"),
    ],
)
def test_sizes_that_cannot_be_measured_are_refused(
    arguments: tuple[str, ...], message: str
) -> None:
    command = [sys.executable, str(BENCHMARKS / "messages.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_growth_is_that_with_the_spoilter_of_edges() -> None:
    messages = runpy.run_path(str(BENCHMARKS / "messages.py"))
    edges = {10: 30, 20: 90, 40: 100}
    figures = messages["Figures"](1.0, 1.0, 50.0, True, 90.0, 80.0)
    found = {
        (size, channel, method): figures._replace(seconds=0.01 * edges[size] ** 0.7)
        for size in edges
        for channel in (*messages["ASSUMED"], "learned")
        for method in messages["METHODS"]
    }
    assert messages["report"](found, edges)["slope"] == pytest.approx(0.7)
