"""Emitted code takes all threads, or one while other programs keep them waiting: with a clock of the test's own."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from golden_code import Case, generated
from hypothesis import given
from hypothesis import strategies as st
from library_kernels import THREADS
from machines import machine_with
from marks import parametrized
from symbolic_nests import product, symbolic

from polydl.codegen import team
from polydl.codegen.dealt import dealing
from polydl.codegen.original import original
from polydl.codegen.parallel_source import with_parallel_loops
from polydl.codegen.plain_unit import plain_unit
from polydl.execute.toolchain import Toolchain
from polydl.libraries.decision import Leaf
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import symbolic_product
from polydl.libraries.unit import unit
from polydl.poly.dependences import dependences

pytestmark = pytest.mark.native

GOLDEN = Path(__file__).with_name("golden")

# OpenMP of a program with no threads at all, and a call of which the test says how long it takes.
SIMULATION = """\
static int threads = 2, inside;
static double now;
static int omp_in_parallel(void) { return inside; }
static int omp_get_max_threads(void) { return threads; }
static void omp_set_num_threads(int number) { threads = number; }
static double omp_get_wtime(void) { return now; }
#include "team.c"
static struct polydl_team team;
int call(double serial, double together, double work)
{
  struct polydl_call timed;
  polydl_begin(&timed, &team, work);
  const int taken = threads;
  now += taken == 1 ? serial : together;
  polydl_end(&timed);
  return taken;
}
int call_of_loops(double serial, double together, int loops)
{
  struct polydl_call timed;
  polydl_begin(&timed, &team, 1);
  int taken = 0;
  for (int loop = 0; loop < loops; ++loop) {
    polydl_between();
    taken += threads > 1;
    now += (threads == 1 ? serial : together) / loops;
  }
  polydl_end(&timed);
  return taken;
}
void caller(int with_threads, int in_parallel)
{
  threads = with_threads;
  inside = in_parallel;
}
int threads_of_caller(void) { return threads; }
double seconds(void) { return now; }
void restart(void)
{
  caller(2, 0);
  now = 0;
  team = (struct polydl_team){0, 0};
}
"""


class Simulation:
    """Calls of one function; each says on how many threads it ran."""

    def __init__(self, folder: Path, *flags: str) -> None:
        (folder / "team.c").write_text(team.support(), encoding="utf-8")
        (folder / "calls.c").write_text(SIMULATION, encoding="utf-8")
        command = [str(Toolchain.find().path), "-O1", "-Wall", "-Wno-unused-function", "-Werror", "-D_OPENMP=201511"]
        command += [*flags, "-shared", "-fPIC", "calls.c", "-o", "calls.so"]
        subprocess.run(command, cwd=folder, check=True)
        self.library = ctypes.CDLL(str(folder / "calls.so"))
        self.library.call.argtypes = [ctypes.c_double] * 3
        self.library.call_of_loops.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_int]
        self.library.seconds.restype = ctypes.c_double

    def call_of_loops(self, serial: float, together: float, loops: int) -> int:
        """A call that is as long, in so many loops: how many of them run on all threads."""
        return int(self.library.call_of_loops(serial, together, loops))

    def call(self, serial: float, together: float, work: float = 1) -> int:
        """A call that takes ``serial`` seconds on one thread, ``together`` on all."""
        return int(self.library.call(serial, together, work))

    @property
    def seconds(self) -> float:
        """Of all calls."""
        return float(self.library.seconds())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    return Simulation(tmp_path_factory.mktemp("team"))


@pytest.fixture
def calls(built: Simulation) -> Iterator[Simulation]:
    built.library.restart()
    yield built
    built.library.restart()


def test_on_a_quiet_machine_all_calls_but_the_first_take_all_threads(calls: Simulation) -> None:
    assert [calls.call(20e-6, 11e-6) for _ in range(1000)] == [1, 1, *[2] * 998]


def test_a_long_call_runs_on_one_thread_once(calls: Simulation) -> None:
    assert [calls.call(0.2, 0.1) for _ in range(10)] == [1, *[2] * 9]


def test_a_first_call_that_has_more_to_do_says_little_of_later_ones(calls: Simulation) -> None:
    taken = [calls.call(80e-3, 80e-3), calls.call(20e-6, 80e-3), *(calls.call(20e-6, 1e-3) for _ in range(1000))]
    assert taken.count(1) > 900


@pytest.mark.parametrize(("serial", "together"), [(20e-6, 32e-3), (0.4e-3, 17e-3), (10e-3, 76e-3), (1e-3, 1.2e-3)])
def test_beside_other_programs_calls_take_a_tenth_longer_than_on_one_thread(
    calls: Simulation, serial: float, together: float
) -> None:
    number = int(40 * together / serial)
    for _ in range(number):
        calls.call(serial, together)
    assert calls.seconds <= 1.1 * serial * number + together + 1e-3


@given(
    serial=st.sampled_from([5e-6, 3e-4, 2e-2]),
    together=st.lists(st.sampled_from([0.4, 0.6, 1.0, 1.3, 2, 30, 1000]), min_size=1, max_size=300),
)
def test_nothing_that_happens_makes_calls_take_much_longer_than_on_one_thread(
    built: Simulation, serial: float, together: list[float]
) -> None:
    built.library.restart()
    for times in together:
        built.call(serial, times * serial)
    # The call that lost last isn't made up for yet.
    assert built.seconds <= 1.1 * serial * len(together) + max(together) * serial + 1e-3


def test_threads_are_tried_again_when_the_others_are_gone(calls: Simulation) -> None:
    busy = [calls.call(1e-4, 5e-3) for _ in range(2000)]
    quiet = [calls.call(1e-4, 6e-5) for _ in range(2000)]
    assert busy.count(1) > 1900
    assert set(quiet[-1000:]) == {2}


def test_one_long_call_after_many_that_gained_changes_nothing(calls: Simulation) -> None:
    for _ in range(2000):
        calls.call(20e-6, 11e-6)
    assert calls.call(20e-6, 4e-3) == 2
    assert {calls.call(20e-6, 11e-6) for _ in range(100)} == {2}


def test_threads_that_have_to_wake_up_are_given_the_time(calls: Simulation) -> None:
    for _ in range(2000):
        calls.call(20e-6, 5e-3)
    taken: list[int] = []
    for _ in range(2000):
        asleep = bool(taken) and taken[-1] == 1
        taken.append(calls.call(20e-6, 120e-6 if asleep else 11e-6))
    assert set(taken[-1000:]) == {2}


def test_both_ways_slow_are_compared_as_they_are_now(calls: Simulation) -> None:
    """Beside other programs one thread is slower, too."""
    for _ in range(10):
        calls.call(10e-3, 5.5e-3)
    taken = [calls.call(30e-3, 18e-3) for _ in range(300)]
    assert set(taken[-100:]) == {2}


def test_a_call_that_waits_too_long_runs_its_remaining_loops_on_one_thread(calls: Simulation) -> None:
    assert [calls.call_of_loops(20e-3, 11e-3, 50) for _ in range(4)] == [0, 0, 50, 50]
    before = calls.seconds
    # 18 ms of a second are what calls may lose that gained so much; each loop takes 20 ms then.
    assert calls.call_of_loops(20e-3, 1.0, 50) == 2
    assert calls.library.threads_of_caller() == 2
    assert calls.seconds - before < 3 * 20e-3
    before = calls.seconds
    assert {calls.call_of_loops(20e-3, 1.0, 50) for _ in range(9)} == {0}
    for _ in range(1000):
        calls.call_of_loops(20e-3, 1.0, 50)
    assert calls.seconds - before < 1.15 * 20e-3 * 1009


def test_the_number_of_threads_stays_the_caller_s(calls: Simulation) -> None:
    for number in (4, 3, 2, 7):
        calls.library.caller(number, 0)
        for together in (5e-6, 5e-3, 5e-6):
            assert calls.call(1e-5, together) in (1, number)
            assert calls.library.threads_of_caller() == number
            assert calls.call_of_loops(1e-5, together, 3) in (0, 1, 2, 3)
            assert calls.library.threads_of_caller() == number


def test_within_a_parallel_region_and_with_one_thread_nothing_is_chosen(calls: Simulation) -> None:
    calls.library.caller(2, 1)
    assert {calls.call(1e-6, 1e-2) for _ in range(10)} == {2}
    calls.library.caller(1, 0)
    assert {calls.call(1e-6, 1e-2) for _ in range(10)} == {1}
    calls.library.caller(2, 0)
    assert [calls.call(1e-6, 6e-7) for _ in range(4)] == [1, 1, 2, 2]


def test_calls_with_other_work_are_judged_by_their_work(calls: Simulation) -> None:
    for _ in range(2):
        calls.call(1e-3, 1e-3, 100)
    assert {calls.call(1e-3 * work / 100, 0.6e-3 * work / 100, work) for work in range(100, 200)} == {2}


def test_all_calls_take_all_threads_if_the_code_is_compiled_so(tmp_path: Path) -> None:
    fixed = Simulation(tmp_path, f"-D{team.ALL_THREADS}")
    assert {fixed.call(1e-6, 1e-2) for _ in range(10)} == {2}


# A clock that says on how many threads it is asked: where a call begins and ends, and between its loops.
ASKED = """\
#include <stdio.h>
#ifndef TOGETHER
#define TOGETHER 1e-6
#endif
int omp_get_max_threads(void);
static double asked_clock(void)
{
  static double now;
  printf("%d ", omp_get_max_threads());
  return now += omp_get_max_threads() > 1 ? TOGETHER : 1e-6;
}
#define POLYDL_CLOCK asked_clock
"""
PROGRAM = """
#include <string.h>
static float a[256 * 256], b[256 * 256], c[256 * 256], first[256 * 256];
int main(void)
{
  for (int i = 0; i < 256 * 256; ++i) {
    a[i] = (float)(i % 17) / 7;
    b[i] = (float)(i % 23) / 11;
  }
  for (int i = 0; i < 4; ++i) {
    memset(c, 0, sizeof c);
    CALL;
    if (!i)
      memcpy(first, c, sizeof c);
    if (memcmp(first, c, sizeof c))
      printf("other bits ");
  }
  printf("%d\\n", omp_get_max_threads());
}
"""


def said(folder: Path, text: str, call: str, *flags: str, threads: int = 2, toolchain: Toolchain | None = None) -> str:
    """What a program says that makes four calls on so many threads: the answer of all is the same, bit by bit."""
    toolchain = toolchain or Toolchain.find()
    (folder / "program.c").write_text(ASKED + text + PROGRAM.replace("CALL", call), encoding="utf-8")
    command = [str(toolchain.path), *toolchain.flags, "-Wall", "-Werror", *flags, "program.c", "-o", "program", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    return subprocess.run([folder / "program"], env=environment, capture_output=True, text=True, check=True).stdout


@parametrized(
    ("name", "call", "between"),
    [
        ("matmul_relu/c", "matmul_relu((void *)c, (void *)a, (void *)b)", 2),
        (
            "matmul/c-panels-prepared",
            "static char kept[1 << 20] __attribute__((aligned(64))); matmul_prepare((void *)b, kept); "
            "i % 2 ? matmul_run((void *)c, (void *)a, (void *)b, kept) : matmul((void *)c, (void *)a, (void *)b)",
            0,
        ),
    ],
    quick=1,
)
def test_emitted_functions_choose_and_give_the_same_answer_on_any_threads(
    tmp_path: Path, name: str, call: str, between: int
) -> None:
    file = GOLDEN / f"{name}.json"
    text = generated(Case.from_json(file.with_name("nest.c"), json.loads(file.read_text(encoding="utf-8")))).c
    assert said(tmp_path, text, call) == f"1 1 1 1 {'2 2 ' * (2 + between)}2\n"
    assert said(tmp_path, text, call, f"-D{team.ALL_THREADS}", "-Wno-unused-function") == "2\n"
    # Where all threads take a second, the third call notices, before its next loop or at its end.
    assert said(tmp_path, text, call, "-DTOGETHER=1.0") == f"1 1 1 1 {'2 ' * (3 if between else 2)}1 1 2\n"


# What gcc calls to deal a loop out, and with how many threads.
COUNTED = """
void __real_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
  printf("dealt to %u ", threads);
  __real_GOMP_parallel(body, data, threads, flags);
}
"""
SCALED = """\
static float twice(float x) { return x + x; }
int scaled(float c[restrict 256][256], const float a[256][256]) {
  int rows = 256;
#pragma scop
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      c[i][j] = twice(a[i][j]);
#pragma endscop
  return rows;
}
"""
SUMMED = """\
void summed(float out[restrict 64], const float a[64][512]) {
#pragma scop
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 512; ++j)
      out[i] += a[i][j];
#pragma endscop
}
"""


def instructions(folder: Path, text: str, function: str, toolchain: Toolchain, *flags: str) -> list[str]:
    """What a function that is called nowhere else is compiled to, without the names of places."""
    (folder / "text.c").write_text(text.replace("static void summed", "void summed"), encoding="utf-8")
    command = [str(toolchain.path), *toolchain.flags, *flags, "-fPIC", "-S", "text.c", "-o", "text.s"]
    subprocess.run(command, cwd=folder, check=True)
    lines = (folder / "text.s").read_text(encoding="utf-8").split(f"\n{function}:\n")[1].split("\t.size\t")[0]
    return [re.sub(r"\.L\w+", "", line) for line in lines.splitlines()]


@pytest.mark.parametrize("constants", [(), ("a",)])
def test_loops_that_gcc_deals_out_run_on_one_thread_where_the_caller_has_fewer(
    tmp_path: Path, constants: tuple[str, ...]
) -> None:
    toolchain = Toolchain.find("gcc")
    scop = replace(parse(tmp_path, SCALED), constants=constants)
    build = original(scop)
    build = replace(build, compile_flags=(*build.compile_flags, "-ffast-math", dealing(3)))
    emitted = plain_unit(scop, build, "", "scaled")
    assert emitted.compile_flags == ("-ffast-math",)
    (threads,) = [each.text for each in emitted.interface.clauses if each.topic == "Threads"]
    assert threads.startswith("Loops that gcc deals out by itself run on 3; on the calling thread alone where OpenMP")
    call = 'printf("%d: ", scaled((void *)c, (void *)a)), (void)b'
    flags = [*emitted.compile_flags, "-Wl,--wrap=GOMP_parallel"]
    text = COUNTED + emitted.c
    alone = said(tmp_path, text, call, *flags, threads=2, toolchain=toolchain)
    assert alone == "1 1 256: 1 1 256: 2 2 256: 2 2 256: 2\n"
    dealt = said(tmp_path, text, call, *flags, threads=4, toolchain=toolchain)
    assert dealt == f"1 1 256: 1 1 256: {'4 dealt to 3 4 256: ' * 2}4\n"
    assert said(tmp_path, text, call, *flags, threads=1, toolchain=toolchain) == f"{'256: ' * 4}1\n"
    fixed = said(
        tmp_path, text, call, *flags, f"-D{team.ALL_THREADS}", "-Wno-unused-function", threads=3, toolchain=toolchain
    )
    assert fixed == f"{'dealt to 3 256: ' * 4}3\n"


SWEPT = """\
void swept(float c[256][256]) {
#pragma scop
  for (int t = 1; t < 6; ++t)
    for (int i = 0; i < 256; ++i)
      c[t][i] = c[t - 1][i] * 0.5f + 1.0f;
#pragma endscop
}
"""


@pytest.mark.parametrize("written", [False, True])
def test_a_plain_nest_asks_before_each_of_its_parallel_loops(tmp_path: Path, written: bool) -> None:
    scop = parse(tmp_path, SWEPT)
    directed = with_parallel_loops(scop, dependences(scop), 2)
    assert directed is not None
    source, asking = directed.text(), directed.text(team.QUESTION)
    text, asked = (each[each.index("#pragma scop") + 12 : each.index("#pragma endscop")] for each in (source, asking))
    if written:
        scop, text, asked = parse(tmp_path, source), "", ""
    emitted = plain_unit(scop, original(scop), text, "swept", asking_region=asked)
    call = "swept((void *)c), (void)a, (void)b"
    clauses = re.findall("#pragma omp parallel for(.*)", emitted.c)
    assert clauses.count(f" if (parallel: {team.BETWEEN}())") == 1
    assert said(tmp_path, emitted.c, call) == f"1 1 1 1 {'2 2 2 2 2 2 2 ' * 2}2\n"
    # Where a second passes before a loop, the third call asks no more.
    assert said(tmp_path, emitted.c, call, "-DTOGETHER=1.0") == "1 1 1 1 2 2 2 1 1 2\n"
    assert said(tmp_path, emitted.c, call, f"-D{team.ALL_THREADS}", "-Wno-unused-function") == "2\n"


def test_what_runs_on_one_thread_is_compiled_as_if_nothing_were_dealt_out(tmp_path: Path) -> None:
    """An attribute that sets optimizations might take back what flags set: vectors, and sums in any order."""
    toolchain = Toolchain.find("gcc")
    scop = parse(tmp_path, SUMMED)
    build = original(scop)
    flags = (*build.compile_flags, "-ffast-math")
    texts = [
        plain_unit(scop, replace(build, compile_flags=(*flags, *more)), "", "summed").c for more in ((), (dealing(2),))
    ]
    plain, alone = (
        instructions(tmp_path, text, name, toolchain, *flags)
        for text, name in zip(texts, ("polydl_tuned_summed", "polydl_alone_summed"), strict=True)
    )
    assert plain == alone
    assert any(re.match(r"\tv?addps\t", each) for each in alone)
    dealt = instructions(tmp_path, texts[1], "polydl_dealt_summed", toolchain, *flags)
    assert any("GOMP_parallel" in each for each in dealt)


def test_a_library_chooses_for_sizes_that_are_near_each_other(tmp_path: Path) -> None:
    nest = symbolic(product(), tmp_path)
    kernels = {"threads": Kernel(blocking=THREADS)}
    source = unit(nest, symbolic_product(nest), Leaf("threads"), kernels, machine_with(1, 32), identity="library")
    call = "gemm(i % 2 ? 60 : 6, 50, 40, (void *)c, (void *)a, (void *)b), memcpy(first, c, sizeof c)"
    assert said(tmp_path, source.c, call.replace("i % 2", "i / 2")) == "1 1 1 1 1 1 1 1 2\n"
    assert said(tmp_path, source.c, call.replace("60 : 6", "41 : 40")) == "1 1 1 1 2 2 2 2 2 2 2 2 2\n"


def test_a_kernel_that_has_no_threads_chooses_none(tmp_path: Path) -> None:
    cases = [
        Case.from_json(path.with_name("nest.c"), json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(GOLDEN.glob("matmul*/*.json"))
    ]
    texts = [generated(case).c for case in cases]
    alone = [text for text in texts if "omp parallel" not in text]
    assert alone
    assert all("polydl_begin" not in text for text in alone)
