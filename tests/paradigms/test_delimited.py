import csv
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paradigms.delimited import (
    TableError,
    decoded,
    joined_rows,
    quoted_records,
    replaced,
    tabbed_records,
    write_atomically,
)

fields = st.text(st.sampled_from('ab ",;\té\r\n\\[1'), max_size=5)
rows = st.lists(st.lists(fields, min_size=2, max_size=4), min_size=1, max_size=5)


@given(
    rows,
    st.sampled_from(",;\t"),
    st.sampled_from([("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)]),
    st.booleans(),
)
def test_quoted_records_read_what_the_csv_module_writes(
    values: list[list[str]], delimiter: str, style: tuple[str, int], bom: bool
) -> None:
    stream = io.StringIO()
    end, quoting = style
    csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(values)
    text = bom * "\ufeff" + stream.getvalue()
    records = quoted_records(text, delimiter, "x")
    assert [[field.value for field in record.fields] for record in records] == values
    spans = {(f.start, f.end): text[f.start : f.end] for r in records for f in r.fields}
    assert replaced(text, spans) == text


@given(rows)
def test_joined_rows_are_read_back(values: list[list[str]]) -> None:
    text = joined_rows(values)
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter="\t")) == values


def test_records_know_their_first_line() -> None:
    text = 'a,b\n"x\ny",1\r\n\r\nz,2'
    assert [(r.line, len(r.fields)) for r in quoted_records(text, ",", "x")] == [
        (1, 2),
        (2, 2),
        (4, 0),
        (5, 2),
    ]
    assert [(r.line, len(r.fields)) for r in tabbed_records("a\tb\n\n \nc\td\te")] == [
        (1, 2),
        (2, 0),
        (3, 0),
        (4, 3),
    ]


def test_last_record_may_lack_its_line_end() -> None:
    assert [f.value for f in quoted_records("a,b,", ",", "x")[0].fields] == ["a", "b", ""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n"x,1\n', "x:2: a quote is never closed; "),
        ('a,b\n1,2\n"x"y,1\n', "x:3: text follows a closing quote; "),
    ],
)
def test_broken_quotes_are_refused(text: str, message: str) -> None:
    with pytest.raises(TableError) as error:
        quoted_records(text, ",", "x")
    assert str(error.value).startswith(message)


def test_replaced_takes_spans_in_any_order() -> None:
    assert replaced("a__b", {(3, 3): "Y", (1, 2): "X"}) == "aX_Yb"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\tb\nc\xff\n", "f:2: byte 0xff is not valid UTF-8; save the file as UTF-8"),
        ("a\n".encode("utf-16"), "f: is UTF-16; "),
        (b"", "f: the file is empty; "),
        (b"\xef\xbb\xbf\r\n \n", "f: the file is empty; "),
    ],
)
def test_undecodable_data_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(TableError) as error:
        decoded(data, "f")
    assert str(error.value).startswith(message)


def test_writing_replaces_the_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_writing_follows_links_and_pipes(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"piped")
    assert os.read(reader, 10) == b"piped"
    os.close(reader)


def test_writing_follows_descriptors_without_a_name() -> None:
    reader, writer = os.pipe()
    write_atomically(f"/dev/fd/{writer}", b"piped")
    assert os.read(reader, 10) == b"piped"
    os.close(reader)
    os.close(writer)


def test_failed_writing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
