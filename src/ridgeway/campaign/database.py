"""Connections to a campaign's database: SQLite file or PostgreSQL, and their errors in sentences."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from ridgeway.campaign import schema
from ridgeway.errors import CampaignError

PATIENCE = 600.0  # seconds that a write waits for others before it gives up
_LOOK_AGAIN = 0.05  # seconds between two attempts beyond SQLite's own waiting


class Database:
    """One database: short transactions that read or write, each whole or not at all."""

    def __init__(self, where: str | Path, create: bool = False):
        self.url = _url(where)
        self.where = self.url.database if self.is_file else self.url.render_as_string(hide_password=True)
        self._engine = self._file_engine(create) if self.is_file else self._server_engine()

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    def prepare(self, create: bool) -> None:
        """Make sure that the tables are there and of this version."""
        with self.reading() as connection:
            if inspect(connection).has_table(schema.schema.name):
                if schema.version(connection, str(self.where)) == schema.VERSION:
                    return
            elif not create:
                raise CampaignError(f"{self.where} holds no campaign: make one with Campaign.create or `ridgeway init`")
        with self.writing() as connection:
            schema.prepare(connection, str(self.where))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database throughout."""
        level = {} if self.is_file else {"isolation_level": "REPEATABLE READ"}
        with self._sentences(), self._engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are kept together when the block ends, or not at all."""
        with self._sentences(), self._engine.connect().execution_options(ridgeway_writes=True) as connection:
            self._begin(connection)
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def _begin(self, connection: Connection) -> None:
        """Begin to write, after others have finished writing."""
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                connection.begin()
                return
            except DBAPIError as error:
                if "database is locked" not in str(error.orig) or time.monotonic() > give_up:
                    raise
                time.sleep(_LOOK_AGAIN)

    def _file_engine(self, create: bool) -> Engine:
        path = Path(str(self.url.database))
        if not create and not path.is_file():
            raise CampaignError(f"there is no campaign at {path}: make one with Campaign.create or `ridgeway init`")
        if create and not path.parent.is_dir():
            raise CampaignError(f"{path} cannot be made: there is no folder {path.parent}")
        mode = "rwc" if create else "rw"
        target = f"file:{quote(str(path.absolute()))}?mode={mode}"

        def connect() -> sqlite3.Connection:
            # Transactions are begun by hand below: the driver's own would begin too late to exclude others.
            connection = sqlite3.connect(target, uri=True, timeout=PATIENCE, isolation_level=None)
            # EXTRA also syncs the folder after a commit, so that a power cut cannot bring a journal back.
            connection.execute("PRAGMA synchronous=EXTRA")
            connection.execute("PRAGMA foreign_keys=ON")
            return connection

        engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get("ridgeway_writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def _server_engine(self) -> Engine:
        if self.url.get_backend_name() != "postgresql":
            raise CampaignError(
                f"{self.where} must be a path, a sqlite:/// or a postgresql:// address, "
                f"got {self.url.get_backend_name()}"
            )
        try:
            return create_engine(self.url.set(drivername="postgresql+psycopg"), poolclass=NullPool)
        except ModuleNotFoundError:
            raise CampaignError(
                f"{self.where} needs psycopg, which is missing: pip install 'ridgeway[postgres]'"
            ) from None

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what the driver raises into something a user can act upon."""
        try:
            yield
        except DBAPIError as error:
            raise CampaignError(_sentence(str(self.where), str(error.orig))) from error
        except sqlite3.Error as error:  # from connecting, before SQLAlchemy wraps it
            raise CampaignError(_sentence(str(self.where), str(error))) from error


def _url(where: Any) -> URL:
    if isinstance(where, Path) or "://" not in str(where):
        if not str(where).strip():
            raise CampaignError("the campaign's place must be a path or an address, got nothing")
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(str(where))
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise CampaignError(f"the campaign's address cannot be read: {error}") from None
    except ModuleNotFoundError:  # of a driver; said where the engine is made
        pass
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise CampaignError("a campaign must outlive its program: give the path of a file, not a database in memory")
    return url


def _sentence(where: str, problem: str) -> str:
    problem = " ".join(problem.split())
    advice = {
        "readonly": "it is read-only: change its permissions, or those of its folder, or work on a copy",
        "disk is full": "the disk is full; nothing was written: make room and try again",
        "disk I/O error": "the disk refused to write (full?); nothing was kept: make room and try again",
        "not a database": "it is not a campaign but some other file: is the path right?",
        "malformed": "the file is damaged: restore a copy",
        "database is locked": f"another program has kept it locked for {PATIENCE:g} s: end it and try again",
        "unable to open": "it cannot be opened: do the file and its folder exist, and may you write there?",
        "authentication failed": "user or password are wrong",
        "onnection refused": "no server answers there: is it running, are host and port right?",
        "does not exist": f"it is not there: {problem}",
        "resolve host": "its host is not known: is the address right, is the network up?",
    }
    for key, words in advice.items():
        if key in problem:
            return f"{where}: {words}"
    return f"{where}: {problem}"
