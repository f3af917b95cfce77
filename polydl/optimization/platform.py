"""The processors that code is made for, and who compiles and runs it: this machine, another one, or nobody."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polydl import registry
from polydl.arguments import of_type
from polydl.emission.target import TargetProcessors
from polydl.execute.contract import Executor
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine


@dataclass(frozen=True)
class Platform:
    """The processors that code is made for, and who compiles and runs it."""

    machine: Machine
    #: None where nothing is compiled
    toolchain: Toolchain | None
    #: None for the machine at hand, with the compiler's own flags for it
    target: TargetProcessors | None
    #: the caller's own, for machines elsewhere
    executor: Executor | None
    #: names of microkernels that the processors can run, or ``AUTOMATIC``
    microkernel: str

    @property
    def lacking(self) -> tuple[str, ...]:
        """Instruction sets that the code may use and the processor that is to run it lacks."""
        # An executor runs elsewhere what this machine can't.
        return () if self.target is None or self.executor is not None else self.target.lacking

    @property
    def runs(self) -> Executor | None:
        """What compiles and runs candidates; None where nothing can, or nothing is to be run."""
        if self.toolchain is None:
            return None
        if self.executor is not None:
            return self.executor
        if self.lacking or not self.machine.at_hand:
            return None
        local: Executor = registry.load("executors", "local")
        return local


def machine_on(machine: Machine | None, threads: int | None) -> Machine:
    """The machine, or else the one at hand; on ``threads``, if they are given.

    Raises MachineError for too many, OptionError for what is no machine.
    """
    if machine is None:
        return Machine.detect(threads=threads)
    remedy = "polydl.Machine.load(FILE) reads a description; polydl.Machine.detect() is the one at hand"
    of_type("machine", machine, Machine, remedy=remedy)
    return machine if threads is None else replace(machine, threads=threads)


def platform_for(
    machine: Machine, microkernel: str, march: str, compiler: str | None, executor: Executor | None, *, run: bool
) -> Platform:
    """Who compiles and runs for which processors. Raises OptionError for those that the compiler doesn't know."""
    target: TargetProcessors | None = None
    if march:
        target = TargetProcessors.find(march, machine, compiler)
    elif executor is not None or (run and not machine.at_hand):
        target = TargetProcessors.of(machine, compiler)
    if target is None:
        return Platform(machine, Toolchain.find(compiler) if run else None, None, executor, microkernel)
    toolchain = target.toolchain if run else None
    return Platform(target.machine, toolchain, target, executor, target.microkernel(microkernel))
