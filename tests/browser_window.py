"""The window that the tests of pages look through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from malice.referee.records import Record
from malice.referee.replay import RecordedAsk, replay_asks
from tests.processes import PATIENCE_S, POLL_S

SETTLE = "const [done] = [...arguments].slice(-1); requestAnimationFrame(() => requestAnimationFrame(() => done()));"
"""Waits until a page has measured its new size."""
JUDGE = """
const [done] = [...arguments].slice(-1);
axe.run(document, { preload: false, resultTypes: ["violations"] }).then(
  ({ violations }) => done(violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => [impact, id, target.join(" "), failureSummary]))),
  (error) => done([["critical", "axe", "", String(error)]]),
);
"""
BEYOND = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


def at_a_desk(chromium: Chrome) -> Iterator[Chrome]:
    """Lend the browser; afterwards it has its size and colours again, and its console must be empty."""
    yield chromium
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert chromium.get_log("browser") == []


def as_a_phone(browser: Chrome) -> None:
    """Make the window as small as a small phone."""
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def visit(browser: Chrome, folder: Path, page: str) -> None:
    browser.get("about:blank")  # or a new fragment alone would not load the page again
    browser.get(f"{folder.as_uri()}/{page}")


def wait_until(browser: Chrome, holds: Callable[[], object]) -> None:
    WebDriverWait(browser, PATIENCE_S, POLL_S).until(lambda _: holds())


def find(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, selector)


def replay(browser: Chrome, folder: Path, address: str) -> None:
    visit(browser, folder, f"replay.html#{address}")
    wait_until(browser, lambda: find(browser, "#replay").is_displayed())


def current(browser: Chrome) -> int:
    """The step that is shown: 0 for the deal, i + 1 for action i."""
    return int(find(browser, "#log [aria-current]").get_attribute("data-step") or -1)


def press(browser: Chrome, *keys: str) -> None:
    find(browser, "body").send_keys(*keys)


def show_end(browser: Chrome, site: Path, record: Record) -> list[RecordedAsk]:
    """Show a game after its last step; return its asks."""
    replay(browser, site, str(record.key))
    press(browser, Keys.END)
    assert browser.execute_script("return malice.failures") == {}
    return list(replay_asks(record))


def fits_the_window(browser: Chrome) -> bool:
    return bool(browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"))


def look_like(browser: Chrome, scheme: str, *, phone: bool) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    if phone:
        as_a_phone(browser)
    else:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_async_script(SETTLE)


def judge(browser: Chrome) -> Iterator[str]:
    """Yield the complaints of axe-core, which the page has loaded, about the page as it looks now."""
    for impact, *told in browser.execute_async_script(JUDGE):
        if impact in ("moderate", "serious", "critical"):
            yield " ".join(told)
    if not find(browser, "h1").is_displayed():
        yield "no heading"
    if beyond := browser.execute_script(BEYOND):
        yield f"{beyond} pixels wider than its window"
