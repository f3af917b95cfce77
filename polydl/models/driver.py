"""The C that runs a model: it calls the kernels in order, on places in one block of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.models.memory import aligned


@dataclass(frozen=True)
class Call:
    """A kernel's call; arguments are C expressions of the driver."""

    function: str
    arguments: tuple[str, ...]


class PreparedBuffers:
    """Buffers behind the weights, for what kernels prepare of them; operators with the same weights share one."""

    def __init__(self, begin: int) -> None:
        #: the first byte behind all of them
        self.end = begin
        #: those that fill them
        self.calls: list[Call] = []
        self._places: dict[Call, str] = {}

    def of(self, function: str, constants: tuple[str, ...], size: int) -> str:
        """The buffer of so many bytes that a function fills from constants."""
        wanted = Call(function, constants)
        if wanted not in self._places:
            self._places[wanted] = f"constant({self.end})"
            self.calls.append(Call(function, (*constants, self._places[wanted])))
            self.end += aligned(size)
        return self._places[wanted]


@dataclass(frozen=True)
class Driver:
    """``inputs`` and ``outputs`` are numbers of elements."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    #: with what is prepared of them
    weights_bytes: int
    memory_bytes: int
    #: what prepares the weights once
    preparing: tuple[Call, ...]
    calls: tuple[Call, ...]
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
        )

    @property
    def c(self) -> str:
        """The driver alone; kernels are linked with it."""
        weights_bytes, memory_bytes, prepare_weights, prepare_memory, run = self._prototypes
        kernels = {each.function: each for each in (*self.preparing, *self.calls)}
        declarations = [
            f"void {name}({', '.join(['void *'] * len(each.arguments))});" for name, each in kernels.items()
        ]
        return "\n".join(
            [
                f"/* Calls the kernels of a model in order; {self.name}.h says how. */",
                "#include <stddef.h>",
                "#include <string.h>",
                f'#include "{self.name}.h"',
                "",
                "int omp_get_max_threads(void);",
                "void omp_set_num_threads(int);",
                *declarations,
                "",
                f"{weights_bytes} {{ return {self.weights_bytes}; }}",
                "",
                f"{memory_bytes} {{ return {self.memory_bytes}; }}",
                "",
                f"{prepare_memory} {{ memset(memory, 0, {self.memory_bytes}); }}",
                "",
                "#define constant(offset) (void *)((char *)weights + (offset))",
                "#define buffer(offset) (void *)((char *)memory + (offset))",
                "",
                *self._function(prepare_weights, self.preparing),
                "",
                *self._function(run, self.calls),
                "",
            ]
        )

    def _function(self, prototype: str, calls: Sequence[Call]) -> list[str]:
        """A function that makes calls on the model's threads."""
        if not calls:
            return [f"{prototype} {{ (void)weights; }}"]
        return [
            prototype,
            "{",
            "  const int threads = omp_get_max_threads();",
            f"  omp_set_num_threads({self.threads});",
            *(f"  {each.function}({', '.join(_argument(text) for text in each.arguments)});" for each in calls),
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
                " * row-major, and must not overlap. README.txt has a program.",
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
    """Inputs are not written, whatever the type of the parameter says."""
    return f"(void *){text}" if text.startswith("input") else text
