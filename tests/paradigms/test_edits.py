"""What the model of edits learns from, and where it speaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from fsbp.alphabet import Alphabet
from fsbp.contextual_edits import ContextualEdits, EditExample
from fsbp.factors.contextual_edit import ContextualEditFactor
from fsbp.factors.rewrite import RewriteFactor
from fsbp.variables import Variable
from paradigms import edits
from paradigms.edits import EDIT_SOURCES, edit_groups, edit_model
from paradigms.evidence import LEMMA, Evidence, Guess
from paradigms.forms import form_acceptor
from paradigms.language import Language
from paradigms.lexemes import Lexeme
from paradigms.ranking import Ranking
from paradigms.sources import Source, sources_of_holes
from paradigms.weights import FEATURES, Weights
from tests.paradigms.nouns import NOUNS

CELLS = ("N;NOM;SG", "N;GEN;SG", "N;PART;SG", "N;NOM;PL")
ROWS = [
    ("kala", "kalan", "kalaa", "kalat"),
    ("talo", "talon", "taloa", "talot"),
    ("vesi", "veden", "vettä", "vedet"),
    ("susi", "suden", "sutta", "sudet"),
    ("kukka", "kukan", "kukkaa", ""),
    ("", "katon", "kattoa", "katot"),
]


def finnish(rows: Sequence[Sequence[str]] = ROWS, with_lemma: bool = True) -> list[Lexeme]:
    """Return lexemes whose lemma is the first form, if there is one."""
    return [
        Lexeme(
            str(n),
            (forms[0] or None) if with_lemma else None,
            {cell: (form,) if form else () for cell, form in zip(CELLS, forms, strict=True)},
        )
        for n, forms in enumerate(rows)
    ]


class Recorder:
    """Stands in for the class of the model, and remembers what it was asked to learn."""

    def __init__(self) -> None:
        self.examples: list[EditExample] = []
        self.passes = 0

    def from_examples(
        self, examples: Sequence[EditExample], costs: object, passes: int
    ) -> ContextualEdits:
        self.examples, self.passes = list(examples), passes
        return ContextualEdits(
            np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((1, 3), np.float32)
        )


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    found = Recorder()
    monkeypatch.setattr(edits, "ContextualEdits", found)
    return found


def learned_from(lexemes: Sequence[Lexeme], recorder: Recorder) -> list[EditExample]:
    edit_model(Evidence.from_lexemes(lexemes))
    return recorder.examples


# Groups


def test_groups_are_cell_pair_and_tags() -> None:
    assert set(edit_groups(LEMMA, "N;GEN;PL")) == {"cell N;GEN;PL", "tag N", "tag GEN", "tag PL"}
    shared = set(edit_groups(LEMMA, "N;GEN;PL"))
    (pair,) = set(edit_groups("N;NOM;SG", "N;GEN;PL")) - shared
    assert shared < set(edit_groups("N;NOM;SG", "N;GEN;PL"))
    assert pair not in edit_groups("N;GEN;PL", "N;NOM;SG")


def test_groups_tell_cells_tags_and_pairs_apart() -> None:
    """A cell named like its only tag has none besides; names that join alike differ."""
    assert len(set(edit_groups("A", "N"))) == 2
    pairs = [edit_groups(a, b) for a, b in product(("N", "N;PL", "PL", "N PL"), repeat=2)]
    assert len({frozenset(groups) for groups in pairs}) == len(pairs)
    assert edit_groups("A", "N;PL;GEN")[-3:] == edit_groups("A", "GEN;N;PL")[-3:], "sorted"


# Examples


def test_examples_are_the_lemma_and_the_two_most_regular_cells(recorder: Recorder) -> None:
    lexemes = finnish()
    evidence = Evidence.from_lexemes(lexemes)
    expected = Counter()
    for lexeme in lexemes:
        cells = [cell for cell in sorted(CELLS) if lexeme.cells[cell]]
        ranking = Ranking.of(cells, cells, evidence)
        for number, cell in enumerate(cells):
            regular = ranking.most_regular(number)
            assert len(regular) == min(len(cells) - 1, 3)
            form_of = {source: lexeme.cells[source][0] for source in regular[:EDIT_SOURCES]}
            if lexeme.lemma:
                form_of[LEMMA] = lexeme.lemma
            for source, form in form_of.items():
                groups = edit_groups(source, cell)
                expected[EditExample(form, lexeme.cells[cell][0], groups)] += 1
    assert Counter(learned_from(lexemes, recorder)) == expected
    assert expected.total() == 4 * 4 * 3 + 3 * 3 + 3 * 2
    assert "cell \0lemma" not in {group for e in recorder.examples for group in e.groups}


def test_the_first_alternative_teaches(recorder: Recorder) -> None:
    targets = {example.target for example in learned_from(NOUNS, recorder)}
    assert "Bauten" in targets
    assert "Baue" not in targets


@pytest.mark.parametrize(
    "rows", [[], [("kala", "", "", ""), ("", "kalan", "", "")], [("", "", "", "")]]
)
def test_no_model_where_no_lexeme_shows_two_cells(rows: list[tuple[str, ...]]) -> None:
    evidence = Evidence.from_lexemes(finnish(rows, with_lemma=False))
    assert edit_model(evidence) is None


def test_a_lemma_and_a_form_are_two() -> None:
    evidence = Evidence.from_lexemes(finnish([("", "kalan", "", "")], with_lemma=False))
    assert edit_model(evidence) is None
    with_lemma = Lexeme("kala", "kala", {"N;GEN;SG": ("kalan",)})
    model = edit_model(Evidence.from_lexemes([with_lemma]))
    assert model is not None
    assert model.written_w.tolist() == [ord("n")]


def test_guesses_teach_nothing(recorder: Recorder) -> None:
    evidence = Evidence.from_lexemes(finnish())
    given = [set(lexeme.given.values()) | {(lexeme.lemma,)} for lexeme in finnish()]
    guesses: list[dict[str, tuple[Guess, ...]]] = [{} for _ in ROWS]
    guesses[4] = {CELLS[3]: (Guess("xxxx", 1.0),)}
    guesses[5] = {CELLS[0]: (Guess("yyyy", 1.0),), "\0stem": (Guess("kat", 1.0),)}
    edit_model(evidence.guessing(guesses))
    assert len(recorder.examples) == 4 * 4 * 3 + 3 * 3 + 3 * 2
    for x, y, _ in recorder.examples:
        assert any({(x,), (y,)} <= forms for forms in given)


@pytest.mark.parametrize("most", [30_000, 11])
def test_the_order_of_lexemes_makes_no_difference(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "MAX_TARGETS", most)
    lexemes = finnish()
    model = edit_model(Evidence.from_lexemes(lexemes))
    assert model is not None
    for order in ((5, 4, 3, 2, 1, 0), (2, 0, 5, 1, 4, 3)):
        other = edit_model(Evidence.from_lexemes([lexemes[n] for n in order]))
        assert other is not None
        assert other.written_w.tolist() == model.written_w.tolist()
        np.testing.assert_array_equal(other.weight_re, model.weight_re)


def test_at_most_so_many_cells_teach(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Counter(learned_from(finnish(), recorder))
    assert recorder.passes == edits.PASSES
    targets = {(example.target, example.groups[0]) for example in everything}
    for most in (1, 7, len(targets), 1000):
        monkeypatch.setattr(edits, "MAX_TARGETS", most)
        some = Counter(learned_from(finnish(), recorder))
        found = {(example.target, example.groups[0]) for example in some}
        assert len(found) == min(most, len(targets))
        assert some <= everything, "each as often as there is one"
    monkeypatch.setattr(edits, "MANY_EXAMPLES", 20)
    learned_from(finnish(), recorder)
    assert recorder.passes == edits.PASSES_OF_MANY


def test_no_cell_is_passed_over_where_tables_are_many(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the number of cells, so that no rhythm of tables and draws hides any."""
    for num_cells in (3, 6, 8):
        cells = [f"C{n}" for n in range(num_cells)]
        tables = [
            Lexeme(str(n), f"w{n}", {cell: (f"w{n}{cell}",) for cell in cells}) for n in range(160)
        ]
        monkeypatch.setattr(edits, "MAX_TARGETS", 10 * num_cells)
        times = Counter(example.groups[:2] for example in learned_from(tables, recorder))
        from_lemma = {groups[0] for groups in times if not groups[-1].startswith("pair")}
        assert from_lemma == {f"cell {cell}" for cell in cells}
        assert max(times.values()) < 30


# Sources


@pytest.fixture(scope="module")
def language() -> Language:
    evidence = Evidence.from_lexemes(
        [*finnish(), Lexeme("on", None, {"V;PRS": ("on",), "N;GEN;PL": ()})]
    )
    return Language.of(evidence, Weights.shipped(), form_acceptor(evidence), edit_model(evidence))


def edited(given: dict[str, str], hole: str, language: Language) -> list[Source]:
    (found,) = sources_of_holes(given, [hole], language)
    return [source for source in found if source.model is language.edits]


def test_edits_from_the_lemma_and_the_two_most_regular(language: Language) -> None:
    given = {CELLS[0]: "matto", CELLS[2]: "mattoa", CELLS[1]: "maton"}
    ranking = Ranking.of(sorted(given), [CELLS[3]], language.evidence)
    regular = ranking.most_regular(0)
    assert len(regular) == 3
    assert [s.cell for s in edited(given, CELLS[3], language)] == regular[:EDIT_SOURCES]
    found = edited({**given, LEMMA: "matto"}, CELLS[3], language)
    assert [s.cell for s in found] == [*regular[:EDIT_SOURCES], LEMMA]
    assert [s.feature_of["edits: is the lemma"] for s in found] == [0.0, 0.0, 1.0]
    assert {s.feature_of["edits: one over sources"] for s in found} == {1 / 3}
    share, short = "edits: share of the commonest change", "edits: share short of the best"
    at = language.evidence.position_of[CELLS[3]]
    shares = [float(language.evidence.reliability(s.cell)[0][at]) for s in found]
    assert [s.feature_of[share] for s in found] == shares
    assert [s.feature_of[short] for s in found] == [max(shares) - one for one in shares]
    assert min(s.feature_of[short] for s in found) == 0.0
    assert all(set(s.feature_of) <= set(FEATURES) for s in found)


def test_edits_into_a_cell_that_no_lexeme_shows(language: Language) -> None:
    """Then what is most alike speaks."""
    given = {CELLS[0]: "matto", CELLS[1]: "maton", "V;PRS": "on"}
    found = edited(given, "N;GEN;PL", language)
    ranking = Ranking.of(sorted(given), ["N;GEN;PL"], language.evidence)
    assert [s.cell for s in found] == ranking.nearest(0)[:EDIT_SOURCES]
    assert {s.cell for s in found} == set(CELLS[:2])
    assert [s.feature_of["edits: similarity of features"] for s in found] == sorted(
        (s.feature_of["edits: similarity of features"] for s in found), reverse=True
    )


def test_edits_learned_from_the_lexeme_itself(language: Language) -> None:
    (first, *_) = finnish()
    known = {LEMMA: first.lemma or "", CELLS[1]: first.cells[CELLS[1]][0]}
    name, of_lemma = "edits: learned from the lexeme", "edits: learned from the lexeme, whose lemma"
    for given, expected in ((known, 1.0), ({LEMMA: "matto", CELLS[1]: "maton"}, 0.0)):
        found = {s.cell: s.feature_of for s in edited(given, CELLS[3], language)}
        assert [f[name] for f in found.values()] == [expected, expected]
        assert found[LEMMA][f"{of_lemma} it is"] == expected
        assert found[CELLS[1]][f"{of_lemma} it is"] == 0.0


def test_edits_without_a_lemma(language: Language) -> None:
    for given, expected in (({CELLS[1]: "maton"}, 1.0), ({LEMMA: "matto", CELLS[1]: "maton"}, 0.0)):
        found = edited(given, CELLS[3], language)
        assert {s.feature_of["edits: without a lemma"] for s in found} == {expected}


def test_without_a_model_nothing_is_edited(language: Language) -> None:
    plain = Language.of(language.evidence, language.weights, language.forms)
    (found,) = sources_of_holes({LEMMA: "matto"}, [CELLS[1]], plain)
    assert found
    assert all(not name.startswith("edits") for source in found for name in source.feature_of)


def test_factors_of_sources(language: Language) -> None:
    letters = Alphabet.from_strings(["matto", "maton"])
    given, hole = Variable(CELLS[0], letters), Variable(CELLS[1], letters)
    (found,) = sources_of_holes({CELLS[0]: "matto"}, [CELLS[1]], language)
    kinds = set()
    for source in found:
        factor = source.factor(given, hole, 0.75)
        kinds.add(type(factor))
        assert (factor.source, factor.target, factor.exponent) == (given, hole, 0.75)
        if source.model is language.edits:
            assert isinstance(factor, ContextualEditFactor)
            assert factor.groups == edit_groups(CELLS[0], CELLS[1])
            assert factor.model is language.edits
        else:
            assert isinstance(factor, RewriteFactor)
    assert kinds == {ContextualEditFactor, RewriteFactor}


def test_edits_are_learned_across_cells(language: Language) -> None:
    """The genitive is seen with and without gradation, and edits from the lemma tell which."""
    model = language.edits
    assert model is not None
    groups = edit_groups(LEMMA, CELLS[1])
    for lemma, genitive in (("sukka", "sukan"), ("pala", "palan")):
        assert genitive in model.likeliest(lemma, 8, groups)[:2]
