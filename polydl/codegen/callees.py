"""What calls in the loops of a nest run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polydl.contracts import CallArguments, GemmSite, Microkernel


@dataclass(frozen=True)
class MicrokernelCallee:
    """A microkernel. The names of arguments are those of ``CallArguments``."""

    kernel: Microkernel
    site: GemmSite

    def call(self, arguments: Mapping[str, str]) -> str:
        return self.kernel.call(self.site, CallArguments(**arguments))


@dataclass(frozen=True)
class FunctionCallee:
    """A C function of that name, which takes its arguments in their order."""

    name: str

    def call(self, arguments: Mapping[str, str]) -> str:
        return f"{self.name}({', '.join(arguments.values())});"


@dataclass(frozen=True)
class Written:
    """A statement that was C from the start, such as a call that the user wrote."""

    #: with its semicolon
    text: str

    def call(self, arguments: Mapping[str, str]) -> str:  # noqa: ARG002
        return self.text
