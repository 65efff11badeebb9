"""Beliefs about one lexeme against enumeration of its graph, and graphs with little to go on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fsbp.acceptors import table_acceptor
from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import infer
from fsbp.messages.kbest import KBest
from fsbp.opinions import Opinion
from fsbp.variables import Acceptor
from paradigms.evidence import LEMMA, STEM, Evidence, Guess, forms_of
from paradigms.forms import form_acceptor
from paradigms.graphs import completion_graph
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.weights import FEATURES, Weights

TABLES = [
    ("Tag", "Tags", "Tage", "Tagen"),
    ("Weg", "Wegs", "Wege", "Wegen"),
    ("Haus", "Hauses", "Häuser", "Häusern"),
    ("Frau", "Frau", "Frauen", "Frauen"),
    ("Auto", "Autos", "Autos", "Autos"),
]
CELLS = ("N;NOM;SG", "N;GEN;SG", "N;NOM;PL", "N;DAT;PL")


def lexeme(key: str, forms: Sequence[str | None], lemma: str | None = None) -> Lexeme:
    cells = {c: (f,) if f else () for c, f in zip(CELLS, forms, strict=True)}
    return Lexeme(key, lemma, {**cells, "N;ACC;PL": ()})


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return Evidence.from_lexemes([lexeme(str(n), forms) for n, forms in enumerate(TABLES)])


@pytest.fixture(scope="module")
def language(evidence: Evidence) -> Language:
    return language_of(evidence)


def language_of(evidence: Evidence) -> Language:
    return Language.of(evidence, Weights.shipped(), form_acceptor(evidence))


def graph_of(
    forms: Mapping[str, tuple[str, ...]], holes: Sequence[str], language: Language
) -> FactorGraph:
    return completion_graph(forms, holes, language).graph


def log_scores(graph: FactorGraph, universes: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Return the graph's score of every assignment of candidates, one axis per free variable."""
    scores = []
    for values in itertools.product(*universes.values()):
        texts = {**dict(zip(universes, values, strict=True)), **graph.evidence}
        assignment = {variable: texts[variable.name] for variable in graph.variables}
        scores.append(sum(factor.log_score(assignment) for factor in graph.factors))
    return np.array(scores).reshape([len(strings) for strings in universes.values()])


def test_beliefs_equal_enumeration_of_the_candidates(language: Language) -> None:
    forms = {"N;NOM;SG": ("Maus",), "N;DAT;PL": ("Mäusern", "Mäusen")}
    holes = ["N;GEN;SG", "N;NOM;PL", "N;ACC;PL"]
    graph = graph_of(forms, holes, language)
    assert graph.evidence == {"N;NOM;SG": "Maus", "N;DAT;PL": "Mäusern"}
    beliefs = infer(graph, KBest(k=1000), queries=holes).beliefs
    for hole in holes:
        found = dict(beliefs[hole].kbest(1000))
        own = [f for f in graph.factors if hole in {v.name for v in f.variables}]
        named = {v.name for f in own for v in f.variables}
        alone = FactorGraph(tuple(own), {k: v for k, v in graph.evidence.items() if k in named})
        score_n = log_scores(alone, {hole: tuple(found)})
        expected = np.exp(score_n - np.logaddexp.reduce(score_n))
        np.testing.assert_allclose(list(found.values()), expected, atol=1e-9)
    assert len(beliefs["N;NOM;PL"].kbest(1000)) > 1


def test_the_lexeme_is_read_right(language: Language) -> None:
    forms = {"N;NOM;SG": ("Steg",), "N;NOM;PL": ("Stege",)}
    beliefs = infer(graph_of(forms, ["N;GEN;SG", "N;DAT;PL"], language), KBest()).beliefs
    assert beliefs["N;DAT;PL"].kbest(1)[0][0] == "Stegen"
    assert beliefs["N;GEN;SG"].kbest(1)[0][0] == "Stegs"


def test_nothing_given_draws_from_an_acceptor(language: Language) -> None:
    holes = [*CELLS, "N;ACC;PL"]
    graph = graph_of({}, holes, language)
    assert not graph.evidence
    assert graph.is_forest
    (drawn,) = (
        factor.variables[0].name
        for factor in graph.factors
        if isinstance(factor, AcceptorFactor) and factor.potential is language.forms
    )
    assert drawn in CELLS, "one that lexemes show"
    assert {variable.name for variable in graph.variables} == set(holes)
    beliefs = infer(graph, KBest(), queries=holes).beliefs
    assert all(beliefs[hole].kbest(1) for hole in holes)


def test_nothing_given_sums_over_what_is_drawn(language: Language) -> None:
    prior = Acceptor(
        table_acceptor(
            [language.evidence.alphabet.labels(form) for form in ("Tag", "Haus", "Ast")],
            np.log([0.5, 0.3, 0.2]),
        ),
        language.evidence.alphabet,
    )
    language = Language.of(language.evidence, language.weights, prior)
    silent = replace(language, opinion=Opinion.tempered(form_acceptor(language.evidence), 0, 0))
    graph = graph_of({}, ["N;NOM;SG", "N;NOM;PL"], silent)
    beliefs = infer(graph, KBest(k=1000)).beliefs
    (drawn,) = (factor.source.name for factor in graph.factors if isinstance(factor, RewriteFactor))
    (other,) = {"N;NOM;SG", "N;NOM;PL"} - {drawn}
    assert dict(beliefs[drawn].kbest(9)) == pytest.approx({"Tag": 0.5, "Haus": 0.3, "Ast": 0.2})
    found = dict(beliefs[other].kbest(1000))
    table = log_scores(graph, {drawn: ("Tag", "Haus", "Ast"), other: tuple(found)})
    score_n = np.logaddexp.reduce(table, axis=0)
    expected = np.exp(score_n - np.logaddexp.reduce(score_n))
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-9)


def test_one_hole_and_nothing_given(language: Language) -> None:
    graph = graph_of({}, ["N;ACC;PL"], language)
    assert infer(graph, KBest()).beliefs["N;ACC;PL"].kbest(3)


def test_an_unseen_cell_borrows() -> None:
    cells = ("N;NOM;SG", "N;NOM;PL", "N;INS;SG", "N;INS;PL")
    tables = [("kala", "kalat", "kalal", None), ("talo", "talot", "talol", None)]
    known = Evidence.from_lexemes(
        [
            Lexeme(str(n), None, {c: (f,) if f else () for c, f in zip(cells, forms, strict=True)})
            for n, forms in enumerate(tables)
        ]
    )
    given = {"N;INS;SG": ("koiral",), "N;NOM;SG": ("koira",)}
    graph = graph_of(given, ["N;INS;PL"], language_of(known))
    belief = infer(graph, KBest()).beliefs["N;INS;PL"]
    assert belief.kbest(1)[0][0] in {"koiralt", "koirat"}, "SG and PL differ by -t"
    assert {"koiralt", "koira"} & {form for form, _ in belief.kbest(10)}


def test_an_unseen_cell_without_relatives_is_copied(language: Language) -> None:
    forms = {"N;NOM;SG": ("Steg",), "N;NOM;PL": ("Stege",)}
    graph = graph_of(forms, ["N;ACC;PL"], language)
    assert infer(graph, KBest()).beliefs["N;ACC;PL"].kbest(1)[0][0] == "Stege", "the cell most like"


def test_weights_decide_who_is_heard(evidence: Evidence) -> None:
    silent = Language.of(evidence, Weights(np.zeros(len(FEATURES))), form_acceptor(evidence))
    graph = graph_of({"N;NOM;SG": ("Steg",)}, ["N;NOM;PL"], silent)
    probabilities = [p for _, p in infer(graph, KBest()).beliefs["N;NOM;PL"].kbest(100)]
    np.testing.assert_allclose(probabilities, 1 / len(probabilities))


def test_novelty_is_said_of_every_hole_with_a_source(language: Language) -> None:
    for forms in ({}, {"N;NOM;SG": ("Steg",)}):
        holes = ["N;NOM;PL", "N;DAT;PL", "N;ACC;PL"]
        graph = completion_graph(forms, holes, language)
        assert (graph.drawn in holes) is not bool(forms)
        assert set(graph.log_novelty) == set(holes) - {graph.drawn}, "every string is drawn"
        assert all(math.isfinite(weight) for weight in graph.log_novelty.values())


def test_the_lemma_is_evidence() -> None:
    lexemes = [lexeme(str(n), forms, forms[0]) for n, forms in enumerate(TABLES)]
    known = Evidence.from_lexemes(lexemes)
    forms = forms_of(lexeme("Steg", [None] * 4, "Steg"))
    graph = graph_of(forms, list(CELLS), language_of(known))
    assert graph.evidence == {LEMMA: "Steg"}
    beliefs = infer(graph, KBest()).beliefs
    best = [beliefs[cell].kbest(1)[0][0] for cell in CELLS]
    assert best == ["Steg", "Stegs", "Stege", "Stegen"]


# Stems

STEMS = (Guess("tol", 0.6), Guess("to", 0.3), Guess("tolv", 0.1))


@pytest.fixture(scope="module")
def stem_language() -> Language:
    """One form for each lexeme, but for one with two."""
    shown = [("A", "kata"), ("B", "molim"), ("C", "sirok"), ("B", "pelim"), ("C", "darok")]
    tables = [{cell: (form,)} for cell, form in shown]
    tables.append({"A": ("nuda",), "D": ("nudesh",)})
    stems = ["kat", "mol", "sir", "pel", "dar", "nud"]
    evidence = Evidence.from_lexemes(
        [Lexeme(stem, None, table) for stem, table in zip(stems, tables, strict=True)]
    )
    return language_of(evidence.guessing([{STEM: (Guess(stem, 1.0),)} for stem in stems]))


def test_a_guessed_stem_is_summed_over(stem_language: Language) -> None:
    found = completion_graph({"A": ("tola",)}, ["B"], stem_language, STEMS).graph
    assert found.evidence == {"A": "tola"}
    (stem,) = {variable.name for variable in found.variables} - {"A", "B"}
    belief = dict(infer(found, KBest(k=1000), queries=["B"]).beliefs["B"].kbest(1000))
    table = log_scores(found, {stem: [guess.form for guess in STEMS], "B": tuple(belief)})
    score_n = np.logaddexp.reduce(table, axis=0)
    expected = np.exp(score_n - np.logaddexp.reduce(score_n))
    np.testing.assert_allclose(list(belief.values()), expected, atol=1e-9)
    assert max(belief, key=belief.__getitem__) == "tolim"
    assert "toim" in belief


def test_guesses_about_a_stem_count_by_their_weights(stem_language: Language) -> None:
    for stems in (STEMS, [Guess(guess.form, 0.5 * guess.weight) for guess in STEMS]):
        graph = completion_graph({"A": ("tola",)}, ["B"], stem_language, stems).graph
        (prior,) = (
            factor
            for factor in graph.factors
            if isinstance(factor, AcceptorFactor) and factor.variables[0].name not in {"A", "B"}
        )
        (variable,) = prior.variables
        for guess in STEMS:
            assert prior.log_score({variable: guess.form}) == pytest.approx(math.log(guess.weight))


def test_each_hole_has_a_stem_of_its_own(stem_language: Language) -> None:
    holes = ["B", "C"]
    graph = completion_graph({"A": ("tola",)}, holes, stem_language, STEMS).graph
    assert graph.is_forest
    assert len(graph.variables) == 5
    together = infer(graph, KBest(), queries=holes).beliefs
    for hole, form in (("B", "tolim"), ("C", "tolok")):
        alone = completion_graph({"A": ("tola",)}, [hole], stem_language, STEMS).graph
        expected = infer(alone, KBest(), queries=[hole]).beliefs[hole].kbest(5)
        assert together[hole].kbest(5) == expected
        assert expected[0][0] == form


def test_stems_are_for_holes_that_no_given_cell_explains(stem_language: Language) -> None:
    """Cell D has been seen with A: there is a change to learn from."""
    with_stems, without = (
        completion_graph({"A": ("tola",)}, ["D"], stem_language, stems) for stems in (STEMS, ())
    )
    assert {variable.name for variable in with_stems.graph.variables} == {"A", "D"}
    assert with_stems.log_novelty == without.log_novelty
    assert infer(with_stems.graph, KBest()).beliefs["D"].kbest(1)[0][0] == "tolesh"
