"""One model of contextual edits for all pairs of cells of a language.

Pairs of cells share what they have in common: every edit depends on the cell that is asked for, on
each of its features, and, unless the source is the lemma, on the pair. So what few lexemes show of
one cell is learned from cells like it, and changes in the middle of words, as in vowel harmony or
gradation, from all cells together.

Public names: `EDIT_SOURCES`, `edit_groups`, `edit_model`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

import numpy as np

from fsbp.contextual_edits import ContextualEdits, EditExample
from paradigms.evidence import LEMMA, Evidence, tags_of
from paradigms.ranking import Ranking

EDIT_SOURCES = 2
"""Given cells that each cell is edited from, besides the lemma."""
MAX_TARGETS = 10_000
MANY_EXAMPLES = 5_000
PASSES, PASSES_OF_MANY = 10, 5


@lru_cache(maxsize=1 << 16)
def edit_groups(source: str, target: str) -> tuple[str, ...]:
    """Return what the edits from one cell to another depend on, besides the strings."""
    tags = tuple(f"tag {tag}" for tag in sorted(tags_of(target) - {target}))
    pair = () if source == LEMMA else (f"pair {source}\0{target}",)
    return (f"cell {target}", *pair, *tags)


def edit_model(evidence: Evidence) -> ContextualEdits | None:
    """Return the model learned from all given cells; None where no lexeme shows two.

    Every given cell is an example of each of the cells it is edited from: the lemma and the
    `EDIT_SOURCES` most regular ones. Guesses teach nothing here. Of more than `MAX_TARGETS` given
    cells as many are drawn, the same in every run. The order of lexemes makes no difference.

    Cost: O(lexemes x given cells) rankings at most, and that of learning.
    """
    evidence = replace(evidence, guesses=())
    lexemes = sorted(range(len(evidence.lexemes)), key=evidence.rank_of.__getitem__)
    cells = [(n, cell) for n in lexemes for cell in sorted(evidence.lexemes[n]) if cell != LEMMA]
    if len(cells) > MAX_TARGETS:
        drawn = np.random.default_rng(0).permutation(len(cells))[:MAX_TARGETS]
        cells = [cells[n] for n in sorted(drawn.tolist())]
    examples = [
        EditExample(forms[source][0], forms[target][0], edit_groups(source, target))
        for number, chosen in groupby(cells, key=itemgetter(0))
        for forms in (evidence.lexemes[number],)
        for target, sources in _sources_of([cell for _, cell in chosen], forms, evidence).items()
        for source in sources
    ]
    if not examples:
        return None
    passes = PASSES if len(examples) < MANY_EXAMPLES else PASSES_OF_MANY
    return ContextualEdits.from_examples(sorted(examples), evidence.costs, passes)


def _sources_of(
    targets: Sequence[str], filled: Collection[str], evidence: Evidence
) -> dict[str, list[str]]:
    """Return the cells that some filled cells of a lexeme are edited from."""
    cells = sorted(set(filled) - {LEMMA}, key=evidence.position_of.__getitem__)
    ranking = Ranking.of(cells, targets, evidence)
    lemma = [LEMMA] if LEMMA in filled else []
    return {
        target: [*ranking.most_regular(number)[:EDIT_SOURCES], *lemma]
        for number, target in enumerate(targets)
    }
