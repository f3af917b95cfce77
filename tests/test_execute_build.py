"""Compilers, and kernels that they can and can't compile."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from execute_nests import kernel, matmul, matmul_kernel

from polydl.calibration.tables import compiled
from polydl.emission.linking import lines
from polydl.emitted_names import emitted_names
from polydl.errors import MissingComponentError, OptionError, PolydlError, ResourceError
from polydl.execute import build as building
from polydl.execute.build import Building, build
from polydl.execute.child import Child
from polydl.execute.resources import available_bytes, choose_cores, free_cores
from polydl.execute.toolchain import Toolchain
from polydl.records.resume import KNOWN_STATUSES


@pytest.fixture(scope="module")
def gcc() -> Toolchain:
    return Toolchain.find("gcc")


@pytest.mark.native
def test_gcc(gcc: Toolchain) -> None:
    assert gcc.kind == "gcc"
    assert gcc.version == subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    assert gcc.flags == ("-O3", "-march=native", "-fopenmp")
    assert gcc.command == "gcc"
    assert Toolchain.find() == gcc


@pytest.mark.native
def test_clang_with_openmp_or_a_clear_refusal(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    command = ["clang", "-fopenmp", "empty.c", "-o", "empty"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0:
        assert Toolchain.find("clang").kind == "clang"
    else:
        with pytest.raises(MissingComponentError, match="OpenMP") as caught:
            Toolchain.find("clang")
        assert "libomp-" in str(caught.value.remedy)


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "words"), [("no-such-compiler", "no-such-compiler"), ("true", "neither gcc nor clang")]
)
def test_compilers_that_are_none(name: str, words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        Toolchain.find(name)
    assert caught.value.remedy


@pytest.mark.native
def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingComponentError) as caught:
        Toolchain.find()
    assert "apt-get install" in str(caught.value)


@pytest.mark.native
def test_a_compiler_with_a_relative_path_works_in_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = shutil.which("gcc")
    assert gcc is not None
    (tmp_path / "mygcc").write_text(f'#!/bin/sh\nexec {gcc} "$@"\n')
    (tmp_path / "mygcc").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert Toolchain.find("./mygcc").path == tmp_path / "mygcc"
    monkeypatch.setenv("PATH", ".", prepend=os.pathsep)
    found = Toolchain.find("mygcc")
    assert (found.path, found.command) == (tmp_path / "mygcc", "mygcc")


@pytest.mark.native
@pytest.mark.parametrize("output", ["matmul.so", "matmul.o"])
def test_the_compile_line_compiles(gcc: Toolchain, tmp_path: Path, output: str) -> None:
    source = matmul_kernel("original", head="#include <math.h>", after="C[0][0] = sqrtf(C[0][0]);")
    (tmp_path / "a file.c").write_text(source.c)
    line = gcc.compile_line(source, "a file.c", output)
    assert line.startswith("gcc -O3 -march=native -fopenmp ")
    assert subprocess.run(line, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / output).exists()


def test_openmp_of_another_version_is_linked_from_its_folder(tmp_path: Path) -> None:
    clang = Toolchain(Path("/usr/bin/clang"), "clang", "15.0.7", ("-O3", "-fopenmp", "-L/usr/lib/llvm-14/lib"))
    fast = replace(matmul_kernel("fast"), compile_flags=("-ffast-math",))
    shown = lines(fast, clang, emitted_names("matmul", tmp_path))
    linked = [shown["program"], *shown["library"].split("&&")]
    assert len(linked) == 3
    assert all("-fopenmp" in line and "-L/usr/lib/llvm-14/lib" in line for line in linked)


@pytest.mark.native
def test_flags_reach_the_compiler(gcc: Toolchain, tmp_path: Path) -> None:
    flagged = kernel(
        matmul(),
        "flagged",
        "#include <zlib.h>\nvoid matmul(float *C, float *A, float *B) { C[0] = SIZE; }",
        compile_flags=("-DSIZE=3", f"-I{tmp_path}"),
        link_flags=("-Wl,--defsym=polydl_answer=42",),
    )
    (tmp_path / "zlib.h").write_text("/* nothing */\n")
    (built,) = build([flagged], gcc, tmp_path / "new" / "directory")
    assert built.library is not None, built.message
    symbols = subprocess.run(["nm", str(built.library)], capture_output=True, text=True, check=True).stdout
    assert "polydl_answer" in symbols


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_is_timed_with_fast_math_computes_with_subnormal_numbers(tmp_path: Path, compiler: str) -> None:
    """As what is emitted does."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    fast, plain = (
        replace(matmul_kernel(name), compile_flags=flags) for name, flags in (("fast", ("-ffast-math",)), ("plain", ()))
    )
    missing = replace(fast, id="missing", c=fast.c.replace("{", "{ int absent(void); C[0][0] = absent();", 1))
    *both, refused = build([fast, plain, missing], Toolchain.find(compiler), tmp_path, jobs=2)
    for built in both:
        assert built.library is not None, built.message
        symbols = subprocess.run(["nm", str(built.library)], capture_output=True, text=True, check=True).stdout
        assert "polydl_time_invocations" in symbols
        assert "set_fast_math" not in symbols
    assert (refused.library, refused.status) == (None, "compile")
    assert "absent" in refused.message
    assert not list(tmp_path.glob("*unfinished*"))
    compiling, linking = both[0].command.split(" && ")
    assert "-ffast-math" in compiling
    assert "-ffast-math" not in linking
    assert "&&" not in both[1].command


@pytest.mark.native
def test_experiments_in_c_alone_compute_with_subnormal_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    import_module("experiments.in_turns").built(
        "float f(float x) { return x / 2; }", ("-O3", "-ffast-math"), (), tmp_path / "f.so"
    )
    symbols = subprocess.run(["nm", str(tmp_path / "f.so")], capture_output=True, text=True, check=True).stdout
    assert "set_fast_math" not in symbols


@pytest.mark.native
def test_failures_keep_their_source_and_forget_older_libraries(gcc: Toolchain, tmp_path: Path) -> None:
    (good,) = build([matmul_kernel("k")], gcc, tmp_path)
    assert good.library is not None
    assert good.library.exists()
    bad, other = build([matmul_kernel("k", before="#error no"), matmul_kernel("l")], gcc, tmp_path, jobs=1)
    assert bad.library is None
    assert "k.c:3" in bad.message
    assert bad.source.read_text() == matmul_kernel("k", before="#error no").c
    assert not good.library.exists()
    assert other.library is not None


@pytest.mark.native
def test_functions_of_the_process_do_not_take_the_place_of_the_kernels(gcc: Toolchain, tmp_path: Path) -> None:
    """``getpid`` is libc's too."""
    import ctypes

    own = kernel(
        matmul(), "own", "int getpid(void) { return -5; }\nvoid matmul(int *C, void *A, void *B) { *C = getpid(); }"
    )
    (built,) = build([own], gcc, tmp_path)
    assert built.library is not None, built.message
    result = ctypes.c_int()
    arguments = (ctypes.c_void_p * 3)(ctypes.addressof(result), None, None)
    ctypes.CDLL(str(built.library)).polydl_invoke(arguments)
    assert result.value == -5


@pytest.mark.native
def test_ids_are_unique(gcc: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'twin'"):
        build([matmul_kernel("twin"), matmul_kernel("twin")], gcc, tmp_path)


@pytest.mark.native
def test_a_compiler_that_does_not_end(gcc: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.execute.build.COMPILE_TIMEOUT_SECONDS", 0.5)
    os.mkfifo(tmp_path / "endless.h")
    (built,) = build([matmul_kernel("waits", head='#include "endless.h"')], gcc, tmp_path)
    assert built.library is None
    assert "within 0.5 s" in built.message
    assert built.status == "timeout"


@pytest.mark.native
@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("kill -KILL $$", "unsupported"),
        ("echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1", "unsupported"),
        ("echo 'error: no' >&2; exit 1", "compile"),
        (None, "unsupported"),
    ],
)
def test_what_a_compiler_did_not_refuse_is_not_kept_as_refused(
    gcc: Toolchain, tmp_path: Path, script: str | None, status: str
) -> None:
    compiler = tmp_path / "compiler"
    if script is not None:
        compiler.write_text(f"#!/bin/sh\n{script}\n")
        compiler.chmod(0o755)
    (built,) = build([matmul_kernel("k")], replace(gcc, path=compiler), tmp_path / "work")
    assert (built.library, built.status) == (None, status)
    assert (status in KNOWN_STATUSES) is (status == "compile")


@pytest.mark.native
def test_an_exception_ends_the_compilers(gcc: Toolchain, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.h")
    waiting = [matmul_kernel(name, head='#include "endless.h"') for name in ("a", "b")]

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        build([matmul_kernel("quick"), *waiting], gcc, tmp_path, jobs=3, progress=interrupt)
    assert threading.active_count() == before
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running


@pytest.mark.native
def test_the_background(gcc: Toolchain, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.h")
    waits = matmul_kernel("waits", head='#include "endless.h"')
    with Building([(matmul_kernel("quick"), gcc), (waits, gcc)], tmp_path, jobs=1) as building:
        # The compiler goes on once it can read the header.
        (tmp_path / "endless.h").write_text("/* the end */\n")
        quick, other = building.results()
        assert (quick.kernel.id, other.kernel.id) == ("quick", "waits")
        assert quick.library is not None
        assert other.library is not None
        assert building.results() == (quick, other)


@pytest.mark.native
def test_what_nobody_waits_for_is_killed(gcc: Toolchain, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.h")
    before = threading.active_count()
    with Building([(matmul_kernel("waits", head='#include "endless.h"'), gcc)], tmp_path):
        pass
    assert threading.active_count() == before
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running


@pytest.mark.native
def test_a_full_disk(gcc: Toolchain, tmp_path: Path) -> None:
    (tmp_path / "k.c").symlink_to("/dev/full")
    with pytest.raises(ResourceError, match="disk is full"):
        build([matmul_kernel("k")], gcc, tmp_path)


@pytest.mark.native
def test_a_full_disk_under_the_worker(gcc: Toolchain, tmp_path: Path) -> None:
    (built,) = build([matmul_kernel("k")], gcc, tmp_path)
    cores = choose_cores(1)
    array = {"element": "float", "extents": [24, 24], "value": None}
    with Child(cores, tmp_path) as child:
        child.request(
            "start",
            30,
            library=str(built.library),
            parameters=[array | {"name": name} for name in "CAB"],
            global_arrays=[],
            cores=list(cores),
            data={"seed": 0, "signed": True},
        )
        child.request("run", 30)
        with pytest.raises(ResourceError, match="disk is full"):
            child.request("store", 30, path="/dev/full")


@pytest.mark.native
def test_a_directory_that_can_not_be_made(gcc: Toolchain, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PolydlError, match="can't write"):
        build([matmul_kernel("k")], gcc, tmp_path / "file")


def test_cores_and_memory() -> None:
    allowed = os.sched_getaffinity(0)
    assert set(choose_cores(len(allowed))) == allowed
    assert len(choose_cores(1)) == 1
    with pytest.raises(OptionError):
        choose_cores(0)
    assert available_bytes() > 1 << 20


def test_cores_beside_those_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    # Numbers beyond those of any system, so that each is a core of its own.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {100001, 100002, 100003})
    assert free_cores((100001,)) == (100002,)
    assert free_cores((100001, 100002)) == (100003,)
    assert free_cores((100001, 100002, 100003)) == (100002, 100003, 100001)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {100001})
    assert free_cores((100001,)) == ()


def test_a_compiler_that_does_not_run_is_named_with_the_reason(tmp_path: Path) -> None:
    missing, locked = tmp_path / "missing", tmp_path / "folder"
    locked.mkdir()
    for path, reason in ((missing, "No such file or directory"), (locked, "Permission denied")):
        ended = building._compiled([str(path)], tmp_path, building._Compilers())
        assert (ended.message, ended.status) == (f"the compiler {path} can't be run: {reason}", "unsupported")


def test_the_remedy_for_a_compiler_that_does_not_run_fits_the_reason(tmp_path: Path, gcc: Toolchain) -> None:
    missing, locked = tmp_path / "missing", tmp_path / "folder"
    locked.mkdir()
    for path, remedy in ((missing, "apt-get install"), (locked, "see that this user may run that program")):
        with pytest.raises(MissingComponentError, match=f"the compiler {path} can't be run: [NP]") as caught:
            compiled("", replace(gcc, path=path), tmp_path / "none.so", what="a test")
        assert remedy in str(caught.value.remedy)
