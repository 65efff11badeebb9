"""What is drawn of a lexeme's graph, and that any letters can be written."""

from __future__ import annotations

import itertools
import sys
import xml.etree.ElementTree as ET

import pytest

from paradigms.evidence import LEMMA
from paradigms.inspection import inspected_in_model, inspected_in_table
from paradigms.lexemes import Lexeme
from paradigms.model import ParadigmModel
from paradigms.plots import MAX_HOLES, Drawing, drawing_bytes, lexeme_drawing
from tests.paradigms.nouns import CELLS, HOLES, NOUNS

STARTS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".dot": b"graph lexeme {"}


@pytest.fixture(scope="module")
def model() -> ParadigmModel:
    return ParadigmModel().fit(NOUNS)


@pytest.fixture(scope="module")
def drawing(model: ParadigmModel) -> Drawing:
    return lexeme_drawing(inspected_in_model(model, "Tag"))


def test_the_drawing_is_the_graph(model: ParadigmModel, drawing: Drawing) -> None:
    inspected = inspected_in_model(model, "Tag")
    graph = inspected.graph(inspected.lexeme.holes)
    assert {box.name for box in drawing.variables} == {v.name for v in graph.variables}
    assert {box.name: box.form for box in drawing.variables if box.given} == graph.evidence
    assert sorted(box.ends for box in drawing.factors) == sorted(
        tuple(variable.name for variable in factor.variables) for factor in graph.factors
    )
    for box in drawing.variables:
        assert box.cell == ("lemma" if box.name == LEMMA else box.name)
        if not box.given:
            best = inspected.candidates_of[box.name][0]
            assert (box.form, box.probability) == (best.form, f"{best.probability:.2f}")
    assert drawing.title == (
        "3 given forms and 2 holes of Tag",
        "a lexeme of the model, as if it were new, with every second cell hidden",
    )


def test_nothing_overlaps(drawing: Drawing) -> None:
    for boxes, least in ((drawing.variables, 0.55), (drawing.factors, 0.3)):
        for one, other in itertools.combinations(boxes, 2):
            assert one.x != other.x or abs(one.y - other.y) > least
    assert all(-drawing.height <= box.y <= 0 for box in (*drawing.variables, *drawing.factors))


def test_wider_lines_are_larger_exponents(drawing: Drawing) -> None:
    boxes = sorted((b for b in drawing.factors if b.exponent), key=lambda b: abs(b.exponent))
    assert boxes[0].width < boxes[-1].width
    copying = next(box for box in drawing.factors if box.kind == "copying")
    assert copying.label == f"copying {copying.exponent:.2f}".replace("-", "−")


def test_where_nothing_is_given_one_hole_is_the_source(model: ParadigmModel) -> None:
    drawing = lexeme_drawing(inspected_in_table(model, HOLES, "nothing"))
    assert not any(box.given for box in drawing.variables)
    left = [box for box in drawing.variables if box.x == 0]
    assert len(left) == 1
    assert {box.name for box in drawing.variables} == set(CELLS)
    pairs = [box for box in drawing.factors if len(box.ends) == 2]
    assert {box.ends[0] for box in pairs} == {left[0].name}
    (proposes,) = [box for box in drawing.factors if len(box.ends) == 1 and box.x < 0]
    assert (proposes.label, proposes.exponent) == ("n-gram", None)


def test_of_sixty_cells_a_few_are_drawn_and_the_title_says_so() -> None:
    def lexeme(stem: str, shown: range) -> Lexeme:
        cells = {f"V;{n}": (f"{stem}{n}",) if n in shown else () for n in range(60)}
        return Lexeme(stem, stem, cells)

    model = ParadigmModel().fit([lexeme("ab", range(60)), lexeme("cd", range(60))])
    drawing = lexeme_drawing(inspected_in_table(model, [lexeme("ef", range(0, 60, 2))], None))
    holes = [box.name for box in drawing.variables if not box.given]
    assert holes == [f"V;{n}" for n in range(1, 2 * MAX_HOLES, 2)]
    assert drawing.title[0] == "31 given forms and 30 holes of ef"
    assert f"drawn are {MAX_HOLES} holes and what speaks about them" in drawing.title[1]
    assert drawing.height < 16
    assert drawing_bytes(drawing, ".png").startswith(STARTS[".png"])


FORMS = {
    "right to left": ("كِتَاب", "כְּתָב"),
    "combining marks": ("e\u0301\u0323", "\u0301x"),
    "no glyph": ("हिन्दी 数字", "😀𐎀"),
    "markup": ("a$b_c^d$", '<&">\\n\\'),
    "white space": ("a\nb\tc", "d\u2028e\u200bf\x07"),
    "long": ("Donau" * 60, "schiff" * 60),
}


@pytest.mark.parametrize(
    ("case", "suffix"),
    [(case, suffix) for case in FORMS for suffix in (".svg", ".dot")]
    + [("right to left", ".png"), ("no glyph", ".png"), ("no glyph", ".pdf")],
)
def test_any_letters_can_be_drawn(case: str, suffix: str) -> None:
    first, second = FORMS[case]
    lexemes = [
        Lexeme(first, first, {f"N;{first[:9]}": (first,), second[:9]: (second,)}),
        Lexeme(second, second, {f"N;{first[:9]}": (second,), second[:9]: ()}),
    ]
    model = ParadigmModel().fit(lexemes)
    drawing = lexeme_drawing(inspected_in_table(model, lexemes, None))
    content = drawing_bytes(drawing, suffix)
    assert content.startswith(STARTS[suffix])
    assert content == drawing_bytes(drawing, suffix)
    assert all(len(box.form) <= 21 for box in drawing.variables)
    if suffix == ".svg":
        written = "".join(ET.fromstring(content).itertext())
        assert all(box.form in written for box in drawing.variables)


def test_dot_files_are_graphs(drawing: Drawing) -> None:
    lines = drawing_bytes(drawing, ".dot").decode().splitlines()
    ends = sum(len(box.ends) for box in drawing.factors)
    assert sum(" -- " in line for line in lines) == ends
    assert sum("shape=box" in line for line in lines) == len(drawing.variables) + len(
        drawing.factors
    )
    assert (lines[0], lines[-1]) == ("graph lexeme {", "}")


def test_without_matplotlib_it_says_what_to_install(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"fsbp\[plot\]"):
        drawing_bytes(drawing, ".svg")
    assert drawing_bytes(drawing, ".dot").startswith(STARTS[".dot"])
