"""One belief in one ``.npz`` file: arrays and a JSON description, never pickle."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from ridgeway.belief.belief import Belief
from ridgeway.belief.diagnostics import Diagnostics
from ridgeway.belief.suspects import Suspect
from ridgeway.gp import kernels
from ridgeway.gp.embeddings import Embedding
from ridgeway.gp.kernels import Kernel
from ridgeway.gp.length_scales import Diagonal, Isotropic
from ridgeway.gp.linear import Linear
from ridgeway.gp.posterior import Posterior
from ridgeway.gp.priors import Priors
from ridgeway.gp.process import LOG_OUTPUT_SCALE, N_GLOBAL, Data
from ridgeway.gp.rowspace import RowSpace
from ridgeway.gp.scaling import InputScaling, OutputScaling
from ridgeway.inference import line_model
from ridgeway.inference.importance_sampling import WeightedDraws
from ridgeway.inference.mixture import Component
from ridgeway.inference.settings import DEFAULT
from ridgeway.types import Array, Inputs

FORMAT = 2
READABLE = (1, 2)  # format 1 says nothing about the models of components
_EMBEDDINGS: dict[str, type[Any]] = {cls.name: cls for cls in (Linear, Diagonal, Isotropic)}


def save(belief: Belief, path: str | Path) -> Path:
    """Write ``belief``; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    temporary = path.with_name(path.name + ".part.npz")
    try:
        np.savez(temporary, **_to_arrays(belief))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
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
    header = {
        "format": FORMAT,
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
        "suspects": [asdict(suspect) for suspect in belief.suspects],
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
    if X is not None:
        arrays["X"] = X
    if header.get("format") not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise ValueError(f"{path} has format {header.get('format')!r}; this version of Ridgeway reads formats {known}")
    output = OutputScaling(*header["output"])
    X = _inputs_from_arrays("X", arrays)
    rows = None
    if "L" in arrays:
        rows = X if header["in_order"] else _inputs_from_arrays("rows", arrays)
    scaling = InputScaling(arrays["center"], arrays["half_width"])
    space = RowSpace(scaling, arrays["space_Z"], rows, arrays.get("L"), header["in_order"], header["used_qr"])
    posterior = Posterior(
        embedding_from_dict(header["embedding"]),
        kernels.from_dict(header["kernel"], kernel),
        Data(arrays["Z"], output.scaled(arrays["y"]), arrays["noise"]),
        priors_from_dict(header["priors"]),
        scaling.D,
    )
    components = tuple(_component(header, arrays, i, posterior) for i in range(len(header["weights"])))
    return Belief(
        posterior=posterior,
        space=space,
        output=output,
        components=components,
        log_evidence=header["log_evidence"],
        diagnostics=Diagnostics.from_dict(header["diagnostics"]),
        inference=header["inference"],
        marginal=header["marginal"],
        seed=header["seed"],
        X=X,
        y=arrays["y"],
        draws=_draws(arrays, len(components)),
        suspects=tuple(Suspect(**found) for found in header.get("suspects", ())),  # earlier versions had none
    )


def _component(header: dict[str, Any], arrays: dict[str, Any], i: int, posterior: Posterior) -> Component:
    theta = arrays[f"theta_{i}"]
    if header["format"] == 1:
        embedding, is_line = _model_of_format_1(posterior, theta)
    else:
        description = header["components"][i]
        embedding, is_line = embedding_from_dict(description["embedding"]), description["is_line"]
    model = line_model.model(posterior) if is_line else replace(posterior, embedding=embedding)
    return Component(model, model.condition(theta), arrays[f"factor_{i}"], header["weights"][i], header["evidences"][i])


def _model_of_format_1(posterior: Posterior, theta: Array) -> tuple[Embedding, bool]:
    """The rank is that of the parameters; a straight line has the output scale that its model fixes."""
    embedding = posterior.embedding.with_parameters(theta.shape[0] - N_GLOBAL, posterior.data.Z.shape[1])
    fixed = DEFAULT.lines.log_output_scale
    return embedding, line_model.possible(posterior) and bool(theta[LOG_OUTPUT_SCALE] == fixed)


def _draws(arrays: dict[str, Any], n: int) -> tuple[WeightedDraws, ...] | None:
    if "draws_0" not in arrays:
        return None
    return tuple(
        WeightedDraws(arrays[f"draws_{i}"], arrays[f"draw_weights_{i}"], float(arrays[f"draw_shape_{i}"]))
        for i in range(n)
    )


def _read(stream: Any, path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and arrays of a file that :func:`save` wrote, or an error that says it is not one."""
    try:
        with np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays["header"]))
        if not isinstance(header, dict):
            raise ValueError("its header is no description")
    except (ValueError, EOFError, TypeError, KeyError, AttributeError, BadZipFile) as error:
        raise ValueError(f"{path} is not a saved belief: {error}") from None
    return header, arrays


def priors_from_dict(description: dict[str, Any]) -> Priors:
    """Priors from what ``asdict`` made of them, JSON's lists as pairs again."""
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in description.items()}
    if "log_scale_std" in settings:  # its name until the scale had a mean as well
        settings["log_scale"] = (0.0, settings.pop("log_scale_std"))
    return Priors(**settings)


def embedding_from_dict(description: dict[str, Any]) -> Embedding:
    """The embedding that ``description`` speaks of."""
    description = dict(description)
    built: Embedding = _EMBEDDINGS[description.pop("name")](**description)
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


def _inputs_from_arrays(name: str, arrays: dict[str, Any]) -> Inputs:
    if name in arrays:
        return arrays[name]
    parts = (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    return sparse.csr_matrix(parts, shape=tuple(arrays[f"{name}_shape"]))
