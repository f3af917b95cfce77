"""Arrays with one dimension that are subscripted as if they had several: ``A[i * lda + k]`` is ``A[i][k]``.

The rows that such an array is made of are as long as the factors of the iterators say. Whether the shorter subscripts
stay within a row, so that no element has two names, is for isl to prove of the ranges of the sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

import islpy as isl

from polydl.errors import UserError
from polydl.frontend.open_sizes import OpenAccess, OpenStatement, Polynomial
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.libraries.described import described_accesses, unsupported

#: The extent of an array's first dimension, where nothing says how far it reaches.
OPEN = ""

# The elements by which an iteration moves an access: a number times some sizes.
_Step = tuple[int, tuple[str, ...]]


def with_views(
    scop: Scop, described: Mapping[str, OpenStatement], everywhere: Sequence[OpenStatement]
) -> tuple[Scop, dict[str, tuple[str, ...]]]:
    """The nest with its linear arrays seen in rows, and the extents of these views.

    ``described`` is what pet says of each statement without values for sizes, ``everywhere`` what it says of all that
    the source has. Raises UserError for a subscript that is computed from a size in another way.
    """
    accesses = {
        statement.name: described_accesses(scop, statement, described[statement.name], everywhere)
        for statement in scop.statements
    }
    linear = {
        access.array
        for pairs in accesses.values()
        for access, opened in pairs
        if opened is not None and len(opened.subscripts) == 1 and _is_linear(opened.subscripts[0])
    }
    inner: dict[str, tuple[str, ...]] = {}
    statements = []
    for statement in scop.statements:
        changed = []
        for access, opened in accesses[statement.name]:
            seen = access
            if opened is not None and access.array in linear:
                rows = _in_rows(opened.subscripts[0], statement.depth)
                if rows is None or inner.setdefault(access.array, rows[0]) != rows[0]:
                    raise _computed(scop, statement, access.array)
                seen = _in_view(statement, access, rows[1])
            elif opened is not None and _has_sizes(opened):
                raise _computed(scop, statement, access.array)
            changed.append(seen)
        statements.append(replace(statement, accesses=tuple(changed)))
    values = {each.name: each.value for each in scop.function.parameters if each.value is not None}
    views = []
    for name, extents in inner.items():
        known = tuple(values[extent] if extent in values else int(extent) for extent in extents)
        array = scop.array(name)
        rows_of_all = -(-array.elements // prod(known))
        views.append(
            replace(array, name=_view_name(name), extents=(rows_of_all, *known), storage="local", view_of=name)
        )
    return (
        replace(scop, statements=tuple(statements), arrays=(*scop.arrays, *views)),
        {_view_name(name): (OPEN, *extents) for name, extents in inner.items()},
    )


def _view_name(array: str) -> str:
    return f"polydl_{array}_rows"


def _in_view(statement: Statement, access: Access, subscripts: tuple[Affine, ...]) -> Access:
    """An access to a linear array as one to its view."""
    texts = [
        " + ".join(name for name, factor in zip(statement.iterators, form.coefficients, strict=True) if factor) or "0"
        for form in subscripts
    ]
    view = _view_name(access.array)
    index = f"{{ {statement.name}[{', '.join(statement.iterators)}] -> {view}[{', '.join(texts)}] }}"
    return replace(access, array=view, index=index, subscripts=subscripts)


def _computed(scop: Scop, statement: Statement, array: str) -> UserError:
    return unsupported(
        scop,
        statement.line,
        f"a subscript of `{array}` in `{statement.text}` is computed from a size",
        f"use loop counters and constants as subscripts, or rows of one length: {array}[i * lda + k]",
    )


def _is_linear(polynomial: Polynomial | None) -> bool:
    """Whether a subscript has a product of an iterator and a size."""
    return polynomial is not None and any(len(factors) > 1 for factors in polynomial)


def _has_sizes(opened: OpenAccess) -> bool:
    """Whether a subscript depends on a size, or on what pet can't write as an affine form."""
    index = isl.Map(opened.index)
    return index.drop_unused_params().dim(isl.dim_type.param) > 0 or index.domain_is_wrapping()


def _in_rows(polynomial: Polynomial | None, depth: int) -> tuple[tuple[str, ...], tuple[Affine, ...]] | None:
    """A subscript as several: the extents of all dimensions but the first, and the subscripts over ``depth`` iterators.

    An extent is a size's name or a number. None for a subscript that isn't written that way: steps must be multiples of
    each other, by one size or one number, and the smallest is one element.
    """
    steps: dict[int, _Step] = {}
    for factors, number in (polynomial or {}).items():
        iterators = [factor for factor in factors if isinstance(factor, int)]
        sizes = tuple(factor for factor in factors if isinstance(factor, str))
        if len(iterators) != 1 or iterators[0] in steps or number <= 0:
            return None
        steps[iterators[0]] = number, sizes
    ordered = sorted(set(steps.values()), key=lambda step: (len(step[1]), step[0]))
    if not ordered or ordered[0] != (1, ()):
        return None
    inner = [_quotient(larger, step) for step, larger in pairwise(ordered)]
    extents = tuple(extent for extent in reversed(inner) if extent is not None)
    if len(extents) < len(inner):
        return None
    return extents, tuple(
        Affine(tuple(int(steps.get(iterator) == step) for iterator in range(depth))) for step in reversed(ordered)
    )


def _quotient(step: _Step, divisor: _Step) -> str | None:
    """What a step is a multiple of another by, if that is one size or one number."""
    left, of = Counter(step[1]), Counter(divisor[1])
    if of - left or step[0] % divisor[0]:
        return None
    sizes = list((left - of).elements())
    number = step[0] // divisor[0]
    if len(sizes) == 1 and number == 1:
        return sizes[0]
    return str(number) if not sizes else None
