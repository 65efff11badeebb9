"""The shipped German tables are what data/README.md says they are."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest

DATA = Path(__file__).parents[2] / "data"
SHA256 = {
    "german_nouns.tsv": "4a66704a1ee55c8693360adc4fb045f100213130c341d2e91d7427d1a4124383",
    "german_nouns_holes.tsv": "bc74ad76b817c865ebba6a41ddd99576c84c68d8ec8187746a03b162948e9f5f",
}


def rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_bytes().decode().split("\n")
    assert lines.pop() == ""
    return [line.split("\t") for line in lines]


@pytest.fixture(scope="module")
def gold() -> list[list[str]]:
    return rows("german_nouns.tsv")


@pytest.fixture(scope="module")
def holes() -> list[list[str]]:
    return rows("german_nouns_holes.tsv")


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "build_german_nouns", DATA / "build_german_nouns.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(SHA256))
def test_is_the_file_that_the_script_builds(name: str) -> None:
    assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == SHA256[name]


def test_gold_is_1000_complete_paradigms_of_8_cells(gold: list[list[str]]) -> None:
    assert gold[0][0] == "lemma"
    assert [len(row) for row in gold] == [9] * 1001
    assert all(all(row) for row in gold)
    lemmas = [row[0] for row in gold[1:]]
    assert lemmas == sorted(set(lemmas))
    assert all(row[1] == row[0] for row in gold[1:])


def test_gold_is_normalised_text_without_dated_datives(gold: list[list[str]]) -> None:
    dative = gold[0].index("N;DAT;SG")
    for row in gold[1:]:
        assert all(unicodedata.is_normalized("NFC", cell) for cell in row)
        alternatives = row[dative].split("/")
        assert not {form + "e" for form in alternatives} & set(alternatives)


def test_no_lemma_is_the_head_of_another(gold: list[list[str]]) -> None:
    words = {row[0].casefold() for row in gold[1:]}
    leaks = [word for word in words for start in range(1, len(word) - 2) if word[start:] in words]
    assert leaks == []


def test_classes_are_sampled_evenly(gold: list[list[str]], build: ModuleType) -> None:
    nouns = [
        build.Noun(
            row[0],
            {
                cell: tuple(forms.split("/"))
                for cell, forms in zip(build.CELLS, row[1:], strict=True)
            },
        )
        for row in gold[1:]
    ]
    sizes = {noun.inflection_class: 0 for noun in nouns}
    for noun in nouns:
        sizes[noun.inflection_class] += 1
    assert len(sizes) == 41
    assert max(sizes.values()) == 29
    assert min(sizes.values()) == 10


def test_holes_are_the_gold_table_with_701_cells_emptied(
    gold: list[list[str]], holes: list[list[str]]
) -> None:
    assert holes[0] == gold[0]
    assert [row[0] for row in holes] == [row[0] for row in gold]
    pairs = [
        (seen, full)
        for holed, complete in zip(holes, gold, strict=True)
        for seen, full in zip(holed, complete, strict=True)
    ]
    assert all(seen in ("", full) for seen, full in pairs)
    assert sum(seen == "" for seen, _ in pairs) == 701
    assert sum("" in row for row in holes) == 100
    assert {sum(map(bool, row[1:])) for row in holes if "" in row} == {0, 1, 2}


@pytest.mark.parametrize(
    ("lemma", "form", "change"),
    [("Haus", "Häuser", "umlaut -0 +er"), ("Drama", "Dramen", "-1 +en"), ("Rad", "Rad", "-0 +")],
)
def test_change(build: ModuleType, lemma: str, form: str, change: str) -> None:
    assert build.change(lemma, form) == change


def test_build_from_a_small_word_list(build: ModuleType) -> None:
    def row(lemma: str, genitive: str, plural: str, **more: str) -> dict[str, str]:
        cells = dict.fromkeys(build.COLUMN_OF_CELL.values(), plural)
        cells |= {column: lemma for column in cells if column.endswith("singular")}
        starred = {f"{column}*": "" for column in cells}
        named = {"lemma": lemma, "pos": "Substantiv", "genitiv singular": genitive}
        return cells | starred | named | more

    haus = row("Haus", "Hauses", "Häuser", **{"dativ singular*": "Hause"})
    vogelhaus = row("Vogelhaus", "Vogelhauses", "Vogelhäuser")
    mutter = [row("Mutter", "Mutter", plural) for plural in ("Mütter", "Muttern")]
    hof = row("Hof", "Hofs", "Höfe", **{"genitiv singular*": "Hofes"})
    name = row("Otto", "Ottos", "Ottos", pos="Substantiv,Vorname")
    nouns = build.usable_nouns([haus, vogelhaus, *mutter, name, hof])
    assert build.table_text(nouns).splitlines()[1:] == [
        "Haus\tHaus\tHauses\tHaus\tHaus\tHäuser\tHäuser\tHäuser\tHäuser",
        "Hof\tHof\tHofs/Hofes\tHof\tHof\tHöfe\tHöfe\tHöfe\tHöfe",
    ]
