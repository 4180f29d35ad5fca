"""A real browser without a window, spoken to over the pipe of its own protocol."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

# A busy machine takes long to start a browser, and to draw.
PATIENT_S = 60.0
_WORDS = """
    --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --disable-extensions --force-device-scale-factor=1
    --remote-debugging-pipe
"""


Words = dict[str, Any]


class Browser:
    """A running browser. Its calls block: beside an event loop they belong into a thread."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process = process
        self._write = write
        self._read = read
        self._number = 0
        self._unread = b""
        self._replies: dict[int, Words] = {}
        self.requests: list[str] = []  # the addresses of all that pages asked for
        self.complaints: list[str] = []  # what pages wrote to the console, and what they failed in

    def call(self, method: str, session: str | None = None, **words: Any) -> Words:
        """The result of a command of the protocol."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": words} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        deadline = time.monotonic() + PATIENT_S
        while self._number not in self._replies:
            self._hear(deadline)
        reply = self._replies.pop(self._number)
        assert "error" not in reply, (method, reply["error"])
        result: Words = reply["result"]
        return result

    @contextlib.contextmanager
    def page(
        self, url: str, *, width: int = 1440, dark: bool = False, scripts: bool = True, first: str = ""
    ) -> Iterator["Page"]:
        """A page of its own, without anybody's cookies; `first` is a script that runs before the page's own."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, width)
        try:
            for domain in ("Page", "Network", "Runtime", "Log"):
                self.call(f"{domain}.enable", session)
            if not scripts:
                self.call("Emulation.setScriptExecutionDisabled", session, value=True)
            if first:
                self.call("Page.addScriptToEvaluateOnNewDocument", session, source=first)
            look = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
            self.call("Emulation.setEmulatedMedia", session, features=look)
            page.be_high(900)
            page.go(url)
            yield page
        finally:
            self.call("Target.disposeBrowserContext", browserContextId=context)

    def close(self) -> None:
        """End it, with all its processes."""
        with contextlib.suppress(AssertionError, OSError):
            self.call("Browser.close")
        for end in (self._write, self._read):
            os.close(end)
        self._process.wait(PATIENT_S)

    def _hear(self, deadline: float) -> None:
        """Take in what comes next."""
        left_s = deadline - time.monotonic()
        ready, _, _ = select.select([self._read], [], [], max(left_s, 0))
        assert ready, "the browser doesn't answer"
        came = os.read(self._read, 1 << 20)
        assert came, "the browser has ended"
        *texts, self._unread = (self._unread + came).split(b"\0")
        for text in texts:
            said = json.loads(text)
            if "id" in said:
                self._replies[said["id"]] = said
            else:
                self._note(said["method"], said.get("params", {}))

    def _note(self, method: str, words: Words) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(words["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(words["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(words["exceptionDetails"]))


class Page:
    """A page in it."""

    def __init__(self, browser: Browser, session: str, width: int) -> None:
        self._browser = browser
        self._session = session
        self._width = width

    def go(self, url: str) -> None:
        """Load an address."""
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method: str, **words: Any) -> Words:
        """The result of a command of the protocol."""
        return self._browser.call(method, self._session, **words)

    def run(self, script: str) -> Any:  # Any: whatever the script gives
        """The value of an expression, also of one that has to be waited for; works where a page's own may not run."""
        world = self.call("Page.createIsolatedWorld", frameId=self._frame())["executionContextId"]
        said = self.call("Runtime.evaluate", expression=script, contextId=world, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def until(self, true: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + PATIENT_S
        while not self._is(true):
            assert time.monotonic() < deadline, f"never true: {true}; it says: {self.text()[:2000]}"
            time.sleep(0.02)

    def _is(self, true: str) -> bool:
        """Whether it is true; not while the page is just being left."""
        try:
            return bool(self.run(true))
        except AssertionError:
            return False

    def text(self) -> str:
        """What can be read on it."""
        said: str = self.run("document.body?.innerText ?? ''")
        return said

    def says(self, words: str) -> None:
        """Wait until these words can be read on it."""
        self.until(f"document.body.innerText.includes({json.dumps(words)})")

    def press(self, key: str) -> None:
        """Press a key, as somebody at a keyboard."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=_KEYS[key])

    def point(self, selector: str) -> None:
        """Move the pointer there."""
        x, y = self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def be_high(self, height: int) -> None:
        """Be so many pixels high."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=self._width, height=height, deviceScaleFactor=1, mobile=False
        )

    def picture(self, file: Path, *, most: int = 10_000) -> None:
        """A picture of all of it, or of so many pixels from the top."""
        self.be_high(min(int(self.run("document.documentElement.scrollHeight")), most))
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def violations(self) -> list[str]:
        """What axe-core finds to object to, each with where."""
        axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
        found = self.run(
            f"(async () => {{ {axe}; const found = await axe.run(document); return found.violations.flatMap("
            "(one) => one.nodes.map((node) => `${one.id}: ${node.html} ${node.failureSummary}`)); })()"
        )
        return list(found)

    def _frame(self) -> str:
        frame: str = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        return frame


_KEYS = {"Tab": 9, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13}


@contextlib.contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """A browser until the block ends; `profile` is a folder of its own."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert binary is not None, "there is no Chromium on the PATH; on Debian the package chromium brings it"
    here_read, there_write = os.pipe()
    there_read, here_write = os.pipe()
    # The protocol's pipes are the file descriptors 3 and 4.
    words = ["bash", "-c", f'exec "$0" "$@" 3<&{there_read} 4>&{there_write}', binary, *_WORDS.split()]
    process = subprocess.Popen(
        [*words, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(there_read, there_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(there_read)
    os.close(there_write)
    made = Browser(process, here_write, here_read)
    try:
        yield made
    finally:
        made.close()
