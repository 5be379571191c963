"""Files that appear whole or not at all, whoever else writes there."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """A new, empty file beside ``path`` that takes its place at the end if all went well.

    Its name cannot be guessed and nothing of that name was there before: two writers do not meet, and nobody can
    have put a link there that leads elsewhere. A link at ``path`` itself is replaced, not followed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with writing(path) as temporary:
    ...     _ = temporary.write_text("1 2 3")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('1 2 3', 1)
    """
    path = Path(path)
    with _named(path):
        temporary = _new_beside(path)
    try:
        yield temporary
        with _named(path):
            _take_over_mode(temporary, path)
            _sync(temporary, os.O_RDWR)
            os.replace(temporary, path)
            if os.name == "posix":  # elsewhere a folder cannot be opened
                with suppress(OSError):  # nor synced on every file system; the file is there all the same
                    _sync(path.parent, os.O_RDONLY)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file; it appears whole or not at all."""
    with writing(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def write_text(path: str | Path, text: str) -> Path:
    """Write text as UTF-8; the file appears whole or not at all."""
    return write_bytes(path, text.encode("utf-8"))


def check(path: str | Path) -> None:
    """Raise the error that writing to ``path`` would raise, before anything else is done."""
    path = Path(path)
    with _named(path):
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        _new_beside(path).unlink()


def _new_beside(path: Path) -> Path:
    temporary = path.with_name(f".ridgeway-{secrets.token_hex(8)}{path.suffix}")
    # By hand, not with tempfile: the file gets the permissions of any other new file, not those of a private one.
    os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
    return temporary


def _take_over_mode(temporary: Path, path: Path) -> None:
    """What was private stays private."""
    if path.is_file() and not path.is_symlink():
        os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors speak of the file that was asked for, not of the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
