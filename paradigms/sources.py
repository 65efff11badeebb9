"""Which given cells speak about a hole, and how well each can be trusted.

Few sources are better than all: the given cells are ranked by how regularly they predict the hole,
and the lemma always comes along. A hole that no lexeme shows, or hardly any, borrows from pairs of
cells whose features differ in the same way; any hole may be a copy of the cell that predicts it
best, or is most like it; and edits that are learned from all cells together may lead to it.

Public names: `Source`, `sources_of_holes`, `regular_neighbours`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fsbp.contextual_edits import ContextualEdits
from fsbp.factors.contextual_edit import ContextualEditFactor
from fsbp.factors.evidence import EvidenceFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.rewrite_model import RewriteModel
from fsbp.variables import Variable
from paradigms.edits import EDIT_SOURCES, edit_groups
from paradigms.evidence import LEMMA, STEM, Evidence
from paradigms.language import Language
from paradigms.pair_models import MAX_EXAMPLES, PairModels
from paradigms.ranking import MAX_SOURCES, Ranking

FEW_EXAMPLES = 1
EXAMPLES = "direct: log of examples"
SHARE = "direct: share of the commonest change"


@dataclass(frozen=True, eq=False)
class Source:
    """A given cell with a model of the hole's form given its form.

    Args:
        cell: The given cell.
        model: Of the hole given this cell, or of all pairs of cells.
        feature_of: What the exponent depends on; see `paradigms.weights.SOURCE_FEATURES`.
    """

    cell: str
    model: RewriteModel | ContextualEdits
    feature_of: Mapping[str, float]

    def factor(self, given: Variable, hole: Variable, exponent: float = 1.0) -> EvidenceFactor:
        """Return the factor between the given cell and the hole."""
        if isinstance(self.model, ContextualEdits):
            groups = edit_groups(self.cell, hole.name)
            return ContextualEditFactor(given, hole, self.model, groups, exponent)
        return RewriteFactor(given, hole, self.model, exponent)


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
    evidence = language.evidence
    cells = sorted(set(given) - {LEMMA, STEM}, key=evidence.position_of.__getitem__)
    ranking = Ranking.of(cells, holes, evidence)
    lemma = [cell for cell in given if cell == LEMMA]
    stem = [cell for cell in given if cell == STEM]
    learned_from = evidence.learned_from(given)
    return [
        _featured(
            _sources(hole, number, ranking, lemma, stem, language),
            given,
            learned_from,
            hole in evidence.shown_alone,
        )
        for number, hole in enumerate(holes)
    ]


def regular_neighbours(cells: Sequence[str], evidence: Evidence) -> dict[str, list[str]]:
    """Return, for each of some cells, the others that predict it most regularly.

    Only cells that some lexeme shows together with it, at most `MAX_SOURCES`.

    Args:
        cells: Distinct, without the lemma.
        evidence: That knows them.
    """
    ranking = Ranking.of(cells, cells, evidence)
    return {cell: ranking.most_regular(number) for number, cell in enumerate(cells)}


def _featured(
    sources: list[Source], given: Mapping[str, str], learned_from: bool, shown_alone: bool
) -> list[Source]:
    """Return the sources with the features that depend on one another and on the lexeme.

    Args:
        sources: Of one hole.
        given: Form by cell.
        learned_from: Whether the lexeme's given forms are among what was learned from.
        shown_alone: Whether lexemes show the hole, but never beside another cell.
    """
    direct = [source for source in sources if "direct" in source.feature_of]
    repeats = Counter(given[source.cell] for source in direct)
    best = max((source.feature_of[SHARE] for source in direct), default=0.0)

    def more(source: Source) -> dict[str, float]:
        if "direct" in source.feature_of:
            return {
                "direct: one over sources": 1.0 / len(direct),
                "direct: repeats another source": 1.0 - 1.0 / repeats[given[source.cell]],
                "direct: share short of the best": best - source.feature_of[SHARE],
                "direct: shown alone": float(shown_alone),
            }
        if "edits" in source.feature_of:
            is_lemma = source.feature_of["edits: is the lemma"]
            return {
                "edits: learned from the lexeme": float(learned_from),
                "edits: learned from the lexeme, whose lemma it is": learned_from * is_lemma,
                "edits: without a lemma": float(LEMMA not in given),
            }
        return {}

    return [replace(s, feature_of={**s.feature_of, **more(s)}) for s in sources]


def _sources(
    hole: str,
    number: int,
    ranking: Ranking,
    lemma: Sequence[str],
    stem: Sequence[str],
    language: Language,
) -> list[Source]:
    evidence, models = language.evidence, language.models
    regular, nearest = ranking.most_regular(number), ranking.nearest(number)
    sources = _direct([*regular, *lemma], hole, evidence, models)
    if not sources:
        sources = _direct(stem, hole, evidence, models)
    if all(source.feature_of[EXAMPLES] <= math.log1p(FEW_EXAMPLES) for source in sources):
        sources += _borrowed([*nearest, *lemma][:MAX_SOURCES], hole, evidence, models)
    copied = [*regular, *nearest, *lemma][:1]
    sources += [Source(cell, models.copying, {"copying": 1.0}) for cell in copied]
    return sources + _edited([*(regular or nearest)[:EDIT_SOURCES], *lemma], hole, language)


def _edited(cells: Sequence[str], hole: str, language: Language) -> list[Source]:
    """Return the edits of some given cells into the hole as sources."""
    evidence, model = language.evidence, language.edits
    if model is None:
        return []
    at = evidence.position_of[hole]
    share_of = {cell: float(evidence.reliability(cell)[0][at]) for cell in cells}
    best = max(share_of.values(), default=0.0)
    return [
        Source(
            cell,
            model,
            {
                "edits": 1.0,
                "edits: one over sources": 1.0 / len(cells),
                "edits: is the lemma": float(cell == LEMMA),
                "edits: share of the commonest change": share,
                "edits: share short of the best": best - share,
                "edits: similarity of features": _similarity(cell, hole, evidence),
            },
        )
        for cell, share in share_of.items()
    ]


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
                EXAMPLES: math.log1p(model.total_weight),
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
