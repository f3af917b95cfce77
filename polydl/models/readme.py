"""The README.txt beside a compiled model: how a C program uses it, and how it is built."""

from __future__ import annotations

from math import prod

from polydl.ir.counts import counted
from polydl.models.manifest import Manifest, Tensor


def readme(manifest: Manifest) -> str:
    """Its text, with a complete program."""
    name = manifest.name
    inputs, outputs = _arrays(manifest)
    shapes = [
        *(f"  {array}   {_shape(each.shape)}, {each.name}" for array, each in inputs.items()),
        *(f"  {array}  {_shape(each.shape)}" for array, each in outputs.items()),
    ]
    build = [
        f"  cc -O2 program.c -I. -L. -l{name} -Wl,-rpath,\"$PWD\" -o program",
        "  ./program",
    ]  # fmt: skip
    files = {
        f"{name}.h": "the declarations, for C and C++, and what callers must see to",
        f"lib{name}.so": "the model, compiled",
        f"{name}.weights": "its weights",
        f"{name}.c, kernel_*.c": "its C",
        "build.sh": "compiles the library again, and enters that in manifest.json",
        "manifest.json": "what was chosen for each operator, and what the files must be; polydl.load reads it",
    }
    wide = max(map(len, files))
    threads = counted(manifest.threads, "thread")
    return "\n".join(
        [
            f"A model that polydl compiled, for {threads}. Arrays are row-major floats:",
            "",
            *shapes,
            "",
            "A program that uses it, program.c:",
            "",
            *(f"  {line}".rstrip() for line in _program(manifest)),
            "",
            "In this folder:",
            "",
            *build,
            "",
            "In Python, with polydl alone: polydl.load(folder)(input).",
            "",
            "Files:",
            "",
            *(f"  {file:{wide}}  {what}" for file, what in files.items()),
            "",
        ]
    )


def _shape(extents: tuple[int, ...]) -> str:
    return " x ".join(map(str, extents)) or "1"


def _variable(word: str, manifest: Manifest) -> str:
    """What a variable of the program is called: as the word says, unless that is the model's own name."""
    return f"{word}_" if word == manifest.name else word


def _arrays(manifest: Manifest) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The inputs and the outputs by their variables of the program."""
    inputs, outputs = (
        {_variable(f"{kind}{number}", manifest): each for number, each in enumerate(tensors)}
        for kind, tensors in (("input", manifest.inputs), ("output", manifest.outputs))
    )
    return inputs, outputs


def _program(manifest: Manifest) -> list[str]:
    name = manifest.name
    weights, memory, file = (_variable(word, manifest) for word in ("weights", "memory", "file"))
    inputs, outputs = _arrays(manifest)
    values = {array: prod(each.shape) for array, each in (*inputs.items(), *outputs.items())}
    first = next(iter(outputs))
    return [
        "#include <stdio.h>",
        "#include <stdlib.h>",
        f'#include "{name}.h"',
        "",
        *(f"static float {each}[{elements}];" for each, elements in values.items()),
        "",
        "int main(void)",
        "{",
        f"  void *{weights} = aligned_alloc(64, {name}_weights_bytes());",
        f"  void *{memory} = aligned_alloc(64, {name}_memory_bytes());",
        f'  FILE *{file} = fopen("{name}.weights", "rb");',
        f"  if (!{weights} || !{memory} || !{file})",
        "    return 1;",
        f"  if (fread({weights}, 1, {name}_weights_bytes(), {file}) != {manifest.weights_bytes})",
        "    return 1;",
        f"  fclose({file});",
        f"  {name}_prepare_weights({weights});",
        f"  {name}_prepare_memory({memory});",
        "  /* ... fill the input ... */",
        f"  {name}({', '.join(values)}, {weights}, {memory});",
        f'  printf("%g\\n", {first}[0]);',
        f"  free({memory});",
        f"  free({weights});",
        "  return 0;",
        "}",
    ]
