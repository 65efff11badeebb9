"""Model files: a zip of JSON, `.npz` and OpenFst members, read without executing anything.

Public names: `ModelFileError`, `write_archive`, `read_archive`.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping

from paradigms.delimited import write_atomically

FORMAT_MEMBER = "format.txt"
FORMAT = b"fsbp paradigm model 1\n"
EPOCH = (1980, 1, 1, 0, 0, 0)


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
    try:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise unusable(path, f"not a model file, or damaged ({error})") from error
    if members.pop(FORMAT_MEMBER, None) != FORMAT:
        raise unusable(path, "not a model of this version")
    return members


def unusable(path: str | os.PathLike[str], problem: str) -> ModelFileError:
    """Return the error that says what is wrong with a model file, and the remedy."""
    return ModelFileError(f"{os.fspath(path)}: {problem}; write it anew with `paradigms train`")
