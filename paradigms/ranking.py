"""How well given cells predict others, by regularity and by likeness of features.

Public names: `Ranking`, `MAX_SOURCES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fsbp.arrays import FloatArray
from paradigms.evidence import Evidence
from paradigms.predictability import discounted_share

MAX_SOURCES = 3
SIMILARITY_WEIGHT = 0.3


@dataclass(frozen=True, eq=False)
class Ranking:
    """How the given cells of a lexeme, the lemma aside, relate to some of its cells.

    A cell says nothing about itself.

    Args:
        cells: G given cells, without the lemma.
        share_gh: float64[G, H], share of the commonest change.
        count_gh: float64[G, H], lexemes with both cells.
        similarity_gh: float64[G, H], Jaccard similarity of the features.
    """

    cells: Sequence[str]
    share_gh: FloatArray
    count_gh: FloatArray
    similarity_gh: FloatArray

    @classmethod
    def of(cls, cells: Sequence[str], holes: Sequence[str], evidence: Evidence) -> Ranking:
        """Return the ranking of G given cells for H cells.

        Args:
            cells: Without the lemma, in the order that decides ties.
            holes: Cells to infer.
            evidence: That knows all of them.

        Cost: O(G x H), and the reliability of each given cell.
        """
        position_of = evidence.position_of
        at_g = np.array([position_of[cell] for cell in cells], dtype=np.intp)
        at_h = np.array([position_of[hole] for hole in holes], dtype=np.intp)
        share_gh = np.zeros((len(cells), len(holes)))
        count_gh = np.zeros((len(cells), len(holes)))
        for g, cell in enumerate(cells):
            share_c, count_c = evidence.reliability(cell)
            share_gh[g], count_gh[g] = share_c[at_h], count_c[at_h]
        count_gh[at_g[:, None] == at_h] = 0.0
        return cls(cells, share_gh, count_gh, evidence.similarity_cc[np.ix_(at_g, at_h)])

    def most_regular(self, hole: int) -> list[str]:
        """Return the most regular sources of a hole, at most `MAX_SOURCES`."""
        count_g = self.count_gh[:, hole]
        regular_g = discounted_share(self.share_gh[:, hole], count_g)
        score_g = regular_g + SIMILARITY_WEIGHT * self.similarity_gh[:, hole]
        order = np.argsort(-score_g, kind="stable").tolist()
        return [self.cells[g] for g in order if count_g[g] > 0][:MAX_SOURCES]

    def nearest(self, hole: int) -> list[str]:
        """Return the cells most like a hole, at most `MAX_SOURCES`."""
        order = np.argsort(-self.similarity_gh[:, hole], kind="stable").tolist()
        return [self.cells[g] for g in order][:MAX_SOURCES]
