"""The report page in a real browser: Debian's chromium, headless, driven by Playwright."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from made_up_reports import COMMAND, HOSTILE_CELL, HOSTILE_NAME, comparison, frame, report_of
from toprank.workflow.writing.page import comparison_page_of, page_summary, ranking_page_of

# A browser on a busy machine may miss its time.
pytestmark = pytest.mark.wall_clock
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("TOPRANK_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("there is no chromium: apt-get install chromium", allow_module_level=True)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
SLOW = 60_000  # milliseconds; nothing waits that long unless it hangs


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=SLOW)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def report():
    return report_of(frame(hostile=True), group=True)


@pytest.fixture(scope="module")
def file(folder, report):
    path = folder / "report.html"
    path.write_bytes(ranking_page_of(report, COMMAND))
    return path


@pytest.fixture
def visit(browser):
    """Open a page; afterwards there must have been no error, no dialogue and no request but for the file."""
    contexts, wrong = [], []

    def open_page(path, *, expected=1, **options):
        context = browser.new_context(**{"viewport": DESK, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SLOW)
        requests = []
        page.on("console", lambda said: wrong.append(said.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        assert requests == [path.as_uri()]
        page.on("request", lambda request: wrong.append(request.url))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def _column(page, part):
    return page.locator(f"#items tbody tr[data-row] .part-{part}").all_inner_texts()


def _wait_for(page, words):
    """Until the search, which waits for the reader to stop typing, is done."""
    sync_api.expect(page.locator("#where")).to_contain_text(words, timeout=SLOW)


def _numbers(texts):
    return [int(re.sub(r"[^0-9]", "", text)) for text in texts]


def test_the_list_sorts_filters_and_turns_pages(visit, file, report):
    page = visit(file)
    listing = report.listing
    assert _numbers(_column(page, "rank")) == list(range(1, 26))
    page.click("#after")
    assert _numbers(_column(page, "rank")) == list(range(26, 51))

    page.click("#items thead .part-score button")  # scores fall first: the order of the list
    assert _numbers(_column(page, "rank"))[:3] == [1, 2, 3]
    page.click("#items thead .part-score button")
    assert page.get_attribute("#items thead .part-score", "aria-sort") == "ascending"
    assert _numbers(_column(page, "rank")) == list(range(300, 275, -1))

    page.click("#items thead .part-moved button")
    moved = (listing["logistic_rank"] - listing["rank"]).to_numpy()
    expected = listing["rank"].to_numpy()[np.argsort(-moved, kind="stable")][:25]
    assert _numbers(_column(page, "rank")) == expected.tolist()

    page.fill("#search", "p00001")
    _wait_for(page, "10 of 300")
    assert sorted(text[:7] for text in _column(page, "item")) == [f"P0000{k}" for k in range(10, 20)]
    page.fill("#search", "nowhere")
    _wait_for(page, "nothing found")
    page.fill("#search", "")
    _wait_for(page, "300 items")
    page.check("#within")
    page.select_option("#size", "100")
    assert sorted(_numbers(_column(page, "rank"))) == list(range(1, 51))


def test_why_an_item_is_there(visit, file, report):
    page = visit(file)
    opener = page.locator("#items .opener").first
    opener.focus()
    page.keyboard.press("Enter")  # by keyboard alone
    page.wait_for_selector("tr.details")
    shown = page.locator("tr.details table tbody tr").all_inner_texts()
    assert [text.split("\t")[0] for text in shown] == [column for column, _, _ in report.reasons.parts[0]]
    assert opener.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Enter")
    assert page.locator("tr.details").count() == 0
    page.click("#choose summary")
    page.get_by_label("b", exact=True).check()
    heads = page.locator("#items thead th").all_inner_texts()
    assert [head.removesuffix(" ▲") for head in heads] == [
        *("rank", "code", "score", "moved", "in first 50", "y", "why", "b")
    ]


def _hits(report, k, name):
    """Hits among the first k of each held-out list, counted one by one."""
    found = []
    for split in report.held_out.splits:
        order = sorted(range(len(split.y)), key=lambda i: (-split.scores[name][i], split.y[i]))
        found.append(sum(int(split.y[i]) for i in order[:k]))
    return found


def test_moving_the_cut_off_changes_the_figures(visit, file, report):
    page = visit(file)
    lines = {line.k: line for line in report.held_out.hits}
    for k in (10, 50, 100):
        page.fill("#cut-number", str(k))
        sentence = page.inner_text("#cut-sentence")
        low, high = lines[k].interval("rerank")
        low_logistic, high_logistic = lines[k].interval("logistic")
        ours = _hits(report, k, "rerank")
        assert sentence == (
            f"If you inspect the first {k} you find {low} to {high} hits, {np.mean(ours):.1f} on average;"
            f" by chance {lines[k].chance:.1f}; by logistic regression {low_logistic} to {high_logistic}."
        )
        assert f"That is {100 * np.mean(ours) / k:.3g} % of the items inspected" in page.inner_text(
            "#cut-more"
        )
        first = report.listing.head(k)["y"].sum()
        assert f"the first {k} hold {first}." in page.inner_text("#cut-more")
    page.focus("#cut-range")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#cut-sentence").startswith("If you inspect the first 99 you find")
    assert page.get_attribute("#cut-range", "aria-valuetext") == "first 99"
    assert page.input_value("#cut-number") == "99"


def test_money(visit, file, report):
    page = visit(file)
    page.fill("#cut-number", "50")
    page.fill("#cost", "10")
    page.fill("#gain", "25.5")
    line = next(one for one in report.held_out.hits if one.k == 50)
    low, high = (25.5 * hits - 500 for hits in line.interval("rerank"))
    said = page.inner_text("#money")
    assert f"What is left after the cost: {_money(low)} to {_money(high)}; by chance" in said
    curve = page_summary(report)["held_out"]["cut_offs"]
    best = max(
        range(len(curve["k"])),
        key=lambda i: 25.5 * curve["rankers"]["rerank"]["mean"][i] - 10 * curve["k"][i],
    )
    assert f"Most is left with the first {curve['k'][best]}:" in said
    page.fill("#cost", "")
    assert "Type what an inspection costs" in page.inner_text("#money")


def _money(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")


def test_hostile_strings_stay_text(visit, file):
    page = visit(file)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert HOSTILE_CELL in _column(page, "item")[0]
    page.locator("#items .opener").first.click()
    assert HOSTILE_NAME in page.inner_text("tr.details")
    page.click("#choose summary")
    assert HOSTILE_NAME in page.inner_text("#columns")
    assert HOSTILE_NAME in page.inner_text("section[aria-labelledby=counts]")


def test_what_is_not_the_pages_own_does_not_run(browser, folder, file):
    """The policy holds: markup slipped into the page is dead."""
    slipped = folder / "slipped.html"
    evil = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    slipped.write_text(file.read_text().replace('<main id="main">', f'<main id="main">{evil}'))
    page = browser.new_page()
    page.goto(slipped.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached", timeout=SLOW)
    assert page.title() == "items.csv, ranked"
    page.close()


def test_charts_show_the_top_first_and_follow_the_cut_off(visit, file):
    page = visit(file)
    assert page.locator("#curve-charts canvas").count() == 5
    assert page.locator("#search-chart canvas").count() == 1
    page.fill("#cut-number", "20")
    label = page.locator("#curve-charts .plot").first.get_attribute("aria-label")
    assert label.startswith("Hits. first 20: chance ")
    before = page.locator("#curve-charts canvas").first.evaluate("canvas => canvas.toDataURL()")
    page.click("#show-all")
    assert page.get_attribute("#show-all", "aria-pressed") == "true"
    page.wait_for_function(
        "before => document.querySelector('#curve-charts canvas').toDataURL() !== before", arg=before
    )
    page.click("#theme")
    assert page.inner_text("#theme") == "Light colours"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_cut_off_on_a_phone(visit, file, theme):
    page = visit(file, viewport=PHONE, color_scheme=theme)
    page.locator("#items .opener").first.click()
    sticking_out = page.evaluate(
        """() => [...document.querySelectorAll('main *, header *')]
            .filter((one) => !one.closest('.wide, .plot, .skip, .hidden, svg'))
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert sticking_out == []
    scrolled = page.evaluate(
        """() => [...document.querySelectorAll('.wide')]
            .filter((one) => one.scrollWidth > one.clientWidth + 1)
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert scrolled == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_paper_gets_the_items_within_the_budget_in_dark_on_white(visit, file):
    page = visit(file, color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(_column(page, "rank")) == 50
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(_column(page, "rank")) == 25
    assert page.evaluate("document.documentElement.dataset.theme") is None


@pytest.mark.parametrize(
    "options",
    [
        {"delivered": "logistic"},
        {"splits": 0},
        {"splits": 0, "unseen": True},
        {"splits": 2, "interrupted": True},
        {"budget": 10, "qid": True},
    ],
    ids=str,
)
def test_other_runs_open_too(visit, folder, options):
    path = folder / "other.html"
    report = report_of(frame(), **options)
    path.write_bytes(ranking_page_of(report))
    page = visit(path)
    assert len(_column(page, "rank")) == 25
    said = page.inner_text("#cut-sentence") if page.locator("#cut-sentence").count() else ""
    if options.get("unseen"):
        assert said == ""
    elif options.get("splits") == 0:
        assert said.startswith(
            f"The first 50 of the items listed here hold {report.found.ours} hits; by chance"
        )
    elif options.get("splits") == 2:
        mean = np.mean(_hits(report, 50, "rerank"))
        assert said.startswith(f"If you inspect the first 50 you find {mean:.1f} hits; by chance")
    elif options.get("qid"):
        assert said.startswith("If you inspect the first 10 of each query you find")
    else:
        assert "logistic regression" not in said


def test_a_hundred_thousand_rows_are_usable(visit, folder, capsys):
    path = folder / "large.html"
    report = report_of(frame(100_000), splits=3, delivered="logistic")
    path.write_bytes(ranking_page_of(report))
    page = visit(path)
    ready = page.evaluate("Number(document.documentElement.dataset.ready)")
    took = {}
    for what, act, done in (
        (
            "sorted by a column of words",
            "#items thead .part-item button",
            "#items thead .part-item[aria-sort]",
        ),
        ("turned the page", "#after", "#before:not([disabled])"),
    ):
        took[what] = page.evaluate(
            """(act) => {
                const began = performance.now();
                document.querySelector(act).click();
                return performance.now() - began;
            }""",
            act,
        )
        page.wait_for_selector(done)
    page.fill("#search", "P099999")
    _wait_for(page, "1 of 100,000")
    assert _column(page, "item") == ["P099999"]
    with capsys.disabled():
        rest = ", ".join(f"{what} in {milliseconds:.0f} ms" for what, milliseconds in took.items())
        size = path.stat().st_size / 1e6
        print(f"\n100,000 rows, {size:.1f} MB: first interaction after {ready:.0f} ms, {rest}")


AXE = os.environ.get("TOPRANK_AXE") or str(
    Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
)


@pytest.mark.skipif(not Path(AXE).is_file(), reason="axe-core is not there: npm install --no-save axe-core")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["ranking", "comparison"])
def test_an_accessibility_checker_finds_nothing_serious(visit, folder, file, kind, theme):
    if kind == "comparison":
        file = folder / "comparison.html"
        file.write_bytes(comparison_page_of(comparison()))
    page = visit(file, color_scheme=theme)
    for opener in page.locator("#items .opener").all()[:1]:
        opener.click()
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert len(found["passes"]) > 10
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert not serious, json.dumps(
        [(one["id"], [n["html"] for n in one["nodes"]]) for one in serious], indent=1
    )
