"""Code for other processors than the one at hand: those that the compiler knows by a name, or those of a machine."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from polydl import registry
from polydl.codegen.processor import used_sets
from polydl.errors import OptionError
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.machine.processors import is_arm
from polydl.pipeline import AUTOMATIC, NO_MICROKERNEL

# Bytes of vectors, by the macro of the first instruction set that has them.
_VECTORS = {"__AVX512F__": 64, "__AVX2__": 32}
_LEAST_VECTOR = 16
# What compilers call the processors that they run on.
_NATIVE = "native"
# What processors of these names have beside all of those before, as systems name it, the greatest first.
_X86_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    ("x86-64-v4", frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})),
    ("x86-64-v3", frozenset({"avx", "avx2", "f16c", "fma"})),
    ("x86-64-v2", frozenset({"sse4_2"})),
    ("x86-64", frozenset()),
)
# What every further instruction set of 64-bit Arm is called in -march.
_ARM_EXTENSIONS = {"asimdhp": "fp16", "asimddp": "dotprod", "sve": "sve", "sve2": "sve2"}
# Compilers never use it by themselves, and later ones give it up.
_UNUSED = {"avx512_vp2intersect"}


@dataclass(frozen=True)
class TargetProcessors:
    """The processors that code is made for."""

    #: as the compiler calls them
    march: str
    toolchain: Toolchain
    #: the machine at hand, with vectors and instruction sets of these processors; another one if it lacks any of them
    machine: Machine
    #: names of the microkernels that they can run
    microkernels: tuple[str, ...]
    #: instruction sets that the compiler may use and the processor at hand lacks; if there are any, nothing can be run
    lacking: tuple[str, ...]

    @staticmethod
    def find(march: str, machine: Machine, compiler: str | None = None) -> TargetProcessors:
        """What the compiler knows of such processors.

        Raises OptionError if it knows none of that name, and for its own where the machine is not the one at hand.
        """
        if march == _NATIVE and not machine.at_hand:
            raise OptionError(
                "native processors are those of this machine, and the code is for another one",
                construct=f"--march {march}",
                remedy="leave it out, or name that machine's processors as the compiler does, such as znver4",
            )
        toolchain, native = Toolchain.find(compiler, march), Toolchain.find(compiler)
        macros, present = toolchain.macros(), native.macros()
        lacking = tuple(name for name in used_sets(macros) if name not in used_sets(present))
        width, widest = _vector_bytes(macros), _vector_bytes(present)
        known = {_plain(macro) for macro in macros}
        named = {name: registry.load("microkernels", name) for name in registry.names("microkernels")}
        fitting = {name: each for name, each in named.items() if {_plain(macro) for macro in each.macros} <= known}
        needed = {macro for each in fitting.values() if not each.library for macro in each.macros}
        runs = not lacking and {_plain(macro) for macro in needed} <= {_plain(macro) for macro in present}
        # A library makes code for the processor that it runs on.
        kernels = [name for name, each in fitting.items() if not each.library or (width == widest and runs)]
        needed.update(macro for name in kernels for macro in fitting[name].macros)
        target = _restricted(machine, macros, needed, width)
        if not runs:
            # What its microkernels need is not asked of the processor at hand.
            target = replace(target, name=march, at_hand=False)
        return TargetProcessors(march, toolchain, target, tuple(kernels), lacking)

    @staticmethod
    def of(machine: Machine, compiler: str | None = None) -> TargetProcessors:
        """Those of a machine that is not at hand, with its instruction sets spelled out.

        Raises OptionError if the compiler makes no code for them.
        """
        march, instructions = spelled_out(machine.isa)
        toolchain = Toolchain.find(compiler, march, instructions)
        present = used_sets(Toolchain.find(compiler).macros())
        lacking = tuple(name for name in used_sets(toolchain.macros()) if name not in present)
        return TargetProcessors(march, toolchain, machine, tuple(registry.names("microkernels")), lacking)

    def microkernel(self, asked: str) -> str:
        """The microkernels of an option that these processors can run. Raises OptionError for one that they can't."""
        if asked == NO_MICROKERNEL:
            return asked
        names = self.microkernels if asked == AUTOMATIC else tuple(asked.split(","))
        others = [name for name in names if name not in self.microkernels]
        if others:
            raise OptionError(
                f"the microkernel {others[0]} makes no code for {self.march}",
                remedy=f"name another (--microkernel {self.microkernels[0]}), or leave out --march",
            )
        return ",".join(names)


def spelled_out(isa: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Processors with these instruction sets, named as systems do, for a compiler: a name, and options for the rest.

    The name is none that a compiler must have learned lately: a level of x86-64, or 64-bit Arm with its extensions.
    """
    if is_arm(isa):
        return "+".join(["armv8.2-a", *(name for each, name in _ARM_EXTENSIONS.items() if each in isa)]), ()
    present = set(isa)
    march = next(
        name for place, (name, _) in enumerate(_X86_LEVELS) if all(sets <= present for _, sets in _X86_LEVELS[place:])
    )
    level = next(place for place, (name, _) in enumerate(_X86_LEVELS) if name == march)
    covered = frozenset[str]().union(*(sets for _, sets in _X86_LEVELS[level:]))
    further = sorted(present - covered - _UNUSED)
    return march, tuple(f"-m{_option(name)}" for name in further)


def _option(name: str) -> str:
    """An instruction set of x86-64 as compilers write it in an option: ``avx512_vnni`` and ``amx_tile`` differ."""
    if name.startswith("sse4"):
        return name.replace("_", ".")
    return name.replace("_", "-") if name.startswith("amx") else name.replace("_", "")


def _vector_bytes(macros: Collection[str]) -> int:
    return next((size for macro, size in _VECTORS.items() if macro in macros), _LEAST_VECTOR)


def _restricted(machine: Machine, macros: Collection[str], needed: Collection[str], vector_bytes: int) -> Machine:
    """The machine with the instruction sets and the vectors of the compiler's target.

    Those that microkernels have ``needed`` are among them, too, such as tile registers, which compilers don't use.
    """
    known = {_plain(macro) for macro in macros}
    added = (name.lower().replace("-", "_").replace(".", "_") for name in used_sets(macros))
    further = (macro.strip("_").lower() for macro in needed)
    isa = [*(name for name in machine.isa if _plain(name) in known), *added, *further]
    if vector_bytes == machine.vector_bytes:
        return replace(machine, isa=tuple(sorted(set(isa))))
    share = vector_bytes / machine.vector_bytes
    return replace(
        machine,
        isa=tuple(sorted(set(isa))),
        vector_bytes=vector_bytes,
        peak_gflops=machine.peak_gflops * share,
        total_peak_gflops=machine.total_peak_gflops * share,
        # They were measured with other vectors.
        throughputs=(),
        call_times=(),
    )


def _plain(name: str) -> str:
    """An instruction set as systems and compilers both write it, but for underscores."""
    return re.sub(r"\W|_", "", name).lower()
