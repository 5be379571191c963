"""The report in a real browser: draws everything, with the network off, on a phone and a desk, light and dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ridgeway as rw
from ridgeway import report
from ridgeway.belief.subspace import SubspaceUncertainty
from tests.campaign import several

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

LONG = "temperature_of_the_secondary_heat_exchanger_loop_number_{:04}"

# Plotly's own text, and where it lies: nothing may leave its picture to the left or right.
_CUT = """() => [...document.querySelectorAll('.plot')].flatMap(plot => {
  const frame = plot.getBoundingClientRect();
  return [...plot.querySelectorAll('svg text')].filter(t => t.textContent.trim()).filter(t => {
    const box = t.getBoundingClientRect();
    return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1);
  }).map(t => plot.id + ': ' + t.textContent);
})"""

# What was drawn of each picture: dots, of those that there should be; lines; colours of a surface's pixels.
_DRAWN = """async () => Object.fromEntries(await Promise.all([...document.querySelectorAll('.plot')].map(async plot => {
  const inside = (mark) => {
    const box = mark.getBoundingClientRect(), frame = plot.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.left >= frame.left && box.right <= frame.right;
  };
  const traces = plot._fullData.filter(t => t.type === 'scatter' && t.mode.includes('markers'));
  const colours = new Set();
  if (plot.layout.scene) {
    const image = new Image();
    image.src = await Plotly.toImage(plot, { format: 'png', width: 200, height: 200 });
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: 200, height: 200 });
    const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, 200, 200).data.buffer);
    pixels.forEach(pixel => colours.add(pixel));
  }
  return [plot.dataset.figure, {
    expected: traces.reduce((n, t) => n + t.x.length, 0),
    dots: [...plot.querySelectorAll('.scatterlayer .point')].filter(inside).length,
    lines: [...plot.querySelectorAll('.js-line, .js-fill, .contourfill path, .errorbar path')]
      .filter(path => (path.getAttribute('d') || '').length > 8).length,
    bars: plot.querySelectorAll('.bars .point').length,
    colours: colours.size,
    words: [...plot.querySelectorAll('svg text')].filter(t => t.textContent.trim() && inside(t)).length,
  }];
})))"""

_OVERLAPS = """() => [...document.querySelectorAll('.plot')].flatMap(plot => {
  const boxes = [...plot.querySelectorAll('.annotation-text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  const meet = (a, b) => a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right - 1 && b.left < a.right - 1;
  return boxes.filter(([, b], i) => boxes.slice(0, i).some(([, a]) => meet(a, b)))
    .map(([text]) => plot.id + ': ' + text);
})"""


pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        # Surfaces need WebGL, which a machine without a graphics card computes in software.
        flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        running = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield running
        running.close()


@pytest.fixture(scope="module")
def page_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two directions of 300 inputs with names of 60 characters, and a campaign."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 4)) @ rng.standard_normal((4, 300))
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] ** 2 + 0.05 * rng.standard_normal(60)
    names = [LONG.format(j) for j in range(300)]
    assert len(names[0]) == 60
    space = rw.Box([-8] * 300, [8] * 300, names=names)
    learner = rw.ActiveLearner(space, rw.Linear(2), n_initial=1, inference="map")
    learner.tell(X, y)
    history = [SubspaceUncertainty(n, 60.0 - n, 50.0 - n, 90.0 - n) for n in range(10, 41, 10)]
    return learner.report(tmp_path_factory.mktemp("report") / "two.html", history=history)


@pytest.fixture(scope="module")
def page_of_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30, 3))
    belief = rw.fit(X, np.sin(2 * X[:, 0] - X[:, 1]), rw.Linear("auto"), n_starts=3, inference="map")
    return belief.report(tmp_path_factory.mktemp("report") / "one.html")


def opened(browser: Any, path: Path, width: int, scheme: str) -> tuple[Any, list[str]]:
    """The page once all is drawn, with the network off, and what went wrong meanwhile."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    page.goto(path.as_uri(), timeout=120_000)
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
    return page, wrong


@pytest.mark.parametrize(
    ("which", "width", "scheme"),
    [
        *[("page_of_two", width, scheme) for width in (390, 1440) for scheme in ("light", "dark")],
        *[("page_of_one", width, scheme) for width, scheme in ((390, "light"), (1440, "dark"))],
    ],
)
def test_report_opens(browser: Any, request: pytest.FixtureRequest, which: str, width: int, scheme: str) -> None:
    page, wrong = opened(browser, request.getfixturevalue(which), width, scheme)
    drawn = page.evaluate(_DRAWN)
    assert wrong == []
    assert len(drawn) >= 8
    for key, seen in drawn.items():
        if key == "surface":
            assert seen["colours"] > 100
            continue
        assert seen["words"] >= 3, key
        if key == "distribution":
            assert seen["bars"] > 10
            continue
        assert seen["dots"] == seen["expected"], key
        assert seen["expected"] > 0 or key.startswith("effect"), key  # a curve with its band
        if key != "information":  # dots alone
            assert seen["lines"] > 0, key
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(_CUT) == []
    assert page.evaluate(_OVERLAPS) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    paper = page.evaluate("getComputedStyle(document.querySelector('.plot .main-svg')).backgroundColor")
    assert background == paper == ("rgb(20, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)")
    page.context.close()


def test_figures_follow_a_change_of_colours_and_paper_is_white(browser: Any, page_of_one: Path) -> None:
    page, wrong = opened(browser, page_of_one, 800, "light")
    background = "getComputedStyle(document.querySelector('.plot .main-svg')).backgroundColor"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{background} === 'rgb(20, 24, 28)'")
    assert len(page.pdf()) > 30_000
    page.wait_for_function(f"{background} === 'rgb(20, 24, 28)'")
    assert wrong == []
    page.context.close()


def test_everything_can_be_reached_with_the_keyboard(browser: Any, page_of_two: Path) -> None:
    page, _ = opened(browser, page_of_two, 1440, "light")
    stops = "[...document.querySelectorAll('a[href], summary, .scroll, .plot, pre')].filter(e => e.checkVisibility())"
    expected = page.evaluate(f"{stops}.length")
    assert expected > 20
    reached = []
    for _ in range(expected):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(f"({stops}).indexOf(document.activeElement)")
            if page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            else "no outline"
        )
    assert reached == list(range(expected))  # in the order in which they are read, each one seen to be there
    assert page.evaluate("[...document.querySelectorAll('.plot')].every(p => p.getAttribute('aria-label').length > 30)")
    eye = "document.getElementById('plot-surface').layout.scene.camera.eye.x"
    before = page.evaluate(eye)
    page.focus("#plot-surface")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"{eye} !== {before}")
    page.focus("summary")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('details').open")
    regions = page.evaluate("[...document.querySelectorAll('.scroll, .plot')].every(e => e.tabIndex === 0)")
    assert regions
    page.context.close()


def test_a_page_without_data_opens(browser: Any, tmp_path: Path) -> None:
    path = report.write(rw.ActiveLearner(rw.Box([0, 0], [1, 1])), tmp_path / "empty.html")
    page, wrong = opened(browser, path, 390, "light")
    assert wrong == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.context.close()


def test_paper_has_a_picture_of_the_surface_and_no_darkness(browser: Any, page_of_two: Path) -> None:
    page, wrong = opened(browser, page_of_two, 1440, "dark")
    page.wait_for_selector("img.paper", state="attached", timeout=60_000)
    page.emulate_media(media="print", color_scheme="dark")
    shown = "getComputedStyle(document.querySelector('{}')).display"
    assert page.evaluate(shown.format("#plot-surface")) == "none"
    assert page.evaluate(shown.format("img.paper")) == "block"
    assert page.evaluate("document.querySelector('img.paper').naturalWidth") == 1200
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    plot = "document.getElementById('plot-{}')"
    for key in ("response", "importance", "coverage"):
        assert page.evaluate(f"{plot.format(key)}._fullLayout.paper_bgcolor") == "#ffffff"
        assert page.evaluate(f"{plot.format(key)}._fullLayout.width") == 790
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="dark")
    page.wait_for_function(f"{plot.format('coverage')}._fullLayout.paper_bgcolor === '#14181c'")
    assert wrong == []
    page.context.close()


def test_buttons_hide_nothing_and_phones_have_none(browser: Any, page_of_one: Path) -> None:
    page, _ = opened(browser, page_of_one, 1440, "light")
    page.hover("#plot-coverage")
    page.wait_for_function("getComputedStyle(document.querySelector('#plot-coverage .modebar')).opacity > 0.9")
    boxes = [page.locator(f"#plot-coverage {part}").first.bounding_box() for part in (".modebar-group", ".legend")]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]  # the buttons end above the legend
    assert boxes[0]["y"] + boxes[0]["height"] <= page.locator("#plot-coverage").bounding_box()["y"] + 3
    page.context.close()
    narrow, _ = opened(browser, page_of_one, 390, "light")
    narrow.hover("h1")
    bars = "[...document.querySelectorAll('.plot .modebar')].map(bar => getComputedStyle(bar).backgroundColor)"
    assert set(narrow.evaluate(bars)) == {"rgba(0, 0, 0, 0)"}  # where nobody points, they do not cover a long title
    narrow.context.close()
    phone = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True).new_page()
    phone.goto(page_of_one.as_uri(), timeout=120_000)
    phone.wait_for_selector("html[data-drawn]", state="attached", timeout=60_000)
    assert phone.locator(".modebar-btn").count() == 0
    phone.context.close()


@pytest.fixture(scope="module")
def page_of_two_outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    two = several.create(folder / "c.sqlite", outputs=["yield [%]", "cost </script><b>"], n_initial=50)
    for trial in two.ask(8):
        found = several.measured(trial)
        two.tell(trial, {"yield": found["yield"], two.setup.outputs.names[1]: found["cost"]})
    return two.report(folder / "several.html", suggestions=1)


@pytest.mark.slow
def test_each_output_has_a_tab(browser: Any, page_of_two_outputs: Path) -> None:
    page, wrong = opened(browser, page_of_two_outputs, 390, "dark")
    tabs, panels = page.locator("[role=tab]"), page.locator("[role=tabpanel]")
    assert [tabs.nth(i).text_content() for i in range(2)] == ["yield [%]", "cost </script><b>"]
    assert [panels.nth(i).is_visible() for i in range(2)] == [True, False]
    assert [tabs.nth(i).get_attribute("tabindex") for i in range(2)] == ["0", "-1"]
    tabs.nth(0).focus()
    for key, shown in [("ArrowRight", 1), ("ArrowRight", 0), ("End", 1), ("Home", 0), ("ArrowLeft", 1)]:
        page.keyboard.press(key)
        assert [panels.nth(i).is_visible() for i in range(2)] == [shown == 0, shown == 1]
        assert page.evaluate("document.activeElement.id") == f"tab-{shown + 1}"
    page.wait_for_function("document.querySelectorAll('#plot-2-response .main-svg').length > 0")
    within = "document.getElementById('plot-2-response').getBoundingClientRect().width"
    assert 200 < page.evaluate(within) <= 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.evaluate("location.hash = '#1-data'")  # a link opens the tab of its section
    page.wait_for_function("!document.getElementById('panel-1').hidden")
    page.emulate_media(media="print")
    assert [panels.nth(i).is_visible() for i in range(2)] == [True, True]
    assert [page.locator(".panel .output").nth(i).is_visible() for i in range(2)] == [True, True]
    assert wrong == []
    page.context.close()
