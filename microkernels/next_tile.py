"""Copying the next tile of A between the steps of k of a register block.

A tile that is copied by itself waits for memory. Copied between the steps of a product, one column every dozen cycles
or more, it costs next to nothing: each column was prefetched some columns before, and its loads and stores overlap with
the multiply-adds of the steps around it.
"""

from __future__ import annotations

from collections.abc import Sequence

# Parameters of a function that copies: source, destination, and the most columns.
COPY = ", const {element} *from, {element} *to, long columns"
# How many of the columns that are left a block copies.
PART = """\
static inline long {prefix}_part(long left, long most)
{{
  return left < 0 ? 0 : left < most ? left : most;
}}"""
# Steps that are written out together.
UNROLL = 4


def steps_between(k: int, columns: int) -> int:
    """The number of steps of k from one copied column to the next, such that all ``columns`` fit into ``k`` steps."""
    steps = k // max(1, columns)
    return steps - steps % UNROLL or steps


def fetched_output(columns: int, lines: int, between: int, k: int, *, line: int, ldc: int) -> list[str]:
    """The C that goes with a copied column: prefetches of the next ``columns`` of C, all within ``k`` steps.

    Where a tile has few steps of k, C comes from an outer cache again and again, and each register block would wait for
    its part. A column of C has ``lines`` cache lines of ``line`` elements.
    """
    copies = max(1, k // max(1, between))
    lines_per_copy = -(-columns * lines // copies)
    place = "copied" if lines_per_copy == 1 else f"({lines_per_copy} * copied + {{}})"
    return [
        f"__builtin_prefetch(c + ({columns} + {place} / {lines}) * {ldc} + {place} % {lines} * {line}, 1, 3);".format(
            number, number
        )
        for number in range(lines_per_copy)
    ]


def copying_loops(
    step: Sequence[str],
    output: Sequence[str],
    *,
    line: int,
    ahead: int,
    vector: str,
    starts: Sequence[int],
    rows: int,
    lda: int,
    between: int,
) -> list[str]:
    """The C loop over k that also copies columns of the next tile.

    ``step`` is the C of step ``l``, ``output`` the C that goes with each copied column. A column has ``rows`` rows in
    vectors that begin at ``starts``, which is empty if there are fewer rows than in a vector. Columns are ``lda``
    elements apart in the source and adjacent in the destination. One prefetch gets ``line`` elements, ``ahead`` columns
    before they are copied.
    """
    copied = [f"__builtin_prefetch(from + {ahead * lda + row}, 0, 3);" for row in range(0, rows, line)]
    if starts:
        copied += [f"*({vector} *)(to + {row}) = *(const {vector} *)(from + {row});" for row in starts]
    else:
        copied += [f"for (int i = 0; i < {rows}; ++i)", "  to[i] = from[i];"]
    copied += output
    return [
        "    long l = 0;",
        "    for (long copied = 0; copied < columns; ++copied) {",
        *(f"      {text}" for text in copied),
        f"      from += {lda};",
        f"      to += {rows};",
        f'      _Pragma("GCC unroll {UNROLL}")',
        f"      for (long s = 0; s < {between}; ++s, ++l) {{",
        *(f"  {text}" for text in step),
        "      }",
        "    }",
        f'    _Pragma("GCC unroll {UNROLL}")',
        "    for (; l < k; ++l) {",
        *step,
        "    }",
    ]
