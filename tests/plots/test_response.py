"""What the figures show is what the belief says."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import plots
from ridgeway.directions import UnavailableError, directions
from ridgeway.subspace import SubspaceUncertainty
from ridgeway.surface import coordinates, inputs

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def fitted(d: int, D: int = 5, n: int = 35) -> rw.Belief:
    rng = np.random.default_rng(d)
    X = rng.uniform(-1, 1, (n, D))
    y = np.sin(2 * X[:, 0]) + (X[:, 1] ** 2 if d > 1 else 0) + (np.cos(3 * X[:, 2]) if d > 2 else 0)
    return rw.fit(X, y + 0.02 * rng.standard_normal(n), rw.Linear(d), n_starts=5, inference="map")


@pytest.fixture(scope="module")
def one() -> rw.Belief:
    return fitted(1)


@pytest.fixture(scope="module")
def two() -> rw.Belief:
    return fitted(2)


def test_one_direction_shows_mean_band_and_observations(one: rw.Belief) -> None:
    band, mean, dots = plots.response(one).data
    found = directions(one)
    prediction = one.predict(inputs(found, one, np.asarray(mean.x)[:, None]))
    assert mean.y == pytest.approx(prediction.mean)
    m = len(mean.x)
    assert band.y[:m] == pytest.approx(prediction.mean + 1.96 * prediction.std)
    assert band.y[m:][::-1] == pytest.approx(prediction.mean - 1.96 * prediction.std)
    assert dots.x == pytest.approx(coordinates(found, one)[:, 0])
    assert dots.y == pytest.approx(one.y)


def test_two_directions_show_contours_and_a_surface(two: rw.Belief) -> None:
    contour, dots = plots.response(two).data
    surface = plots.surface(two).data[0]
    assert (contour.type, surface.type) == ("contour", "surface")
    assert np.asarray(surface.z) == pytest.approx(np.asarray(contour.z))
    assert dots.marker.color == pytest.approx(two.y)
    at = inputs(directions(two), two, np.array([[contour.x[7], contour.y[2]]]))
    assert np.asarray(contour.z)[2, 7] == pytest.approx(two.predict(at).mean[0])


def test_more_directions_show_pairs_on_one_scale_of_colours() -> None:
    belief = fitted(3, n=40)
    assert belief.rank == 3
    contours = [trace for trace in plots.response(belief).data if trace.type == "contour"]
    assert len(contours) == 3
    assert len({(trace.zmin, trace.zmax) for trace in contours}) == 1


def test_a_surface_needs_two_directions(one: rw.Belief) -> None:
    with pytest.raises(ValueError, match="at least two directions"):
        plots.surface(one)


def test_importance_sums_up_what_is_not_shown(two: rw.Belief) -> None:
    names = [f"input <{j}> & co" for j in range(5)]
    fig = plots.importance(two, names, top=2)
    dots = fig.data[0]
    assert set(dots.text) == {"input <0> & co", "input <1> & co"}
    assert f"(3 others together {1 - sum(dots.x):.0%})" in fig.layout.xaxis.title.text
    assert sum(plots.importance(two, names).data[0].x) == pytest.approx(1.0)
    shown = [a.text for a in fig.layout.annotations]
    assert "input &lt;0&gt; &amp; co" in shown


def test_weights_are_the_directions(two: rw.Belief) -> None:
    dots = plots.weights(two, 1).data[0]
    best = directions(two).weights[1]
    assert sorted(dots.x) == pytest.approx(sorted(best))
    assert np.all(np.asarray(dots.error_x.array) >= 0)
    assert np.all(np.asarray(dots.error_x.arrayminus) >= 0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        plots.weights(two, 2)


def test_coverage_and_left_out_predictions(one: rw.Belief) -> None:
    assert plots.left_out(one).data[1].x == pytest.approx(one.leave_one_out().mean)
    assert plots.coverage(one).data[2].x == pytest.approx([0.5, 0.68, 0.8, 0.9, 0.95, 0.99])


def test_information_is_bald(one: rw.Belief, two: rw.Belief) -> None:
    from ridgeway.candidates import Candidates

    X = np.random.default_rng(0).uniform(-1, 1, (9, 5))
    candidates = Candidates(X, one.bald(X))
    dots, stars = plots.information(one, candidates, Candidates(X[:2], np.array([1.0, np.nan]))).data
    assert dots.y == pytest.approx(one.bald(X))
    assert list(stars.y) == [1.0, 0.0]
    assert len(plots.information(two).data[0].x) == 600


def test_the_course_of_a_campaign(one: rw.Belief) -> None:
    steps = [SubspaceUncertainty(n, 90.0 / n, 1.0, 90.0) for n in range(1, 101)]
    course = plots.subspace(steps).data[1]
    assert len(course.x) == 60
    assert (course.x[0], course.x[-1]) == (1, 100)
    assert plots.subspace([steps[3], one]).data[1].x == (4, 35)
    with pytest.raises(UnavailableError, match="at least two"):
        plots.subspace([one])


def test_evidence_of_dimensions_and_optima(one: rw.Belief) -> None:
    with pytest.raises(UnavailableError, match="auto"):
        plots.dimensions(one)
    belief = rw.fit(one.X, one.y, rw.Linear("auto"), n_starts=2, inference="map")
    dots = plots.dimensions(belief).data[0]
    evidence = belief.diagnostics.dimension_evidence
    assert dots.y == pytest.approx([evidence[int(d)] - max(evidence.values()) for d in dots.x])
    assert plots.optima(belief).data[0].y[0] == 0.0


def test_light_and_dark_differ(one: rw.Belief) -> None:
    light = plots.response(one)
    dark = plots.themed(light, dark=True)
    assert light.layout.template.layout.paper_bgcolor == "#ffffff"
    assert dark.layout.template.layout.paper_bgcolor != "#ffffff"


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<svg")])
def test_pictures_in_files(one: rw.Belief, tmp_path: Path, suffix: str, start: bytes) -> None:
    if CHROMIUM is None:
        pytest.skip("static pictures need Chromium or Chrome, and there is none")
    pytest.importorskip("kaleido", reason="static pictures need kaleido")
    path = plots.save(plots.response(one), tmp_path / f"picture{suffix}")
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size > 5_000


def test_pictures_have_a_known_format(one: rw.Belief, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must end in .png, .svg, .pdf, got 'a.bmp'"):
        plots.save(plots.response(one), tmp_path / "a.bmp")
