"""Where the arrays of the generated code itself live: on the stack, in buffers that are kept, or as views."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.scop import Array, Scop

_STACK_BYTES = 1 << 14
# Arrays of this size are asked to be in pages of it: those of 4 KiB would come to more than a core keeps addresses of.
_LARGE_PAGE = 1 << 21
_ALLOCATED = [
    "static void *polydl_allocated(size_t size)",
    "{",
    "#ifdef MADV_HUGEPAGE",
    f"  const size_t page = {_LARGE_PAGE}, whole = (size + page - 1) / page * page;",
    "  if (size >= page) {",
    "    void *made = aligned_alloc(page, whole);",
    "    if (made)",
    "      (void)madvise(made, whole, MADV_HUGEPAGE);",
    "    return made;",
    "  }",
    "#endif",
    "  return aligned_alloc(64, size);",
    "}",
]


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
    large = any(array.bytes >= _LARGE_PAGE for array in kept)
    allocated = "polydl_allocated(sizes[i])" if large else "aligned_alloc(64, sizes[i])"
    reserve = [
        f"static _Thread_local void *polydl_kept[{len(kept)}];",
        "static int polydl_reserve(void)",
        "{",
        f"  static const size_t sizes[{len(kept)}] = {{{sizes}}};",
        f"  for (int i = 0; i < {len(kept)}; ++i) {{",
        "    if (!polydl_kept[i])",
        f"      polydl_kept[i] = {allocated};",
        "    if (!polydl_kept[i])",
        "      return 0;",
        "  }",
        "  return 1;",
        "}",
    ]
    definitions = "\n".join([*(_ALLOCATED if large else []), *reserve])
    includes = ("stdlib.h", "sys/mman.h") if large else ("stdlib.h",)
    return LocalStorage(includes, (definitions,), tuple(declarations), "polydl_reserve()")
