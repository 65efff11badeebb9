"""Stems and exponents of forms that no other form of their lexeme explains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from paradigms import stems
from paradigms.evidence import Evidence, Guess
from paradigms.lexemes import Lexeme
from paradigms.stems import MAX_STEMS, stem_guesses
from tests.paradigms.affixes import affixed_lexemes


def lexeme(key: str, **forms: str) -> Lexeme:
    return Lexeme(key, None, {cell: (form,) if form else () for cell, form in forms.items()})


def stems_of(lexemes: Sequence[Lexeme]) -> list[tuple[Guess, ...]]:
    return stem_guesses(Evidence.from_lexemes(lexemes))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("number", "seed"), [(12, 1), (16, 2), (40, 3)])
def test_stems_of_suffixing_and_prefixing_languages(
    number: int, seed: int, backwards: bool
) -> None:
    language = affixed_lexemes(number, seed, backwards)
    found = stems_of([affixed.lexeme for affixed in language])
    right = [
        guesses[0].form == affixed.stem for guesses, affixed in zip(found, language, strict=True)
    ]
    assert np.mean(right) >= 0.9


def test_guesses_are_shares_of_one_lexeme_best_first() -> None:
    language = affixed_lexemes(16, 4)
    for affixed, guesses in zip(language, stems_of([a.lexeme for a in language]), strict=True):
        weights = [guess.weight for guess in guesses]
        assert weights == sorted(weights, reverse=True)
        assert 0.0 < weights[-1] <= sum(weights) <= 1.0 + 1e-9
        assert len(guesses) <= MAX_STEMS
        assert len({guess.form for guess in guesses}) == len(guesses)
        assert all(affixed.forms[affixed.cell].startswith(guess.form) for guess in guesses)


def test_a_stem_begins_all_forms_of_its_lexeme() -> None:
    found = stems_of([lexeme("1", A="tagab", B="tagoc", C="takar"), lexeme("2", A="murab", B="")])
    assert {guess.form for guess in found[0]} <= {"", "t", "ta"}
    assert found[0][0].form


def test_several_forms_tell_more_than_one() -> None:
    shown = [lexeme(s, A=s + "a", B=s + "im", C=s + "u") for s in ("nal", "pik", "sur", "tem")]
    assert [guesses[0].form for guesses in stems_of(shown)] == ["nal", "pik", "sur", "tem"]
    assert all(guesses[0].weight > 0.9 for guesses in stems_of(shown))


def test_the_order_of_lexemes_makes_no_difference() -> None:
    lexemes = [affixed.lexeme for affixed in affixed_lexemes(16, 5)]
    forwards, backwards = stems_of(lexemes), stems_of(lexemes[::-1])
    for one, other in zip(forwards, backwards[::-1], strict=True):
        assert [guess.form for guess in one] == [guess.form for guess in other]
        np.testing.assert_allclose([g.weight for g in one], [g.weight for g in other], rtol=1e-9)


# One step


def expected_shares(
    words: Sequence[Sequence[tuple[str, str]]],
    share_of: Sequence[dict[str, float]],
    log_stem_of: Sequence[dict[str, float]],
    temper: float,
    num_letters: int,
) -> tuple[list[dict[str, float]], float]:
    """Return the posterior of each lexeme's stems given the other lexemes, and its log total."""
    posterior, total = [], 0.0
    for this, forms in enumerate(words):
        score_of = {}
        for stem in share_of[this]:
            score = log_stem_of[this][stem]
            for cell, form in forms:
                exponent = form[len(stem) :]
                in_cell = anywhere = forms_in_cell = forms_anywhere = 0.0
                for other, other_forms in enumerate(words):
                    for other_cell, other_form in other_forms:
                        forms_anywhere += 1.0
                        forms_in_cell += other != this and other_cell == cell
                        for other_stem, share in share_of[other].items():
                            same = other_form[len(other_stem) :] == exponent
                            if same and other_cell == cell and other != this:
                                in_cell += share
                            own = other == this and other_cell == cell
                            anywhere += share if same and not own else 0.0
                drawn = (num_letters + 1.0) ** -(len(exponent) + 1.0)
                base = (
                    1 - stems.NEW_EXPONENT
                ) * anywhere / forms_anywhere + stems.NEW_EXPONENT * drawn
                score += math.log(
                    (in_cell + stems.CONCENTRATION * base) / (forms_in_cell + stems.CONCENTRATION)
                )
            score_of[stem] = temper * score
        sum_of = sum(math.exp(score) for score in score_of.values())
        posterior.append({stem: math.exp(score) / sum_of for stem, score in score_of.items()})
        total += math.log(sum_of)
    return posterior, total


@pytest.mark.parametrize("temper", [1.0, 0.6])
@pytest.mark.parametrize(
    "words",
    [
        [[("A", "tala")], [("A", "mola")], [("B", "tula")]],
        [[("A", "tala"), ("B", "tal")], [("A", "mola"), ("C", "mollo")], [("B", "mula")]],
        [[("A", "ab")], [("B", "ab")], [("C", "b")]],
    ],
)
def test_a_step_equals_the_formula(words: list[list[tuple[str, str]]], temper: float) -> None:
    forms = [form for each in words for _, form in each]
    letters = stems._Letters.of(forms)
    divisions = stems._divisions(words, letters)
    rng = np.random.default_rng(0)
    share_d = rng.random(len(divisions.stem_d))
    share_d /= np.bincount(divisions.lexeme_d, share_d)[divisions.lexeme_d]
    share_of: list[dict[str, float]] = [{} for _ in words]
    log_stem_of: list[dict[str, float]] = [{} for _ in words]
    for stem, at, share, log_stem in zip(
        divisions.stem_d, divisions.lexeme_d, share_d, divisions.log_stem_d, strict=True
    ):
        share_of[at][stem], log_stem_of[at][stem] = share, log_stem
        assert log_stem == pytest.approx(letters.log_probs(words[at][0][1])[len(stem)])
    found_d, log_likelihood = stems._renewed(divisions, share_d, temper)
    num_letters = len(set("".join(forms)))
    expected, total = expected_shares(words, share_of, log_stem_of, temper, num_letters)
    np.testing.assert_allclose(found_d, [share for e in expected for share in e.values()])
    assert log_likelihood == pytest.approx(total)


def test_letters_of_a_stem_are_a_distribution() -> None:
    letters = stems._Letters.of(["ana", "nab", "ban"])
    for beginning in ("", "a", "an", "bana"):
        (known,) = letters.log_probs(beginning)[-1:]
        onwards = [math.exp(letters.log_probs(beginning + each)[-1] - known) for each in "anb"]
        assert 0.0 < sum(onwards) < 1.0, "what is left ends the string"


def test_a_large_alphabet_gets_a_shorter_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = ["".join(chr(97 + (n * k) % 26) for k in range(1, 6)) for n in range(30)]
    longest = stems._Letters.of(forms).automaton.next_ha.size
    monkeypatch.setattr(stems, "MAX_ARCS", longest - 1)
    assert 26 < stems._Letters.of(forms).automaton.next_ha.size < longest
    monkeypatch.setattr(stems, "MAX_ARCS", 1)
    assert stems._Letters.of(forms).automaton.next_ha.size == 26


# Little or odd evidence


def test_a_lexeme_with_nothing_given_has_no_stem() -> None:
    assert stem_guesses(Evidence.from_lexemes([])) == []
    assert stems_of([lexeme("1", A="", B="")]) == [()]
    first, nothing, last = stems_of(
        [lexeme("1", A="taga"), lexeme("2", A=""), lexeme("3", A="muka")]
    )
    assert nothing == ()
    assert (first[0].form[:1], last[0].form[:1]) == ("t", "m")


def test_the_lemma_is_a_form() -> None:
    found = stems_of([Lexeme("tagen", "tagen", {"A": ("taga",), "B": ()})])
    assert {guess.form for guess in found[0]} <= {"", "t", "ta", "tag"}


@pytest.mark.parametrize(
    "forms",
    [
        ["a"],
        ["a", "b", "c", "a"],
        ["abc"],
        ["ga\u0323\u0308g", "\u0323\u0308k", "e\u0301"],
        ["𐍈𐍉", "Жук", "İı"],
    ],
)
def test_single_letters_and_marks(forms: list[str]) -> None:
    lexemes = [lexeme(str(n), **{"AB"[n % 2]: form}) for n, form in enumerate(forms)]
    for form, guesses in zip(forms, stems_of(lexemes), strict=True):
        assert guesses
        begins = all(form.startswith(guess.form) for guess in guesses)
        assert begins or all(form.endswith(guess.form) for guess in guesses)


def test_long_forms_that_share_nothing() -> None:
    """The exponents are whole forms, of a probability that no float can hold."""
    letters = "".join(chr(0x61 + n) for n in range(26)) * 40
    found = stems_of([lexeme("1", A=letters, B="q" * 500), lexeme("2", A="", B="cdef")])
    assert found[0] == (Guess("", 1.0),)
    assert found[1]
    assert all(math.isfinite(guess.weight) for guess in found[1])


def test_every_guess_has_some_weight() -> None:
    """Many forms leave no doubt: the share of a worse stem is less than any float."""
    alphabet = "".join(chr(0x61 + n) for n in range(26))
    forms = {f"c{n}": alphabet[n % 25] * (n % 6) + alphabet[n % 23] for n in range(120)}
    lexemes = [
        lexeme(stem, **{cell: stem + end for cell, end in forms.items()})
        for stem in ("stam", "tolv")
    ]
    found = stems_of(lexemes)
    assert [guesses[0].form for guesses in found] == ["stam", "tolv"]
    assert all(guess.weight > 0.0 for guesses in found for guess in guesses)
