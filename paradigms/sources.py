"""Which given cells speak about a hole, and how well each can be trusted.

Few sources are better than all: the given cells are ranked by how regularly they predict the hole,
and the lemma always comes along. A hole that no lexeme shows, or hardly any, borrows from pairs of
cells whose features differ in the same way; and any hole may be a copy of the cell that predicts it
best, or is most like it.

Public names: `Source`, `sources_of_holes`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fsbp.arrays import FloatArray
from fsbp.rewrite_model import RewriteModel
from paradigms.evidence import LEMMA, STEM, Evidence
from paradigms.language import Language
from paradigms.pair_models import MAX_EXAMPLES, PairModels
from paradigms.predictability import discounted_share

MAX_SOURCES = 3
SIMILARITY_WEIGHT = 0.3
FEW_EXAMPLES = 1
SHARE = "direct: share of the commonest change"


@dataclass(frozen=True, eq=False)
class Source:
    """A given cell with a model of the hole's form given its form.

    Args:
        cell: The given cell.
        model: Of the hole given this cell.
        feature_of: What the exponent depends on; see `paradigms.weights.SOURCE_FEATURES`.
    """

    cell: str
    model: RewriteModel
    feature_of: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class _Ranking:
    """How the given cells, the lemma aside, relate to the holes.

    Args:
        cells: G given cells, without the lemma.
        share_gh: float64[G, H], share of the commonest change.
        count_gh: int32[G, H], lexemes with both cells.
        similarity_gh: float64[G, H], Jaccard similarity of the features.
    """

    cells: Sequence[str]
    share_gh: FloatArray
    count_gh: FloatArray
    similarity_gh: FloatArray

    def most_regular(self, hole: int) -> list[int]:
        """Return the positions of the most regular sources of a hole, at most `MAX_SOURCES`."""
        count_g = self.count_gh[:, hole]
        regular_g = discounted_share(self.share_gh[:, hole], count_g)
        score_g = regular_g + SIMILARITY_WEIGHT * self.similarity_gh[:, hole]
        order = np.argsort(-score_g, kind="stable").tolist()
        return [g for g in order if count_g[g] > 0][:MAX_SOURCES]

    def nearest(self, hole: int) -> list[int]:
        """Return the positions of the cells most like a hole, at most `MAX_SOURCES`."""
        order: list[int] = np.argsort(-self.similarity_gh[:, hole], kind="stable").tolist()
        return order[:MAX_SOURCES]


def sources_of_holes(
    given: Mapping[str, str], holes: Sequence[str], language: Language
) -> list[list[Source]]:
    """Return the sources of each hole; at least one where any cell is given.

    Args:
        given: Form by cell, the lemma among them if it is one, and the stem if it is guessed.
        holes: Cells to infer.
        language: That knows all these cells.

    Cost: O(given x holes), and the models asked for.
    """
    evidence, models = language.evidence, language.models
    cells = sorted(set(given) - {LEMMA, STEM}, key=evidence.position_of.__getitem__)
    ranking = _ranking(cells, holes, evidence)
    lemma = [cell for cell in given if cell == LEMMA]
    stem = [cell for cell in given if cell == STEM]
    return [
        _featured(_sources(hole, number, ranking, lemma, stem, evidence, models), given)
        for number, hole in enumerate(holes)
    ]


def _featured(sources: list[Source], given: Mapping[str, str]) -> list[Source]:
    """Return the sources with the features that depend on the other sources of the hole."""
    direct = [source for source in sources if "direct" in source.feature_of]
    repeats = Counter(given[source.cell] for source in direct)
    best = max((source.feature_of[SHARE] for source in direct), default=0.0)
    return [
        replace(
            source,
            feature_of={
                **source.feature_of,
                "direct: one over sources": 1.0 / len(direct),
                "direct: repeats another source": 1.0 - 1.0 / repeats[given[source.cell]],
                "direct: share short of the best": best - source.feature_of[SHARE],
            },
        )
        if "direct" in source.feature_of
        else source
        for source in sources
    ]


def _ranking(cells: Sequence[str], holes: Sequence[str], evidence: Evidence) -> _Ranking:
    position_of = evidence.position_of
    at_g = np.array([position_of[cell] for cell in cells], dtype=np.intp)
    at_h = np.array([position_of[hole] for hole in holes], dtype=np.intp)
    share_gh = np.zeros((len(cells), len(holes)))
    count_gh = np.zeros((len(cells), len(holes)))
    for g, cell in enumerate(cells):
        share_c, count_c = evidence.reliability(cell)
        share_gh[g], count_gh[g] = share_c[at_h], count_c[at_h]
    return _Ranking(cells, share_gh, count_gh, evidence.similarity_cc[np.ix_(at_g, at_h)])


def _sources(
    hole: str,
    number: int,
    ranking: _Ranking,
    lemma: Sequence[str],
    stem: Sequence[str],
    evidence: Evidence,
    models: PairModels,
) -> list[Source]:
    regular = [ranking.cells[g] for g in ranking.most_regular(number)]
    nearest = [ranking.cells[g] for g in ranking.nearest(number)]
    sources = _direct([*regular, *lemma], hole, evidence, models)
    if not sources:
        sources = _direct(stem, hole, evidence, models)
    if all(source.model.total_weight <= FEW_EXAMPLES for source in sources):
        sources += _borrowed([*nearest, *lemma][:MAX_SOURCES], hole, evidence, models)
    copied = [*regular, *nearest, *lemma][:1]
    return sources + [Source(cell, models.copying, {"copying": 1.0}) for cell in copied]


def _direct(
    cells: Sequence[str], hole: str, evidence: Evidence, models: PairModels
) -> list[Source]:
    known = [(cell, model) for cell in cells if (model := models.direct(cell, hole))]
    at = evidence.position_of[hole]
    return [
        Source(
            cell,
            model,
            {
                "direct": 1.0,
                "direct: is the lemma": float(cell == LEMMA),
                SHARE: float(evidence.reliability(cell)[0][at]),
                "direct: similarity of features": _similarity(cell, hole, evidence),
                "direct: log of examples": math.log1p(model.total_weight),
                "direct: guessed examples": _share_guessed(cell, hole, model, evidence),
            },
        )
        for cell, model in known
    ]


def _borrowed(
    cells: Sequence[str], hole: str, evidence: Evidence, models: PairModels
) -> list[Source]:
    return [
        Source(
            cell,
            model,
            {
                "borrowed": 1.0,
                "borrowed: similarity of features": _similarity(cell, hole, evidence),
            },
        )
        for cell in cells
        if (model := models.borrowed(cell, hole))
    ]


def _share_guessed(cell: str, hole: str, model: RewriteModel, evidence: Evidence) -> float:
    """Return the share of a direct model's examples whose source is only guessed."""
    both = min(len(evidence.lexemes_with[cell] & evidence.lexemes_with[hole]), MAX_EXAMPLES)
    return max(0.0, 1.0 - both / model.total_weight)


def _similarity(first: str, second: str, evidence: Evidence) -> float:
    position_of = evidence.position_of
    return float(evidence.similarity_cc[position_of[first], position_of[second]])
