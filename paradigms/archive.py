"""Model files: a zip of JSON, `.npz` and OpenFst members, read without executing anything.

Public names: `ModelFileError`, `write_archive`, `read_archive`, `unusable`, `acceptor_in`.
"""

from __future__ import annotations

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pynini

from paradigms.delimited import write_atomically

FORMAT_MEMBER = "format.txt"
FORMAT = b"fsbp paradigm model 1\n"
EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError,
    OSError, RuntimeError, ValueError,
)  # fmt: skip
_MACHINE_HEAD = struct.pack("<ii6si5sii", 2125659606, 6, b"vector", 5, b"log64", 2, 0)
_MACHINE_COUNTS = struct.Struct("<Qqqq")
_NOTHING_KNOWN = 3
"""Property bits of any expanded, mutable machine."""
_STATE = struct.Struct("<dq")
_ARC = np.dtype([("ilabel", "<i4"), ("olabel", "<i4"), ("cost", "<f8"), ("target", "<i4")])


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or comes from another version."""


def write_archive(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> None:
    """Write a model file, all or nothing; equal members give equal bytes.

    Args:
        path: Where to.
        members: Content by member name.

    Raises:
        OSError: The file cannot be written.
    """
    content_of = io.BytesIO()
    with zipfile.ZipFile(content_of, "w") as archive:
        for member, content in {FORMAT_MEMBER: FORMAT, **members}.items():
            info = zipfile.ZipInfo(member, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    write_atomically(os.fspath(path), content_of.getvalue())


def read_archive(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the members of a model file.

    Raises:
        ModelFileError: The file is no model of this version, or is damaged.
        OSError: The file cannot be read.
    """
    content_of = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(content_of) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except _UNREADABLE as error:
        raise unusable(path, f"not a model file, or damaged ({error})") from error
    if members.pop(FORMAT_MEMBER, None) != FORMAT:
        raise unusable(path, "not a model of this version")
    return members


def unusable(path: str | os.PathLike[str], problem: str) -> ModelFileError:
    """Return the error that says what is wrong with a model file, and the remedy."""
    return ModelFileError(f"{os.fspath(path)}: {problem}; write it anew with `paradigms train`")


def acceptor_in(content: bytes, num_symbols: int) -> pynini.Fst:
    """Return the log64 acceptor that `Fst.write_to_string` put into a member.

    Types, counts, states, labels and costs are checked before OpenFst sees any of it, and claims
    about the machine's properties are dropped: OpenFst ends the process on sizes that cannot be,
    and trusts what it reads.

    Args:
        content: A vector machine without symbol tables.
        num_symbols: The largest label.

    Raises:
        ValueError: The content is no such machine, or is damaged.

    Cost: O(states + arcs).
    Source: OpenFst's fst.cc and vector-fst.h (file version 2, unaligned).
    """
    counts_end = len(_MACHINE_HEAD) + _MACHINE_COUNTS.size
    if not content.startswith(_MACHINE_HEAD) or len(content) < counts_end:
        raise ValueError("the machine has an unknown header")
    _, start, num_states, _ = _MACHINE_COUNTS.unpack_from(content, len(_MACHINE_HEAD))
    if not 0 <= start < num_states:
        raise ValueError("the machine has no start state")
    for final_cost, arcs in _states_in(content, counts_end, num_states):
        if not (
            final_cost > -np.inf
            and (arcs["cost"] > -np.inf).all()
            and (arcs["ilabel"] == arcs["olabel"]).all()
            and ((arcs["ilabel"] >= 0) & (arcs["ilabel"] <= num_symbols)).all()
            and ((arcs["target"] >= 0) & (arcs["target"] < num_states)).all()
        ):
            raise ValueError("the machine has an impossible arc or cost")
    counts = _MACHINE_COUNTS.pack(_NOTHING_KNOWN, start, num_states, 0)
    return pynini.Fst.read_from_string(_MACHINE_HEAD + counts + content[counts_end:])


def _states_in(
    content: bytes, offset: int, num_states: int
) -> Iterator[tuple[float, npt.NDArray[np.void]]]:
    """Yield the final cost and the arcs of each state.

    Raises:
        ValueError: The content ends before the last state does, or goes on after it.
    """
    for _ in range(num_states):
        if offset + _STATE.size > len(content):
            raise ValueError("the machine ends too early")
        final_cost, count = _STATE.unpack_from(content, offset)
        offset += _STATE.size
        if not 0 <= count * _ARC.itemsize <= len(content) - offset:
            raise ValueError("the machine has a state with an impossible number of arcs")
        yield final_cost, np.frombuffer(content, _ARC, count, offset)
        offset += count * _ARC.itemsize
    if offset != len(content):
        raise ValueError("the machine goes on after its last state")
