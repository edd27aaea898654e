"""The HTML report in a real browser: Debian's Chromium, without a window, driven by Selenium.

Method: each page is rendered into a file and opened from there, as people do. After each test the console must be
empty: whatever a script or the page's policy complains of stands there. Times are the browser's own.

`python3 tests/reports/browser_test.py --pictures FOLDER` leaves pictures of the page at three widths in both lights.
"""

from __future__ import annotations

import base64
import dataclasses
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

TREE = Path(__file__).absolute().parents[2]
sys.path.insert(0, str(TREE))

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from reports import html_report
from reports.record import Finding, Record
from tests.reports.hostile_records import hostile_record, huge_record
from tests.reports.realistic_record import fuzz_record, many_cases, realistic_baseline, realistic_record

_CHROMIUM = "/usr/bin/chromium"
_DRIVER = "/usr/bin/chromedriver"
_WIDTHS = (320, 360, 768, 1280)
_LIGHTS = ("light", "dark")
_FOLDED = "cuGetProcAddress_v2 \N{MULTIPLICATION SIGN} 100"
_MOST_MS = 3000  # to open, and to filter

# When two frames have been drawn, what was changed before can be seen.
_AFTER_TWO_FRAMES = (
    "const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done({})));"
)

_FILTER = """
const done = arguments[arguments.length - 1];
const input = document.getElementById("case-text");
const began = performance.now();
input.value = arguments[0];
input.dispatchEvent(new Event("input", {bubbles: true}));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
"""

# The ratio of contrast of an element's text and what is behind it, as WCAG computes it.
_CONTRAST = """
const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
  .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
  .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
const behind = (element) => {
  const back = parse(getComputedStyle(element).backgroundColor);
  return back[3] === 0 && element.parentElement ? behind(element.parentElement) : back;
};
const texts = [...document.querySelectorAll("body *")].filter((element) =>
  element.checkVisibility() && !element.closest("svg, canvas, .unseen")
  && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
return texts.map((element) => {
  const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
  return [(a + 0.05) / (b + 0.05), `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`];
}).filter(([ratio]) => ratio < 4.5);
"""


# What is wider than the element that hides the rest of it, and boxes that go on without a shadow at their edge.
_CUT = """
const hides = (element) => ["hidden", "clip"].includes(getComputedStyle(element).overflowX);
const wide = (element) => element.scrollWidth > element.clientWidth + 1;
const all = [...document.querySelectorAll("main *")]
  .filter((element) => element.checkVisibility() && !element.closest("svg, .unseen, nav, #lanes"));
const cut = all.filter((element) => hides(element) && wide(element));
const unmarked = all.filter((element) => element.matches(".box") && wide(element)
  && getComputedStyle(element).backgroundImage === "none");
const beyond = all.filter((element) => !element.closest(".box, pre")
  && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
return [...cut, ...unmarked, ...beyond].map((each) => `${each.tagName} ${each.className} ${each.textContent}`);
"""
_WIDE_BOXES = "return [...document.querySelectorAll('.box')].filter((box) => box.scrollWidth > box.clientWidth).length"


def _start_browser(scripts: bool = True) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    # Its own sandbox needs what a container does not give; the pages are ours.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    return webdriver.Chrome(options=options, service=Service(_DRIVER))


class BrowserTest(unittest.TestCase):
    browser: webdriver.Chrome
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        for program in (_CHROMIUM, _DRIVER):
            if not os.access(program, os.X_OK):
                raise AssertionError(f"there is no {program}; tools/setup --test installs it")
        cls.folder = tempfile.TemporaryDirectory()
        os.environ.setdefault("HOME", cls.folder.name)
        cls.browser = _start_browser()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self) -> None:
        self.look("light", 1280)
        self.addCleanup(self.expect_silence)

    def expect_silence(self) -> None:
        self.assertEqual([], self.browser.get_log("browser"))

    def look(self, light: str, width: int) -> None:
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [
            {"name": "prefers-color-scheme", "value": light},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, record: Record, baseline: Record | None = None) -> None:
        path = Path(self.folder.name) / "report.html"
        path.write_bytes(html_report.render(record, baseline))
        self.browser.get(path.as_uri())
        self.browser.execute_script("localStorage.clear()")
        self.wait_for("performance.getEntriesByName('holdfast-ready').length")
        self.settle()

    def opened_again(self) -> float:
        """How many milliseconds it takes until the page is whole. Other work on the machine makes it longer."""
        self.browser.refresh()
        self.wait_for("performance.getEntriesByName('holdfast-ready').length")
        self.settle()
        return float(self.script("return performance.getEntriesByName('holdfast-ready')[0].startTime"))

    def settle(self) -> None:
        self.browser.execute_async_script(_AFTER_TWO_FRAMES)

    def script(self, text: str, *arguments: Any) -> Any:
        return self.browser.execute_script(text, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def count(self, selector: str) -> int:
        return int(self.script("return document.querySelectorAll(arguments[0]).length", selector))

    def is_shown(self, selector: str) -> bool:
        """Also of what is folded away, which Selenium does not know of."""
        return bool(self.script("return document.querySelector(arguments[0]).checkVisibility()", selector))

    def wait_for(self, condition: str) -> None:
        WebDriverWait(self.browser, 20).until(lambda browser: browser.execute_script(f"return {condition}"))

    def press(self, *keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(*keys)
        self.settle()


class CasesTest(BrowserTest):
    def test_text_narrows_the_rows(self) -> None:
        self.open(realistic_record())
        self.assertEqual(36, self.count("#case-table tbody tr"))
        self.find("#case-text").send_keys("NODES-COME")
        self.assertEqual(3, self.count("#case-table tbody tr"))
        self.assertEqual("3 of 36 cases match", self.find("#case-status").text)
        self.find("#case-text").send_keys(" nothing")
        self.assertEqual(0, self.count("#case-table tbody tr"))

    def test_verdicts_narrow_the_rows(self) -> None:
        self.open(realistic_record())
        self.find('#case-verdicts input[value="passed"]').click()
        self.assertEqual(6, self.count("#case-table tbody tr"))
        self.find('#case-verdicts input[value="failed"]').send_keys(Keys.SPACE)
        self.assertEqual(2, self.count("#case-table tbody tr"))

    def test_headings_sort(self) -> None:
        self.open(realistic_record())
        cells = "document.querySelectorAll('#case-table tbody td:nth-child(5)')"
        durations = f"return [...{cells}].map((cell) => parseFloat(cell.textContent))"
        self.find("#case-table th:nth-child(5) button").click()
        self.assertEqual(sorted(self.script(durations)), self.script(durations))
        self.find("#case-table th:nth-child(5) button").send_keys(Keys.ENTER)
        self.assertEqual(sorted(self.script(durations), reverse=True), self.script(durations))
        self.assertEqual("descending", self.find("#case-table th:nth-child(5)").get_attribute("aria-sort"))

    def test_a_hundred_thousand_cases_open_and_filter_in_time(self) -> None:
        self.open(many_cases(100_000), many_cases(100_000, every=1500))
        opened = min(self.opened_again() for _ in range(3))
        self.assertEqual(200, self.count("#case-table tbody tr"))
        self.assertIn("99,800 more", self.find("#case-more").text)
        times = [self.browser.execute_async_script(_FILTER, text) for text in ("a", "python-fork/held", "sh.", "")]
        self.find("#case-more").click()
        self.assertEqual(400, self.count("#case-table tbody tr"))
        print(f"100,000 cases: open {opened:.0f} ms, filter {max(times):.0f} ms at most", file=sys.stderr)
        self.assertLess(opened, _MOST_MS)
        self.assertLess(max(times), _MOST_MS)


class FindingsTest(BrowserTest):
    def test_a_finding_opens_by_keyboard(self) -> None:
        self.open(realistic_record())
        self.assertFalse(self.is_shown(".finding pre"))
        self.script("document.querySelector('.finding summary').focus()")
        self.press(Keys.ENTER)
        self.assertTrue(self.is_shown(".finding pre"))
        self.assertIn("waiting for the release", self.find(".finding pre").text)
        self.press(Keys.SPACE)
        self.assertFalse(self.is_shown(".finding pre"))

    def test_text_narrows_the_findings(self) -> None:
        self.open(realistic_record())
        self.find("#finding-text").send_keys("sigabrt")
        self.assertEqual(1, self.count("article.finding:not([hidden])"))
        self.assertEqual("1 of 3 findings match", self.find("#finding-status").text)

    def test_a_case_leads_to_its_finding(self) -> None:
        self.open(realistic_record())
        self.find("#case-table tbody a").click()
        self.wait_for("document.querySelector('.finding details').open")

    def test_a_finding_leads_to_its_timeline(self) -> None:
        self.open(realistic_record())
        crash = self.browser.find_elements(By.CSS_SELECTOR, "article.finding")[2]
        crash.find_element(By.CSS_SELECTOR, "summary").click()
        crash.find_element(By.CSS_SELECTOR, "[data-timeline]").click()
        chosen = Select(self.find("#timeline-case")).first_selected_option.text
        self.assertEqual("EM.moved-graph-keeps-its-handles/held (failed)", chosen)
        self.assertEqual("lanes", self.script("return document.activeElement.id"))

    def test_what_is_known_of_the_run_is_folded_and_a_link_unfolds_it(self) -> None:
        self.open(realistic_record())
        self.assertFalse(self.is_shown("#about dl"))
        top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
        self.assertLess(self.script(top, "article.finding"), 900)
        self.find('nav a[href="#about"]').send_keys(Keys.ENTER)
        self.wait_for("document.querySelector('#about dl').checkVisibility()")

    def test_a_sequence_of_the_fuzzer_is_seen_with_its_finding(self) -> None:
        self.open(fuzz_record())
        self.assertIn("0 clone g6 g2", self.find("article.finding pre").text)
        self.assertIn("before it was made short", self.find("#timeline-about").text)


class TimelineTest(BrowserTest):
    def marks(self) -> int:
        """How many moments are in the picture, folded ones as one."""
        return int(
            self.script(
                "return new Set([...document.querySelectorAll('#lanes [data-moment]')]"
                ".map((each) => each.dataset.moment)).size"
            )
        )

    def test_there_is_a_lane_a_thread_and_a_line_where_the_contract_broke(self) -> None:
        self.open(realistic_record())
        lanes = self.script("return [...document.querySelectorAll('#lanes text.lane')].map(x => x.firstChild.data)")
        self.assertEqual({"main", "subject-0", "subject-1", "callback-0", "callback-1"}, set(lanes))
        self.assertEqual(1, self.count("#lanes .rule.finding"))
        self.assertEqual(3, self.count("#plots canvas"))

    def test_it_opens_on_the_finding_and_shows_the_whole_when_asked(self) -> None:
        self.open(realistic_record())
        self.assertIn("finding contract", self.find("#moment").text)
        self.assertEqual(1, self.count("#lanes .dot-finding.chosen"))
        near = self.marks()
        self.assertEqual(0, self.count("#lanes .cuts"))
        self.find('[data-view="whole"]').send_keys(Keys.ENTER)
        self.settle()
        self.assertGreater(self.marks(), 2 * near)
        self.find('[data-view="finding"]').send_keys(Keys.ENTER)
        self.settle()
        self.assertEqual(near, self.marks())

    def test_each_finding_of_a_case_has_its_place(self) -> None:
        record = realistic_record()
        case = record.cases[0]
        case = dataclasses.replace(case, findings=(*case.findings, Finding("crash", "it was ended by SIGSEGV")))
        self.open(dataclasses.replace(record, cases=(case,)))
        picker = Select(self.find("#timeline-finding"))
        self.assertEqual(2, len(picker.options))
        picker.select_by_index(1)
        self.settle()
        self.assertIn("did not note the moment", self.find("#timeline-about").text)
        self.assertIn("SIGSEGV", self.find("#timeline-about").text)

    def test_red_is_only_what_the_finding_is_about(self) -> None:
        self.open(realistic_record())
        self.assertIn("which may be right: object", self.find("#plots .help").text)
        self.assertNotIn("in red", self.find("#plots .help").text)
        Select(self.find("#timeline-case")).select_by_visible_text("CL.failed-clone-leaves-nothing/inline (failed)")
        self.settle()
        self.assertIn("in red: object", self.find("#plots .help").text)

    def test_equal_calls_in_a_row_are_one_until_they_are_unfolded(self) -> None:
        self.open(realistic_record())
        self.find('[data-view="whole"]').click()
        self.script("document.getElementById('lanes').focus()")
        self.press("0")
        folded = self.marks()
        self.assertEqual(1, self.count("#lanes .cuts"))
        self.assertIn("100 \N{MULTIPLICATION SIGN} GetProc", self.find("#lanes").text)
        self.browser.execute_script(
            "document.querySelector('#lanes .cuts').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
        )
        self.assertIn(_FOLDED, self.find("#moment").text)
        for _ in range(folded):
            self.press("p")
        self.assertIn(_FOLDED, self.find("#moment").text)
        self.press(Keys.ENTER)
        self.press("0")
        self.assertEqual(folded + 99, self.marks())
        self.press(Keys.ENTER)
        self.press("0")
        self.assertEqual(folded, self.marks())

    def test_steps_are_even_or_true_to_time(self) -> None:
        self.open(realistic_record())
        widths = "return [...document.querySelectorAll('#lanes rect.bar-call')].map(x => x.getBBox().width)"
        even = self.script(widths)
        self.find("#timeline-even").send_keys(Keys.SPACE)
        self.settle()
        true = self.script(widths)
        self.assertGreater(min(even), 2 * min(true))

    def test_the_keyboard_zooms_moves_and_steps(self) -> None:
        self.open(realistic_record())
        self.script("document.getElementById('lanes').focus()")
        self.press("0")
        whole = self.marks()
        self.press("+")
        self.press("+")
        self.assertLess(self.marks(), whole)
        before = self.script("return document.querySelector('#lanes [data-moment]').dataset.moment")
        self.press(Keys.ARROW_LEFT)
        self.assertNotEqual(before, self.script("return document.querySelector('#lanes [data-moment]').dataset.moment"))
        self.press("p")
        first = self.find("#moment").text
        self.press("p")
        self.assertNotEqual(first, self.find("#moment").text)
        self.assertEqual(1, self.count("#lanes .chosen"))
        self.press("f")
        self.assertIn("finding", self.find("#moment").text)
        self.press("0")
        self.assertEqual(whole, self.marks())

    def test_the_moments_stand_in_a_table_too(self) -> None:
        self.open(realistic_record())
        self.find("#moments summary").send_keys(Keys.ENTER)
        self.wait_for("document.querySelector('#moments table')")
        self.assertEqual(200, self.count("#moments tbody tr"))
        self.find("#moments p button").click()
        self.assertGreater(self.count("#moments tbody tr"), 200)
        names = (
            "return [...document.querySelectorAll('#moments tbody td:nth-child(4)')].map((cell) => cell.textContent)"
        )
        self.assertEqual([_FOLDED, "cuInit"], self.script(names)[:2])
        self.find("#moments button.unfold").send_keys(Keys.ENTER)
        self.assertEqual(["cuGetProcAddress_v2"] * 100 + ["cuInit"], self.script(names)[:101])

    def test_without_the_charting_library_there_are_tables(self) -> None:
        with mock.patch.object(html_report, "LIBRARY_PLACES", ()):
            self.open(realistic_record())
        self.assertEqual(0, self.count("canvas"))
        self.assertTrue(self.find("#no-charts").is_displayed())
        self.assertIn("object 17", self.find("#plots table").text)


class LookTest(BrowserTest):
    def test_the_theme_is_the_systems_until_it_is_chosen(self) -> None:
        self.look("dark", 1280)
        self.open(realistic_record())
        back = "return getComputedStyle(document.body).backgroundColor"
        dark = self.script(back)
        self.find("#theme").send_keys(Keys.ENTER)
        self.settle()
        light = self.script(back)
        self.assertNotEqual(dark, light)
        self.browser.refresh()
        self.assertEqual(light, self.script(back))

    def test_no_width_makes_the_page_scroll_sideways(self) -> None:
        for record in (realistic_record(), hostile_record()):
            for width in _WIDTHS:
                with self.subTest(width=width):
                    self.look("light", width)
                    self.open(record, realistic_baseline())
                    self.script("for (const each of document.querySelectorAll('details')) each.open = true")
                    self.settle()
                    self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width)

    def test_nothing_is_cut_in_a_narrow_window(self) -> None:
        for width in (360, 768):
            with self.subTest(width=width):
                self.look("light", width)
                self.open(realistic_record(), realistic_baseline())
                self.script("for (const each of document.querySelectorAll('details')) each.open = true")
                self.settle()
                self.assertEqual([], self.script(_CUT))
                self.assertGreater(self.script(_WIDE_BOXES), 0)

    def test_words_are_explained_by_pointer_and_by_keyboard(self) -> None:
        self.open(realistic_record())
        word = '#legend [data-term="drain"]'
        self.script("document.querySelector(arguments[0]).focus()", word)
        self.assertIn("The queue is worked off", self.find("#tip").text)
        self.assertEqual("tip", self.find(word).get_attribute("aria-describedby"))
        self.press(Keys.ESCAPE)
        self.assertFalse(self.is_shown("#tip"))
        ActionChains(self.browser).move_to_element(self.find('#case-table [data-term="variant"]')).perform()
        self.assertIn("circumstances", self.find("#tip").text)
        self.find('.tile [data-term="skipped"]').send_keys(Keys.ENTER)
        self.wait_for("document.getElementById('word-skipped').checkVisibility()")

    def test_text_stands_out_in_both_lights(self) -> None:
        for light in _LIGHTS:
            with self.subTest(light=light):
                self.look(light, 1280)
                self.open(realistic_record(), realistic_baseline())
                self.script("for (const each of document.querySelectorAll('details')) each.open = true")
                self.settle()
                self.assertEqual([], self.script(_CONTRAST))

    def test_it_prints_with_everything_unfolded(self) -> None:
        self.open(realistic_record())
        paper = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertGreater(len(paper), 20_000)
        self.assertEqual(0, self.count("article.finding details[open]"))


class SafetyTest(BrowserTest):
    def test_hostile_text_runs_nothing(self) -> None:
        self.open(hostile_record(), realistic_baseline())
        self.script("for (const each of document.querySelectorAll('details')) each.open = true")
        self.find("#case-text").send_keys("<script>")
        self.assertEqual(36, self.count("#case-table tbody tr"))
        picker = Select(self.find("#timeline-case"))
        for index in range(len(picker.options)):
            picker.select_by_index(index)
        self.settle()
        self.assertIsNone(self.script("return window.hacked ?? null"))
        self.assertEqual(0, self.count("img"))

    def test_a_huge_page_opens(self) -> None:
        self.open(huge_record(2_000))
        opened = self.script("return performance.getEntriesByName('holdfast-ready')[0].startTime")
        print(f"a huge page: open {opened:.0f} ms", file=sys.stderr)
        self.assertGreater(self.count("article.finding"), 1000)

    def test_without_scripts_the_findings_can_be_read(self) -> None:
        browser = _start_browser(scripts=False)
        self.addCleanup(browser.quit)
        path = Path(self.folder.name) / "plain.html"
        path.write_bytes(html_report.render(realistic_record()))
        browser.get(path.as_uri())
        body = browser.find_element(By.TAG_NAME, "body").text
        self.assertIn("3 findings in 4 of 36 cases", body)
        self.assertIn("scripts are off", body)
        self.assertNotIn("Zoom in", body)
        summary = browser.find_element(By.CSS_SELECTOR, ".finding summary")
        summary.send_keys(Keys.ENTER)
        self.assertIn("--bug=old-reference-never-released", browser.find_element(By.TAG_NAME, "body").text)


def _take_pictures(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    BrowserTest.setUpClass()
    test = BrowserTest()
    for width in _WIDTHS:
        for light in _LIGHTS:
            test.look(light, width)
            test.open(realistic_record(), realistic_baseline())
            test.script("document.querySelector('.finding details').open = true")
            test.settle()
            height = test.script("return document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
            picture = test.browser.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
            )
            (folder / f"report-{width}-{light}.png").write_bytes(base64.b64decode(picture["data"]))
    BrowserTest.doClassCleanups()


if __name__ == "__main__":
    if "--pictures" in sys.argv:
        _take_pictures(Path(sys.argv[sys.argv.index("--pictures") + 1]))
    else:
        unittest.main()
