"""Learning curves: scores after each number of observations, as CSV rows and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ridgeway import files
from ridgeway.experiments import paper
from ridgeway.experiments.protocol import Row
from ridgeway.experiments.table2 import INFERENCES
from ridgeway.experiments.table2_report import READING_TITLES, SELECTING, Group, Results, standard_error

#: Colours that the colour-blind can tell apart (Okabe & Ito), and marks that print without colour.
STYLES = {
    "rand": ("#999999", "o"),
    "lh": ("#E69F00", "s"),
    "unc": ("#56B4E9", "^"),
    "bald": ("#D55E00", "D"),
    "info": ("#009E73", "v"),
}


def rows(results: Results) -> list[dict[str, Any]]:
    """Mean and standard error over experiments of the paper's two scores at each number of observations."""
    found = []
    for reading in READING_TITLES:
        group = Group(results, reading)
        for row in group.rows:
            for inference in group.inferences(row):
                for method in SELECTING:
                    for n in group.marks(row, inference):
                        if entry := _entry(group, row, inference, method, n):
                            found.append({"reading": reading, **entry})
    return found


def _entry(group: Group, row: Row, inference: str, method: str, n: int) -> dict[str, Any] | None:
    entry: dict[str, Any] = {"row": row.name, "inference": inference, "method": method, "n": n}
    for key in ("rmse", "nlpd", "carried_nlpd", "belief_nlpd"):
        values = group.scores(row, inference, method, key, n)
        if not len(values):
            return None
        entry |= {"experiments": len(values), key: values.mean(), f"{key}_error": standard_error(values)}
    return entry


def draw(folder: Path, results: Results, stem: str = "table2_curves") -> list[Path]:
    """One picture for each reading and inference, PNG and SVG: RMSE above, log density below, a column a row."""
    written = []
    for reading in READING_TITLES:
        group = Group(results, reading)
        for inference in INFERENCES:
            with_marks = [row for row in group.rows if group.marks(row, inference)]
            if with_marks:
                name = f"{stem}_{inference}" + ("" if reading == "root" else f"_{reading}")
                written += _draw(folder / name, group, with_marks, inference)
    return written


def _draw(path: Path, group: Group, with_marks: list[Row], inference: str) -> list[Path]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(with_marks) + 0.6, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, len(with_marks), squeeze=False, sharex=True)
    for column, row in zip(axes.T, with_marks, strict=True):
        for ax, key in zip(column, ("rmse", "nlpd"), strict=True):
            _panel(ax, group, row, inference, key)
        column[0].set_title(f"{row.title}\nD={row.D}, d={row.d}", fontsize=9)
        column[1].set_xlabel("observations")
    axes[0, 0].set_ylabel("RMSE")
    axes[1, 0].set_ylabel("negative log density, nats")
    found = {label: handle for ax in axes[0] for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=len(found), frameon=False)
    written = [path.with_suffix(suffix) for suffix in (".png", ".svg")]
    for file in written:
        with files.writing(file) as temporary:
            figure.savefig(temporary, dpi=150)
    return written


def _panel(ax: Any, group: Group, row: Row, inference: str, key: str) -> None:
    marks = group.marks(row, inference)
    for method in SELECTING:
        found = [group.scores(row, inference, method, key, n) for n in marks]
        if len(found[-1]):
            colour, mark = STYLES[method]
            means, errors = [v.mean() for v in found], [standard_error(v) for v in found]
            ax.errorbar(marks, means, errors, color=colour, marker=mark, markersize=4, capsize=2, label=method)
    printed = paper.TABLE2.get(row.name, {}).get(key, {}).get("bald")
    if printed is not None:
        ax.axhline(printed, color="black", linestyle=":", linewidth=1, label="the paper's bald at 100")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
