"""Which given cells speak about a hole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from paradigms.evidence import LEMMA, Evidence
from paradigms.forms import form_acceptor
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.sources import MAX_SOURCES, Source, sources_of_holes
from paradigms.weights import FEATURES, Weights

FISH = [
    ("kala", "kalan", "kalaa", "kalat"),
    ("talo", "talon", "taloa", "talot"),
    ("vesi", "veden", "vettä", "vedet"),
    ("käsi", "käden", "kättä", "kädet"),
]
CELLS = ("N;NOM;SG", "N;GEN;SG", "N;PART;SG", "N;NOM;PL")


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    tables = [dict(zip(CELLS, [(form,) for form in forms], strict=True)) for forms in FISH]
    tables.append({"N;GEN;PL": (), "V;PRS": ("on",), "V;PST": ("oli",), "X": ()})
    return Evidence.from_lexemes(
        [Lexeme(str(n), table.get(CELLS[0], (None,))[0], table) for n, table in enumerate(tables)]
    )


@pytest.fixture(scope="module")
def language(evidence: Evidence) -> Language:
    return Language.of(evidence, Weights.shipped(), form_acceptor(evidence))


def sources(given: Sequence[str], hole: str, language: Language) -> list[Source]:
    (found,) = sources_of_holes(given, [hole], language)
    return found


def proposals(found: Sequence[Source], form_of: dict[str, str]) -> dict[str, set[str]]:
    """Return the cells that propose each form."""
    cells: dict[str, set[str]] = {}
    for source in found:
        for form in source.model.distribution(form_of[source.cell]):
            cells.setdefault(form, set()).add(source.cell)
    return cells


def test_every_given_cell_is_known_and_few_speak(language: Language) -> None:
    given = [LEMMA, *CELLS[:3], "V;PRS"]
    for hole in language.evidence.cells:
        if hole not in given:
            found = sources(given, hole, language)
            assert found
            assert {source.cell for source in found} <= set(given)
            direct = {s.cell for s in found if s.model is language.models.direct(s.cell, hole)}
            assert len(direct) <= MAX_SOURCES + 1


def test_the_lemma_always_comes_along(language: Language) -> None:
    found = sources([*CELLS[:3], LEMMA], CELLS[3], language)
    assert language.models.direct(LEMMA, CELLS[3]) in [s.model for s in found if s.cell == LEMMA]


def test_the_regular_source_comes_first(language: Language) -> None:
    found = sources([CELLS[0], CELLS[2], CELLS[1]], CELLS[3], language)
    assert found[0].cell == CELLS[1], "stem of the genitive, always"
    found_forms = proposals(found, {CELLS[0]: "susi", CELLS[1]: "suden", CELLS[2]: "sutta"})
    assert CELLS[1] in found_forms["sudet"]


def test_an_unseen_cell_borrows(language: Language) -> None:
    found = sources([CELLS[0], CELLS[1]], "N;GEN;PL", language)
    assert all(language.models.direct(source.cell, "N;GEN;PL") is None for source in found)
    found_forms = proposals(found, {CELLS[0]: "pöllö", CELLS[1]: "pöllön"})
    assert CELLS[1] in found_forms["pöllönt"], "as from N;NOM;SG to N;NOM;PL"


def test_without_relatives_a_cell_is_copied(language: Language) -> None:
    for given in ([CELLS[0]], [LEMMA], ["V;PRS"], [LEMMA, *CELLS]):
        found = sources(given, "X", language)
        assert found
        copies = proposals(found, dict.fromkeys(given, "kissa"))
        assert "kissa" in copies


def test_nothing_given_has_no_source(language: Language) -> None:
    assert sources([], CELLS[0], language) == []


def test_holes_are_told_apart(language: Language) -> None:
    together = sources_of_holes([LEMMA, CELLS[1]], [CELLS[3], "X", CELLS[2]], language)
    for found, hole in zip(together, [CELLS[3], "X", CELLS[2]], strict=True):
        alone = sources([LEMMA, CELLS[1]], hole, language)
        assert [(s.cell, s.model, s.feature_of) for s in found] == [
            (s.cell, s.model, s.feature_of) for s in alone
        ]
    assert sources_of_holes([LEMMA], [], language) == []


def test_features_are_known_and_finite(language: Language) -> None:
    given = [LEMMA, *CELLS[:2]]
    holes = [hole for hole in language.evidence.cells if hole not in given]
    for found in sources_of_holes(given, holes, language):
        for source in found:
            assert set(source.feature_of) <= set(FEATURES)
            assert all(abs(value) < 100 for value in source.feature_of.values())
