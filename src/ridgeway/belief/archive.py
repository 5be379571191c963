"""Arrays in an ``.npz`` file that may come from anyone: nothing is unpickled, and no size believed unchecked."""

from __future__ import annotations

import math
import zlib
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

_MOST_COMPRESSION = 1100  # deflate makes nothing smaller than by a factor of 1032
_KINDS = "fiuU"  # numbers and text
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read(stream: BinaryIO) -> dict[str, Any]:
    """The arrays in the file, by name; a :class:`ValueError` says what is wrong with it."""
    try:
        with ZipFile(stream) as archive:
            for member in archive.infolist():
                _check(archive, member)
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, TypeError, KeyError, zlib.error) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    except MemoryError:
        raise ValueError("its arrays do not fit into memory") from None


def _check(archive: ZipFile, member: ZipInfo) -> None:
    """Raise unless a member is an array of numbers or text that is as large as it says it is."""
    name = member.filename.removesuffix(".npy")
    if member.file_size > _MOST_COMPRESSION * (member.compress_size + 1):
        raise ValueError(f"its array {name!r} claims to have {member.file_size:,} bytes, which it cannot have")
    with archive.open(member) as content:
        version = npy.read_magic(content)
        if version not in _HEADERS:
            raise ValueError(f"its array {name!r} has the unknown version {version}")
        shape, _, dtype = _HEADERS[version](content)
        start = content.tell()
    if dtype.kind not in _KINDS:
        raise ValueError(f"its array {name!r} holds {dtype}, not numbers")
    if start + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(f"its array {name!r} has not the shape {shape} that it claims")
