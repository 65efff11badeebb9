"""Which lexeme is looked at, what is hidden of it, and what its factors are called."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fsbp.factors.table import TableFactor
from fsbp.variables import Variable
from paradigms.evidence import LEMMA
from paradigms.inspection import UnknownLexemeError, inspected_in_model, inspected_in_table
from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel
from tests.paradigms.nouns import CELLS, HOLES, NOUNS, noun


@pytest.fixture(scope="module")
def model() -> ParadigmModel:
    return ParadigmModel().fit(NOUNS)


def test_a_lexeme_of_the_model_is_inspected_as_if_it_were_new(model: ParadigmModel) -> None:
    inspected = inspected_in_model(model, None)
    assert inspected.lexeme.key == "Tag"
    assert inspected.lexeme.lemma == "Tag"
    cells = sorted(CELLS)
    assert [cell for cell in cells if cell in inspected.lexeme.holes] == cells[1::2]
    assert "every second cell hidden" in inspected.origin
    known = inspected.completer.evidence
    assert len(known.lexemes) == len(NOUNS) - 1
    assert "Tage" not in known.forms
    assert set(inspected.candidates_of) == set(inspected.lexeme.holes)


@pytest.mark.parametrize("name", ["Haus", "Häusern"])
def test_a_lexeme_of_the_model_is_found_by_lemma_or_form(model: ParadigmModel, name: str) -> None:
    assert inspected_in_model(model, name).lexeme.key == "Haus"


def test_a_lemma_goes_before_a_form() -> None:
    lexemes = [
        noun(("Bau", "Baus", "Tag", "Tag"), "Bau"),
        noun(("Tag", "Tags", "Tage", "Tagen"), "Tag"),
    ]
    model = ParadigmModel().fit(lexemes)
    assert inspected_in_model(model, "Tag").lexeme.key == "Tag"
    assert inspected_in_model(model, "Baus").lexeme.key == "Bau"


def test_a_model_of_one_form_can_be_inspected() -> None:
    model = ParadigmModel(lemma="id").fit([Lexeme("1", None, {"SG": ("Tag",)})])
    inspected = inspected_in_model(model, None)
    assert (inspected.lexeme.key, inspected.lexeme.holes) == ("Tag", ["SG"])
    assert inspected.candidates_of["SG"]


def test_a_lexeme_of_a_table_is_taken_as_it_is(model: ParadigmModel) -> None:
    inspected = inspected_in_table(model, HOLES, "no lemma")
    assert inspected.lexeme == HOLES[1]
    assert inspected.origin == "a lexeme of the table"
    assert "Mäuser" in inspected.completer.evidence.forms
    assert inspected.candidates_of == model.complete_lexemes(HOLES)[1]


def test_without_a_name_the_first_with_a_hole_is_taken(model: ParadigmModel) -> None:
    assert inspected_in_table(model, [NOUNS[0], *HOLES], None).lexeme.key == HOLES[0].key
    inspected = inspected_in_table(model, NOUNS, None)
    assert inspected.lexeme.key == "Tag"
    assert inspected.lexeme.holes == [CELLS[1], CELLS[3]]
    assert inspected.origin.endswith("every second cell hidden")


def test_a_model_that_does_not_adapt_keeps_the_table_out(model: ParadigmModel) -> None:
    fixed = replace(model, adapt=False).fit(NOUNS)
    assert "Mäuser" not in inspected_in_table(fixed, HOLES, "no lemma").completer.evidence.forms


def test_who_is_not_there_is_named(model: ParadigmModel) -> None:
    with pytest.raises(UnknownLexemeError, match="no lexeme is called Nix"):
        inspected_in_model(model, "Nix")
    with pytest.raises(UnknownLexemeError, match="no lexeme is called Tag"):
        inspected_in_table(model, HOLES, "Tag")
    bare = Lexeme("Ei", "Ei", {})
    with pytest.raises(UnknownLexemeError, match="Ei has no cell"):
        inspected_in_table(model, [bare], "Ei")


def test_a_table_without_lexemes_has_none_to_inspect(model: ParadigmModel) -> None:
    for name in (None, "Tag"):
        with pytest.raises(UnknownLexemeError, match="the table has no lexeme"):
            inspected_in_table(model, [], name)


@pytest.mark.parametrize("adapt", [True, False])
def test_sweeps_over_the_table_are_told(model: ParadigmModel, adapt: bool) -> None:
    model = replace(model, adapt=adapt).fit(NOUNS)
    done: list[int] = []
    inspected_in_table(model, NOUNS, None, done.append)
    assert sum(done) == (model.passes - 1) * len(NOUNS)


def test_factors_are_called_by_what_they_are(model: ParadigmModel) -> None:
    """An unknown cell borrows; the kinds and exponents are those of the sources."""
    given = {"N;NOM;SG": ("Steg",), "N;GEN;SG": ("Stegs",)}
    lexeme = Lexeme("Steg", "Steg", given | {"N;NOM;PL": (), "N;GEN;PL": ()})
    inspected = inspected_in_table(model, [lexeme], None)
    kinds: dict[str, set[str]] = {}
    for factor in inspected.graph(lexeme.holes).factors:
        kinds.setdefault(factor.variables[-1].name, set()).add(inspected.kind(factor))
        if len(factor.variables) > 1:
            assert inspected.exponent(factor) == pytest.approx(factor.theta[0])
        else:
            weights = inspected.completer.weights
            assert inspected.exponent(factor) == weights["form: log-probability"]
    assert kinds == {
        "N;NOM;PL": {"direct", "copying", "edits", "n-gram"},
        "N;GEN;PL": {"borrowed", "copying", "edits", "n-gram"},
    }
    other = TableFactor((Variable("class", ("a", "b")),), np.zeros(2))
    assert (inspected.kind(other), inspected.exponent(other)) == ("table", None)


def test_a_lemma_only_model_has_the_lemma_alone_in_its_graph() -> None:
    model = ParadigmModel(sources="lemma").fit(NOUNS)
    inspected = inspected_in_model(model, "Weg")
    graph = inspected.graph(inspected.lexeme.holes)
    assert set(graph.evidence) == {LEMMA}
