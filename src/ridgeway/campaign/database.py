"""Connections to a campaign's database: SQLite file or PostgreSQL, and their errors in sentences."""

from __future__ import annotations

import sqlite3
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.pool import NullPool

from ridgeway.campaign import schema
from ridgeway.campaign.place import place
from ridgeway.errors import CampaignError, ReadOnlyError, RidgewayWarning, UnreachableError

PATIENCE = 600.0  # seconds that a write waits for others before it gives up
_PIECE = 0.1  # seconds that SQLite waits by itself: within it no signal is heard, so the rest is waited for here
_CONNECTING = 10  # seconds that a server may take to answer


class Database:
    """One database: short transactions that read or write, each whole or not at all."""

    def __init__(self, where: str | Path, create: bool = False):
        self._place = place(where)
        self.place = str(where)
        self.url = self._place.url
        self.where = self._place.shown
        self._target = ""  # what SQLite opens
        self._is_copy = False  # of a file that may only be read, in memory
        self._engine = self._file_engine(create) if self.is_file else self._server_engine()
        self._open: set[Any] = set()  # the driver's connections
        event.listen(self._engine, "connect", lambda connection, record: self._open.add(connection))
        event.listen(self._engine, "close", lambda connection, record: self._open.discard(connection))

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file."""
        return self._place.is_file

    def prepare(self, create: bool) -> None:
        """Make sure that the tables are there and of this version.

        A file of an earlier version that may only be read is copied into memory, and the copy is brought up to date.
        """
        with self.reading() as connection:
            if inspect(connection).has_table(schema.schema.name):
                if schema.version(connection, str(self.where)) == schema.VERSION:
                    return
            elif not create:
                raise CampaignError(f"{self.where} holds no campaign: make one with Campaign.create or `ridgeway init`")
        try:
            self._upgrade()
        except ReadOnlyError:
            if not self.is_file:
                raise
            self._copy()
            self._upgrade()
            self._is_copy = True
            warnings.warn(
                f"{self.where} was written by an earlier version of Ridgeway and is read-only: this is a copy in "
                "memory, as the file is now, and nothing can be changed",
                RidgewayWarning,
                stacklevel=2,  # the same line however it is opened: a server that opens it again says it once
            )

    def _upgrade(self) -> None:
        with self.writing() as connection:
            schema.prepare(connection, str(self.where))

    def _copy(self) -> None:
        """Go on with a copy of the file in memory, which is there as long as this object is."""
        copy = f"file:ridgeway-{uuid4().hex}?mode=memory&cache=shared"
        kept = sqlite3.connect(copy, uri=True, check_same_thread=False)
        weakref.finalize(self, kept.close)
        with closing(sqlite3.connect(self._target, uri=True)) as source:
            source.backup(kept)
        self._target = copy

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database throughout."""
        level = {} if self.is_file else {"isolation_level": "REPEATABLE READ"}
        with (
            self._sentences(writes=False),
            self._engine.connect().execution_options(**level) as connection,
            connection.begin(),
        ):
            if self.is_file:  # only now is it kept from changing
                _patiently(lambda: connection.exec_driver_sql("SELECT count(*) FROM sqlite_master"))
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are kept together when the block ends, or not at all."""
        if self._is_copy:
            raise ReadOnlyError(_sentence(self.where, "readonly"))
        with self._sentences(writes=True), self._engine.connect().execution_options(ridgeway_writes=True) as connection:
            _patiently(connection.begin)  # after others have finished writing
            try:
                if not self.is_file:
                    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{PATIENCE:.0f}s'")
                yield connection
                if self.is_file:  # after others have finished reading
                    _patiently(lambda: connection.exec_driver_sql("COMMIT"))
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        """Close every connection, also one that an interrupted transaction left open; the next call makes a new one."""
        self._engine.dispose()
        while self._open:
            self._open.pop().close()

    def _file_engine(self, create: bool) -> Engine:
        path = Path(str(self.url.database))
        if not create and not path.is_file():
            raise CampaignError(f"there is no campaign at {path}: make one with Campaign.create or `ridgeway init`")
        if create and not path.parent.is_dir():
            raise CampaignError(f"{path} cannot be made: there is no folder {path.parent}")
        mode = "rwc" if create else "rw"
        self._target = f"file:{quote(str(path.absolute()))}?mode={mode}"

        def connect() -> sqlite3.Connection:
            # Transactions are begun by hand below: the driver's own would begin too late to exclude others.
            # Each is used by one thread; any thread may close it.
            connection = sqlite3.connect(
                self._target, uri=True, timeout=_PIECE, isolation_level=None, check_same_thread=False
            )
            # EXTRA also syncs the folder after a commit, so that a power cut cannot bring a journal back.
            _patiently(lambda: connection.execute("PRAGMA synchronous=EXTRA"))  # it reads the file
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
            url = self.url.set(drivername="postgresql+psycopg")
            limit = {} if "connect_timeout" in url.query else {"connect_timeout": _CONNECTING}
            return create_engine(url, poolclass=NullPool, connect_args=limit)
        except ModuleNotFoundError:
            raise CampaignError(
                f"{self.where} needs psycopg, which is missing: pip install 'ridgeway[postgres]'"
            ) from None

    @contextmanager
    def _sentences(self, writes: bool) -> Iterator[None]:
        """Turn what the driver raises into something a user can act upon, without the password."""
        try:
            yield
        except DBAPIError as error:
            away = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
            raise self._error(str(error.orig), away, writes) from self._cause(error)
        except sqlite3.Error as error:  # from connecting, before SQLAlchemy wraps it
            raise self._error(str(error), isinstance(error, sqlite3.OperationalError), writes=False) from error

    def _error(self, problem: str, away: bool, writes: bool) -> CampaignError:
        problem = self._place.without_secrets(" ".join(problem.split()))
        text = _sentence(self.where, problem)
        if writes and any(words in problem for words in _READ_ONLY):
            return ReadOnlyError(text)
        return UnreachableError(text) if away else CampaignError(text)

    def _cause(self, error: DBAPIError) -> BaseException | None:
        """The driver's error, to be printed with a traceback, unless it says what nobody may read."""
        text = f"{error!s} {error!r} {error.orig!s} {error.orig!r}"
        return error if self._place.without_secrets(text) == text else None


def _patiently(step: Callable[[], Any]) -> None:
    """Take a step again and again until others have let go of the file, or patience ends."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            step()
            return
        except (DBAPIError, sqlite3.OperationalError) as error:
            if "database is locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(_PIECE / 10.0)


#: What drivers say where reading is allowed and writing is not; in a folder without permission there is no journal.
_READ_ONLY = ("readonly", "read-only transaction", "permission denied", "unable to open")


def _sentence(where: str, problem: str) -> str:
    read_only = "it is read-only: change its permissions, or those of its folder, or work on a copy"
    advice = {
        "readonly": read_only,
        "read-only transaction": "the server only lets you read: give the address of one that writes",
        "permission denied": f"you may not do that there: {problem}",
        "disk is full": "the disk is full; nothing was written: make room and try again",
        "disk I/O error": "the disk refused to write (full?); nothing was kept: make room and try again",
        "not a database": "it is not a campaign but some other file: is the path right?",
        "malformed": "the file is damaged: restore a copy",
        "database is locked": f"another program has kept it locked for {PATIENCE:g} s: end it and try again",
        "lock timeout": f"another program has kept it locked for {PATIENCE:g} s: end it and try again",
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
