"""The tables of a campaign's database, and their version."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
)

from ridgeway.errors import CampaignError

#: Raised with every change of the tables; :data:`UPGRADES` says how to get there from the one before. The tables of
#: version 3 were those of version 2, but held campaigns with constraints, steps, categories or changed inputs, which
#: earlier programs would not keep to. Since version 4 a trial has a result for each output.
VERSION = 4

metadata = MetaData()

schema = Table("ridgeway_schema", metadata, Column("version", Integer, nullable=False))

campaigns = Table(
    "ridgeway_campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("setup", Text, nullable=False),  # JSON: inputs or pool, and how to learn
    Column("n_trials", Integer, nullable=False),  # numbers used so far
    Column("n_asked", Integer, nullable=False),  # trials the learner chose: its position in its sequence
    Column("n_settled", Integer, nullable=False),  # outcomes so far: the order of observations
    Column("created_by", Text, nullable=False),
    Column("created_at", Text, nullable=False),  # all times: ISO 8601, UTC
    Column("identity", Text, nullable=False),  # tells it from another one that is made in its place
)

pools = Table(
    "ridgeway_pools",
    metadata,
    Column("campaign", ForeignKey("ridgeway_campaigns.id"), primary_key=True),
    Column("points", LargeBinary, nullable=False),  # .npy, compressed
    Column("labels", Text, nullable=False),  # JSON: columns that are carried along, not modelled
)

trials = Table(
    "ridgeway_trials",
    metadata,
    Column("campaign", ForeignKey("ridgeway_campaigns.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("inputs", LargeBinary, nullable=False),  # float64, little endian: one value for any number of inputs
    Column("proposed", LargeBinary),  # where the experiment was made elsewhere than asked
    Column("notes", Text, nullable=False),  # JSON: extra columns
    Column("reason", Text),
    Column("expected", Float(53)),  # information that its observation was expected to give, nats
    Column("seen", Integer),  # outcomes known when it was chosen
    Column("asked_by", Text),
    Column("asked_at", Text),
    Column("settled_by", Text),
    Column("settled_at", Text),
    Column("sequence", Integer),  # order of the outcomes
    UniqueConstraint("campaign", "sequence"),
)

results = Table(
    "ridgeway_results",
    metadata,
    Column("campaign", ForeignKey("ridgeway_campaigns.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("output", Integer, primary_key=True),  # its place among the outputs, which never changes
    Column("value", Float(53)),  # none: there is none, and it is not awaited
    Column("sigma", Float(53)),
    Column("sequence", Integer, nullable=False),  # order of the outcomes
    Column("told_by", Text),
    Column("told_at", Text),
    UniqueConstraint("campaign", "output", "sequence"),
)

corrections = Table(
    "ridgeway_corrections",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign", ForeignKey("ridgeway_campaigns.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),  # corrected, noted, reclaimed, reopened, changed, undone
    Column("before", Text, nullable=False),  # JSON: what stood there
    Column("after", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", Text, nullable=False),
)

fits = Table(
    "ridgeway_fits",
    metadata,
    Column("campaign", ForeignKey("ridgeway_campaigns.id"), primary_key=True),
    Column("output", Integer, primary_key=True),  # its place among the outputs
    Column("role", Text, primary_key=True),  # "asked": the last ask's; "read": of newer data, by someone who looked
    Column("data", Text, nullable=False),  # digest of the observations
    Column("identity", Text, nullable=False),  # digest of the content
    Column("parent", Text, nullable=False),  # identity of the fit that it started from
    Column("observations", Integer, nullable=False),
    Column("searched_at", Integer, nullable=False),
    Column("summary", Text, nullable=False),  # JSON: what `status` shows without loading the fit
    Column("content", LargeBinary, nullable=False),
)


_LOCK = 7469283605  # any number: PostgreSQL's name for the lock under which tables are made


def new_identity() -> str:
    """An identity that no other campaign has."""
    return uuid4().hex


def _identities(connection: Connection) -> None:
    """Campaigns of version 1 get an identity."""
    connection.exec_driver_sql(f"ALTER TABLE {campaigns.name} ADD COLUMN identity TEXT")
    for key in connection.execute(select(campaigns.c.id)).scalars().all():
        connection.execute(campaigns.update().where(campaigns.c.id == key).values(identity=new_identity()))


def _several_outputs(connection: Connection) -> None:
    """What trials and fits of version 3 say becomes that of their first output.

    The old columns of values stay, unread: not every SQLite can drop them.
    """
    results.create(connection)
    connection.exec_driver_sql(
        f"INSERT INTO {results.name} (campaign, number, output, value, sigma, sequence, told_by, told_at) "
        f"SELECT campaign, number, 0, value, sigma, sequence, settled_by, settled_at FROM {trials.name} "
        "WHERE state IN ('told', 'attached', 'failed')"
    )
    old, columns = f"{fits.name}_3", ", ".join(c.name for c in fits.c if c.name != "output")
    connection.exec_driver_sql(f"ALTER TABLE {fits.name} RENAME TO {old}")
    fits.create(connection)
    connection.exec_driver_sql(f"INSERT INTO {fits.name} (output, {columns}) SELECT 0, {columns} FROM {old}")
    connection.exec_driver_sql(f"DROP TABLE {old}")


def _same_tables(connection: Connection) -> None:
    """Version 3 differs from version 2 only in what it may hold."""


#: From each older version, the step that leads to the next.
UPGRADES: dict[int, Callable[[Connection], None]] = {1: _identities, 2: _same_tables, 3: _several_outputs}


def prepare(connection: Connection, where: str) -> None:
    """Create the tables if there are none; bring older ones up to date; refuse newer ones."""
    if connection.dialect.name == "postgresql":  # a SQLite transaction that writes is alone anyway
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    if not inspect(connection).has_table(schema.name):
        metadata.create_all(connection)
        connection.execute(insert(schema).values(version=VERSION))
        return
    found = version(connection, where)
    while found < VERSION:
        if found not in UPGRADES:
            raise CampaignError(
                f"{where} has the tables of version {found}, which this version of Ridgeway cannot read: "
                "open it with the version that wrote it and export the trials"
            )
        UPGRADES[found](connection)
        found += 1
        connection.execute(schema.update().values(version=found))


def version(connection: Connection, where: str) -> int:
    """The version of the tables that are there; a newer one than ours is refused."""
    found = connection.execute(select(schema.c.version)).scalar_one_or_none()
    if found is None:
        raise CampaignError(f"{where} is no campaign: its table of versions is empty")
    if found > VERSION:
        raise CampaignError(
            f"{where} was written by a newer version of Ridgeway (tables of version {found}, "
            f"this one knows up to {VERSION}): install that version to open it"
        )
    return int(found)
