"""How a file spells composed letters, so that predictions follow it.

Models work on NFC text. Files hold NFC, NFD, or a mixture (composed ç beside decomposed ê), and a
prediction has to match the forms around it code point for code point. Public names: `Spelling`,
`normalised`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain


def normalised(text: str) -> str:
    """Text as models see it: NFC, without white space at either end."""
    return unicodedata.normalize("NFC", text).strip()


@dataclass(frozen=True)
class Spelling:
    """The code points one file uses for each letter.

    Args:
        decomposed: Whether letters that the file does not contain are written in NFD.
        letters: NFC letter to its most frequent spelling, where that is not NFC itself.
    """

    decomposed: bool = False
    letters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Spelling:
        """The spelling that the texts use.

        Texts in NFC, and texts without any letter that could be composed, give NFC; texts in NFD
        give NFD throughout; of a mixture each letter keeps its most frequent spelling, and other
        letters are written in NFC.

        Cost: linear in the length of the texts.
        """
        distinct = set(texts)
        if all(unicodedata.is_normalized("NFC", text) for text in distinct):
            return cls()
        if all(unicodedata.is_normalized("NFD", text) for text in distinct):
            return cls(decomposed=True)
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        for letter in chain.from_iterable(map(_letters, sorted(distinct))):
            spellings[unicodedata.normalize("NFC", letter)][letter] += 1
        usual = {letter: counts.most_common(1)[0][0] for letter, counts in spellings.items()}
        return cls(letters={nfc: used for nfc, used in usual.items() if nfc != used})

    def spell(self, form: str) -> str:
        """The form in the spelling of the file, whatever normal form it has."""
        if self.decomposed:
            return unicodedata.normalize("NFD", form)
        composed = unicodedata.normalize("NFC", form)
        return "".join(self.letters.get(letter, letter) for letter in _letters(composed))


def _letters(text: str) -> Iterator[str]:
    """Each base character with the combining marks after it."""
    letter = ""
    for character in text:
        if letter and not unicodedata.combining(character):
            yield letter
            letter = ""
        letter += character
    if letter:
        yield letter
