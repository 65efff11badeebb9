"""The model from tables to completions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paradigms.lexemes import Candidate, Lexeme
from paradigms.model import ParadigmModel
from paradigms.tables import frame_to_lexemes, read_table
from tests.paradigms.nouns import CELLS, HOLES, NOUNS, TABLES, noun

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def model() -> ParadigmModel:
    return ParadigmModel().fit(NOUNS)


def best(completions: dict[str, list[Candidate]]) -> dict[str, str]:
    return {cell: candidates[0].form for cell, candidates in completions.items()}


def test_the_regular_is_completed(model: ParadigmModel) -> None:
    (completions,) = model.complete_lexemes([noun(("Steg", "", "Stege", ""), "Steg")])
    assert best(completions) == {"N;GEN;SG": "Stegs", "N;DAT;PL": "Stegen"}


def test_candidates_are_a_distribution_best_first(model: ParadigmModel) -> None:
    for lexeme, completions in zip(HOLES, model.complete_lexemes(HOLES), strict=True):
        assert list(completions) == lexeme.holes
        for candidates in completions.values():
            probabilities = [candidate.probability for candidate in candidates]
            assert probabilities == sorted(probabilities, reverse=True)
            assert all(0 <= p <= 1 + 1e-9 for p in probabilities)
            assert sum(probabilities) <= 1 + 1e-9
            assert len({candidate.form for candidate in candidates}) == len(candidates) > 0


def test_something_is_left_for_forms_that_nobody_proposes(model: ParadigmModel) -> None:
    lexeme = Lexeme("Tag", None, {"N;NOM;SG": ("Tag",), "V;IMP": ()})
    (completions,) = model.complete_lexemes([lexeme])
    assert "Tag" in [candidate.form for candidate in completions["V;IMP"]]
    assert completions["V;IMP"][0].probability < 0.6
    assert sum(candidate.probability for candidate in completions["V;IMP"]) < 0.99


def test_full_lexemes_have_nothing_to_complete(model: ParadigmModel) -> None:
    assert model.complete_lexemes(NOUNS) == [{}] * len(NOUNS)
    assert model.complete_lexemes([]) == []


def test_given_cells_help() -> None:
    table = read_table(DATA / "german_nouns.tsv", alternatives="/").lexemes()[::4]
    holes = read_table(DATA / "german_nouns_holes.tsv", alternatives="/").lexemes()[::4]
    joint = ParadigmModel().fit(holes).score(holes, table)
    alone = ParadigmModel(sources="lemma").fit(holes).score(holes, table)
    assert joint > alone + 0.05
    assert joint > 0.8


def test_lemma_only_hears_no_other_cell() -> None:
    model = ParadigmModel(sources="lemma", adapt=False).fit(NOUNS)
    few, many = (noun(("", "", form, ""), "Steg") for form in ("", "Xyz"))
    first, second = model.complete_lexemes([few, many])
    assert first["N;DAT;PL"] == second["N;DAT;PL"]
    joint = ParadigmModel(adapt=False).fit(NOUNS)
    first, second = joint.complete_lexemes([few, many])
    assert first["N;DAT;PL"] != second["N;DAT;PL"]


def test_jobs_make_no_difference(model: ParadigmModel) -> None:
    done: list[int] = []
    many = [noun((f"St{vowel}g", "", "", ""), f"St{vowel}g") for vowel in "aeiouäöü"] + HOLES
    assert model.complete_lexemes(many, jobs=2, progress=done.append) == model.complete_lexemes(
        many
    )
    assert sum(done) == model.passes * len(many)


def test_progress_counts_lexemes(model: ParadigmModel) -> None:
    done: list[int] = []
    model.complete_lexemes(HOLES, progress=done.append)
    assert sum(done) == model.passes * len(HOLES)


def test_same_seed_same_result_and_order_of_lexemes(model: ParadigmModel) -> None:
    expected = model.complete_lexemes(HOLES)
    assert ParadigmModel(seed=7).fit(NOUNS).complete_lexemes(HOLES) == expected
    some = HOLES[:3]
    frozen = ParadigmModel(adapt=False).fit(NOUNS)
    assert frozen.complete_lexemes(some[::-1]) == frozen.complete_lexemes(some)[::-1]


@pytest.mark.parametrize(
    "setting",
    [
        {"lemma": "perhaps"},
        {"sources": "some"},
        {"seed": 0.5},
        {"sweeps": -1},
        {"sweeps": True},
        {"sweeps": False},
    ],
)
def test_settings_are_checked(setting: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting))):
        ParadigmModel(**setting)


def test_adapting_learns_from_the_tables_to_complete() -> None:
    oddly = [noun((f"{s}ax", "", f"q{s}ax", ""), f"{s}ax") for s in ("mur", "tol", "bek", "sim")]
    table = [*oddly, noun(("zifax", "", "", ""), "zifax")]
    adapted = ParadigmModel().fit(NOUNS).complete_lexemes(table)[-1]
    assert best(adapted)["N;NOM;PL"] == "qzifax"
    not_adapted = ParadigmModel(adapt=False).fit(NOUNS).complete_lexemes(table)[-1]
    assert "qzifax" not in {candidate.form for candidate in not_adapted["N;NOM;PL"]}


def test_a_cell_never_seen(model: ParadigmModel) -> None:
    lexeme = Lexeme("Tag", "Tag", {"N;NOM;SG": ("Tag",), "N;LOC;DU": (), "V;IMP": ()})
    (completions,) = model.complete_lexemes([lexeme])
    assert completions["N;LOC;DU"]
    assert completions["V;IMP"]


def test_nothing_given_and_only_unknown_cells(model: ParadigmModel) -> None:
    (completions,) = model.complete_lexemes([Lexeme("?", None, {"V;IMP": (), "V;INF": ()})])
    assert all(completions[cell] for cell in ("V;IMP", "V;INF"))


def test_mixed_parts_of_speech() -> None:
    verbs = [
        Lexeme(lemma, lemma, {"V;INF": (lemma,), "V;PTCP": (participle,)})
        for lemma, participle in [
            ("spielen", "gespielt"),
            ("lachen", "gelacht"),
            ("malen", "gemalt"),
        ]
    ]
    model = ParadigmModel().fit([*NOUNS, *verbs])
    verb = Lexeme("zahlen", "zahlen", {"V;INF": ("zahlen",), "V;PTCP": ()})
    first, second = model.complete_lexemes([verb, noun(("Steg", "", "", ""), "Steg")])
    assert best(first) == {"V;PTCP": "gezahlt"}
    assert best(second)["N;NOM;PL"] == "Stege"


@pytest.mark.parametrize(
    "stem", ["Жук", "𐍈𐍉g", "ga\u0323\u0308g", "[b](c)\\g", "a b-c'g", "ًكg", "İıg"]
)
def test_unseen_symbols_are_copied(model: ParadigmModel, stem: str) -> None:
    (completions,) = model.complete_lexemes([noun((stem, "", "", ""), stem)])
    assert all(stem in {c.form[: len(stem)] for c in found} for found in completions.values())


@pytest.mark.parametrize("adapt", [True, False])
def test_a_long_form(adapt: bool) -> None:
    stem = "anti" * 74 + "steg"
    model = ParadigmModel(adapt=adapt).fit(NOUNS)
    (completions,) = model.complete_lexemes([noun((stem, "", "", ""), stem)])
    assert len(stem) == 300
    assert best(completions)["N;NOM;PL"] == stem + "e"


def test_alternatives_are_all_learned_from(model: ParadigmModel) -> None:
    (completions,) = model.complete_lexemes([noun(("Umbau", "", "", ""), "Umbau")])
    assert {"Umbauten", "Umbaue"} <= {c.form for c in completions["N;NOM;PL"]}
    (again,) = model.complete_lexemes([noun(("Umbau", "", "Umbauten/Umbaue", ""), "Umbau")])
    assert {"Umbauten", "Umbauen"} <= {c.form for c in again["N;DAT;PL"]}


def test_one_lexeme_is_enough_to_learn_from() -> None:
    model = ParadigmModel().fit([noun(("Tag", "Tags", "Tage", "Tagen"), "Tag")])
    (completions,) = model.complete_lexemes([noun(("Weg", "", "", ""), "Weg")])
    assert best(completions) == {"N;GEN;SG": "Wegs", "N;NOM;PL": "Wege", "N;DAT;PL": "Wegen"}


def test_nothing_to_learn_from_is_an_error() -> None:
    for tables in ([], [noun(("", "", "", ""), "Tag")]):
        with pytest.raises(ValueError, match="nothing to learn from"):
            ParadigmModel().fit(tables)


def test_an_unfitted_model_says_so(tmp_path: Path) -> None:
    model = ParadigmModel()
    for call in (
        lambda: model.complete_lexemes(HOLES),
        lambda: model.save(tmp_path / "m"),
        model.summary,
    ):
        with pytest.raises(RuntimeError, match="call fit first"):
            call()
    assert not list(tmp_path.iterdir())


def test_score_counts_right_holes(model: ParadigmModel) -> None:
    gold = [noun(("Steg", "Stegs", "Stege", "falsch"), "Steg")]
    assert model.score([noun(("Steg", "", "Stege", ""), "Steg")], gold) == 0.5


def test_data_frames() -> None:
    frame = pd.DataFrame(
        [(f[0], *f) for f in TABLES[:4]] + [("Steg", "Steg", None, "Stege", "")],
        columns=["lemma", *CELLS],
    )
    model = ParadigmModel().fit(frame)
    full = model.complete(frame)
    assert full.iloc[-1].tolist() == ["Steg", "Steg", "Stegs", "Stege", "Stegen"]
    pd.testing.assert_frame_equal(full.iloc[:-1], frame.iloc[:-1])
    assert model.score(frame, full) == 1.0
    long = frame.melt("lemma", var_name="features", value_name="form").fillna("")
    assert ParadigmModel().fit(long).complete(long)["form"].tolist()[-1] == "Stegen"


def test_a_data_frame_keeps_the_holes_whose_likeliest_form_is_less_probable() -> None:
    frame = pd.DataFrame(
        [*((f[0], *f) for f in TABLES[:4]), ("Steg", "Steg", None, "Stege", None)],
        columns=["lemma", *CELLS],
    )
    model = ParadigmModel().fit(frame)
    (found,) = model.complete_lexemes(frame_to_lexemes(frame))[-1:]
    low, high = sorted(candidates[0].probability for candidates in found.values())
    assert low < high
    for least, num_open in ((0.0, 0), (low, 0), (high, 1), (1.0, 2)):
        completed = model.complete(frame, min_probability=least)
        assert completed.isna().sum().sum() == num_open


@pytest.mark.parametrize("least", [-0.1, 1.5, float("nan")])
def test_what_is_no_probability_is_refused_before_any_work(least: float) -> None:
    with pytest.raises(ValueError, match="min_probability"):
        ParadigmModel().complete(pd.DataFrame(), min_probability=least)


def test_lemma_as_an_identifier() -> None:
    frame = pd.DataFrame(
        [(str(n), *f) for n, f in enumerate(TABLES[:4])] + [("9", "Steg", None, "Stege", None)],
        columns=["lemma", *CELLS],
    )
    model = ParadigmModel(lemma="id").fit(frame)
    assert model.complete(frame).iloc[-1].tolist() == ["9", "Steg", "Stegs", "Stege", "Stegen"]
    assert model.summary()["lemma is a form"] is False


def test_summary(model: ParadigmModel) -> None:
    summary = model.summary()
    assert summary["lexemes"] == len(NOUNS)
    assert summary["cells"] == len(CELLS)
    assert json.loads(json.dumps(summary)) == summary


# The order of rows


SHOWN = {"N;A": "miru", "N;B": "mire", "N;C": "miru", "N;D": "mire"}


@pytest.mark.parametrize("cells", [("N;A", "N;B", "N;C", "N;D"), ("N;B", "N;D", "N;A", "N;C")])
def test_the_order_of_cells_says_nothing(cells: tuple[str, ...]) -> None:
    ends = {"gab": "ooaiu", "tol": "ooioi"}
    train = [
        Lexeme(stem, None, {f"N;{c}": (stem + end,) for c, end in zip("ABCDE", last, strict=True)})
        for stem, last in ends.items()
    ]
    asked = Lexeme("mir", None, {**{cell: (SHOWN[cell],) for cell in cells}, "N;E": ()})
    table = [*train, asked]
    found = ParadigmModel(lemma="id").fit(table).complete_lexemes(table)[-1]["N;E"]
    straight = Lexeme("mir", None, {**{c: (form,) for c, form in SHOWN.items()}, "N;E": ()})
    table = [*train, straight]
    assert found == ParadigmModel(lemma="id").fit(table).complete_lexemes(table)[-1]["N;E"]


def test_the_order_of_lexemes_says_nothing_in_large_tables() -> None:
    """P tells the ending in the first half of the alphabet, Q in the second."""
    rng = np.random.default_rng(5)
    stems = [a + b + c for a in "bdfgklmn" for b in "aeiou" for c in "kmrt"][:150]
    table = []
    for number, stem in enumerate(stems):
        end = "xyz"[int(rng.integers(3))]
        noise = "xyz"[int(rng.integers(3))]
        p, q = (end, noise) if number < len(stems) / 2 else (noise, end)
        table.append(Lexeme(stem, None, {"P": (stem + p,), "Q": (stem + q,), "R": (stem + end,)}))
    holes = [Lexeme("nam", None, {"P": ("namx",), "Q": ("namy",), "R": ()})]
    found = [
        ParadigmModel(lemma="id").fit(rows).complete_lexemes(holes)
        for rows in (table, table[::-1], sorted(table, key=lambda lexeme: lexeme.key[::-1]))
    ]
    assert found[0] == found[1] == found[2]
