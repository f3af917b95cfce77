"""Folders of saved models: what is damaged, mixed or put in a file's place is refused, and what is loaded stays."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import parametrized

import polydl
from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.models import loaded
from polydl.models.builder import GraphBuilder
from polydl.models.driver import Driver, DriverCall
from polydl.models.graph import Array
from polydl.models.kernels import as_written
from polydl.models.products import LinearOperator
from polydl.models.program import lower, write_program

pytestmark = pytest.mark.native
ROWS = np.ones((2, 16), np.float32)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two linear layers of 16 inputs, with 16 and with 512 outputs, whose weights are 1 and 2."""
    first, second = (tmp_path_factory.mktemp("program") for _ in range(2))
    written(16, 1.0, first)
    written(512, 2.0, second)
    return first, second


def written(outputs: int, weight: float, folder: Path, name: str = "model", x: str = "x", y: str = "y") -> None:
    """A program of one linear layer."""
    builder = GraphBuilder()
    builder.input(x, ROWS.shape)
    weights = builder.constant("weight", np.full((outputs, 16), weight, np.float32))
    bias = builder.constant("bias", np.zeros(outputs, np.float32))
    builder.add_rows(y, (2, outputs), LinearOperator(16, outputs), [x], [weights, bias])
    program(builder, [y], folder, name)


def program(builder: GraphBuilder, outputs: list[str], folder: Path, name: str = "model") -> None:
    """The program of a graph, whose nests stay as they are written."""
    lowered = lower(builder.graph(outputs))
    kernels = {nest: as_written(nest, "a test") for nest in lowered.nests}
    write_program(lowered, kernels, folder, threads=1, name=name)


@pytest.fixture
def saved(programs: tuple[Path, Path], tmp_path: Path) -> Path:
    """A folder that the first of them was saved to."""
    loaded.copied(programs[0], tmp_path / "model")
    return tmp_path / "model"


def called(model: polydl.LoadedModel) -> Array:
    result = model(ROWS)
    assert isinstance(result, np.ndarray)
    return result


def loads(folder: Path) -> bool:
    with suppress(polydl.PolydlError):
        return bool(called(polydl.load(folder)).size)
    return False


def test_a_model_that_is_saved_over_is_loaded_anew(programs: tuple[Path, Path], saved: Path) -> None:
    first = polydl.load(saved)
    loaded.copied(programs[1], saved)
    second = polydl.load(saved)
    assert called(first).shape == (2, 16)
    assert (called(first) == 16).all()
    assert called(second).shape == (2, 512)
    assert (called(second) == 32).all()


@pytest.mark.parametrize("name", ["now", "constant", "buffer"])
def test_a_model_may_have_any_name_that_its_own_code_could_have(name: str, tmp_path: Path) -> None:
    written(16, 1.0, tmp_path, name)
    assert (called(polydl.load(tmp_path)) == 16).all()


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        *((name, "x", "y") for name in ("weights", "memory", "file", "input0", "output0")),
        ("model", "input0", "output0"),
        ("model", "int", "double"),
        ("model", "x.1", "a:0"),
        ("model", "0x", "*/"),
    ],
)
def test_the_program_in_the_readme_compiles_whatever_names_are(name: str, x: str, y: str, tmp_path: Path) -> None:
    written(16, 1.0, tmp_path, name, x, y)
    assert (called(polydl.load(tmp_path)) == 16).all()
    text = (tmp_path / "README.txt").read_text(encoding="utf-8")
    program = textwrap.dedent(text.split("program.c:\n")[1].split("In this folder:\n")[0])
    array = "input0_" if name == "input0" else "input0"
    assert f"  {array}   2 x 16, {x}\n" in text
    filled = program.replace("/* ... fill the input ... */", f"{array}[0] = 3;")
    (tmp_path / "program.c").write_text(filled, encoding="utf-8")
    (build,) = [line for line in text.splitlines() if line.startswith("  cc ")]
    subprocess.run(["sh", "-c", f"{build} -Wall -Werror"], cwd=tmp_path, check=True)
    assert subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "3\n"


def pages_advised(address: int) -> bool:
    """Whether the kernel was told that large pages are welcome where an address lies."""
    inside = False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        bounds = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if bounds is not None:
            inside = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return "hg" in line.split()
    return False


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="no large pages there")
def test_memory_of_a_program_is_in_large_pages(tmp_path: Path) -> None:
    builder = GraphBuilder()
    builder.input("x", (1024, 16))
    # What is between the layers takes 6 MB.
    for name, value, inputs, outputs in (("y", "x", 16, 1536), ("z", "y", 1536, 16)):
        weights = builder.constant(f"{name}.weight", np.ones((outputs, inputs), np.float32))
        bias = builder.constant(f"{name}.bias", np.zeros(outputs, np.float32))
        builder.add_rows(name, (1024, outputs), LinearOperator(inputs, outputs), [value], [weights, bias])
    program(builder, ["z"], tmp_path)
    library = ctypes.CDLL(str(tmp_path / "libmodel.so"))
    large, small = 1 << 21, 1 << 12
    count = library.model_memory_bytes()
    assert 3 * large < small + count < 4 * large
    with mmap.mmap(-1, 8 * large) as memory:
        held = (ctypes.c_char * 1).from_buffer(memory)
        begin = -(-ctypes.addressof(held) // large) * large
        library.model_prepare_memory(ctypes.c_void_p(begin + small))
        advised = [pages_advised(begin + place * large) for place in range(5)]
        del held
    assert advised == [False, True, True, False, False]


def test_what_is_prepared_of_weights_is_in_large_pages() -> None:
    """Where nothing is, no memory behind the weights is touched for the first time."""
    driver = Driver("model", (1,), (1,), 1 << 22, 64, 0, (), (), 1)
    asked = "polydl_in_large_pages(weights, 4194304);"
    assert asked not in driver.c
    prepared = replace(driver, preparing=(DriverCall("kernel_prepare", ("polydl_constant(0)",)),))
    assert prepared.c.index(asked) < prepared.c.index("kernel_prepare(polydl_constant(0))")


def test_what_is_written_over_a_loaded_library_does_not_run(saved: Path) -> None:
    model = polydl.load(saved)
    with (saved / "libmodel.so").open("r+b") as file:
        file.truncate(0)
    assert (called(model) == 16).all()


def test_kernels_of_the_model_before_go_away(programs: tuple[Path, Path], saved: Path) -> None:
    (saved / "notes.txt").write_text("mine", encoding="utf-8")
    loaded.copied(programs[1], saved)
    assert {path.name for path in saved.iterdir()} == {"notes.txt", *(path.name for path in programs[1].iterdir())}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_model_or_none(
    programs: tuple[Path, Path], saved: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """At each file in turn: all are on the disk before anything changes."""
    real: Callable[..., None] = getattr(os, step)
    count = len(list(programs[1].iterdir()))
    for last in range(count):
        calls = iter(range(count * 2))

        def interrupted(*arguments: Any, calls: Iterator[int] = calls, last: int = last) -> None:
            if next(calls) == last:
                raise KeyboardInterrupt
            real(*arguments)

        loaded.copied(programs[0], saved)
        monkeypatch.setattr(os, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            loaded.copied(programs[1], saved)
        monkeypatch.setattr(os, step, real)
        assert loads(saved) == (step == "fsync")
        assert not [path for path in saved.iterdir() if path.name.startswith(".")]
    assert step == "replace" or (called(polydl.load(saved)) == 16).all()


def test_parts_of_two_models_are_no_model(programs: tuple[Path, Path], saved: Path) -> None:
    for name in ("libmodel.so", "model.weights", "manifest.json"):
        loaded.copied(programs[0], saved)
        shutil.copy(programs[1] / name, saved)
        with pytest.raises(polydl.PolydlError, match="save the model again"):
            polydl.load(saved)


@parametrized("name", ["libmodel.so", "model.weights"], quick=1)
def test_damaged_files_are_refused(programs: tuple[Path, Path], saved: Path, name: str) -> None:
    """In a process of its own, which a library that ends early would end."""
    content = (programs[0] / name).read_bytes()
    for damaged in (b"", content[:100], content[: len(content) // 2], content[:-1], content[:-1] + b"?"):
        loaded.copied(programs[0], saved)
        (saved / name).write_bytes(damaged)
        program = f"import polydl\ntry:\n polydl.load({str(saved)!r})\nexcept polydl.PolydlError: print('refused')"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.stdout == "refused\n", done


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    del path


@pytest.mark.parametrize("name", ["manifest.json", "libmodel.so", "model.weights"])
@pytest.mark.parametrize("put", [pipe, folder, nothing])
def test_what_is_no_file_is_refused_at_once(saved: Path, name: str, put: Callable[[Path], None]) -> None:
    (saved / name).unlink()
    put(saved / name)
    with pytest.raises(polydl.PolydlError, match=r"save"):
        polydl.load(saved)


def test_a_file_in_place_of_the_folder_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("", encoding="utf-8")
    with pytest.raises(polydl.PolydlError, match="there is no model"):
        polydl.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("form", 3, r"is of form 3, and this version of polydl reads form 4(?s:.*)save the model again"),
        ("name", "../model", "can't be read"),
        ("memory_bytes", -5, "can't be read"),
        ("memory_bytes", 2**70, r"model_memory_bytes\(\) is"),
        ("prepared_bytes", -1, "can't be read"),
        ("prepared_bytes", 10**15, r"model_weights_bytes\(\) is"),
        ("weights_bytes", 10**15, r"model_weights_bytes\(\) is"),
        ("library_bytes", 10**15, "must have 1000000000000000"),
        ("library_sha256", "0" * 64, "its SHA-256 is another"),
        ("threads", 0, "can't be read"),
        ("outputs", [{"name": "y", "shape": [-1]}], "can't be read"),
    ],
)
def test_manifests_that_say_something_else_are_refused(saved: Path, key: str, value: object, message: str) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    (saved / "manifest.json").write_text(json.dumps({**manifest, key: value}), encoding="utf-8")
    with pytest.raises(polydl.PolydlError, match=message):
        polydl.load(saved)


def test_openmp_of_another_version_is_linked_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Toolchain.find()
    other = replace(compiler, flags=(*compiler.flags, f"-L{tmp_path}"))
    monkeypatch.setattr(Toolchain, "find", staticmethod(lambda: other))
    written(16, 1.0, tmp_path)
    (linked,) = [line for line in (tmp_path / "build.sh").read_text(encoding="utf-8").splitlines() if "-shared" in line]
    assert f" -fopenmp -L{tmp_path} " in linked


def test_a_library_that_is_compiled_again_is_loaded(programs: tuple[Path, Path], saved: Path) -> None:
    script = (saved / "build.sh").read_text(encoding="utf-8")
    (saved / "build.sh").write_text(script.replace("-O2", "-O0"), encoding="utf-8")
    subprocess.run(["sh", "build.sh"], cwd=saved, check=True)
    assert (saved / "libmodel.so").read_bytes() != (programs[0] / "libmodel.so").read_bytes()
    assert (called(polydl.load(saved)) == 16).all()
    (saved / "build.sh").write_text(script.replace("model.c", "other.c"), encoding="utf-8")
    (saved / "other.c").write_text("int nothing;\n", encoding="utf-8")
    subprocess.run(["sh", "build.sh"], cwd=saved, check=True)
    with pytest.raises(polydl.PolydlError, match="has no function model"):
        polydl.load(saved)


def test_links_in_a_folder_are_replaced(programs: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "model").mkdir()
    for name in ("model.c", "manifest.json", "libmodel.so"):
        (tmp_path / "model" / name).symlink_to(tmp_path / "mine")
    loaded.copied(programs[0], tmp_path / "model")
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"
    assert not any(path.is_symlink() for path in (tmp_path / "model").iterdir())
    assert loads(tmp_path / "model")


@pytest.mark.parametrize("name", ["", "file", "file/model"])
def test_a_model_is_saved_to_a_folder_alone(name: str, programs: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OptionError, match=r"has no name\n  remedy: name one|/file is a file\n  remedy: name a folder"):
        loaded.copied(programs[0], str(tmp_path / name) if name else "")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_model_whose_own_files_are_gone_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(polydl.PolydlError, match="own files can't be read"):
        loaded.copied(tmp_path / "gone", tmp_path)


def test_a_model_without_its_manifest_is_not_saved(programs: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(programs[1], tmp_path / "its own")
    (tmp_path / "its own" / "manifest.json").unlink()
    loaded.copied(programs[0], tmp_path / "saved")
    with pytest.raises(polydl.PolydlError, match=r"own files can't be read: No such file") as raised:
        loaded.copied(tmp_path / "its own", tmp_path / "saved")
    assert raised.value.file == str(tmp_path / "its own" / "manifest.json")
    assert raised.value.remedy == "optimize the model again"
    assert loads(tmp_path / "saved")


def test_a_library_that_is_not_the_one_that_was_saved_can_be_built_again(
    programs: tuple[Path, Path], tmp_path: Path
) -> None:
    for damaged in (b"", b"?" * (programs[0] / "libmodel.so").stat().st_size):
        loaded.copied(programs[0], tmp_path)
        (tmp_path / "libmodel.so").write_bytes(damaged)
        with pytest.raises(polydl.PolydlError) as raised:
            polydl.load(tmp_path)
        assert raised.value.remedy == "run build.sh in that folder, or save the model again"
        subprocess.run(["sh", "build.sh"], cwd=tmp_path, check=True)
        assert loads(tmp_path)
    (tmp_path / "model.weights").write_bytes(b"")
    with pytest.raises(polydl.PolydlError) as raised:
        polydl.load(tmp_path)
    assert raised.value.remedy == "save the model again"


def test_a_process_that_is_forked_leaves_folders_to_the_one_that_made_them(tmp_path: Path) -> None:
    program = """
        import os, sys
        from polydl.emission.emit import own_directory
        folder = own_directory()
        child = os.fork()
        if not child:
            sys.exit()
        os.waitpid(child, 0)
        print(folder.is_dir())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(tmp_path)})  # fmt: skip
    assert done.stdout == "True\n", done
    assert not list(tmp_path.iterdir())


def test_two_models_in_one_program_call_the_kernels_of_their_own(tmp_path: Path) -> None:
    """Kernels of the same nest have the same name in both, and may be others."""
    for name, weight in (("one", 1.0), ("two", 2.0)):
        (tmp_path / name).mkdir()
        written(16, weight, tmp_path / name, name)
    # The second one's kernel says that it ran.
    (kernel,) = (tmp_path / "two").glob("kernel_*.c")
    kernel.write_text(kernel.read_text().replace("#pragma scop", "output[0][0] = 7; return;\n#pragma scop"))
    subprocess.run(["/bin/sh", "build.sh"], cwd=tmp_path / "two", check=True)
    calls = "\n".join(
        f"""  void *weights_{name} = aligned_alloc(64, {name}_weights_bytes());
  void *memory_{name} = aligned_alloc(64, {name}_memory_bytes());
  FILE *file_{name} = fopen("{name}/{name}.weights", "rb");
  if (!fread(weights_{name}, 1, {name}_weights_bytes(), file_{name})) return 1;
  {name}_prepare_weights(weights_{name}), {name}_prepare_memory(memory_{name});
  {name}(x, y, weights_{name}, memory_{name});
  printf("%g\\n", y[0]);"""
        for name in ("one", "two")
    )
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\n#include "one/one.h"\n#include "two/two.h"\n'
        "int main(void) {\n  float x[32], y[32];\n  for (int i = 0; i < 32; i++)\n    x[i] = 1;\n"
        f"{calls}\n}}\n"
    )
    for order in (["-lone", "-ltwo"], ["-ltwo", "-lone"]):
        folders = [f"-{flag}{tmp_path / name}" for flag in ("L", "Wl,-rpath,") for name in ("one", "two")]
        command = [Toolchain.find().command, "main.c", *folders, *order, "-o", "main"]
        subprocess.run(command, cwd=tmp_path, check=True)
        ran = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert ran.stdout == "16\n7\n"
