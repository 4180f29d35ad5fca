"""The page in a real browser: what can be seen, read aloud and reached by keyboard, and that it follows each move."""

import asyncio
import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.page.world import FIRST, SITUATIONS, come_to, world
from tests.store_server import StoreServer

# What looks again by the clock is switched off: only what is told can change the page.
NO_CLOCK = "window.setInterval = () => 0;"
WIDTHS = (375, 1440)
NARROW = "document.documentElement.scrollWidth <= window.innerWidth"
OPENED = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
# Of all but the key to the bar's colours.
COLOURS = """[...document.querySelectorAll('.top *, main *')].flatMap((one) => {
  const style = getComputedStyle(one);
  return [style.color, style.backgroundColor, style.fill];
})"""


async def looked_at(look: Callable[[], None]) -> None:
    """Look in a thread: meanwhile the door goes on here."""
    await asyncio.to_thread(look)


def greenish(colour: str) -> bool:
    """Whether a colour is more green than anything else, by far."""
    found = re.match(r"rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)", colour)
    if found is None or found[4] == "0":
        return False
    red, green, blue = (int(found[i]) for i in (1, 2, 3))
    return green > red + 25 and green > blue + 15


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_a_situation_is_understood_in_any_width_and_light_and_nobody_is_left_out(
    browser: Browser, server: StoreServer, situation: str
) -> None:
    """375 and 1440 pixels, light and dark: the sentence, nothing cut off, nothing that axe-core objects to."""
    async with world(server) as made:
        await come_to(made, situation)

        def look() -> None:
            for width in WIDTHS:
                for dark in (False, True):
                    with browser.page(made.url, width=width, dark=dark) as page:
                        page.says(SITUATIONS[situation])
                        page.run(OPENED)
                        assert page.run(NARROW), (width, dark)
                        assert page.violations() == [], (width, dark)

        await looked_at(look)


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_what_is_old_is_never_green_and_what_is_well_is(
    browser: Browser, server: StoreServer, situation: str
) -> None:
    async with world(server) as made:
        await come_to(made, situation)

        def look() -> None:
            for dark in (False, True):
                with browser.page(made.url, dark=dark) as page:
                    page.says(SITUATIONS[situation])
                    assert any(map(greenish, page.run(COLOURS))) is (situation != "store gone")

        await looked_at(look)


@pytest.mark.parametrize("width", WIDTHS)
async def test_without_script_it_says_the_same_and_looks_again_by_itself(
    browser: Browser, server: StoreServer, width: int
) -> None:
    async with world(server) as made:
        await come_to(made, "backup")

        def look() -> None:
            with browser.page(made.url, width=width, scripts=False) as page:
                page.says(SITUATIONS["backup"])
                page.says("was taken out, failing")
                page.until(NARROW)  # not `run`: it may just be loading anew
                page.until("document.querySelector('meta[http-equiv=refresh]').content === '5'")
                page.until("document.querySelectorAll('.slot title').length === 360")
                page.until("document.getElementById('live').hidden")

        await looked_at(look)


async def test_a_move_appears_without_reloading(browser: Browser, server: StoreServer) -> None:
    """By what the server tells alone, within what a busy machine needs for it."""
    async with world(server) as made:
        loop = asyncio.get_running_loop()

        def look() -> None:
            with browser.page(made.url, first=NO_CLOCK) as page:
                page.says("Live")
                page.run("document.body.dataset.same = 'yes'")
                asyncio.run_coroutine_threadsafe(made.answers(FIRST, good=False, times=2), loop).result(30)
                page.says("aurora/swift-1 was taken out, failing")
                page.says(SITUATIONS["backup"])
                assert page.run("document.body.dataset.same") == "yes"
                assert page.run("document.title").startswith("coder is on its backup")
                assert SITUATIONS["backup"] in page.run("document.getElementById('said').textContent")

        await looked_at(look)


async def test_a_page_whose_service_is_gone_says_so_and_loses_its_colours(
    browser: Browser, server: StoreServer
) -> None:
    """Twenty seconds pass in the page alone."""
    later = "const real = Date.now; window.ahead = 0; Date.now = () => real() + window.ahead;"
    with contextlib.ExitStack() as stack:
        async with world(server) as made:
            page = await asyncio.to_thread(stack.enter_context, browser.page(made.url, first=later))
            await asyncio.to_thread(page.says, "Live")
            before = await asyncio.to_thread(page.run, COLOURS)

        page.call("Runtime.evaluate", expression="window.ahead = 20_000")
        page.says("No connection to Firstbyte since")
        page.until("document.querySelector('main').className === 'stale'")
        page.until("document.title.startsWith('Not connected')")

        assert any(greenish(colour) for colour in before)
        assert not any(greenish(colour) for colour in page.run(COLOURS))


async def test_a_page_that_was_cut_off_for_a_while_says_that_it_is_live_again(
    browser: Browser, server: StoreServer
) -> None:
    """What it fetches comes to nothing for twenty seconds, which pass in the page alone; its stream goes on."""
    cut = """
        const real = Date.now; window.ahead = 0; Date.now = () => real() + window.ahead;
        const fetched = window.fetch; window.cut = false;
        window.fetch = (...what) => window.cut ? Promise.reject(new TypeError("cut off")) : fetched(...what);
    """
    async with world(server) as made:

        def look() -> None:
            with browser.page(made.url, first=cut) as page:
                page.says("Live")
                page.call("Runtime.evaluate", expression="window.cut = true; window.ahead = 20_000")
                page.says("No connection to Firstbyte since")
                page.call("Runtime.evaluate", expression="window.cut = false")
                page.says(SITUATIONS["well"])
                page.says("Live")

        await looked_at(look)


async def test_no_figure_is_broken_over_lines_at_any_width(browser: Browser, server: StoreServer) -> None:
    figures = "'.figures dt, .figures dd, .day figcaption span:last-child'"
    lines = f"[...document.querySelectorAll({figures})].map((one) => one.firstChild).map((text) => {{"
    lines += (
        "const range = document.createRange(); range.selectNodeContents(text); return range.getClientRects().length; })"
    )
    async with world(server) as made:
        await made.answers(FIRST, good=True)

        def look() -> None:
            for width in (320, 375, 500, 780, 800, 900, 970, 1000, 1152, 1160, 1440):
                with browser.page(made.url, width=width) as page:
                    page.says("p95 in")
                    assert set(page.run(lines)) == {1}, width

        await looked_at(look)


@pytest.mark.parametrize("width", [320, 375, 600, 768, 1440])
async def test_a_plots_words_are_never_larger_than_the_figures_beside_it(
    browser: Browser, server: StoreServer, width: int
) -> None:
    larger = """(() => {
      const high = (one) => one.getBoundingClientRect().height;
      const words = [...document.querySelectorAll('.plot text')].map(high);
      return Math.max(...words) > high(document.querySelector('.figures dd .quiet'));
    })()"""
    async with world(server) as made:
        await made.answers(FIRST, good=True)

        def look() -> None:
            with browser.page(made.url, width=width) as page:
                page.says("p95 in")
                page.until("document.querySelectorAll('.plot text').length > 0")
                assert not page.run(larger)

        await looked_at(look)


async def test_a_slot_tells_what_happened_to_pointer_and_keyboard(browser: Browser, server: StoreServer) -> None:
    async with world(server) as made:
        await made.answers(FIRST, good=False)

        def look() -> None:
            with browser.page(made.url, first=NO_CLOCK) as page:
                page.says("Live")
                page.point("[data-part=target-0] .slot:last-child .hit")
                page.until("!document.getElementById('tip').hidden")
                told = page.run("document.getElementById('tip').textContent")
                assert re.search(r"^\d\d:\d\d to \d\d:\d\d UTC: 2 probes \(1 failed\); http error", told), told

                page.run("document.querySelector('summary').focus()")
                for _ in range(20):
                    page.press("Tab")
                    if page.run("document.activeElement.matches('.day')"):
                        break
                page.press("ArrowLeft")
                page.until("document.getElementById('tip').textContent.endsWith('no answers')")
                page.press("End")
                page.until("document.getElementById('tip').textContent.includes('probe')")
                assert page.run("document.getElementById('said').textContent").startswith(told[:5])
                page.press("Escape")
                page.until("document.getElementById('tip').hidden")

        await looked_at(look)


async def test_what_is_open_and_has_the_focus_stays_so_when_the_page_is_drawn_anew(
    browser: Browser, server: StoreServer
) -> None:
    async with world(server) as made:
        await made.answers(FIRST, good=False)
        loop = asyncio.get_running_loop()

        def look() -> None:
            with browser.page(made.url, first=NO_CLOCK) as page:
                page.says("Live")
                page.run("document.querySelector('[data-part=target-0] summary').click()")
                page.run("document.querySelector('[data-part=target-0] summary').focus()")
                asyncio.run_coroutine_threadsafe(made.answers(FIRST, good=False), loop).result(30)
                page.says("was taken out, failing")
                assert page.run("document.querySelector('[data-part=target-0] details').open")
                assert page.run("document.activeElement.closest('[data-part]')?.dataset.part") == "target-0"

        await looked_at(look)


async def test_it_loads_nothing_from_elsewhere_and_nothing_is_refused(browser: Browser, server: StoreServer) -> None:
    """What its own policy of content forbids would be a complaint."""
    browser.requests.clear()
    browser.complaints.clear()
    async with world(server) as made:

        def look() -> None:
            with browser.page(made.url) as page:
                page.says("Live")
                page.point(".slot:last-child .hit")
                page.until("!document.getElementById('tip').hidden")

        await looked_at(look)

    asked = {url for url in browser.requests if not url.startswith(("about:", "data:"))}
    assert asked <= {f"{made.url}/", f"{made.url}/events"}, asked
    assert browser.complaints == []


def test_the_files_of_the_page_come_with_the_package() -> None:
    folder = Path(__file__).parents[2] / "breaker" / "api" / "page"

    assert {file.name for file in folder.iterdir() if file.suffix in (".html", ".css", ".js")} == {
        "page.html",
        "page.css",
        "page.js",
    }


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_reference_can_be_read_and_tried(browser: Browser, server: StoreServer, width: int) -> None:
    browser.requests.clear()
    browser.complaints.clear()
    async with world(server) as made:

        def look() -> None:
            for dark in (False, True):
                with browser.page(f"{made.url}/docs", width=width, dark=dark) as page:
                    page.run(OPENED)
                    assert page.run(NARROW)
                    assert page.violations() == [], dark
                    assert page.run("document.querySelector('[data-here]').textContent") == made.url
                    room = "Math.min(...[...document.querySelectorAll('.fields dd')].map((one) => one.clientWidth))"
                    assert page.run(room) > 100  # in the innermost object, too, "number" isn't broken over lines
            with browser.page(f"{made.url}/docs", width=width) as page:
                page.run("document.querySelector('#get-route-route').value = 'writer'")
                page.run("document.querySelector('#get-route button').click()")
                page.says('"route": "writer"')
                assert page.run("location.search") == "?route=writer"

        await looked_at(look)

    assert {url for url in browser.requests if not url.startswith(("about:", "data:", made.url))} == set()
    assert browser.complaints == []
