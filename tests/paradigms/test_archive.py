"""Model files, sound and damaged."""

from __future__ import annotations

import io
import json
import pickle
import struct
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paradigms.archive import acceptor_in, read_archive, write_archive
from paradigms.model import ModelFileError, ParadigmModel
from tests.paradigms.nouns import HOLES, NOUNS, noun


@pytest.fixture(scope="module")
def model() -> ParadigmModel:
    return ParadigmModel().fit(NOUNS)


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


def test_guesses_change_nothing_that_is_learned_again(tmp_path: Path) -> None:
    """Edits are learned from given forms alone, whether or not guesses came with the file."""
    endings = ("", "a", "ta", "lla")
    forms = [tuple(f"{stem}{e}" for e in endings) for stem in ("kato", "polku", "talo", "sika")]
    given = [
        tuple(form if (n + k) % 3 else "" for k, form in enumerate(each))
        for n, each in enumerate(forms)
    ]
    tables = [noun(each, None) for each in given]
    model = ParadigmModel(lemma="id", adapt=False).fit(tables)
    assert any(model.evidence.guesses)
    model.save(tmp_path / "m")
    loaded = ParadigmModel.load(tmp_path / "m")
    loaded.adapt = False
    assert loaded.complete_lexemes(tables) == model.complete_lexemes(tables)


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
