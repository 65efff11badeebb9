"""The three ways to approximate messages about holes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.rewrite_model import Example, RewriteModel
from fsbp.variables import Variable
from paradigms.completer import Completer
from paradigms.evidence import Evidence, forms_of
from paradigms.forms import form_acceptor
from paradigms.graphs import LexemeGraph, completion_graph
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.messages import KBEST, MessageUse, hole_beliefs
from paradigms.model import ParadigmModel
from paradigms.weights import Weights
from tests.paradigms.nouns import HOLES, NOUNS, noun

ALL: tuple[MessageUse, ...] = ("kbest", "ngram", "exact")


@pytest.fixture(scope="module")
def language() -> Language:
    evidence = Evidence.from_lexemes([*NOUNS, *HOLES])
    return Language.of(evidence, Weights.shipped(), form_acceptor(evidence))


def graph_of(language: Language, lexeme: Lexeme) -> LexemeGraph:
    return completion_graph(forms_of(lexeme), lexeme.holes, language)


def test_exact_lists_hold_all_that_kbest_lists_hold(language: Language) -> None:
    for lexeme in filter(forms_of, HOLES):
        graph = graph_of(language, lexeme)
        pruned, full = (hole_beliefs(graph, lexeme.holes, use) for use in ("kbest", "exact"))
        for hole in lexeme.holes:
            few, many = pruned[hole].potential, full[hole].potential
            assert set(few.strings) <= set(many.strings)
            assert many.log_total() >= few.log_total() - 1e-9
            assert pruned[hole].kbest(1)[0][0] == full[hole].kbest(1)[0][0]


def test_ngram_candidates_are_weighed_by_every_factor(language: Language) -> None:
    for lexeme in filter(forms_of, HOLES):
        graph = graph_of(language, lexeme)
        beliefs = hole_beliefs(graph, lexeme.holes, "ngram")
        for hole in lexeme.holes:
            table = beliefs[hole].potential
            assert 1 <= len(table.strings) <= KBEST.k
            for text, log_weight in table.weight_of.items():
                assignment = {v: graph.graph.evidence.get(v.name, text) for v in variables(graph)}
                scores = [f.log_score(assignment) for f in factors_at(graph, hole)]
                assert log_weight == pytest.approx(sum(scores), abs=1e-9)


def variables(graph: LexemeGraph):
    return graph.graph.variables


def factors_at(graph: LexemeGraph, hole: str):
    return [graph.graph.factors[f] for f in graph.graph.neighbours(hole)]


def test_ngrams_agree_with_lists_on_most_holes() -> None:
    lists, ngrams = (ParadigmModel(messages=use).fit(NOUNS) for use in ("kbest", "ngram"))
    pairs = [
        (one[cell][0].form, other[cell][0].form)
        for one, other in zip(
            lists.complete_lexemes(HOLES), ngrams.complete_lexemes(HOLES), strict=True
        )
        for cell in one
    ]
    assert sum(one == other for one, other in pairs) >= 0.8 * len(pairs)


@pytest.mark.parametrize("messages", ALL)
def test_a_lexeme_without_any_given_form_is_completed(
    language: Language, messages: MessageUse
) -> None:
    lexeme = noun(("", "", "", ""), None)
    completer = Completer(language.evidence, language.weights, language.forms, messages=messages)
    found = completer.candidates(lexeme)
    assert list(found) == lexeme.holes
    assert all(candidates[0].probability > 0 for candidates in found.values())


def test_ngrams_need_a_source_that_lists_something(language: Language) -> None:
    """Where rules lead nowhere the n-gram belief has no sum, and the hole is left to others."""
    source, hole = (Variable(name, language.evidence.alphabet) for name in ("given", "hole"))
    silent = RewriteModel.from_examples([Example("aa", "bb")], language.evidence.costs)
    assert not silent.distribution("xyz")
    factors = (RewriteFactor(source, hole, silent), AcceptorFactor(hole, language.opinion))
    graph = LexemeGraph(FactorGraph(factors, {"given": "xyz"}), {"hole": 0.0})
    assert hole_beliefs(graph, ["hole"], "ngram")["hole"].kbest(1) == []


@pytest.mark.parametrize("messages", ALL)
def test_the_command_line_fills_every_hole(run: Callable[..., Result], messages: str) -> None:
    rows = ["lemma,SG,PL", "Tag,Tag,Tage", "Weg,Weg,Wege", "Steg,Steg,"]
    Path("t.csv").write_text("\n".join(rows) + "\n")
    result = run("complete", "t.csv", "-o", "out.csv", "--messages", messages)
    assert (result.exit_code, result.output) == (0, "")
    assert Path("out.csv").read_text().splitlines()[-1] == "Steg,Steg,Stege"


def test_unknown_settings_are_refused(run: Callable[..., Result]) -> None:
    with pytest.raises(ValueError, match="messages='all': expected one of kbest, ngram, exact"):
        ParadigmModel(messages="all")  # type: ignore[arg-type]
    Path("t.csv").write_text("lemma,SG\nTag,Tag\n")
    assert run("complete", "t.csv", "-o", "o.csv", "--messages", "all").exit_code == 2


def test_ngrams_do_not_propose_what_a_source_speaks_against() -> None:
    """A copy with a negative exponent still leaves the copied form a candidate, as in lists."""
    table = [
        Lexeme("oma", "oma", {"A": ("omab",), "B": ()}),
        Lexeme("x", "x", {"A": ("ab",), "B": ()}),
    ]
    best = {}
    for messages in ("kbest", "ngram"):
        model = ParadigmModel(lemma="id", messages=messages).fit(table)
        best[messages] = model.complete_lexemes(table)[1]["B"][0].form
    assert best["ngram"] == best["kbest"]
