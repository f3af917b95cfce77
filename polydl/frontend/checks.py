"""Checks before a scop is trusted. Each function raises the error that names the construct."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from polydl import bfloat16
from polydl.errors import (
    NoScopError,
    UnknownSizeError,
    UnsupportedConstructError,
    UserError,
)
from polydl.frontend.computed_integers import Computed
from polydl.frontend.dependence_on_data import data_dependent, not_affine
from polydl.frontend.facts import MEMBERS, Branch, SourceFacts, VariableFacts, VariableUse, is_word_of_isl
from polydl.frontend.source import Place
from polydl.ir.statement import Expression

# What to do about types that the model doesn't know.
_TYPES = {
    "complex numbers": "keep real and imaginary parts in arrays of their own, and write products out: "
    "c_re[i] += a_re[i] * b_re[i] - a_im[i] * b_im[i]; c_im[i] += a_re[i] * b_im[i] + a_im[i] * b_re[i];",
    "a struct": MEMBERS,
    "the type __bf16": "include <polydl/bfloat16.h> and use its bfloat16, with "
    f"{bfloat16.TO_FLOAT} where it is read and {bfloat16.FROM_FLOAT} where it is written",
    "the type _Float16": "keep the elements in arrays of float, or of bfloat16 from <polydl/bfloat16.h>",
    "an enumeration": "make it an int; its constants stay what they are",
    "a pointer to pointers": "pass the elements as one array: float a[N][M], or float *a with a[i * M + j]",
}

# Of these, types of numbers. What is computed with them is no construct of its own, and no call.
_NUMBERS = ("complex numbers", "long double", "the type __bf16", "the type __float128", "the type _Float16")


def check_before(facts: SourceFacts, place: Place) -> None:
    """The checks of a marked region that are possible before pet reads it; without one, of what it never ends with."""
    if facts.region is not None:
        check_constructs(facts, *facts.region, place)
        check_variables(facts, *facts.region, place)
        check_sizes(facts, *facts.region, place)
        return
    for construct in facts.constructs:
        if construct.endless:
            check_constructs(facts, construct.offset, construct.offset + 1, place)


def check_whole_loops(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that a region that pet detected consists of whole loops of the function, not of parts of one."""
    around = [b for b in facts.branches if b.kind in ("for", "while") and b.offset < start and end <= b.end]
    if facts.region is not None or not around:
        return
    outermost = min(around, key=lambda branch: branch.offset)
    check_constructs(facts, outermost.offset, outermost.end, place)
    raise UnsupportedConstructError(
        "pet can model only a part of this loop",
        file=place.file,
        line=place.line(outermost.offset),
        construct=place.between(outermost.offset, outermost.body),
        remedy="enclose the part that is meant in #pragma scop and #pragma endscop, and see what pet says about it",
    )


def has_loop(facts: SourceFacts, scop: Mapping[str, Any]) -> bool:
    """Whether the region that pet detected contains a for loop."""
    start, end = facts.shown.origins[scop["start"]], facts.shown.origins[scop["end"]]
    around = [b for b in facts.branches if b.offset < start and end <= b.end]
    return bool(around) or any(b.kind == "for" and start <= b.offset < end for b in facts.branches)


def first_loop(facts: SourceFacts, place: Place) -> Branch | None:
    """The first for loop of the function, up to the end of its last statement."""
    loops = [branch for branch in facts.branches if branch.kind == "for"]
    if not loops:
        return None
    loop = min(loops, key=lambda branch: branch.offset)
    rest = re.match(r"\s*;", place.text[loop.end :])
    return replace(loop, end=loop.end + (rest.end() if rest is not None else 0))


def other_loops(facts: SourceFacts, start: int, end: int, place: Place) -> tuple[int, ...]:
    """The lines of the function's outermost loops that a region which pet detected leaves out."""
    if facts.region is not None:
        return ()
    loops = [branch for branch in facts.branches if branch.kind in ("for", "while")]
    outermost = [one for one in loops if not any(o.offset < one.offset < o.end for o in loops)]
    return tuple(place.line(one.offset) for one in outermost if one.end <= start or end <= one.offset)


def no_loop_found(facts: SourceFacts, place: Place) -> UnsupportedConstructError:
    """The error for a function with a loop of which pet makes no scop and reports nothing, for the caller to raise."""
    loop = first_loop(facts, place)
    offset = loop.offset if loop is not None else facts.function.offset
    return UnsupportedConstructError(
        "pet can't model this loop, and doesn't say why",
        file=place.file,
        line=place.line(offset),
        construct=place.quote(offset),
        remedy="write for loops with affine bounds, array subscripts and arithmetic",
    )


def check_other_loops(facts: SourceFacts, place: Place) -> None:
    """Check that a function without for loops has no loops of other kinds."""
    loops = [branch.offset for branch in facts.branches if branch.kind == "while"]
    for offset in (*sorted(loops), *_jumps(facts)):
        check_constructs(facts, offset, offset + 1, place)


def _jumps(facts: SourceFacts) -> list[int]:
    """Offsets of the goto statements of the function."""
    return [construct.offset for construct in facts.constructs if construct.kind == "goto"]


def check_constructs(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that the region has no construct that pet would misread or ignore, and no numbers of unknown types."""
    for variable in facts.variables:
        uses = variable.within(start, end)
        if uses and variable.shape.problem in _NUMBERS:
            raise _unknown_type(variable, uses, place)
    # What jumps to a label says more than the label.
    for construct in sorted(facts.constructs, key=lambda known: (known.kind == "label", known.offset)):
        if start <= construct.offset < end:
            raise UnsupportedConstructError(
                construct.message,
                file=place.file,
                line=place.line(construct.offset),
                construct=construct.text or place.quote(construct.offset),
                remedy=construct.remedy,
            )


def check_variables(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that every variable of the region has a type and uses that a Scop can represent."""
    _check_pointers(facts, start, end, place)
    _check_hidden(facts, start, end, place)
    for variable in facts.variables:
        uses = variable.within(start, end)
        _check_scope(variable, start, end, place)
        if not uses and variable.storage != "parameter":
            continue
        offset = variable.offset if variable.offset >= 0 else uses[0].offset
        if variable.shape.problem is not None:
            raise _unknown_type(variable, uses, place)
        if variable.shape.is_pointer and variable.storage != "parameter":
            raise UnsupportedConstructError(
                f"the pointer {variable.name} may point into any array",
                file=place.file,
                line=place.line(uses[0].offset),
                construct=place.quote(uses[0].offset),
                remedy=f"make {variable.name} a parameter, or an array with a size",
            )
        _check_changes(variable, start, end, place)
        if variable.loop_counter and is_word_of_isl(variable.shown):
            raise UnsupportedConstructError(
                f"the loop counter {variable.name} has a name that the analysis can't use, in a macro",
                file=place.file,
                line=place.line(offset),
                construct=place.quote(offset),
                remedy="give the counter another name, such as i",
            )


def _unknown_type(variable: VariableFacts, uses: Sequence[VariableUse], place: Place) -> UnsupportedConstructError:
    """The error for a variable whose type has a problem, at its declaration or, in another file, at the first use."""
    offset = variable.offset if variable.offset >= 0 else uses[0].offset
    return UnsupportedConstructError(
        f"{variable.name} is {variable.shape.problem}, which the model doesn't know",
        file=place.file,
        line=place.line(offset),
        construct=place.quote(offset),
        remedy=_TYPES.get(variable.shape.problem or "", "use arrays and scalars of float, double or an integer type"),
    )


def _check_pointers(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that a pointer that is declared in the region isn't used after it, since its declaration goes."""
    for pointer in facts.pointers:
        later = [offset for offset in pointer.used if offset >= end]
        if start <= pointer.offset < end and later:
            raise UnsupportedConstructError(
                f"{pointer.name} is declared in the region and used behind it",
                file=place.file,
                line=place.line(later[0]),
                construct=place.quote(later[0]),
                remedy=f"declare {pointer.name} before the region, or once more behind it",
            )


def _check_hidden(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that no variable of the function hides a parameter in the region: a Scop knows both by the same name."""
    parameters = {variable.name for variable in facts.variables if variable.storage == "parameter"}
    for variable in facts.variables:
        uses = variable.within(start, end)
        inside = start <= variable.offset < end or variable.storage == "parameter"
        if variable.name in parameters and uses and not inside:
            raise UnsupportedConstructError(
                f"{variable.name} is a variable here that hides the parameter {variable.name}",
                file=place.file,
                line=place.line(uses[0].offset),
                construct=place.quote(uses[0].offset),
                remedy="give one of them another name",
            )


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


def _check_scope(variable: VariableFacts, start: int, end: int, place: Place) -> None:
    """Check that a variable declared in the region isn't used after it, since generated code replaces the region."""
    later = [reference for reference in variable.references if reference.offset >= end]
    if start <= variable.offset < end and later and variable.storage != "parameter":
        raise UnsupportedConstructError(
            f"{variable.name} is declared in the region and used behind it",
            file=place.file,
            line=place.line(later[0].offset),
            construct=place.quote(later[0].offset),
            remedy=f"declare {variable.name} before the region",
        )


def check_sizes(facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that every integer that bounds a loop or is in an array's extents has a known value.

    Those that are computed in the region aside. Raises one UnknownSizeError that names all of them, but
    UnsupportedConstructError where data decide how long a loop is, whatever their values are.
    """
    by_name = {variable.name: variable for variable in facts.variables}
    unknown: dict[str, tuple[VariableFacts, int]] = {}
    for variable in facts.variables:
        uses = variable.within(start, end)
        computed = start <= variable.offset < end or any(use.role in ("write", "update") for use in uses)
        control = [use.offset for use in uses if use.control]
        if variable.shape.is_scalar_integer and not variable.loop_counter and not computed and control:
            unknown.setdefault(variable.name, (variable, control[0]))
        for size in variable.sizes if uses or variable.storage == "parameter" else ():
            if size in by_name:
                unknown.setdefault(size, (by_name[size], variable.offset))
    if unknown:
        loops = [branch for branch in facts.branches if branch.kind in ("for", "while") and branch.data_dependent]
        for loop in loops:
            if start <= loop.offset < end:
                raise data_dependent(facts, loop.offset, place)
        raise unknown_sizes(list(unknown.values()), place)


def unknown_sizes(unknown: Sequence[tuple[VariableFacts, int]], place: Place) -> UnknownSizeError:
    """The error for integers without a value, each with the offset of where it is needed; there is at least one."""
    names = [variable.name for variable, _ in unknown]
    parameters = [variable.name for variable, _ in unknown if variable.storage == "parameter"]
    others = [name for name in names if name not in parameters]
    remedies = []
    if parameters:
        values = "it a value" if len(parameters) == 1 else "each a value"
        remedies.append(f"give {values}: {' '.join(f'-D {name}=VALUE' for name in parameters)}")
    if others:
        constants = "it a constant" if len(others) == 1 else f"{_listed(others)} constants"
        remedies.append(f"make {constants}: const int {others[0]} = VALUE; or #define {others[0]} VALUE")
    _, offset = unknown[0]
    known = f"the value of {names[0]} isn't" if len(names) == 1 else f"the values of {_listed(names)} aren't"
    return UnknownSizeError(
        f"{known} known, and sizes or conditions depend on {'it' if len(names) == 1 else 'them'}",
        file=place.file,
        line=place.line(offset),
        construct=place.quote(offset),
        remedy="; ".join(remedies),
    )


def unknown_element(facts: SourceFacts, offset: int, text: str, place: Place) -> UserError:
    """The error for a statement ``text`` whose subscripts aren't affine, maybe for want of a value, to be raised."""
    end = place.text.find(";", offset) + 1 or len(place.text)
    unknown = Computed.of(facts, offset, end, place).open_integers()
    return unknown_sizes(unknown, place) if unknown else not_affine(facts, offset, text, place)


def undecided(facts: SourceFacts, offset: int, place: Place) -> UserError:
    """The error for a statement of which nobody knows when it runs, maybe for want of a value, to be raised."""
    around = [b for b in facts.branches if b.kind in ("for", "if") and b.offset <= offset < b.end]
    for branch in () if any(b.data_dependent for b in around) else around:
        if unknown := Computed.of(facts, branch.offset, branch.body, place).open_integers():
            return unknown_sizes(unknown, place)
    return data_dependent(facts, offset, place)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def read_later(variable: VariableFacts, facts: SourceFacts, start: int, end: int, place: Place) -> bool:
    """Whether an integer that the region writes may be read after it. Raises an error for a loop counter."""
    loops = [b for b in facts.branches if b.kind in ("for", "while") and b.offset < start and end <= b.end]
    repeated = min((loop.offset for loop in loops), default=start)
    later = [r for r in variable.references if r.offset >= end or repeated <= r.offset < start]
    later.sort(key=lambda reference: (reference.offset < end, reference.offset))
    if any(offset >= end for offset in _jumps(facts)):
        # What stands anywhere may run next, and a value that is set may be set where nothing comes by; but a loop that
        # counts with it sets it whenever it begins.
        counted = [(start, end), *_loops_that_set(variable, facts, start, end)]
        reads = [reference for reference in variable.references if reference.role != "write"]
        later = [r for r in reads if not any(first <= r.offset < last for first, last in counted)]
    pointed = [r for r in variable.references if r.role == "address" and not (r.lent and r.offset < start)]
    if not pointed and (not later or (later[0].role == "write" and not later[0].conditional)):
        return False
    if any(use.control and use.role in ("write", "update") for use in variable.within(start, end)):
        offset = (pointed or later)[0].offset
        how = "may be read through a pointer" if pointed else "is read behind the region"
        remedy = f"use another variable than {variable.name} {'in the loop' if pointed else 'behind the region'}"
        continued = any(b.kind == "for" and b.offset <= offset < b.body and b.offset >= end for b in facts.branches)
        if not pointed and continued:
            remedy = (
                f"give this loop a counter that starts at the value that {variable.name} has there: behind "
                "`i + 3 < n; i += 4` from 0, for (int j = n / 4 * 4; j < n; j++)"
            )
        raise UnsupportedConstructError(
            f"the loop counter {variable.name} {how}",
            file=place.file,
            line=place.line(offset),
            construct=place.quote(offset),
            remedy=remedy,
        )
    return True


def _loops_that_set(variable: VariableFacts, facts: SourceFacts, start: int, end: int) -> list[tuple[int, int]]:
    """The for loops beside the region whose header sets a variable, first of all that they do with it."""
    loops = []
    for loop in facts.branches:
        if loop.kind == "for" and (loop.end <= start or loop.offset >= end):
            first = next(iter(variable.within(loop.offset, loop.end)), None)
            if first is not None and first.control and first.role == "write":
                loops.append((loop.offset, loop.end))
    return loops


def check_no_counter(variable: VariableFacts, facts: SourceFacts, start: int, end: int, place: Place) -> None:
    """Check that an integer whose value a statement of the region needs, and that no bound gives, counts no loop."""
    if not any(use.control and use.role in ("write", "update") for use in variable.within(start, end)):
        return
    loops = [b for b in facts.branches if b.kind == "for" and start <= b.offset < end]
    counting = [loop for loop in loops if re.match(rf"for\s*\(\s*{variable.name}\b", place.text[loop.offset :])]
    behind = [
        use.offset
        for use in variable.within(start, end)
        if use.role == "read" and not any(loop.offset <= use.offset < loop.end for loop in counting)
    ]
    offset = behind[0] if behind else variable.offset
    raise UnsupportedConstructError(
        f"the loop counter {variable.name} is read behind its loop",
        file=place.file,
        line=place.line(offset),
        construct=place.quote(offset),
        remedy=f"write the value that {variable.name} has there, such as the loop's bound, or use another variable",
    )


def nothing_runs(facts: SourceFacts, start: int, end: int, place: Place) -> NoScopError:
    """The error for a region, between two offsets, whose domains are all empty, for the caller to raise."""
    loops = [branch for branch in facts.branches if branch.kind == "for" and start <= branch.offset < end]
    offset = loops[0].offset if loops else start
    return NoScopError(
        "no iteration of the loops runs, so there is nothing to optimize",
        file=place.file,
        line=place.line(offset),
        construct=place.between(offset, loops[0].body) if loops else None,
        remedy="check the loop bounds, and the sizes that -D gives",
    )


def check_conversions(body: Expression, elements: Mapping[str, str], offset: int, text: str, place: Place) -> None:
    """Check that bfloat16 elements are only copied or converted, since arithmetic would treat them as integers.

    ``elements`` has the element type of each of the statement's references.
    """

    def narrow(node: Expression) -> bool:
        return node.kind == "access" and elements[node.text] == bfloat16.ELEMENT

    def computed_with(node: Expression) -> bool:
        converts = node.kind == "call" and node.text == bfloat16.TO_FLOAT
        return any(computed_with(argument) or (narrow(argument) and not converts) for argument in node.arguments)

    target, value = body.arguments
    converted = narrow(value) or (value.kind == "call" and value.text == bfloat16.FROM_FLOAT) or value.text == "0"
    if narrow(target):
        stray = body.text != "=" or not converted or computed_with(value)
    else:
        stray = narrow(value) or computed_with(value)
    if stray:
        raise UnsupportedConstructError(
            "this computes with the bits of a bfloat16",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy=f"convert what is read with {bfloat16.TO_FLOAT}, and what is written with {bfloat16.FROM_FLOAT}",
        )
