"""Rewrite models for pairs of cells, made on demand and kept within a bound.

Public names: `PairModels`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

from fsbp.rewrite_model import Example, RewriteModel
from paradigms.evidence import Evidence

MAX_EXAMPLES = 2_000
MAX_BORROWED = 300
MAX_MODELS = 10_000


@dataclass(frozen=True, eq=False)
class PairModels:
    """Models of one cell's form given another's.

    Args:
        evidence: Where examples come from.
    """

    evidence: Evidence
    _kept: OrderedDict[tuple[object, object], RewriteModel | None] = field(
        default_factory=OrderedDict, init=False, repr=False
    )

    def direct(self, source: str, target: str) -> RewriteModel | None:
        """Return the model of lexemes with both cells filled; None where there are none."""
        key = (source, target)
        if key not in self._kept:
            self._keep(key, self._estimated(self._examples(source, target)))
        self._kept.move_to_end(key)
        return self._kept[key]

    def borrowed(self, source: str, target: str) -> RewriteModel | None:
        """Return the model of other pairs of cells whose features differ in the same way.

        From `N;NOM;SG` to `N;NOM;PL` borrows from `N;ACC;SG` to `N;ACC;PL`. The cells most like
        the target lend first, up to `MAX_BORROWED` examples.
        """
        tags = self.evidence.tags
        key = (tags[source] - tags[target], tags[target] - tags[source])
        if key not in self._kept:
            examples: list[Example] = []
            for lender in self._lenders(source, target, *key):
                examples += self._examples(*lender)[: MAX_BORROWED - len(examples)]
            self._keep(key, self._estimated(examples))
        self._kept.move_to_end(key)
        return self._kept[key]

    @cached_property
    def copying(self) -> RewriteModel:
        """The model of strings that stay as they are."""
        return RewriteModel.from_examples([Example("", "")], self.evidence.costs)

    @cached_property
    def _cells_with_tags(self) -> dict[frozenset[str], list[str]]:
        cells: dict[frozenset[str], list[str]] = {}
        for cell in self.evidence.cells:
            cells.setdefault(self.evidence.tags[cell], []).append(cell)
        return cells

    def _lenders(
        self, source: str, target: str, lost: frozenset[str], gained: frozenset[str]
    ) -> list[tuple[str, str]]:
        """Return the pairs of cells with the same difference, those like the target first."""
        evidence = self.evidence
        pairs = [
            (near, far)
            for near in evidence.cells
            if lost <= evidence.tags[near] and not gained & evidence.tags[near]
            for far in self._cells_with_tags.get((evidence.tags[near] - lost) | gained, ())
            if near != far and evidence.lexemes_with[near] & evidence.lexemes_with[far]
        ]
        similarity_c = evidence.similarity_cc[evidence.position_of[target]]
        return sorted(pairs, key=lambda pair: (-similarity_c[evidence.position_of[pair[1]]], pair))

    def _examples(self, source: str, target: str) -> list[Example]:
        lexemes_with = self.evidence.lexemes_with
        both = sorted(lexemes_with[source] & lexemes_with[target])
        step = -(-len(both) // MAX_EXAMPLES) or 1
        examples = []
        for number in both[::step]:
            forms = self.evidence.lexemes[number]
            weight = 1.0 / (len(forms[source]) * len(forms[target]))
            examples += [Example(x, y, weight) for x in forms[source] for y in forms[target]]
        return examples

    def _estimated(self, examples: list[Example]) -> RewriteModel | None:
        return RewriteModel.from_examples(examples, self.evidence.costs) if examples else None

    def _keep(self, key: tuple[object, object], model: RewriteModel | None) -> None:
        self._kept[key] = model
        if len(self._kept) > MAX_MODELS:
            self._kept.popitem(last=False)
