"""Contextual edits against sums over edit sequences, what they learn, and the search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsbp.contextual_edits import MAX_WEIGHTS, PASSES, ContextualEdits, EditExample
from fsbp.edit_contexts import NUM_CONTEXTS, WRITE, last_vowel
from fsbp.edit_search import SPARE
from fsbp.rewrites import SymbolCosts
from tests.fsbp.edit_sequences import GROUPS, SEEDS, STRINGS, codes, enumerated, random_model

COSTS = SymbolCosts(frozenset("aeiouäöü"))


# Sums


@settings(max_examples=60)
@given(
    SEEDS, STRINGS, st.lists(STRINGS, max_size=6), GROUPS, st.sampled_from(["ab\u0301𝄞", "𝄞", ""])
)
def test_log_probs_sum_over_edit_sequences(
    seed: int, source: str, targets: list[str], groups: tuple[str, ...], written: str
) -> None:
    model = random_model(seed, written)
    targets = [*targets, source, source + "b", ""]
    found_n = np.exp(model.log_probs(source, targets, groups))
    for found, target in zip(found_n.tolist(), targets, strict=True):
        total, sure, _ = enumerated(model, source, target, groups)
        assert sure * (1 - 1e-4) <= found <= total * (1 + 1e-4)


@settings(max_examples=30)
@given(SEEDS, STRINGS, st.lists(STRINGS, max_size=8), GROUPS)
def test_targets_do_not_disturb_one_another(
    seed: int, source: str, targets: list[str], groups: tuple[str, ...]
) -> None:
    model = random_model(seed)
    alone = [float(model.log_probs(source, [target], groups)[0]) for target in targets]
    assert model.log_probs(source, targets, groups).tolist() == alone
    assert model.log_probs(source, targets[::-1], groups).tolist() == alone[::-1]


def test_what_no_edit_writes_can_only_be_copied() -> None:
    targets = ["z", "az", "zb", "zz", "azz", "z𝄞z"]
    possible = np.isfinite(random_model(3, spread=0.1).log_probs("az", targets))
    assert possible.tolist() == [True, True, True, False, False, False]
    nothing_written = random_model(3, "", spread=0.1).log_probs("ba", ["ba", "b", "a", "", "ab"])
    assert np.isfinite(nothing_written).tolist() == [True, True, True, True, False]


def test_unlikely_sequences_are_left_out() -> None:
    """One symbol written costs 9 nats, so that two of them are out of reach."""
    weight_re = np.zeros((1, 4), dtype=np.float32)
    weight_re[0, WRITE] = -9.0 / NUM_CONTEXTS
    model = ContextualEdits(codes("a"), codes(""), weight_re)
    one, two = model.log_probs("", ["a", "aa"]).tolist()
    assert one == pytest.approx(-9.0, abs=1e-3)
    assert two == -np.inf
    assert enumerated(model, "", "aa", ()).total == pytest.approx(math.exp(-18.0), rel=1e-3)


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(["", "z", "ab", "zab"]), GROUPS)
def test_probabilities_of_all_targets_sum_to_one(
    seed: int, source: str, groups: tuple[str, ...]
) -> None:
    model = random_model(seed, "ab", spread=0.1)
    symbols = sorted({*"ab", *source})
    targets = ["".join(t) for n in range(8) for t in product(symbols, repeat=n)]
    prob_n = np.exp(model.log_probs(source, targets, groups))
    length_n = np.array([len(target) for target in targets])
    total_n = [prob_n[length_n <= length].sum() for length in range(8)]
    assert total_n[-1] <= 1.0 + 1e-5
    assert total_n[-1] > 0.97
    assert total_n[0] < total_n[1] < total_n[2]


def test_last_vowel() -> None:
    vowels = codes("ae𝄞")
    assert [last_vowel(ord("o"), ord(s), vowels) for s in "ae𝄞z0"] == [*codes("ae𝄞"), *codes("oo")]
    assert last_vowel(-1, ord("a"), codes("")) == -1


# What is learned

STEMS = tuple(
    f"{before}{first}{vowel}{last}"
    for n, (vowel, (first, last)) in enumerate(
        product("aoueiü", ("pt", "ks", "mn", "tk", "sp", "nm"))
    )
    for before in ((f"k{vowel}",) if n % 3 == 0 else ("",))
)
GRADATION = [
    ("kukka", "kukan"), ("tukki", "tukin"), ("katto", "katon"), ("matto", "maton"),
    ("loppu", "lopun"), ("pappi", "papin"), ("kissa", "kissan"), ("talo", "talon"),
    ("sana", "sanan"), ("kylä", "kylän"), ("tyttö", "tytön"), ("kortti", "kortin"),
    ("lippu", "lipun"), ("nukke", "nuken"), ("hattu", "hatun"), ("muna", "munan"),
]  # fmt: skip


def plural(stem: str) -> str:
    """Return the stem with a suffix whose vowel agrees with the last one of the stem."""
    (*_, last) = (symbol for symbol in stem if symbol in "aoueiü")
    return stem + ("lar" if last in "aou" else "ler")


def total_log_prob(model: ContextualEdits, examples: Sequence[EditExample]) -> float:
    return sum(float(model.log_probs(x, [y], groups)[0]) for x, y, groups in examples)


def best(model: ContextualEdits, source: str, *groups: str) -> str:
    return model.likeliest(source, 8, groups)[0]


def test_the_likelihood_of_examples_rises() -> None:
    examples = [EditExample(x, y, ("N;GEN",)) for x, y in GRADATION]
    total_p = [
        total_log_prob(ContextualEdits.from_examples(examples, COSTS, passes), examples)
        for passes in (0, 1, 2, PASSES)
    ]
    assert total_p == sorted(total_p)
    assert total_p[1] - total_p[0] > len(examples)
    assert total_p[-1] > -0.5 * len(examples)


def test_vowel_harmony_of_unseen_stems() -> None:
    examples = [EditExample(stem, plural(stem)) for stem in STEMS]
    model = ContextualEdits.from_examples(examples, COSTS)
    for stem in (
        "kanst",
        "keptm",
        "tusnt",
        "pimsk",
        "mokts",
        "tkapmn",
        "setasp",
        "panekt",
        "süntp",
    ):
        assert best(model, stem) == plural(stem)


def test_gradation_of_unseen_stems() -> None:
    model = ContextualEdits.from_examples([EditExample(x, y) for x, y in GRADATION], COSTS)
    unseen = {"sukka": "sukan", "seppä": "sepän", "vatti": "vatin", "mökki": "mökin",
              "tappo": "tapon", "lotto": "loton", "pala": "palan"}  # fmt: skip
    assert {stem: best(model, stem) for stem in unseen} == unseen


def test_groups_differ() -> None:
    stems = ["kap", "ten", "sut", "mik", "tom", "pek"]
    endings = {"cell A": "n", "cell B": "ta"}
    examples = [
        EditExample(s, s + ending, (cell,)) for s in stems for cell, ending in endings.items()
    ]
    model = ContextualEdits.from_examples(examples, COSTS)
    for cell, ending in endings.items():
        assert best(model, "sol", cell) == f"sol{ending}"
    one, other = (model.log_probs("sol", ["soln"], (cell,))[0] for cell in endings)
    assert one - other > 2.0


def test_cells_that_share_tags_share_what_they_learned() -> None:
    """No pair shows the third cell; a tag that it shares with the first makes it alike."""
    first, second, third = ("cell A", "tag PL"), ("cell B", "tag SG"), ("cell C", "tag PL")
    stems = STEMS[::6]
    examples = [
        *(EditExample(stem, stem + "te", first) for stem in stems),
        *(EditExample(stem, stem, second) for stem in stems),
    ]
    model = ContextualEdits.from_examples(examples, COSTS)
    assert best(model, "sol", *third) == "solte"
    assert best(model, "sol", "cell C", "tag SG") == "sol"


def test_the_same_result_twice_and_the_seed() -> None:
    examples = [EditExample(x, y) for x, y in GRADATION]
    model, again = (ContextualEdits.from_examples(examples, COSTS) for _ in range(2))
    np.testing.assert_array_equal(model.weight_re, again.weight_re)
    assert model.written_w.tolist() == again.written_w.tolist() == codes("n").tolist()
    other = ContextualEdits.from_examples(examples, COSTS, seed=1)
    turned = ContextualEdits.from_examples(examples[::-1], COSTS)
    for variant in (other, turned):
        assert (variant.weight_re != model.weight_re).any()
        assert best(variant, "sukka") == best(model, "sukka")


def test_the_order_of_visits_is_all_that_the_order_of_examples_changes() -> None:
    """One example has only one order; and repetition is a further pass."""
    (example,) = (EditExample("kukka", "kukan"),)
    once = ContextualEdits.from_examples([example], COSTS, passes=4, seed=0)
    for examples, passes, seed in (([example], 4, 1), ([example] * 2, 2, 0)):
        same = ContextualEdits.from_examples(examples, COSTS, passes=passes, seed=seed)
        np.testing.assert_array_equal(same.weight_re, once.weight_re)


# Search


@settings(max_examples=25)
@given(SEEDS, st.text(alphabet="abz", max_size=2), GROUPS)
def test_a_wide_beam_finds_the_likeliest(seed: int, source: str, groups: tuple[str, ...]) -> None:
    model = random_model(seed, "ab", "a")
    symbols = sorted({*"ab", *source})
    universe = ["".join(t) for n in range(5) for t in product(symbols, repeat=n)]
    found = model.likeliest(source, 200, groups)
    log_prob_n = model.log_probs(source, universe, groups)
    assert universe[int(log_prob_n.argmax())] in found
    best_of = {target: enumerated(model, source, target, groups).best for target in universe}
    assert best_of[found[0]] == pytest.approx(max(best_of.values()), rel=1e-4)
    best_n = [best_of[target] for target in found if target in best_of]
    assert all(later <= earlier * (1 + 1e-4) for earlier, later in pairwise(best_n))


@settings(max_examples=40)
@given(SEEDS, STRINGS, st.integers(1, 6), GROUPS)
def test_never_more_than_asked_for(seed: int, source: str, k: int, groups: tuple[str, ...]) -> None:
    model = random_model(seed)
    found = model.likeliest(source, k, groups)
    assert len(found) == len(set(found)) <= k
    assert np.isfinite(model.log_probs(source, found, groups)).all()


def test_the_search_ends_where_writing_does_not() -> None:
    weight_re = np.zeros((1, 4), dtype=np.float32)
    weight_re[0, WRITE] = 5.0 / NUM_CONTEXTS
    found = ContextualEdits(codes("a"), codes("a"), weight_re).likeliest("zz", 5)
    assert max(map(len, found), default=0) <= 2 * len("zz") + SPARE


# Bounds


def test_many_symbols_keep_the_weights_within_their_bound() -> None:
    symbols = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    model = ContextualEdits.from_examples([EditExample("", symbols)], COSTS, passes=1)
    assert model.written_w.tolist() == codes(symbols).tolist()
    rows, edits = model.weight_re.shape
    assert edits == WRITE + 3000
    assert MAX_WEIGHTS / 2 < rows * edits <= MAX_WEIGHTS
    assert rows & (rows - 1) == 0, "rows are picked by the last bits of a hash"


def test_nothing_can_be_learned_from_nothing() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        ContextualEdits.from_examples([], COSTS)
