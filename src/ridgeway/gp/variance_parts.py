"""The variance of a function split among its inputs: Sobol's decomposition, for three forms of a function.

The first-order part of an input is the variance of its main effect ``E[f | x_j]``; the total part is what would be
left if every other input were known, ``V - Var E[f | all inputs but x_j]``. Inputs are independent of each other; a
category, which has a column for each level, is one input.

- a Fourier series of a few directions ``u = R x``: sums over waves, exact to rounding;
- a sum of products of functions of one input each: quadratures over one input at a time, exact to rounding;
- any function: sums over Sobol points of which one input at a time is exchanged, good to about a hundredth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ridgeway.gp.fourier import FourierBox
from ridgeway.gp.kernel_means import sobol
from ridgeway.gp.measures import grouped, groups
from ridgeway.types import Array

_DIVISIBLE = 0.05  # a factor of the characteristic function above which the product of the others is a quotient
_NODES = 24  # of a quadrature over one input at least
_ENTRIES = 2**23  # of arrays held at a time


class VarianceParts(NamedTuple):
    """Mean and variance of a function, and the inputs' parts in that variance."""

    mean: float
    variance: float
    first: Array  # (D,)
    total: Array  # (D,)


class WaveAverages:
    """What all Fourier series on one box share, under one measure and embedding ``R (k, D)``."""

    def __init__(self, box: FourierBox, measure: Any, R: Array) -> None:
        self.box, self.measure, self.R = box, measure, R
        self._groups = [list(columns) for columns in groups(measure)]

    @cached_property
    def phi(self) -> Array:
        """The characteristic function of all inputs at the waves, ``(M,)``."""
        result: Array = self.measure.characteristic(self.R, self.box.omega)
        return result

    def without(self, j: int) -> tuple[Array, Array]:
        """The characteristic function of all inputs but one, and that of this one."""
        own = self._factor(j, self.box.omega)
        large = np.abs(own) > _DIVISIBLE
        kind = np.result_type(self.phi, own)
        others = np.divide(self.phi, own, out=np.zeros(own.shape, dtype=kind), where=large)
        few = ~large
        if few.any():  # the product anew, where the quotient would lose digits
            rest: Array = np.ones(int(few.sum()), dtype=kind)
            for i in range(len(self._groups)):
                if i != j:
                    rest = rest * self._factor(i, self.box.omega[few])
            others[few] = rest
        return others, own

    def _factor(self, j: int, omega: Array) -> Array:
        """The characteristic function of one input at some waves."""
        along = omega @ self.R[:, self._groups[j]]
        result: Array = self.measure.factor(j, along[:, 0] if along.shape[1] == 1 else along)
        return result

    def mean(self, c: Array) -> float:
        """Of the function with the series ``c (M,)``."""
        return self.box.expectation(c, self.phi)

    def main_effect(self, c: Array, j: int, t: Array) -> Array:
        """``E[f | x_j = t]`` at values ``t (m,)`` of one input, or ``(m, L)`` of the columns of a category."""
        return self._main_effect(c, j, t, self.without(j)[0])

    def parts(self, c: Array) -> VarianceParts:
        """The variance of the function with the series ``c``, split among the inputs."""
        box, n = self.box, len(self._groups)
        mean = self.mean(c)
        variance = box.expectation(box.squared(c), self.phi) - mean**2
        first, total = np.zeros(n), np.zeros(n)
        for j, columns in enumerate(self._groups):
            if not self.R[:, columns].any():
                continue
            others, own = self.without(j)
            total[j] = variance - (box.expectation(box.squared(c * own), others) - mean**2)
            t, w = self._nodes(j)
            first[j] = np.sum(w * (self._main_effect(c, j, t, others) - mean) ** 2)
        return VarianceParts(mean, variance, first, total)

    def slopes(self, c: Array) -> Array:
        """Mean square of the derivative in each input: the diagonal of Rᵀ E[∇g ∇gᵀ] R, summed over a category."""
        fields = [self.box.values(1j * omega * c) for omega in self.box.omega.T]
        k = len(fields)
        mean = np.empty((k, k))
        for a in range(k):
            for b in range(a + 1):
                mean[a, b] = mean[b, a] = self.box.expectation(self.box.coefficients(fields[a] * fields[b]), self.phi)
        return grouped(np.einsum("aj,ab,bj->j", self.R, mean, self.R), self._groups)

    def _main_effect(self, c: Array, j: int, t: Array, others: Array) -> Array:
        columns = self._groups[j]
        away = t.reshape(t.shape[0], -1) - self.measure.center[columns]
        along, weights = (self.box.omega @ self.R[:, columns]).T, self.box.counts * c * others
        step = max(1, _ENTRIES // weights.shape[0])
        blocks = (away[start : start + step] for start in range(0, away.shape[0], step))
        return np.concatenate([(np.exp(1j * block @ along) @ weights).real for block in blocks])

    def _nodes(self, j: int) -> tuple[Array, Array]:
        columns = self._groups[j]
        if len(columns) > 1:
            levels = self.measure.atoms(columns)
            return levels, np.full(len(levels), 1.0 / len(levels))
        low, high = self.measure.interval(columns[0])
        turns = float(np.abs(self.box.omega @ self.R[:, columns]).max()) * (high - low)
        nodes: tuple[Array, Array] = self.measure.nodes(columns[0], _NODES + int(0.5 * turns))
        return nodes


class Terms(NamedTuple):
    """A sum of products, ``f(x) = constant + Re sum_a weights_a prod_j h_aj(x_j)``."""

    constant: float
    weights: Array  # (A,) complex
    factors: Callable[[int, Array], Array]  # input j and values t (m,) to h_aj(t), (m, A)


class ProductAverages:
    """Averages of a sum of products under a measure of independent inputs."""

    def __init__(self, measure: Any, terms: Terms, n_nodes: int) -> None:
        self.measure, self.terms = measure, terms
        self._weighted = [self._nodes(j, n_nodes) for j in range(measure.D)]

    def _nodes(self, j: int, n: int) -> tuple[Array, Array]:
        t, w = self.measure.nodes(j, n)
        return self.terms.factors(j, t), w

    @cached_property
    def _means(self) -> Array:
        """``E h_aj``, ``(D, A)``."""
        return np.stack([w @ h for h, w in self._weighted])

    @cached_property
    def _means_of_others(self) -> Array:
        """The product of all inputs' means but one, ``(D, A)``."""
        before, after = _products_beside(self._means)
        return before * after

    @property
    def mean(self) -> float:
        """Of the function."""
        return self.terms.constant + float((np.prod(self._means, axis=0) @ self.terms.weights).real)

    def main_effect(self, j: int, t: Array) -> Array:
        """``E[f | x_j = t]``."""
        along = self.terms.factors(j, t) @ (self.terms.weights * self._means_of_others[j])
        result: Array = self.terms.constant + along.real
        return result

    def parts(self) -> VarianceParts:
        """The variance split among the inputs: quadratic forms in the weights, a few rows at a time."""
        D, A = self._means.shape
        first = np.empty(D)
        for j, (h, w) in enumerate(self._weighted):
            effect = (h @ (self.terms.weights * self._means_of_others[j])).real
            first[j] = w @ effect**2
        square, without = 0.0, np.zeros(D)
        step = max(1, _ENTRIES // (2 * D * A))
        for start in range(0, A, step):
            # Re(a) Re(b) = Re(a b + a b*) / 2: once with the terms as they are, once with their conjugates
            for conjugate in (False, True):
                whole, others = self._forms(slice(start, start + step), conjugate)
                square += 0.5 * whole
                without += 0.5 * others
        centre = (self.mean - self.terms.constant) ** 2
        return VarianceParts(self.mean, square - centre, first - centre, square - without)

    def _forms(self, rows: slice, conjugate: bool) -> tuple[float, Array]:
        c = self.terms.weights
        right = c.conj() if conjugate else c
        means = self._means.conj() if conjugate else self._means
        pairs = np.stack([(h[:, rows] * w[:, None]).T @ (h.conj() if conjugate else h) for h, w in self._weighted])
        before, after = _products_beside(pairs)
        whole = float((c[rows] @ (before[-1] * pairs[-1]) @ right).real)
        before *= after
        left = c[rows] * self._means[:, rows]
        return whole, np.einsum("ja,jab,jb->j", left, before, right * means, optimize=True).real


def _products_beside(values: Array) -> tuple[Array, Array]:
    """Products of all entries before and after each along the first axis."""
    before, after = np.ones_like(values), np.ones_like(values)
    for j in range(1, values.shape[0]):
        np.multiply(before[j - 1], values[j - 1], out=before[j])
        np.multiply(after[-j], values[-j], out=after[-j - 1])
    return before, after


class Exchange:
    """Pairs of Sobol points of a measure, of which one input at a time is exchanged (Saltelli; Jansen).

    A category is one input: its columns are exchanged together.
    """

    def __init__(self, measure: Any, log2: int, seed: int = 0) -> None:
        D = measure.D
        self._groups = [list(columns) for columns in groups(measure)]
        q = sobol(2 * D, log2, seed)
        self.A: Array = measure.from_uniform(q[:, :D])
        self.B: Array = measure.from_uniform(q[:, D:])

    def parts(self, f: Callable[[Array], Array]) -> VarianceParts:
        """The variance of ``f``, which takes points ``(n, D)``, split among the inputs."""
        fA, fB = f(self.A), f(self.B)
        both = np.concatenate([fA, fB])
        mean, variance = float(both.mean()), float(both.var())
        first, total = np.empty(len(self._groups)), np.empty(len(self._groups))
        for j, columns in enumerate(self._groups):
            mixed = self.A.copy()
            mixed[:, columns] = self.B[:, columns]
            f_mixed = f(mixed)
            first[j] = np.mean((fB - mean) * (f_mixed - fA))
            total[j] = 0.5 * np.mean((fA - f_mixed) ** 2)
        return VarianceParts(mean, variance, first, total)

    def main_effect(self, f: Callable[[Array], Array], j: int, t: Array) -> Array:
        """``E[f | x_j = t]`` at values ``t (m,)`` of one input, or ``(m, L)`` of the columns of a category."""
        result, X = np.empty(t.shape[0]), self.A.copy()
        for i, value in enumerate(t):
            X[:, self._groups[j]] = value
            result[i] = f(X).mean()
        return result
