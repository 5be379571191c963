"""Linear constraints on the inputs of a box: read from text such as ``2 A - B <= 3``, and shown again."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ridgeway.types import Array

Relation = Literal["<=", ">=", "="]

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?![\w.])")
_RELATION = re.compile(r"<=|>=|==|=|≤|≥|<|>")
_WORD = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r"`([^`]*)`|\"([^\"]*)\"")
_PLAIN = re.compile(r"[^\W\d]\w*")
_SIGNS: Mapping[str, Relation] = {"<=": "<=", "≤": "<=", ">=": ">=", "≥": ">=", "=": "=", "==": "="}


@dataclass(frozen=True)
class LinearConstraint:
    """A weighted sum of inputs that must not be above, not be below, or be equal to a number.

    >>> read("2 A - B <= 3", ["A", "B", "C"])
    LinearConstraint('2 A - B <= 3')
    >>> read("A + B + C = 1", ["A", "B", "C"]).weights(["C", "B", "A"])
    array([1., 1., 1.])
    """

    terms: tuple[tuple[str, float], ...]  # inputs in the order in which they were written, none with weight 0
    relation: Relation
    bound: float

    def weights(self, names: Sequence[str]) -> Array:
        """The weight of each of ``names``, ``(D,)``."""
        own = dict(self.terms)
        return np.array([own.get(name, 0.0) for name in names])

    @property
    def is_equality(self) -> bool:
        """Whether the sum must be equal to the number."""
        return self.relation == "="

    def with_values(self, values: Mapping[str, float]) -> LinearConstraint:
        """What is left of it for the other inputs where some have a given value; perhaps no terms at all."""
        known = sum(weight * values[name] for name, weight in self.terms if name in values)
        left = tuple(term for term in self.terms if term[0] not in values)
        return LinearConstraint(left, self.relation, self.bound - known)

    def renamed(self, names: Mapping[str, str]) -> LinearConstraint:
        """With other names for some inputs."""
        terms = tuple((names.get(name, name), weight) for name, weight in self.terms)
        return LinearConstraint(terms, self.relation, self.bound)

    def excess(self, X: Array, names: Sequence[str]) -> Array:
        """By how much each of ``X (n, D)`` breaks it, relative to the size of what is summed; 0 where it holds."""
        weights = self.weights(names)
        gap = X @ weights - self.bound
        gap = np.abs(gap) if self.relation == "=" else np.maximum(gap if self.relation == "<=" else -gap, 0.0)
        size = np.maximum(np.abs(X) @ np.abs(weights), abs(self.bound))
        found: Array = gap / np.maximum(size, np.finfo(float).tiny)
        return found

    def __str__(self) -> str:
        parts = [_term(name, weight, i == 0) for i, (name, weight) in enumerate(self.terms)]
        return f"{' '.join(parts) or '0'} {self.relation} {_shown(self.bound)}"

    def __repr__(self) -> str:
        return f"LinearConstraint({str(self)!r})"


def read(text: Any, names: Sequence[str]) -> LinearConstraint:
    """The constraint that ``text`` states about inputs with these ``names``.

    Both sides may hold inputs and numbers: ``A + 2 B <= C + 1``. A name that is no plain word may stand in backticks.
    """
    if isinstance(text, LinearConstraint):
        return _checked(text, names)
    if not isinstance(text, str):
        raise TypeError(f"a constraint must be text such as '2 A - B <= 3', got {text!r}")
    return _Reader(text, tuple(names)).constraint()


def read_all(texts: Any, names: Sequence[str]) -> tuple[LinearConstraint, ...]:
    """Constraints from a sequence of them, or from a single one."""
    given = (texts,) if isinstance(texts, str | LinearConstraint) else tuple(texts or ())
    return tuple(read(text, names) for text in given)


def _checked(constraint: LinearConstraint, names: Sequence[str]) -> LinearConstraint:
    for name, _ in constraint.terms:
        if name not in names:
            raise ValueError(f"constraint {str(constraint)!r}: {_unknown(name, names)}")
    return constraint


class _Token(NamedTuple):
    kind: Literal["number", "input", "sign", "relation"]
    value: Any
    at: int


class _Reader:
    """One text, read from left to right."""

    def __init__(self, text: str, names: tuple[str, ...]):
        self.text, self.names = text, names
        self.longest_first = sorted(names, key=len, reverse=True)

    def constraint(self) -> LinearConstraint:
        tokens = self._tokens()
        relations = [i for i, token in enumerate(tokens) if token.kind == "relation"]
        if len(relations) != 1:
            found = "none" if not relations else f"{len(relations)}: write one constraint for each"
            raise self._error(f"it needs one of <=, >= and =, got {found}")
        at = relations[0]
        left, right = self._sum(tokens[:at]), self._sum(tokens[at + 1 :])
        weights = {name: left[0].get(name, 0.0) - right[0].get(name, 0.0) for name in {**left[0], **right[0]}}
        terms = tuple((name, weight) for name, weight in weights.items() if weight != 0.0)
        bound = right[1] - left[1] + 0.0  # without -0.0
        if not all(math.isfinite(number) for number in (bound, *weights.values())):
            raise self._error("its numbers are too large")
        if not terms:
            raise self._error("no input is left in it")
        return LinearConstraint(terms, tokens[at].value, bound)

    def _sum(self, tokens: list[_Token]) -> tuple[dict[str, float], float]:
        """Weights of inputs and the number that is added, of one side."""
        if not tokens:
            raise self._error("one side is empty")
        weights: dict[str, float] = {}
        constant, i = 0.0, 0
        while i < len(tokens):
            weight, name, i = self._product(tokens, i)
            if name is None:
                constant += weight
            else:
                weights[name] = weights.get(name, 0.0) + weight
        return weights, constant

    def _product(self, tokens: list[_Token], i: int) -> tuple[float, str | None, int]:
        """One term from token ``i``: its weight, its input, and where the next begins."""
        weight, name, begun, divide = 1.0, None, False, False
        while i < len(tokens) and tokens[i].kind == "sign" and tokens[i].value in "+-":
            weight, i = -weight if tokens[i].value == "-" else weight, i + 1
        while i < len(tokens):
            kind, value, at = tokens[i]
            if kind == "sign":
                if value in "+-":
                    break
                if not begun or i + 1 == len(tokens) or tokens[i + 1].kind == "sign":
                    raise self._error(f"{value!r} needs something on either side", at)
                divide, i = value == "/", i + 1
                continue
            if kind == "number":
                if divide and value == 0.0:
                    raise self._error("it divides by 0", at)
                weight = weight / value if divide else weight * value
            elif divide or name is not None:
                raise self._error("it is not linear: inputs may only be multiplied by numbers and added", at)
            else:
                name = value
            begun, divide, i = True, False, i + 1
        if not begun:
            raise self._error("a number or an input is missing", tokens[min(i, len(tokens)) - 1].at)
        return weight, name, i

    def _tokens(self) -> list[_Token]:
        found: list[_Token] = []
        at = 0
        while at < len(self.text):
            if self.text[at].isspace():
                at += 1
                continue
            token, at = self._next(at)
            found.append(token)
        return found

    def _next(self, at: int) -> tuple[_Token, int]:
        quoted = _QUOTED.match(self.text, at)
        if quoted is not None:
            name = quoted[1] if quoted[1] is not None else quoted[2]
            if name not in self.names:
                raise self._error(_unknown(name, self.names), at)
            return _Token("input", name, at), quoted.end()
        for name in self.longest_first:  # a name may hold spaces or signs, so known ones come first
            end = at + len(name)
            if self.text.startswith(name, at) and not re.match(r"\w", self.text[end : end + 1]):
                return _Token("input", name, at), end
        relation = _RELATION.match(self.text, at)
        if relation is not None:
            if relation[0] not in _SIGNS:
                raise self._error(f"write {relation[0]}= in place of {relation[0]!r}: the bound itself is allowed", at)
            return _Token("relation", _SIGNS[relation[0]], at), relation.end()
        number = _NUMBER.match(self.text, at)
        if number is not None:
            return _Token("number", float(number[0]), at), number.end()
        if self.text[at] in "+-*/−·":
            return _Token("sign", {"−": "-", "·": "*"}.get(self.text[at], self.text[at]), at), at + 1
        word = _WORD.match(self.text, at)
        if word is not None:
            raise self._error(_unknown(word[0], self.names), at)
        glued = re.match(r"(\d+\.?\d*|\.\d+)(?=[^\W\d])", self.text[at:])  # 2A
        if glued is not None:
            return _Token("number", float(glued[0]), at), at + glued.end()
        raise self._error(
            f"{self.text[at]!r} is not understood; sums of inputs, each times a number, are: '2 A - B <= 3'", at
        )

    def _error(self, what: str, at: int | None = None) -> ValueError:
        place = "" if at is None else f" (at {self.text[at : at + 12]!r})"
        return ValueError(f"constraint {self.text!r}: {what}{place}")


def _unknown(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    meant = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names[:6])}"
    return f"{name!r} is no input that varies; {meant}"


def _term(name: str, weight: float, first: bool) -> str:
    sign = "-" if weight < 0 else "" if first else "+"
    size = "" if abs(weight) == 1.0 else f"{_shown(abs(weight))} "
    quote = '"' if "`" in name else "`"
    shown = name if _PLAIN.fullmatch(name) else f"{quote}{name}{quote}"
    return f"{sign}{size}{shown}" if first else f"{sign} {size}{shown}"


def _shown(number: float) -> str:
    text = repr(float(number))
    return text[:-2] if text.endswith(".0") else text
