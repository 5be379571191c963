"""The paper's data: counts, preparation, and what is said when something is missing or wrong."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ridgeway.experiments import datasets

needs_extra = pytest.mark.skipif(find_spec(datasets.PACKAGE) is None, reason="needs ridgeway[experiments]")

WITH_EXTRA = {"yacht": (308, 6), "concrete": (1030, 8), "communities_crime": (1993, 96)}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(datasets.DATA_VARIABLE, raising=False)


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "PACKAGE", "a_package_that_nobody_has")


def assert_prepared(found: datasets.Dataset, shape: tuple[int, int]) -> None:
    assert found.X.shape == found.raw_X.shape == shape
    assert len(found.input_names) == shape[1]
    np.testing.assert_allclose(found.X.min(axis=0), -1.0)
    np.testing.assert_allclose(found.X.max(axis=0), 1.0)
    assert abs(found.y.mean()) < 1e-12
    assert found.y.std() == pytest.approx(1.0)


@needs_extra
@pytest.mark.parametrize("name", WITH_EXTRA)
def test_the_extra_has_the_counts_of_the_paper(name: str) -> None:
    assert_prepared(datasets.load(name), WITH_EXTRA[name])


@needs_extra
@pytest.mark.parametrize("name", WITH_EXTRA)
def test_the_extra_and_a_directory_give_the_same(name: str, shared: Path) -> None:
    here, installed = datasets.load(name, shared / "data"), datasets.load(name)
    assert here.source != installed.source
    np.testing.assert_array_equal(here.X, installed.X)
    np.testing.assert_array_equal(here.raw_y, installed.raw_y)


def test_communities_without_one_record(shared: Path) -> None:
    """The record dropped is the one without OtherPerCap, not one without AsianPerCap as the paper has it."""
    full = pd.read_csv(shared / "data" / "communities_crime_full.csv.gz", na_values="?")
    assert full["AsianPerCap"].notna().all()
    lacking = np.flatnonzero(full["OtherPerCap"].isna())
    assert lacking.tolist() == [130]
    found = datasets.load("communities_crime", shared / "data")
    np.testing.assert_array_equal(found.raw_y, np.delete(full["ViolentCrimesPerPop"].to_numpy(), lacking))
    np.testing.assert_allclose(found.X, 2.0 * found.raw_X - 1.0, atol=1e-15)
    assert (found.input_names[0], found.input_names[-1]) == ("population", "PctSameState85")


@pytest.mark.slow
def test_ujiindoorloc_from_the_whole_and_from_the_validation_file(shared: Path, tmp_path: Path) -> None:
    whole = datasets.load("ujiindoorloc", shared / "data")
    assert_prepared(whole, (1111, 367))
    assert whole.raw_X.max() < 0.0
    assert whole.raw_X.min() == -105.0
    table = pd.read_csv(shared / "data" / "alt" / "ujiindoorloc.csv.gz")
    table[table["split"] == "validation"].drop(columns="split").to_csv(tmp_path / "validationData.csv", index=False)
    np.testing.assert_array_equal(datasets.load("ujiindoorloc", tmp_path).X, whole.X)


def test_the_range_of_ct_slices_that_the_paper_counted(shared: Path) -> None:
    reference = pd.read_csv(shared / "data" / "partial" / "ct_slices_reference_only.csv.gz")["reference"]
    assert len(reference) == 53_500
    assert reference.between(50.0, 60.0).sum() == 6_819
    assert reference.between(*datasets.CT_RANGE).sum() == datasets.SOURCES["ct_slices"].n == 3_071


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True])
def test_ct_slices_are_read_as_published(
    kept: bool, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first records are real; the range and the counts are made to fit them."""
    table = pd.read_csv(shared / "data" / "partial" / "ct_slices_first_rows.csv.gz")
    table.to_csv(tmp_path / "slice_localization_data.csv", index=False)
    monkeypatch.setattr(datasets, "CT_RANGE", (20.0, 30.0))
    rows = table[(table["reference"] >= 20.0) & (table["reference"] <= 30.0)]
    features = rows.drop(columns=["patientId", "reference"]).to_numpy()
    if not kept:
        features[features == -0.25] = 0.0
    features = features[:, np.ptp(features, axis=0) > 0]
    expect(monkeypatch, "ct_slices", features.shape)
    found = datasets.load("ct_slices", tmp_path)
    np.testing.assert_array_equal(found.raw_X, features)
    np.testing.assert_array_equal(found.raw_y, rows["reference"])
    assert 100 < features.shape[1] < 384
    assert "patientId" not in found.input_names


def test_a_blank_feature_of_ct_slices_is_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"patientId": 1, "value0": [np.nan, 1.0], "value1": [-0.25, 0.0], "reference": [55.0, 60.0]})
    table.to_csv(tmp_path / "slice_localization_data.csv", index=False)
    expect(monkeypatch, "ct_slices", (2, 1))
    found = datasets.load("ct_slices", tmp_path)
    assert found.raw_X.tolist() == [[0.0], [1.0]]
    assert found.raw_y.tolist() == [55.0, 60.0]


def test_temperature_joins_training_and_validation(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = pd.read_csv(shared / "data" / "partial" / "temperature_train_targets_only.csv.gz")["target"].to_numpy()
    assert datasets.SOURCES["temperature"].n - len(targets) == 3_558
    inputs = write_temperature(tmp_path, targets[:20], targets[20:32])
    expect(monkeypatch, "temperature", (32, 106))
    found = datasets.load("temperature", tmp_path)
    np.testing.assert_array_equal(found.raw_y, targets[:32])
    np.testing.assert_allclose(found.raw_X, inputs, rtol=1e-7)


def test_temperature_with_a_target_too_few(tmp_path: Path) -> None:
    write_temperature(tmp_path, np.arange(20.0), np.arange(5.0))
    np.savetxt(tmp_path / "temp_valid.targets", np.arange(4.0))
    with pytest.raises(datasets.UnexpectedDataError, match=r"temp_valid.targets: as many .* \(5\), found 4"):
        datasets.load("temperature", tmp_path)


def test_wrong_counts_are_an_error(tmp_path: Path) -> None:
    write_temperature(tmp_path, np.arange(20.0), np.arange(5.0))
    with pytest.raises(datasets.UnexpectedDataError, match=r"must have 10,675 records of 106 .* found 25 of 106"):
        datasets.load("temperature", tmp_path)


def test_a_missing_value_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"a": [1.0, None], "b": [0.0, 1.0]}).to_csv(tmp_path / "yacht.csv.gz", index=False)
    expect(monkeypatch, "yacht", (2, 1))
    with pytest.raises(datasets.UnexpectedDataError, match="no missing value"):
        datasets.load("yacht", tmp_path)


@pytest.mark.parametrize("name", datasets.names())
def test_the_error_says_what_is_missing(name: str, tmp_path: Path, without_extra: None) -> None:
    with pytest.raises(datasets.MissingDataError) as caught:
        datasets.load(name, tmp_path)
    message, source = str(caught.value), datasets.SOURCES[name]
    for words in (str(tmp_path), f"{source.n:,} records of {source.D} inputs", source.published):
        assert words in message
    for form in source.forms:
        assert ", ".join(form.files) in message
    assert ("ridgeway[experiments]" in message) == (name in WITH_EXTRA)


def test_without_a_directory_the_error_says_how_to_name_one() -> None:
    with pytest.raises(datasets.MissingDataError, match=r"--data DIR .* or set RIDGEWAY_DATA"):
        datasets.load("ct_slices")


def test_the_directory_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_extra: None
) -> None:
    assert datasets.available() == ()
    write_temperature(tmp_path, np.arange(20.0), np.arange(5.0))
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(tmp_path))
    assert datasets.available() == ("temperature",)
    assert datasets.available(tmp_path / "elsewhere") == ()


def test_an_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"name must be one of yacht, .* got 'boston'"):
        datasets.load("boston")


def expect(monkeypatch: pytest.MonkeyPatch, name: str, shape: tuple[int, ...]) -> None:
    """Counts of a small file in place of the paper's."""
    old = datasets.SOURCES[name]
    changed = datasets.Source(shape[0], shape[1], old.published, old.forms, old.package_folder)
    monkeypatch.setitem(datasets.SOURCES, name, changed)


def write_temperature(folder: Path, train: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """The four files of the competition, made small; returns all inputs."""
    inputs = np.random.default_rng(0).standard_normal((len(train) + len(valid), 106))
    for name, X, y in (("train", inputs[: len(train)], train), ("valid", inputs[len(train) :], valid)):
        np.savetxt(folder / f"temp_{name}.inputs", X, fmt="  %.7e")
        np.savetxt(folder / f"temp_{name}.targets", y, fmt="  %.7e")
    return inputs
