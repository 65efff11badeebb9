"""The rule baseline of CoNLL-SIGMORPHON 2017: changes of endings and beginnings, cell by cell.

Each lemma is aligned with each of its forms by edit distance. Columns with a gap at the beginning
of the alignment are the prefix, the rest is stem and suffix. Every ending of the rest, the empty
one included, is a suffix rule, and the prefix as a whole is a prefix rule: `schielen`, `geschielt`
give `n > ""`, `en > t`, ..., `schielen > schielt` and `"" > ge`. A form is made from the lemma
alone: by the suffix rule of the cell with the longest matching ending (the most frequent one, then
the one with the longer replacement), and then by its most frequent prefix rule that matches. In a
cell without rules the form is the lemma. Where lemmas change at the beginning more often than at
the end, all strings are reversed.

Where the description leaves something open, the reading closest to the official figures was taken:
among shortest alignments the one with gaps as late as they can be; the empty ending as a rule; the
longer of equally frequent replacements, and of equally frequent prefix rules the one seen first. A
lemma changes at an end where one string, slid along the other to the fewest unequal positions,
sticks out. On the development tables this gives 46.2, 63.9 and 74.6 % (low, medium, high), where
the official figures are 46.1, 63.9 and 74.8.

Public names: `AffixRules`, `learned_rules`, `alignment`, `is_prefixing`.
Source: Cotterell et al. (2017), CoNLL-SIGMORPHON 2017 shared task: Universal morphological
reinflection in 52 languages; the description that came with the task's data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paradigms.lexemes import Lexeme

Columns = Sequence[tuple[str, str]]
Rule = tuple[str, str]


@dataclass(frozen=True)
class AffixRules:
    """What is replaced at the end and at the beginning of a lemma, for each cell.

    Args:
        suffixes: Cell to ending to replacement.
        prefixes: Cell to pairs of beginning and replacement, in order of preference.
        reverse: Whether lemmas are reversed before the rules apply, and their results after.
    """

    suffixes: Mapping[str, Mapping[str, str]]
    prefixes: Mapping[str, Sequence[Rule]]
    reverse: bool

    def form(self, lemma: str, cell: str) -> str:
        """Returns the form of `lemma` in `cell`."""
        word = reoriented(lemma, self.reverse)
        endings = self.suffixes.get(cell, {})
        matching = (start for start in range(len(word) + 1) if word[start:] in endings)
        start = next(matching, None)
        if start is not None:
            word = word[:start] + endings[word[start:]]
        for beginning, replacement in self.prefixes.get(cell, ()):
            if word.startswith(beginning):
                word = replacement + word.removeprefix(beginning)
                break
        return reoriented(word, self.reverse)


def learned_rules(lexemes: Iterable[Lexeme]) -> AffixRules:
    """Returns the rules from the lemmas of `lexemes` to their given forms.

    Lexemes without a lemma teach nothing.

    Cost: O(length of lemma * length of form) for each form.
    """
    pairs = [
        (lexeme.lemma, form, cell)
        for lexeme in lexemes
        if lexeme.lemma is not None
        for cell, forms in lexeme.cells.items()
        for form in forms
    ]
    reverse = is_prefixing([(lemma, form) for lemma, form, _ in pairs])
    suffix_counts: dict[str, Counter[Rule]] = defaultdict(Counter)
    prefix_counts: dict[str, Counter[Rule]] = defaultdict(Counter)
    for lemma, form, cell in pairs:
        columns = alignment(reoriented(lemma, reverse), reoriented(form, reverse))
        end = prefix_length(columns)
        prefix_counts[cell][rule(columns[:end])] += 1
        suffix_counts[cell].update(rule(columns[start:]) for start in range(end, len(columns) + 1))
    return AffixRules(
        {cell: best_replacements(counts) for cell, counts in suffix_counts.items()},
        {
            cell: [prefix_rule for prefix_rule, _ in counts.most_common()]
            for cell, counts in prefix_counts.items()
        },
        reverse,
    )


def best_replacements(counts: Mapping[Rule, int]) -> dict[str, str]:
    """Returns for each ending its most frequent replacement, the longer one of equals."""
    best: dict[str, tuple[int, str]] = {}
    for (ending, replacement), count in counts.items():
        best_count, best_replacement = best.get(ending, (0, ""))
        if (count, len(replacement)) > (best_count, len(best_replacement)):
            best[ending] = (count, replacement)
    return {ending: replacement for ending, (_, replacement) in best.items()}


def alignment(source: str, target: str) -> Columns:
    """Returns the columns of a shortest alignment, gaps as late as possible; "" is a gap.

    Each insertion, deletion and substitution costs 1.

    Cost: O(len(source) * len(target)).
    """
    rows = [list(range(len(target) + 1))]
    for i, symbol in enumerate(source, start=1):
        above, row = rows[-1], [i]
        for j, other in enumerate(target, start=1):
            cost = above[j - 1] + (symbol != other)
            gap = (above[j] if above[j] < row[-1] else row[-1]) + 1
            row.append(gap if gap < cost else cost)
        rows.append(row)
    columns: list[tuple[str, str]] = []
    i, j = len(source), len(target)
    while i or j:
        if j and rows[i][j] == rows[i][j - 1] + 1:
            j -= 1
            columns.append(("", target[j]))
        elif i and rows[i][j] == rows[i - 1][j] + 1:
            i -= 1
            columns.append((source[i], ""))
        else:
            i, j = i - 1, j - 1
            columns.append((source[i], target[j]))
    return columns[::-1]


def prefix_length(columns: Columns) -> int:
    """Returns how many columns there are before both strings have begun."""
    for side in (0, 1):
        if columns and not columns[0][side]:
            begun = (number for number, column in enumerate(columns) if column[side])
            return next(begun, len(columns))
    return 0


def rule(columns: Columns) -> Rule:
    """Returns both sides of some columns as strings."""
    return "".join(source for source, _ in columns), "".join(target for _, target in columns)


def is_prefixing(pairs: Iterable[tuple[str, str]]) -> bool:
    """Returns whether more pairs of lemma and form differ at the beginning than at the end."""
    overhangs = [overhanging_ends(lemma, form) for lemma, form in pairs]
    return sum(first for first, _ in overhangs) > sum(last for _, last in overhangs)


def overhanging_ends(source: str, target: str) -> tuple[bool, bool]:
    """Returns whether one string sticks out at the beginning and at the end.

    The source is slid along the target, without gaps, to the place where the fewest positions
    differ (positions that only one string covers do), and the earliest among equals.

    Cost: O(len(source) * len(target)).
    """
    equal = Counter(
        place - start
        for start, symbol in enumerate(source)
        for place, other in enumerate(target)
        if symbol == other
    )

    def differing(shift: int) -> int:
        return max(len(target), shift + len(source)) - min(0, shift) - equal[shift]

    shift = min(range(-len(source), len(target) + 1), key=differing)
    return shift != 0, shift + len(source) != len(target)


def reoriented(text: str, reverse: bool) -> str:
    """Returns `text`, reversed if so wanted."""
    return text[::-1] if reverse else text
