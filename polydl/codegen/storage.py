"""Where the arrays of the generated code itself live: on the stack, in memory that each thread keeps, or as views."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.alignment import ALIGNMENT
from polydl.ir.scop import Array, Scop
from polydl.plan.contraction import STACK_BYTES
from polydl.plan.prepared import Prepared


@dataclass(frozen=True)
class LocalStorage:
    """Small arrays are automatic; large ones are allocated by each calling thread once, and kept for its next call."""

    #: C before the loops
    declarations: tuple[str, ...] = ()
    #: C before the loops that prepare arrays in the buffer ``polydl_prepared``
    preparing: tuple[str, ...] = ()
    #: bytes of each array that a thread keeps
    kept: tuple[int, ...] = ()


def _pointer(array: Array) -> str:
    """The declarator of a pointer to the array's first element or row."""
    inner = "".join(f"[{extent}]" for extent in array.extents[1:])
    return f"{array.element} (*{array.name}){inner}" if inner else f"{array.element} *{array.name}"


def local_storage(scop: Scop, prepared: Prepared | None = None) -> LocalStorage:
    """Where the scop's local arrays and views are. Those that are ``prepared`` lie in a buffer of the caller's."""
    declarations: list[str] = []
    preparing: list[str] = []
    kept: list[int] = []
    part = prepared or Prepared()
    offsets = {array.name: offset for array, offset in zip(part.arrays, part.offsets, strict=True)}
    for array in scop.arrays:
        if array.view_of:
            declarations.append(f"    {_pointer(array)} = (void *){array.view_of};")
            if array.view_of in offsets or array.view_of in scop.constants:
                preparing.append(declarations[-1])
        elif array.name in offsets:
            declarations.append(f"    {_pointer(array)} = (void *)((char *)polydl_prepared + {offsets[array.name]});")
            preparing.append(declarations[-1])
        elif array.storage == "local" and array.bytes <= STACK_BYTES:
            extents = "".join(f"[{extent}]" for extent in array.extents)
            # gcc 12 at -O1 was seen to store whole vectors into an array on a stack that it had not aligned for them.
            aligned = f" __attribute__((aligned({ALIGNMENT})))" if array.bytes >= ALIGNMENT else ""
            declarations.append(f"    {array.element} {array.name}{extents}{aligned};")
        elif array.storage == "local":
            declarations.append(f"    {_pointer(array)} = polydl_kept({len(kept)});")
            kept.append(-(-array.bytes // ALIGNMENT) * ALIGNMENT)
    return LocalStorage(tuple(declarations), tuple(preparing), tuple(kept))
