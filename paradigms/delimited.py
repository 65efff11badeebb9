"""Delimited text, read so that it can be written back byte for byte with some fields replaced.

The standard `csv` module forgets where a field stood and how it was quoted; here every field keeps
its span in the text. Public names: `TableError`, `Field`, `Record`, `decoded`, `tabbed_records`,
`quoted_records`, `quoted_field`, `joined_rows`, `replaced`, `shown`, `is_stream`,
`write_atomically`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

BOM = "\ufeff"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')
_LINE_END = re.compile(r"\r\n|\n|\r|\Z")


class TableError(ValueError):
    """A table that cannot be used, with the file, the line and the remedy in one line.

    Args:
        problem: What is wrong.
        remedy: What to do about it.
        name: The file, or what else the table came from.
        line: Line of the file, counted from 1, or None where no single line is at fault.
    """

    def __init__(self, problem: str, remedy: str, name: str, line: int | None = None) -> None:
        """Joins the parts into one line of text."""
        place = name if line is None else f"{name}:{line}"
        super().__init__(f"{place}: {problem}; {remedy}")


@dataclass(frozen=True)
class Field:
    """One field: its value, and the span of the text (with any quotes) that holds it."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """One row: its fields and the line it starts on (from 1); a blank line has no field."""

    fields: tuple[Field, ...]
    line: int


def shown(text: str) -> str:
    """The text quoted for an error message, in one line and no longer than 40 characters."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


def decoded(data: bytes, name: str) -> str:
    """The text of a UTF-8 file, with its byte-order mark if it has one.

    Raises:
        TableError: The bytes are not UTF-8, or there is nothing but white space.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError("is UTF-16", "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)", name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
        raise TableError(problem, "save the file as UTF-8", name, line) from error
    if not text.removeprefix(BOM).strip():
        raise TableError("the file is empty", "give a table with at least one row", name)
    return text


def tabbed_records(text: str) -> list[Record]:
    """Records of tab-separated text without quoting: every line is one record."""
    records = []
    for number, match in enumerate(_lines(text), start=1):
        content, start = match.group(1), match.start()
        fields: list[Field] = []
        for value in content.split("\t") if content.strip() else ():
            fields.append(Field(value, start, start + len(value)))
            start += len(value) + 1
        records.append(Record(tuple(fields), number))
    return records


def quoted_records(text: str, delimiter: str, name: str) -> list[Record]:
    """Records of CSV or TSV in which double quotes may enclose delimiters and line ends.

    Raises:
        TableError: A quote is never closed, or text follows a closing quote.

    Source: RFC 4180, with any of the three line ends.
    """
    plain = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    records: list[Record] = []
    fields: list[Field] = []
    position, line, first_line = _after_bom(text), 1, 1
    while position < len(text) or fields:
        quoted = text.startswith('"', position)
        match = (_QUOTED if quoted else plain).match(text, position)
        if match is None:
            remedy = 'close it, or write a literal quote as """"'
            raise TableError("a quote is never closed", remedy, name, line)
        value = match.group(1).replace('""', '"') if quoted else match.group()
        fields.append(Field(value, match.start(), match.end()))
        line += _line_ends(match.group()) if quoted else 0
        position = match.end()
        if text.startswith(delimiter, position):
            position += 1
            continue
        end = _LINE_END.match(text, position)
        if end is None:
            remedy = "write quotes inside a quoted field twice"
            raise TableError("text follows a closing quote", remedy, name, line)
        blank = len(fields) == 1 and not match.group().strip()
        records.append(Record(() if blank else tuple(fields), first_line))
        fields, position = [], end.end()
        line += 1
        first_line = line
    return records


def quoted_field(value: str, delimiter: str, always: bool) -> str:
    """The value as a CSV field, in double quotes where it needs them or always."""
    special = any(mark in value for mark in (delimiter, '"', "\r", "\n"))
    if always or special or value != value.strip():
        return '"' + value.replace('"', '""') + '"'
    return value


def joined_rows(rows: Iterable[Iterable[str]]) -> str:
    """Rows as TSV, with a field in double quotes where it holds a tab, a quote or a line end."""
    return "".join("\t".join(quoted_field(f, "\t", False) for f in row) + "\n" for row in rows)


def replaced(text: str, replacements: Mapping[tuple[int, int], str]) -> str:
    """The text with each span (start, end) replaced; spans do not overlap."""
    parts, position = [], 0
    for (start, end), new in sorted(replacements.items()):
        parts += [text[position:start], new]
        position = end
    return "".join([*parts, text[position:]])


def is_stream(path: str | Path) -> bool:
    """Whether the path names a pipe or a device, such as ``/dev/stdout``, which has no folder."""
    return Path(path).exists() and not Path(path).is_file()


def write_atomically(path: str | Path, data: bytes) -> None:
    """Writes the file in one step: another process sees the old file or the whole new one.

    A pipe or device, such as ``/dev/stdout``, is written to directly.

    Raises:
        OSError: The folder is missing or not writable; the old file is then untouched.
    """
    if is_stream(path):
        Path(path).write_bytes(data)
        return
    path = Path(path).resolve()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    """Permissions of the file, or those a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _after_bom(text: str) -> int:
    return len(BOM) if text.startswith(BOM) else 0


def _lines(text: str) -> Iterator[re.Match[str]]:
    """Matches of the lines; what follows the last line end is a line only if it is not empty."""
    position = _after_bom(text)
    while position < len(text):
        match = _LINE.match(text, position)
        assert match is not None
        yield match
        position = match.end()


def _line_ends(text: str) -> int:
    return len(_LINE_END.findall(text)) - 1
