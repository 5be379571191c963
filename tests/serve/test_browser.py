"""The live page in a real browser: two windows, no network but this machine, phone and desk, light and dark, keys."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

import ridgeway as rw
from ridgeway import Campaign
from ridgeway.serve.server import Server
from tests import campaign_workers as workers
from tests.campaign import several
from tests.serve.pages import served

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # the network is off but for this machine
        running = driver.chromium.launch(executable_path=CHROMIUM, args=[*flags, alone])
        yield running
        running.close()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A campaign with results, names and notes that are script, and trials that are pending."""
    inputs = [rw.Input(f"a {SCRIPT}", 0.0, 1.0), rw.Input("b", 0.0, 1.0, "°C"), rw.Fixed("load", 3)]
    place = tmp_path_factory.mktemp("known") / "c.sqlite"
    made = Campaign.create(
        place, f"kiln {SCRIPT}", inputs, output=f"strength {SCRIPT}", unit="MPa", n_initial=6, inference="map",
        embedding=rw.Linear(2),
    )  # fmt: skip
    for trial in made.ask(8):
        a, b = trial.x[:2]
        made.tell(trial, 3.0 * a + b**2, notes={"note": SCRIPT})
    made.fail(made.ask(), SCRIPT)
    made.correct(2, 1.5, SCRIPT)
    made.ask(3)
    with served(made) as server:
        yield server


def opened(browser: Any, server: Server, width: int = 1440, scheme: str = "light") -> tuple[Any, list[str]]:
    """The page once it shows the campaign, and what went wrong meanwhile."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"script ran: {dialog.message}"))
    own = (f"http://127.0.0.1:{server.port}/", "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
    page.goto(server.addresses[0], timeout=120_000)
    page.wait_for_selector("html[data-state]", state="attached", timeout=60_000)
    return page, wrong


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_the_page_shows_everything(browser: Any, known: Server, width: int, scheme: str) -> None:
    page, wrong = opened(browser, known, width, scheme)
    assert page.url == f"http://127.0.0.1:{known.port}/"  # the token is gone from the address
    page.wait_for_selector("html[data-report]", state="attached", timeout=120_000)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#name").text_content() == f"kiln {SCRIPT}"
    assert page.locator(".card").count() == 3
    assert page.locator("#rows tr").count() == 9
    assert "broke" not in page.locator("#rows").text_content()
    assert SCRIPT in page.locator("#rows tr.failed").text_content()
    drawn = page.evaluate(
        "[...document.querySelectorAll('#sections .plot')].map(p => p.querySelectorAll('.main-svg').length)"
    )
    assert len(drawn) >= 8
    assert min(drawn) > 0
    assert len(page.locator("#advice-text").text_content()) > 30
    assert page.evaluate("document.querySelectorAll('img[src=x], #known script').length") == 0
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)")
    assert wrong == []
    page.context.close()


def test_what_is_entered_in_one_window_is_seen_in_another(browser: Any, tmp_path: Path) -> None:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(6)
    with served(made) as server:
        (mine, wrong), (other, wrong_there) = opened(browser, server), opened(browser, server, 390)
        other.fill("#trial-4 [name=value]", "0.4")  # somebody is typing there
        taken = []
        for number in (1, 2, 3):
            mine.fill(f"#trial-{number} [name=value]", f"0.{number}")
            began = time.monotonic()
            mine.press(f"#trial-{number} [name=value]", "Enter")
            other.wait_for_selector(f"#trial-{number}", state="detached", timeout=30_000)
            taken.append(time.monotonic() - began)
            mine.wait_for_selector(f"#trial-{number}", state="detached", timeout=30_000)
            assert mine.evaluate("document.activeElement.closest('.card').id") == f"trial-{number + 1}"
        assert min(taken) < 2.0, taken  # all of them on a quiet machine
        assert other.locator("#rows tr").count() == 3
        assert other.input_value("#trial-4 [name=value]") == "0.4"  # and goes on typing
        Campaign.open(made.where).tell(4, 7.0)  # the command line settles what is being typed
        other.wait_for_selector("#trial-4", state="detached", timeout=30_000)
        assert "You had typed 0.4" in other.locator("#messages").text_content()
        mine.locator("#messages button", has_text="Undo").last.click()
        mine.wait_for_selector("#trial-3", timeout=30_000)
        other.wait_for_selector("#trial-3", timeout=30_000)
        assert made.all_trials()[2].state == "asked"
        assert wrong == wrong_there == []
        mine.context.close()
        other.context.close()


def test_failures_corrections_and_asking(browser: Any, tmp_path: Path) -> None:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(2)
    with served(made) as server:
        page, wrong = opened(browser, server)
        page.fill("#person", "Ann")
        page.locator("#trial-1 summary").click()
        page.locator("#trial-1 [name=fail]").click()
        page.fill("#question-reason", "it broke")
        page.keyboard.press("Enter")
        page.wait_for_selector("#rows tr.failed")
        page.fill("#trial-2 [name=value]", "1,5")
        page.press("#trial-2 [name=value]", "Enter")
        page.wait_for_selector("#messages .wrong")
        assert "with a point, such as 1.5" in page.locator("#messages .wrong").text_content()
        page.fill("#trial-2 [name=value]", "1.5")
        page.press("#trial-2 [name=value]", "Enter")
        page.wait_for_selector("#rows tr.told")
        page.locator("#rows tr.told button", has_text="correct").click()
        page.fill("#question-values input", "1.25")
        page.keyboard.press("Enter")  # a reason is needed
        assert page.evaluate("document.getElementById('question').open")
        page.fill("#question-reason", "misread")
        page.keyboard.press("Enter")
        page.wait_for_selector("#history:not([hidden])")
        page.fill("#n", "2")
        page.locator("#ask button").click()
        page.wait_for_selector("#trial-4", timeout=120_000)
        failed, told = made.all_trials()[:2]
        assert (failed.state, failed.reason, told.value) == ("failed", "it broke", 1.25)
        assert str(failed.settled_by).startswith("Ann via ")
        assert ["409" in text for text in wrong] == [True]  # the browser notes that the comma was refused
        page.context.close()


def test_a_surprising_value_is_asked_about(browser: Any, known: Server) -> None:
    page, wrong = opened(browser, known)
    page.wait_for_selector("html[data-report]", state="attached", timeout=120_000)  # so there is a fit
    page.fill("#trial-12 [name=value]", "400")
    page.press("#trial-12 [name=value]", "Enter")
    page.wait_for_selector("dialog[open]", timeout=60_000)
    assert "was predicted" in page.locator("#question-text").text_content()
    page.keyboard.press("Enter")  # pressed twice: it is not taken
    page.wait_for_selector("dialog:not([open])", state="attached")
    assert page.input_value("#trial-12 [name=value]") == "400"
    page.fill("#trial-12 [name=value]", "")
    assert wrong == []
    page.context.close()


def test_everything_can_be_reached_with_the_keyboard(browser: Any, known: Server) -> None:
    page, _ = opened(browser, known)
    page.wait_for_selector("html[data-report]", state="attached", timeout=120_000)
    stops = (
        "[...document.querySelectorAll('a[href], summary, input, button, .scroll, .plot, pre')]"
        ".filter(e => e.checkVisibility() && !e.matches('.modebar-btn') && !e.closest('dialog'))"
    )
    expected = page.evaluate(f"{stops}.length")
    assert expected > 40
    reached = []
    for _ in range(expected):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        reached.append(
            page.evaluate(f"({stops}).indexOf(document.activeElement)") if outline != "none" else "no outline"
        )
    assert reached == list(range(expected))  # in the order in which they are read, each one seen to be there
    named = "e.labels?.length || e.textContent.trim() || e.ariaLabel || e.closest('dialog')"
    unnamed = f"[...document.querySelectorAll('input, button')].filter(e => !({named})).map(e => e.outerHTML)"
    assert page.evaluate(unnamed) == []
    page.context.close()


def test_a_hidden_page_gives_its_connection_back_and_catches_up(browser: Any, tmp_path: Path) -> None:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(2)
    with served(made) as server:
        page, wrong = opened(browser, server)
        turn = "hidden => {{ Object.defineProperty(document, 'hidden', {{ value: hidden, configurable: true }}); {} }}"
        turned = turn.format("document.dispatchEvent(new Event('visibilitychange'))")
        page.evaluate(turned, True)
        page.locator("#link", has_text="Paused").wait_for(timeout=30_000)
        made.tell(1, 1.0)
        page.evaluate(turned, False)
        page.wait_for_selector("#trial-1", state="detached", timeout=30_000)
        assert page.locator("#link").text_content() == "Live"
        assert wrong == []
        page.context.close()


def test_a_page_for_reading_and_a_server_that_ends(browser: Any, tmp_path: Path) -> None:
    made = workers.create(tmp_path / "c.sqlite", n_initial=50)
    made.ask(2)
    with served(made, read_only=True) as server:
        page, wrong = opened(browser, server)
        assert page.locator(".card dl").first.is_visible()
        for hidden in ("#ask", ".card form", "#person"):
            assert not page.locator(hidden).first.is_visible()
        assert wrong == []
    page.wait_for_selector("#link.away", timeout=30_000)
    assert page.locator(".card dl").first.is_visible()  # what was there is still to be read
    page.context.close()


def test_several_outputs_are_entered_and_shown(browser: Any, tmp_path: Path) -> None:
    two = several.create(tmp_path / "c.sqlite", outputs=["yield [%]", f"cost {SCRIPT}"], n_initial=50)
    cost = two.setup.outputs.names[1]
    for trial in two.ask(6):
        two.tell(trial, {"yield": several.measured(trial)["yield"], cost: several.measured(trial)["cost"]})
    two.ask(2)
    with served(two) as server:
        page, wrong = opened(browser, server, 390, "dark")
        fields = page.locator("#trial-7 [name=value]")
        assert fields.count() == 2
        assert SCRIPT in str(page.locator("#trial-7 .values").text_content())
        fields.nth(0).fill("0.25")
        fields.nth(0).press("Enter")
        page.wait_for_selector("#trial-7 .known", timeout=30_000)
        assert page.locator("#trial-7 .known").text_content() == "yield [%] 0.25"
        assert page.evaluate("document.activeElement.dataset.output") == cost  # the rest can be typed at once
        page.keyboard.type("0.75")
        page.keyboard.press("Enter")
        page.wait_for_selector("#trial-7", state="detached", timeout=30_000)
        assert two.all_trials()[6].values == {"yield": 0.25, cost: 0.75}
        assert page.locator("#rows tr").first.locator("td").nth(0).text_content() == "0.25"
        page.wait_for_selector("html[data-output='yield [%]']", state="attached", timeout=120_000)
        tabs = page.locator("#outputs [role=tab]")
        assert tabs.count() == 2
        tabs.nth(0).focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("document.documentElement.dataset.output.startsWith('cost')", timeout=60_000)
        assert tabs.nth(1).get_attribute("aria-selected") == "true"
        assert page.evaluate("document.activeElement.id") == "output-tab-1"
        assert "cost" in str(page.locator("#plot-outcomes svg .ytitle").text_content())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("document.querySelectorAll('img[src=x], #known script').length") == 0
        assert wrong == []
        page.context.close()
