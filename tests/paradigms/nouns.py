"""A few German nouns, complete and with holes."""

from __future__ import annotations

from collections.abc import Sequence

from paradigms.lexemes import Lexeme

CELLS = ("N;NOM;SG", "N;GEN;SG", "N;NOM;PL", "N;DAT;PL")
TABLES = [
    ("Tag", "Tags", "Tage", "Tagen"),
    ("Weg", "Wegs", "Wege", "Wegen"),
    ("Haus", "Hauses", "Häuser", "Häusern"),
    ("Frau", "Frau", "Frauen", "Frauen"),
    ("Auto", "Autos", "Autos", "Autos"),
    ("Bau", "Baus", "Bauten/Baue", "Bauten/Bauen"),
]


def noun(forms: Sequence[str], lemma: str | None = None, key: str = "") -> Lexeme:
    """Return a lexeme; an empty form is a hole, alternatives are joined by a slash."""
    cells = {
        cell: tuple(filter(None, form.split("/"))) for cell, form in zip(CELLS, forms, strict=True)
    }
    return Lexeme(key or forms[0], lemma, cells)


NOUNS = [noun(forms, forms[0]) for forms in TABLES]
HOLES = [
    noun(("Steg", "", "", ""), "Steg"),
    noun(("", "", "Mäuser", ""), None, "no lemma"),
    noun(("", "", "", ""), "Sau"),
    noun(("", "", "", ""), None, "nothing"),
]
