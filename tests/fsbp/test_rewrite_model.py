"""The back-off recomputed example by example, and the way back from a target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.rewrite_model import NEW_RULE_RATE, PREFIX_CONTEXT, SLACK_DECAY, Example, RewriteModel
from fsbp.rewrites import SymbolCosts, joined_readings, side_readings

COSTS = SymbolCosts(frozenset("ae"))
UNIVERSE = tuple("".join(symbols) for n in range(5) for symbols in product("ab", repeat=n))
STRINGS = st.text(alphabet="abc", max_size=4)
EXAMPLES = st.lists(
    st.builds(
        Example,
        source=STRINGS,
        target=STRINGS,
        weight=st.sampled_from([1.0, 0.5, 2.0]),
    ),
    min_size=1,
    max_size=8,
)
PLURALS = [
    Example("Tag", "Tage", 1.0),
    Example("Weg", "Wege", 1.0),
    Example("Frau", "Frauen", 1.0),
    Example("Bau", "Bauten", 0.5),
    Example("Bau", "Baue", 0.5),
    Example("Sau", "Säue", 1.0),
    Example("Haus", "Häuser", 1.0),
    Example("Maus", "Mäuse", 1.0),
    Example("Laus", "Läuse", 1.0),
]


def backed_off(
    contexts: Sequence[int], rules: Sequence[int], weights: Sequence[float], num_rules: int
) -> list[float]:
    """Return each rule's probability: context by context, longest last, straight from the text.

    P(r | k symbols) = (N(r) + rate x T x P(r | fewer symbols)) / (N + rate x T), where N counts
    the examples that share at least k symbols with the source and T their distinct rules.
    """
    probability = [1 / (num_rules + 1)] * num_rules
    previous: list[int] = []
    for shared in range(max(contexts) + 1):
        inside = [e for e, c in enumerate(contexts) if c >= shared]
        if inside == previous:
            continue
        previous = inside
        counts = [sum(weights[e] for e in inside if rules[e] == r) for r in range(num_rules)]
        new = NEW_RULE_RATE * len({rules[e] for e in inside})
        total = sum(counts) + new
        probability = [
            (count + new * p) / total for count, p in zip(counts, probability, strict=True)
        ]
    return probability


def shared_start(x: str, y: str) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(x, y, strict=False))))


def slow_distribution(
    model: RewriteModel, examples: Sequence[Example], source: str
) -> dict[str, float]:
    """Return what `RewriteModel.distribution` returns, for models with few rules."""
    weights = [example.weight for example in examples]
    suffixes = [shared_start(e.source[::-1], source[::-1]) + (e.source == source) for e in examples]
    prefixes = [min(PREFIX_CONTEXT, shared_start(e.source, source)) for e in examples]
    left = backed_off(prefixes, model.left_e.tolist(), weights, len(model.lefts))
    right = backed_off(suffixes, model.right_e.tolist(), weights, len(model.rights))
    whole = backed_off(suffixes, model.whole_e.tolist(), weights, len(model.wholes))
    whole_of = dict(zip(model.wholes, whole, strict=True))
    lefts = [side_readings(source, side) for side in model.lefts]
    rights = [side_readings(source[::-1], side) for side in model.rights]
    left_total = sum(p for p, readings in zip(left, lefts, strict=True) if readings)
    probability_of: dict[str, float] = {}
    for n, m in product(range(len(lefts)), range(len(rights))):
        if lefts[n] and rights[m]:
            independent = left[n] / left_total * right[m]
            together = whole_of.get((n, m), 0.0)
            for y, part in joined_readings(source, lefts[n], rights[m], SLACK_DECAY).items():
                share = (independent + together) / 2 * part
                probability_of[y] = probability_of.get(y, 0.0) + share
    return probability_of


@settings(deadline=None)
@given(EXAMPLES, STRINGS)
def test_probabilities_sum_to_at_most_one(examples: list[Example], source: str) -> None:
    probability_of = RewriteModel.from_examples(examples, COSTS).distribution(source)
    assert all(p > 0 for p in probability_of.values())
    assert sum(probability_of.values()) <= 1 + 1e-9


@settings(deadline=None)
@given(EXAMPLES.filter(lambda examples: len(examples) <= 4), STRINGS)
def test_distribution_equals_the_slow_reference(examples: list[Example], source: str) -> None:
    model = RewriteModel.from_examples(examples, COSTS)
    expected = slow_distribution(model, examples, source)
    assert model.distribution(source) == pytest.approx(expected)


def test_back_off_by_hand() -> None:
    model = RewriteModel.from_examples(
        [Example("ba", "bax"), Example("ca", "cax"), Example("cb", "cby")], COSTS
    )
    probability_of = model.distribution("da")
    # All left sides are alike, so both kernels say the same.
    # Nothing shared: 3 examples, 2 rules, before them 1/3 each. Then "a": 2 examples, 1 rule.
    nothing = (2 + 2 * NEW_RULE_RATE / 3) / (3 + 2 * NEW_RULE_RATE)
    expected = (2 + NEW_RULE_RATE * nothing) / (2 + NEW_RULE_RATE)
    assert probability_of["dax"] == pytest.approx(expected)
    other = (1 + 2 * NEW_RULE_RATE / 3) / (3 + 2 * NEW_RULE_RATE)
    assert probability_of["day"] == pytest.approx(NEW_RULE_RATE * other / (2 + NEW_RULE_RATE))


def test_left_sides_see_no_further_than_a_prefix() -> None:
    examples = [Example("abcde", "zabcde"), Example("abcdx", "yabcdx"), Example("q", "q")]
    model = RewriteModel.from_examples(examples, COSTS)
    probability_of = model.distribution("abcdefg")
    assert PREFIX_CONTEXT == 4
    assert probability_of["zabcdefg"] == pytest.approx(probability_of["yabcdefg"])
    assert probability_of["zabcdefg"] > probability_of["abcdefg"]


def test_the_longest_shared_suffix_decides() -> None:
    model = RewriteModel.from_examples(PLURALS, COSTS)
    best = {
        source: max(p, key=p.__getitem__)
        for source in ("Schlag", "Steg", "Klaus", "Haus")
        if (p := model.distribution(source))
    }
    assert best == {"Schlag": "Schlage", "Steg": "Stege", "Klaus": "Kläuse", "Haus": "Häuser"}


def test_sides_seen_apart_combine() -> None:
    model = RewriteModel.from_examples(
        [Example("raten", "geraten"), Example("zahle", "zahlt"), Example("male", "malt")], COSTS
    )
    assert 0 < model.distribution("sage")["gesagt"] < model.distribution("sage")["sagt"]


def test_unknown_symbols_are_copied() -> None:
    model = RewriteModel.from_examples(PLURALS, COSTS)
    best = model.distribution("Ζωή𐍈g")
    assert max(best, key=best.__getitem__) == "Ζωή𐍈ge"


def test_a_long_string() -> None:
    probability_of = RewriteModel.from_examples(PLURALS, COSTS).distribution("a" * 300 + "g")
    assert max(probability_of, key=probability_of.__getitem__) == "a" * 300 + "ge"


@settings(deadline=None, max_examples=25)
@given(EXAMPLES)
def test_sources_are_all_that_yield_the_target(examples: list[Example]) -> None:
    model = RewriteModel.from_examples(examples, COSTS)
    yielded = {x: model.distribution(x) for x in UNIVERSE}
    for target in UNIVERSE:
        found = model.sources(target)
        assert len(set(found)) == len(found)
        assert {x for x in UNIVERSE if target in yielded[x]} <= set(found)


def test_sources_by_hand() -> None:
    model = RewriteModel.from_examples([Example("Haus", "Häuser"), Example("Tag", "Tage")], COSTS)
    assert set(model.sources("Mäuser")) == {"Maus", "Mäus"}
    assert set(model.sources("Wege")) == {"Weg"}
    assert model.sources("Weg") == []


def test_order_and_duplicates_of_examples() -> None:
    model = RewriteModel.from_examples(PLURALS, COSTS)
    backwards = RewriteModel.from_examples(PLURALS[::-1], COSTS)
    twice = [example._replace(weight=example.weight / 2) for example in PLURALS] * 2
    assert backwards.distribution("Strauß") == pytest.approx(model.distribution("Strauß"))
    halves = RewriteModel.from_examples(twice, COSTS).distribution("Strauß")
    assert halves == pytest.approx(model.distribution("Strauß"))


def test_rules_and_counts() -> None:
    model = RewriteModel.from_examples(PLURALS, COSTS)
    assert model.total_weight == sum(example.weight for example in PLURALS) == 8.0
    assert len(model.rules) == len(model.wholes) == 6
    with pytest.raises(ValueError, match="at least one example"):
        RewriteModel.from_examples([], COSTS)
