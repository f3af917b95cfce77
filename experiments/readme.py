"""README's run and figure: ``examples/conv.c`` as it is, and with the two innermost loops interchanged by hand.

    python -m experiments.readme measure experiments/data/readme.json.xz
    python -m experiments.readme show experiments/data/readme.json.xz --figure docs/figures/conv-variants.svg
    python -m experiments.readme pictures experiments/data/readme.json.xz docs/figures

The first optimizes the nest three times on all cores: with the default options, whose answer README shows; the
interchanged nest, whose innermost loop gcc vectorizes; and with 60 variants that all run, for the figure. It takes some
three minutes, and keeps the answer and the three documents of ``--json``. The second prints the answer with the
winner's speed over both plain nests, and draws the figure. The third has Chromium take pictures of the pages that
``polydl report`` makes of the runs: on a desk, on a phone in the dark, and of two runs compared.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from experiments.plot_variants import plot

Document = dict[str, Any]

_POLYDL = Path(sys.executable).with_name("polydl")
# Of Chromium's setting.
_DARK, _LIGHT = 0, 1
_ROOT = Path(__file__).parents[1]
_NEST = _ROOT / "examples" / "conv.c"
_INNERMOST = ("for (ofm = 0; ofm < GEMM_BLOCK; ++ofm)", "for (ifm = 0; ifm < GEMM_BLOCK; ++ifm)")


def interchanged(text: str) -> str:
    """The nest with its two innermost loops in the other order. Raises ValueError if each isn't there once."""
    outer, inner = _INNERMOST
    if text.count(outer) != 1 or text.count(inner) != 1:
        raise ValueError(f"{_NEST.name} has no longer one loop over ofm and one over ifm")
    before, _, rest = text.partition(outer)
    between, _, after = rest.partition(inner)
    return f"{before}{inner}{between}{outer}{after}"


def run(source: Path, options: Sequence[str], folder: Path) -> tuple[str, Document]:
    """What ``polydl optimize`` shows in 80 columns, and its document. Raises CalledProcessError if it fails."""
    document = folder / "document.json"
    words = [str(_POLYDL), "optimize", str(source), *options, "--fresh", "--json", str(document)]
    ended = subprocess.run(
        words,
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    # Where the project lies is nobody's business.
    text = document.read_text(encoding="utf-8").replace(f"{_ROOT}/", "").replace(f"{folder}/", "")
    return ended.stdout, json.loads(text)


def over(documents: Mapping[str, Document]) -> dict[str, float]:
    """How many times as fast the winner of the nest is as the plain nest, and as the interchanged one."""
    winner = documents["optimize"]["best"]["seconds"]
    return {name: documents[name]["baseline"]["seconds"] / winner for name in ("optimize", "interchanged")}


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
def measure(path: Path) -> None:
    """Run the nests, and write what they give."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        other = folder / "conv_interchanged.c"
        other.write_text(interchanged(_NEST.read_text(encoding="utf-8")), encoding="utf-8")
        answer, optimized = run(_NEST, (), folder)
        _, by_hand = run(other, ("--top-k", "1"), folder)
        _, variants = run(_NEST, ("--all", "--max-variants", "60"), folder)
    content = {"answer": answer, "optimize": optimized, "interchanged": by_hand, "all": variants}
    path.write_bytes(lzma.compress(json.dumps(content).encode()))


@main.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--figure", type=click.Path(dir_okay=False, path_type=Path), help="Draw the variants there, as SVG.")
def show(path: Path, figure: Path | None) -> None:
    """Print the answer and the speed over both plain nests."""
    content: Document = json.loads(lzma.decompress(path.read_bytes()))
    print(content["answer"])
    for name, times in over(content).items():
        print(f"{times:.1f} times as fast as the plain nest of {name}: {content[name]['baseline']['seconds']:.4f} s")
    if figure is not None:
        plot(content["all"], figure)


@main.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
def pictures(path: Path, directory: Path) -> None:
    """Write the pictures of the pages into a directory. Raises CalledProcessError if Chromium fails."""
    content: Document = json.loads(lzma.decompress(path.read_bytes()))
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        runs = []
        for name in ("optimize", "interchanged"):
            runs.append(f"{name}.json")
            Path(folder, runs[-1]).write_text(json.dumps(content[name]), encoding="utf-8")
        for picture, shown, size, scheme in (
            ("report", runs[:1], (1280, 1500), _LIGHT),
            ("report-phone", runs[:1], (480, 1500), _DARK),
            ("report-compared", runs, (1280, 1100), _LIGHT),
        ):
            page = folder / f"{picture}.html"
            words = [_POLYDL, "report", *shown, "--out", page]
            subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            _photographed(page, directory.absolute() / f"{picture}.png", size, scheme)


def _photographed(page: Path, picture: Path, size: tuple[int, int], scheme: int) -> None:
    width, height = size
    command = [
        "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={page.parent / 'profile'}", f"--blink-settings=preferredColorScheme={scheme}",
        "--virtual-time-budget=20000", f"--window-size={width},{height}", f"--screenshot={picture}", page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


if __name__ == "__main__":
    main()
