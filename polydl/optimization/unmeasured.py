"""Why the nest as it was written can't be measured, or no candidate is right, and what helps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polydl.errors import ExecutionError, UnsupportedConstructError
from polydl.execute.contract import NO_REFERENCE
from polydl.frontend.source import without_comments
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop

# As the linkers of GNU and LLVM put it.
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`']?(\w+)")
_REMEDIES = {
    "compile": "make the file compile with this compiler, or name another one (--compiler)",
    "crash": "make the function run on any data: all that it touches must lie within its arrays",
    "timeout": "raise --timeout, or choose smaller sizes",
}


def unmeasured(scop: Scop, baseline: Measurement) -> ExecutionError:
    """The error for an original nest that has no time."""
    function = scop.function.name
    missing = list(dict.fromkeys(_UNDEFINED.findall(baseline.message)))
    if baseline.status == "compile" and missing:
        names = ", ".join(missing)
        which = "it" if len(missing) == 1 else "them"
        return ExecutionError(
            f"{function} can't be run by itself: {names} {'is' if len(missing) == 1 else 'are'} in another file",
            file=scop.file,
            line=scop.function.line,
            construct=names,
            remedy=f"move the loops to a function that doesn't use {which}, or define {which} in this file",
        )
    remedy = _REMEDIES.get(baseline.status, "run `polydl doctor`, which tries what polydl needs")
    if NO_REFERENCE in baseline.message:
        remedy = "name data on which it changes an array and gets numbers (--init FUNCTION, --inputs FILE)"
    return ExecutionError(
        f"the original nest itself can't be measured ({baseline.status}): {baseline.message}",
        file=scop.file,
        line=scop.line,
        remedy=remedy,
    )


def check_results(scop: Scop) -> None:
    """Raises UnsupportedConstructError where callers see no array that it writes: no variant can be checked then."""
    written = dict.fromkeys(scop.array(access.array) for each in scop.statements for access in each.writes)
    shared = {each.memory for each in scop.arrays if each.storage in ("parameter", "global", "constant")}
    if any(each.memory in shared for each in written):
        return
    function, names = scop.function.name, [each.name for each in written]
    scalar = next((each.name for each in written if each.storage == "function" and not each.extents), None)
    remedy = f"make {names[0]} a parameter of {function}, or a global array"
    if scalar is not None:
        remedy = f"give {function} an array of one element for what it returns: result[0] = {scalar};"
    raise UnsupportedConstructError(
        f"the region writes no array that a caller of {function} sees",
        file=scop.file,
        line=scop.line,
        construct=", ".join(names),
        remedy=remedy,
    )


def none_passed(scop: Scop, candidates: Sequence[Measurement]) -> str:
    """What to say where no candidate passed, or there is none.

    Candidates are called more often than the original before their results are compared.
    """
    if not candidates:
        return "there is no legal variant to run"
    text = "no candidate passed"
    if all(each.status == "inaccurate" for each in candidates):
        return (
            f"{text}: each has larger rounding errors than --numerics bounded admits; --numerics reassociated computes "
            "the source's own products and functions, with sums in any order"
        )
    wrong = any(each.status == "wrong" for each in candidates)
    names = " and ".join(_kept(scop)) if wrong else ""
    if not names:
        return text
    return f"{text}: {scop.function.name} keeps {names} from one call to the next; make each a global or a parameter"


def _kept(scop: Scop) -> list[str]:
    """The static variables of the function that the region reads and writes."""
    start, _, end = scop.definition
    text = without_comments(scop.source[start:end])
    read = {access.array for each in scop.statements for access in each.reads}
    written = {access.array for each in scop.statements for access in each.writes}
    names = [each.name for each in scop.arrays if each.storage == "function" and each.name in read & written]
    return [name for name in names if re.search(rf"\bstatic\b[^;{{}}]*\b{name}\b", text)]
