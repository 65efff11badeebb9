"""Alphabets: the symbols of a string variable and their labels in finite-state machines.

A symbol is a grapheme (a base character with the diacritics that attach to it) or, with a
separator, a token. Labels start at 1, since 0 is the empty label of OpenFst. Machines carry no
symbol tables: the alphabet is the only place that knows which label means which symbol. Public
names: `Alphabet`, `AlphabetError`, `common_alphabet`, `graphemes`.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

EPSILON = 0
FIRST_ATTACHED_CLASS = 200


class AlphabetError(ValueError):
    """A symbol that the alphabet does not hold, or a set of symbols that cannot be one."""


def graphemes(text: str) -> tuple[str, ...]:
    """Return the graphemes of a text, in order; their concatenation is the text.

    A character whose canonical combining class is at least 200 joins the character before it:
    Latin, Greek and phonetic diacritics attach. Hebrew and Arabic points (classes 10 to 35) and
    Indic vowel signs (class 0) stay symbols of their own, since morphology changes them alone.

    Args:
        text: Any string; it is not normalised here.

    Cost: O(length).
    Source: Unicode Standard, section 4.3 (combining classes).
    """
    if text.isascii():
        return tuple(text)
    symbols: list[str] = []
    for character in text:
        if symbols and unicodedata.combining(character) >= FIRST_ATTACHED_CLASS:
            symbols[-1] += character
        else:
            symbols.append(character)
    return tuple(symbols)


@dataclass(frozen=True)
class Alphabet:
    """An ordered set of symbols; the label of `symbols[i]` is i + 1.

    Args:
        symbols: Distinct non-empty strings, none holding the separator.
        separator: Empty when symbols are graphemes; otherwise the string between two tokens.

    Raises:
        AlphabetError: A symbol is empty, repeated, or holds the separator.
    """

    symbols: tuple[str, ...]
    separator: str = ""

    def __post_init__(self) -> None:
        """Check that every symbol can be told from the others."""
        if len(set(self.symbols)) != len(self.symbols):
            repeated = next(s for s in self.symbols if self.symbols.count(s) > 1)
            raise AlphabetError(f"symbol {repeated!r} occurs twice; give each symbol once")
        for symbol in self.symbols:
            if not symbol or (self.separator and self.separator in symbol):
                raise AlphabetError(
                    f"symbol {symbol!r} is empty or holds the separator {self.separator!r}"
                )

    @classmethod
    def from_strings(cls, strings: Iterable[str], separator: str = "") -> "Alphabet":
        """Return the alphabet of all symbols in the strings, sorted by code point.

        Cost: O(total length).
        """
        return cls(tuple(sorted(set(_symbols_of(strings, separator)))), separator)

    def __len__(self) -> int:
        """Return the number of symbols; labels run from 1 to this number."""
        return len(self.symbols)

    @cached_property
    def _label_of(self) -> dict[str, int]:
        return {symbol: label for label, symbol in enumerate(self.symbols, start=1)}

    def split(self, text: str) -> tuple[str, ...]:
        """Return the symbols of a text, whether or not the alphabet holds them.

        With a separator, empty tokens are dropped, so runs of separators count as one.

        Cost: O(length).
        """
        return _split(text, self.separator)

    def join(self, symbols: Iterable[str]) -> str:
        """Return the text that the symbols spell."""
        return self.separator.join(symbols)

    def labels(self, text: str) -> tuple[int, ...]:
        """Return the labels of a text.

        Raises:
            AlphabetError: A symbol of the text is not in the alphabet; the message names it.

        Cost: O(length).
        """
        try:
            return tuple([self._label_of[symbol] for symbol in self.split(text)])
        except KeyError as error:
            raise AlphabetError(
                f"symbol {error.args[0]!r} of {text!r} is not in the alphabet; "
                "extend it with Alphabet.extended"
            ) from None

    def text(self, labels: Sequence[int]) -> str:
        """Return the text of a sequence of labels.

        Raises:
            AlphabetError: A label is not between 1 and the size of the alphabet.

        Cost: O(length).
        """
        if any(not 0 < label <= len(self.symbols) for label in labels):
            raise AlphabetError(f"labels {tuple(labels)} are not all in 1..{len(self.symbols)}")
        return self.join([self.symbols[label - 1] for label in labels])

    def unseen(self, text: str) -> tuple[str, ...]:
        """Return the distinct symbols of a text that the alphabet lacks, in order of appearance.

        Cost: O(length).
        """
        missing = (s for s in self.split(text) if s not in self._label_of)
        return tuple(dict.fromkeys(missing))

    def extended(self, strings: Iterable[str]) -> "Alphabet":
        """Return an alphabet that also holds every symbol of the strings.

        Old symbols keep their labels, so machines over this alphabet stay valid; new symbols
        follow in code point order.

        Cost: O(total length).
        """
        new = {s for s in _symbols_of(strings, self.separator) if s not in self._label_of}
        return Alphabet(self.symbols + tuple(sorted(new)), self.separator) if new else self


def common_alphabet(alphabets: Sequence[Alphabet]) -> Alphabet:
    """Return the alphabet of all symbols in one or more: what they begin with, then the rest.

    The symbols that all of them begin with keep their labels, and the others follow in code point
    order. So alphabets that extend one by symbols in that order have a common one that does too,
    whichever of them are put together first.

    Args:
        alphabets: At least one; the first one's separator is kept.

    Cost: O(total number of symbols).
    """
    first, *others = alphabets
    if all(other.symbols == first.symbols for other in others):
        return first
    columns = zip(*(alphabet.symbols for alphabet in alphabets), strict=False)
    shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    rest = {symbol for alphabet in alphabets for symbol in alphabet.symbols[shared:]}
    return Alphabet((*first.symbols[:shared], *sorted(rest)), first.separator)


def _split(text: str, separator: str) -> tuple[str, ...]:
    if separator:
        return tuple(token for token in text.split(separator) if token)
    return graphemes(text)


def _symbols_of(strings: Iterable[str], separator: str) -> Iterator[str]:
    for text in strings:
        yield from _split(text, separator)
