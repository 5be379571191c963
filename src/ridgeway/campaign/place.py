"""Where a campaign lives: the path of a file or the address of a server, read, and shown without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from ridgeway.errors import CampaignError

_SHOWN = ("host", "hostaddr", "port", "dbname", "user", "sslmode", "application_name", "connect_timeout")
_SECRET = re.compile("pass|secret|token|key|pwd", re.IGNORECASE)
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
#: An address with a slash too few, as ``pathlib`` leaves it.
_NEARLY = re.compile(r"\s*(?:postgres(?:ql)?(?:\+\w+)?:|[a-z][a-z0-9+.-]+:(?=/.*@))", re.IGNORECASE)
#: What the programs of PostgreSQL also take: ``host=... password=...``.
_WORDS = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=", re.IGNORECASE)
_WRITTEN = "postgresql://USER:PASSWORD@HOST/DATABASE"


@dataclass(frozen=True)
class Place:
    """A place, with a form of it that can be shown to anybody."""

    url: URL
    shown: str
    secrets: tuple[str, ...]  # what must not stand in a message, in every spelling

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    def without_secrets(self, text: str) -> str:
        """``text``, such as a driver's message, with the secrets of this place taken out."""
        for secret in self.secrets:
            # A short one may be part of a word by chance.
            pattern = re.escape(secret) if len(secret) > 3 else rf"(?<!\w){re.escape(secret)}(?!\w)"
            text = re.sub(pattern, "***", text)
        return text


def place(where: Any) -> Place:
    """The place that ``where`` names; a message about one that cannot be read shows no password."""
    text = str(where)
    if not text.strip():
        raise CampaignError("the campaign's place must be a path or an address, got nothing")
    if _SCHEME.match(text) is None or isinstance(where, Path):
        if _is_address(text):
            raise CampaignError(f"the campaign's address must be written as {_WRITTEN}, got {shown(text)}")
        return Place(URL.create("sqlite", database=text), text, ())
    url = _url(text.strip())
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise CampaignError(
                "a campaign must outlive its program: give the path of a file, not a database in memory"
            )
        return Place(url, str(url.database), ())
    return Place(url, shown(text), _secrets(text, url))


def shown(where: Any) -> str:
    """A place as it may stand in a message, a log or a report, however it was written.

    >>> shown("postgresql://anna:p@ss/word@db.example.org/lab?password=x&sslmode=require")
    'postgresql://anna:***@db.example.org/lab?password=***&sslmode=require'
    >>> shown("host=db.example.org user=anna password='se cret'")
    'host=...'
    """
    text = str(where).strip()
    found = _SCHEME.match(text) or _NEARLY.match(text)
    if found is None:
        return f"{_WORDS.search(text)[0].strip()}..." if _is_address(text) else text  # type: ignore[index]
    rest, _, query = text[found.end() :].partition("?")
    login, at, server = rest.rpartition("@")  # the last one: a password may hold others, and slashes
    user, colon, _ = login.partition(":")
    parts = [_shown_option(part) for part in re.split("[&;]", query) if part]
    return f"{found[0]}{user}{':***' * bool(colon)}{at}{_shown_server(server)}{'?' * bool(parts)}{'&'.join(parts)}"


def _shown_server(server: str) -> str:
    """Host, port and database; a port that is none may be the password of an address without a host."""
    return re.sub(r"(?<=[^\[:/,]):(?!\d+(?:[,/]|$))[^/:\]]*(?=/|$)", ":***", server)


def _shown_option(option: str) -> str:
    name, equals, value = option.partition("=")
    plain = unquote_plus(name).strip().lower()
    return f"{name}{equals}{value if plain in _SHOWN else '***'}" if equals else "***"


def _is_address(text: str) -> bool:
    """Whether text without ``://`` is meant as the address of a server."""
    return _NEARLY.match(text) is not None or (_WORDS.search(text) is not None and not Path(text).exists())


def _url(text: str) -> URL:
    """SQLAlchemy's form of an address; a password may hold ``@``, and ``postgres`` is short for ``postgresql``."""
    scheme, _, rest = text.partition("://")
    if scheme.lower() == "postgres":
        scheme = "postgresql"
    rest, mark, query = rest.partition("?")
    login, at, server = rest.rpartition("@")
    if "@" in login:
        user, _, password = login.partition(":")
        login = f"{user}:{quote(unquote(password), safe='')}"
    try:
        url = make_url(f"{scheme}://{login}{at}{server}{mark}{query}")
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise CampaignError(f"the campaign's address cannot be read: {error}") from None
    except ModuleNotFoundError:  # of a driver; said where the engine is made
        pass
    except ValueError:  # of SQLAlchemy, about the port; it would quote what may be part of a password
        raise CampaignError(f"the port in {shown(text)} must be a number; write {_WRITTEN}") from None
    return url


def _secrets(text: str, url: URL) -> tuple[str, ...]:
    """Every spelling of what must not be shown, the longest first."""
    rest, _, query = text.partition("://")[2].partition("?")
    login = rest.rpartition("@")[0]
    found = {login.partition(":")[2], str(url.password or "")}
    options = (option.partition("=") for option in re.split("[&;]", query))
    found |= {value for name, _, value in options if _SECRET.search(unquote_plus(name))}
    spelled = {
        form for one in found for form in (one, unquote(one), unquote_plus(one), quote(one, ""), quote_plus(one))
    }
    return tuple(sorted(spelled - {""}, key=len, reverse=True))
