"""Files appear whole or not at all, with several writers, and links lead nowhere."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ridgeway import files


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "page.html"
    precious.write_text("mine")
    path.symlink_to(precious)
    for name in ("page.html.part", ".page.html.part"):  # names that could be guessed
        (tmp_path / name).symlink_to(precious)
    files.write_text(path, "new")
    assert (precious.read_text(), path.read_text(), path.is_symlink()) == ("mine", "new", False)


def test_two_writers_never_mix(tmp_path: Path) -> None:
    path, errors = tmp_path / "t.txt", []
    texts = [letter * 300_000 for letter in "ab"]

    def write(text: str) -> None:
        try:
            for _ in range(20):
                files.write_text(path, text)
                assert path.read_text() in texts
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["t.txt"]


def test_a_block_that_fails_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = files.write_text(tmp_path / "t.txt", "old")

    def half() -> None:
        with files.writing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.txt"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for call in (files.check, lambda path: files.write_text(path, "x")):
        with pytest.raises(FileNotFoundError) as caught:
            call(tmp_path / "nowhere" / "t.txt")
        assert caught.value.filename == str(tmp_path / "nowhere" / "t.txt")
        with pytest.raises(IsADirectoryError):
            call(tmp_path)
    files.check(tmp_path / "t.txt")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_permissions_are_those_of_any_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    path = files.write_text(tmp_path / "t.txt", "x")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o600)
    assert files.write_text(path, "y").stat().st_mode & 0o777 == 0o600
