"""What is not needed is not imported, each seen in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import polydl

HEAVY = ("islpy", "numpy", "rich", "tensorflow", "clang", "cffi", "torch", "onnx")


def loaded_after(code: str) -> set[str]:
    """Which top-level packages a fresh interpreter has loaded after running ``code``."""
    report = "\nimport json, sys\nsys.stderr.write(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    ended = subprocess.run([sys.executable, "-P", "-c", code + report], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr.splitlines()[-1]))


def test_the_package_loads_names_on_first_use() -> None:
    loaded = loaded_after("import polydl\nassert 'optimize' in dir(polydl)")
    assert "polydl" in loaded
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["optimize", "--help"], ["doctor", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = loaded_after(f"from polydl.cli import main\nmain({arguments!r}, standalone_mode=False)")
    assert "click" in loaded
    assert not loaded & set(HEAVY)


def test_ranking_loads_no_isl_and_no_tensorflow() -> None:
    loaded = loaded_after(
        "from polydl import registry\n"
        "for name in registry.GROUPS['rankers']:\n    assert registry.load('rankers', name).name == name"
    )
    assert not loaded & {"islpy", "tensorflow", "rich", "clang"}


def test_the_whole_pipeline_loads_no_tensorflow() -> None:
    loaded = loaded_after("import polydl\npolydl.optimize, polydl.parse, polydl.Machine, polydl.rank")
    assert "islpy" in loaded
    assert not loaded & {"tensorflow", "torch", "rich"}


def test_every_public_name_loads() -> None:
    names = [name for name in dir(polydl) if not name.startswith("_")]
    assert {"Machine", "Scop", "Variant", "optimize", "rank"} <= set(names)
    assert all(getattr(polydl, name) is not None for name in names)


def test_modules_are_imported_meanwhile_and_what_is_missing_is_left_to_who_needs_it() -> None:
    loaded = loaded_after(
        "import sys\nfrom polydl.commands.meanwhile import importing, meanwhile\n"
        "with meanwhile(importing('wave', 'no_such_module_at_all')):\n    pass\n"
        "assert 'wave' in sys.modules"
    )
    assert "wave" in loaded
    assert "no_such_module_at_all" not in loaded
