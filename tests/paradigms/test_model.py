"""The model from tables to completions, and its files, sound and damaged."""

from __future__ import annotations

import io
import json
import pickle
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paradigms.archive import acceptor_in, read_archive, write_archive
from paradigms.lexemes import Candidate, Lexeme
from paradigms.model import ModelFileError, ParadigmModel
from paradigms.tables import read_table

DATA = Path(__file__).parents[2] / "data"
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
    assert completions["V;IMP"][0].form == "Tag"
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
    assert sum(done) == len(many)


def test_progress_counts_lexemes(model: ParadigmModel) -> None:
    done: list[int] = []
    model.complete_lexemes(HOLES, progress=done.append)
    assert sum(done) == len(HOLES)


def test_same_seed_same_result_and_order_of_lexemes(model: ParadigmModel) -> None:
    expected = model.complete_lexemes(HOLES)
    assert ParadigmModel(seed=7).fit(NOUNS).complete_lexemes(HOLES) == expected
    some = HOLES[:3]
    frozen = ParadigmModel(adapt=False).fit(NOUNS)
    assert frozen.complete_lexemes(some[::-1]) == frozen.complete_lexemes(some)[::-1]


@pytest.mark.parametrize("setting", [{"lemma": "perhaps"}, {"sources": "some"}, {"seed": 0.5}])
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


# Files


@pytest.fixture(scope="module")
def saved(model: ParadigmModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "nouns.model"
    model.save(path)
    return path


def test_round_trip(model: ParadigmModel, saved: Path, tmp_path: Path) -> None:
    loaded = ParadigmModel.load(saved)
    assert loaded.complete_lexemes(HOLES) == model.complete_lexemes(HOLES)
    assert loaded.summary() == model.summary()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_settings_are_kept(tmp_path: Path) -> None:
    model = ParadigmModel(lemma="id", sources="lemma", seed=5).fit(NOUNS)
    model.save(tmp_path / "m")
    loaded = ParadigmModel.load(tmp_path / "m")
    assert (loaded.lemma, loaded.sources, loaded.seed) == ("id", "lemma", 5)


@pytest.mark.parametrize("form", ["ga\u0323\u0308g", "𐍈\u202e", "Zeile\nzwei\ttab", '"\\\0'])
def test_any_form_survives_the_file(form: str, tmp_path: Path) -> None:
    form = unicodedata.normalize("NFC", form)
    model = ParadigmModel().fit([*NOUNS, noun((form, form, form, form), form)])
    model.save(tmp_path / "m")
    assert ParadigmModel.load(tmp_path / "m").evidence.lexemes == model.evidence.lexemes


def damaged(path: Path, change: Callable[[dict[str, bytes]], None], target: Path) -> Path:
    members = read_archive(path)
    change(members)
    write_archive(target, members)
    return target


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (_explode, ("boom",))


def _explode(message: str) -> None:
    raise AssertionError(f"a pickle was executed: {message}")


def pickled_npz() -> bytes:
    content = io.BytesIO()
    bomb = np.array([_Bomb()], dtype=object)
    np.savez(content, names=np.array(["sources"]), sizes=np.array([1]), values=bomb)
    return content.getvalue()


MEMBERS = ("settings.json", "evidence.json", "alphabet.json", "weights.npz", "forms.fst")


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    "content", [b"", b"null", b"{}", b"[1]", b"\xff\xfe", b"[" * 100_000, pickle.dumps(_Bomb())]
)
def test_a_member_that_is_something_else(
    saved: Path, tmp_path: Path, member: str, content: bytes
) -> None:
    path = damaged(saved, lambda members: members.update({member: content}), tmp_path / "m")
    with pytest.raises(ModelFileError, match="paradigms train"):
        ParadigmModel.load(path)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_is_missing(saved: Path, tmp_path: Path, member: str) -> None:
    path = damaged(saved, lambda members: members.pop(member), tmp_path / "m")
    with pytest.raises(ModelFileError, match="missing or damaged"):
        ParadigmModel.load(path)


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("evidence.json", {"cells": ["A"], "lexemes": [{"1": ["x"]}]}),
        ("evidence.json", {"cells": ["A"], "lexemes": [{"x": ["x"]}]}),
        ("evidence.json", {"cells": ["A"], "lexemes": [{"0": []}]}),
        ("evidence.json", {"cells": ["A"], "lexemes": [{"0": [7]}]}),
        ("evidence.json", {"cells": [7], "lexemes": [{"0": ["x"]}]}),
        ("evidence.json", {"cells": ["A", "A"], "lexemes": [{"0": ["x"]}]}),
        ("evidence.json", {"cells": ["A"], "lexemes": []}),
        ("alphabet.json", [1, 2]),
        ("alphabet.json", []),
        ("settings.json", {"lemma": "form"}),
        ("settings.json", {"lemma": "perhaps", "sources": "all", "seed": 0}),
        ("settings.json", {"lemma": "form", "sources": ["all"], "seed": 0}),
        ("settings.json", {"lemma": "form", "sources": "all", "seed": "x"}),
    ],
)
def test_members_with_impossible_content(
    saved: Path, tmp_path: Path, member: str, content: object
) -> None:
    changed = {member: json.dumps(content).encode()}
    path = damaged(saved, lambda members: members.update(changed), tmp_path / "m")
    with pytest.raises(ModelFileError, match="missing or damaged"):
        ParadigmModel.load(path)


def test_pickles_are_never_executed(saved: Path, tmp_path: Path) -> None:
    changed = {"weights.npz": pickled_npz()}
    path = damaged(saved, lambda members: members.update(changed), tmp_path / "m")
    with pytest.raises(ModelFileError):
        ParadigmModel.load(path)
    whole = tmp_path / "whole"
    whole.write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(ModelFileError):
        ParadigmModel.load(whole)


def test_weights_of_other_features(saved: Path, tmp_path: Path) -> None:
    content = io.BytesIO()
    np.savez(content, names=np.array(["sources"]), sizes=np.array([2]), values=np.zeros(2))
    changed = {"weights.npz": content.getvalue()}
    path = damaged(saved, lambda members: members.update(changed), tmp_path / "m")
    with pytest.raises(ModelFileError):
        ParadigmModel.load(path)


def test_another_version(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    for version in (b"fsbp paradigm model 999\n", b"", None):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in read_archive(saved).items():
                archive.writestr(name, content)
            if version is not None:
                archive.writestr("format.txt", version)
        with pytest.raises(ModelFileError, match="version"):
            ParadigmModel.load(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"lemma\tSG\tPL\n", b"\x80\x04.", bytes(1000)])
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a model file"):
        ParadigmModel.load(path)


def test_a_missing_file_is_not_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ParadigmModel.load(tmp_path / "nowhere")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_files(saved: Path, tmp_path: Path, share: float) -> None:
    content = saved.read_bytes()
    path = tmp_path / "m"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError):
        ParadigmModel.load(path)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(share=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255))
def test_flipped_bytes(saved: Path, tmp_path: Path, share: float, byte: int) -> None:
    content = bytearray(saved.read_bytes())
    content[int(share * len(content))] ^= byte
    path = tmp_path / "m"
    path.write_bytes(content)
    try:
        loaded = ParadigmModel.load(path)
    except ModelFileError:
        return
    expected = ParadigmModel.load(saved).evidence.lexemes
    assert loaded.evidence.lexemes == expected, "only zip metadata may change unnoticed"


# The machine of forms: OpenFst ends the process on sizes that cannot be.

HEAD = struct.calcsize("<ii6si5sii")
START, STATES = HEAD + 8, HEAD + 16
FIRST_STATE = HEAD + 32


@pytest.fixture(scope="module")
def machine(saved: Path) -> bytes:
    return read_archive(saved)["forms.fst"]


def changed(machine: bytes, layout: str, offset: int, value: float) -> bytes:
    content = bytearray(machine)
    struct.pack_into(layout, content, offset, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("layout", "offset", "value"),
    [
        ("<i", 0, 0),
        ("<i", 4, 2**31 - 1),
        ("<i", 4, -1),
        ("<i", HEAD - 8, 1),
        ("<i", HEAD - 4, 3),
        ("<q", START, -1),
        ("<q", START, 2**40),
        ("<q", STATES, -1),
        ("<q", STATES, 0),
        ("<q", STATES, 2**62),
        ("<d", FIRST_STATE, float("nan")),
        ("<d", FIRST_STATE, -float("inf")),
        ("<q", FIRST_STATE + 8, -1),
        ("<q", FIRST_STATE + 8, 2**62),
        ("<q", FIRST_STATE + 8, 1),
        ("<i", FIRST_STATE + 16, -5),
        ("<i", FIRST_STATE + 16, 10**6),
        ("<i", FIRST_STATE + 20, 7),
        ("<d", FIRST_STATE + 24, float("nan")),
        ("<i", FIRST_STATE + 32, -1),
        ("<i", FIRST_STATE + 32, 2**30),
    ],
)
def test_a_crafted_machine(
    saved: Path, tmp_path: Path, machine: bytes, layout: str, offset: int, value: float
) -> None:
    crafted = changed(machine, layout, offset, value)
    path = damaged(saved, lambda members: members.update({"forms.fst": crafted}), tmp_path / "m")
    with pytest.raises(ModelFileError, match="machine"):
        ParadigmModel.load(path)


@settings(max_examples=100, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_machines(machine: bytes, share: float) -> None:
    with pytest.raises(ValueError, match="machine"):
        acceptor_in(machine[: int(share * len(machine))], 1000)


@pytest.mark.parametrize("claims", [0, 2**64 - 1, 4, 0x0000956A5A950003])
def test_claims_about_properties_are_dropped(machine: bytes, claims: int) -> None:
    lying = bytearray(machine)
    struct.pack_into("<Q", lying, HEAD, claims)
    read = acceptor_in(bytes(lying), 1000)
    assert read.write_to_string() == acceptor_in(machine, 1000).write_to_string()


def test_machines_with_more_after_them(machine: bytes) -> None:
    with pytest.raises(ValueError, match="goes on"):
        acceptor_in(machine + b"\0", 1000)


def test_sound_machines_are_read_as_they_are(machine: bytes, model: ParadigmModel) -> None:
    read = acceptor_in(machine, len(model.evidence.alphabet))
    assert read.write_to_string() == machine
    with pytest.raises(ValueError, match="impossible"):
        acceptor_in(machine, len(model.evidence.alphabet) - 1)
