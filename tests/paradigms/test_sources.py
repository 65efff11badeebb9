"""Which given cells speak about a hole."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from paradigms.evidence import LEMMA, STEM, Evidence, Guess
from paradigms.forms import form_acceptor
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.pair_models import GUESS_WEIGHT
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
    (found,) = sources_of_holes({cell: f"form in {cell}" for cell in given}, [hole], language)
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
    given = {cell: f"form in {cell}" for cell in (LEMMA, CELLS[1])}
    together = sources_of_holes(given, [CELLS[3], "X", CELLS[2]], language)
    for found, hole in zip(together, [CELLS[3], "X", CELLS[2]], strict=True):
        alone = sources([LEMMA, CELLS[1]], hole, language)
        assert [(s.cell, s.model, s.feature_of) for s in found] == [
            (s.cell, s.model, s.feature_of) for s in alone
        ]
    assert sources_of_holes({LEMMA: "kala"}, [], language) == []


def test_features_are_known_and_finite(language: Language) -> None:
    given = {LEMMA: "kala", CELLS[0]: "kala", CELLS[1]: "kalan"}
    holes = [hole for hole in language.evidence.cells if hole not in given]
    for found in sources_of_holes(given, holes, language):
        for source in found:
            assert set(source.feature_of) <= set(FEATURES)
            assert all(abs(value) < 100 for value in source.feature_of.values())


# Features of several sources, and of guesses


def features_of(
    given: dict[str, str], hole: str, evidence: Evidence
) -> dict[str, dict[str, float]]:
    """Return the features of each direct source of a hole, by cell."""
    language = Language.of(evidence, Weights.shipped(), form_acceptor(evidence))
    (found,) = sources_of_holes(given, [hole], language)
    return {s.cell: dict(s.feature_of) for s in found if "direct" in s.feature_of}


def evidence_of(*tables: dict[str, str]) -> Evidence:
    return Evidence.from_lexemes(
        [
            Lexeme(str(n), None, {cell: (form,) if form else () for cell, form in table.items()})
            for n, table in enumerate(tables)
        ]
    )


def test_sources_that_repeat_one_another() -> None:
    evidence = evidence_of({"A": "kala", "B": "kala", "C": "kalan", "D": "kalat"})
    shares = [
        features_of(dict(zip("ABC", forms, strict=True)), "D", evidence)
        for forms in (("talo", "talo", "talon"), ("talo",) * 3, ("talo", "taloa", "talon"))
    ]
    name = "direct: repeats another source"
    assert [{cell: f[cell][name] for cell in "ABC"} for f in shares] == [
        {"A": 0.5, "B": 0.5, "C": 0.0},
        dict.fromkeys("ABC", pytest.approx(2 / 3)),
        dict.fromkeys("ABC", 0.0),
    ]
    assert features_of({"A": "talo"}, "D", evidence)["A"][name] == 0.0


def test_sources_less_regular_than_the_best() -> None:
    """From A to D two changes of three agree, from B to D all of them."""
    evidence = evidence_of(
        {"A": "kala", "B": "kalan", "D": "kalat"},
        {"A": "talo", "B": "talon", "D": "talot"},
        {"A": "vesi", "B": "veden", "D": "vedet"},
    )
    short, share = "direct: share short of the best", "direct: share of the commonest change"
    found = features_of({"A": "susi", "B": "suden"}, "D", evidence)
    assert {cell: f[share] for cell, f in found.items()} == {"A": pytest.approx(2 / 3), "B": 1.0}
    assert {cell: f[short] for cell, f in found.items()} == {"A": pytest.approx(1 / 3), "B": 0.0}
    assert {f["direct: one over sources"] for f in found.values()} == {0.5}
    alone = features_of({"A": "susi"}, "D", evidence)
    assert alone["A"][short] == 0.0, "none is better where there is one"
    assert alone["A"]["direct: one over sources"] == 1.0


def test_the_share_of_guessed_examples() -> None:
    tables = [{"A": "kala", "D": "kalat"}, {"A": "", "D": "talot"}, {"A": "", "D": "kukat"}]
    name, examples = "direct: guessed examples", "direct: log of examples"
    given = {"A": "pala"}
    evidence = evidence_of(*tables)
    assert features_of(given, "D", evidence)["A"][name] == 0.0
    guesses = [{}, {"A": (Guess("talo", 0.5), Guess("tal", 0.25))}, {"A": (Guess("kuka", 1.0),)}]
    guessed = features_of(given, "D", evidence.guessing(guesses))["A"]
    weight = GUESS_WEIGHT * (0.5 + 0.25 + 1.0)
    assert guessed[name] == pytest.approx(weight / (1.0 + weight))
    assert guessed[examples] == pytest.approx(math.log1p(1.0 + weight))
    only = evidence_of(*tables[1:]).guessing(guesses[1:])
    assert features_of(given, "D", only)["A"][name] == 1.0


def test_a_stem_speaks_where_no_given_cell_does() -> None:
    tables = [{"A": "kala", "B": "kalan", "D": ""}, {"A": "", "B": "", "D": "talot"}]
    guesses = [{STEM: (Guess("kal", 1.0),)}, {STEM: (Guess("talo", 1.0),)}]
    evidence = evidence_of(*tables).guessing(guesses)
    given = {"A": "pala", STEM: "pal"}
    found = features_of(given, "D", evidence)
    assert set(found) == {STEM}
    assert found[STEM]["direct: guessed examples"] == 1.0
    assert found[STEM]["direct: is the lemma"] == 0.0
    assert set(features_of(given, "B", evidence)) == {"A"}, "and is silent elsewhere"
    assert "direct" not in "".join(features_of({"A": "pala"}, "D", evidence))
    language = Language.of(evidence, Weights.shipped(), form_acceptor(evidence))
    (stem, *others) = sources(list(given), "D", language)
    assert "palt" in stem.model.distribution("pal")
    assert STEM not in {source.cell for source in others}, "it is neither copied nor lent"
