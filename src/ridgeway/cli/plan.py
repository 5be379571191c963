"""Plans: inputs, output and settings of a new campaign, from options, a TOML file, a table or a pool's file."""

from __future__ import annotations

import difflib
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ridgeway.campaign import sheets
from ridgeway.campaign.inputs import Category, Fixed, Input, Item
from ridgeway.campaign.outputs import GOALS, Output, OutputList
from ridgeway.campaign.sheets import Sheet
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers

_LEARNING = {
    "embedding",
    "directions",
    "acquisition",
    "n_initial",
    "fill_every",
    "random_state",
    "kernel",
    "inference",
    "effort",
}
_KEYS = {"name", "output", "choose", "goal", "input", "fixed", "inputs", "constraints", "pool", *_LEARNING}
_INPUT = {"name", "lower", "upper", "unit", "log", "integer", "step", "levels"}
_FIXED = {"name", "value", "unit"}
_POOL = {"file", "labels", "categories"}
_YES, _NO = ("1", "true", "yes", "x", "log", "integer"), ("", "0", "false", "no", "-")
_EMBEDDINGS = ("linear", "diagonal", "isotropic")


@dataclass(frozen=True)
class Plan:
    """Everything that ``init`` needs."""

    name: str | None = None
    inputs: tuple[Item, ...] = ()
    constraints: tuple[str, ...] = ()
    pool: Path | None = None
    labels: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    outputs: tuple[Output, ...] = (Output("value"),)
    weights: Mapping[str, float] = field(default_factory=dict)
    choose: str = "sum"
    goal: str | None = None  # with the name of its output, where there are several
    learning: dict[str, Any] = field(default_factory=dict)  # words and numbers, as a file has them
    encoding: str | None = None  # of the pool's file, where it is not UTF-8

    def create(self, where: str) -> Any:
        """The campaign."""
        from ridgeway.campaign.campaign import Campaign
        from ridgeway.spaces.pool import Pool

        labels: Mapping[str, Sequence[str]] | Sequence[str] = {}
        if self.pool is None:
            for option, given in (("--label", self.labels), ("--category", self.categories)):
                if given:
                    raise CampaignError(f"{option} names a column of a pool, and there is none: got {given[0]!r}")
            if not self.inputs:
                raise CampaignError("a campaign needs inputs: give --input, --inputs, --pool or a TOML file")
            space: Any = self.inputs
        elif self.inputs:
            raise CampaignError("a campaign has inputs or a pool, not both: a pool's columns are its inputs")
        else:
            space, labels = pool_of_files(self.pool, self.labels, self.categories), self.labels
            if space is None:
                columns, points, labels = pool_of(sheets.read(self.pool, self.encoding), self.labels, self.categories)
                space = Pool(points, columns)
        name = self.name or (Path(where).stem if "://" not in where else "campaign")
        return Campaign.create(
            where, name, space, outputs=self._outputs(), choose=self.choose, labels=labels,
            constraints=self.constraints, **_options(self.learning),
        )  # fmt: skip

    def _outputs(self) -> tuple[Output, ...]:
        """The outputs with their weights, and the goal where it belongs."""
        found = OutputList.of(self.outputs, self.choose, self.weights)
        if self.goal is None:
            return found.items
        verb, _, name = self.goal.strip().partition(" ")
        if verb not in GOALS:
            raise CampaignError(f"goal must be one of {', '.join(GOALS)}, got {self.goal!r}")
        if not name and found.only is None and verb != "learn":
            raise CampaignError(
                f"goal must name one of the outputs {', '.join(found.names)}, such as '{verb} {found.names[0]}'"
            )
        if verb == "learn":
            return found.items
        place = found.place(name.strip() or None)
        return found.with_item(place, replace(found.items[place], goal=verb)).items


def from_toml(path: Path, encoding: str | None = None) -> Plan:
    """The plan in a TOML file; a key that is not known is refused, with the one that was perhaps meant.

    ``encoding`` is that of the sheets it names; the file itself is UTF-8.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise CampaignError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise CampaignError(f"{path} is not UTF-8 text: save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CampaignError(f"{path} is not valid TOML: {error}") from None
    where = str(path)
    _check_keys(content, _KEYS, where)
    inputs: list[Item] = []
    if "inputs" in content:
        if not isinstance(content["inputs"], str):
            raise CampaignError(f"{where}: 'inputs' names a sheet; for one input after another write [[input]]")
        inputs += from_table(path.parent / content["inputs"], encoding)
    for kind, allowed, built in (("input", _INPUT, Input), ("fixed", _FIXED, Fixed)):
        entries = content.get(kind, [])
        if not isinstance(entries, list):
            raise CampaignError(f"{where}: write [[{kind}]] with two brackets on either side, once for each input")
        for i, entry in enumerate(entries):
            inputs.append(_item(built, entry, allowed, f"{where}, [[{kind}]] number {i + 1}"))
    constraints = _list_of_words(content, "constraints", where)
    plan = Plan(name=_word(content, "name", where), inputs=tuple(inputs), constraints=constraints, encoding=encoding)
    plan = replace(plan, learning={key: content[key] for key in content if key in _LEARNING})
    plan = replace(plan, choose=_word(content, "choose", where) or "sum", goal=_word(content, "goal", where))
    plan = replace(plan, outputs=_outputs(content.get("output", {}), where))
    return _with_pool(plan, content.get("pool", {}), path)


def from_words(text: str, fixed: bool = False) -> Item:
    """An input from an option: ``name lower upper [unit] [log] [integer] [step=...]``.

    ``name in water, acetone`` is a category with these levels; a ``fixed`` one reads ``name value [unit]``.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CampaignError(f"--input {text!r} cannot be read: {error}") from None
    if not fixed and len(words) > 2 and words[1] == "in":
        try:
            return Category(words[0], tuple(level.strip() for level in " ".join(words[2:]).split(",")))
        except ValueError as error:
            raise CampaignError(f"--input {text!r}: {error}") from None
    option, expected, least = "--input", "name lower upper [unit] [log] [integer] [step=0.5]", 3
    if fixed:
        option, expected, least = "--fixed", "name value [unit]", 2
    flags = {word for word in words[least:] if word in ("log", "integer")} if not fixed else set()
    steps = [word for word in words[least:] if word.startswith("step=")] if not fixed else []
    units = [word for word in words[least:] if word not in flags and word not in steps]
    if len(words) < least or len(units) > 1 or len(steps) > 1:
        raise CampaignError(f"{option} {text!r} must read '{expected}'")
    try:
        numbers = [written_numbers.decimal(word) for word in words[1:least]]
        step = written_numbers.decimal(steps[0].removeprefix("step=")) if steps else None
    except ValueError:
        raise CampaignError(f"{option} {text!r} must read '{expected}', with numbers after the name") from None
    unit = units[0] if units else None
    if fixed:
        return Fixed(words[0], numbers[0], unit)
    return Input(words[0], numbers[0], numbers[1], unit, "log" in flags, "integer" in flags, step)


def from_table(path: Path, encoding: str | None = None) -> list[Item]:
    """Inputs from a sheet with the columns name, lower, upper and perhaps unit, log, integer, step, levels, value."""
    sheet = sheets.read(path, encoding)
    columns = {name.lower(): j for j, name in enumerate(sheet.columns)}
    _check_keys(columns, _INPUT | _FIXED, str(path))
    if "name" not in columns:
        raise CampaignError(f"{path} has no column 'name'; name, lower and upper are expected")
    found: list[Item] = []
    for i in range(len(sheet.rows)):
        entry: dict[str, Any] = {}
        for key, j in columns.items():
            if key in ("name", "unit"):
                entry[key] = sheet.text(i, j) or None
            elif key in ("log", "integer"):
                entry[key] = _flag(sheet, i, j)
            elif key == "levels":
                entry[key] = [level.strip() for level in sheet.text(i, j).split(",")] if sheet.text(i, j) else None
            else:
                entry[key] = sheet.number(i, j)
        where = f"{path}, row {sheet.lines[i]}"
        if entry.get("value") is not None:
            for key in ("lower", "upper", "log", "integer", "step", "levels"):
                if entry.get(key) is not None and entry[key] is not False:
                    raise CampaignError(
                        f"{where}: an input with a value is fixed and has no {key!r}: remove one of them"
                    )
            found.append(_item(Fixed, {k: entry[k] for k in entry if k in _FIXED}, _FIXED, where))
        else:
            found.append(_item(Input, {k: v for k, v in entry.items() if k != "value"}, _INPUT, where))
    return found


def _flag(sheet: Sheet, i: int, j: int) -> bool:
    text = sheet.text(i, j).lower()
    if text not in (*_YES, *_NO):
        raise CampaignError(f"{sheet.at(i, j)}: yes or no is expected, got {sheet.text(i, j)!r}")
    return text in _YES


def pool_of(
    sheet: Sheet, labels: Sequence[str], categories: Sequence[str]
) -> tuple[list[str], list[list[float]], dict[str, list[str]]]:
    """Names, points and labels of a pool; each category becomes columns of 0 and 1, and a label."""
    for name in (*labels, *categories):
        if name not in sheet.columns:
            raise CampaignError(
                f"{sheet.source} has no column {name!r}; its columns are {', '.join(sheet.columns[:8])}"
            )
    names: list[str] = []
    columns: list[list[float]] = []
    carried: dict[str, list[str]] = {}
    for j, name in enumerate(sheet.columns):
        if name in labels or name in categories:
            carried[name] = [sheet.text(i, j) for i in range(len(sheet.rows))]
        if name in categories:
            kinds = sorted(set(carried[name]))
            names += [f"{name}={kind}" for kind in kinds]
            columns += [[float(cell == kind) for cell in carried[name]] for kind in kinds]
        elif name not in labels:
            names.append(name)
            columns.append([_needed(sheet, i, j) for i in range(len(sheet.rows))])
    if not columns or not sheet.rows:
        raise CampaignError(f"{sheet.source} must have at least one row and one column of numbers")
    return names, [list(row) for row in zip(*columns, strict=True)], carried


def pool_of_files(points: Path, labels: Sequence[str], categories: Sequence[str]) -> Any:
    """A pool of Parquet files that stay where they are; all their columns but the labels are inputs.

    ``None`` for a file that is read into memory.
    """
    from ridgeway.spaces.point_chunks import columns_of
    from ridgeway.spaces.pool import Pool

    try:
        columns = columns_of(points)
    except (OSError, ImportError) as error:
        raise CampaignError(str(error)) from None
    if columns is None:
        return None
    if categories:
        raise CampaignError(
            f"--category needs a pool that is read into memory, got {categories[0]!r}: for {points} write a column of "
            "0 and 1 for each word"
        )
    for name in labels:
        if name not in columns:
            raise CampaignError(f"{points} has no column {name!r}; its columns are {', '.join(columns[:8])}")
    try:
        return Pool(points, [name for name in columns if name not in labels])
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise CampaignError(str(error)) from None


def _needed(sheet: Sheet, i: int, j: int) -> float:
    try:
        value = sheet.number(i, j)
    except CampaignError as error:
        raise CampaignError(f"{error}; text is for --label or --category columns") from None
    if value is None:
        raise CampaignError(f"{sheet.at(i, j)}: there is no value")
    return value


def _options(learning: dict[str, Any]) -> dict[str, Any]:
    from ridgeway.gp.length_scales import Diagonal, Isotropic
    from ridgeway.gp.linear import Linear

    options = dict(learning)
    directions = options.pop("directions", None)
    kind = options.pop("embedding", "linear")
    if kind not in _EMBEDDINGS:
        raise CampaignError(f"embedding must be one of {', '.join(_EMBEDDINGS)}, got {kind!r}")
    if kind == "linear":
        if directions is not None:
            options["embedding"] = Linear(directions)
    elif directions is not None:
        raise CampaignError(f"directions are for a linear embedding, got {directions!r} with {kind!r}")
    else:
        options["embedding"] = Diagonal() if kind == "diagonal" else Isotropic()
    return options


def _outputs(output: Any, where: str) -> tuple[Output, ...]:
    """One output, from a word or a table, or several, from tables with two brackets on either side."""
    if isinstance(output, list):
        return tuple(_output(entry, f"{where}, [[output]] number {i + 1}", True) for i, entry in enumerate(output))
    return (_output(output, f"{where}, [output]", False),)


def _output(entry: Any, where: str, named: bool) -> Output:
    if isinstance(entry, str):
        return Output(entry)
    _check_keys(entry, {"name", "unit", "weight"}, where)
    name, unit = _word(entry, "name", where), _word(entry, "unit", where)
    if named and name is None:
        raise CampaignError(f"{where}: there is no 'name'")
    try:
        return Output("value" if name is None else name, unit, entry.get("weight", 1.0))
    except CampaignError as error:
        raise CampaignError(f"{where}: {error}") from None


def _with_pool(plan: Plan, pool: Any, path: Path) -> Plan:
    if isinstance(pool, str):
        pool = {"file": pool}
    _check_keys(pool, _POOL, f"{path}, [pool]")
    if not pool:
        return plan
    if "file" not in pool:
        raise CampaignError(f"{path}, [pool]: there is no 'file'")
    here = f"{path}, [pool]"
    labels, categories = _list_of_words(pool, "labels", here), _list_of_words(pool, "categories", here)
    return replace(plan, pool=path.parent / str(_word(pool, "file", here)), labels=labels, categories=categories)


def _word(content: Mapping[str, Any], key: str, where: str) -> str | None:
    found = content.get(key)
    if found is not None and not isinstance(found, str):
        raise CampaignError(f"{where}: {key!r} must be a word in quotes, got {found!r}")
    return found


def _list_of_words(content: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise CampaignError(f'{where}: {key!r} must be a list of words such as ["id"], got {found!r}')
    return tuple(found)


def _item(built: Any, entry: Any, allowed: set[str], where: str) -> Any:
    _check_keys(entry, allowed, where)
    if built is Input and entry.get("levels") is not None:
        return _category(entry, where)
    entry = {key: value for key, value in entry.items() if key != "levels"}
    allowed = allowed - {"levels"}
    needed = [key for key in ("name", "lower", "upper", "value") if key in allowed]
    for key in needed:
        if entry.get(key) is None:
            raise CampaignError(f"{where}: there is no {key!r}; {', '.join(needed)} are needed")
    try:
        return built(**entry)
    except (ValueError, TypeError) as error:
        raise CampaignError(f"{where}: {error}") from None


def _category(entry: Mapping[str, Any], where: str) -> Category:
    own = ("name", "levels")
    others = [key for key, value in entry.items() if key not in own and value is not None and value is not False]
    if others:
        raise CampaignError(f"{where}: an input with levels is a category and has no {others[0]!r}")
    try:
        return Category(entry.get("name"), entry["levels"])  # type: ignore[arg-type]  # checked there
    except (ValueError, TypeError) as error:
        raise CampaignError(f"{where}: {error}") from None


def _check_keys(found: Any, allowed: set[str], where: str) -> None:
    if not isinstance(found, Mapping):
        raise CampaignError(f"{where}: a table of keys and values is expected, got {found!r}")
    for key in found:
        if key not in allowed:
            near = difflib.get_close_matches(key, sorted(allowed), 1)
            meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(allowed))}"
            raise CampaignError(f"{where}: {key!r} is not known; {meant}")
