"""Errors for what depends on more than loop counters: whether a statement runs, and which element it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

from polydl.errors import UnsupportedConstructError
from polydl.frontend.computed_integers import ON_BITS, Computed
from polydl.frontend.facts import Branch, SourceFacts, VariableFacts, VariableUse
from polydl.frontend.source import Place

_CHANGES = ("write", "update")


def data_dependent(facts: SourceFacts, offset: int, place: Place) -> UnsupportedConstructError:
    """The error for a statement whose execution depends on data; it names the loop or the condition that decides."""
    around = [branch for branch in facts.branches if branch.offset <= offset < branch.end and branch.kind != "continue"]
    jumps = [
        branch
        for branch in facts.branches
        if branch.kind in ("break", "continue") and any(b.offset <= branch.offset < b.end for b in around)
    ]
    deciding = [branch for branch in around if branch.data_dependent]
    if not deciding and (changed := _changed_in_body(around, facts)) is not None:
        return _bound_that_changes(*changed, place)
    innermost: Branch | None = max([*deciding] or [*jumps, *around], key=lambda branch: branch.offset, default=None)
    if innermost is not None and innermost.kind == "if":
        # What it decides is how the loop goes on.
        inside = [branch for branch in jumps if innermost.offset <= branch.offset < innermost.end]
        innermost = min(inside, key=lambda branch: branch.offset, default=innermost)
    where = innermost.offset if innermost is not None else offset
    names = {"for": "the loop's bounds depend", "if": "the condition depends", "while": "the loop depends"}
    remedies = {
        "if": "write the choice as an expression, such as a[i] = c[i] > 0 ? x : y",
        "break": "let the loop run to its end, and write what it changes as choices, such as "
        "at = at < 0 && x[i] == key ? i : at",
        "continue": "write what it skips as choices, such as a[i] = c[i] > 0 ? a[i] : x",
        "for": "give the loop bounds made of sizes and of the counters around it; loops as long as data says, such as "
        "those over the rows of a sparse matrix, can't be modelled",
    }
    subject = names.get(innermost.kind, f"the {innermost.kind} depends") if innermost is not None else "it depends"
    subject += " on data"
    construct = place.between(innermost.offset, innermost.body) if innermost is not None else place.quote(where)
    if innermost is not None and not innermost.data_dependent and ON_BITS.search(construct):
        remedies["if"] = "ask with / and %, for counters that are not negative: i & 1 is i % 2, and i >> 4 is i / 16"
    if innermost is not None and innermost.kind in ("for", "if"):
        computed = Computed.of(facts, innermost.offset, innermost.body, place)
        sums = "" if innermost.data_dependent else computed.more_than_sums()
        if innermost.kind == "for":
            remedies["for"] = computed.of_constants() or sums or remedies["for"]
        elif not ON_BITS.search(construct):
            remedies["if"] = sums or remedies["if"]
        if sums:
            decider = "the condition is" if innermost.kind == "if" else "the loop's bounds are"
            subject = f"{decider} more than sums of these times constants"
        elif not innermost.data_dependent and (functions := computed.unknown_results()):
            subject = f"what {functions} returns isn't known"
            remedies[innermost.kind] = f"write in the place of {functions} what it computes, or make it a macro"
    macro = re.match(r"(?!if\b)\w+", place.text[where:]) if innermost is not None and innermost.kind == "if" else None
    if macro is not None:
        construct = place.quote(where)
        remedies["if"] = (
            f"the condition stands in the macro {macro[0]}: write the choice there as an expression, such as "
            "(x) = (v) > (x) ? (v) : (x), or write out here what the macro stands for"
        )
    return UnsupportedConstructError(
        f"whether a statement runs isn't an affine condition on the loop counters: {subject}",
        file=place.file,
        line=place.line(where),
        construct=construct,
        remedy=remedies.get(innermost.kind if innermost is not None else "", "take it out of the region"),
    )


def not_affine(facts: SourceFacts, offset: int, text: str, place: Place) -> UnsupportedConstructError:
    """The error for a subscript, with a remedy that suits its operators; ``text`` is the statement."""
    remedy = (
        "write subscripts such as a[2 * i + j + 1]; elements that data names (a gather, a scatter, a histogram) "
        "can't be modelled"
    )
    subscripts = re.findall(r"\[([^][]*)\]", text)
    named = set(re.findall(r"[A-Za-z_]\w*", " ".join(subscripts)))
    if running := _running_index(facts, offset, named):
        return UnsupportedConstructError(
            f"a subscript isn't affine: {running.name} gets its value from iterations before",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy=f"write a sum of loop counters times constants in the place of {running.name}, such as 15 - i, "
            "or a remainder of one, such as i % 3; what data counts can't be modelled",
        )
    words = {name for each in subscripts for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", each)}
    computed = Computed.of(facts, offset, place.text.find(";", offset) + 1 or len(place.text), place)
    calls = words.intersection(function.name for function in facts.callees)
    if names := " and ".join(sorted(calls)) or computed.unknown_results():
        return UnsupportedConstructError(
            f"a subscript isn't affine: what {names} returns isn't known",
            file=place.file,
            line=place.line(offset),
            construct=text,
            remedy="write the sum itself in the subscript, such as a[2 * i + j + 1], or make the function a macro",
        )
    bits = computed.on_bits()
    more = re.search(r"[&|^~*<>/%]", "".join(subscripts)) and "[" not in "".join(re.split(r"\[[^][]*\]", text))
    if constants := computed.of_constants():
        remedy = constants
    elif more or bits:
        # No subscript has an element, and one computes more than sums.
        remedy = f"{bits}: " if bits else ""
        remedy += (
            "write each subscript as a sum of loop counters times constants, such as a[2 * i + j + 1], or such a sum "
            "/ 16 or % 16 (i & 15 is i % 16, and i >> 4 is i / 16, for i >= 0; i ^ 1 is 1 - i for 0 and 1); products "
            "of counters can't be modelled"
        )
    return UnsupportedConstructError(
        "a subscript isn't affine: it depends on more than sums of loop counters times constants",
        file=place.file,
        line=place.line(offset),
        construct=text,
        remedy=remedy,
    )


def _changed_in_body(around: Iterable[Branch], facts: SourceFacts) -> tuple[VariableFacts, VariableUse, bool] | None:
    """An integer in the header of one of these loops that its body changes, the change, and whether it is the counter.

    The outermost loop comes first.
    """
    for loop in sorted((each for each in around if each.kind == "for"), key=lambda loop: loop.offset):
        for variable in facts.variables:
            asked = variable.within(loop.offset, loop.body) if variable.shape.is_scalar_integer else ()
            changes = [use for use in variable.within(loop.body, loop.end) if use.role in _CHANGES]
            if asked and changes:
                counts = variable.loop_counter or any(use.role in _CHANGES for use in asked)
                return variable, changes[0], counts
    return None


def _bound_that_changes(
    variable: VariableFacts, change: VariableUse, counts: bool, place: Place
) -> UnsupportedConstructError:
    """The error for a loop whose body changes its counter, if that ``counts`` it, or its bound."""
    name = variable.name
    if counts and change.control:
        remedy = f"give the inner loop a counter of its own, other than {name}"
    elif counts:
        remedy = f"change {name} in the loop's header alone, such as {name} += 2"
    else:
        remedy = f"leave {name} as it is in the loop, and write a bound that doesn't change while the loop runs"
    return UnsupportedConstructError(
        f"the loop's {'counter' if counts else 'bound'} {name} is changed in its body",
        file=place.file,
        line=place.line(change.offset),
        construct=place.quote(change.offset),
        remedy=remedy,
    )


def _running_index(facts: SourceFacts, offset: int, names: set[str]) -> VariableFacts | None:
    """An integer of these names that a loop around a statement changes by itself, from one iteration to the next."""
    loops = [each for each in facts.branches if each.kind == "for" and each.offset <= offset < each.end]
    if not loops:
        return None
    outermost = min(loops, key=lambda loop: loop.offset)
    for variable in facts.variables:
        uses = variable.within(outermost.offset, outermost.end)
        steps = any(use.role == "update" and not use.control for use in uses)
        # Or it is read before it is written.
        steps |= any(use.role == "write" for use in uses) and uses[0].role == "read"
        declared_inside = outermost.offset <= variable.offset < outermost.end
        if variable.name in names and variable.shape.is_scalar_integer and steps and not declared_inside:
            return variable
    return None
