import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from paradigms.spelling import Spelling, normalised

texts = st.lists(
    st.text(st.sampled_from("aeioçêȩ\u0302\u0327\u0304ɔ한नि़ "), max_size=8), max_size=5
)


def test_normalised_is_nfc_without_outer_space() -> None:
    assert normalised(" e\u0302 te\u0301\u00a0") == "ê té"


def test_composed_and_undecided_texts_give_nfc() -> None:
    assert Spelling.of(["ê", "abc"]).spell("öê") == "öê"
    assert Spelling.of(["ê", "abc"]).spell("o\u0308") == "ö"
    assert Spelling.of([]).spell("ö") == "ö"


def test_decomposed_texts_give_nfd_for_unseen_letters_too() -> None:
    assert Spelling.of(["e\u0302"]).spell("ö한") == unicodedata.normalize("NFD", "ö한")


def test_mixture_keeps_each_letter_as_it_is_used() -> None:
    spelling = Spelling.of(["çe\u0302", "e\u0302", "ê"])
    assert spelling.spell("çêö") == "çe\u0302ö"


@given(texts)
def test_spelling_changes_the_code_points_only(words: list[str]) -> None:
    spelling = Spelling.of(words)
    for word in [*words, "öçê"]:
        form = unicodedata.normalize("NFC", word)
        assert unicodedata.normalize("NFC", spelling.spell(form)) == form


@given(texts, st.sampled_from(["NFC", "NFD"]))
def test_uniform_texts_are_reproduced(words: list[str], form: str) -> None:
    uniform = [unicodedata.normalize(form, word) for word in words]
    spelling = Spelling.of(uniform)
    assert [spelling.spell(unicodedata.normalize("NFC", word)) for word in uniform] == uniform
