"""What stands on a terminal of 80 columns and 24 rows when a command ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from marks import parametrized

EXAMPLES = Path(__file__).parents[1] / "examples"
COLUMNS, ROWS = 80, 24
ERASED = "\x1b[2K"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(command: list[str], folder: Path) -> list[str]:
    """The rows that a command leaves on the terminal: what follows the bars of progress, which are erased."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment |= {"TERM": "xterm", "XDG_DATA_HOME": str(folder)}
    content = b""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        try:
            while chunk := os.read(ours, 1 << 16):
                content += chunk
        except OSError:
            # The end of what writes to a terminal is an error to its reader.
            pass
    os.close(ours)
    assert process.returncode == 0, content.decode()
    text = content.decode().replace("\r\n", "\n")
    return ESCAPE.sub("", text.rsplit(ERASED, 1)[-1]).replace("\r", "").splitlines()


def assert_fits(rows: list[str]) -> None:
    assert len(rows) <= ROWS - 1, "and the prompt below"
    assert max(map(len, rows)) <= COLUMNS


@pytest.mark.slow
@pytest.mark.native
def test_the_answer_of_optimize_stands_on_the_screen_as_a_whole(tmp_path: Path, quick_command: Path) -> None:
    sizes = ["-D", "nImg=1", "-D", "ofh=8", "-D", "ofw=8", "--threads", "1"]
    search = ["--max-variants", "20", "--top-k", "5", "--no-calibration"]
    rows = shown([str(quick_command), "optimize", str(EXAMPLES / "conv.c"), *sizes, *search], tmp_path)
    assert_fits(rows)
    assert rows[0].startswith("Winner  ")
    assert " times as fast as the plain nest (" in rows[0]
    assert any(row.startswith("  plain nest: ") for row in rows)
    assert any("conv_polydl.c  conv_polydl.h" in row for row in rows)
    assert rows[-1].startswith("Total  ")


@pytest.mark.native
@pytest.mark.slow
def test_the_answer_of_fuse_stands_on_the_screen_as_a_whole(tmp_path: Path, quick_command: Path) -> None:
    search = ["--threads", "1", "--max-variants", "20", "--top-k", "5", "--no-calibration"]
    gemver = str(EXAMPLES / "sequences" / "gemver.c")
    rows = shown([str(quick_command), "fuse", gemver, "-D", "N=200", *search], tmp_path)
    assert_fits(rows)
    assert rows[0].startswith("Winner  ")
    assert any(row.startswith("Fused  ") for row in rows)
    assert any("4 of 6 pairs of operators can be fused; -v says why others can't" in row for row in rows)


@parametrized("command", ["variants", "analyze"], quick=1)
def test_what_is_known_of_a_product_stands_on_the_screen(command: str, tmp_path: Path, quick_command: Path) -> None:
    sizes = ["-D", "M=96", "-D", "N=64", "-D", "K=80", "--threads", "1"]
    rows = shown([str(quick_command), command, str(EXAMPLES / "matmul.c"), *sizes], tmp_path)
    assert_fits(rows)
    assert any("more, with -v" in row for row in rows) == (command == "variants")
