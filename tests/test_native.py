from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from marks import parametrized

from polydl import native
from polydl.calibration import arithmetic
from polydl.errors import MissingComponentError, ResourceError

NATIVE = Path(native.__file__).parent


@pytest.fixture
def no_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation whose libraries are only those put into the directory that it returns."""
    cached = (native.runtime, native.libxsmm_library)
    for function in cached:
        function.cache_clear()
    monkeypatch.setattr(native, "__path__", [str(tmp_path)])
    yield tmp_path
    for function in cached:
        function.cache_clear()


@pytest.mark.parametrize("alignment", [8, 64, 4096, 1 << 21])
def test_memory_is_aligned_and_writable(alignment: int) -> None:
    runtime = native.runtime()
    address = runtime.allocate(1000, alignment)
    assert address % alignment == 0
    ctypes.memset(address, 7, 1000)
    runtime.flush(address, 1000)
    runtime.evict(address, 1000)
    assert ctypes.string_at(address, 1000) == b"\x07" * 1000
    runtime.free(address)


def test_memory_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ResourceError, match="bytes of memory"):
        native.runtime().allocate(1 << 60)


def test_the_clock_counts_seconds_forward() -> None:
    runtime = native.runtime()
    times = [runtime.seconds() for _ in range(1000)]
    assert times == sorted(times)
    assert times[-1] - times[0] < 60


def test_the_probes_use_the_widest_vectors_of_this_processor() -> None:
    flags = Path("/proc/cpuinfo").read_text().split()
    runtime = native.runtime()
    expected = (
        ("avx512", 64) if "avx512f" in flags else ("avx2", 32) if {"avx2", "fma"} <= set(flags) else ("generic", 16)
    )
    assert (runtime.isa, runtime.vector_bytes) == expected


def test_probes_measure_something() -> None:
    runtime = native.runtime()
    assert runtime.fma_gflops(20_000) > 0.1
    assert 1e-11 < runtime.latency(16 << 10, accesses=10_000) < 1e-4
    assert runtime.read_bandwidth(16 << 10, bytes_read=1 << 20) > 1e7


@pytest.mark.parametrize("size", [0, 64])
def test_a_working_set_that_is_too_small_is_an_error(size: int) -> None:
    with pytest.raises(ResourceError, match="too small"):
        native.runtime().latency(size)


def test_a_bandwidth_needs_some_bytes() -> None:
    with pytest.raises(ResourceError):
        native.runtime().read_bandwidth(16)


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_runtime_compiles_without_warnings_and_serves_c_programs(compiler: str, tmp_path: Path) -> None:
    program = tmp_path / "program.c"
    program.write_text(
        '#include "runtime.h"\n'
        "int main(void) {\n"
        "  void *p = polydl_allocate(100, 256);\n"
        "  int wrong = p == 0 || (unsigned long)p % 256 != 0 || polydl_seconds() <= 0;\n"
        "  polydl_free(p);\n"
        "  return wrong || polydl_vector_bytes() < 16;\n"
        "}\n"
    )
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{NATIVE}"]
    executable = tmp_path / "program"
    subprocess.run([compiler, *flags, str(program), str(NATIVE / "runtime.c"), "-o", str(executable)], check=True)
    assert subprocess.run([str(executable)]).returncode == 0


def test_every_part_of_libxsmm_resolves() -> None:
    library = ctypes.CDLL(str(_libxsmm()), mode=os.RTLD_NOW)
    for letter in "sd":
        assert hasattr(library, f"libxsmm_{letter}mmdispatch")
        for kind in ("addr", "offs", "strd"):
            assert hasattr(library, f"libxsmm_{letter}mmdispatch_reducebatch_{kind}")


def test_the_stand_ins_for_a_blas_stay_inside() -> None:
    library = ctypes.CDLL(str(_libxsmm()), mode=os.RTLD_NOW)
    assert not hasattr(library, "sgemm_")
    assert not hasattr(library, "dgemm_")


def _libxsmm() -> Path:
    try:
        return native.libxsmm_path()
    except MissingComponentError as error:
        pytest.skip(error.message)


def test_without_libxsmm_one_command_is_named(no_libraries: Path) -> None:
    with pytest.raises(MissingComponentError) as caught:
        native.libxsmm_library()
    assert caught.value.exit_status == 1
    assert "LIBXSMM is not installed" in caught.value.message
    assert native.LIBXSMM_FILE in caught.value.message
    remedy = caught.value.remedy or ""
    assert "apt-get install -y libxsmm-dev && " in remedy
    assert remedy.startswith("sudo ") == (os.geteuid() != 0)
    assert native.reinstall_command() in remedy
    assert "\n" not in remedy


def test_a_damaged_library_is_named(no_libraries: Path) -> None:
    damaged = no_libraries / native.LIBXSMM_FILE
    damaged.write_bytes(b"\x7fELF and nothing else")
    with pytest.raises(MissingComponentError, match="can't be loaded") as caught:
        native.libxsmm_library()
    assert caught.value.file == str(damaged)


@pytest.mark.native
def test_a_runtime_of_another_version_is_named(no_libraries: Path) -> None:
    library = no_libraries / native.RUNTIME_FILE
    command = ["gcc", "-shared", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=b"int polydl_allocate;\n", check=True)
    with pytest.raises(MissingComponentError, match="another version"):
        native.runtime()


def test_the_reinstall_command_names_an_existing_origin() -> None:
    words = native.reinstall_command().split()
    assert words[1:4] == ["-m", "pip", "install"]
    assert words[-1] == "polydl" or (Path(words[-1]) / "CMakeLists.txt").exists()


@pytest.mark.parametrize("given", [None, "false"])
def test_libxsmm_leaves_the_binding_of_threads_alone(given: str | None) -> None:
    program = (
        "import ctypes\n"
        "from polydl import native\n"
        "native.libxsmm_library().libxsmm_init()\n"
        "getenv = ctypes.CDLL(None).getenv\n"
        "getenv.restype = ctypes.c_char_p\n"
        "print(getenv(b'OMP_PROC_BIND'))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_PROC_BIND"}
    if given is not None:
        environment["OMP_PROC_BIND"] = given
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    if "MissingComponentError" in done.stderr:
        pytest.skip("LIBXSMM is not installed")
    assert done.stdout.strip() == str(given.encode() if given else None), done.stderr


@pytest.mark.native
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction sets are x86's")
@parametrized("function", ["multiply_adds_avx2", "multiply_adds_avx512"], quick=1)
def test_the_probe_of_multiply_adds_keeps_its_sums_in_registers(function: str, tmp_path: Path) -> None:
    """With more sums than registers, it would measure the stack."""
    assembly = tmp_path / "runtime.s"
    command = ["gcc", "-O2", "-D_GNU_SOURCE", "-S", "-o", str(assembly), str(NATIVE / "runtime.c")]
    subprocess.run(command, check=True)
    text = assembly.read_text().split(f"\n{function}:\n", 1)[1].split(".cfi_endproc", 1)[0]
    blocks = [block for block in re.split(r"\n\.L\d+:", text) if "vfmadd" in block]
    assert len(blocks) == 1
    loop = blocks[0][: blocks[0].index("jne")]
    assert loop.count("vfmadd") == 12
    assert "(%rsp)" not in loop


def multiply_adds_on_arm(source: Path, directory: Path) -> list[int]:
    """How many of them clang puts into each loop that has some, for AArch64 with the headers that are here."""
    (directory / "gnu").mkdir()
    (directory / "gnu" / "stubs-32.h").touch()
    command = ["clang", "--target=aarch64-linux-gnu", "-O2", "-S", "-D_GNU_SOURCE", f"-I{directory}"]
    command += [f"-I/usr/include/{platform.machine()}-linux-gnu", "-o", "-", str(source)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    blocks = (block for block in re.split(r"\n\.L\w+:", text) if "fmla\t" in block)
    loops = [block[: block.index("b.ne")] for block in blocks]
    assert not any(re.search(r"\tmov\tv|\tfmul\t|\t(ld|st)[rpu]+\tq", loop) for loop in loops)
    return [loop.count("fmla\t") for loop in loops]


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["clang"])
def test_multiply_adds_on_arm_overwrite_their_sums_and_copy_none(compiler: str, tmp_path: Path) -> None:
    # As many as four pipes of a latency of four cycles have under way.
    assert multiply_adds_on_arm(NATIVE / "runtime.c", tmp_path) == [16]


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["clang"])
def test_calibration_times_multiply_adds_on_arm_without_copies(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "probe.c").write_text(arithmetic.probe(16))
    assert multiply_adds_on_arm(tmp_path / "probe.c", tmp_path) == [
        arithmetic._OPERATIONS[name] for name in ("latency", "multiply-adds")
    ]
