"""Addresses are read as they were meant, and never shown with their password."""

from __future__ import annotations

from pathlib import Path

import pytest

from ridgeway import Campaign, CampaignError
from ridgeway.campaign.place import place, shown

ADDRESSES = [
    "postgresql://anna:hunter2@127.0.0.1:9/lab",
    "postgresql+psycopg://anna:hunter2@127.0.0.1:9/lab",
    "postgres://anna:hunter2@127.0.0.1:9/lab",
    "postgresql://anna:hun@ter2@127.0.0.1:9/lab",
    "postgresql://anna:hun@t/er2@127.0.0.1:9/lab",
    "postgresql://anna:h%75nter2@127.0.0.1:9/lab",
    "postgresql://127.0.0.1:9/lab?user=anna&password=hunter2",
    "postgresql://127.0.0.1:9/lab?user=anna&PASSWORD=hunter2",
    "postgresql://127.0.0.1:9/lab?user=anna&pass%77ord=hunter2",
    "postgresql://127.0.0.1:9/lab?sslmode=disable;password=hunter2",
    "postgresql://127.0.0.1:9/lab?user=anna&sslpassword=hunter2",
    "postgresql://127.0.0.1:9/lab?user=anna&options=-chunter2",
    "postgresql:/anna:hunter2@127.0.0.1:9/lab",
    "postgresql:anna:hunter2@127.0.0.1:9/lab",
    "postgresql://anna:hunter2",
    "postgresql://anna:hunter2/lab",
    "postgresql://anna:?hunter2@127.0.0.1:9/lab",
    " postgresql://anna:hunter2@127.0.0.1:9/lab",
    "mysql://anna:hunter2@127.0.0.1:9/lab",
    "nonsense://anna:hunter2@127.0.0.1:9/lab",
    "host=127.0.0.1 port=9 user=anna password=hunter2 dbname=lab",
    "password='hunter2' host=127.0.0.1 port=9",
    "dbname = lab password = hunter2",
]
PARTS = ("hunter2", "hun@", "t/er2", "ter2", "h%75nter2", "hunt")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("form", [str, Path])
def test_a_password_is_never_shown(address: str, form: type) -> None:
    with pytest.raises(CampaignError) as caught:
        Campaign.open(form(address))
    said, error = [shown(form(address))], caught.value
    while error is not None:  # what a traceback would print
        said.append(f"{error!s} {error!r}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)  # type: ignore[assignment]
    for text in said:
        assert not [part for part in PARTS if part in text]


def test_addresses_are_read_as_meant() -> None:
    read = place("postgresql://anna:a@b/c@db.example.org:5433/lab?sslmode=require").url
    assert (read.username, read.password, read.host, read.port) == ("anna", "a@b/c", "db.example.org", 5433)
    assert (read.database, dict(read.query)) == ("lab", {"sslmode": "require"})
    assert place("postgres://anna@h/lab").url.get_backend_name() == "postgresql"
    assert place("postgresql://anna:%40b@h/lab").url.password == "@b"


def test_what_is_no_secret_stays() -> None:
    assert shown("postgresql://anna:x@db.example.org:5433/lab") == "postgresql://anna:***@db.example.org:5433/lab"
    assert shown("postgresql://[::1]:5432/lab") == "postgresql://[::1]:5432/lab"
    assert shown("postgresql://[::1]/lab") == "postgresql://[::1]/lab"
    assert shown("postgresql://postgres:@/lab?host=/tmp/x") == "postgresql://postgres:***@/lab?host=/tmp/x"
    assert shown("postgresql://a:1,b:2/lab") == "postgresql://a:1,b:2/lab"
    assert shown("runs/host=a/c.sqlite") == "runs/host=a/c.sqlite"
    assert place("sqlite:///runs/c.sqlite").shown == "runs/c.sqlite"


def test_a_file_may_be_called_like_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host=a.sqlite").touch()
    assert place("host=a.sqlite").is_file


def test_drivers_messages_lose_the_password() -> None:
    known = place("postgresql://anna:a%20b@h/lab?sslpassword=zz")
    assert (
        known.without_secrets('bad option "a b" or a%20b, a+b; zz, dazzle')
        == 'bad option "***" or ***, ***; ***, dazzle'
    )
