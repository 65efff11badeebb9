"""Examples of pairs of cells, borrowing over differences of tags, and the bound on what is kept."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from fsbp.rewrite_model import Example
from paradigms import pair_models
from paradigms.evidence import LEMMA, Evidence, Guess
from paradigms.lexemes import Lexeme
from paradigms.pair_models import PairModels


def evidence_of(*tables: Mapping[str, str | tuple[str, ...]], lemma: str | None = None) -> Evidence:
    return Evidence.from_lexemes(
        [
            Lexeme(
                str(n),
                lemma,
                {c: (forms,) if isinstance(forms, str) else forms for c, forms in table.items()},
            )
            for n, table in enumerate(tables)
        ]
    )


def best(models: PairModels, source: str, target: str, form: str, kind: str = "direct") -> str:
    model = getattr(models, kind)(source, target)
    probability_of = model.distribution(form)
    return max(probability_of, key=probability_of.__getitem__)


def test_direct_models_see_lexemes_with_both_cells() -> None:
    models = PairModels(
        evidence_of(
            {"SG": "Tag", "PL": "Tage"}, {"SG": "Weg", "PL": ()}, {"PL": "Leute"}, {"DU": "x"}
        )
    )
    assert models.direct("SG", "PL").total_weight == 1
    assert best(models, "SG", "PL", "Weg") == "Wege"
    assert best(models, "PL", "SG", "Wege") == "Weg"
    assert models.direct("SG", "DU") is None


def test_alternatives_share_a_lexeme() -> None:
    table = {"SG": "Bau", "PL": ("Bauten", "Baue")}
    alone = PairModels(evidence_of({"SG": "Tag", "PL": "Tage"})).direct("SG", "PL")
    model = PairModels(evidence_of(table)).direct("SG", "PL")
    assert model.total_weight == alone.total_weight == 1
    probability_of = model.distribution("Bau")
    assert probability_of["Bauten"] == pytest.approx(probability_of["Baue"])
    assert probability_of["Baue"] < alone.distribution("Tag")["Tage"]


def test_borrowing_from_pairs_with_the_same_difference() -> None:
    evidence = evidence_of(
        {"N;NOM;SG": "kala", "N;NOM;PL": "kalat"},
        {"N;NOM;SG": "talo", "N;NOM;PL": "talot"},
        {"N;ACC;SG": "talon", "N;ACC;PL": ()},
    )
    models = PairModels(evidence)
    assert models.direct("N;ACC;SG", "N;ACC;PL") is None
    assert best(models, "N;ACC;SG", "N;ACC;PL", "kissa", "borrowed") == "kissat"
    assert best(models, "N;ACC;PL", "N;ACC;SG", "kissat", "borrowed") == "kissa"
    assert models.borrowed("N;NOM;SG", "N;ACC;PL") is None


def test_a_pair_lends_nothing_to_itself() -> None:
    evidence = evidence_of({"N;NOM;SG": "kala", "N;NOM;PL": "kalax", "N;ACC;SG": "a"})
    assert PairModels(evidence).borrowed("N;NOM;SG", "N;NOM;PL") is None
    evidence = evidence_of(
        {"N;NOM;SG": "kala", "N;NOM;PL": "kalax"}, {"N;ACC;SG": "kala", "N;ACC;PL": "kalay"}
    )
    for case, ending in (("NOM", "y"), ("ACC", "x"), ("NOM", "y")):
        model = PairModels(evidence).borrowed(f"N;{case};SG", f"N;{case};PL")
        assert model.total_weight == 1
        assert set(model.distribution("kala")) == {f"kala{ending}"}


def test_cells_of_the_same_features_lend_to_each_other() -> None:
    evidence = evidence_of({"N;SG": "kala", "SG;N": "tala", "N;PL": "kalax"})
    models = PairModels(evidence)
    assert models.borrowed("SG;N", "N;PL").total_weight == 1
    assert best(models, "N;SG", "N;PL", "tala", "borrowed") == "kalax"


def test_nobody_lends_across_other_differences() -> None:
    evidence = evidence_of(
        {"V;PRS;1": "a", "V;PST;1": "ab", "N;SG": "c", "N;PL": ()}, {"V;PRS;2": "a", "V;PST;2": ()}
    )
    models = PairModels(evidence)
    assert models.borrowed("N;SG", "N;PL") is None
    assert best(models, "V;PRS;2", "V;PST;2", "x", "borrowed") == "xb"


def test_the_cells_most_like_the_target_lend_first(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = evidence_of(
        {
            "V;F;1;SG": "a",
            "V;F;1;PL": "ax",
            "N;SG": "b",
            "N;PL": "by",
            "V;F;2;SG": "c",
            "V;F;2;PL": (),
        }
    )
    assert best(PairModels(evidence), "V;F;2;SG", "V;F;2;PL", "c", "borrowed") == "cx"
    monkeypatch.setattr(pair_models, "MAX_BORROWED", 1)
    model = PairModels(evidence).borrowed("V;F;2;SG", "V;F;2;PL")
    assert model.total_weight == 1
    assert set(model.distribution("c")) == {"cx"}


def test_what_is_borrowed_does_not_depend_on_earlier_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pair_models, "MAX_BORROWED", 1)
    verbs = {"V;F;1;SG": "a", "V;F;1;PL": "ax", "V;F;2;SG": "c", "V;F;2;PL": ()}
    nouns = {"N;A;SG": "b", "N;A;PL": "by", "N;B;SG": "c", "N;B;PL": ()}
    models = PairModels(evidence_of({**verbs, **nouns}))
    for _ in range(2):
        assert best(models, "V;F;2;SG", "V;F;2;PL", "c", "borrowed") == "cx"
        assert best(models, "N;B;SG", "N;B;PL", "c", "borrowed") == "cy"


def test_the_lemma_neither_lends_nor_borrows_like_a_feature() -> None:
    evidence = evidence_of({"N;SG": "kala", "N;PL": "kalat", "N;DU": ()}, lemma="kala")
    models = PairModels(evidence)
    assert models.direct(LEMMA, "N;PL").total_weight == 1
    assert models.borrowed(LEMMA, "N;DU") is None


def test_copying() -> None:
    model = PairModels(evidence_of({"SG": "x"})).copying
    assert set(model.distribution("Жжx")) == {"Жжx"}


def test_many_lexemes_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = evidence_of(*({"SG": f"a{n}", "PL": f"a{n}b"} for n in range(25)))
    monkeypatch.setattr(pair_models, "MAX_EXAMPLES", 10)
    model = PairModels(evidence).direct("SG", "PL")
    assert 5 <= model.total_weight <= 10
    assert best(PairModels(evidence), "SG", "PL", "xy") == "xyb"


def test_models_are_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_models, "MAX_SYMBOLS", 2 * (pair_models.SYMBOLS_PER_MODEL + 1))
    evidence = evidence_of({"A": "a", "B": "b", "C": "c"})
    models = PairModels(evidence)
    first = models.direct("A", "B")
    assert models.direct("A", "B") is first
    assert models.direct("B", "C") is not models.direct("A", "C")
    again = models.direct("A", "B")
    assert again is not first, "the one used longest ago made room"
    assert again.distribution("a") == first.distribution("a")
    models.direct("A", "C")
    models.direct("C", "B")
    assert models.direct("A", "B") is not again
    kept = models.direct("C", "B")
    models.direct("A", "B")
    models.direct("C", "A")
    assert models.direct("C", "B") is not kept


# Guesses

GUESSED = [
    {"SG": "Tag", "PL": "Tage"},
    {"SG": (), "PL": "Wege"},
    {"SG": "Frau", "PL": ()},
    {"SG": (), "PL": ("Bauten", "Baue")},
    {"SG": (), "PL": ()},
]
GUESSES = [
    {},
    {"SG": (Guess("Weg", 0.5), Guess("Wege", 0.25))},
    {"PL": (Guess("Frauen", 0.75),)},
    {"SG": (Guess("Bau", 1.0),)},
    {"SG": (Guess("x", 1.0),), "PL": (Guess("y", 1.0),)},
]


def test_guesses_are_sources_of_given_forms() -> None:
    models = PairModels(evidence_of(*GUESSED).guessing(GUESSES))
    assert models._examples("SG", "PL") == [
        Example("Tag", "Tage", 1.0),
        Example("Weg", "Wege", 0.5 * pair_models.GUESS_WEIGHT),
        Example("Wege", "Wege", 0.25 * pair_models.GUESS_WEIGHT),
        Example("Bau", "Bauten", pair_models.GUESS_WEIGHT),
    ]
    assert models._examples("PL", "SG") == [
        Example("Tage", "Tag", 1.0),
        Example("Frauen", "Frau", 0.75 * pair_models.GUESS_WEIGHT),
    ]


def test_a_guess_is_never_what_is_learned() -> None:
    evidence = evidence_of(*GUESSED).guessing(GUESSES)
    models = PairModels(evidence)
    given = {
        cell: {form for forms in evidence.lexemes for form in forms.get(cell, ())}
        for cell in evidence.cells
    }
    for source, target in itertools.permutations(evidence.cells, 2):
        assert {example.target for example in models._examples(source, target)} <= given[target]


def test_guesses_alone_make_a_model() -> None:
    tables = [{"SG": (), "PL": "Wege"}, {"SG": (), "PL": "Tage"}]
    evidence = evidence_of(*tables)
    assert PairModels(evidence).direct("SG", "PL") is None
    guessed = PairModels(
        evidence.guessing([{"SG": (Guess("Weg", 1.0),)}, {"SG": (Guess("Tag", 1.0),)}])
    )
    assert best(guessed, "SG", "PL", "Steg") == "Stege"
    assert guessed.direct("PL", "SG") is None


def test_a_given_form_counts_more_than_a_guess() -> None:
    tables = [{"SG": "Tag", "PL": "Tage"}, {"SG": (), "PL": "Wegs"}]
    models = PairModels(evidence_of(*tables).guessing([{}, {"SG": (Guess("Weg", 1.0),)}]))
    assert 0.0 < pair_models.GUESS_WEIGHT < 1.0
    probability_of = models.direct("SG", "PL").distribution("xy")
    assert probability_of["xye"] > probability_of["xys"] > 0.0


def test_guesses_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_models, "MAX_EXAMPLES", 10)
    tables = [{"SG": (f"a{n}",) if n < 25 else (), "PL": f"a{n}b"} for n in range(60)]
    guesses = [{} if n < 25 else {"SG": (Guess(f"a{n}", 1.0),)} for n in range(60)]
    found = PairModels(evidence_of(*tables).guessing(guesses))._examples("SG", "PL")
    weights = [example.weight for example in found]
    assert 5 <= weights.count(1.0) <= 10
    assert 5 <= weights.count(pair_models.GUESS_WEIGHT) <= 10
    assert {example.target for example in found if example.weight < 1} & {"a58b", "a59b", "a57b"}
