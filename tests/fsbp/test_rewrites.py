"""Alignments against all alignments there are; rules against the pairs they come from."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fsbp.rewrites import (
    OPEN_AT_EDGE,
    OPEN_INSIDE,
    OTHER_COST,
    SLACK,
    VOWEL_COST,
    Chunk,
    Island,
    RewriteRule,
    SymbolCosts,
    chunk_alignment,
    joined_readings,
    label_array,
    rewrite_rule,
    side_readings,
    sukhotin_vowels,
)

COSTS = SymbolCosts(frozenset("ae"))
GERMAN = SymbolCosts(frozenset("aeiouäöü"))
TINY = st.text(alphabet="abc", max_size=5)
WORDS = st.text(max_size=8) | st.text(alphabet="abA[](){}\\^$.*+?<>#\0é\u0301\u0308e\u202eس𐍈 ")


def cost_of(source: str, target: str, islands: tuple[Island, ...]) -> float:
    """Return the cost of an alignment: its unmatched symbols, and its chunks."""
    cost, i, j = 0.0, 0, 0
    for island in (*islands, Island(len(source), len(target), 0)):
        at_edge = (i, j) == (0, 0) or (island.source, island.target) == (len(source), len(target))
        if (island.source, island.target) != (i, j):
            cost += OPEN_AT_EDGE if at_edge else OPEN_INSIDE
            unmatched = source[i : island.source] + target[j : island.target]
            cost += sum(VOWEL_COST if symbol in "ae" else OTHER_COST for symbol in unmatched)
        i, j = island.source + island.length, island.target + island.length
    return cost


@cache
def all_alignments(source: str, target: str) -> tuple[tuple[Island, ...], ...]:
    """Return every choice of matched symbols, single symbols for islands."""
    if not source or not target:
        return ((),)
    found = list(all_alignments(source[:-1], target))
    last = len(source) - 1
    for at in range(len(target)):
        if target[at] == source[-1]:
            before = all_alignments(source[:-1], target[:at])
            found += [(*islands, Island(last, at, 1)) for islands in before]
    return tuple(found)


@settings(deadline=None)
@given(TINY, TINY)
def test_alignment_costs_least_of_all(source: str, target: str) -> None:
    found = tuple(chunk_alignment(source, target, COSTS))
    least = min(cost_of(source, target, islands) for islands in all_alignments(source, target))
    assert cost_of(source, target, found) == pytest.approx(least)


def test_alignments_of_all_short_strings() -> None:
    strings = ["".join(symbols) for n in range(5) for symbols in product("ab", repeat=n)]
    for source, target in product(strings, repeat=2):
        found = tuple(chunk_alignment(source, target, COSTS))
        least = min(cost_of(source, target, islands) for islands in all_alignments(source, target))
        assert cost_of(source, target, found) == pytest.approx(least), (source, target)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_islands_are_shared_in_order_and_apart(source: str, target: str) -> None:
    i = j = -1
    for start, at, length in chunk_alignment(source, target, COSTS):
        assert length > 0
        assert source[start : start + length] == target[at : at + length]
        assert start >= max(i, 0)
        assert at >= max(j, 0)
        assert (start, at) != (i, j)
        i, j = start + length, at + length


def applied(text: str, rule: RewriteRule) -> dict[str, float]:
    lefts, rights = side_readings(text, rule.left), side_readings(text[::-1], rule.right)
    return joined_readings(text, lefts, rights, 0.2) if lefts and rights else {}


def undone(text: str, rule: RewriteRule) -> dict[str, float]:
    lefts = side_readings(text, rule.left, "target")
    rights = side_readings(text[::-1], rule.right, "target")
    return joined_readings(text, lefts, rights, 1.0) if lefts and rights else {}


@settings(deadline=None, max_examples=300)
@given(WORDS, WORDS)
@example("", "")
@example("", "abc")
@example("abc", "")
@example("abc", "xyz")
@example("a[b](c", "a(b)[c")
@example("e\u0301te\u0301", "\u0301e")
@example("aaaa", "aaaaaaaa")
@example("\ud800a", "a\udfff")
@example("كتاب", "مكتوب")
def test_a_rule_yields_the_pair_it_comes_from(source: str, target: str) -> None:
    rule = rewrite_rule(source, target, COSTS)
    results = applied(source, rule)
    assert results[target] == max(results.values())
    assert sum(results.values()) == pytest.approx(1.0)
    assert source in undone(target, rule)


@settings(deadline=None)
@given(TINY, TINY, st.text(alphabet="abc", max_size=7))
def test_undoing_is_the_inverse_of_applying(source: str, target: str, text: str) -> None:
    rule = rewrite_rule(source, target, COSTS)
    assert all(text in undone(result, rule) for result in applied(text, rule))
    assert all(text in applied(origin, rule) for origin in undone(text, rule))


@settings(deadline=None)
@given(TINY, TINY, st.text(alphabet="abc", max_size=7))
def test_readings_consume_what_is_there(source: str, target: str, text: str) -> None:
    for reading in side_readings(text, rewrite_rule(source, target, COSTS).left):
        assert 0 <= reading.consumed <= len(text)
        assert reading.slack >= 0


def test_umlaut() -> None:
    rule = rewrite_rule("Haus", "Häuser", GERMAN)
    assert rule == RewriteRule((Chunk(1, "a", "ä"),), (Chunk(0, "", "re"),))
    assert set(applied("Maus", rule)) == {"Mäuser"}
    assert set(applied("Strauch", rule)) == {"Sträucher"}, "the onset may be two symbols longer"
    assert applied("Schrank", rule) == {}, "but not three"
    assert applied("Aas", rule) == {"Aäser": 1.0}, "and never empty"
    assert set(undone("Sträucher", rule)) == {"Strauch"}


def test_slack_costs_share() -> None:
    rule = rewrite_rule("Haus", "Häus", GERMAN)
    assert applied("Haas", rule) == {
        "Häas": pytest.approx(1 / 1.2),
        "Haäs": pytest.approx(0.2 / 1.2),
    }


@pytest.mark.parametrize("longer", range(-SLACK, SLACK + 2))
def test_a_gap_may_differ_by_the_slack(longer: int) -> None:
    rule = rewrite_rule("mmmmaxxxxx", "mmmmoxxxxx", GERMAN)
    text = "m" * (4 + longer) + "axxxxx"
    expected = [text.replace("a", "o")] if abs(longer) <= SLACK else []
    assert list(applied(text, rule)) == expected


def test_an_insertion_keeps_its_place() -> None:
    rule = rewrite_rule("anlachen", "angelachen", GERMAN)
    assert rule == RewriteRule((Chunk(2, "", "ge"),), ())
    assert applied("abfahren", rule) == {"abgefahren": 1.0}


def test_circumfix() -> None:
    rule = rewrite_rule("spielen", "gespielt", GERMAN)
    assert rule == RewriteRule((Chunk(0, "", "ge"),), (Chunk(0, "ne", "t"),))
    assert applied("lachen", rule) == {"gelacht": 1.0}
    assert undone("gelacht", rule) == {"lachen": 1.0}
    assert applied("wandern", rule) == {}
    assert undone("lacht", rule) == {}
    assert applied("en", rule) == {"get": 1.0}, "the stem may be empty"


def test_sides_do_not_overlap() -> None:
    rule = RewriteRule((Chunk(0, "ab", "x"),), (Chunk(0, "cb", "y"),))
    assert applied("abbc", rule) == {"xy": 1.0}
    assert applied("abc", rule) == {}


def test_templates() -> None:
    costs = SymbolCosts(frozenset("اوي"))
    rule = rewrite_rule("كتاب", "كتب", costs)
    assert rule == RewriteRule((), (Chunk(1, "ا", ""),))
    assert set(applied("حمار", rule)) == {"حمر"}
    participle = rewrite_rule("كتب", "مكتوب", costs)
    assert participle == RewriteRule((Chunk(0, "", "م"),), (Chunk(1, "", "و"),))
    assert applied("شرب", participle) == {"مشروب": 1.0}
    vowels = rewrite_rule("katab", "kutib", GERMAN)
    assert set(applied("darab", vowels)) == {"durib"}


def test_nothing_shared_is_replaced_whole() -> None:
    rule = rewrite_rule("bin", "war", COSTS)
    assert rule == RewriteRule((Chunk(0, "bin", "war"),), ())
    assert rewrite_rule("Abc", "Abc", COSTS) == RewriteRule((), ())
    assert applied("anything", rewrite_rule("", "", COSTS)) == {"anything": 1.0}


def test_shares_of_one_result_are_not_added() -> None:
    rule = RewriteRule((Chunk(1, "a", ""),), ())
    assert applied("aaaa", rule) == {"aaa": 1.0}


@pytest.mark.parametrize("text", ["", "abc", "é", "𐍈\0", "\ud800"])
def test_labels_are_code_points(text: str) -> None:
    assert label_array(text).tolist() == [ord(symbol) for symbol in text]


def test_costs_ignore_case() -> None:
    assert COSTS.of("aAbÉ").tolist() == [VOWEL_COST, VOWEL_COST, OTHER_COST, OTHER_COST]
    learned = SymbolCosts.from_strings(["BANANA", "Panama"])
    assert learned.vowels == {"a"}
    assert learned.of("").shape == (0,)


def test_vowels_of_german() -> None:
    words = (
        "vater mutter kind schule garten wagen bruder schwester tisch stuhl fenster leben lesen "
        "geben nehmen kommen sagen haben machen rot gut morgen boden hund tonne sohn"
    ).split()
    assert {"a", "e", "i", "o", "u"} <= sukhotin_vowels(words)
    assert not sukhotin_vowels(words) & set("bdfgklmnprstvwz")


def test_vowels_of_finnish() -> None:
    words = (
        "talo kissa koira kala katu vesi puu maa lumi järvi sauna poika tyttö äiti isä kirja koulu "
        "opettaja ystävä hevonen suomi helsinki kaupunki metsä päivä kylä"
    ).split()
    assert sukhotin_vowels(words) == set("aeiouyäö")


@pytest.mark.parametrize("words", [[], [""], ["a"], ["aaa", "b"]])
def test_no_neighbours_no_vowels(words: list[str]) -> None:
    assert sukhotin_vowels(words) == frozenset()


@settings(deadline=None)
@given(st.lists(TINY, max_size=6))
def test_vowels_do_not_depend_on_order(words: list[str]) -> None:
    assert sukhotin_vowels(words) == sukhotin_vowels([word[::-1] for word in reversed(words)])
