"""One lexeme to look at, with the factor graph it gets and what comes out for its holes.

Public names: `Inspected`, `UnknownLexemeError`, `inspected_in_table`, `inspected_in_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.contextual_edit import ContextualEditFactor
from fsbp.factors.evidence import EvidenceFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.opinions import Opinion
from paradigms.completer import Completer
from paradigms.edits import edit_model
from paradigms.evidence import LEMMA, forms_of
from paradigms.forms import form_acceptor
from paradigms.graphs import completion_graph
from paradigms.lexemes import Candidate, Lexeme
from paradigms.model import ParadigmModel

Item = TypeVar("Item")


class UnknownLexemeError(ValueError):
    """No lexeme has the name asked for."""


@dataclass(frozen=True, eq=False)
class Inspected:
    """A lexeme, its graph, and the candidates for its holes.

    Args:
        lexeme: With at least one hole.
        origin: Where it comes from and what was hidden, for a title.
        completer: That completes it.
        candidates_of: By hole, best first.
    """

    lexeme: Lexeme
    origin: str
    completer: Completer
    candidates_of: Mapping[str, Sequence[Candidate]]

    def graph(self, holes: Sequence[str]) -> FactorGraph:
        """The graph of some of the holes, before they agree."""
        forms = forms_of(self.lexeme)
        if self.completer.lemma_only:
            forms = {cell: forms[cell] for cell in forms if cell == LEMMA}
        return completion_graph(forms, holes, self.completer.language).graph

    def kind(self, factor: Factor) -> str:
        """What a factor of the graph is: direct, borrowed, copying, edits, n-gram, or its class."""
        if isinstance(factor, AcceptorFactor):
            return "n-gram"
        if isinstance(factor, ContextualEditFactor):
            return "edits"
        if not isinstance(factor, RewriteFactor):
            return type(factor).__name__.removesuffix("Factor").lower()
        models = self.completer.language.models
        if factor.model is models.copying:
            return "copying"
        direct = models.direct(factor.source.name, factor.target.name)
        return "direct" if factor.model is direct else "borrowed"

    def exponent(self, factor: Factor) -> float | None:
        """How much a factor of the graph counts; None where that is no single number."""
        if isinstance(factor, EvidenceFactor):
            return factor.exponent
        if isinstance(factor, AcceptorFactor) and isinstance(factor.potential, Opinion):
            return self.completer.weights["form: log-probability"]
        return None


def inspected_in_table(
    model: ParadigmModel,
    lexemes: Sequence[Lexeme],
    name: str | None,
    progress: Callable[[int], None] | None = None,
) -> Inspected:
    """A lexeme of a table that joins what the model learned, unless the model does not adapt.

    Args:
        model: Fitted.
        lexemes: Those of the table.
        name: Key of the lexeme; None for the first with a hole, or else the first. One without a
            hole has every second cell hidden.
        progress: As for `ParadigmModel.completer`.

    Raises:
        UnknownLexemeError: No lexeme has this key, or there is none, or the lexeme has no cell.
    """
    if not lexemes:
        raise UnknownLexemeError("the table has no lexeme")
    if name is None:
        found = next((lexeme for lexeme in lexemes if lexeme.holes), lexemes[0])
    else:
        found = _named(name, {lexeme.key: lexeme for lexeme in lexemes})
    lexeme, hidden = _with_holes(found)
    shown = [lexeme if other is found else other for other in lexemes]
    completer = model.completer(shown, progress=progress)
    origin = "a lexeme of the table" + hidden
    return Inspected(lexeme, origin, completer, completer.candidates(lexeme))


def inspected_in_model(model: ParadigmModel, name: str | None) -> Inspected:
    """A lexeme that the model learned from, every second cell hidden, as if it were new.

    What the model knows of it is left out, so that its forms are not their own examples.

    Args:
        model: Fitted.
        name: The lemma of the lexeme, or one of its forms; None for the first of those with the
            most cells.

    Raises:
        UnknownLexemeError: No lexeme has this form.
    """
    evidence = model.evidence
    if name is None:
        number = max(range(len(evidence.lexemes)), key=lambda n: (len(evidence.lexemes[n]), -n))
    else:
        numbers: dict[str, int] = {}
        for n, forms in enumerate(evidence.lexemes):
            for form in (form for alternatives in forms.values() for form in alternatives):
                numbers.setdefault(form, n)
        lemmas = {forms[LEMMA][0]: n for n, forms in enumerate(evidence.lexemes) if LEMMA in forms}
        number = _named(name, numbers | lemmas)
    found = _lexeme(evidence.lexemes[number])
    lexeme, hidden = _with_holes(found)
    if len(evidence.lexemes) > 1:
        lexemes, guesses = list(evidence.lexemes), list(evidence.guesses)
        del lexemes[number], guesses[number : number + 1]
        evidence = replace(evidence, lexemes=tuple(lexemes), guesses=tuple(guesses))
    forms = form_acceptor(evidence)
    completer = Completer(
        evidence,
        model.weights,
        forms,
        model.sources == "lemma",
        model.messages,
        edit_model(evidence),
        model.agreement,
    )
    origin = "a lexeme of the model, as if it were new" + hidden
    return Inspected(lexeme, origin, completer, completer.candidates(lexeme))


def _named(name: str, found_by: Mapping[str, Item]) -> Item:
    if name not in found_by:
        raise UnknownLexemeError(f"no lexeme is called {name}")
    return found_by[name]


def _lexeme(forms: Mapping[str, tuple[str, ...]]) -> Lexeme:
    """A lexeme as the evidence holds it, called by its lemma or its first form."""
    cells = {cell: forms[cell] for cell in sorted(forms) if cell != LEMMA}
    lemma = forms[LEMMA][0] if LEMMA in forms else None
    return Lexeme(lemma or next(iter(cells.values()))[0], lemma, cells)


def _with_holes(lexeme: Lexeme) -> tuple[Lexeme, str]:
    """The lexeme, and nothing; without a hole, every second cell hidden, and that said."""
    if lexeme.holes:
        return lexeme, ""
    if not lexeme.cells:
        raise UnknownLexemeError(f"the lexeme {lexeme.key} has no cell besides the lemma")
    hidden = list(lexeme.cells)[::-2]
    cells = {cell: () if cell in hidden else forms for cell, forms in lexeme.cells.items()}
    return Lexeme(lexeme.key, lexeme.lemma, cells), ", with every second cell hidden"
