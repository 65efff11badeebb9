"""How the messages about unknown forms are approximated.

Public names: `MessageUse`, `hole_beliefs`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from fsbp.factors.acceptor import AcceptorFactor
from fsbp.factors.evidence import MAX_STRINGS
from fsbp.factors.rewrite import RewriteFactor
from fsbp.graph import FactorGraph
from fsbp.inference.beliefs import Belief
from fsbp.inference.propagation import Status, infer
from fsbp.messages.kbest import KBest
from fsbp.messages.ngram import Ngram
from fsbp.variables import StringPotential, StringTable
from paradigms.graphs import LexemeGraph

MessageUse = Literal["kbest", "ngram", "exact"]

KBEST = KBest()
EXACT = KBest(k=MAX_STRINGS)
LISTED = KBest(k=KBEST.k, backoff=math.inf)
NGRAM = Ngram(order="adaptive")
NGRAM_TOLERANCE = 1e-2
NGRAM_SWEEPS = 2


def hole_beliefs(
    lexeme_graph: LexemeGraph, holes: Sequence[str], messages: MessageUse
) -> Mapping[str, Belief]:
    """Return the beliefs about some holes of a lexeme.

    kbest: every source sends its best forms. exact: every source sends all the forms it proposes.
    ngram: every source sends an n-gram model, by expectation propagation; the best strings of the
    n-gram beliefs are the candidates, which all factors then weigh exactly; edits weigh them too,
    and propose none there.

    Args:
        lexeme_graph: With all the holes, and something given.
        holes: Names of free variables.
        messages: One of those above.
    """
    graph = lexeme_graph.graph
    if messages == "exact":
        return infer(graph, EXACT, queries=holes).beliefs
    if messages == "ngram":
        graph = FactorGraph((*graph.factors, *_candidates(graph, holes)), graph.evidence)
        return infer(graph, LISTED, queries=holes).beliefs
    return infer(graph, KBEST, queries=holes).beliefs


def _candidates(graph: FactorGraph, holes: Sequence[str]) -> list[AcceptorFactor]:
    """Return factors that allow each hole the best strings of its n-gram belief only.

    A hole about which no source lists anything has no such belief, and gets no factor; nor does
    one with a source that is only guessed. Opinions weigh what others propose, so they have nothing
    to say here, and no more have sources whose exponent speaks against what they list.
    """
    lists = []
    for hole in holes:
        neighbours = [graph.factors[f] for f in graph.neighbours(hole)]
        relations = tuple(
            factor
            for factor in neighbours
            if isinstance(factor, RewriteFactor) and factor.exponent > 0
        )
        if not relations:
            continue
        sources = {v.name for factor in relations for v in factor.variables} - {hole}
        if not sources <= graph.evidence.keys():
            continue
        found = infer(
            FactorGraph(relations, {name: graph.evidence[name] for name in sources}),
            NGRAM,
            max_updates=NGRAM_SWEEPS * len(relations),
            tolerance=NGRAM_TOLERANCE,
        )
        if found.status in (Status.CONVERGED, Status.MAX_STEPS):
            belief = found.beliefs[hole].potential
            assert isinstance(belief, StringPotential)
            strings = belief.k_best(KBEST.k).strings
            table = StringTable(strings, np.zeros(len(strings)))
            lists.append(AcceptorFactor(graph.variable(hole), table))
    return lists
