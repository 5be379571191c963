"""One belief in one ``.npz`` file: arrays and a JSON description, never pickle."""

from __future__ import annotations

import io
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ridgeway import checks, files
from ridgeway import names as _names
from ridgeway.belief import archive, stored_features
from ridgeway.belief.belief import MARGINALS, Belief
from ridgeway.belief.diagnostics import Diagnostics
from ridgeway.belief.suspects import Suspect
from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.feature_process import FeatureProcess
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior, Process
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LARGEST, LOG_OUTPUT_SCALE, N_GLOBAL, Data
from ridgeway.gp.rowspace import RowSpace
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.inference import line_model
from ridgeway.inference.importance_sampling import WeightedDraws
from ridgeway.inference.mixture import Component
from ridgeway.inference.settings import DEFAULT
from ridgeway.types import Array, Inputs

FORMAT = 3
FORMAT_OF_FEATURES = 5  # the same with a finite basis, which earlier versions cannot read
READABLE = (1, 2, 3, 5)  # format 1 says nothing about the models of components, formats 1 and 2 nothing about names
_INFERENCES = ("nested", "map", "nuts")
_LARGEST_STANDARDISED = 1e100  # of inputs, outputs and spreads in units of order 1: far beyond any belief's
_ROUNDING = 1e-6  # of weights that sum to 1
_EMBEDDINGS: dict[str, type[Any]] = {cls.name: cls for cls in (Linear, Diagonal, Isotropic)}


def save(belief: Belief, path: str | Path) -> Path:
    """Write ``belief``; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    with files.writing(path) as temporary:
        np.savez(temporary, **_to_arrays(belief))
    return path


def to_bytes(belief: Belief, inputs: bool = True) -> bytes:
    """What :func:`save` writes to a file.

    Without ``inputs`` the data's inputs, by far the most of it where they are many, are left out and have
    to be handed to :func:`from_bytes` again.
    """
    stream = io.BytesIO()
    if inputs:
        np.savez_compressed(stream, **_to_arrays(belief))
    else:  # what is left is dense numbers, which compression would only slow down
        np.savez(stream, **{name: array for name, array in _to_arrays(belief).items() if name != "X"})
    return stream.getvalue()


def from_bytes(content: bytes, kernel: Kernel | None = None, X: Array | None = None) -> Belief:
    """What :func:`to_bytes` was given; ``X`` where it was left out."""
    return _from_stream(io.BytesIO(content), "the stored belief", kernel, X)


def _to_arrays(belief: Belief) -> dict[str, Any]:
    posterior, space = belief.posterior, belief.space
    features = {i: c.gp for i, c in enumerate(belief.components) if isinstance(c.gp, FeatureProcess)}
    header = {
        "format": FORMAT_OF_FEATURES if features else FORMAT,
        "embedding": belief.model.to_dict(),
        "kernel": kernels.to_dict(belief.kernel),
        "priors": asdict(posterior.priors),
        "inference": belief.inference,
        "marginal": belief.marginal,
        "seed": belief.seed,
        "log_evidence": belief.log_evidence,
        "output": [belief.output.shift, belief.output.scale],
        "in_order": space.in_order,
        "used_qr": space.used_qr,
        "weights": [c.weight for c in belief.components],
        "evidences": [c.log_evidence for c in belief.components],
        "components": [{"embedding": c.gp.embedding.to_dict(), "is_line": c.is_line} for c in belief.components],
        "diagnostics": belief.diagnostics.to_dict(),
        "names": belief.names,
        "units": belief.units,
        "suspects": [asdict(suspect) for suspect in belief.suspects],
        "features": [stored_features.described(gp) for gp in features.values()],
    }
    arrays: dict[str, Any] = {
        "header": np.array(json.dumps(header, default=float)),
        "y": belief.y,
        "center": space.scaling.center,
        "half_width": space.scaling.half_width,
        "space_Z": space.Z,
        "Z": posterior.data.Z,
        "noise": posterior.data.noise,
        **_inputs_to_arrays("X", belief.X),
    }
    if space.rows is not None and space.L is not None:
        arrays["L"] = space.L
        if not space.in_order:
            arrays |= _inputs_to_arrays("rows", space.rows)
    for i, c in enumerate(belief.components):
        arrays[f"theta_{i}"], arrays[f"factor_{i}"] = c.gp.theta, c.factor
    for i, gp in features.items():
        arrays |= stored_features.to_arrays(gp, i)
    if belief.population:
        arrays["population"] = np.stack(belief.population)
    for i, draws in enumerate(belief.draws or ()):
        arrays[f"draws_{i}"], arrays[f"draw_weights_{i}"] = draws.theta, draws.weights
        arrays[f"draw_shape_{i}"] = np.array(draws.pareto_k)
    return arrays


def load(path: str | Path, kernel: Kernel | None = None) -> Belief:
    """Read what :func:`save` wrote."""
    with open(path, "rb") as stream:
        return _from_stream(stream, path, kernel)


def _from_stream(stream: Any, path: str | Path, kernel: Kernel | None, X: Array | None = None) -> Belief:
    header, arrays = _read(stream, path)
    if header.get("format") not in READABLE:
        known = ", ".join(map(str, READABLE))
        raise ValueError(f"{path} has format {header.get('format')!r}; this version of Ridgeway reads formats {known}")
    resolved = kernels.from_dict(checks.keys(header.get("kernel"), ("name",), f"the kernel of {path}"), kernel)
    if X is not None:
        arrays["X"] = X
    try:
        return _belief(header, arrays, resolved)
    except KeyError as error:
        raise ValueError(f"{path} is not a saved belief: it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError) as error:
        raise ValueError(f"{path} is not a saved belief: {error}") from error


def _belief(header: dict[str, Any], arrays: dict[str, Any], kernel: Kernel) -> Belief:
    """The belief, if everything fits together: a file may come from anyone."""
    scaling = InputScaling(arrays["center"], arrays["half_width"])
    _check_shape("center", scaling.center, (None,))
    _check_shape("half_width", scaling.half_width, scaling.center.shape)
    _check_shape("y", arrays["y"], (None,))
    _check_shape("noise", arrays["noise"], arrays["y"].shape)
    y, D = checks.outputs(arrays["y"], arrays["y"].shape[0]), scaling.D
    n = y.shape[0]
    X = _inputs_from_arrays("X", arrays, (n, D))
    output = OutputScaling(*(_finite(value, "output") for value in header["output"]))
    if not (output.scale > 0.0 and np.all(scaling.half_width > 0.0)):
        raise ValueError("its scales must be positive")
    embedding = embedding_from_dict(header["embedding"])
    embedding.check(D)
    space = _space(header, arrays, scaling, X)
    _check_shape("Z", arrays["Z"], (n, space.r + (embedding.reduction == "distance")), _LARGEST_STANDARDISED)
    noise = checks.noise_variance(arrays["noise"], n)
    assert noise is not None
    data, priors = Data(arrays["Z"], output.scaled(y), noise), priors_from_dict(header["priors"])
    posterior = Posterior(embedding, kernel, data, priors, D)
    if header["format"] == FORMAT_OF_FEATURES:
        posterior = replace(posterior, data=stored_features.data(data, header["features"][0]))
    components = tuple(_component(header, arrays, i, posterior) for i in range(len(header["weights"])))
    weights = np.array([c.weight for c in components])
    if not (np.all(weights >= 0.0) and abs(weights.sum() - 1.0) < _ROUNDING):
        raise ValueError(f"its components must have weights that sum to 1, got {weights.sum()}")
    belief = Belief(
        posterior=posterior,
        space=space,
        output=output,
        components=components,
        log_evidence=_finite(header["log_evidence"], "log_evidence"),
        diagnostics=Diagnostics.from_dict(header["diagnostics"]),
        inference=checks.choice(header["inference"], _INFERENCES, "inference"),
        marginal=checks.choice(header["marginal"], MARGINALS, "marginal"),
        seed=checks.count(header["seed"], "seed"),
        X=X,
        y=y,
        draws=_draws(arrays, components),
        population=_population(arrays, posterior),
        names=_names.checked(header.get("names"), D),
        units=_names.checked_units(header.get("units"), D),
        suspects=tuple(_suspect(found, n) for found in header.get("suspects", ())),  # earlier versions had none
    )
    with np.errstate(all="ignore"):
        standardised = np.append(scaling.scaled(X[:1]), data.y)
        answers = np.append(belief.predict(X[:1], "map"), belief.noise_variance)
    if not (np.abs(standardised).max() < _LARGEST_STANDARDISED and np.isfinite(answers).all()):
        raise ValueError("its numbers are so large that it predicts nothing")
    return belief


def _space(header: dict[str, Any], arrays: dict[str, Any], scaling: InputScaling, X: Inputs) -> RowSpace:
    Z, L, rows = arrays["space_Z"], arrays.get("L"), None
    if L is None:
        _check_shape("space_Z", Z, (X.shape[0], scaling.D), _LARGEST_STANDARDISED)
    else:
        _check_shape("space_Z", Z, (X.shape[0], None), _LARGEST_STANDARDISED)
        _check_shape("L", L, (Z.shape[1], Z.shape[1]))
        shape = (Z.shape[1], scaling.D)
        rows = _inputs_from_arrays("X" if header["in_order"] else "rows", arrays, shape)
    return RowSpace(scaling, Z, rows, L, bool(header["in_order"]), bool(header["used_qr"]))


def _component(header: dict[str, Any], arrays: dict[str, Any], i: int, posterior: Posterior) -> Component:
    theta, factor = arrays[f"theta_{i}"], arrays[f"factor_{i}"]
    _check_shape(f"theta_{i}", theta, (None,))
    if header["format"] == 1:
        embedding, is_line = _model_of_format_1(posterior, theta)
    else:
        description = header["components"][i]
        embedding, is_line = embedding_from_dict(description["embedding"]), bool(description["is_line"])
    model = line_model.model(posterior) if is_line else replace(posterior, embedding=embedding)
    _check_shape(f"theta_{i}", theta, (model.n_parameters + N_GLOBAL,))
    _check_shape(f"factor_{i}", factor, (theta.shape[0], None), _LARGEST_STANDARDISED)
    gp: Process
    if header["format"] == FORMAT_OF_FEATURES:
        gp = stored_features.process(model, theta, arrays, i, header["features"][i])
    else:
        gp = model.condition(theta)
    if not np.isfinite(gp.fitted()).all():
        raise ValueError(f"its component {i} has no finite prediction")
    weight, evidence = _finite(header["weights"][i], "weights"), _finite(header["evidences"][i], "evidences")
    return Component(model, gp, factor, weight, evidence)


def _model_of_format_1(posterior: Posterior, theta: Array) -> tuple[Embedding, bool]:
    """The rank is that of the parameters; a straight line has the output scale that its model fixes."""
    embedding = posterior.embedding.with_parameters(theta.shape[0] - N_GLOBAL, posterior.data.Z.shape[1])
    fixed = DEFAULT.lines.log_output_scale
    return embedding, line_model.possible(posterior) and bool(theta[LOG_OUTPUT_SCALE] == fixed)


def _draws(arrays: dict[str, Any], components: tuple[Component, ...]) -> tuple[WeightedDraws, ...] | None:
    if "draws_0" not in arrays:
        return None
    found = []
    for i, component in enumerate(components):
        theta, weights = arrays[f"draws_{i}"], arrays[f"draw_weights_{i}"]
        _check_shape(f"draws_{i}", theta, (None, component.gp.theta.shape[0]), LARGEST)
        _check_shape(f"draw_weights_{i}", weights, (theta.shape[0],), 1.0)
        found.append(WeightedDraws(theta, weights, float(arrays[f"draw_shape_{i}"])))
    return tuple(found)


def _population(arrays: dict[str, Any], posterior: Posterior) -> tuple[Array, ...]:
    if "population" not in arrays:
        return ()
    _check_shape("population", arrays["population"], (None, posterior.n_parameters + N_GLOBAL), LARGEST)
    return tuple(arrays["population"])


def _suspect(found: dict[str, Any], n: int) -> Suspect:
    checks.keys(found, ("row",), "a suspect")
    suspect = Suspect(**found)
    if not 0 <= checks.count(suspect.row, "row of a suspect") < n:
        raise ValueError(f"its suspect is in row {suspect.row} of {n}")
    for name in ("value", "predicted", "residual", "noise_std", "nats"):
        _finite(getattr(suspect, name), name)
    return suspect


def _read(stream: Any, path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and arrays of a file that :func:`save` wrote, or an error that says it is not one."""
    try:
        arrays = archive.read(stream)
        header = json.loads(str(arrays["header"]))
        if not isinstance(header, dict):
            raise ValueError("its header is no description")
    except (ValueError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is not a saved belief: {error}") from None
    return header, arrays


def _check_shape(name: str, array: Array, shape: tuple[int | None, ...], most: float = np.inf) -> None:
    """Raise unless an array has this shape, ``None`` being any number, and finite numbers of at most ``most``."""
    fits = array.ndim == len(shape) and all(b is None or a == b for a, b in zip(array.shape, shape, strict=True))
    if not fits or array.dtype != np.float64:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"its array {name!r} must be float64 of shape ({wanted}), got {array.dtype} of {array.shape}")
    if not (np.isfinite(array) & (np.abs(array) <= most)).all():
        raise ValueError(f"its array {name!r} must be finite, and at most {most:g}")


def _finite(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"its {name!r} must be a finite number, got {value!r}")
    return float(value)


def priors_from_dict(description: dict[str, Any]) -> Priors:
    """Priors from what ``asdict`` made of them, JSON's lists as pairs again."""
    checks.keys(description, (), "priors")
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in description.items()}
    if "log_scale_std" in settings:  # its name until the scale had a mean as well
        settings["log_scale"] = (0.0, settings.pop("log_scale_std"))
    try:
        return Priors(**settings)
    except TypeError as error:
        raise ValueError(f"priors must have the settings of Priors: {error}") from None


def embedding_from_dict(description: dict[str, Any]) -> Embedding:
    """The embedding that ``description`` speaks of."""
    description = dict(checks.keys(description, ("name",), "embedding"))
    kind = _EMBEDDINGS[checks.choice(description.pop("name"), tuple(_EMBEDDINGS), "embedding")]
    try:
        built: Embedding = kind(**description)
    except TypeError as error:
        raise ValueError(f"embedding must have the settings of {kind.__name__}: {error}") from None
    return built


def _inputs_to_arrays(name: str, X: Inputs) -> dict[str, Any]:
    if not sparse.issparse(X):
        return {name: X}
    X = X.tocsr()
    return {
        f"{name}_data": X.data,
        f"{name}_indices": X.indices,
        f"{name}_indptr": X.indptr,
        f"{name}_shape": np.array(X.shape),
    }


def _inputs_from_arrays(name: str, arrays: dict[str, Any], shape: tuple[int, int]) -> Inputs:
    if name in arrays:
        _check_shape(name, arrays[name], shape)
        return arrays[name]
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    _check_shape(f"{name}_data", data, (None,))
    if tuple(arrays[f"{name}_shape"].tolist()) != shape:
        raise ValueError(f"its array {name!r} must have the shape {shape}")
    X = sparse.csr_matrix((data, indices, indptr), shape=shape)
    X.check_format(full_check=True)  # an index beyond the shape would be read from foreign memory
    return X
