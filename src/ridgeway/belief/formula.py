"""The learned directions as formulas: weighted sums of the inputs in their own units, with uncertain weights."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from ridgeway import checks
from ridgeway.belief import embedding_draws
from ridgeway.belief.directions import Directions, directions
from ridgeway.types import Array

if TYPE_CHECKING:
    from ridgeway.belief.belief import Belief

_UNCLEAR = "uncertain"  # what stands behind a weight whose interval holds zero


@dataclass(frozen=True)
class Formula:
    """``u_k = constant_k + sum_j weights_kj x_j``, the most active direction first.

    Each direction has length 1 on inputs mapped to [-1, 1]; only the sign of a direction and its scale are a
    convention. ``low`` and ``high`` are central 90 % intervals of the weights.
    """

    names: tuple[str, ...]
    units: tuple[str | None, ...]
    constants: Array  # (k,)
    weights: Array  # (k, D) in units of 1 over the input's
    low: Array
    high: Array
    shares: Array  # (k,) of the variation along each direction
    center: Array  # (D,) of the box
    half_width: Array  # (D,)
    input_names: tuple[str, ...] | None = None

    def __call__(self, X: Any) -> Array:
        """The directions' values at points ``(n, D)`` in the user's units, ``(n, k)``."""
        X = checks.dense(checks.inputs(X, self.weights.shape[1], names=self.input_names))
        result: Array = self.constants + X @ self.weights.T
        return result

    def order(self, k: int, top: int | None = None) -> list[int]:
        """Inputs of a direction by how far they move it over the box, largest first."""
        reach = np.abs(self.weights[k]) * self.half_width
        return [int(j) for j in np.argsort(-reach, kind="stable")[:top]]

    def text(self, top: int | None = None, digits: int = 3) -> str:
        """Lines to read: each weight with half the width of its interval."""
        top, digits = _checked(top, digits)
        lines = []
        for k in range(self.weights.shape[0]):
            lines.append(
                f"u{k + 1} = {self.constants[k]:.{digits}g}    ({100 * self.shares[k]:.0f} % of the variation)"
            )
            for j in self.order(k, top):
                sign = "-" if self.weights[k, j] < 0 else "+"
                half = 0.5 * (self.high[k, j] - self.low[k, j])
                unit = "" if self.units[j] is None else f" [{self.units[j]}]"
                doubt = f"   {_UNCLEAR}" if self.low[k, j] <= 0.0 <= self.high[k, j] else ""
                size = f"({abs(self.weights[k, j]):.{digits}g} ± {half:.2g})"
                lines.append(f"     {sign} {size} {self.names[j]}{unit}{doubt}")
            rest = self.weights.shape[1] - len(self.order(k, top))
            lines += [f"     and {rest} inputs with smaller weights"] if rest else []
        return "\n".join(lines)

    def latex(self, top: int | None = None, digits: int = 3) -> str:
        """The same for a paper, one line a direction of an ``aligned`` block."""
        top, digits = _checked(top, digits)
        rows = []
        for k in range(self.weights.shape[0]):
            terms = "".join(self._latex_term(k, j, digits) for j in self.order(k, top))
            dots = r" + \cdots" if top is not None and top < self.weights.shape[1] else ""
            rows.append(rf"u_{{{k + 1}}} &= {_latex_number(self.constants[k], digits)}{terms}{dots}")
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _latex_term(self, k: int, j: int, digits: int) -> str:
        sign = "-" if self.weights[k, j] < 0 else "+"
        size = _latex_number(abs(self.weights[k, j]), digits)
        half = _latex_number(0.5 * (self.high[k, j] - self.low[k, j]), 2)
        return rf" {sign} ({size} \pm {half})\,\mathrm{{{_latex_name(self.names[j])}}}"

    def python(self) -> str:
        """The source of a Python function of the inputs that gives the directions, with all digits."""
        values = [f"u{k + 1}" for k in range(self.weights.shape[0])]
        arguments = _identifiers(self.names, values)
        lines = [f"def directions({', '.join(arguments)}):"]
        for k in range(self.weights.shape[0]):
            terms = [f"        {float(w)!r} * {name}" for w, name in zip(self.weights[k], arguments, strict=True)]
            lines += [f"    {values[k]} = (", f"        {float(self.constants[k])!r}"]
            lines += [term.replace("        ", "        + ", 1) for term in terms] + ["    )"]
        return "\n".join([*lines, f"    return {', '.join(values)}", ""])

    def __str__(self) -> str:
        return self.text()


def formula(belief: Belief, known: Directions | None = None, R: Array | None = None) -> Formula:
    """The directions of a linear embedding as formulas; raises where there are none.

    Its directions may be ``known`` already, and draws ``R (n, d, D)`` of the embedding.
    """
    found = directions(belief) if known is None else known
    R = embedding_draws.embeddings(belief) if R is None else R
    scaling, D = belief.space.scaling, belief.space.scaling.D
    weights = found.weights / scaling.half_width
    drawn = embedding_draws.weights(found, R)
    return Formula(
        names=belief.names or tuple(f"x{j}" for j in range(D)),
        units=belief.units or (None,) * D,
        constants=-(weights @ scaling.center),
        weights=weights,
        low=drawn.low / scaling.half_width,
        high=drawn.high / scaling.half_width,
        shares=found.share,
        center=scaling.center,
        half_width=scaling.half_width,
        input_names=belief.names,
    )


def _checked(top: int | None, digits: int) -> tuple[int | None, int]:
    return None if top is None else checks.count(top, "top", 1), checks.count(digits, "digits", 1)


def _identifiers(names: tuple[str, ...], taken: Iterable[str] = ()) -> list[str]:
    """Names that Python takes as arguments, each once and none that is ``taken``."""
    result: list[str] = []
    for j, name in enumerate(names):
        word = re.sub(r"[^0-9A-Za-z_]", "_", name) or f"x{j}"
        word = f"x_{word}" if not word.isidentifier() or keyword.iskeyword(word) else word
        endings = chain([""], (f"_{k}" for k in count(j)))
        result.append(next(word + end for end in endings if word + end not in (*result, *taken)))
    return result


def _latex_number(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _latex_name(name: str) -> str:
    return re.sub(r"([_%&#$])", r"\\\1", name.replace("\\", r"\backslash ")).replace(" ", r"\ ")
