"""Kernels that work and kernels that don't: each becomes a measurement, and none harms the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from execute_nests import (
    HOSTILE,
    MATMUL_LOOPS,
    MATMUL_SIGNATURE,
    M,
    N,
    array,
    kernel,
    matmul,
    matmul_kernel,
    scop,
    statement,
)

from polydl.errors import OptionError, ResourceError
from polydl.execute.contract import Executor, Progress, TimingPolicy
from polydl.execute.local import EXECUTOR, processes_at_once
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop

QUICK = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=60.0)
# For those that hang: what answers must do so within this time on a busy machine too.
IMPATIENT = replace(QUICK, timeout_seconds=4.0)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def measured(toolchain: Toolchain, workplace: Path) -> dict[str, Measurement]:
    results = measure(matmul(), [matmul_kernel("original"), *HOSTILE.values()], toolchain, workplace, IMPATIENT)
    return {result.id: result for result in results}


def measure(
    nest: Scop,
    kernels: list[KernelSource],
    toolchain: Toolchain,
    directory: Path,
    policy: TimingPolicy = QUICK,
    threads: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Measurement, ...]:
    """Build all, and measure them against the first."""
    executor: Executor = EXECUTOR
    built = executor.build(kernels, toolchain, directory, progress=progress)
    return executor.measure(built[1:], built[0], nest, threads=threads, policy=policy, seed=1, progress=progress)


@pytest.mark.native
@pytest.mark.parametrize("name", ["original", "reordered", "prints"])
def test_right_answers_are_timed(measured: dict[str, Measurement], name: str) -> None:
    result = measured[name]
    assert result.status == "ok", result.message
    assert result.seconds_minimum is not None
    assert result.seconds_median is not None
    assert 0 < result.seconds_minimum <= result.seconds_median < 0.1
    assert len(result.samples) >= 2
    assert all(sample.seconds > 0 and min(sample.probe_gflops) > 0 for sample in result.samples)
    assert result.error is not None
    assert 0 <= result.error < 1e-5


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("one-element", "wrong", ["C[23][19]", "norm-wise error"]),
        ("beyond", "wrong", ["outside of `C`", "0 bytes after"]),
        ("ahead", "wrong", ["outside of `C`", "1 bytes before"]),
        ("input", "wrong", ["changes `A[0][5]`"]),
        ("nan", "wrong", ["C[1][2]", "nan"]),
        ("segfault", "crash", ["SIGSEGV"]),
        ("hang", "timeout", ["4 s"]),
        ("exit", "crash", ["exit status 0"]),
        ("abort", "crash", ["SIGABRT", "last words"]),
        ("syntax", "compile", ["syntax.c:3", "expected expression"]),
        ("undefined", "compile", ["nowhere"]),
        ("dies-later", "crash", ["SIGILL"]),
        ("wrong-later", "wrong", ["C[0][0]"]),
        ("forks", "timeout", []),
    ],
)
def test_failures_are_values(measured: dict[str, Measurement], name: str, status: str, words: list[str]) -> None:
    result = measured[name]
    assert result.status == status, result.message
    for word in words:
        assert word in result.message
    assert result.seconds_minimum is None
    assert result.seconds_median is None
    assert result.samples == ()
    assert Path(result.source).read_text() == HOSTILE[name].c


@pytest.mark.slow
@pytest.mark.native
def test_with_inputs_in_shared_memory_the_same_becomes_of_each(
    measured: dict[str, Measurement], toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(result: Measurement) -> tuple[str, str, bool]:
        # Without the paths of sources that a compiler names, and without what is said of disturbed samples.
        return result.status, "" if result.status in ("compile", "ok") else result.message, bool(result.samples)

    monkeypatch.setattr("polydl.execute.job._SHARED_BYTES", 0)
    kernels = [matmul_kernel("original"), *HOSTILE.values()]
    found = {result.id: shown(result) for result in measure(matmul(), kernels, toolchain, tmp_path, IMPATIENT)}
    assert found == {name: shown(result) for name, result in measured.items()}
    assert str(tmp_path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.native
def test_large_inputs_are_in_memory_once(toolchain: Toolchain, tmp_path: Path) -> None:
    # 67 MB, and a kernel that gives up if its process has as much for itself while it runs on the first data.
    size = 4096
    nest = scop(
        "rows",
        [array("y", "float", size), array("A", "float", size, size)],
        [statement("S0", "ij", (size, size), [("read", "y", "i"), ("write", "y", "i"), ("read", "A", "i, j")])],
    )
    c = f"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void rows(float y[{size}], float A[{size}][{size}]) {{
  static float first;
  if (!first) first = A[0][0];
  char line[256];
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file) && A[0][0] == first)
    if (!strncmp(line, "Private_Dirty:", 14) && atol(line + 14) > {size * size * 4 // 2048}) abort();
  if (!file) abort();
  fclose(file);
  for (int i = 0; i < {size}; i++)
    for (int j = 0; j < {size}; j += {size // 2})
      y[i] += A[i][j];
"""
    kernels = [kernel(nest, "original", f"{c}}}\n"), kernel(nest, "same", f"{c}}}\n")]
    kernels.append(kernel(nest, "writes", f"{c} A[7][8] = 0; }}\n"))
    found = measure(nest, kernels, toolchain, tmp_path)
    assert [each.status for each in found] == ["ok", "ok", "wrong"], found
    assert "changes `A[7][8]`" in found[2].message


@pytest.mark.native
def test_results_are_in_order_and_nothing_is_left(measured: dict[str, Measurement], workplace: Path) -> None:
    assert list(measured) == ["original", *HOSTILE]
    assert not list(workplace.glob("measuring-*"))
    assert not list(workplace.glob("*unfinished*"))
    assert (
        str(workplace) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.native
def test_two_threads_and_progress(toolchain: Toolchain, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    counting = kernel(
        matmul(),
        "counting",
        f"int omp_get_max_threads(void);\n{MATMUL_SIGNATURE} {{ if (omp_get_max_threads() != 2) __builtin_trap();"
        f"{MATMUL_LOOPS} }}",
    )
    events: list[Progress] = []
    results = measure(
        matmul(), [matmul_kernel("original"), counting], toolchain, tmp_path, threads=2, progress=events.append
    )
    assert [result.status for result in results] == ["ok", "ok"]
    assert [(e.stage, e.done, e.total) for e in events if e.stage != "time"] == [
        ("build", 1, 2),
        ("build", 2, 2),
        ("check", 1, 2),
        ("check", 2, 2),
    ]
    assert [(e.done, e.total) for e in events if e.stage == "time"] == [(1, 2), (2, 2)]


@pytest.mark.native
@pytest.mark.parametrize(
    ("before", "status", "words"),
    [
        ("*(volatile int *)0 = 0;", "crash", "SIGSEGV"),
        ("int x = ;", "compile", "expected expression"),
        ("C[0][0] = 0.0f / 0.0f;", "wrong", "C[0][0]"),
        (f"((volatile float *)C)[{M * N}] = 1.0f;", "wrong", "outside of `C`"),
        ("return;", "wrong", "changes no array"),
    ],
)
def test_without_a_reference_nothing_else_is_run(
    toolchain: Toolchain, tmp_path: Path, before: str, status: str, words: str
) -> None:
    kernels = [matmul_kernel("original", before=before), matmul_kernel("fine"), HOSTILE["syntax"]]
    original, fine, broken = measure(matmul(), kernels, toolchain, tmp_path)
    assert original.status == status
    assert words in original.message
    assert fine.status == "unsupported"
    assert words in fine.message
    assert broken.status == "compile"


@pytest.mark.native
def test_square_roots_get_positive_data(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "roots",
        [array("y", "double", 50), array("x", "double", 50)],
        [statement("S0", "i", (50,), [("write", "y", "i"), ("read", "x", "i")])],
    )
    loop = "void roots(double y[50], double x[50]) { for (int i = 0; i < 50; i++) y[i] = __builtin_sqrt(x[i]); }"
    less_precise = loop.replace("__builtin_sqrt", "(float)__builtin_sqrt")
    kernels = [kernel(nest, name, c) for name, c in (("original", loop), ("same", loop), ("float", less_precise))]
    results = measure(nest, kernels, toolchain, tmp_path)
    assert [result.status for result in results] == ["ok", "ok", "wrong"]
    assert results[2].error is not None
    assert 1e-9 < results[2].error < 1e-6


@pytest.mark.native
def test_integers_must_be_equal(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "dot",
        [array("c", "int", 8), array("a", "signed char", 8, 30), array("n", "int")],
        [statement("S0", "ik", (8, 30), [("read", "c", "i"), ("write", "c", "i"), ("read", "a", "i, k")])],
        by_value=["n"],
        bound={"n": 30},
    )
    text = """void dot(int c[8], signed char a[8][30], int n) {
      for (int i = 0; i < 8; i++) for (int k = 0; k < n; k++) c[i] += a[i][k] * a[i][k]; %s }"""
    kernels = [
        kernel(nest, "original", text % ""),
        kernel(nest, "same", text % ""),
        kernel(nest, "off-by-one", text % "c[7] += 1;"),
        kernel(nest, "other-size", text % "if (n != 30) __builtin_trap();"),
    ]
    results = measure(nest, kernels, toolchain, tmp_path)
    assert [result.status for result in results] == ["ok", "ok", "wrong", "ok"]
    assert "1 of 8 elements" in results[2].message


@pytest.mark.native
def test_global_arrays(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "shift",
        [
            array("alpha", "float"),
            array("x", "float", 100, storage="global"),
            array("y", "float", 100, storage="global"),
        ],
        [statement("S0", "i", (100,), [("write", "y", "i"), ("read", "x", "i"), ("read", "alpha", "")])],
        by_value=["alpha"],
    )
    text = """static float x[100]; float y[100];
      void shift(float alpha) { for (int i = 0; i < %d; i++) y[i] = x[i] + alpha; }"""
    kernels = [kernel(nest, name, text % n) for name, n in (("original", 100), ("same", 100), ("short", 99))]
    results = measure(nest, kernels, toolchain, tmp_path)
    assert [result.status for result in results] == ["ok", "ok", "wrong"]
    assert "y[99]" in results[2].message


@pytest.mark.native
@pytest.mark.parametrize("factor", ["0.5f", "3.0f"])
def test_values_that_decay_or_grow_are_refreshed(toolchain: Toolchain, tmp_path: Path, factor: str) -> None:
    nest = scop(
        "scale",
        [array("x", "float", 64)],
        [statement("S0", "i", (64,), [("read", "x", "i"), ("write", "x", "i")])],
    )
    # Slow like a processor that meets a subnormal number, only more so.
    text = f"""#include <unistd.h>
      void scale(float x[64]) {{
      int ordinary = 1;
      for (int i = 0; i < 64; i++) {{
        x[i] *= {factor};
        float size = __builtin_fabsf(x[i]);
        ordinary &= size == 0 || (size > 1e-38f && size < 1e30f);
      }}
      if (!ordinary) usleep(200); }}"""
    kernels = [kernel(nest, "original", text), kernel(nest, "same", text)]
    results = measure(nest, kernels, toolchain, tmp_path)
    assert [result.status for result in results] == ["ok", "ok"]
    # Ten thousand invocations make a sample, and after about a hundred the values are no longer ordinary.
    assert all(result.seconds_median is not None and result.seconds_median < 5e-5 for result in results)


@pytest.mark.native
def test_cold_caches(toolchain: Toolchain, tmp_path: Path) -> None:
    policy = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=60.0, cold=True)
    kernels = [matmul_kernel("original"), matmul_kernel("same")]
    results = measure(matmul(), kernels, toolchain, tmp_path, policy)
    assert [result.status for result in results] == ["ok", "ok"]


@pytest.mark.slow
@pytest.mark.native
def test_long_runs_are_not_repeated(toolchain: Toolchain, tmp_path: Path) -> None:
    slow = matmul_kernel("original", head="#include <unistd.h>", before="usleep(600000);")
    policy = TimingPolicy(rounds=5, budget_seconds=60.0, timeout_seconds=60.0)
    original, fast = measure(matmul(), [slow, matmul_kernel("fast")], toolchain, tmp_path, policy)
    assert original.status == fast.status == "ok"
    # The run that was checked, and at most two more.
    assert 2 <= len(original.samples) <= 3
    assert len(fast.samples) >= 5
    assert original.seconds_minimum is not None
    assert original.seconds_minimum > 0.6


@pytest.mark.native
def test_too_many_threads(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="1000 threads"):
        measure(matmul(), [matmul_kernel("original")], toolchain, tmp_path, threads=1000)


@pytest.mark.native
def test_arrays_larger_than_memory(toolchain: Toolchain, tmp_path: Path) -> None:
    nest = scop(
        "fill", [array("x", "double", 1 << 20, 1 << 20)], [statement("S0", "ij", (4, 4), [("write", "x", "i, j")])]
    )
    fill = kernel(nest, "original", "void fill(double (*x)[1 << 20]) { x[0][0] = 1; }")
    with pytest.raises(ResourceError, match=r"8796\.09 GB"):
        measure(nest, [fill], toolchain, tmp_path)


def test_processes_at_once() -> None:
    gigabyte = 1 << 30
    assert processes_at_once(gigabyte, 1000 * gigabyte) == 64
    assert processes_at_once(gigabyte, 10 * gigabyte) == 5
    assert processes_at_once(7 * gigabyte, 10 * gigabyte) == 1
    with pytest.raises(ResourceError):
        processes_at_once(gigabyte, gigabyte)
    # All share nine tenths: that much once, a tenth for each, and room for a copy.
    assert processes_at_once(10 * gigabyte, 22 * gigabyte, shared=9 * gigabyte) == 1
    assert processes_at_once(10 * gigabyte, 24 * gigabyte, shared=9 * gigabyte) == 3
    assert processes_at_once(10 * gigabyte, 100 * gigabyte, shared=9 * gigabyte) == 48


@pytest.mark.native
def test_one_process_at_a_time(toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.execute.local.available_bytes", lambda: 90 << 20)
    kernels = [matmul_kernel("original"), matmul_kernel("first"), HOSTILE["segfault"], matmul_kernel("last")]
    results = measure(matmul(), kernels, toolchain, tmp_path)
    assert [result.status for result in results] == ["ok", "ok", "crash", "ok"]
    assert all(len(result.samples) >= 2 for result in results if result.status == "ok")


@pytest.mark.native
def test_waves(toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.execute.local._MOST_PROCESSES", 2)
    events: list[Progress] = []
    kernels = [matmul_kernel("original"), matmul_kernel("first"), matmul_kernel("last")]
    results = measure(matmul(), kernels, toolchain, tmp_path, progress=events.append)
    assert [result.status for result in results] == ["ok", "ok", "ok"]
    assert len(results[0].samples) >= 4
    assert [(e.done, e.total) for e in events if e.stage == "time"] == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.native
def test_interrupt_ends_every_process(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        from test_execute import HOSTILE, EXECUTOR, Toolchain, TimingPolicy, matmul, matmul_kernel
        directory = Path({str(tmp_path)!r})
        built = EXECUTOR.build([matmul_kernel("original"), HOSTILE["hang"]], Toolchain.find(), directory)
        policy = TimingPolicy(timeout_seconds=600)
        def progress(event):
            print(event.stage, flush=True)
        EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=policy, progress=progress)
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell without job control starts what runs in its background with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "check\n"
    deadline = time.monotonic() + 20
    # The process that forks the others, the original, and the kernel that hangs.
    while len(_descendants(parent.pid)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    children = _descendants(parent.pid)
    assert len(children) == 3
    assert list(tmp_path.glob("measuring-*"))
    parent.send_signal(signal.SIGINT)
    _, stderr = parent.communicate(timeout=20)
    assert "KeyboardInterrupt" in stderr
    # One that was just starting is not killed: it ends when it finds its pipe closed.
    deadline = time.monotonic() + 20
    while any(_runs(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [child for child in children if _runs(child)]
    assert not list(tmp_path.glob("measuring-*"))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _runs(process: int) -> bool:
    """Whether there is such a process that has not ended; one without a parent to wait for it stays a zombie."""
    status = _text(Path(f"/proc/{process}/status"))
    return bool(status) and "\nState:\tZ" not in status


def _descendants(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    children = [int(line) for line in listed.stdout.split()]
    return children + [each for child in children for each in _descendants(child)]


def test_the_worker_imports_little() -> None:
    script = (
        "import sys, polydl.execute.worker; "
        "print([m for m in ('islpy', 'click', 'rich', 'cffi', 'polydl.execute.session') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
