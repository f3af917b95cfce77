"""Every error that polydl raises on purpose.

One root class, so that ``except polydl.PolydlError`` catches all of them. A message names
where (file and line), what (the construct) and what to do about it (the remedy).
"""

from __future__ import annotations

import os
import sys


def printable(name: str) -> str:
    """A path as a message shows it: on one line, with escapes for what isn't UTF-8 and for control characters."""
    shown = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in shown)


class PolydlError(Exception):
    """Root of all errors.

    ``exit_status`` is what the command line returns: 2 for a user's mistake, 1 for a failure.
    """

    exit_status = 1

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        construct: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.construct = construct
        self.remedy = remedy

    def __str__(self) -> str:
        where = ""
        if self.file is not None:
            where = f"{printable(self.file)}:" + (f"{self.line}: " if self.line is not None else " ")
        text = where + self.message
        if self.construct:
            text += f"\n  in: {self.construct}"
        if self.remedy:
            text += f"\n  remedy: {self.remedy}"
        return text


class UserError(PolydlError):
    """The input can't be used as it is; the user can mend it."""

    exit_status = 2


class SourceError(UserError):
    """The C file is missing, unreadable, or not valid C."""


class NoScopError(UserError):
    """No region of the C file can be modelled."""


class UnsupportedConstructError(UserError):
    """Valid C that the polyhedral model can't hold, such as a non-affine subscript."""


class OutOfBoundsError(UserError):
    """An access leaves the declared extent of its array."""


class UnknownSizeError(UserError):
    """A loop bound or an array extent has no known value."""


class MachineError(UserError):
    """A machine description that makes no sense."""


class OptionError(UserError):
    """An option, an argument or a plug-in name that is not valid."""


class ArgumentError(UserError):
    """An array handed to a generated kernel has the wrong type, shape or layout."""


class MissingComponentError(PolydlError):
    """A library or a program that the job needs is not installed."""


class MissingDependencyError(MissingComponentError, ImportError):
    """A package that polydl needs is not installed for this Python."""


# What the packages that polydl depends on are imported as, and what pip calls them.
_DEPENDENCIES = {
    **{name: name for name in ("cffi", "click", "islpy", "msgspec", "numpy", "platformdirs", "rich", "tadashi")},
    "clang": "libclang",
    "tomli_w": "tomli-w",
}


def missing_dependency(error: BaseException) -> MissingDependencyError | None:
    """What to say of an import that failed; None unless one of polydl's own dependencies is missing."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    module = (error.name or "").partition(".")[0]
    if module not in _DEPENDENCIES:
        return None
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isfile(os.path.join(root, "Makefile")) and os.path.isdir(os.path.join(root, "microkernels")):
        remedy = f"run `make .venv/installed` in {root}, then use {os.path.join('.venv', 'bin', 'python')}"
    else:
        remedy = f"{sys.executable} -m pip install {_DEPENDENCIES[module]}"
    return MissingDependencyError(
        f"polydl's dependencies are not installed for {sys.executable}: there is no {module}", remedy=remedy
    )


class AnalysisError(PolydlError):
    """isl gave up (quota) or a set can't be counted."""


class QuotaError(AnalysisError):
    """isl may work no longer on a question."""


class IllegalVariantError(PolydlError):
    """A step of a variant breaks a dependence, or names something that isn't there.

    The command line meets it for a variant that a user gave.
    """

    exit_status = 2

    def __init__(self, message: str) -> None:
        super().__init__(message, remedy="`polydl variants FILE --json -` lists legal variants with their steps")


class CodegenError(PolydlError):
    """No C can be generated for a variant."""


class ExecutionError(PolydlError):
    """Nothing could be measured: every candidate failed, or the reference did."""


class ResourceError(PolydlError):
    """The disk is full, or the arrays don't fit into memory."""


class RecordsError(PolydlError):
    """Stored measurements can't be read, or were written by a newer polydl."""


class RecordsWarning(UserWarning):
    """The records took none of some measurements, or gave none; the work went on without."""


class WeightsError(PolydlError):
    """A ranker's trained weights can't be read, or belong to other features."""
