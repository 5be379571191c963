"""Changes of what a campaign is about: another range, a new input or output, another name.

A change makes a new :class:`~ridgeway.campaign.setup.Setup` from an old one, says what becomes of the trials so far,
and has a sentence for the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ridgeway.campaign.columns import check_names
from ridgeway.campaign.inputs import Category, Fixed, Input, InputList, Item
from ridgeway.campaign.outputs import Output, OutputList
from ridgeway.campaign.results import finite
from ridgeway.campaign.setup import Setup
from ridgeway.errors import CampaignError
from ridgeway.spaces import linear_constraints
from ridgeway.spaces.linear_constraints import LinearConstraint
from ridgeway.types import Array


@dataclass(frozen=True)
class Change:
    """A new setup, what it changed in words, and the values of all inputs of a trial so far."""

    setup: Setup
    what: str
    added: tuple[float, ...] = ()  # what old trials get in the last columns, where there are new ones
    shown: bool = False  # whether only names and units differ: what was fitted still holds
    new_names: tuple[str, str] | None = None  # of an input that is renamed: the old one and the new one

    def values(self, x: Array) -> Array:
        """Values ``(k,)`` of a trial under the new setup."""
        return np.concatenate([x, self.added])


def new_range(setup: Setup, name: str, lower: float, upper: float) -> Change:
    """Other ends for an input; trials outside of them stay."""
    item = _input(setup, name)
    made = _made(lambda: replace(item, lower=lower, upper=upper))
    what = f"{name} from {item.lower:g} .. {item.upper:g} to {made.lower:g} .. {made.upper:g}"
    return Change(_with_items(setup, {name: made}), what)


def held(setup: Setup, name: str, value: Any) -> Change:
    """Every further proposal has ``value``, a number or a level, for an input; what was learned from others stays.

    It is a constraint, so that experiments at other values are still data about the function.
    """
    item = _item(setup, name)
    if isinstance(item, Category):
        levels = next(levels for levels in setup.levels if levels.name == name)
        j = levels.places[int(np.argmax(levels.row(value)))]
        constraint, shown = LinearConstraint(((setup.names[j], 1.0),), "=", 1.0), str(value)
    else:
        number = _held_number(_input(setup, name), value)
        constraint, shown = LinearConstraint(((name, 1.0),), "=", number), f"{number:g}"
    others = [c for c in _inputs(setup).constraints if not _holds(c, item)]
    return Change(_with_constraints(setup, (*others, constraint)), f"{name} held at {shown}")


def _held_number(item: Input, value: Any) -> float:
    if isinstance(value, str):
        raise CampaignError(f"input {item.name!r} must be held at a number, got {value!r}")
    number = finite(value, "value")
    if item.integer and number % 1.0:
        raise CampaignError(f"input {item.name!r} is an integer and cannot be held at {number:g}: give a whole number")
    if not item.lower <= number <= item.upper:
        raise CampaignError(
            f"input {item.name!r} cannot be held at {number:g}, which is not within [{item.lower:g}, {item.upper:g}]: "
            "give another value, or change its range first"
        )
    if item.step is not None and abs((steps := (number - item.lower) / item.step) - round(steps)) > 1e-9:
        near = f"{item.lower:g}, {item.lower + item.step:g} and so on"
        raise CampaignError(f"input {item.name!r} cannot be held at {number:g}: its values are {near}")
    return number


def released(setup: Setup, name: str) -> Change:
    """An input that was held varies again."""
    inputs, item = _inputs(setup), _item(setup, name)
    others = tuple(c for c in inputs.constraints if not _holds(c, item))
    if len(others) == len(inputs.constraints):
        raise CampaignError(f"input {name!r} is not held at a value, so it cannot be released")
    return Change(_with_constraints(setup, others), f"{name} varies again")


def constrained(setup: Setup, text: str) -> Change:
    """One more constraint."""
    constraint = _made(lambda: linear_constraints.read(text, [item.name for item in _inputs(setup).items]))
    return Change(_with_constraints(setup, (*_inputs(setup).constraints, constraint)), f"constraint {constraint}")


def unconstrained(setup: Setup, text: str) -> Change:
    """One constraint less."""
    inputs = _inputs(setup)
    found = [constraint for constraint in inputs.constraints if inputs.shown(constraint) == text.strip()]
    given = found[0] if found else _made(lambda: linear_constraints.read(text, [item.name for item in inputs.items]))
    if given not in inputs.constraints:
        known = "; ".join(map(inputs.shown, inputs.constraints)) or "none"
        raise CampaignError(f"there is no constraint '{given}'; there is: {known}")
    left = tuple(constraint for constraint in inputs.constraints if constraint != given)
    return Change(_with_constraints(setup, left), f"without the constraint {inputs.shown(given)}")


def added(setup: Setup, item: Item, value: Any) -> Change:
    """One more input; the trials so far were made with ``value`` of it, a number or a level."""
    inputs = _inputs(setup)
    if isinstance(item, Fixed):
        value = item.value
    made = replace(setup, inputs=_made(lambda: InputList((*inputs.items, item), inputs.constraints)))
    if isinstance(item, Category):
        columns = tuple(made.levels[-1].row(value).tolist())
    else:
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise CampaignError(f"the value of {item.name!r} in the trials so far must be a number, got {value!r}")
        if isinstance(item, Input) and item.log and value <= 0.0:
            raise CampaignError(f"{item.name!r} has a log scale, so its value so far must be positive, got {value:g}")
        columns = (float(value),)
    shown = value if isinstance(value, str) else f"{value:g}"
    return Change(_checked(made), f"new input {item.label}, {shown} in the trials so far", columns)


def renamed(setup: Setup, name: str, new: str) -> Change:
    """Another name for an input, or for an output."""
    if name in setup.outputs.names:
        made = _with_output(setup, name, name=new)
        return Change(made, f"output {name} is called {new}", shown=True)
    item = _item(setup, name)
    inputs = _inputs(setup)
    items = tuple(_made(lambda: replace(item, name=new)) if other is item else other for other in inputs.items)
    levels = item.levels if isinstance(item, Category) else ()
    called = {name: new} | {f"{name}={level}": f"{new}={level}" for level in levels}
    constraints = tuple(constraint.renamed(called) for constraint in inputs.constraints)
    made = replace(setup, inputs=_made(lambda: InputList(items, constraints)))
    return Change(_checked(made), f"{name} is called {new}", shown=True, new_names=(name, new))


def new_unit(setup: Setup, name: str, unit: str | None) -> Change:
    """Another unit beside the name of an input or an output; numbers stay as they are."""
    what = f"unit of {name}: {unit or 'none'}"
    if name in setup.outputs.names:
        return Change(_with_output(setup, name, unit=unit), what, shown=True)
    item = _item(setup, name)
    if isinstance(item, Category):
        raise CampaignError(f"{name!r} is a category and has no unit")
    return Change(_with_items(setup, {name: replace(item, unit=unit)}), what, shown=True)


def new_output(setup: Setup, output: Output) -> Change:
    """One more output; the trials so far do not have it, and can be told it."""
    if output.goal != "learn":
        raise CampaignError(f"a new output is learned, got the goal to {output.goal} {output.name!r}")
    made = replace(setup, outputs=replace(setup.outputs, items=(*setup.outputs.items, output)))
    return Change(_checked(made), f"new output {output.label}", shown=True)


def new_weights(setup: Setup, weights: Mapping[str, Any]) -> Change:
    """Other weights for some outputs when experiments are chosen."""
    if setup.outputs.goal is not None:
        aim = setup.outputs.goal
        raise CampaignError(f"weights are for learning: here experiments are chosen to {aim.goal} {aim.name} alone")
    outputs = setup.outputs.with_weights(weights)
    shown = ", ".join(f"{item.name} {item.weight:g}" for item in outputs.items)
    return Change(replace(setup, outputs=outputs), f"weights of the outputs: {shown}", shown=True)


def new_choice(setup: Setup, choose: str) -> Change:
    """Experiments for all outputs together, or for one after the other."""
    outputs = OutputList(setup.outputs.items, choose)  # type: ignore[arg-type]  # checked there
    return Change(replace(setup, outputs=outputs), f"experiments are chosen by {_CHOICES[outputs.choose]}", shown=True)


_CHOICES = {"sum": "the sum of what they teach about each output", "turns": "turns, each for one output"}


def _with_output(setup: Setup, called: str, **new: Any) -> Setup:
    place = setup.outputs.names.index(called)
    item = replace(setup.outputs.items[place], **new)
    return _checked(replace(setup, outputs=setup.outputs.with_item(place, item)))


def _inputs(setup: Setup) -> InputList:
    if setup.inputs is None:
        raise CampaignError("the inputs of a campaign with a pool are the columns of its candidates: they stay")
    return setup.inputs


def _item(setup: Setup, name: str) -> Item:
    for item in _inputs(setup).items:
        if item.name == name:
            return item
    known = ", ".join(item.name for item in _inputs(setup).items[:6])
    raise CampaignError(f"there is no input {name!r}; there are {known}")


def _input(setup: Setup, name: str) -> Input:
    item = _item(setup, name)
    if not isinstance(item, Input):
        raise CampaignError(f"{name!r} must be an input that varies between two numbers")
    return item


def _holds(constraint: LinearConstraint, item: Item) -> bool:
    """Whether a constraint does nothing but hold an input at a value."""
    names = [column.name for column in item.columns] if isinstance(item, Category) else [item.name]
    return constraint.is_equality and len(constraint.terms) == 1 and constraint.terms[0][0] in names


def _with_items(setup: Setup, new: dict[str, Item]) -> Setup:
    inputs = _inputs(setup)
    items = tuple(new.get(item.name, item) for item in inputs.items)
    return _checked(replace(setup, inputs=_made(lambda: InputList(items, inputs.constraints))))


def _with_constraints(setup: Setup, constraints: tuple[LinearConstraint, ...]) -> Setup:
    return _checked(replace(setup, inputs=_made(lambda: InputList(_inputs(setup).items, constraints))))


def _checked(setup: Setup) -> Setup:
    check_names(setup)
    if setup.inputs is not None:
        _made(lambda: setup.inputs.box if setup.inputs is not None else None)  # raises where nothing is left
    return setup


def _made(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (ValueError, TypeError) as error:
        raise CampaignError(str(error)) from None
