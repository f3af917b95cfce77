"""The plain nest as emitted C: the source's own loops, with a directive where a build of it had one."""

from __future__ import annotations

from polydl.codegen import function_text, processor, team
from polydl.codegen.dealt import SUPPORT, both_copies, chosen_copy, dealt_to, without_dealing
from polydl.codegen.header import Threads, interface
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.original import defines, features, harness
from polydl.codegen.parallel_source import adds_up, asking, makes_threads, numbers_threads
from polydl.codegen.prepared import Steps, two_functions
from polydl.codegen.prepared import harness as prepared_harness
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop


def plain_unit(scop: Scop, build: KernelSource, region: str, exported: str, *, asking_region: str = "") -> KernelSource:
    """What a build of the plain nest is taken home as, ``exported`` under that name.

    ``region`` is the text of the loops as the build has it, "" where they are as they were written. ``asking_region``
    is the same where each of its directives asks ``team.BETWEEN`` first, "" where it has none. These were proved legal
    for the bound sizes alone: for others the loops run as they were written.
    """
    memory = KeptMemory(())
    written = function_text.region(scop)
    threads = _threads(scop, build, as_written=not region, directed=bool(asking_region))
    contents = interface(scop, memory, threads=threads, exported=exported)
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    sizes = [f"{each.name} == {each.value}" for each in scop.function.parameters if each.value is not None]
    tuned = [region or written]
    if threads.chosen and not threads.dealt:
        tuned = team.judged([asking_region or asking(written, team.QUESTION)], "  ")
    if region not in ("", written) and sizes:
        tuned = [f"  if ({' && '.join(sizes)}) {{", *tuned, "  } else {", written, "  }"]
    running, definitions = function_text.body(scop, tuned), []
    if threads.dealt:
        definitions = [SUPPORT, *both_copies(scop, tuned, threads.dealt)]
        running = chosen_copy(scop, threads.dealt)
    if contents.prepared is None:
        functions = function_text.with_both(scop, running, beside, contents.function, definitions)
    else:
        functions = two_functions(scop, Steps((), running), memory, contents, beside, definitions)
    return KernelSource(
        id=build.id,
        function=contents.function,
        c="\n".join(
            [
                *features(scop),
                "#include <stddef.h>",
                processor.definitions(),
                *([team.support(), team.STATE] if threads.chosen else []),
                "",
                defines(scop) + functions,
            ]
        ),
        interface=contents,
        harness=harness(scop, contents.function) if contents.prepared is None else prepared_harness(scop, contents),
        compile_flags=without_dealing(build).compile_flags,
    )


def _threads(scop: Scop, build: KernelSource, *, as_written: bool, directed: bool) -> Threads:
    """What the loops of a build run on."""
    if dealt := dealt_to(build):
        return Threads(used=True, chosen=True, dealt=dealt)
    inside = makes_threads(scop, inside=True)
    if not as_written or not (inside or makes_threads(scop, inside=False)):
        return Threads(used=directed, chosen=directed)
    numbered = numbers_threads(scop)
    return Threads(used=True, chosen=inside and not numbered, combined=adds_up(scop), numbered=numbered)
