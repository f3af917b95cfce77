"""The C that runs a model: it calls the kernels in order, on places in one block of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.models.kernels import SCRATCH_NAME
from polydl.models.memory import aligned

_CLOCK = (
    "static double polydl_now(void)",
    "{",
    "  struct timespec time;",
    "  clock_gettime(CLOCK_MONOTONIC, &time);",
    "  return time.tv_sec + 1e-9 * time.tv_nsec;",
    "}",
)
# Pages of 4 KiB would come to more than a core keeps addresses of. What was touched before keeps its own.
_LARGE_PAGES = (
    "static void polydl_in_large_pages(void *memory, size_t bytes)",
    "{",
    "#ifdef MADV_HUGEPAGE",
    "  const size_t page = 1 << 21, before = (page - (size_t)memory % page) % page;",
    "  if (bytes >= before + page)",
    "    (void)madvise((char *)memory + before, (bytes - before) / page * page, MADV_HUGEPAGE);",
    "#else",
    "  (void)memory, (void)bytes;",
    "#endif",
    "}",
)


@dataclass(frozen=True)
class DriverCall:
    """A kernel's call; arguments are C expressions of the driver."""

    function: str
    #: in the order of the parameters
    arguments: tuple[str, ...]

    @property
    def c(self) -> str:
        """Inputs are not written, whatever the types of the parameters say."""
        return f"{self.function}({', '.join(_argument(text) for text in self.arguments)});"


class PreparedBuffers:
    """Buffers behind the weights, for what kernels prepare of them; operators with the same weights share one."""

    def __init__(self, begin: int) -> None:
        #: the first byte behind all of them
        self.end = begin
        #: those that fill them
        self.calls: list[DriverCall] = []
        self._places: dict[DriverCall, str] = {}

    def of(self, function: str, constants: tuple[str, ...], size: int) -> str:
        """The buffer of so many bytes that a function fills from constants."""
        wanted = DriverCall(function, constants)
        if wanted not in self._places:
            self._places[wanted] = f"polydl_constant({self.end})"
            self.calls.append(DriverCall(function, (*constants, self._places[wanted])))
            self.end += aligned(size)
        return self._places[wanted]


@dataclass(frozen=True)
class Driver:
    """The C functions of a model around its kernels: what prepares, runs and times it."""

    #: what the functions' names begin with
    name: str
    #: elements of each input
    inputs: tuple[int, ...]
    #: elements of each output
    outputs: tuple[int, ...]
    #: with what is prepared of them
    weights_bytes: int
    #: of the values between the operators, and of what kernels need beside their arguments
    memory_bytes: int
    #: where the latter begins
    scratch_begin: int
    #: what prepares the weights once
    preparing: tuple[DriverCall, ...]
    #: those of the operators, in their order
    calls: tuple[DriverCall, ...]
    #: of all kernels
    threads: int

    @property
    def _prototypes(self) -> tuple[str, ...]:
        parameters = [
            *(f"const float input{number}[{elements}]" for number, elements in enumerate(self.inputs)),
            *(f"float output{number}[{elements}]" for number, elements in enumerate(self.outputs)),
            "const void *weights",
            "void *memory",
        ]
        return (
            f"size_t {self.name}_weights_bytes(void)",
            f"size_t {self.name}_memory_bytes(void)",
            f"void {self.name}_prepare_weights(void *weights)",
            f"void {self.name}_prepare_memory(void *memory)",
            f"void {self.name}({', '.join(parameters)})",
            f"void {self.name}_timed({', '.join([*parameters, f'double seconds[{len(self.calls)}]'])})",
        )

    @property
    def c(self) -> str:
        """The driver alone; kernels are linked with it."""
        weights_bytes, memory_bytes, prepare_weights, prepare_memory, run, timed = self._prototypes
        kernels = {each.function: each for each in (*self.preparing, *self.calls)}
        declarations = [
            f"void {name}({', '.join(['void *'] * len(each.arguments))});" for name, each in kernels.items()
        ]
        return "\n".join(
            [
                f"/* Calls the kernels of a model in order; {self.name}.h says how. */",
                "#include <stddef.h>",
                "#include <string.h>",
                "#include <time.h>",
                "#ifdef __linux__",
                "#include <sys/mman.h>",
                "#endif",
                f'#include "{self.name}.h"',
                "",
                f'__attribute__((weak, visibility("hidden"))) _Thread_local char *{SCRATCH_NAME};',
                "int omp_get_max_threads(void);",
                "void omp_set_num_threads(int);",
                *declarations,
                "",
                f"{weights_bytes} {{ return {self.weights_bytes}; }}",
                "",
                f"{memory_bytes} {{ return {self.memory_bytes}; }}",
                "",
                *_LARGE_PAGES,
                "",
                prepare_memory,
                "{",
                f"  polydl_in_large_pages(memory, {self.memory_bytes});",
                f"  memset(memory, 0, {self.memory_bytes});",
                "}",
                "",
                "#define polydl_constant(offset) (void *)((char *)weights + (offset))",
                "#define polydl_buffer(offset) (void *)((char *)memory + (offset))",
                "",
                *self._function(prepare_weights, self._preparing_calls),
                "",
                *self._function(run, self._lending([each.c for each in self.calls])),
                "",
                *_CLOCK,
                "",
                *self._function(timed, self._timed_calls),
                "",
            ]
        )

    def _lending(self, statements: Sequence[str]) -> list[str]:
        """Statements that run while kernels may use the memory behind the values."""
        return [
            f"char *const before = {SCRATCH_NAME};",
            f"{SCRATCH_NAME} = polydl_buffer({self.scratch_begin});",
            *statements,
            f"{SCRATCH_NAME} = before;",
        ]

    @property
    def _preparing_calls(self) -> list[str]:
        """What fills the memory behind the weights, which nothing has touched before."""
        calls = [each.c for each in self.preparing]
        return [f"polydl_in_large_pages(weights, {self.weights_bytes});", *calls] if calls else []

    @property
    def _timed_calls(self) -> list[str]:
        """The calls, each of which stores its time."""
        lines = ["double begin = polydl_now();"]
        for number, each in enumerate(self.calls):
            lines += [each.c, f"seconds[{number}] = polydl_now() - begin;", f"begin += seconds[{number}];"]
        return self._lending(lines)

    def _function(self, prototype: str, statements: Sequence[str]) -> list[str]:
        """A function that runs statements on the model's threads."""
        if not statements:
            return [f"{prototype} {{ (void)weights; }}"]
        return [
            prototype,
            "{",
            "  const int threads = omp_get_max_threads();",
            f"  omp_set_num_threads({self.threads});",
            *(f"  {each}" for each in statements),
            "  omp_set_num_threads(threads);",
            "}",
        ]

    @property
    def header(self) -> str:
        """Its declarations for C and C++."""
        guard = f"POLYDL_MODEL_{self.name.upper()}_H"
        return "\n".join(
            [
                "/* A model that polydl compiled.",
                " *",
                f" * Provide {self.weights_bytes} bytes at a multiple of 64, read {self.name}.weights to their begin",
                f" * and call {self.name}_prepare_weights, which fills the rest. Provide {self.memory_bytes} bytes at",
                f" * a multiple of 64, and call {self.name}_prepare_memory. Then each call of {self.name} computes the",
                " * outputs. Calls at the same time need a memory each; they may share the weights. Arrays are",
                f" * row-major, and must not overlap. {self.name}_timed does the same, and stores the time of each",
                " * operator, in the order of manifest.json. README.txt has a program.",
                " */",
                f"#ifndef {guard}",
                f"#define {guard}",
                "#include <stddef.h>",
                "#ifdef __cplusplus",
                'extern "C" {',
                "#endif",
                *(f"{prototype};" for prototype in self._prototypes),
                "#ifdef __cplusplus",
                "}",
                "#endif",
                "#endif",
                "",
            ]
        )


def _argument(text: str) -> str:
    return f"(void *){text}" if text.startswith("input") else text
