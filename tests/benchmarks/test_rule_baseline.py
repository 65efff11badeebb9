"""The rule baseline follows its description, whose own example comes first."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rule_baseline import AffixRules, alignment, is_prefixing, learned_rules
from fsbp.metrics import edit_distance
from paradigms.lexemes import Lexeme
from tests.machines import quick

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
words = st.text(alphabet="abü", max_size=6)


def rules(*pairs: tuple[str, str], cell: str = "V.PTCP;PST") -> AffixRules:
    """Rules from pairs of lemma and form of one cell."""
    return learned_rules(Lexeme(lemma, lemma, {cell: (form,)}) for lemma, form in pairs)


def test_the_example_of_the_description() -> None:
    columns = alignment("schielen", "geschielt")
    assert [source or "_" for source, _ in columns] == list("__schielen")
    assert [target or "_" for _, target in columns] == list("geschielt_")
    found = rules(("schielen", "geschielt"))
    assert found.suffixes["V.PTCP;PST"] == {
        "": "",
        "n": "",
        "en": "t",
        "len": "lt",
        "elen": "elt",
        "ielen": "ielt",
        "hielen": "hielt",
        "chielen": "chielt",
        "schielen": "schielt",
    }
    assert found.prefixes["V.PTCP;PST"] == [("", "ge")]
    assert not found.reverse
    assert found.form("kaufen", "V.PTCP;PST") == "gekauft"
    assert found.form("kaufen", "V;PST;1;SG") == "kaufen"


@quick
@given(words, words)
def test_alignments_are_shortest(source: str, target: str) -> None:
    columns = alignment(source, target)
    assert "".join(symbol for symbol, _ in columns) == source
    assert "".join(symbol for _, symbol in columns) == target
    assert sum(symbol != other for symbol, other in columns) == edit_distance(source, target)


@quick
@given(words, words)
def test_a_single_pair_is_remembered(lemma: str, form: str) -> None:
    assert rules((lemma, form)).form(lemma, "V.PTCP;PST") == form


@pytest.mark.parametrize(
    ("pairs", "lemma", "form"),
    [
        ([("ab", "abx"), ("cb", "cby"), ("db", "dby")], "eb", "eby"),
        ([("ab", "abx"), ("cb", "cby"), ("db", "dby")], "fab", "fabx"),
        ([("ab", "abx"), ("cb", "cbyy")], "eb", "ebyy"),
        ([("ab", "abxx"), ("cb", "cby")], "eb", "ebxx"),
        ([("ab", "kabx"), ("cb", "lcbx"), ("db", "ldbx")], "eb", "lebx"),
        ([("ab", "kabx"), ("cb", "lcbx")], "eb", "kebx"),
        ([("kab", "abx"), ("kcb", "cbx"), ("db", "mdbx")], "eb", "mebx"),
    ],
    ids=[
        "frequent ending",
        "longest ending",
        "longer of equals",
        "longer of equals, in any order",
        "frequent beginning",
        "first of equal beginnings",
        "beginning that matches",
    ],
)
def test_which_rule_applies(pairs: list[tuple[str, str]], lemma: str, form: str) -> None:
    found = rules(*pairs)
    assert not found.reverse
    assert found.form(lemma, "V.PTCP;PST") == form


def test_prefixing_languages_are_reversed() -> None:
    pairs = [("tama", "kutama"), ("tika", "kutika"), ("pala", "mupala"), ("pita", "mupita")]
    assert is_prefixing(pairs)
    assert not is_prefixing([(lemma[::-1], form[::-1]) for lemma, form in pairs])
    found = rules(*pairs)
    assert found.reverse
    assert found.form("tola", "V.PTCP;PST") == "kutola"
    assert found.form("pola", "V.PTCP;PST") == "mupola"


def test_as_many_beginnings_as_endings_is_suffixing() -> None:
    assert not is_prefixing([("tama", "kutamana"), ("lopa", "lopa")])
    assert not is_prefixing([])


def test_lexemes_without_lemma_teach_nothing() -> None:
    found = learned_rules([Lexeme("1", None, {"PL": ("Hunde",)})])
    assert found.form("Hund", "PL") == "Hund"


@pytest.mark.parametrize(
    ("accuracy", "baseline", "expected"), [(50, 51.5, ["xx"]), (50, 51.0, []), (100, 0.0, [])]
)
def test_languages_below_baseline(
    accuracy: int, baseline: float, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    benchmark = import_module("sigmorphon2017")
    correct = np.arange(100) < accuracy
    scores = import_module("scoring").Scores(np.arange(100), correct, np.ones(100), 0.5, 1.0)
    assert benchmark.languages_below_baseline({"xx": scores}, {"xx": baseline}) == expected
