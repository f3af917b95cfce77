"""The pages in a real browser: rendered without a message on the console, and nothing wider than the window."""

from __future__ import annotations

import html
import json
import lzma
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from page_documents import document, old_document, with_many_builds

from polydl.page.reading import read_run
from polydl.page.render import comparison_page, run_page

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (Debian: apt-get install chromium)"),
]
ROOT = Path(__file__).parents[1]
PHONE, DESK = 390, 1280

# Each page in a frame of its own width; what the frames hold is written into the outer document.
OUTER = """<!DOCTYPE html><meta charset="utf-8"><body>{frames}<pre id="seen"></pre><script>
window.onload = () => {{
  const seen = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, width = frame.clientWidth;
    const own = node => node.closest(".scroll, .code, details pre") !== null;
    const wide = [...page.querySelectorAll("body *")].filter(
      node => !own(node) && node.getClientRects().length && node.getBoundingClientRect().right > width + 0.5);
    return {{
      width, scroll: page.documentElement.scrollWidth,
      wide: wide.map(node => node.tagName + "." + node.getAttribute("class") + ": " + node.textContent.slice(0, 40)),
      figures: [...page.querySelectorAll("svg")].filter(figure => figure.getBoundingClientRect().width > 250).length,
      ground: page.defaultView.getComputedStyle(page.body).backgroundColor,
      small: [...page.querySelectorAll("svg text")].filter(text => text.getClientRects().length)
        .filter(text => text.getBoundingClientRect().height < 9).length,
      overlapping: [...page.querySelectorAll("svg")].flatMap(figure => {{
        const texts = [...figure.querySelectorAll("text")].filter(text => text.getClientRects().length);
        const boxes = texts.map(text => text.getBoundingClientRect());
        return texts.flatMap((text, place) => texts.slice(0, place).filter((_, other) => {{
          const [one, two] = [boxes[place], boxes[other]];
          return Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1
            && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 5;
        }}).map(other => `${{other.textContent}} and ${{text.textContent}}`));
      }}),
      overflowing: [...page.querySelectorAll(".scroll")].filter(box => box.scrollWidth > box.clientWidth + 1)
        .map(box => box.closest("section").id),
    }};
  }});
  document.getElementById("seen").textContent = JSON.stringify(seen);
}};
</script></body>"""


def seen(tmp_path: Path, page: str, *flags: str) -> list[dict[str, Any]]:
    """What a browser makes of a page, at the width of a phone and of a desk; fails for any message on its console."""
    frames = "".join(
        f'<iframe style="border:0;width:{width}px;height:3000px" srcdoc="{html.escape(page)}"></iframe>'
        for width in (PHONE, DESK)
    )
    outer = tmp_path / "outer.html"
    outer.write_text(OUTER.format(frames=frames), encoding="utf-8")
    assert BROWSER is not None
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=20000",
        "--dump-dom", *flags, outer.as_uri(),
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert [line for line in ended.stderr.splitlines() if "CONSOLE" in line] == []
    shown = re.search(r'<pre id="seen">(.*?)</pre>', ended.stdout, re.DOTALL)
    assert shown is not None, ended.stderr[-2000:]
    return list(json.loads(html.unescape(shown[1])))


def check(frames: list[dict[str, Any]], figures: int) -> None:
    assert [frame["width"] for frame in frames] == [PHONE, DESK]
    for frame in frames:
        assert frame["scroll"] <= frame["width"], frame
        assert frame["wide"] == []
        assert frame["figures"] == figures
        assert frame["small"] == 0
        assert frame["overlapping"] == []
        assert frame["overflowing"] == []


@pytest.mark.slow
def test_a_run_is_shown_on_a_phone_and_on_a_desk(tmp_path: Path) -> None:
    check(seen(tmp_path, run_page(read_run(document(), "report.json"))), figures=4)


def test_a_run_of_the_command_is_shown(tmp_path: Path) -> None:
    kept = json.loads(lzma.decompress((ROOT / "experiments" / "data" / "readme.json.xz").read_bytes()))
    check(seen(tmp_path, run_page(read_run(kept["optimize"], "report.json"))), figures=4)


def test_labels_of_many_builds_and_of_similar_caches_are_apart(tmp_path: Path) -> None:
    check(seen(tmp_path, run_page(read_run(with_many_builds(), "report.json"))), figures=4)


def test_two_runs_are_shown(tmp_path: Path) -> None:
    first, second = read_run(document(), "a.json"), read_run(old_document(), "b.json")
    check(seen(tmp_path, comparison_page(first, second)), figures=1)


@pytest.mark.slow
def test_the_dark_page_is_dark(tmp_path: Path) -> None:
    page = run_page(read_run(document(), "report.json"))
    grounds = [
        {frame["ground"] for frame in seen(tmp_path, page, f"--blink-settings=preferredColorScheme={scheme}")}
        for scheme in (1, 0)
    ]
    assert grounds == [{"rgb(247, 247, 245)"}, {"rgb(18, 21, 24)"}]
