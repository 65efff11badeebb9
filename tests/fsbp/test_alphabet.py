import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsbp.alphabet import Alphabet, AlphabetError, graphemes
from tests.machines import quick


@quick
@given(st.text())
def test_graphemes_spell_the_text(text):
    assert "".join(graphemes(text)) == text


@quick
@given(st.text())
def test_only_attached_marks_join(text):
    for grapheme in graphemes(text):
        assert all(unicodedata.combining(mark) >= 200 for mark in grapheme[1:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("Tür", ("T", "ü", "r")),
        ("Tu\u0308r", ("T", "u\u0308", "r")),
        ("ɔ\u0303\u0301", ("ɔ\u0303\u0301",)),
        ("\u0301a", ("\u0301", "a")),
        ("\u05e9\u05b8\u05dc", ("\u05e9", "\u05b8", "\u05dc")),
        ("\u0643\u064e\u062a", ("\u0643", "\u064e", "\u062a")),
        ("\u0915\u093f\u0928", ("\u0915", "\u093f", "\u0928")),
    ],
)
def test_graphemes_of_scripts(text, expected):
    assert graphemes(text) == expected


@quick
@given(st.lists(st.text(alphabet="abü\u0301 ")))
def test_labels_and_text_are_inverse(texts):
    alphabet = Alphabet.from_strings(texts)
    for text in texts:
        assert alphabet.text(alphabet.labels(text)) == text


def test_symbols_are_sorted_and_labels_start_at_one():
    alphabet = Alphabet.from_strings(["ba", "äc"])
    assert alphabet.symbols == ("a", "b", "c", "ä")
    assert alphabet.labels("bä") == (2, 4)
    assert len(alphabet) == 4


def test_tokens():
    alphabet = Alphabet.from_strings(["t ʃ a", "a  t"], separator=" ")
    assert alphabet.symbols == ("a", "t", "ʃ")
    assert alphabet.text(alphabet.labels("ʃ  a ")) == "ʃ a"


def test_unseen_symbol_is_named():
    alphabet = Alphabet.from_strings(["ab"])
    with pytest.raises(AlphabetError, match="'x'"):
        alphabet.labels("axb")
    assert alphabet.unseen("axbyx") == ("x", "y")


def test_unknown_label_is_refused():
    with pytest.raises(AlphabetError, match=r"1\.\.2"):
        Alphabet.from_strings(["ab"]).text((0,))


def test_extension_keeps_labels():
    alphabet = Alphabet.from_strings(["bd"])
    larger = alphabet.extended(["cab"])
    assert larger.symbols == ("b", "d", "a", "c")
    assert larger.labels("bd") == alphabet.labels("bd")
    assert alphabet.extended(["db"]) is alphabet


@pytest.mark.parametrize("symbols", [("a", "a"), ("a", ""), ("a b",)])
def test_bad_symbols_are_refused(symbols):
    with pytest.raises(AlphabetError):
        Alphabet(symbols, separator=" ")
