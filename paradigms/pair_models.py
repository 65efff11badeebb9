"""Rewrite models for pairs of cells, made on demand and kept within a bound.

Public names: `PairModels`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fsbp.rewrite_model import Example, RewriteModel
from paradigms.evidence import Evidence

MAX_EXAMPLES = 2_000
MAX_BORROWED = 300
GUESS_WEIGHT = 0.3
"""How much a guess of probability 1 counts beside a given form."""
MAX_SYMBOLS = 150_000_000
"""Symbols in the examples of the models kept, about a gigabyte with all that goes with them."""
SYMBOLS_PER_MODEL = 2_000
"""What a model takes besides its examples, in the same unit."""


class _Kept:
    """Models by key, within a bound on their size; the one used longest ago makes room."""

    def __init__(self) -> None:
        self._models: OrderedDict[tuple[object, ...], RewriteModel | None] = OrderedDict()
        self._size = 0

    def model(
        self, key: tuple[object, ...], make: Callable[[], RewriteModel | None]
    ) -> RewriteModel | None:
        if key not in self._models:
            self._models[key] = make()
            self._size += _size(self._models[key])
            while self._size > MAX_SYMBOLS and len(self._models) > 1:
                self._size -= _size(self._models.popitem(last=False)[1])
        self._models.move_to_end(key)
        return self._models[key]


def _size(model: RewriteModel | None) -> int:
    return SYMBOLS_PER_MODEL + (model.symbols_el.size if model else 0)


def _thinned(lexemes: Sequence[int]) -> Sequence[int]:
    """Return at most `MAX_EXAMPLES` of some lexemes, evenly spread."""
    if len(lexemes) <= MAX_EXAMPLES:
        return lexemes
    return [lexemes[n * len(lexemes) // MAX_EXAMPLES] for n in range(MAX_EXAMPLES)]


@dataclass(frozen=True, eq=False)
class PairModels:
    """Models of one cell's form given another's.

    Args:
        evidence: Where examples come from.
    """

    evidence: Evidence
    _kept: _Kept = field(default_factory=_Kept, init=False, repr=False)

    def direct(self, source: str, target: str) -> RewriteModel | None:
        """Return the model of lexemes with both cells filled; None where there are none."""
        return self._kept.model(
            (source, target), lambda: self._estimated(self._examples(source, target))
        )

    def borrowed(self, source: str, target: str) -> RewriteModel | None:
        """Return the model of the pairs of cells whose features differ as these two cells' do.

        From `N;NOM;SG` to `N;NOM;PL` borrows from `N;ACC;SG` to `N;ACC;PL`. The cells most like
        the target lend first, up to `MAX_BORROWED` examples. The two cells lend nothing to
        themselves: their own lexemes are in the direct model.
        """
        tags = self.evidence.tags
        lost, gained = tags[source] - tags[target], tags[target] - tags[source]

        def estimated() -> RewriteModel | None:
            examples: list[Example] = []
            for lender in self._lenders(target, lost, gained):
                if lender == (source, target):
                    continue
                examples += self._examples(*lender)[: MAX_BORROWED - len(examples)]
            return self._estimated(examples)

        return self._kept.model((source, target, "borrowed"), estimated)

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
        self, target: str, lost: frozenset[str], gained: frozenset[str]
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
        """Return the pairs of forms of both cells; the source's may be guessed.

        A guess teaches what the given form of another cell looks like. As a target it would teach
        nothing but itself.
        """
        evidence = self.evidence
        rank = evidence.rank_of.__getitem__
        both = sorted(evidence.lexemes_with[source] & evidence.lexemes_with[target], key=rank)
        examples = []
        for number in _thinned(both):
            forms = evidence.lexemes[number]
            weight = 1.0 / (len(forms[source]) * len(forms[target]))
            examples += [Example(x, y, weight) for x in forms[source] for y in forms[target]]
        if evidence.guesses:
            one = sorted(evidence.lexemes_with[target] - evidence.lexemes_with[source], key=rank)
            for number in _thinned([n for n in one if evidence.guessed(n, source)]):
                target_form = evidence.lexemes[number][target][0]
                examples += [
                    Example(guess.form, target_form, GUESS_WEIGHT * guess.weight)
                    for guess in evidence.guessed(number, source)
                ]
        return examples

    def _estimated(self, examples: list[Example]) -> RewriteModel | None:
        return RewriteModel.from_examples(examples, self.evidence.costs) if examples else None
