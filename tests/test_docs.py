"""What the documents name is there, and what they show runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import click
import pytest
from _pytest.mark import ParameterSet
from documents import ROOT, Block, blocks, with_output, write_files, write_output
from few_samples import PRELUDE, SECOND_LEVEL
from marks import parametrized

from polydl.cli import command as command_named
from polydl.cli import main
from polydl.machine.core import CONSTANTS

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))),
]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PARTS = ("polydl", "variants", "microkernels", "ranking", "fusion")


def named_paths(text: str) -> set[str]:
    """What stands in backquotes and looks like a path from the root."""
    words = set(re.findall(r"`([\w./-]+)`", text))
    return {word for word in words if "/" in word or word in os.listdir(ROOT)}


@pytest.mark.parametrize("page", ["architecture.md", "how-it-works.md"])
def test_every_path_that_the_tour_names_exists(page: str) -> None:
    paths = named_paths((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(paths) > 15
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_architecture_names_every_folder_and_fits_two_screens() -> None:
    paths = {path.rstrip("/") for path in named_paths(ARCHITECTURE)}
    folders = {str(path.parent.relative_to(ROOT)) for part in PARTS for path in (ROOT / part).rglob("*.py")}
    assert len(folders) >= 20
    assert sorted(folders - paths) == []
    top = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert sorted(top - paths - {"build", "dist", "polydl-out"}) == []
    # Two screens of 50 rows and 120 columns, on which longer lines go on in the next row.
    assert sum(max(1, -(-len(line) // 120)) for line in ARCHITECTURE.splitlines()) <= 100


def test_every_constant_of_a_core_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "machine.md").read_text(encoding="utf-8")
    assert len(CONSTANTS) >= 20
    assert [name for name in CONSTANTS if f"`{name}`" not in page] == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def links(page: str) -> Iterator[tuple[Path, str]]:
    """The files of this repository that a page leads to, each with an anchor or nothing."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text):
        if "://" not in target:
            yield (ROOT / page).parent / target if target else ROOT / page, anchor


def test_links_between_pages_lead_somewhere() -> None:
    found = [(page, *link) for page in PAGES for link in links(page)]
    assert len(found) >= 40
    astray = [
        (page, str(path), anchor)
        for page, path, anchor in found
        if not path.exists() or (anchor and anchor not in anchors(path))
    ]
    assert astray == []


def shell_blocks() -> Iterator[tuple[str, Block]]:
    for page in PAGES:
        yield from ((page, block) for block in blocks(page) if block.language == "sh")


def commands() -> Iterator[tuple[str, list[str]]]:
    for page, block in shell_blocks():
        for line in block.text.splitlines():
            yield f"{page}:{block.line}", shlex.split(line)


def test_every_command_shown_exists_with_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    # Parsing --sandbox enters it, which needs bubblewrap.
    monkeypatch.setattr("polydl.system.sandbox.sandboxed", nullcontext)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    seen = set()
    for place, words in commands():
        seen.add(words[0])
        if words[0] == "make":
            assert words[1] in targets, place
        elif words[0] == "polydl":
            command, rest = command_named(words[1]), words[2:]
            while isinstance(command, click.Group):
                command, rest = command.commands[rest[0]], rest[1:]
            with command.make_context(words[1], rest) as context:
                assert context.info_name == words[1], place
    assert {"make", "polydl"} <= seen


def test_every_target_of_make_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([\w/-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        word for page in PAGES for word in re.findall(r"`make ([\w/-]+)", (ROOT / page).read_text(encoding="utf-8"))
    }
    assert {"optimize", "install", "test"} <= named <= targets


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("given", "words"), [([], []), (["CACHE_SIZES=32K,1M"], ["--cache-sizes", "32K,1M"])])
def test_the_first_command_is_for_this_machine_unless_caches_are_named(given: list[str], words: list[str]) -> None:
    clean = {name: text for name, text in os.environ.items() if name not in ("CACHE_SIZES", "SOURCE", "MAKEFLAGS")}
    shown = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "optimize", *given],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shlex.split(shown.stdout.splitlines()[-1]) == [".venv/bin/polydl", "optimize", "examples/conv.c", *words]


def all_commands(group: click.Group = main) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from all_commands(command)


def test_every_option_is_explained() -> None:
    using = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "guide").glob("*.md")))
    options = {name for command in all_commands() for option in command.params for name in option.opts}
    assert len(options) >= 50
    hidden = {"--debug", "--define", "--include", "--help"}
    assert sorted(name for name in options if name.startswith("-") and name not in hidden and name not in using) == []


def runnable(language: str) -> list[ParameterSet]:
    """The blocks of a language that are run; most of them measure."""
    return [
        pytest.param(page, block, id=f"{page}:{block.line}")
        for page in PAGES
        for block in blocks(page)
        if block.language == language and block.mark == "run"
    ]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("examples", "experiments"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(command: list[str], directory: Path, *first: Path) -> subprocess.CompletedProcess[str]:
    """Run a command; programs are looked for in the folders ``first``, then beside Python."""
    places = (*map(str, first), str(Path(sys.executable).parent), os.environ["PATH"])
    environment = os.environ | {"PATH": os.pathsep.join(places)}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


# Runs the blocks in one namespace; a line of this text ends the output of each.
SESSION = """
import json, sys
space = {}
for block in json.loads(sys.argv[1]):
    exec(compile(block, "<block>", "exec"), space)
    print(sys.argv[2])
"""
END = "--- end of the block ---"


def outputs(page: str, directory: Path) -> Iterator[tuple[Block, str]]:
    """The blocks of a page that hold an output, each with what is printed now."""
    pairs = list(with_output(page))
    sessions = [block for block in blocks(page) if block.mark == "session"]
    ended = run([sys.executable, "-c", SESSION, json.dumps([block.text for block in sessions]), END], directory)
    assert ended.returncode == 0, f"{page}: {ended.stdout}{ended.stderr}"
    printed = dict(zip(sessions, ended.stdout.split(f"{END}\n"), strict=False))
    for block, output in pairs:
        if block in printed:
            yield output, printed[block]
        else:
            ended = run(["sh", "-e", "-c", block.text], directory)
            assert ended.returncode == 0, ended.stdout + ended.stderr
            yield output, ended.stdout


@pytest.mark.native
@pytest.mark.parametrize("page", [page for page in PAGES if any(with_output(page))])
def test_the_output_shown_is_what_is_printed(page: str, directory: Path, pytestconfig: pytest.Config) -> None:
    printed = list(outputs(page, directory))
    if pytestconfig.getoption("--update-golden"):
        write_output(page, {block.line: text for block, text in printed})
        return
    for block, text in printed:
        assert block.text == text, f"{page}:{block.line}: pytest tests/test_docs.py --update-golden writes it anew"


def test_a_page_follows_one_nest_with_its_output() -> None:
    assert len(list(with_output("docs/how-it-works.md"))) >= 10


@pytest.mark.native
@parametrized(("page", "block"), runnable("sh"), quick=1)
def test_shell_blocks_run(page: str, block: Block, directory: Path, quick_command: Path) -> None:
    write_files(page, directory)
    ended = run(["sh", "-e", "-c", block.text], directory, quick_command.parent)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(("page", "block"), runnable("python"))
def test_python_blocks_run(page: str, block: Block, directory: Path) -> None:
    write_files(page, directory)
    check = "\nassert out.any() and np.isfinite(out).all()\n"
    ended = run([sys.executable, "-c", PRELUDE + SECOND_LEVEL + block.text + check], directory)
    assert ended.returncode == 0, ended.stderr


def test_there_are_blocks_to_run() -> None:
    assert len(runnable("sh")) >= 6
    assert len(runnable("python")) >= 1
