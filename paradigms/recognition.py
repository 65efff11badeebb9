"""Which lexemes of a table are learned already, so that none is counted twice.

A lexeme is recognised by its forms, the lemma among them where it is one, never by its name: one of
the table and one of those learned are the same where all the forms that either shows are among the
other's. A learned lexeme is recognised once at most, by the one that shares most with it.

Public names: `united`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from paradigms.evidence import Evidence, Guess

Forms = Mapping[str, tuple[str, ...]]
Item = tuple[str, tuple[str, ...]]
Items = frozenset[Item]


def united(learned: Evidence, table: Evidence) -> Evidence:
    """Return the evidence of both, with each lexeme once; the table's lexemes come last, in order.

    A lexeme of the table that is learned already takes the place of the learned one, with the forms
    of whichever shows more and with what was guessed of its holes. So one that shows nothing new
    adds nothing, and one that shows more adds what is new.

    Args:
        learned: What is known.
        table: Of the lexemes to be completed; without guesses.

    Cost: O(forms), and the lexemes that share each lexeme's rarest form.
    """
    learned_as = _recognised(learned.lexemes, table.lexemes)
    taken = set(learned_as.values())
    others = [n for n in range(len(learned.lexemes)) if n not in taken]
    lexemes = [learned.lexemes[n] for n in others]
    for number, forms in enumerate(table.lexemes):
        known = learned.lexemes[learned_as[number]] if number in learned_as else {}
        lexemes.append(max(forms, known, key=len))
    guesses: list[Mapping[str, tuple[Guess, ...]]] = []
    if learned.guesses:
        places = [*others, *(learned_as.get(n) for n in range(len(table.lexemes)))]
        guessed = [{} if n is None else learned.guesses[n] for n in places]
        guesses = [
            {cell: found for cell, found in each.items() if cell not in forms}
            for each, forms in zip(guessed, lexemes, strict=True)
        ]
    return replace(learned.joined(table), lexemes=tuple(lexemes), guesses=tuple(guesses))


def _recognised(learned: Sequence[Forms], table: Sequence[Forms]) -> dict[int, int]:
    """Return, for each lexeme of the table that is learned already, the number of the learned one.

    Equal lexemes find each other first, then those that show most; the order of rows decides only
    between lexemes that show the same.
    """
    most_first = sorted(range(len(table)), key=lambda n: (-len(table[n]), sorted(table[n].items())))
    equal_to: dict[Items, list[int]] = {}
    for n in reversed(range(len(learned))):
        equal_to.setdefault(frozenset(learned[n].items()), []).append(n)
    found: dict[int, int] = {}
    for n in most_first:
        if equals := equal_to.get(frozenset(table[n].items())):
            found[n] = equals.pop()
    free = [n for equals in equal_to.values() for n in equals if learned[n]]
    others = _Learned({n: frozenset(learned[n].items()) for n in free})
    for n in most_first:
        if n not in found and table[n]:
            match = others.taken_for(frozenset(table[n].items()))
            if match is not None:
                found[n] = match
    return found


class _Learned:
    """Learned lexemes that may be recognised yet.

    Args:
        shown: What each shows, by its number; at least one form.
    """

    def __init__(self, shown: Mapping[int, Items]) -> None:
        self._shown = dict(shown)
        self._with: dict[Item, list[int]] = {}
        for n, items in shown.items():
            for item in items:
                self._with.setdefault(item, []).append(n)
        self._named_by: dict[Item, list[int]] = {}
        for n, items in shown.items():
            self._named_by.setdefault(self._rarest(items), []).append(n)

    def taken_for(self, items: Items) -> int | None:
        """Return, and take out, the lexeme that is the same as one and shares most with it.

        Args:
            items: What the one shows, at least one form.
        """
        candidates = (n for n in self._candidates(items) if n in self._shown)
        same = (n for n in candidates if items <= self._shown[n] or self._shown[n] <= items)
        match = min(same, key=lambda n: self._preference(items, n), default=None)
        if match is not None:
            del self._shown[match]
        return match

    def _preference(self, items: Items, n: int) -> tuple[int, int, list[Item]]:
        shown = self._shown[n]
        return -len(items & shown), len(shown), sorted(shown)

    def _candidates(self, items: Items) -> Iterator[int]:
        """Yield those that may show all of some forms, and those that may show only such."""
        yield from self._with.get(self._rarest(items), ())
        for item in items:
            yield from self._named_by.get(item, ())

    def _rarest(self, items: Items) -> Item:
        return min(items, key=lambda item: (len(self._with.get(item, ())), item))
