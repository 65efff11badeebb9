import pytest

from paradigms.delimited import TableError
from paradigms.layout import Grid, Options, long_layout, wide_layout
from paradigms.lexemes import Candidate, Lexeme

COLUMNS = (0, 1, 2)


def long_grid(*rows: tuple[str, str, str]) -> Grid:
    return Grid("f", rows, range(1, len(rows) + 1))


def wide_grid(header: list[str], *rows: list[str]) -> Grid:
    return Grid("f", rows, range(2, len(rows) + 2), header)


def test_rows_with_one_lemma_are_one_lexeme_wherever_they_stand() -> None:
    grid = long_grid(
        ("Tag", "Tage", "N;PL"), ("Weg", "", "N;PL"), ("Tag", "", "N;SG"), ("Tag", "Täge", "N;PL")
    )
    layout = long_layout(grid, COLUMNS, Options())
    assert layout.lexemes == (
        Lexeme("Tag", "Tag", {"N;PL": ("Tage", "Täge"), "N;SG": ()}),
        Lexeme("Weg", "Weg", {"N;PL": ()}),
    )


def test_lemma_as_identifier_is_no_evidence() -> None:
    layout = long_layout(long_grid(("0001", "Tage", "PL")), COLUMNS, Options(lemma="id"))
    assert layout.lexemes == (Lexeme("0001", None, {"PL": ("Tage",)}),)
    wide = wide_layout(wide_grid(["id", "PL"], ["0001", "Tage"]), Options(lemma="id"))
    assert wide.lexemes == layout.lexemes


def test_forms_are_normalised() -> None:
    layout = long_layout(
        long_grid(("e\u0301te\u0301", " e\u0301te\u0301s ", "PL")), COLUMNS, Options()
    )
    assert layout.lexemes == (Lexeme("été", "été", {"PL": ("étés",)}),)


@pytest.mark.parametrize(
    ("mark", "forms"), [("/", ("a", "b|c")), ("|", ("a/b", "c")), (None, ("a/b|c",))]
)
def test_alternatives_are_split_where_asked(mark: str | None, forms: tuple[str, ...]) -> None:
    layout = long_layout(long_grid(("x", "a/b|c", "PL")), COLUMNS, Options(alternatives=mark))
    assert layout.lexemes[0].cells == {"PL": forms}


def test_repeated_alternatives_count_once_and_empty_ones_not() -> None:
    grid = long_grid(("x", "a/ b/a/", "PL"), ("x", "b", "PL"))
    assert long_layout(grid, COLUMNS, Options(alternatives="/")).lexemes[0].cells == {
        "PL": ("a", "b")
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("", "a", "PL"), "f:1: the lemma field is empty; "),
        (("x", "a", " "), "f:1: the features field is empty; "),
        (("x", " / ", "PL"), "f:1: '/' has no form beside the separator; "),
    ],
)
def test_long_rows_that_mean_nothing_are_refused(row: tuple[str, str, str], message: str) -> None:
    with pytest.raises(TableError) as error:
        long_layout(long_grid(row), COLUMNS, Options(alternatives="/"))
    assert str(error.value).startswith(message)


def test_every_wide_row_is_a_lexeme_with_a_key_of_its_own() -> None:
    grid = wide_grid(["lemma", "PL"], ["Bank", "Banken"], ["Bank", ""], ["", "x"], ["Bank#2", ""])
    layout = wide_layout(grid, Options())
    assert [lexeme.key for lexeme in layout.lexemes] == ["Bank", "Bank#2", "#1", "Bank#2#2"]
    assert [lexeme.lemma for lexeme in layout.lexemes] == ["Bank", "Bank", None, "Bank#2"]


def test_extra_columns_are_named_known_nameless_or_numeric() -> None:
    header = ["id", "Lemma", "Gender", "stem", "", "per million", "SG", "PL"]
    grid = wide_grid(
        header,
        ["1", "Tag", "m", "tag", "?", "1,5", "Tag", ""],
        ["2", "2er", "f", "", "", "12", "12", "2er"],
    )
    layout = wide_layout(grid, Options(extra=["stem", "absent"]))
    assert [list(lexeme.cells) for lexeme in layout.lexemes] == [["SG", "PL"]] * 2
    assert [lexeme.lemma for lexeme in layout.lexemes] == ["Tag", "2er"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (["lemma", "PL", "PL"], "f:1: two columns are called 'PL'; "),
        (["lemma", "gloss"], "f:1: no column of forms; "),
    ],
)
def test_wide_headers_without_distinct_cells_are_refused(header: list[str], message: str) -> None:
    with pytest.raises(TableError) as error:
        wide_layout(wide_grid(header, ["x"] * len(header)), Options())
    assert str(error.value).startswith(message)


def test_fillings_take_given_forms_first_and_follow_the_spelling() -> None:
    grid = long_grid(("x", "", "PL"), ("x", "e\u0301", "PL"), ("y", "", "PL"), ("y", " ", "PL"))
    layout = long_layout(grid, COLUMNS, Options())
    completions = [{}, {"PL": [Candidate("ö", 0.5), Candidate("o", 0.2)]}]
    assert layout.fillings(completions) == {(0, 1): "e\u0301", (2, 1): "o\u0308", (3, 1): "o\u0308"}


def test_improbable_fillings_are_left_out() -> None:
    grid = long_grid(("x", "", "PL"), ("x", "e", "PL"), ("y", "", "PL"), ("z", "", "PL"))
    layout = long_layout(grid, COLUMNS, Options())
    completions = [{}, {"PL": [Candidate("o", 0.5)]}, {"PL": [Candidate("a", 0.4)]}]
    assert layout.fillings(completions, 0.5) == {(0, 1): "e", (2, 1): "o"}
    assert layout.fillings(completions, 1.0) == {(0, 1): "e"}
    with pytest.raises(ValueError, match="expected 0 to 1"):
        layout.fillings(completions, 1.5)
    with pytest.raises(ValueError, match="expected 0 to 1"):
        layout.fillings(completions, float("nan"))


def test_a_hole_without_candidates_is_an_error() -> None:
    layout = long_layout(long_grid(("x", "", "PL")), COLUMNS, Options())
    with pytest.raises(ValueError, match="no candidate for PL of x"):
        layout.fillings([{"PL": []}])
