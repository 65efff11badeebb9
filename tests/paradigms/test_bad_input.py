"""Every kind of bad input, through the command line and the real model."""

import random
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

from paradigms.delimited import TableError
from paradigms.tables import frame_to_lexemes, read_table

Run = Callable[..., Result]

STEMS = ["Tag", "Weg", "Berg", "Hund", "Stein", "Tisch", "Fisch", "Brief"]
KNOWN = "".join(
    f"{stem}\t{stem}{ending}\tN;{cell}\n"
    for stem in STEMS
    for cell, ending in [("NOM;SG", ""), ("GEN;SG", "es"), ("NOM;PL", "e")]
)
HOLES = "Ding\t\tN;NOM;PL\nDing\t\tN;GEN;SG\nDing\tDing\tN;NOM;SG\n"
WIDE = "lemma,N;NOM;SG,N;GEN;SG,N;NOM;PL\n" + "".join(f"{s},{s},{s}es,{s}e\n" for s in STEMS)

REFUSED = {
    "malformed row": (KNOWN + "Ding Dinge N;PL\n", "t:25: 1 tab-separated fields instead of 3; "),
    "missing column": (KNOWN + "Ding\tN;PL\n", "t:25: 2 tab-separated fields instead of 3; "),
    "one column more": (WIDE + "Ding,Ding,,,x\n", "t:10: 5 columns, but the header has 4; "),
    "one column less": (WIDE + "Ding,Ding,\n", "t:10: 3 columns, but the header has 4; "),
    "no lemma": (KNOWN + "\tDinge\tN;NOM;PL\n", "t:25: the lemma field is empty; "),
    "no features": (KNOWN + "Ding\tDinge\t\n", "t:25: the features field is empty; "),
    "open quote": (WIDE + 'Ding,"Ding,,\n', "t:10: a quote is never closed; "),
    "invalid UTF-8": (KNOWN.encode() + b"B\xe4r\t\tN;NOM;PL\n", "t:25: byte 0xe4 is not valid"),
    "UTF-16": (KNOWN.encode("utf-16"), "t: is UTF-16; "),
    "empty file": ("", "t: the file is empty; "),
    "blank file": ("\ufeff\r\n\r\n", "t: the file is empty; "),
    "header only": (WIDE.splitlines()[0], "t: there is no row below the header; "),
    "column names repeated": ("lemma,PL,PL\nDing,Dinge,\n", "t:1: two columns are called 'PL'; "),
    "no filled cell": ("Ding\t\tN;PL\nTag\t\tN;PL\n", "t: no cell is filled: nothing to learn"),
}

COMPLETED = {
    "plain": KNOWN + HOLES,
    "BOM": "\ufeff" + KNOWN + HOLES,
    "CRLF": (KNOWN + HOLES).replace("\n", "\r\n"),
    "BOM and CRLF, wide": ("\ufeff" + WIDE + "Ding,Ding,,\n").replace("\n", "\r\n"),
    "no line end at the end": (KNOWN + HOLES).rstrip(),
    "blank lines": KNOWN.replace("N;NOM;PL\n", "N;NOM;PL\n\n") + "\n \n" + HOLES + "\n\n",
    "NFD": unicodedata.normalize("NFD", KNOWN + "Bär\tBär\tN;NOM;SG\nBär\t\tN;NOM;PL\n"),
    "duplicated cells": KNOWN + KNOWN + HOLES + HOLES,
    "contradictory cells": KNOWN + "Tag\tTäge\tN;NOM;PL\nTag\t\tN;NOM;PL\n" + HOLES,
    "duplicated lexemes, wide": WIDE + WIDE.partition("\n")[2] + "Tag,,,\nTag,,,\n",
    "nothing given but the lemma": KNOWN + "Ding\t\tN;NOM;PL\n",
    "nothing given at all, wide": WIDE + ",,,\n",
    "unknown cell": KNOWN + "Ding\t\tN;DAT;PL\nDing\t\tV;PST\n",
    "no lemma, wide": WIDE + ",,Dinges,\n",
    "spaces": KNOWN + "neuer Tag\tneuer Tag\tN;NOM;SG\nneuer Tag\t\tN;NOM;PL\n",
    "brackets": KNOWN + "[Tag]\t[Tag\tN;NOM;SG\n[Tag]\t\tN;NOM;PL\n",
    "backslashes": KNOWN + "a\\b\\\ta\\b\\\tN;NOM;SG\na\\b\\\t\tN;NOM;PL\n",
    "digits": KNOWN + "12er\t12er\tN;NOM;SG\n12er\t\tN;NOM;PL\n",
    "quotes": KNOWN + '"Tag\t"Tag\tN;NOM;SG\n"Tag\t\tN;NOM;PL\n',
    "tab inside quotes": WIDE.replace(",", "\t") + '"neuer\tTag"\t"neuer\tTag"\t\t\n',
    "comma inside quotes": WIDE + '"Tag, neu","Tag, neu",,\n',
    "line end inside quotes": WIDE + '"neuer\nTag","neuer\nTag","",\n',
    "symbols never seen": KNOWN + "数字\t\tN;NOM;PL\nжук😀\tжук😀\tN;NOM;SG\nжук😀\t\tN;GEN;SG\n",
    "300 characters": KNOWN + f"{'Ding' * 75}\t\tN;NOM;PL\n{'Ding' * 75}\t\tN;GEN;SG\n",
    "odd white space": KNOWN + "ein  Tag\tein  Tag\tN;NOM;SG\nein  Tag\t\tN;NOM;PL\n",
    "a rule that leaves nothing": KNOWN + "e\te\tN;NOM;PL\ne\t\tN;NOM;SG\n",
    "one row": "lemma,N;NOM;SG,N;NOM;PL\nDing,Ding,\n",
    "one triple": "Ding\tDinge\tN;NOM;PL\nDing\t\tN;NOM;SG\n",
}


def completed(run: Run, *options: str) -> None:
    result = run("complete", "t", "-o", "out", "--details", "details", *options)
    assert result.exit_code == 0, result.output
    assert result.output == ""
    before, after = read_table("t"), read_table("out", format=read_table("t").format)
    assert after.text.startswith("\ufeff") == before.text.startswith("\ufeff")
    assert after.text.count("\r\n") == before.text.count("\r\n")
    assert [record.line for record in after.records] == [record.line for record in before.records]
    slots = {(slot.row, slot.column) for slot in before.layout.slots}
    for row, (old, new) in enumerate(zip(before.records, after.records, strict=True)):
        for column, (field, filled) in enumerate(zip(old.fields, new.fields, strict=True)):
            if (row, column) in slots and not field.value.strip():
                assert filled.value.strip()
            else:
                assert filled.value == field.value
    details = Path("details").read_text().count("\tpredicted\n")
    assert details >= sum(len(lexeme.holes) for lexeme in before.lexemes())


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("command", ["complete", "train"])
def test_bad_tables_are_refused_in_one_line(run: Run, command: str, case: str) -> None:
    data, message = REFUSED[case]
    Path("t").write_bytes(data if isinstance(data, bytes) else data.encode())
    result = run(command, "t", "-o", "out")
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: {message}")
    assert result.output.count("\n") == 1
    assert "; " in result.output
    assert not Path("out").exists()


@pytest.mark.parametrize("case", COMPLETED)
def test_odd_tables_are_completed_without_loss(run: Run, case: str) -> None:
    Path("t").write_bytes(COMPLETED[case].encode())
    completed(run)


@pytest.mark.parametrize(
    "case", ["nothing given at all, wide", "symbols never seen", "NFD", "one row"]
)
def test_odd_tables_are_completed_from_another_table(run: Run, case: str) -> None:
    Path("t").write_bytes(COMPLETED[case].encode())
    Path("known").write_text(KNOWN)
    completed(run, "--train", "known")
    completed(run, "--train", "known", "--no-adapt")


def test_a_table_with_no_filled_cell_is_completed_from_another(run: Run) -> None:
    Path("t").write_text("Ding\t\tN;NOM;PL\nRing\t\tN;NOM;PL\n")
    Path("known").write_text(KNOWN)
    completed(run, "--train", "known")
    assert Path("out").read_text() == "Ding\tDinge\tN;NOM;PL\nRing\tRinge\tN;NOM;PL\n"


def test_identifiers_are_no_evidence(run: Run) -> None:
    numbers = {stem: f"{number:04}" for number, stem in enumerate(STEMS)}
    lines = [line.split("\t", 1) for line in KNOWN.splitlines()]
    table = "".join(f"{numbers[stem]}\t{rest}\n" for stem, rest in lines)
    Path("t").write_text(table + "0099\tDing\tN;NOM;SG\n0099\t\tN;NOM;PL\n0100\t\tN;NOM;PL\n")
    result = run("complete", "t", "-o", "out", "--lemma", "id")
    assert result.exit_code == 0, result.output
    assert "0099\tDinge\tN;NOM;PL\n" in Path("out").read_text()


def test_a_rule_that_fits_no_likely_form_leaves_no_hole(run: Run) -> None:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefgh", k=9)) for _ in range(60)]
    Path("t").write_text(
        "".join(f"{n}\t{word}\tN;A\n" for n, word in enumerate(words))
        + "x\tzzzzzz\tN;A\nx\tqqqq\tN;B\ny\t\tN;A\ny\t\tN;B\n"
    )
    completed(run, "--lemma", "id")


def test_white_space_inside_forms_is_kept(run: Run) -> None:
    table = KNOWN.replace("\tTag", "\tein\u00a0 Tag")
    Path("t").write_text(table + "Hag\tein\u00a0 Hag\tN;NOM;SG\nHag\t\tN;NOM;PL\n")
    completed(run)
    assert Path("out").read_text().endswith("Hag\tein\u00a0 Hage\tN;NOM;PL\n")


def test_the_number_of_jobs_changes_nothing(run: Run) -> None:
    Path("t").write_text(KNOWN + HOLES + HOLES.replace("Ding", "Ring"))
    outputs = []
    for jobs in ("1", "2"):
        result = run("complete", "t", "-o", "out", "--details", "d", "--jobs", jobs, "--seed", "3")
        assert result.exit_code == 0, result.output
        outputs.append((Path("out").read_bytes(), Path("d").read_bytes()))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut short", b"lemma,SG\nTag,Tag\n"])
def test_foreign_models_are_refused_in_one_line(run: Run, data: bytes) -> None:
    Path("m").write_bytes(data)
    Path("t").write_text(HOLES)
    for arguments in (("inspect", "m"), ("complete", "t", "--model", "m", "-o", "out")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.output.startswith("Error: m")
        assert result.output.count("\n") == 1
    assert not Path("out").exists()


def test_a_model_of_identifiers_reads_no_lemma(run: Run) -> None:
    Path("known").write_text(KNOWN)
    Path("t").write_text(HOLES)
    assert run("train", "known", "--lemma", "id", "-o", "m").exit_code == 0
    result = run("complete", "t", "--model", "m", "-o", "out")
    assert result.exit_code == 2
    assert result.output == "Error: m: was trained with --lemma id; add --lemma id here too\n"
    assert not Path("out").exists()
    completed(run, "--model", "m", "--lemma", "id")


def test_a_model_cut_short_is_refused(run: Run) -> None:
    Path("t").write_text(KNOWN + HOLES)
    assert run("train", "t", "-o", "m").exit_code == 0
    data = Path("m").read_bytes()
    Path("m").write_bytes(data[: len(data) // 2])
    result = run("inspect", "m")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1


@pytest.mark.parametrize("keep", [None, 0.0, 0.5])
def test_a_model_with_a_damaged_part_is_refused(run: Run, keep: float | None) -> None:
    Path("t").write_text(KNOWN + HOLES)
    assert run("train", "t", "-o", "m").exit_code == 0
    with zipfile.ZipFile("m") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert len(parts) > 2
    for damaged in parts:
        with zipfile.ZipFile("m", "w") as archive:
            for name, content in parts.items():
                if name != damaged:
                    archive.writestr(name, content)
                elif keep is not None:
                    archive.writestr(name, content[: int(keep * len(content))])
        result = run("inspect", "m")
        assert (damaged, result.exit_code) == (damaged, 2)
        assert result.output.startswith("Error: m: ")
        assert result.output.count("\n") == 1


@pytest.mark.parametrize("name", ["\0lemma", "\0stem", "N;\0PL"])
@pytest.mark.parametrize("wide", [True, False])
def test_a_cell_cannot_take_an_internal_name(name: str, wide: bool) -> None:
    frame = (
        pd.DataFrame({"lemma": ["Hund"], "N;SG": ["Hund"], name: [""]})
        if wide
        else pd.DataFrame({"lemma": ["Hund"], "form": [""], "features": [name]})
    )
    with pytest.raises(TableError, match="NUL character"):
        frame_to_lexemes(frame)
