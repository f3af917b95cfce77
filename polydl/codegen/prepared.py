"""C of the two functions that do in two steps what the kernel's function does: prepare constants, and run with them.

The buffer between them is the caller's. Nothing is kept of it, so that any number of threads may run with one buffer,
and a program may have as many as it has sets of constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.codegen import function_text, original, processor
from polydl.codegen.header import prepared_parameters, preparing_prototype, prototype, running_prototype
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.unit_names import preparing_name, running_name
from polydl.ir.interface import Interface
from polydl.ir.scop import Scop

#: The buffer, in the generated code.
BUFFER = "polydl_prepared"


@dataclass(frozen=True)
class Steps:
    """What the two functions do."""

    #: lines that fill the buffer; none where nothing can be prepared
    preparing: Sequence[str]
    #: what the one that runs has behind its opening brace (``function_text.body``)
    running: Sequence[str]


def two_functions(
    scop: Scop,
    steps: Steps,
    memory: KeptMemory,
    contents: Interface,
    beside: Sequence[str],
    definitions: Sequence[str] = (),
) -> str:
    """The source with its function, and with those that prepare and run, in place of the function alone.

    Where the processor lacks what they are compiled to use, or where sizes are others, the source's loops run, on the
    constants themselves. ``beside`` are further functions that belong to it, ``definitions`` those that it calls.
    """
    constants = ", ".join(parameter.name for parameter in prepared_parameters(scop))
    names = [parameter.name for parameter in scop.function.parameters]
    prepare, run = preparing_name(scop.function.name), running_name(scop.function.name)
    filled = [*([constants] if constants else []), BUFFER]
    returned = scop.function.return_type
    sizes = " && ".join(f"{each.name} == {each.value}" for each in prepared_parameters(scop) if each.value is not None)
    preparing = [f"  if ({sizes}) {{", *steps.preparing, "  }"] if sizes else ["  {", *steps.preparing, "  }"]
    name = scop.function.name
    function = [function_text.head(scop), *_both_steps(memory, prepare, run, filled, names, returned)]
    function += function_text.body(scop, [processor.unless_alone(function_text.region(scop))])
    if contents.function != name:
        function = [f"#define {name} {contents.function}", *function, f"#undef {name}"]
    size = f"size_t {contents.prepared_bytes}(void)"
    prepares = preparing_prototype(scop, contents.prepare, BUFFER).text
    runs = running_prototype(scop, contents.run, BUFFER).text
    others = [
        *(f"{each};" for each in (prototype(scop, contents.function).text, size, prepares, runs)),
        "\n".join([size, "{", f"  return {memory.prepared};", "}"]),
        "\n".join([prepares, "{", "  if (polydl_fits())", f"    {prepare}({', '.join(filled)});", "}"]),
        "\n".join(
            [
                runs,
                "{",
                "  if (polydl_fits()) {",
                *_call(f"{run}({', '.join([*names, BUFFER])})", returned, "    "),
                "  }",
                *_call(f"{contents.function}({', '.join(names)})", returned, "  "),
                "}",
            ]
        ),
    ]
    return "\n".join(
        [
            *function_text.before(scop),
            *definitions,
            *function_text.OPAQUE,
            f"static {preparing_prototype(scop, prepare, BUFFER).text}",
            "{",
            *(preparing if steps.preparing else []),
            *(f"  (void){each};" for each in filled[-1:] if not steps.preparing),
            "}",
            *function_text.OPAQUE,
            f"static {running_prototype(scop, run, BUFFER).text}",
            *([f"{{{steps.running[0]}"] if memory.prepared else ["{", f"  (void){BUFFER};", steps.running[0]]),
            *steps.running[1:],
            "",
            processor.for_all(*(part.strip("\n") for part in function if part), *others, *beside),
            *([f"{rest}\n"] if (rest := scop.source[scop.definition[-1] :].strip("\n")) else [""]),
        ]
    )


def harness(scop: Scop, contents: Interface) -> str:
    """C like that of ``KernelSource.harness``, whose invocations use what was prepared.

    Besides, ``long polydl_prepare(void *const *, void **)`` allocates the buffer and fills it from the arguments of an
    invocation. It returns the buffer's size in bytes, or -1 without memory, and where the buffer is.
    """
    arguments = original.invocation_arguments(scop)
    constant = prepared_parameters(scop)
    filled = [each for each, given in zip(arguments, scop.function.parameters, strict=True) if given in constant]
    lines = [
        "#include <stdlib.h>",
        "static void *polydl_buffer;",
        "long polydl_prepare(void *const *arguments, void **buffer);",
        "long polydl_prepare(void *const *arguments, void **buffer)",
        "{",
        f"  const size_t size = {contents.prepared_bytes}();",
        "  if (size && !polydl_buffer)",
        "    polydl_buffer = aligned_alloc(64, size);",
        "  if (size && !polydl_buffer)",
        "    return -1;",
        *([] if filled else ["  (void)arguments;"]),
        f"  {contents.prepare}({', '.join([*filled, 'polydl_buffer'])});",
        "  *buffer = polydl_buffer;",
        "  return (long)size;",
        "}",
        original.invoking(scop, f"{contents.run}({', '.join([*arguments, 'polydl_buffer'])})"),
    ]
    return "\n".join(lines)


def _both_steps(
    memory: KeptMemory, prepare: str, run: str, filled: Sequence[str], names: Sequence[str], returned: str
) -> list[str]:
    """What the function itself does where the processor can: both steps, with a buffer that the thread keeps."""
    if not memory.prepared:
        return ["  if (polydl_fits()) {", *_call(f"{run}({', '.join([*names, 'NULL'])})", returned, "    "), "  }"]
    result = "" if returned == "void" else "polydl_result"
    return [
        "  if (polydl_fits() && polydl_reserve()) {",
        f"    void *{BUFFER} = polydl_kept({len(memory.reserved)});",
        f"    if ({BUFFER}) {{",
        f"      {prepare}({', '.join(filled)});",
        f"      {f'{returned} {result} = ' if result else ''}{run}({', '.join([*names, BUFFER])});",
        "      polydl_leave();",
        f"      return{f' {result}' if result else ''};",
        "    }",
        "    polydl_leave();",
        "  }",
    ]


def _call(call: str, returned: str, indent: str) -> list[str]:
    """A call whose result, if there is one, is returned."""
    return [f"{indent}{call};", f"{indent}return;"] if returned == "void" else [f"{indent}return {call};"]
