"""How well given cells predict others."""

from __future__ import annotations

from itertools import permutations

import pytest

from paradigms.evidence import Evidence
from paradigms.lexemes import Lexeme
from paradigms.ranking import MAX_SOURCES, SIMILARITY_WEIGHT, Ranking

CELLS = ("N;NOM;SG", "N;GEN;SG", "N;PART;SG", "N;NOM;PL")
ROWS = [
    ("kala", "kalan", "kalaa", "kalat"),
    ("talo", "talon", "taloa", "talot"),
    ("vesi", "veden", "vettä", "vedet"),
    ("susi", "suden", "sutta", "sudet"),
]


def evidence_of(*tables: dict[str, str]) -> Evidence:
    return Evidence.from_lexemes(
        [
            Lexeme(str(n), None, {cell: (form,) if form else () for cell, form in table.items()})
            for n, table in enumerate(tables)
        ]
    )


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    tables = [dict(zip(CELLS, forms, strict=True)) for forms in ROWS]
    return evidence_of(*tables, {"V;PRS": "on", "N;GEN;PL": ""})


def test_a_cell_says_nothing_about_itself(evidence: Evidence) -> None:
    ranking = Ranking.of(CELLS, CELLS, evidence)
    for number, cell in enumerate(CELLS):
        others = ranking.most_regular(number)
        assert set(others) == set(CELLS) - {cell}
        assert ranking.count_gh[number, number] == 0.0


def test_the_most_regular_cell_comes_first(evidence: Evidence) -> None:
    """The genitive's stem is the plural's, always."""
    for given in permutations(CELLS[:3]):
        ranking = Ranking.of(given, CELLS[3:], evidence)
        assert ranking.most_regular(0)[0] == CELLS[1]
        assert ranking.share_gh[given.index(CELLS[1]), 0] == 1.0
        assert ranking.count_gh[:, 0].tolist() == [4.0] * 3


def test_features_count_besides_regularity() -> None:
    """Of three lexemes, 2/3 alike count 1/2 and 3/3 count 3/4; likeness of features adds to it."""
    rows = [("kala", "kalan", "kalat"), ("talo", "talon", "talot"), ("vesi", "veden", "vedet")]
    cells = ("N;PL;GEN;DEF", "V", "N;PL;GEN")
    for near, similarity, first in (("N;PL;GEN;DEF", 0.75, "V"), ("GEN;N;PL", 1.0, "GEN;N;PL")):
        tables = [dict(zip((near, *cells[1:]), forms, strict=True)) for forms in rows]
        ranking = Ranking.of([near, "V"], [cells[2]], evidence_of(*tables))
        assert ranking.similarity_gh[:, 0].tolist() == [similarity, 0.0]
        assert ranking.share_gh[:, 0].tolist() == pytest.approx([2 / 3, 1.0])
        assert (0.5 + SIMILARITY_WEIGHT * similarity > 0.75) == (first == near)
        assert ranking.most_regular(0)[0] == first
        assert ranking.nearest(0) == [near, "V"]


def test_few_lexemes_count_for_less() -> None:
    """One lexeme says 1/2, four that all agree 4/5."""
    tables = [{"A": "", "B": form, "D": form + "t"} for form in ("kala", "talo", "sana")]
    evidence = evidence_of(*tables, {"A": "muna", "B": "muna", "D": "munat"})
    ranking = Ranking.of(["A", "B"], ["D"], evidence)
    assert ranking.count_gh[:, 0].tolist() == [1.0, 4.0]
    assert ranking.most_regular(0) == ["B", "A"]


def test_cells_never_seen_together_are_not_regular(evidence: Evidence) -> None:
    ranking = Ranking.of([*CELLS, "V;PRS"], [CELLS[3], "N;GEN;PL"], evidence)
    assert "V;PRS" not in ranking.most_regular(0)
    assert ranking.most_regular(1) == [], "no lexeme shows it"
    assert ranking.nearest(1)[0] in (CELLS[1], CELLS[3]), "the genitive or the plural"
    assert len(ranking.nearest(1)) == MAX_SOURCES


def test_ties_are_in_given_order() -> None:
    cells = ("A", "B", "C", "E", "F")
    evidence = evidence_of({**dict.fromkeys(cells, "kala"), "D": "kalat"})
    for given in (cells, cells[::-1], ("C", "A", "F", "B", "E")):
        ranking = Ranking.of(given, ["D"], evidence)
        assert ranking.most_regular(0) == list(given[:MAX_SOURCES])
        assert ranking.nearest(0) == list(given[:MAX_SOURCES])


def test_no_given_cells_rank_nothing(evidence: Evidence) -> None:
    ranking = Ranking.of([], CELLS, evidence)
    assert [ranking.most_regular(h) + ranking.nearest(h) for h in range(len(CELLS))] == [[]] * 4
