"""What is learned from holes: guesses, and the completions that they change."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from paradigms import sweeps
from paradigms.archive import write_archive
from paradigms.evidence import STEM, Evidence, Guess
from paradigms.lexemes import Candidate, Lexeme
from paradigms.messages import MessageUse
from paradigms.model import ModelFileError, ParadigmModel
from paradigms.sweeps import MAX_GUESSES, MIN_PROBABILITY, guessed_evidence
from tests.paradigms.affixes import Affixed, affixed_lexemes
from tests.paradigms.nouns import HOLES, NOUNS

LANGUAGE = affixed_lexemes(12, 1)
TABLES = [affixed.lexeme for affixed in LANGUAGE]
NOTHING = Lexeme("nothing", None, dict.fromkeys(LANGUAGE[0].forms, ()))

Completions = list[dict[str, list[Candidate]]]


def lexeme(key: str, **forms: str) -> Lexeme:
    return Lexeme(key, None, {cell: (form,) if form else () for cell, form in forms.items()})


def accuracy(language: Sequence[Affixed], completions: Completions) -> float:
    right = [
        candidates[0].form == affixed.forms[hole]
        for affixed, found in zip(language, completions, strict=True)
        for hole, candidates in found.items()
    ]
    return float(np.mean(right))


def swept(number: int, adapt: bool = False, messages: MessageUse = "kbest") -> ParadigmModel:
    return ParadigmModel(sweeps=number, adapt=adapt, messages=messages).fit(TABLES)


@pytest.fixture(scope="module")
def model() -> ParadigmModel:
    return swept(1)


class Recorder:
    """Completes every hole with the same candidates; remembers what it was given."""

    def __init__(self, *candidates: Candidate) -> None:
        self.candidates = candidates
        self.calls: list[tuple[Evidence, list[tuple[Guess, ...]]]] = []

    def over(self, lexemes: Sequence[Lexeme]) -> Callable[..., object]:
        def complete(evidence: Evidence, stems: Sequence[Sequence[Guess]]) -> object:
            self.calls.append((evidence, [tuple(each) for each in stems]))
            return [dict.fromkeys(each.holes, self.candidates) for each in lexemes]

        return complete


# One form for each lexeme


@pytest.mark.parametrize("backwards", [False, True])
def test_a_sweep_finds_what_no_pair_of_cells_shows(backwards: bool) -> None:
    language = affixed_lexemes(12, 1, backwards)
    tables = [affixed.lexeme for affixed in language]
    without, with_one = (
        accuracy(
            language, ParadigmModel(sweeps=n, adapt=False).fit(tables).complete_lexemes(tables)
        )
        for n in (0, 1)
    )
    assert without < 0.2
    assert with_one >= 0.9


def test_adapting_sweeps_over_the_tables_to_complete() -> None:
    verbs = [lexeme(stem, **{"V;INF": f"{stem}et", "V;PST": f"{stem}ik"}) for stem in ("lo", "na")]
    without, with_one = (
        accuracy(LANGUAGE, ParadigmModel(sweeps=n).fit(verbs).complete_lexemes(TABLES))
        for n in (0, 1)
    )
    assert without < 0.2
    assert with_one >= 0.9


@pytest.mark.parametrize("messages", ["exact", "ngram"])
def test_all_kinds_of_messages_start_from_stems(messages: MessageUse) -> None:
    assert accuracy(LANGUAGE, swept(1, messages=messages).complete_lexemes(TABLES)) >= 0.8


def test_the_number_of_processes_makes_no_difference(model: ParadigmModel) -> None:
    again = ParadigmModel(sweeps=1, adapt=False).fit(TABLES, jobs=2)
    assert again.evidence.guesses == model.evidence.guesses
    assert again.complete_lexemes(TABLES, jobs=2) == model.complete_lexemes(TABLES)


def test_nothing_given_is_completed_too() -> None:
    model = ParadigmModel(sweeps=1, adapt=False).fit([*TABLES, NOTHING])
    *others, found = model.complete_lexemes([*TABLES, NOTHING])
    assert list(found) == NOTHING.holes
    assert all(candidates for candidates in found.values())
    assert accuracy(LANGUAGE, others) >= 0.9


def test_fitting_reports_every_sweep() -> None:
    for number in (0, 1, 2):
        done: list[int] = []
        ParadigmModel(sweeps=number).fit(TABLES[:4], progress=done.append)
        assert sum(done) == number * 4
    done = []
    ParadigmModel(sweeps=2).fit(NOUNS, progress=done.append)
    assert done == [], "there are no holes to sweep over"


@pytest.mark.parametrize("number", [-1, 0.5, "1", None])
def test_sweeps_are_checked(number: object) -> None:
    with pytest.raises(ValueError, match="expected 0 or more"):
        ParadigmModel(sweeps=number)  # type: ignore[arg-type]


def test_passes_are_those_over_the_tables_to_complete() -> None:
    assert ParadigmModel(sweeps=2).passes == 2
    assert ParadigmModel(sweeps=2, adapt=False).passes == 1
    assert ParadigmModel(sweeps=0).passes == 1


# Guesses


def test_no_sweep_leaves_the_evidence_unchanged() -> None:
    evidence, recorder = Evidence.from_lexemes(TABLES), Recorder()
    assert guessed_evidence(evidence, TABLES, 0, recorder.over(TABLES)) is evidence
    assert not swept(0).evidence.guesses
    full = Evidence.from_lexemes(NOUNS)
    assert guessed_evidence(full, NOUNS, 3, recorder.over(NOUNS)) is full
    assert recorder.calls == []


def test_the_best_candidates_of_each_hole_become_guesses() -> None:
    lexemes = [lexeme("1", A="tag", B=""), lexeme("2", A="weg", B="wege")]
    evidence = Evidence.from_lexemes(lexemes)
    candidates = [Candidate("tage", 0.5), Candidate("tags", 0.3), Candidate("tagen", 0.1)]
    found = guessed_evidence(evidence, lexemes, 1, Recorder(*candidates).over(lexemes))
    assert MAX_GUESSES == 2
    assert found.guesses == ({"B": (Guess("tage", 0.5), Guess("tags", 0.3))}, {})
    assert (found.lexemes, found.cells) == (evidence.lexemes, evidence.cells)
    unlikely = [Candidate("tage", 0.5), Candidate("tags", 0.9 * MIN_PROBABILITY)]
    found = guessed_evidence(evidence, lexemes, 1, Recorder(*unlikely).over(lexemes))
    assert found.guesses == ({"B": (Guess("tage", 0.5),)}, {})
    found = guessed_evidence(evidence, lexemes, 1, Recorder(*unlikely[1:]).over(lexemes))
    assert not any(found.guesses)


def test_each_sweep_starts_from_the_guesses_of_the_last() -> None:
    lexemes = [lexeme("1", A="tag", B=""), lexeme("2", A="weg", B="wege")]
    evidence, recorder = Evidence.from_lexemes(lexemes), Recorder(Candidate("tage", 0.5))
    guessed_evidence(evidence, lexemes, 3, recorder.over(lexemes))
    assert [known.guesses for known, _ in recorder.calls] == [
        (),
        ({"B": (Guess("tage", 0.5),)}, {}),
        ({"B": (Guess("tage", 0.5),)}, {}),
    ]
    assert [stems for _, stems in recorder.calls] == [[(), ()]] * 3


def test_stems_start_where_a_hole_was_never_seen_with_anything_given() -> None:
    lexemes = [lexeme("1", A="taga", B=""), lexeme("2", A="", B="wegesto"), lexeme("3", A="", B="")]
    evidence, recorder = Evidence.from_lexemes(lexemes), Recorder(Candidate("tage", 0.5))
    found = guessed_evidence(evidence, lexemes, 2, recorder.over(lexemes))
    (started, stems), (later, none) = recorder.calls
    assert started.cells[0] == STEM
    assert [guessed.get(STEM, ()) for guessed in started.guesses] == stems
    assert stems[0]
    assert stems[1]
    assert stems[2] == ()
    assert none == [()] * 3
    assert STEM not in {*later.cells, *found.cells}


def test_a_cell_that_nobody_fills_needs_no_stem() -> None:
    lexemes = [lexeme("1", A="tag", B="", C=""), lexeme("2", A="weg", B="wege", C="")]
    recorder = Recorder(Candidate("tage", 0.5))
    guessed_evidence(Evidence.from_lexemes(lexemes), lexemes, 1, recorder.over(lexemes))
    assert [stems for _, stems in recorder.calls] == [[(), ()]]


def test_earlier_guesses_stay() -> None:
    guessed: list[dict[str, tuple[Guess, ...]]] = [{"B": (Guess("tage", 0.5),)}, {}]
    earlier = [lexeme("1", A="tag", B=""), lexeme("2", A="weg", B="wege")]
    known = Evidence.from_lexemes(earlier).guessing(guessed)
    recorder = Recorder(Candidate("weg", 0.4))
    for own, starts in ((lexeme("3", A="", B="wege"), False), (lexeme("3", C="x", B=""), True)):
        joined = known.joined(Evidence.from_lexemes([own]))
        found = guessed_evidence(joined, [own], 1, recorder.over([own]))
        assert found.guesses == (*guessed, dict.fromkeys(own.holes, (Guess("weg", 0.4),)))
        started, stems = recorder.calls.pop()
        assert any(stems) is starts
        assert started.guesses[0]["B"] == (Guess("tage", 0.5),)


# Model files


def test_guesses_survive_joining(model: ParadigmModel) -> None:
    assert len(model.evidence.guesses) == len(TABLES)
    assert all(
        set(guessed) <= set(each.holes)
        for guessed, each in zip(model.evidence.guesses, TABLES, strict=True)
    )
    joined = model.evidence.joined(Evidence.from_lexemes(HOLES))
    assert joined.guesses == (*model.evidence.guesses, *[{}] * len(HOLES))
    (found,) = model.complete_lexemes([lexeme("new", **{"N;NOM;SG": "lukala", "N;NOM;PL": ""})])
    assert found["N;NOM;PL"][0].form == "lukalimu"


@pytest.mark.parametrize("adapt", [False, True])
def test_a_loaded_model_completes_in_the_same_way(
    model: ParadigmModel, adapt: bool, tmp_path: Path
) -> None:
    model.save(tmp_path / "m")
    loaded = ParadigmModel.load(tmp_path / "m")
    assert loaded.sweeps == 1
    assert loaded.evidence.guesses == model.evidence.guesses
    original = ParadigmModel(adapt=adapt)
    original._evidence, original._forms = model._evidence, model._forms
    loaded.adapt = adapt
    some = [*TABLES[:3], NOTHING]
    assert loaded.complete_lexemes(some) == original.complete_lexemes(some)


def damaged(guesses: object, path: Path, to: Path) -> Path:
    """Write a model file with other guesses about its first lexeme."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    evidence = json.loads(members["evidence.json"])
    evidence["guesses"] = guesses
    members["evidence.json"] = json.dumps(evidence).encode()
    write_archive(to, members)
    return to


@pytest.mark.parametrize(
    "first",
    [
        {"99": [["x", 0.5]]},
        {"a": [["x", 0.5]]},
        {"1": [["x"]]},
        {"1": [["x", "much"]]},
        {"1": [["x", float("nan")]]},
        {"1": [["x", float("inf")]]},
        {"1": [["x", 0.0]]},
        {"1": [["x", -0.5]]},
        {"1": [[7, 0.5]]},
        {"1": [None]},
        {"1": None},
        None,
        "text",
    ],
)
def test_damaged_guesses_are_refused(first: object, model: ParadigmModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    rest: list[object] = [{}] * (len(TABLES) - 1)
    whole = damaged([{"1": [["x", 0.5]]}, *rest], tmp_path / "m", tmp_path / "whole")
    assert ParadigmModel.load(whole).evidence.guesses[0] == {
        model.evidence.cells[1]: (Guess("x", 0.5),)
    }
    with pytest.raises(ModelFileError, match="missing or damaged"):
        ParadigmModel.load(damaged([first, *rest], tmp_path / "m", tmp_path / "bad"))


@pytest.mark.parametrize("guesses", [None, 7, [{}], "text"])
def test_guesses_about_other_lexemes_are_refused(
    guesses: object, model: ParadigmModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="missing or damaged"):
        ParadigmModel.load(damaged(guesses, tmp_path / "m", tmp_path / "bad"))


def test_few_tables_with_little_in_common() -> None:
    odd = [
        lexeme("1", A="a", B=""),
        lexeme("2", A="", B="ga\u0323\u0308g"),
        lexeme("3", A="", B=""),
    ]
    found = ParadigmModel(sweeps=2).fit(odd).complete_lexemes(odd)
    assert [list(each) for each in found] == [["B"], ["A"], ["A", "B"]]
    assert all(candidates for each in found for candidates in each.values())
    assert sweeps.stem_guesses(Evidence.from_lexemes(odd))[2] == ()
