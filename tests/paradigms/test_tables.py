import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paradigms.lexemes import Candidate, Lexeme
from paradigms.tables import (
    Table,
    TableError,
    candidate_rows,
    candidates_frame,
    completed_frame,
    detected_format,
    frame_to_lexemes,
    read_table,
)


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def guesses(table: Table, form: str = "FORM") -> list[dict[str, list[Candidate]]]:
    return [{cell: [Candidate(form, 0.5)] for cell in lex.holes} for lex in table.lexemes()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tag\tTage\tN;PL\nTag\t\tN;SG\n", "unimorph"),
        ("Tag\tTage\tPL\n", "unimorph"),
        ("\n\nTag\tTage\tPL\n\nTag\t\tSG\nbad row\n", "unimorph"),
        ("a\tx\tnom pl\na\ty\tnom sg\nb\tz\tnom pl\nb\t\tnom sg\n", "unimorph"),
        ("lemma\tN;SG\tN;PL\nTag\tTag\tTage\n", "wide"),
        ("lemma\tSG\tPL\nTag\tTag\t\nWeg\t\tWege\n", "wide"),
        ("lemma\tSG\nTag\tTag\n", "wide"),
        ("lemma,SG,PL\nTag,Tag,Tage\n", "wide"),
        ("lemma;SG;PL\nTag;Tag;Tage\n", "wide"),
    ],
)
def test_formats_are_recognised_by_content(text: str, expected: str) -> None:
    assert detected_format(text, "f") == expected


def test_a_single_column_is_no_table() -> None:
    with pytest.raises(TableError, match=r"^f:1: the first line has no tab"):
        detected_format("Tag\nWeg\n", "f")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a\tb\tX\n\nc\t\tX\n", "a\tb\tX\n\nc\tFORM\tX\n"),
        ("\ufeffa\t\tX\r\n\r\nc\tb\tX", "\ufeffa\tFORM\tX\r\n\r\nc\tb\tX"),
        (
            "lemma\tform\tfeatures\na\t \tX;Y\nc\td\tX\n",
            "lemma\tform\tfeatures\na\tFORM\tX;Y\nc\td\tX\n",
        ),
        ('a\t"b\tX\nc\t\tX\n', 'a\t"b\tX\nc\tFORM\tX\n'),
        ("lemma,X,gloss,Y\n a ,,,b \n\nc,d,x,\n", "lemma,X,gloss,Y\n a ,FORM,,b \n\nc,d,x,FORM\n"),
        ('lemma;X;Y\r\n"a;1";"";b\r\nc;;d', 'lemma;X;Y\r\n"a;1";"FORM";b\r\nc;FORM;d'),
        ('lemma\tX\tY\na\t"b\tb"\t\n', 'lemma\tX\tY\na\t"b\tb"\tFORM\n'),
    ],
)
def test_only_holes_change(tmp_path: Path, data: str, expected: str) -> None:
    path = written(tmp_path / "t", data)
    table = read_table(path)
    table.write(path, guesses(table))
    assert path.read_bytes().decode() == expected


def test_forms_are_quoted_where_the_file_needs_it(tmp_path: Path) -> None:
    wide = read_table(written(tmp_path / "w", "lemma,X,Y\na,,b\n"))
    assert wide.filled(guesses(wide, 'f, "g"')) == 'lemma,X,Y\na,"f, ""g""",b\n'
    long = read_table(written(tmp_path / "u", "a\t\tX;Y\n"))
    assert long.filled(guesses(long, "f\tg")) == "a\tf g\tX;Y\n"


def test_predictions_are_decomposed_in_a_decomposed_file(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t", unicodedata.normalize("NFD", "é\té\tX\nb\t\tX\n")))
    assert table.filled(guesses(table, "ö")).endswith("b\to\u0308\tX\n")


words = st.text(st.sampled_from('abÄe\u0301 ",;/[]\\1\t\n'), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(words, words, words), min_size=1, max_size=6),
    st.sampled_from("\t,;"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_wide_tables_lose_nothing(
    tmp_path: Path, rows: list[tuple[str, str, str]], delimiter: str, end: str
) -> None:
    frame = pd.DataFrame(
        [("x" + a, b, c, "") for a, b, c in rows], columns=["lemma", "X", "Y", "Z"]
    )
    frame = frame.replace("\r", "")
    path = tmp_path / "t"
    frame.to_csv(path, sep=delimiter, index=False, lineterminator=end)
    table = read_table(path, format="wide")
    assert [lexeme.lemma for lexeme in table.lexemes()] == [
        unicodedata.normalize("NFC", lemma).strip() for lemma in frame["lemma"]
    ]
    table.write(path, guesses(table))
    after = pd.read_csv(path, sep=delimiter, keep_default_na=False, dtype=str)
    blank = frame.map(lambda text: not text.strip())
    assert after.where(blank, frame).equals(after)
    assert (after.where(blank, "FORM") == "FORM").all(axis=None)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a\tb\tX;Y\na\tb\nc\td\tX\n", ":2: 2 tab-separated fields instead of 3; "),
        ("a\tb\tX\na\tb\tX\tz\nc\td\tX\n", ":2: 4 tab-separated fields instead of 3; "),
        ("a\tb\tN;X\nc\td\tN;X\ne\tf\t\n", ":3: the features field is empty; "),
        ("lemma,X,Y\na,b,c\nd,e\n", ":3: 2 columns, but the header has 3; "),
        ("lemma,form,features\na,b,X\n", ":1: a long table in CSV is not supported; "),
        ("lemma,X\n", ": there is no row below the header; "),
        ("lemma\tform\tfeatures\n", ": there is no row below the header; "),
    ],
)
def test_malformed_tables_are_refused_with_file_and_line(
    tmp_path: Path, data: str, message: str
) -> None:
    path = written(tmp_path / "t", data)
    with pytest.raises(TableError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert "\n" not in str(error.value)


def test_candidate_rows_list_given_forms_and_candidates(tmp_path: Path) -> None:
    layout = read_table(written(tmp_path / "t", "a\tb/c\tX\na\t\tY\n"), alternatives="/").layout
    completions = [{"Y": [Candidate("d", 0.75), Candidate("e", 0.25)]}]
    assert list(candidate_rows(layout, completions)) == [
        ("a", "X", 1, "b", 1.0, "given"),
        ("a", "X", 2, "c", 1.0, "given"),
        ("a", "Y", 1, "d", 0.75, "predicted"),
        ("a", "Y", 2, "e", 0.25, "predicted"),
    ]


LONG = pd.DataFrame(
    {"features": ["PL", "SG"], "lemma": ["Tag", "Tag"], "form": ["Tage", None], "n": [1, 2]},
    index=["r", "s"],
)
WIDE = pd.DataFrame(
    {"lemma": ["Tag", "Weg"], "SG": [None, "Weg"], "PL": [float("nan")] * 2, "gender": ["m", "m"]},
    index=[7, 3],
)


def test_frames_become_lexemes() -> None:
    assert frame_to_lexemes(LONG) == [Lexeme("Tag", "Tag", {"PL": ("Tage",), "SG": ()})]
    expected = [
        Lexeme("Tag", "Tag", {"SG": (), "PL": ()}),
        Lexeme("Weg", "Weg", {"SG": ("Weg",), "PL": ()}),
    ]
    assert frame_to_lexemes(WIDE) == expected
    assert frame_to_lexemes(WIDE.set_index("lemma")) == expected


def test_frames_are_completed_in_place_of_their_holes_only() -> None:
    long = completed_frame(LONG, [{"SG": [Candidate("Tag", 0.9)]}])
    pd.testing.assert_frame_equal(long, LONG.assign(form=["Tage", "Tag"]))
    assert LONG["form"].isna().sum() == 1
    completions = [
        {"SG": [Candidate("Tag", 0.9)], "PL": [Candidate("Tage", 0.9)]},
        {"PL": [Candidate("Wege", 0.9)]},
    ]
    expected = WIDE.assign(SG=["Tag", "Weg"], PL=["Tage", "Wege"])
    pd.testing.assert_frame_equal(completed_frame(WIDE, completions), expected)
    pd.testing.assert_frame_equal(
        completed_frame(WIDE.set_index("lemma"), completions), expected.set_index("lemma")
    )


def test_improbable_holes_of_a_frame_stay() -> None:
    completions = [{"SG": [Candidate("Tag", 0.9)]}]
    assert completed_frame(LONG, completions, min_probability=0.9)["form"].tolist()[1] == "Tag"
    pd.testing.assert_frame_equal(completed_frame(LONG, completions, min_probability=0.91), LONG)
    frame = candidates_frame(LONG, completions, min_probability=0.91)
    assert frame["status"].tolist() == ["given", "open"]


def test_candidates_frame_has_a_row_for_each_candidate() -> None:
    frame = candidates_frame(LONG, [{"SG": [Candidate("Tag", 0.9), Candidate("Tages", 0.1)]}])
    assert frame["form"].tolist() == ["Tage", "Tag", "Tages"]
    assert frame["probability"].tolist() == [1.0, 0.9, 0.1]
    assert frame["status"].tolist() == ["given", "predicted", "predicted"]


def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(TableError, match="DataFrame: is empty"):
        frame_to_lexemes(pd.DataFrame({"lemma": [], "SG": []}))
