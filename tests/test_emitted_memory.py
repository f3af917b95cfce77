"""Memory that emitted code keeps for each calling thread: it is freed in time, and done without if there is none."""

from __future__ import annotations

import gc
import subprocess
from pathlib import Path

import numpy as np
import pytest
from golden_code import generated
from packed_nest import operands, packed_case

from polydl.codegen.kept_memory import SCRATCH
from polydl.execute.build import build
from polydl.execute.callable import load
from polydl.execute.toolchain import Toolchain
from polydl.pipeline import parse

pytestmark = pytest.mark.native

# The emitted file with counted allocations, which can be made to fail, and a main function that calls it.
COUNTED = """\
#include <stdlib.h>
static long live, made, refused;
static void *counted(void *memory) {
  if (memory && __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED))
    __atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
  return memory;
}
static void *counted_aligned(size_t alignment, size_t size) {
  return refused == 1 ? NULL : counted(aligned_alloc(alignment, size));
}
static void *counted_calloc(size_t count, size_t size) { return refused == 2 ? NULL : counted(calloc(count, size)); }
static void counted_free(void *memory) {
  if (memory)
    __atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
  free(memory);
}
#define aligned_alloc counted_aligned
#define calloc counted_calloc
#define free counted_free
#include "packed.c"
#undef calloc
#undef free
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static float A[M][K], B[K][N], wanted[M][N];
static float (*new_output(void))[N] { return calloc(M, sizeof *wanted); }
static int is_right(void) {
  float (*C)[N] = new_output();
  packed(C, A, B);
  int right = 1;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      right &= C[i][j] == wanted[i][j];
  free(C);
  return right;
}
static void *call(void *unused) { (void)unused; return is_right() ? NULL : A; }
static void *call_on(void *unused) { for (;;) call(unused); return NULL; }
static int in_threads(int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    void *result;
    wrong += pthread_create(&thread, NULL, call, NULL) || pthread_join(thread, &result) || result;
  }
  return wrong;
}
int main(void) {
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      A[i][k] = (float)((i + 2 * k) % 5 - 2);
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j)
      B[k][j] = (float)((3 * k + j) % 7 - 3);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        wanted[i][j] += A[i][k] * B[k][j];
  TEST
  return 0;
}
"""


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


def output(toolchain: Toolchain, folder: Path, test: str) -> str:
    """What a program prints that runs the statements ``test``."""
    (folder / "packed.c").write_text(generated(packed_case(folder)).c)
    return compiled(toolchain, folder, COUNTED.replace("TEST", test))


def compiled(toolchain: Toolchain, folder: Path, program: str) -> str:
    """What a program prints that includes ``packed.c``."""
    (folder / "main.c").write_text(program)
    command = [str(toolchain.path), *toolchain.flags, "main.c", "-o", "main", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([folder / "main"], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_thread_that_ends_leaves_nothing(toolchain: Toolchain, tmp_path: Path) -> None:
    test = 'printf("%d", in_threads(1000)); printf(" %ld %ld\\n", made, live);'
    assert output(toolchain, tmp_path, test) == "0 2000 0\n"


def test_memory_is_kept_between_calls_until_it_is_released(toolchain: Toolchain, tmp_path: Path) -> None:
    test = """
  packed_release();
  printf("%d", is_right() && is_right());
  printf(" %ld", live);
  packed_release();
  printf(" %ld", live);
  printf(" %d", is_right());
  printf(" %ld %ld\\n", live, made);"""
    assert output(toolchain, tmp_path, test) == "1 2 0 1 2 4\n"


def test_a_program_may_lend_the_memory(toolchain: Toolchain, tmp_path: Path) -> None:
    lent = f"#define {SCRATCH} lent\n_Thread_local char *lent;\n{COUNTED}"
    (tmp_path / "packed.c").write_text(generated(packed_case(tmp_path)).c)
    size = generated(packed_case(tmp_path)).reserved_bytes
    assert size == 64 * 128 * 4
    test = f"""
  printf("%d %ld", is_right(), made);
  static _Alignas(64) char room[{size} + 1];
  room[{size}] = 77;
  lent = room;
  printf(" %d", is_right());
  packed_release();
  printf(" %d %d %ld %d\\n", is_right(), room[{size}], live, in_threads(2));"""
    assert compiled(toolchain, tmp_path, lent.replace("TEST", test)) == "1 0 1 1 77 0 0\n"


@pytest.mark.parametrize("refused", [1, 2])
def test_without_memory_the_original_nest_runs(toolchain: Toolchain, tmp_path: Path, refused: int) -> None:
    test = f'refused = {refused}; printf("%d %d", is_right(), in_threads(2)); printf(" %ld", live); refused = 0;'
    test += ' printf(" %d", is_right()); printf(" %ld\\n", live);'
    assert output(toolchain, tmp_path, test) == "1 0 0 1 2\n"


def test_a_process_may_end_while_threads_call(toolchain: Toolchain, tmp_path: Path) -> None:
    test = "pthread_t threads[4]; for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, call_on, NULL);"
    assert output(toolchain, tmp_path, test + " usleep(5000);") == ""
    for _ in range(20):
        assert subprocess.run([tmp_path / "main"], check=False, timeout=60).returncode == 0


def test_a_library_that_is_closed_leaves_nothing(toolchain: Toolchain, tmp_path: Path) -> None:
    """Threads that have called it end later, when its code is gone."""
    (tmp_path / "packed.c").write_text(generated(packed_case(tmp_path)).c)
    library = [str(toolchain.path), *toolchain.flags, "-shared", "-fPIC", "packed.c", "-o", "libpacked.so"]
    subprocess.run(library, cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(
        """\
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
int omp_get_max_threads(void);
enum { M = 24, N = 128, K = 64 };
static float A[M][K], B[K][N], C[M][N];
static pthread_barrier_t called, closed;
static void (*function)(float (*)[N], const float (*)[K], const float (*)[N]);
static void *call(void *unused) {
  float (*output)[N] = malloc(sizeof C);
  function(output, A, B);
  free(output);
  pthread_barrier_wait(&called);
  pthread_barrier_wait(&closed);
  return unused;
}
static void turn(void) {
  void *library = dlopen("./libpacked.so", RTLD_NOW);
  function = (void (*)(float (*)[N], const float (*)[K], const float (*)[N]))dlsym(library, "packed");
  pthread_t thread;
  pthread_create(&thread, NULL, call, NULL);
  function(C, A, B);
  pthread_barrier_wait(&called);
  dlclose(library);
  pthread_barrier_wait(&closed);
  pthread_join(thread, NULL);
}
int main(void) {
  pthread_barrier_init(&called, NULL, 2);
  pthread_barrier_init(&closed, NULL, 2);
  turn();
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (int i = 0; i < 100; ++i)
    turn();
  const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  printf("%d %d\\n", omp_get_max_threads() > 0, after < before + sizeof(B));
  return dlopen("./libpacked.so", RTLD_NOW | RTLD_NOLOAD) != NULL;
}
"""
    )
    # OpenMP's threads outlive the library: the program has the runtime as well.
    program = [str(toolchain.path), "-fopenmp", "main.c", "-o", "main", "-ldl"]
    subprocess.run(program, cwd=tmp_path, check=True)
    ran = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "1 1\n")


def test_a_kernel_in_python_releases_what_it_keeps(toolchain: Toolchain, tmp_path: Path) -> None:
    case = packed_case(tmp_path)
    (built,) = build([generated(case)], toolchain, tmp_path)
    assert built.library is not None, built.message
    kernel = load(built.library, parse(case.nest))
    given, expected = operands()
    kernel(**given)
    np.testing.assert_array_equal(given["C"], expected)
    kernel.release()
    kernel.release()
    given["C"][:] = 0
    kernel(**given)
    np.testing.assert_array_equal(given["C"], expected)
    del kernel
    gc.collect()
