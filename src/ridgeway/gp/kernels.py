"""Radial kernels: a value and two derivatives in the squared distance.

A kernel here is a correlation ``g(s)`` of the squared distance ``s = |u - u'|²`` with
``g(0) = 1``. The output scale multiplies it elsewhere, and length scales belong to the
embedding, so a kernel has no parameters to learn. To add one, write a frozen dataclass with a
``name`` and the two methods of :class:`Kernel`:

>>> import numpy as np
>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Cauchy:
...     name: str = "cauchy"
...     def value(self, s):
...         return 1 / (1 + s)
...     def derivatives(self, s):
...         g = 1 / (1 + s)
...         return g, -(g**2), 2 * g**3
>>> resolve(Cauchy()).value(np.array(0.0))
np.float64(1.0)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import gammaln, kve

from ridgeway.types import Array


@runtime_checkable
class Kernel(Protocol):
    """What a radial kernel must offer."""

    @property
    def name(self) -> str:
        """Short name, stored with a saved belief."""

    def value(self, s: Array) -> Array:
        """``g(s)``."""

    def derivatives(self, s: Array) -> tuple[Array, Array, Array]:
        """``g(s), g'(s), g''(s)``; where ``g''`` is infinite at 0, any finite value will do there."""


@dataclass(frozen=True)
class SquaredExponential:
    """``g(s) = exp(-s/2)``, the kernel of the paper (eq. 1)."""

    name: str = "se"

    def value(self, s: Array) -> Array:
        return np.exp(-0.5 * s)

    def derivatives(self, s: Array) -> tuple[Array, Array, Array]:
        g = np.exp(-0.5 * s)
        return g, -0.5 * g, 0.25 * g

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """``n`` draws from its spectral density in ``d`` dimensions, ``(n, d)``."""
        return rng.standard_normal((n, d))

    def spectral_density(self, omega: Array, d: int) -> Array:
        """Density of its frequencies in ``d`` dimensions, at their lengths ``omega``."""
        return np.exp(-0.5 * omega**2) / (2.0 * np.pi) ** (0.5 * d)


@dataclass(frozen=True)
class Matern32:
    """``g(s) = (1 + a) exp(-a)`` with ``a = sqrt(3 s)``: once differentiable functions."""

    name: str = "matern32"

    def value(self, s: Array) -> Array:
        a = np.sqrt(3.0 * s)
        return (1.0 + a) * np.exp(-a)

    def derivatives(self, s: Array) -> tuple[Array, Array, Array]:
        a = np.sqrt(3.0 * s)
        e = np.exp(-a)
        # g'' grows like s^(-1/2) but is only ever used times a product of two differences,
        # which vanishes faster: zero is the right limit of that product.
        second = np.divide(2.25 * e, a, out=np.zeros_like(a), where=a > 0)
        return (1.0 + a) * e, -1.5 * e, second

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """``n`` draws from its spectral density in ``d`` dimensions, ``(n, d)``: Student's t of 3 degrees."""
        return rng.standard_normal((n, d)) * np.sqrt(3.0 / rng.chisquare(3.0, (n, 1)))

    def spectral_density(self, omega: Array, d: int) -> Array:
        """Density of its frequencies in ``d`` dimensions, at their lengths ``omega``."""
        return _student_density(omega, 3.0, d)


@dataclass(frozen=True)
class Matern52:
    """``g(s) = (1 + a + a²/3) exp(-a)`` with ``a = sqrt(5 s)``: twice differentiable functions."""

    name: str = "matern52"

    def value(self, s: Array) -> Array:
        a = np.sqrt(5.0 * s)
        return (1.0 + a + a * a / 3.0) * np.exp(-a)

    def derivatives(self, s: Array) -> tuple[Array, Array, Array]:
        a = np.sqrt(5.0 * s)
        e = np.exp(-a)
        return (1.0 + a + a * a / 3.0) * e, -(5.0 / 6.0) * (1.0 + a) * e, (25.0 / 12.0) * e

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """``n`` draws from its spectral density in ``d`` dimensions, ``(n, d)``: Student's t of 5 degrees."""
        return rng.standard_normal((n, d)) * np.sqrt(5.0 / rng.chisquare(5.0, (n, 1)))

    def spectral_density(self, omega: Array, d: int) -> Array:
        """Density of its frequencies in ``d`` dimensions, at their lengths ``omega``."""
        return _student_density(omega, 5.0, d)


@dataclass(frozen=True)
class RationalQuadratic:
    """``g(s) = (1 + s/(2 shape))^(-shape)``: a scale mixture of squared exponentials."""

    shape: float = 2.0
    name: str = "rq"

    def __post_init__(self) -> None:
        if not self.shape > 0:
            raise ValueError(f"shape of RationalQuadratic must be positive, got {self.shape!r}")

    def value(self, s: Array) -> Array:
        result: Array = (1.0 + s / (2.0 * self.shape)) ** -self.shape
        return result

    def derivatives(self, s: Array) -> tuple[Array, Array, Array]:
        base = 1.0 + s / (2.0 * self.shape)
        g = base**-self.shape
        first = -0.5 * g / base
        return g, first, -0.5 * (self.shape + 1.0) / self.shape * first / base

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """``n`` draws from its spectral density in ``d`` dimensions, ``(n, d)``: a scale mixture of Gaussians."""
        return rng.standard_normal((n, d)) * np.sqrt(rng.gamma(self.shape, 1.0 / self.shape, (n, 1)))

    def spectral_density(self, omega: Array, d: int) -> Array:
        """Density of its frequencies in ``d`` dimensions, at their lengths ``omega``."""
        # Gaussians of variance t mixed over t ~ Gamma(shape, 1 / shape): a modified Bessel function.
        a, order = self.shape, self.shape - 0.5 * d
        x = np.maximum(np.sqrt(2.0 * a) * omega, 1e-6)  # at 0 it may be infinite, where it can be integrated still
        log_front = a * np.log(a) - gammaln(a) - 0.5 * d * np.log(2.0 * np.pi) + np.log(2.0)
        result: Array = np.exp(log_front + order * np.log(x / (2.0 * a)) - x) * kve(order, x)
        return result


def _student_density(omega: Array, degrees: float, d: int) -> Array:
    """Student's t in ``d`` dimensions: the spectrum of a Matérn kernel of smoothness ``degrees / 2``."""
    log_front = gammaln(0.5 * (degrees + d)) - gammaln(0.5 * degrees) - 0.5 * d * np.log(np.pi * degrees)
    return np.exp(log_front - 0.5 * (degrees + d) * np.log1p(omega**2 / degrees))


@runtime_checkable
class SpectralKernel(Kernel, Protocol):
    """A kernel whose spectrum can be drawn from, and so functions with it (Bochner's theorem)."""

    def frequencies(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """``n`` draws from its spectral density in ``d`` dimensions, ``(n, d)``."""


@runtime_checkable
class DensityKernel(Kernel, Protocol):
    """A kernel whose spectral density is known, and so a basis of waves for its functions."""

    def spectral_density(self, omega: Array, d: int) -> Array:
        """Density of its frequencies in ``d`` dimensions, at their lengths ``omega``."""


def with_density(kernel: Kernel) -> DensityKernel:
    """``kernel``, if its functions have a basis of waves."""
    if not isinstance(kernel, DensityKernel):
        raise TypeError(f'kernel must have spectral_density() for approximation="features", got {kernel!r}')
    return kernel


def spectral(kernel: Kernel) -> SpectralKernel:
    """``kernel``, if functions can be drawn with it."""
    if not isinstance(kernel, SpectralKernel):
        raise TypeError(f"kernel must have frequencies() where functions are drawn with it, got {kernel!r}")
    return kernel


_BUILT_IN: dict[str, type[Any]] = {
    "se": SquaredExponential,
    "matern32": Matern32,
    "matern52": Matern52,
    "rq": RationalQuadratic,
}


def resolve(kernel: str | Kernel) -> Kernel:
    """The kernel called ``kernel``, or ``kernel`` itself if it is one."""
    if isinstance(kernel, str):
        if kernel not in _BUILT_IN:
            raise ValueError(f"kernel must be one of {sorted(_BUILT_IN)} or a Kernel, got {kernel!r}")
        built: Kernel = _BUILT_IN[kernel]()
        return built
    if isinstance(kernel, type) or not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a name or have `name`, `value` and `derivatives`, got {kernel!r}")
    if kernel.name in _BUILT_IN and type(kernel) is not _BUILT_IN[kernel.name]:
        raise ValueError(f"kernel must have a name of its own, got {kernel.name!r}, which is built in")
    return kernel


def to_dict(kernel: Kernel) -> dict[str, Any]:
    """A description that JSON can hold; of a kernel that is not built in, its name alone."""
    if type(kernel) in _BUILT_IN.values():
        return asdict(kernel)  # type: ignore[call-overload]  # all built-ins are dataclasses
    return {"name": kernel.name}


def from_dict(description: dict[str, Any], kernel: Kernel | None = None) -> Kernel:
    """The kernel that :func:`to_dict` described; one that is not built in must be passed as ``kernel``."""
    name = description["name"]
    if not isinstance(name, str):
        raise ValueError(f"kernel must have a name, got {name!r:.80}")
    if kernel is not None:
        kernel = resolve(kernel)
        if kernel.name != name:
            raise ValueError(f"kernel must be the one saved, {name!r}; got {kernel.name!r}")
        return kernel
    if name not in _BUILT_IN:
        raise ValueError(f"kernel {name!r} is not built in: pass it as `kernel=`")
    try:
        built: Kernel = _BUILT_IN[name](**description)
    except TypeError as error:
        raise ValueError(f"kernel must have the settings of {name!r}: {error}") from None
    return built
