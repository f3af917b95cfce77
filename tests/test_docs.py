"""What the documents name is there, and what they show runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from documents import ROOT, Block, blocks

from polydl.cli import main

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))),
]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PARTS = ("polydl", "variants", "microkernels", "ranking", "fusion")


def named_paths(text: str) -> set[str]:
    """What stands in backquotes and looks like a path from the root."""
    words = set(re.findall(r"`([\w./-]+)`", text))
    return {word for word in words if "/" in word or word in os.listdir(ROOT)}


def test_every_path_that_the_architecture_names_exists() -> None:
    paths = named_paths(ARCHITECTURE)
    assert len(paths) > 50
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_architecture_names_every_folder_and_main_file() -> None:
    paths = {path.rstrip("/") for path in named_paths(ARCHITECTURE)}
    tracked = [path for part in PARTS for path in (ROOT / part).rglob("*.py")]
    folders = {str(path.parent.relative_to(ROOT)) for path in tracked}
    main_files = {str(path.relative_to(ROOT)) for path in (ROOT / "polydl").glob("*.py")}
    assert len(folders) >= 11
    assert sorted((folders | main_files) - paths) == []
    top = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert sorted(top - paths - {"build", "dist", "polydl-out"}) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    assert [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()] == []


def shell_blocks() -> Iterator[tuple[str, Block]]:
    for page in PAGES:
        yield from ((page, block) for block in blocks(page) if block.language == "sh")


def commands() -> Iterator[tuple[str, list[str]]]:
    for page, block in shell_blocks():
        for line in block.text.splitlines():
            yield f"{page}:{block.line}", shlex.split(line)


def test_every_command_shown_exists_with_its_options() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    seen = set()
    for place, words in commands():
        seen.add(words[0])
        if words[0] == "make":
            assert words[1] in targets, place
        elif words[0] == "polydl":
            command, rest = main.commands[words[1]], words[2:]
            while isinstance(command, click.Group):
                command, rest = command.commands[rest[0]], rest[1:]
            with command.make_context(words[1], rest) as context:
                assert context.info_name == words[1], place
    assert {"make", "polydl"} <= seen


def all_commands(group: click.Group = main) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield command
        if isinstance(command, click.Group):
            yield from all_commands(command)


def test_every_option_is_explained() -> None:
    using = "".join(
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("using.md", "records.md", "benchmarks.md", "ranking.md")
    )
    options = {name for command in all_commands() for option in command.params for name in option.opts}
    hidden = {"--debug", "--define", "--include", "--help"}
    assert sorted(name for name in options if name.startswith("-") and name not in hidden and name not in using) == []


def runnable(language: str) -> list[pytest.param]:
    return [
        pytest.param(block, id=f"{page}:{block.line}")
        for page in PAGES
        for block in blocks(page)
        if block.language == language and block.mark == "run"
    ]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("block", runnable("sh"))
def test_shell_blocks_run(block: Block, directory: Path) -> None:
    ended = run(["sh", "-e", "-c", block.text], directory)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("block", runnable("python"))
def test_python_blocks_run(block: Block, directory: Path) -> None:
    check = "\nassert out.any() and np.isfinite(out).all()\n"
    ended = run([sys.executable, "-c", block.text + check], directory)
    assert ended.returncode == 0, ended.stderr


def test_there_are_blocks_to_run() -> None:
    assert len(runnable("sh")) >= 6
    assert len(runnable("python")) >= 1
