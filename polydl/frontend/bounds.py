"""Checks of sizes, ranges and bounds. Each function raises the error for a value outside of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import islpy as isl

from polydl.errors import (
    OutOfBoundsError,
    ResourceError,
    UnknownSizeError,
    UnsupportedConstructError,
)
from polydl.frontend.counters import LIMITS, wider
from polydl.frontend.expressions import EvaluatedReference, value_range
from polydl.frontend.facts import SIGNED, Branch, DeclaredType, SourceFacts, VariableFacts
from polydl.frontend.source import Place
from polydl.ir.scop import Array

# Numbers that isl divides by, and those that it multiplies with.
_DIVISOR = re.compile(r"(?:/|\bmod )(\d+)")
_FACTOR = re.compile(r"(\d+)(?=\*|[A-Za-z(])")
_LONG_NUMBER = re.compile(r"\d{19,}")
# What unsigned numbers wrap around at is a multiple of it.
_WRAPPED = 1 << 32


def check_finite(domain: isl.Set, offset: int, facts: SourceFacts, place: Place) -> None:
    """Check that every loop around a statement ends."""
    loops = _loops_around(offset, facts)
    for position in range(domain.dim(isl.dim_type.set)):
        # isl_set_dim_has_upper_bound takes counters that step over their bound for bounded.
        if domain.dim_min_val(position).is_neginfty() or domain.dim_max_val(position).is_infty():
            loop = loops[min(position, len(loops) - 1)] if loops else None
            construct = place.between(loop.offset, loop.body) if loop is not None else place.quote(offset)
            other = ", or compare with < or >" if loop is not None and "!=" in construct else ""
            raise UnsupportedConstructError(
                "this loop never ends",
                file=place.file,
                line=place.line(loop.offset if loop is not None else offset),
                construct=construct,
                remedy=f"give the loop a bound that its counter reaches{other}",
            )


def _loops_around(offset: int, facts: SourceFacts) -> list[Branch]:
    """The loops that a place lies in, outermost first."""
    loops = [b for b in facts.branches if b.kind in ("for", "while") and b.offset <= offset < b.end]
    return sorted(loops, key=lambda branch: branch.offset)


def check_counters(domain: isl.Set, offset: int, directions: Sequence[int], facts: SourceFacts, place: Place) -> None:
    """Check that no signed counter overflows before its loop ends, or when it ends; pet takes counters for unlimited.

    ``offset`` is the statement's. ``directions`` has 1 for a loop that counts up and -1 for one that counts down,
    outermost first.
    """
    loops = _loops_around(offset, facts)
    # Other loops may have counters of the same name and of another type.
    variables = [v for v in facts.variables if any(v.within(loop.offset, loop.end) for loop in loops)]
    for position, direction in enumerate(directions):
        name = domain.get_dim_name(isl.dim_type.set, position)
        for variable in variables:
            limits = LIMITS.get(variable.shape.element)
            if variable.shown != name or limits is None or limits[0] == 0:
                continue
            low = domain.dim_min_val(position).to_python()
            high = domain.dim_max_val(position).to_python()
            step = domain.get_stride(position).to_python()
            after = high + step if direction > 0 else low - step
            if low < limits[0] or high > limits[1] or not limits[0] <= after <= limits[1]:
                steps = f" in steps of {step}" if step != 1 else ""
                raise UnsupportedConstructError(
                    f"the counter {variable.name} wraps around: it runs from {low} to {high}{steps}, "
                    f"in {variable.shape.element}",
                    file=place.file,
                    line=place.line(variable.offset),
                    construct=place.quote(variable.offset),
                    remedy=wider(variable.name, variable.shape.element),
                )


def check_wraps(domain: str, values: Iterable[str], offset: int, text: str, place: Place) -> None:
    """Check that no condition of a statement and no index, as isl writes them, wraps around as unsigned numbers do.

    ``values`` are the indices, and what is computed of loop counters.
    """
    forms = [domain, *values]
    numbers = [int(number) for form in forms for number in _DIVISOR.findall(form)]
    numbers += [int(number) for number in _FACTOR.findall(domain)]
    # No integer of C's other types is so large.
    large = any(int(number) > LIMITS["long"][1] for form in forms for number in _LONG_NUMBER.findall(form))
    if large or any(number and number % _WRAPPED == 0 for number in numbers):
        raise UnsupportedConstructError(
            "unsigned arithmetic wraps around here, on the way to an index or a condition",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy=SIGNED,
        )


def check_value(value: isl.PwAff, shape: DeclaredType, offset: int, text: str, place: Place) -> None:
    """Check that an integer variable can hold the values assigned to it; pet ignores its type."""
    limits = LIMITS[shape.element]
    low, high = value_range(value)
    if low < limits[0] or high > limits[1]:
        raise UnsupportedConstructError(
            f"the value, from {low} to {high}, doesn't fit into {shape.element}",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy="use a wider type",
        )


def known_extents(variable: VariableFacts, place: Place) -> tuple[int | None, ...]:
    """The extents in the declaration; None for the outermost one of a pointer."""
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
    """The error for a pointer of which nothing says how many elements it has, for the caller to raise."""
    return UnknownSizeError(
        f"{variable.name} has no extent, and the region doesn't show one",
        file=place.file,
        line=place.line(variable.offset),
        construct=place.quote(variable.offset),
        remedy=f"declare it as an array with a size, such as {variable.shape.element} {variable.name}[N]",
    )


def certain_extent(
    variable: VariableFacts, used: Sequence[EvaluatedReference], certain: Sequence[EvaluatedReference], place: Place
) -> int:
    """One more than the largest outermost subscript of a pointer that is ``used``.

    Of these, C makes the ``certain`` ones whatever the data are. Raises UnknownSizeError where some of those run over
    elements, and others reach further.
    """
    extent = _reached_extent(used)
    ranges = [_range(evaluation, 0) for evaluation in certain]
    if any(low < high for low, high in ranges) and _reached_extent(certain) < extent:
        inner = "".join(f"[{size}]" for size in variable.shape.extents[1:])
        raise UnknownSizeError(
            f"{variable.name} has no extent, and the region writes beyond its element {_reached_extent(certain) - 1} "
            "only where a condition on data holds",
            file=place.file,
            line=place.line(variable.offset),
            construct=place.quote(variable.offset),
            remedy=f"declare it as an array with its size, such as {variable.shape.element} "
            f"{variable.name}[{extent}]{inner}, if there are as many elements whatever the data are",
        )
    return extent


def _reached_extent(evaluations: Sequence[EvaluatedReference]) -> int:
    return max(_range(evaluation, 0)[1] for evaluation in evaluations) + 1


def check_subscripts(
    evaluation: EvaluatedReference, variable: VariableFacts, offset: int, text: str, place: Place
) -> None:
    """Check that an access has as many subscripts as the array has dimensions, so that it is no address."""
    if evaluation.index.dim(isl.dim_type.out) != len(variable.shape.extents):
        raise UnsupportedConstructError(
            f"{variable.name} is used as a pointer, without all of its subscripts",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy=f"write an element of {variable.name}, without asking whether it is there: pass an array always, "
            "such as one of zeros",
        )


def check_defined(evaluation: EvaluatedReference, offset: int, text: str, place: Place) -> None:
    """Check that no subscript is negative; pet leaves the index undefined where one is."""
    if evaluation.domain.is_subset(evaluation.index.domain()):
        return
    for position in range(evaluation.index.dim(isl.dim_type.out)):
        subscript = evaluation.index.get_pw_aff(position)
        if evaluation.domain.is_subset(subscript.domain()):
            continue
        low, high = _range(evaluation, position)
        raise _out_of_bounds(evaluation, position, min(low, -1), high, None, offset, text, place)


def check_bounds(evaluation: EvaluatedReference, array: Array, offset: int, text: str, place: Place) -> None:
    """Check that every element accessed is within the declared extents, the outermost one included."""
    for position, extent in enumerate(array.extents):
        low, high = _range(evaluation, position)
        if low < 0 or high >= extent:
            raise _out_of_bounds(evaluation, position, low, high, extent, offset, text, place)


def _range(evaluation: EvaluatedReference, position: int) -> tuple[int, int]:
    """The smallest and the largest value of a subscript; if possible, also over instances that pet removed."""
    subscript = evaluation.index.get_pw_aff(position)
    pieces = subscript.get_pieces()
    if len(pieces) == 1:
        subscript = isl.PwAff.from_aff(pieces[0][1])
    subscript = subscript.intersect_domain(evaluation.domain)
    if subscript.domain().is_empty():
        return -1, -1
    return value_range(subscript)


def _out_of_bounds(
    evaluation: EvaluatedReference,
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
    allowed = f"; the extent is {extent}" if extent is not None and low >= 0 else ""
    return OutOfBoundsError(
        f"subscript {position + 1} of {array}, {subscript}, reaches from {low} to {high}{allowed}",
        file=place.file,
        line=place.line(offset),
        construct=text,
        remedy=f"enlarge {array}, or shorten the loop" if low >= 0 else "start the loop later, or shift the subscript",
    )


def check_memory(arrays: Iterable[Array], place: Place, offset: int) -> None:
    """Check that all arrays together fit into the machine's memory. Raises ResourceError."""
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


def overflow(start: int, place: Place) -> UnsupportedConstructError:
    """The error for a subscript or bound beyond ``int``, in the region that starts there; for the caller to raise."""
    return UnsupportedConstructError(
        "a subscript or a loop bound in the region overflows int, or is negative where it is not spelled out",
        file=place.file,
        line=place.line(start),
        construct=place.quote(start),
        remedy="choose smaller sizes, and check the subscripts that macros make",
    )
