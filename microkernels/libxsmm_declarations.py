"""LIBXSMM's functions as emitted C declares them, so that it needs no header (LIBXSMM 1.17, ``libxsmm.h``)."""

from __future__ import annotations

from polydl.ir.ingredients import DispatchFunction, Fragment, Ingredients

#: Of LIBXSMM's flags: how operands are stored.
TRANSPOSED_B, GROUPED_A = 2, 32768
#: Products of a call. Where each one's operands begin is told by two tables in the emitted C.
LONGEST_BATCH = 4096
#: Of a leading dimension, which is an int: a larger one would become another number.
MOST_APART = (1 << 31) - 1


def declared(prefix: str, stem: str, operands: tuple[str, str], accumulator: str, *, many: bool) -> Fragment:
    """C of ``<prefix>_function``, the type of a kernel, and of the function that makes kernels.

    ``stem`` is what the names of both have; ``operands`` are the types of A's and B's elements. With ``many``, the
    kernel sums up products at offsets in bytes.
    """
    a, b = operands
    batch = (
        ", const unsigned long long *count, const unsigned long long *a_offsets, const unsigned long long *b_offsets"
    )
    name = dispatch_name(stem, many=many)
    makes = "\n".join(
        [
            f"{prefix}_function {name}(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,",
            f"    const {accumulator} *alpha, const {accumulator} *beta, const int *flags, const int *prefetch);",
        ]
    )
    text = "\n".join(
        [
            f"typedef void (*{prefix}_function)(",
            f"    const {a} *a, const {b} *b, {accumulator} *c{batch if many else ''}, ...);",
            makes,
        ]
    )
    return Fragment(text, Ingredients(dispatch_functions=(DispatchFunction(name, makes),)))


def too_far_apart(*leading: int) -> str | None:
    """The message if a leading dimension is too large for LIBXSMM; None if all are small enough."""
    most = max(leading)
    return f"columns lie {most} elements apart, more than {MOST_APART}" if most > MOST_APART else None


def dispatch_name(stem: str, *, many: bool) -> str:
    """The function that makes a kernel for a shape."""
    return f"libxsmm_{stem}dispatch{'_reducebatch_offs' if many else ''}"
