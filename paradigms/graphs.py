"""The factor graph of one lexeme: given cells are evidence, holes are variables to infer.

Public names: `LexemeGraph`, `completion_graph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.graph import FactorGraph
from fsbp.variables import StringTable, Variable
from paradigms.evidence import LEMMA, STEM, Guess
from paradigms.language import Language
from paradigms.sources import Source, sources_of_holes
from paradigms.weights import novelty_features


@dataclass(frozen=True, eq=False)
class LexemeGraph:
    """The graph of a lexeme, and how much weight forms have that no source proposes.

    Args:
        graph: Given cells observed, holes free.
        log_novelty: By hole with a source, the log of the total weight of all strings not listed at
            it (nats).
        drawn: Where nothing is given, the hole without a source, which all others are drawn from.
    """

    graph: FactorGraph
    log_novelty: Mapping[str, float]
    drawn: str | None = None


def completion_graph(
    forms: Mapping[str, tuple[str, ...]],
    holes: Sequence[str],
    language: Language,
    stems: Sequence[Guess] = (),
) -> LexemeGraph:
    """Return the graph of a lexeme, with its given forms observed.

    A factor joins each hole to each of its sources, and an n-gram acceptor has an opinion on its
    form. Edits that count nothing are left out, being dear. Where nothing is given, the best known
    hole is drawn from the acceptor, and the others from it by one factor each: parallel factors
    between two unknown forms would be a loop, slow and inexact.

    Args:
        forms: Given forms by cell, the lemma among them if it is one; of several alternatives the
            first is the evidence.
        holes: At least one cell to infer.
        language: That knows all these cells.
        stems: Guesses about the stem, for holes that no given cell has ever been seen with. Each
            such hole has a stem of its own, so that holes stay independent.
    """
    weights = language.weights
    variable_of = {cell: Variable(cell, language.evidence.alphabet) for cell in (*forms, *holes)}
    factors: list[Factor] = []
    given = {cell: alternatives[0] for cell, alternatives in forms.items()}
    if stems:
        given[STEM] = stems[0].form
    sources_of = _sources_of(given, holes, language)
    log_novelty: dict[str, float] = {}
    learned_from = language.evidence.learned_from(given)
    for hole in holes:
        sources = sources_of[hole]
        unary = language.opinion if sources else language.forms
        factors.append(AcceptorFactor(variable_of[hole], unary))
        if any(source.cell == STEM for source in sources):
            variable_of[STEM] = Variable(f"{STEM} of {hole}", language.evidence.alphabet)
            factors.append(AcceptorFactor(variable_of[STEM], _table(stems)))
        factors += [
            source.factor(variable_of[source.cell], variable_of[hole], exponent)
            for source in sources
            if (exponent := weights.log_linear(source.feature_of))
            or "edits" not in source.feature_of
        ]
        if sources:
            features = [source.feature_of for source in sources]
            novelty = novelty_features(
                features, learned_from, LEMMA in given, hole in language.evidence.shown_alone
            )
            log_novelty[hole] = weights.log_linear(novelty)
    used = {variable.name for factor in factors for variable in factor.variables}
    observed = {cell: given[cell] for cell in forms if cell in used}
    drawn = None if given else next(hole for hole in holes if not sources_of[hole])
    return LexemeGraph(FactorGraph(tuple(factors), observed), log_novelty, drawn)


def _table(guesses: Sequence[Guess]) -> StringTable:
    weight_n = np.array([guess.weight for guess in guesses])
    return StringTable(tuple(guess.form for guess in guesses), np.log(weight_n / weight_n.sum()))


def _sources_of(
    given: Mapping[str, str], holes: Sequence[str], language: Language
) -> dict[str, list[Source]]:
    """Return the sources of each hole.

    Where nothing is given, the hole that most lexemes show has no source and is the one source of
    all others, so that the graph is a tree.
    """
    if given:
        return dict(zip(holes, sources_of_holes(given, holes, language), strict=True))
    lexemes_with = language.evidence.lexemes_with
    root = max(holes, key=lambda cell: (len(lexemes_with[cell]), cell))
    others = [hole for hole in holes if hole != root]
    sources_h = sources_of_holes({root: ""}, others, language)
    one_each = {hole: sources[:1] for hole, sources in zip(others, sources_h, strict=True)}
    return {root: [], **one_each}
