"""One model of contextual edits for all pairs of cells of a language.

Pairs of cells share what they have in common: every edit depends on the cell that is asked for, on
each of its features, and, unless the source is the lemma, on the pair. So what few lexemes show of
one cell is learned from cells like it, and changes in the middle of words, as in vowel harmony or
gradation, from all cells together.

Public names: `EDIT_SOURCES`, `edit_groups`, `edit_model`.
"""

from __future__ import annotations

from collections.abc import Collection

from fsbp.contextual_edits import ContextualEdits, EditExample
from paradigms.evidence import LEMMA, Evidence, tags_of
from paradigms.ranking import Ranking

EDIT_SOURCES = 2
"""Given cells that each cell is edited from, besides the lemma."""
MAX_EXAMPLES = 30_000
MANY_EXAMPLES = 5_000
PASSES, PASSES_OF_MANY = 10, 5


def edit_groups(source: str, target: str) -> tuple[str, ...]:
    """Return what the edits from one cell to another depend on, besides the strings."""
    tags = tuple(f"tag {tag}" for tag in sorted(tags_of(target)))
    pair = () if source == LEMMA else (f"pair {source}\0{target}",)
    return (f"cell {target}", *pair, *tags)


def edit_model(evidence: Evidence) -> ContextualEdits | None:
    """Return the model learned from all given cells; None where no lexeme shows two.

    Every given cell is an example of each of the cells it is edited from: the lemma and the
    `EDIT_SOURCES` most regular ones. Guesses teach nothing here. At most `MAX_EXAMPLES` examples,
    evenly spread, are used. The order of lexemes makes no difference.

    Cost: O(lexemes x given cells squared), and that of learning.
    """
    lexemes = sorted(range(len(evidence.lexemes)), key=evidence.rank_of.__getitem__)
    pairs = [
        (source, target, forms[source][0], forms[target][0])
        for forms in (evidence.lexemes[number] for number in lexemes)
        for target, sources in _sources_of_cells(forms, evidence).items()
        for source in sources
    ]
    if not pairs:
        return None
    kept = min(len(pairs), MAX_EXAMPLES)
    examples = [
        EditExample(x, y, edit_groups(source, target))
        for source, target, x, y in sorted(pairs[n * len(pairs) // kept] for n in range(kept))
    ]
    passes = PASSES if len(examples) < MANY_EXAMPLES else PASSES_OF_MANY
    return ContextualEdits.from_examples(examples, evidence.costs, passes)


def _sources_of_cells(filled: Collection[str], evidence: Evidence) -> dict[str, list[str]]:
    """Return the cells that each filled cell of a lexeme is edited from."""
    cells = sorted(set(filled) - {LEMMA}, key=evidence.position_of.__getitem__)
    ranking = Ranking.of(cells, cells, evidence)
    lemma = [LEMMA] if LEMMA in filled else []
    return {
        cell: [*ranking.most_regular(number)[:EDIT_SOURCES], *lemma]
        for number, cell in enumerate(cells)
    }
