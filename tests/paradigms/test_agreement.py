"""Holes that speak to one another: against enumeration, and what it is good for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fsbp.factors.rewrite import FLOOR
from paradigms.agreement import (
    EXPONENT,
    MIN_PROBABILITY,
    OTHER,
    TEMPERATURE,
    agreed,
    agreement_graph,
)
from paradigms.completer import Completer
from paradigms.edits import edit_model
from paradigms.evidence import Evidence
from paradigms.forms import form_acceptor
from paradigms.inspection import inspected_in_model, inspected_in_table
from paradigms.language import Language
from paradigms.lexemes import Candidate, Lexeme
from paradigms.model import ParadigmModel
from paradigms.sources import MAX_SOURCES, regular_neighbours
from paradigms.weights import Weights

ENDINGS = ({"PL": "a", "DAT": "am"}, {"PL": "e", "DAT": "em"})
"""Of two inflection classes."""
STEMS = ("kot", "lap", "mid", "ner", "pus", "rog", "tif", "vok")


def lexeme(stem: str, endings: dict[str, str], hidden: Sequence[str] = ()) -> Lexeme:
    cells = {cell: () if cell in hidden else (stem + end,) for cell, end in endings.items()}
    return Lexeme(stem, stem, cells)


WHOLE = [lexeme(stem, ENDINGS[number % 2]) for number, stem in enumerate(STEMS)]
UNSURE = [Candidate("zuta", 0.5), Candidate("zute", 0.45)]
DATIVES = [Candidate("zutem", 0.52), Candidate("zutam", 0.4), Candidate("zutum", 0.02)]


def language_of(lexemes: Sequence[Lexeme]) -> Language:
    evidence = Evidence.from_lexemes(lexemes)
    return Language.of(evidence, Weights.shipped(), form_acceptor(evidence))


LANGUAGE = language_of(WHOLE)


def log_prior(candidates: Sequence[Candidate], form: str) -> float:
    probability_of = {candidate.form: candidate.probability for candidate in candidates}
    return math.log(probability_of.get(form, 1.0 - sum(probability_of.values())))


def log_evidence(language: Language, source: tuple[str, str], target: tuple[str, str]) -> float:
    """Return what one form of a hole says about a form of another."""
    model = language.models.direct(source[0], target[0])
    if model is None or OTHER in (source[1], target[1]):
        return 0.0
    return math.log1p(model.distribution(source[1]).get(target[1], 0.0) / FLOOR)


def test_max_marginals_are_those_of_enumeration() -> None:
    holes = {"PL": UNSURE, "DAT": DATIVES}
    best: dict[tuple[str, str], float] = {}
    for plural, dative in itertools.product(
        *([c.form for c in h] + [OTHER] for h in holes.values())
    ):
        score = log_prior(UNSURE, plural) + log_prior(DATIVES, dative)
        score += EXPONENT * log_evidence(LANGUAGE, ("PL", plural), ("DAT", dative))
        if dative != "zutum":
            score += EXPONENT * log_evidence(LANGUAGE, ("DAT", dative), ("PL", plural))
        for key in (("PL", plural), ("DAT", dative)):
            best[key] = max(best.get(key, -math.inf), score / TEMPERATURE)
    found = agreed(holes, LANGUAGE)
    assert DATIVES[2].probability < MIN_PROBABILITY, "zutum says nothing about the plural"
    for hole, candidates in found.items():
        total = np.logaddexp.reduce([score for key, score in best.items() if key[0] == hole])
        for candidate in candidates:
            expected = math.exp(best[hole, candidate.form] - total)
            assert candidate.probability == pytest.approx(expected, abs=1e-9)


def test_forms_that_go_together_win() -> None:
    holes = {"PL": UNSURE, "DAT": DATIVES}
    assert [candidates[0].form for candidates in holes.values()] == ["zuta", "zutem"]
    found = agreed(holes, LANGUAGE)
    endings = {cell: candidates[0].form.removeprefix("zut") for cell, candidates in found.items()}
    assert endings in ENDINGS


def test_candidates_stay_and_come_best_first() -> None:
    found = agreed({"PL": UNSURE, "DAT": DATIVES}, LANGUAGE)
    for before, after in ((UNSURE, found["PL"]), (DATIVES, found["DAT"])):
        assert {c.form for c in after} == {c.form for c in before}
        probabilities = [candidate.probability for candidate in after]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0.0 < sum(probabilities) < 1.0


def test_all_neighbours_together_count_once() -> None:
    """A pair of holes each of which is the other's neighbour is heard from both sides."""
    endings = {**ENDINGS[0], "GEN": "u", "LOC": "i", "VOC": "o"}
    language = language_of([lexeme(stem, endings) for stem in STEMS])
    holes = {
        cell: [Candidate("zut" + end, 0.5), Candidate("zut", 0.4)] for cell, end in endings.items()
    }
    graph = agreement_graph(holes, language)
    largest = max(np.max(factor.theta) for factor in graph.factors if len(factor.variables) == 2)
    one = math.log1p(1.0 / FLOOR) * EXPONENT / TEMPERATURE / MAX_SOURCES
    assert 1.5 * one < largest < 2 * one


def test_sure_holes_are_left_alone() -> None:
    sure = {"PL": [Candidate("zuta", 0.98)], "DAT": [Candidate("zutem", 0.97)]}
    assert agreed(sure, LANGUAGE) == sure
    assert agreement_graph(sure, LANGUAGE).factors == ()
    assert agreed({"PL": UNSURE}, LANGUAGE) == {"PL": UNSURE}
    assert agreed({"PL": UNSURE, "DAT": []}, LANGUAGE).keys() == {"PL", "DAT"}


def test_a_hole_to_which_no_other_speaks_stays_as_it_is() -> None:
    language = language_of([*WHOLE, Lexeme("bem", None, {"ADV": ("bem",)})])
    holes = {"PL": UNSURE, "DAT": DATIVES, "ADV": [Candidate("zuto", 0.6), Candidate("zut", 0.2)]}
    found = agreed(holes, language)
    assert found["ADV"] == holes["ADV"]
    assert found["PL"] != holes["PL"]


def test_neighbours_are_other_cells_seen_together() -> None:
    endings = dict.fromkeys(("A", "B", "C", "D", "E"), "x")
    evidence = Evidence.from_lexemes(
        [lexeme("s", endings), Lexeme("t", None, {"F": ("t",)}), Lexeme("u", None, {"G": ("u",)})]
    )
    found = regular_neighbours([*endings, "F", "G"], evidence)
    assert found["F"] == found["G"] == []
    for cell in endings:
        assert cell not in found[cell]
        assert len(found[cell]) == MAX_SOURCES
        assert set(found[cell]) < set(endings)


# In the model


def completers(lemma_only: bool = False) -> tuple[Completer, Completer]:
    """Return completers of the language without and with agreement."""
    evidence = Evidence.from_lexemes(WHOLE)
    completer = Completer(
        evidence,
        Weights.shipped(),
        form_acceptor(evidence),
        lemma_only,
        edits=edit_model(evidence),
    )
    return completer, replace(completer, agreement=True)


HIDDEN = lexeme("zut", ENDINGS[0], ["PL", "DAT"])


def test_holes_agree_once_something_is_given() -> None:
    alone, together = completers()
    assert together.candidates(HIDDEN) != alone.candidates(HIDDEN)
    assert together.candidates(HIDDEN) == agreed(alone.candidates(HIDDEN), alone.language)
    nothing = Lexeme("zut", None, HIDDEN.cells)
    assert together.candidates(nothing) == alone.candidates(nothing)


def test_from_the_lemma_alone_each_hole_follows_by_itself() -> None:
    alone, together = completers(lemma_only=True)
    assert together.candidates(HIDDEN) == alone.candidates(HIDDEN)


@pytest.mark.parametrize("adapt", [True, False])
def test_the_model_agrees_unless_told_not_to(adapt: bool) -> None:
    for agreement in (True, False):
        model = ParadigmModel(adapt=adapt, agreement=agreement).fit(WHOLE)
        completer = model.completer([HIDDEN])
        assert model.complete_lexemes([HIDDEN]) == [completer.candidates(HIDDEN)]
        alone = replace(completer, agreement=False).candidates(HIDDEN)
        assert (completer.candidates(HIDDEN) != alone) is agreement


def test_what_is_inspected_is_what_is_filled() -> None:
    model = ParadigmModel().fit(WHOLE)
    found = inspected_in_table(model, [HIDDEN], None)
    assert [found.candidates_of] == model.complete_lexemes([HIDDEN])
    genitives = [lexeme(stem, {**ENDINGS[n % 2], "GEN": "u"}) for n, stem in enumerate(STEMS)]
    for agreement in (True, False):
        model = ParadigmModel(agreement=agreement).fit(genitives)
        inspected = inspected_in_model(model, "kot")
        assert inspected.candidates_of.keys() == {"DAT", "PL"}
        alone = replace(inspected.completer, agreement=False).candidates(inspected.lexeme)
        assert (inspected.candidates_of != alone) is agreement


def test_processes_make_no_difference() -> None:
    lexemes = [lexeme(stem, ENDINGS[0], ["PL", "DAT"]) for stem in ("zut", "bom", "sig")]
    model = ParadigmModel().fit(WHOLE)
    assert model.complete_lexemes(lexemes, jobs=1) == model.complete_lexemes(lexemes, jobs=2)


def test_the_order_of_cells_makes_no_difference() -> None:
    _, together = completers()
    turned = replace(HIDDEN, cells=dict(reversed(HIDDEN.cells.items())))
    assert together.candidates(turned) == together.candidates(HIDDEN)
    many = {f"C{n}": (f"x{n % 3}",) for n in range(6)}
    evidence = Evidence.from_lexemes([Lexeme(str(n), None, many) for n in range(3)])
    language = Language.of(evidence, Weights.shipped(), form_acceptor(evidence))
    unsure = {cell: [Candidate(f"x{n}", 0.3) for n in range(3)] for cell in many}
    turned_back = dict(reversed(unsure.items()))
    assert agreed(turned_back, language) == agreed(unsure, language)
    assert list(agreed(turned_back, language)) == list(turned_back)
