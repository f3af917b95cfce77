"""Where the arrays of the generated code itself live: on the stack, in buffers that are kept, or as views."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.types import Array, Scop

_STACK_BYTES = 1 << 14


@dataclass(frozen=True)
class LocalStorage:
    """C that makes local arrays and views: at file scope, before the loops, and a condition that must hold."""

    includes: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    declarations: tuple[str, ...] = ()
    condition: str = ""


def _pointer(array: Array) -> str:
    """The declarator of a pointer to the array's first element or row."""
    inner = "".join(f"[{extent}]" for extent in array.extents[1:])
    return f"{array.element} (*{array.name}){inner}" if inner else f"{array.element} *{array.name}"


def local_storage(scop: Scop) -> LocalStorage:
    """Small arrays are automatic; large ones are allocated by each calling thread once, and kept for its next call."""
    declarations: list[str] = []
    kept: list[Array] = []
    for array in scop.arrays:
        if array.view_of:
            declarations.append(f"    {_pointer(array)} = (void *){array.view_of};")
        elif array.storage == "local" and array.bytes <= _STACK_BYTES:
            extents = "".join(f"[{extent}]" for extent in array.extents)
            declarations.append(f"    {array.element} {array.name}{extents};")
        elif array.storage == "local":
            declarations.append(f"    {_pointer(array)} = polydl_kept[{len(kept)}];")
            kept.append(array)
    if not kept:
        return LocalStorage(declarations=tuple(declarations))
    sizes = ", ".join(str(-(-array.bytes // 64) * 64) for array in kept)
    definitions = "\n".join(
        [
            f"static _Thread_local void *polydl_kept[{len(kept)}];",
            "static int polydl_reserve(void)",
            "{",
            f"  static const size_t sizes[{len(kept)}] = {{{sizes}}};",
            f"  for (int i = 0; i < {len(kept)}; ++i) {{",
            "    if (!polydl_kept[i])",
            "      polydl_kept[i] = aligned_alloc(64, sizes[i]);",
            "    if (!polydl_kept[i])",
            "      return 0;",
            "  }",
            "  return 1;",
            "}",
        ]
    )
    return LocalStorage(("stdlib.h",), (definitions,), tuple(declarations), "polydl_reserve()")
