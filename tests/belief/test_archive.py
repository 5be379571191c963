"""A file from anyone: refused in a sentence, and before its claims cost memory."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from ridgeway.belief import archive


def npy(array=None, shape=None, dtype="<f8", content=b""):
    """The bytes of an array, or of a header that claims a shape."""
    stream = io.BytesIO()
    if array is not None:
        np.save(stream, array, allow_pickle=True)
    else:
        np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue() + content


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return stream.getvalue()


def lying_size(size):
    """An archive whose directory claims that a member has ``size`` bytes."""
    header = npy(shape=((size - 128) // 8,))
    content = zipped(a=header)
    at = content.index(b"PK\x01\x02") + 24
    return content[:at] + struct.pack("<I", size) + content[at + 4 :]


def test_arrays_come_back():
    a, b = np.arange(6.0).reshape(2, 3), np.array("text")
    found = archive.read(io.BytesIO(zipped(a=npy(a), b=npy(b))))
    np.testing.assert_array_equal(found["a"], a)
    assert str(found["b"]) == "text"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a zip file"),
        (b"PK\x03\x04" + 50 * b"x", "not a zip file"),
        (zipped(a=npy(np.array([{}], dtype=object))), "'a' holds object, not numbers"),
        (zipped(a=npy(np.array([1j]))), "'a' holds complex128, not numbers"),
        (zipped(a=npy(np.array([b"x"]))), "'a' holds .S1, not numbers"),
        (zipped(a=npy(shape=(10**12,))), r"'a' has not the shape \(1000000000000,\) that it claims"),
        (zipped(a=npy(shape=(2**40, 2**40))), "'a' has not the shape"),
        (zipped(a=npy(shape=(4,), content=b"short")), "'a' has not the shape"),
        (zipped(a=b"no array"), "magic string"),
        (zipped(a=b"\x93NUMPY\x09\x00" + 50 * b"x"), "'a' has the unknown version"),
        (lying_size(2**32 - 8), "'a' claims to have 4,294,967,288 bytes, which it cannot have"),
        (zipped(a=npy(np.zeros(100)))[:100], "not a zip file"),
    ],
)
def test_anything_else_is_refused_without_memory(content, message):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            archive.read(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_damaged_member_is_refused():
    content = bytearray(zipped(a=npy(np.random.default_rng(0).normal(size=500))))
    content[200] ^= 0xFF
    with pytest.raises(ValueError, match=r"."):
        archive.read(io.BytesIO(bytes(content)))
