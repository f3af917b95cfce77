"""The plain nest as emitted C: the source's own loops, with a directive where a build of it had one."""

from __future__ import annotations

from polydl.codegen import function_text, processor, team
from polydl.codegen.header import interface
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.original import defines, harness
from polydl.codegen.prepared import Steps, two_functions
from polydl.codegen.prepared import harness as prepared_harness
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop


def plain_unit(scop: Scop, build: KernelSource, region: str, exported: str, *, directed: bool) -> KernelSource:
    """What a build of the plain nest is taken home as, ``exported`` under that name.

    ``region`` is the text of the loops as the build has it, "" where they are as they were written; ``directed`` says
    whether that text has directives. These were proved legal for the bound sizes alone: for others the loops run as
    they were written.
    """
    memory = KeptMemory(())
    written = function_text.region(scop)
    combined = False
    if not region:
        region, directed, combined = written, "#pragma omp" in written, "reduction(" in written
    # Loops that gcc deals out take a number of threads that was fixed then.
    threaded = directed or any(flag.startswith("-ftree-parallelize") for flag in build.compile_flags)
    contents = interface(scop, memory, threaded=threaded, chosen=directed, combined=combined, exported=exported)
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    sizes = [f"{each.name} == {each.value}" for each in scop.function.parameters if each.value is not None]
    tuned = team.judged([region], "  ") if directed else [region]
    if region != written and sizes:
        tuned = [f"  if ({' && '.join(sizes)}) {{", *tuned, "  } else {", written, "  }"]
    if contents.prepared is None:
        functions = function_text.with_both(scop, tuned, beside, contents.function)
    else:
        functions = two_functions(scop, Steps((), tuned), memory, contents, beside)
    return KernelSource(
        id=build.id,
        function=contents.function,
        c="\n".join(
            [
                "#include <stddef.h>",
                processor.definitions(),
                *([team.support(), team.STATE] if directed else []),
                "",
                defines(scop) + functions,
            ]
        ),
        interface=contents,
        harness=harness(scop, contents.function) if contents.prepared is None else prepared_harness(scop, contents),
        compile_flags=build.compile_flags,
    )
