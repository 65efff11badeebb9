"""The factor graph of one lexeme: given cells are evidence, holes are variables to infer.

Public names: `completion_graph`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.base import Factor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.variables import StringPotential, Variable
from paradigms.evidence import Evidence
from paradigms.pair_models import PairModels
from paradigms.sources import sources_of_holes
from paradigms.weights import Weights


def completion_graph(
    forms: Mapping[str, tuple[str, ...]],
    holes: Sequence[str],
    evidence: Evidence,
    models: PairModels,
    weights: Weights,
    unary: StringPotential,
    excluded: int = -1,
) -> FactorGraph:
    """Return the graph of a lexeme, with its given forms observed.

    A rewrite factor joins each hole to each of its sources. Where nothing is given, the best known
    hole is drawn from a unary acceptor, and the others from it.

    Args:
        forms: Given forms by cell, the lemma among them if it is one; of several alternatives the
            first is the evidence.
        holes: At least one cell to infer.
        evidence: That knows all these cells.
        models: Of the same evidence.
        weights: Of the sources.
        unary: What forms of this language look like.
        excluded: The lexeme's own position in the evidence, to leave its examples out; or -1.
    """
    variable_of = {cell: Variable(cell, evidence.alphabet) for cell in (*forms, *holes)}
    factors: list[Factor] = []
    open_holes = list(holes)
    given = list(forms)
    if not given:
        given = [max(holes, key=lambda cell: (len(evidence.lexemes_with[cell]), cell))]
        open_holes.remove(given[0])
        factors.append(AcceptorFactor(variable_of[given[0]], unary))
    for hole, sources in zip(
        open_holes, sources_of_holes(given, open_holes, evidence, models), strict=True
    ):
        factors += [
            RewriteFactor(
                variable_of[source.cell],
                variable_of[hole],
                source.model,
                weights.exponent(source.feature_of),
                excluded,
            )
            for source in sources
        ]
    used = {variable.name for factor in factors for variable in factor.variables}
    return FactorGraph(tuple(factors), {cell: forms[cell][0] for cell in forms if cell in used})
