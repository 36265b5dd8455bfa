"""Tests that need more than Python: skipped in words on a desk, failed in CI, never left out unseen.

A browser and a rendered site, which several test files look at, are fixtures here.
"""

import gc
import os
import shutil
import signal
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from malice.referee.isolation import cgroups, landlock, limits, probe
from tests.processes import PATIENCE_S
from tests.toolchains import kit_lack

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

    from tests.site_league import League


class Need(NamedTuple):
    programs: tuple[tuple[str, ...], ...]  # of each inner tuple one is enough
    debian: str


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first, which has no windows at all, takes a third less of the processor."""
NEEDS = {
    "browser": Need((BROWSERS, ("chromedriver",)), "chromium chromium-driver"),
    "compiler": Need((("cc",),), "gcc libc6-dev"),
    "npm": Need((("npm",),), "npm"),
    "sandbox": Need((("bwrap",),), "bubblewrap"),
}
MARKERS = (*NEEDS, "core", "filter", "landlock", "landlock_signals", "memory_group", "namespaces")
CI = os.environ.get("CI") == "true"
LONG = (
    "test_docs.py",
    "test_kits.py",
    "test_hostile.py",
    "test_crash.py",
    "test_hostile_bots.py",
    "test_compare.py",
    "test_many_machines.py",
    "test_run.py",
)
"""Files that take a process long: they come first, so that at the end no process waits for another."""
LACK = "lack"
"""What a report calls the kind of a test that was skipped, and what it lacks."""


def find(names: tuple[str, ...]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


def lack(marker: str) -> str | None:
    """One sentence on what the tests with this marker lack and where to get it, or None."""
    if marker == "sandbox":
        return probe.explain_missing_sandbox()
    if marker == "core":
        return None if find_spec("malice_core") else "malice-core not found (make core, which needs cargo)"
    if marker == "filter":
        return limits.explain_missing_filter()
    if marker == "landlock":
        return probe.explain_missing_landlock()
    if marker == "landlock_signals":
        return landlock.explain_missing_power(landlock.POWERS[-1])
    if marker == "namespaces":
        return (
            None
            if probe.sandbox_works(own_user=False)
            else "no user namespaces here: malice doctor says how to get them"
        )
    if marker == "memory_group":
        return None if cgroups.find_parents().memory else "no memory cgroup here: malice doctor says how to get one"
    need = NEEDS[marker]
    gone = [names[0] for names in need.programs if find(names) is None]
    if not gone:
        return None
    return f"{' and '.join(gone)} not found (Debian: apt-get install {need.debian})"


def hopeless(marker: str) -> bool:
    """Whether it is the kernel, the processor or the user that lacks it, so that no CI could install it."""
    kernels = ("filter", "landlock", "landlock_signals", "memory_group")
    return marker in kernels or (marker == "namespaces" and not Path("/proc/self/ns/user").exists())


class Skipped:
    """Gathers the skipped tests from reports, which other processes send here too."""

    def __init__(self) -> None:
        self._tests: dict[tuple[str, str], list[str]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            for name, told in report.user_properties:
                if name == LACK and isinstance(told, (list, tuple)):  # a list from another process
                    self._tests[str(told[0]), str(told[1])].append(report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # outermost, so that these are the last lines
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        yield
        for (kind, sentence), tests in self._tests.items():
            terminalreporter.write_line(f"Skipped {kind} tests ({len(tests)}): {sentence}", yellow=True)
            for test in tests:
                terminalreporter.write_line(f"  {test}")


def pytest_configure(config: pytest.Config) -> None:
    if not CI:  # where Hypothesis does the same by itself: how long a busy machine takes says nothing of the code
        settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("busy")
    config.pluginmanager.register(Skipped())
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell has it for what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    if "chromium" in getattr(item, "fixturenames", ()):
        item.add_marker("browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of collected tests are no garbage: to look through them takes 7 % of the time


def lacks(item: pytest.Item) -> Iterator[tuple[str, str]]:
    """Name what kind of test this is, and say what it lacks, for each kind that lacks something."""
    for marker in MARKERS:
        if item.get_closest_marker(marker) and (sentence := lack(marker)):
            yield marker, sentence
    for mark in item.iter_markers("kit"):
        if sentence := kit_lack(*mark.args):
            yield " ".join(("kit", *mark.args)), sentence


@pytest.hookimpl(tryfirst=True)  # before any fixture tries to start what is missing
def pytest_runtest_setup(item: pytest.Item) -> None:
    for kind, sentence in lacks(item):
        if CI and not hopeless(kind):
            pytest.fail(sentence, pytrace=False)
        item.user_properties.append((LACK, (kind, sentence)))
        pytest.skip(sentence)


@pytest.fixture(scope="session")
def chromium() -> Iterator["Chrome"]:
    """The system's chromium, profile empty; `get_log("browser")` gives the console since the last call."""
    yield from open_chromium()


@pytest.fixture
def other_chromium() -> Iterator["Chrome"]:
    """A second one, which shares nothing with the first."""
    yield from open_chromium()


def open_chromium() -> Iterator["Chrome"]:
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    browser, driver = (find(names) for names in NEEDS["browser"].programs)
    options = ChromeOptions()
    options.binary_location = browser or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    arguments = [
        "--headless",
        "--window-size=1280,900",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",  # /dev/shm of a container holds 64 MiB, one page may need more
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # nothing from outside
    ]
    if os.geteuid() == 0 or CI:  # root may not have one, and Ubuntu's AppArmor denies it on CI machines
        arguments.append("--no-sandbox")
    for argument in arguments:
        options.add_argument(argument)

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("no_proxy", "localhost")  # selenium would ask the proxy for the driver
        # With both paths given, selenium neither looks for a browser nor downloads one.
        window = Chrome(options=options, service=ChromeService(executable_path=driver))
    window.set_script_timeout(PATIENCE_S)
    window.get("about:blank")
    window.get_log("browser")  # the page of a new tab has complaints of its own
    yield window
    with suppress(WebDriverException):  # Debian starts the browser from a script, and the driver would end that alone
        window.execute_cdp_cmd("Browser.close", {})
    window.quit()


@pytest.fixture(scope="module")
def league() -> "League":
    """Five bots, one of them with a hostile name; every ninth game ends by a verdict."""
    from tests.site_league import League  # most tests need no site

    return League(deals=2, faulty=9)


@pytest.fixture(scope="module")
def out(league: "League", tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rendered site of the league, with the evidence of all verdicts."""
    from malice import site_pages
    from malice.tournaments.league.publication import Publication

    folder = tmp_path_factory.mktemp("site")
    site_pages.render(league, folder, site_pages.SiteOptions(publication=Publication(evidence=None)))
    return folder


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the function of `standard` measure luck under the short ruleset too."""
    from malice.referee.games.spite import luck
    from malice.referee.rulesets import load_ruleset

    standard = luck.hash_rules(load_ruleset("standard").rules)
    monkeypatch.setattr(luck, "hash_rules", lambda rules: standard)
    luck.find_luck.cache_clear()
    yield
    luck.find_luck.cache_clear()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core."""
    folder = tmp_path_factory.mktemp("axe")
    command = ["npm", "pack", "--silent", "--prefer-offline", "axe-core@4.14.1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=120)
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        script = package.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()
