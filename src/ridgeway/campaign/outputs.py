"""Outputs: what an experiment is measured for, with units, weights, a goal, and how experiments are chosen for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ridgeway import names as _names
from ridgeway.errors import CampaignError
from ridgeway.text import numbers as written_numbers

Choose = Literal["sum", "turns"]
GOALS = ("learn", "minimize", "maximize")


@dataclass(frozen=True)
class Output:
    """Something that experiments are measured for.

    ``weight`` says how much it counts when experiments are chosen for several outputs; with a ``goal`` of
    ``"minimize"`` or ``"maximize"``, which one output may have, they are chosen for that alone.

    >>> Output("cost", "EUR").label
    'cost [EUR]'
    """

    name: str
    unit: str | None = None
    weight: float = 1.0
    goal: str = "learn"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not (self.unit is None or isinstance(self.unit, str)):
            raise CampaignError(f"output and unit must be words, got {self.name!r} and {self.unit!r}")
        if not self.name.strip():
            raise CampaignError(f"output must be a word, got {self.name!r}")
        if self.goal not in GOALS:
            raise CampaignError(f"goal of output {self.name!r} must be one of {', '.join(GOALS)}, got {self.goal!r}")
        object.__setattr__(self, "weight", _weight(self.weight, self.name))

    @property
    def label(self) -> str:
        """Name and unit, as they stand above a column."""
        return _names.with_unit(self.name, self.unit)

    @classmethod
    def read(cls, text: str, weight: float = 1.0) -> Output:
        """From text such as ``"yield"`` or ``"cost [EUR]"``."""
        name, bracket, rest = text.partition("[")
        if not bracket:
            return cls(text.strip(), None, weight)
        if not rest.rstrip().endswith("]") or not name.strip() or not rest.rstrip()[:-1].strip():
            raise CampaignError(f"an output must read 'name' or 'name [unit]', got {text!r}")
        return cls(name.strip(), rest.rstrip()[:-1].strip(), weight)


@dataclass(frozen=True)
class OutputList:
    """All outputs of an experiment in their order, and how experiments are chosen for them.

    With ``choose="sum"`` the information about all of them is added up, weighed; with ``"turns"`` each experiment is
    chosen for one of them, in turn.

    >>> both = OutputList.of(["yield [%]", Output("cost", "EUR", weight=2.0)])
    >>> both.labels, both.weights
    (('yield [%]', 'cost [EUR]'), (1.0, 2.0))
    """

    items: tuple[Output, ...]
    choose: Choose = "sum"

    def __post_init__(self) -> None:
        if not self.items:
            raise CampaignError("outputs must have at least one: what is measured")
        seen: set[str] = set()
        for item in self.items:
            if item.name.casefold() in seen:
                raise CampaignError(f"outputs must have different names, got {item.name!r} twice")
            seen.add(item.name.casefold())
        if self.choose not in get_args(Choose):
            raise CampaignError(f"choose must be one of {', '.join(get_args(Choose))}, got {self.choose!r}")
        if not any(item.weight for item in self.items):
            raise CampaignError("weights must not all be 0: experiments are chosen for outputs with a weight")
        aims = [item for item in self.items if item.goal != "learn"]
        if len(aims) > 1:
            raise CampaignError(
                f"only one output can be minimized or maximized, got {' and '.join(item.name for item in aims)}: "
                "choose one, and the others are measured and learned beside it"
            )

    @classmethod
    def of(cls, given: Any, choose: str = "sum", weights: Mapping[str, Any] | None = None) -> OutputList:
        """Checked, from a sequence of :class:`Output` or of text such as ``"cost [EUR]"``."""
        if isinstance(given, str | Output):
            given = [given]
        if not isinstance(given, Sequence) or not all(isinstance(one, str | Output) for one in given):
            raise CampaignError(f"outputs must be a sequence of Output or of text such as 'cost [EUR]', got {given!r}")
        items = tuple(one if isinstance(one, Output) else Output.read(one) for one in given)
        return cls(items, choose).with_weights(weights or {})  # type: ignore[arg-type]  # checked above

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all outputs."""
        return tuple(item.name for item in self.items)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names with units."""
        return tuple(item.label for item in self.items)

    @property
    def only(self) -> Output | None:
        """The output, where there is one alone."""
        return self.items[0] if len(self.items) == 1 else None

    @property
    def goal(self) -> Output | None:
        """The output that is minimized or maximized, if any is."""
        return next((item for item in self.items if item.goal != "learn"), None)

    @property
    def weights(self) -> tuple[float, ...]:
        """How much each counts when experiments are chosen: with a goal, that one alone."""
        goal = self.goal
        if goal is not None:
            return tuple(float(item is goal) for item in self.items)
        return tuple(item.weight for item in self.items)

    def place(self, name: Any = None) -> int:
        """Where the output with this name stands, with or without its unit; a single one need not be named."""
        if name is None:
            if self.only is None:
                raise CampaignError(f"this campaign has several outputs: name one of {', '.join(self.names)}")
            return 0
        if isinstance(name, str):
            for alike in (str, str.casefold):
                wanted = alike(name.strip())
                found = [j for j, o in enumerate(self.items) if wanted in (alike(o.name), alike(o.label))]
                if found:
                    return found[0]
        known = f"is {self.names[0]}" if self.only else f"are {', '.join(self.names)}"
        raise CampaignError(f"there is no output {name!r}; there {known}")

    def one(self, name: Any = None) -> Output:
        """The output with this name; a single one need not be named."""
        return self.items[self.place(name)]

    def named(self, given: Any, what: str) -> dict[str, Any]:
        """Something for each of some outputs, by their names: a mapping, or a single thing for a single output."""
        if not isinstance(given, Mapping):
            if self.only is None:
                example = ", ".join(f"{name!r}: ..." for name in self.names[:2])
                raise CampaignError(
                    f"{what} must say of which output it is, such as {{{example}}}, got {given!r}: there are "
                    f"{', '.join(self.names)}"
                )
            return {self.only.name: given}
        found: dict[str, Any] = {}
        for name, one in given.items():
            known = self.items[self.place(name)].name
            if known in found:
                raise CampaignError(f"{what} names the output {known!r} twice")
            found[known] = one
        return found

    def word(self, name: str) -> str:
        """What a message about one result calls it: its output, where there are several."""
        return "value" if self.only else name

    def sigma_name(self, name: str) -> str:
        """The column of the standard deviation of an output's noise."""
        return "sigma" if self.only else f"sigma of {name}"

    def predicted(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Columns of predictions of some outputs: of the mean and of the standard deviation of each."""
        return [(self.one(name).label, "std" if self.only else f"std of {name}") for name in names]

    def with_weights(self, weights: Mapping[str, Any]) -> OutputList:
        """With other weights for some outputs, by their names."""
        new = {self.place(name): weight for name, weight in weights.items()}
        items = (replace(item, weight=new.get(j, item.weight)) for j, item in enumerate(self.items))
        return replace(self, items=tuple(items))

    def with_item(self, place: int, item: Output) -> OutputList:
        """With another output in its place."""
        return replace(self, items=(*self.items[:place], item, *self.items[place + 1 :]))

    def to_list(self) -> list[dict[str, Any]]:
        """A description of the items that JSON can hold."""
        plain = {"unit": None, "weight": 1.0, "goal": "learn"}
        return [{k: v for k, v in vars(item).items() if k not in plain or v != plain[k]} for item in self.items]

    @classmethod
    def from_list(cls, description: Sequence[Mapping[str, Any]], choose: str = "sum") -> OutputList:
        """What :meth:`to_list` described."""
        return cls(tuple(Output(**item) for item in description), choose)  # type: ignore[arg-type]  # checked


def _weight(value: Any, name: str) -> float:
    try:
        number = written_numbers.decimal(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        raise CampaignError(f"weight of output {name!r} must be a number, got {value!r}") from None
    if not 0.0 <= number < float("inf"):
        raise CampaignError(f"weight of output {name!r} must be 0 or more and finite, got {number:g}")
    return number
