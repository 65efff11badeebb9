"""What the holes of one lexeme say to one another.

The given cells speak about each hole apart, so two holes may settle on forms that no lexeme has
side by side. Here each hole is a finite variable over the forms proposed for it, weighed by their
probabilities, and the same rewrite models that speak for given cells join it to the few other holes
that predict it most regularly. Max-product looks for forms that go together.

Public names: `agreed`, `agreement_graph`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fsbp.arrays import FloatArray, log_sum_exp
from fsbp.factors.rewrite import FLOOR
from fsbp.factors.table import TableFactor
from fsbp.graph import FactorGraph
from fsbp.inference.propagation import infer
from fsbp.rewrite_model import RewriteModel
from fsbp.variables import Variable
from paradigms.language import Language
from paradigms.lexemes import Candidate
from paradigms.sources import regular_neighbours

EXPONENT = 0.1
"""How much all neighbours of a hole count together, beside 1 for what the given cells say."""
TEMPERATURE = 1.3
"""Makes up for holes that repeat what they have from the same given cells."""
MIN_PROBABILITY = 0.03
"""A less likely form of a hole says nothing to others."""
MAX_SPEAKING = 5
"""Forms of a hole that speak to others, at most."""
SWEEPS = 4
TOLERANCE = 1e-2
"""Change of a message that counts as none (nats)."""
OTHER = ""
"""The value that stands for all forms not proposed."""
TINY = 1e-9
"""Probability at least given to every value."""

CandidatesOf = Mapping[str, Sequence[Candidate]]


def agreed(candidates_of: CandidatesOf, language: Language) -> dict[str, list[Candidate]]:
    """Return the candidates of each hole of a lexeme, weighed by how they go together.

    Probabilities are max-marginals, scaled to sum to one with what is left to other forms. So the
    first candidates of all holes together are the likeliest paradigm, as far as max-product, which
    takes `SWEEPS` rounds on a graph with loops, finds it. A hole to which no other speaks stays as
    it is.

    Args:
        candidates_of: Candidates of each hole as if it were the only one, best first.
        language: That knows all these cells.

    Cost: At most `MAX_SOURCES` x `MAX_SPEAKING` distributions per hole, and max-product.
    """
    holes = sorted(candidates_of, key=language.evidence.position_of.__getitem__)
    graph = agreement_graph({hole: candidates_of[hole] for hole in holes}, language)
    found = infer(graph, semiring="max", max_updates=SWEEPS * len(graph.edges), tolerance=TOLERANCE)
    return {
        hole: _reweighed(candidates, np.asarray(found.beliefs[hole].potential))
        if hole in found.beliefs
        else list(candidates)
        for hole, candidates in candidates_of.items()
    }


def agreement_graph(candidates_of: CandidatesOf, language: Language) -> FactorGraph:
    """Return the graph of those holes of a lexeme to which others speak, one finite variable each.

    A hole's values are its candidates and `OTHER`.

    Args:
        candidates_of: As for `agreed`.
        language: That knows all these cells.
    """
    variable_of = {
        hole: Variable(hole, (*(candidate.form for candidate in candidates), OTHER))
        for hole, candidates in candidates_of.items()
    }
    pairs = [
        TableFactor((variable_of[first], variable_of[second]), table)
        for (first, second), table in _pair_tables(candidates_of, language).items()
    ]
    joined = dict.fromkeys(variable.name for factor in pairs for variable in factor.variables)
    alone = [
        TableFactor((variable_of[hole],), _log_shares(candidates_of[hole]) / TEMPERATURE)
        for hole in joined
    ]
    return FactorGraph((*alone, *pairs))


def _pair_tables(
    candidates_of: CandidatesOf, language: Language
) -> dict[tuple[str, str], FloatArray]:
    """Return float64[values, values] for each pair of holes that speak to one another.

    Two holes that have but one likely form each have nothing to settle, and no table.
    """
    speaking_of = {hole: _speaking(candidates) for hole, candidates in candidates_of.items()}
    table_of: dict[tuple[str, str], FloatArray] = {}
    for hole, neighbours in regular_neighbours(list(candidates_of), language.evidence).items():
        for other in neighbours:
            if max(len(speaking_of[hole]), len(speaking_of[other])) < 2:
                continue
            model = language.models.direct(other, hole)
            assert model is not None
            table = _log_evidence(
                model, speaking_of[other], candidates_of[other], candidates_of[hole]
            )
            table *= EXPONENT / TEMPERATURE / len(neighbours)
            if (hole, other) in table_of:
                table_of[hole, other] += table.T
            else:
                table_of[other, hole] = table
    return table_of


def _speaking(candidates: Sequence[Candidate]) -> list[str]:
    """Return the forms that are likely enough to speak to other holes, best first."""
    return [c.form for c in candidates[:MAX_SPEAKING] if c.probability >= MIN_PROBABILITY]


def _log_shares(candidates: Sequence[Candidate]) -> FloatArray:
    """Return float64[candidates + 1], log-probabilities; the last is that of other forms."""
    share_c = np.array([candidate.probability for candidate in candidates])
    return np.log(np.maximum([*share_c, 1.0 - share_c.sum()], TINY))


def _log_evidence(
    model: RewriteModel,
    speaking: Sequence[str],
    sources: Sequence[Candidate],
    targets: Sequence[Candidate],
) -> FloatArray:
    """Return float64[sources + 1, targets + 1], log(1 + P(target | source) / floor).

    0 for `OTHER`, which comes last, and for sources that do not speak.

    Args:
        model: Of the target given the source.
        speaking: The forms of the first sources.
        sources: Candidates of one hole.
        targets: Candidates of the other hole.
    """
    evidence_st = np.zeros((len(sources) + 1, len(targets) + 1))
    for row, source in zip(evidence_st, speaking, strict=False):
        share_of = model.distribution(source)
        row[:-1] = [math.log1p(share_of.get(target.form, 0.0) / FLOOR) for target in targets]
    return evidence_st


def _reweighed(candidates: Sequence[Candidate], log_weight_v: FloatArray) -> list[Candidate]:
    """Return the candidates with the shares of their log-weights, best first.

    Args:
        candidates: C of them.
        log_weight_v: float64[C + 1], the last that of other forms (nats).
    """
    share_v = np.exp(log_weight_v - log_sum_exp(log_weight_v)).tolist()
    weighed = [Candidate(c.form, p) for c, p in zip(candidates, share_v[:-1], strict=True)]
    return sorted(weighed, key=lambda candidate: -candidate.probability)
