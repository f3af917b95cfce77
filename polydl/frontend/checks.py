"""What must hold before a scop may be trusted. Each function raises the error that names the construct."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import islpy as isl

from polydl.errors import (
    NoScopError,
    OutOfBoundsError,
    ResourceError,
    UnknownSizeError,
    UnsupportedConstructError,
)
from polydl.frontend.expressions import Evaluation
from polydl.frontend.facts import Branch, SourceFacts, VariableFacts
from polydl.frontend.source import line_of, one_line
from polydl.types import Array


class Place:
    """The file, for messages: offsets become lines."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def line(self, offset: int) -> int:
        return line_of(self.text, max(offset, 0))

    def quote(self, offset: int) -> str:
        """The line at an offset."""
        return one_line(self.text.split("\n")[self.line(offset) - 1])


def check_constructs(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Nothing in the region that pet would misread or drop."""
    for construct in sorted(facts.constructs, key=lambda construct: construct.offset):
        if start <= construct.offset < end:
            raise UnsupportedConstructError(
                construct.message,
                file=place.file,
                line=place.line(construct.offset),
                construct=construct.text or place.quote(construct.offset),
                remedy=construct.remedy,
            )


def check_variables(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Every variable of the region has a type and a use that the model knows."""
    for variable in facts.variables:
        uses = variable.within(start, end)
        if not uses and variable.storage != "parameter":
            continue
        offset = variable.offset if variable.offset >= 0 else uses[0].offset
        if variable.shape.problem is not None:
            raise UnsupportedConstructError(
                f"{variable.name} is {variable.shape.problem}, which the model doesn't know",
                file=place.file,
                line=place.line(offset),
                construct=place.quote(offset),
                remedy="use arrays and scalars of float, double or an integer type",
            )
        if variable.shape.is_pointer and variable.storage != "parameter":
            raise UnsupportedConstructError(
                f"the pointer {variable.name} may point into any array",
                file=place.file,
                line=place.line(uses[0].offset),
                construct=place.quote(uses[0].offset),
                remedy=f"make {variable.name} a parameter, or an array with a size",
            )
        _check_changes(variable, start, end, place)
        if not variable.loop_counter:
            _check_size(variable, start, end, place)


def _check_changes(variable: VariableFacts, start: int, end: int, place: Place) -> None:
    for reference in variable.references:
        if reference.role not in ("write", "update"):
            continue
        inside = start <= reference.offset < end
        if variable.shape.extents:
            message = f"the pointer {variable.name} is moved"
            remedy = "leave it where it is, and move the subscripts"
        elif variable.storage == "parameter" and inside:
            message = f"the parameter {variable.name} is changed inside the region"
            remedy = "copy it to a local variable before the region, and change that"
        elif variable.storage == "global" and inside and reference.control:
            message = f"the loop counter {variable.name} is a global variable"
            remedy = "declare the counter in the loop: for (int i = 0; …)"
        else:
            continue
        raise UnsupportedConstructError(
            message,
            file=place.file,
            line=place.line(reference.offset),
            construct=place.quote(reference.offset),
            remedy=remedy,
        )


def _check_size(variable: VariableFacts, start: int, end: int, place: Place) -> None:
    """An integer that bounds a loop has a value, or is computed in the region."""
    uses = variable.within(start, end)
    computed = start <= variable.offset < end or any(use.role in ("write", "update") for use in uses)
    if not variable.shape.is_scalar_integer or computed:
        return
    for use in uses:
        if use.control:
            raise unknown_size(variable, use.offset, place)


def unknown_size(variable: VariableFacts, offset: int, place: Place) -> UnknownSizeError:
    name = variable.name
    if variable.storage == "parameter":
        remedy = f"give it a value: -D {name}=VALUE"
    else:
        remedy = f"make it a constant: const int {name} = VALUE; or #define {name} VALUE"
    return UnknownSizeError(
        f"the value of {name} isn't known, and sizes or conditions depend on it",
        file=place.file,
        line=place.line(offset),
        construct=place.quote(offset),
        remedy=remedy,
    )


def data_dependent(facts: SourceFacts, offset: int, place: Place) -> UnsupportedConstructError:
    """The error for a statement that runs or not according to data; names the loop or condition that decides."""
    around = [branch for branch in facts.branches if branch.offset <= offset < branch.end and branch.kind != "continue"]
    jumps = [
        branch
        for branch in facts.branches
        if branch.kind in ("break", "continue") and any(b.offset <= branch.offset < b.end for b in around)
    ]
    deciding = [branch for branch in around if branch.data_dependent]
    innermost: Branch | None = max([*deciding] or [*jumps, *around], key=lambda branch: branch.offset, default=None)
    where = innermost.offset if innermost is not None else offset
    names = {"for": "the loop's bounds depend", "if": "the condition depends", "while": "the loop depends"}
    subject = names.get(innermost.kind, f"the {innermost.kind} depends") if innermost is not None else "it depends"
    return UnsupportedConstructError(
        f"whether a statement runs isn't an affine condition on the loop counters: {subject} on data",
        file=place.file,
        line=place.line(where),
        construct=innermost.header if innermost is not None else place.quote(where),
        remedy="write the choice as an expression, such as c > 0 ? x : y, or take it out of the region",
    )


def not_affine(offset: int, text: str, place: Place) -> UnsupportedConstructError:
    return UnsupportedConstructError(
        "a subscript isn't affine: it depends on more than sums of loop counters times constants",
        file=place.file,
        line=place.line(offset),
        construct=text,
        remedy="write subscripts such as a[2 * i + j + 1]; a gather through an index array can't be modelled",
    )


def known_extents(variable: VariableFacts, place: Place) -> tuple[int | None, ...]:
    """The extents that the declaration gives; None for an outermost one that a pointer leaves open."""
    if variable.sizes:
        name = variable.sizes[0]
        raise UnknownSizeError(
            f"the size {name} of {variable.name} isn't known",
            file=place.file,
            line=place.line(variable.offset),
            construct=place.quote(variable.offset),
            remedy=f"give it a value: -D {name}=VALUE",
        )
    return variable.shape.extents


def open_extent(variable: VariableFacts, place: Place) -> UnknownSizeError:
    return UnknownSizeError(
        f"{variable.name} has no extent, and the region doesn't show one",
        file=place.file,
        line=place.line(variable.offset),
        construct=place.quote(variable.offset),
        remedy=f"declare it as an array with a size, such as {variable.shape.element} {variable.name}[N]",
    )


def reached_extent(evaluations: Sequence[Evaluation]) -> int:
    """One more than the largest outermost subscript."""
    return max(_range(evaluation, 0)[1] for evaluation in evaluations) + 1


def check_defined(evaluation: Evaluation, offset: int, text: str, place: Place) -> None:
    """No subscript is negative: pet leaves the index undefined where one is."""
    if evaluation.domain.is_subset(evaluation.index.domain()):
        return
    for position in range(evaluation.index.dim(isl.dim_type.out)):
        subscript = evaluation.index.get_pw_aff(position)
        if evaluation.domain.is_subset(subscript.domain()):
            continue
        low, high = _range(evaluation, position)
        raise _out_of_bounds(evaluation, position, min(low, -1), high, None, offset, text, place)


def check_bounds(evaluation: Evaluation, array: Array, offset: int, text: str, place: Place) -> None:
    """Every element that is accessed lies within the declared extents, the outermost included."""
    for position, extent in enumerate(array.extents):
        low, high = _range(evaluation, position)
        if low < 0 or high >= extent:
            raise _out_of_bounds(evaluation, position, low, high, extent, offset, text, place)


def _range(evaluation: Evaluation, position: int) -> tuple[int, int]:
    """The smallest and the largest value of a subscript, continued to where pet trimmed it if that is possible."""
    subscript = evaluation.index.get_pw_aff(position)
    pieces = subscript.get_pieces()
    if len(pieces) == 1:
        subscript = isl.PwAff.from_aff(pieces[0][1])
    subscript = subscript.intersect_domain(evaluation.domain)
    if subscript.domain().is_empty():
        return -1, -1
    return subscript.min_val().to_python(), subscript.max_val().to_python()


def _out_of_bounds(
    evaluation: Evaluation,
    position: int,
    low: int,
    high: int,
    extent: int | None,
    offset: int,
    text: str,
    place: Place,
) -> OutOfBoundsError:
    array = evaluation.access.array
    printed = re.search(r"-> \[\((.*?)\)(?: :.*)?\]", str(evaluation.index.get_pw_aff(position)))
    subscript = printed[1] if printed else str(position + 1)
    allowed = f"; the extent is {extent}" if extent is not None else ""
    return OutOfBoundsError(
        f"subscript {position + 1} of {array}, {subscript}, reaches from {low} to {high}{allowed}",
        file=place.file,
        line=place.line(offset),
        construct=text,
        remedy=f"enlarge {array}, or shorten the loop",
    )


def check_memory(arrays: Iterable[Array], place: Place, offset: int) -> None:
    """All arrays together fit into the machine's memory."""
    total = sum(array.bytes for array in arrays)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if total > memory:
        largest = max(arrays, key=lambda array: array.bytes)
        raise ResourceError(
            f"the arrays take {total / 2**30:.1f} GiB, and the machine has {memory / 2**30:.1f} GiB of memory",
            file=place.file,
            line=place.line(offset),
            construct=f"{largest.name}: {largest.bytes / 2**30:.1f} GiB",
            remedy="choose smaller sizes, such as with -D",
        )


def check_after(variable: VariableFacts, facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """A counter or index that is left out of the model isn't read once the region has run."""
    loops = [b for b in facts.branches if b.kind in ("for", "while") and b.offset < start and end <= b.end]
    repeated = min((loop.offset for loop in loops), default=start)
    later = [r for r in variable.references if r.offset >= end or repeated <= r.offset < start]
    later.sort(key=lambda reference: (reference.offset < end, reference.offset))
    if later and (later[0].role != "write" or later[0].conditional):
        raise UnsupportedConstructError(
            f"{variable.name} is computed in the region for its subscripts, and read behind it",
            file=place.file,
            line=place.line(later[0].offset),
            construct=place.quote(later[0].offset),
            remedy=f"use another variable than {variable.name} behind the region",
        )


def nothing_runs(facts: SourceFacts, start: int, end: int, place: Place) -> NoScopError:
    loops = [branch for branch in facts.branches if branch.kind == "for" and start <= branch.offset < end]
    offset = loops[0].offset if loops else start
    return NoScopError(
        "no iteration of the loops runs, so there is nothing to optimize",
        file=place.file,
        line=place.line(offset),
        construct=loops[0].header if loops else None,
        remedy="check the loop bounds, and the sizes that -D gives",
    )
