"""A graph becomes one C function: kernels, a driver that calls them in order, constants and a manifest in a folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np

from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.alignment import ALIGNMENT
from polydl.models import epilogue, memory
from polydl.models.driver import Driver, DriverCall, PreparedBuffers
from polydl.models.graph import Array, Graph, Operator
from polydl.models.kernels import PLACE_OF_NAME, OperatorKernel, OperatorNest
from polydl.models.layout import Layout, Pair, element_bytes, provided
from polydl.models.layout_choice import choose
from polydl.models.manifest import FORM, MANIFEST, Entry, Manifest, Tensor
from polydl.models.readme import readme
from polydl.system.files import temporary_directory, write_atomically
from polydl.system.process_group import run_in_group
from polydl.system.sandbox import inside, is_sandboxed


@dataclass(frozen=True)
class Lowered:
    """A graph with its layouts, and the nest of each operator."""

    graph: Graph
    #: how each value lies in memory, by its name
    layouts: Mapping[str, Layout]
    #: in the order of the graph's operators
    nests: tuple[OperatorNest, ...]


def lower(graph: Graph) -> Lowered:
    """Layouts and nests of a graph. Nothing is compiled or measured."""
    layouts = choose(graph)
    nests = []
    for operator in graph.operators:
        kind, output, inputs = operator.kind, layouts[operator.output], [layouts[each] for each in operator.inputs]
        scratch = provided(kind.scratch(output, inputs))
        text = kind.text(PLACE_OF_NAME, output, inputs, operator.steps)
        nests.append(OperatorNest(text, kind.constants, tuple(each.bytes for each in scratch)))
    return Lowered(graph, layouts, tuple(nests))


def write_program(
    lowered: Lowered, kernels: Mapping[OperatorNest, OperatorKernel], folder: Path, *, name: str = "model", threads: int
) -> Manifest:
    """Write and compile the program: what ``polydl.models.loaded.load`` reads. The folder must exist.

    Raises ExecutionError if the C does not compile, ResourceError if the folder can't be written.
    """
    graph, layouts = lowered.graph, lowered.layouts
    plan = memory.plan(graph, layouts)
    constants, content = _constants(lowered)
    calls, entries = [], []
    buffers = PreparedBuffers(len(content))
    memory_bytes = plan.bytes
    for position, (operator, nest) in enumerate(zip(graph.operators, lowered.nests, strict=True)):
        chosen = kernels[nest]
        # Behind all values, in the same place for each operator.
        scratch, end = _consecutive(nest.scratch, plan.bytes)
        memory_bytes = max(memory_bytes, memory.aligned(end))
        calls.append(_call(chosen, operator, graph, layouts, plan, constants[position], scratch, buffers))
        entries.append(_entry(operator, chosen))
    scratch_bytes = max((kernels[nest].scratch_bytes for nest in lowered.nests), default=0)
    driver = Driver(
        name,
        tuple(graph.elements(value) for value in graph.inputs),
        tuple(graph.elements(value) for value in graph.outputs),
        buffers.end,
        memory.aligned(max(memory_bytes + scratch_bytes, 1)),
        memory_bytes,
        tuple(buffers.calls),
        tuple(calls),
        threads,
    )
    write_atomically(folder / f"{name}.c", driver.c)
    write_atomically(folder / f"{name}.h", driver.header)
    write_atomically(folder / f"{name}.weights", content)
    used = tuple({kernels[nest].function: kernels[nest] for nest in lowered.nests}.values())
    for each in used:
        write_atomically(folder / f"{each.function}_polydl.c", each.c)
    library = _compile(name, used, folder)
    manifest = Manifest(
        form=FORM,
        name=name,
        inputs=tuple(Tensor(value, graph.shapes[value]) for value in graph.inputs),
        outputs=tuple(Tensor(value, graph.shapes[value]) for value in graph.outputs),
        library_bytes=len(library),
        library_sha256=sha256(library).hexdigest(),
        weights_bytes=len(content),
        weights_sha256=sha256(content).hexdigest(),
        prepared_bytes=buffers.end - len(content),
        memory_bytes=driver.memory_bytes,
        threads=threads,
        operators=tuple(entries),
    )
    write_atomically(folder / "README.txt", readme(manifest))
    write_atomically(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _consecutive(sizes: Sequence[int], begin: int) -> tuple[list[int], int]:
    """Offsets of arrays one behind the other, with room for a vector behind each, and the end of the last."""
    offsets = []
    for size in sizes:
        offsets.append(begin)
        begin += memory.aligned(size + ALIGNMENT)
    return offsets, begin


def _entry(operator: Operator, chosen: OperatorKernel) -> Entry:
    steps = epilogue.in_words(operator.steps)
    label = f"{operator.kind.label}, {steps}" if steps else operator.kind.label
    return Entry(list(operator.sources), label, chosen.function, chosen.seconds, chosen.choice)


def _constants(lowered: Lowered) -> tuple[list[list[int]], bytes]:
    """Offsets in bytes of each operator's constants, and all constants, each once and at cache lines."""
    graph, layouts = lowered.graph, lowered.layouts
    content = bytearray()
    places: dict[bytes, int] = {}
    offsets: list[list[int]] = []
    for operator in graph.operators:
        given = [graph.constants[each] for each in operator.constants]
        arrays = operator.kind.laid(given, layouts[operator.output], [layouts[each] for each in operator.inputs])
        offsets.append([_placed(each, content, places) for each in arrays])
    content.extend(bytes(-len(content) % ALIGNMENT))
    return offsets, bytes(content)


def _placed(array: Array, content: bytearray, places: dict[bytes, int]) -> int:
    # Those that are not rounded to bfloat16 already are floats.
    data = np.ascontiguousarray(array, dtype=None if array.dtype == np.uint16 else np.float32).tobytes()
    if data not in places:
        content.extend(bytes(-len(content) % ALIGNMENT))
        places[data] = len(content)
        content.extend(data)
        content.extend(bytes(ALIGNMENT))
    return places[data]


def _call(
    chosen: OperatorKernel,
    operator: Operator,
    graph: Graph,
    layouts: Mapping[str, Layout],
    plan: memory.MemoryPlan,
    constants: Sequence[int],
    scratch: Sequence[int],
    buffers: PreparedBuffers,
) -> DriverCall:
    borders = [*operator.kind.borders, *[(0, 0)] * len(operator.inputs)]
    values = [(operator.output, (0, 0)), *zip(operator.inputs, borders, strict=False)]
    arguments = [
        _pointer(graph.stored(value), _offset(layouts[value], border), graph, plan) for value, border in values
    ]
    known = tuple(f"polydl_constant({offset})" for offset in constants)
    arguments += [*known, *(f"polydl_buffer({offset})" for offset in scratch)]
    if not chosen.prepared_bytes:
        return DriverCall(chosen.function, tuple(arguments))
    buffer = buffers.of(f"{chosen.function}_prepare", known, chosen.prepared_bytes)
    return DriverCall(f"{chosen.function}_run", (*arguments, buffer))


def _offset(layout: Layout, border: Pair) -> int:
    """Bytes from the begin of a value's buffer to the array that a kernel sees."""
    return layout.offset(border) * element_bytes(layout.value_type)


def _pointer(value: str, offset: int, graph: Graph, plan: memory.MemoryPlan) -> str:
    for kind, values in (("input", graph.inputs), ("output", graph.outputs)):
        names = [graph.stored(each) for each in values]
        if value in names:
            return f"{kind}{names.index(value)}"
    return f"polydl_buffer({plan.offsets[value] + offset})"


def _compile(name: str, kernels: Sequence[OperatorKernel], folder: Path) -> bytes:
    """Compile all C of the folder into one library there, but for the kernels that are compiled already."""
    toolchain = Toolchain.find()
    objects = " ".join(f"{each.function}_polydl.o" for each in kernels)
    threads = shlex.join(toolchain.openmp_flags)
    link = f"{toolchain.command} -O2 {threads} -shared -fPIC {name}.c {objects} -o lib{name}.so -lm"
    lines = [*(each.object_line for each in kernels), link, *_entering(f"lib{name}.so")]
    write_atomically(folder / "build.sh", _script(lines))
    with temporary_directory() as build:
        for source in (f"{name}.c", f"{name}.h", *(f"{each.function}_polydl.c" for each in kernels)):
            (build / source).write_bytes((folder / source).read_bytes())
        for each in kernels:
            if each.compiled:
                (build / f"{each.function}_polydl.o").write_bytes(each.compiled)
        (build / "build.sh").write_text(_script([*(e.object_line for e in kernels if not e.compiled), link]))
        command = ["/bin/sh", "build.sh"]
        done = run_in_group(inside(command, build) if is_sandboxed() else command, build, timeout_seconds=None)
        library = build / f"lib{name}.so"
        if done.returncode or not library.exists():
            raise ExecutionError(f"the model's C does not compile:\n{done.stderr}", file=str(folder), remedy=link)
        content = library.read_bytes()
    write_atomically(folder / f"lib{name}.so", content)
    return content


def _entering(library: str) -> list[str]:
    """Lines of a shell that say in the manifest, if there is one, what a library is that was compiled again."""
    return [
        f"if [ -e {MANIFEST} ]; then",
        f"  bytes=$(wc -c < {library})",
        f"  sha256=$(sha256sum {library} | cut -c 1-64)",
        # In one step, after which both are those of the new library.
        """  sed -i -e "s/^ \\"library_bytes\\": [0-9]*/ \\"library_bytes\\": $bytes/" \\""",
        f"""    -e "s/^ \\"library_sha256\\": \\"[0-9a-f]*/ \\"library_sha256\\": \\"$sha256/" {MANIFEST}""",
        "fi",
    ]


def _script(lines: Sequence[str]) -> str:
    return "\n".join(["set -e", *lines, ""])
