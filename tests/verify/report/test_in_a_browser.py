"""The page in Chromium: what a reader sees, with a mouse, a keyboard or a phone."""

import os
import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
DESKTOP = {"width": 1100, "height": 900, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        missing = "no Chromium (Debian packages: chromium chromium-driver)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        # A reader without a browser can still run the tests.
        pytest.skip(missing)
    options = webdriver.ChromeOptions()
    options.binary_location, driver = programs
    # A container has no sandbox, and little shared memory.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def browser(chromium, written):
    """The page, freshly loaded on a desktop that prefers light."""
    show(chromium, DESKTOP, "light")
    chromium.get("about:blank")
    chromium.get(written.path.as_uri())
    return chromium


def show(chromium, screen: dict, colours: str, media: str = "") -> None:
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": colours}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def background(browser) -> tuple[float, ...]:
    """Return the red, green and blue of the page."""
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return tuple(float(part) for part in colour.strip("rgb()").split(","))


def press(browser, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def focused(browser) -> str:
    return browser.execute_script(
        "const e = document.activeElement; return e.id || e.getAttribute('href') || e.tagName"
    )


def test_the_page_loads_without_complaint_and_asks_for_nothing(browser) -> None:
    assert browser.title == "Verification report, seed 3, profile standard"
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.compatMode") == "CSS1Compat"


def test_every_formula_and_drawing_has_a_size(browser) -> None:
    small = browser.execute_script(
        """
        return [...document.querySelectorAll('math, svg')].filter(element => {
          if (element.closest('details:not([open])')) return false;
          const box = element.getBoundingClientRect();
          const least = element.tagName === 'math' ? 4 : 200;
          return box.width < least || box.height < least;
        }).map(element => element.textContent);
        """
    )
    assert small == []
    # A fraction is higher than a letter: formulas are laid out, not only printed.
    heights = browser.execute_script(
        """
        const high = element => element.getBoundingClientRect().height;
        return ['mfrac', 'mi'].map(name =>
          Math.max(...[...document.querySelectorAll(`.display ${name}`)].map(high)));
        """
    )
    assert heights[0] > 1.5 * heights[1]
    assert not browser.execute_script(
        "return [...document.querySelectorAll('annotation')].some(each => each.checkVisibility())"
    )


def test_a_link_leads_to_its_claim(browser) -> None:
    link = browser.find_element("css selector", '#summary a[href="#corollary3-explicit"]')
    link.click()
    assert browser.current_url.endswith("#corollary3-explicit")
    top = browser.execute_script(
        "return document.getElementById('corollary3-explicit').getBoundingClientRect().top"
    )
    assert -1 <= top <= 100


def test_the_keyboard_reaches_everything(browser) -> None:
    press(browser, Keys.TAB)
    assert focused(browser) == "#summary"
    skip = browser.execute_script(
        "const box = document.activeElement.getBoundingClientRect(); return [box.left, box.right]"
    )
    assert 0 <= skip[0] < skip[1] <= 400  # off the page until it has the focus
    press(browser, Keys.ENTER)
    press(browser, Keys.TAB)
    first = focused(browser)
    assert browser.find_element("css selector", f'#summary a[href="{first}"]')
    outline = browser.execute_script(
        "return parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
    )
    assert outline >= 2

    browser.execute_script("document.getElementById('show-all').focus()")
    press(browser, Keys.TAB)
    first_claim = browser.execute_script("return document.querySelector('article').id")
    assert focused(browser) == f"#{first_claim}"
    press(browser, Keys.TAB, Keys.ENTER)
    assert browser.execute_script(
        "return document.activeElement.tagName === 'SUMMARY'"
        " && document.activeElement.parentElement.open"
        f" && document.activeElement.closest('article').id === '{first_claim}'"
    )


def test_light_and_dark_follow_the_system_and_the_reader(browser) -> None:
    light = background(browser)
    show(browser, DESKTOP, "dark")
    dark = background(browser)
    assert min(light) > 240
    assert max(dark) < 60
    for system, chosen, expected in (
        ("dark", "light", light),
        ("light", "dark", dark),
        ("light", "auto", light),
        ("dark", "auto", dark),
    ):
        show(browser, DESKTOP, system)
        browser.find_element("id", f"theme-{chosen}").click()
        assert background(browser) == expected


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_text_stands_out_from_the_page(browser, colours) -> None:
    show(browser, DESKTOP, colours)
    found = browser.execute_script(
        """
        const names = ['body', '.lead', 'nav a', '.grade.good', '.grade.bad', '.grade.unsettled',
                       'dt', 'summary', '.meaning'];
        return names.map(name => getComputedStyle(document.querySelector(name)).color);
        """
    )
    paper = _luminance(background(browser))
    for colour in found:
        ink = _luminance(tuple(float(part) for part in colour.strip("rgb()").split(",")))
        # WCAG 2.2, contrast (minimum) of text.
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5


def _luminance(colour: tuple[float, ...]) -> float:
    """Return the relative luminance of a colour in sRGB, as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in _unit(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _unit(colour: tuple[float, ...]) -> list[float]:
    return [part / 255 for part in colour[:3]]


def test_a_phone_shows_the_page_without_scrolling_sideways(browser) -> None:
    show(browser, PHONE, "light")
    browser.execute_script(
        "for (const each of document.querySelectorAll('details')) each.open = true"
    )
    width, beyond = browser.execute_script(
        """
        const inner = element => element.closest('.drawing, .scroll, .display');
        const beyond = [...document.querySelectorAll('body *')]
          .filter(element => !inner(element) && element.getBoundingClientRect().right > 361)
          .map(element => element.outerHTML.slice(0, 200));
        return [document.documentElement.scrollWidth, beyond];
        """
    )
    assert beyond == []
    assert width == 360


def test_a_filter_shows_one_grade_and_what_is_linked_to(browser, written) -> None:
    def shown() -> set[str]:
        return set(
            browser.execute_script(
                "return [...document.querySelectorAll('article')]"
                ".filter(each => each.checkVisibility()).map(each => each.id)"
            )
        )

    everything = {result.claim.id for result in written.run.results}
    assert shown() == everything
    browser.find_element("id", "show-certified").click()
    certified = {each.claim.id for each in written.run.results if each.verdict == "certified"}
    assert shown() == certified < everything
    other = min(everything - certified)
    browser.execute_script(f"location.hash = '#{other}'")
    assert shown() == certified | {other}


def test_print_shows_what_is_folded_and_hides_the_controls(browser) -> None:
    folded = "return document.querySelector('article table').checkVisibility()"
    controls = "return document.querySelector('.filter').checkVisibility()"
    assert not browser.execute_script(folded)
    assert browser.execute_script(controls)
    browser.find_element("id", "theme-dark").click()
    show(browser, DESKTOP, "dark", media="print")
    assert browser.execute_script(folded)
    assert not browser.execute_script(controls)
    assert min(background(browser)) > 240
