"""The nest of a number: which kind it is, and the conditions under which its variants are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from polydl.fuzzing.far_counters import with_far_counter
from polydl.fuzzing.general import general_nest
from polydl.fuzzing.operators import convolution, operators, product, stencil
from polydl.fuzzing.program import Loop, Program, Sum, fitted, flattened, nodes, with_loops
from polydl.fuzzing.program_text import c_text
from polydl.fuzzing.windows import triangle, windows
from polydl.ir.numerics import NUMERICS, Numerics
from polydl.machine import CacheLevel, Machine
from polydl.machine.system import System
from polydl.pipeline import AUTOMATIC, NO_MICROKERNEL, microkernels

_KINDS: tuple[tuple[str, Callable[[Random], Program], float], ...] = (
    ("general", general_nest, 6),
    ("product", product, 6),
    ("convolution", convolution, 3),
    ("windows", windows, 2.5),
    ("triangle", triangle, 1.5),
    ("stencil", stencil, 1.5),
    ("operators", operators, 3),
)
_CACHES = ((1 << 10, 1 << 12, 1 << 14), (1 << 12, 1 << 14, 1 << 17), (1 << 15, 1 << 20, 1 << 25))
# Of gcc and clang: the first compiles fastest, the others use vectors as OpenMP's pragmas allow.
LEVELS = ("-O0", "-O1", "-O3")
_RATES = (100e9, 40e9, 20e9, 10e9)


@dataclass(frozen=True)
class Conditions:
    """What variants of a nest are made for: a machine's threads, vectors and caches, and options of the search."""

    #: of the machine
    threads: int
    #: of its longest vectors
    vector_bytes: int
    #: of each level of cache, the innermost first
    cache_bytes: tuple[int, ...]
    microkernel: str
    numerics: Numerics
    #: of the variants' compiler
    optimization: str

    def machine(self, system: System) -> Machine:
        """The processor at hand with these threads, vectors and caches; its speeds are made up, and the same anywhere.

        Small caches make variants of small nests as different as those of large nests are on real ones.
        """
        caches = tuple(
            CacheLevel(f"L{number + 1}", size, 64, 1, 1e-9 * 4**number, rate)
            for number, (size, rate) in enumerate(zip(self.cache_bytes, _RATES, strict=False))
        )
        identity = system.identity
        return Machine(
            identity.name, identity.cpu_id, max(4, self.threads), self.threads, identity.features,
            min(self.vector_bytes, system.vector_bytes), caches, 1e-7, _RATES[-1], 1 << 34, 100.0,
        )  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A nest and the conditions under which its variants are made."""

    #: seed of the run and the nest's number, as ``7:123``
    name: str
    #: of nest: a name of ``_KINDS``
    kind: str
    #: C
    text: str
    #: values of integer parameters
    defines: Mapping[str, int]
    conditions: Conditions

    def having(self, program: Program) -> Case:
        """The same conditions for another program."""
        return replace(self, text=c_text(program), defines=dict(program.defines))


def generated(seed: int, number: int, numerics: Numerics | None = None) -> tuple[Program, Case]:
    """The same program and case for the same seed and number, on all machines that run the same microkernels.

    ``numerics`` is a level in place of the one that is drawn.
    """
    name = f"{seed}:{number}"
    draw = Random(f"polydl fuzz {name}")
    kind, make, _ = draw.choices(_KINDS, [weight for _, _, weight in _KINDS])[0]
    program = make(draw)
    if draw.random() < 0.08:
        program = with_size(program, draw)
    several = [each.name for each in program.variables if len(each.extents) > 1]
    if several and draw.random() < 0.1:
        program = flattened(program, draw.choice(several))
    if draw.random() < 0.05:
        counter = draw.choice(("long", "short", "unsigned char"))
        program = replace(program, body=with_loops(program.body, lambda loop: _with_counter(loop, counter)))
    drawn = Conditions(
        threads=draw.choices((1, 2, 4), (5, 3, 1))[0],
        vector_bytes=draw.choices((64, 32, 16), (8, 1, 1))[0],
        cache_bytes=draw.choice(_CACHES),
        microkernel=_microkernel(draw),
        numerics=draw.choices(NUMERICS, (2, 2, 8, 4))[0],
        optimization=draw.choices(LEVELS, (12, 5, 1))[0],
    )
    conditions = replace(drawn, numerics=numerics or drawn.numerics)
    # Drawn last: all other programs are what they were before there were such counters.
    if draw.random() < 0.03:
        program = with_far_counter(program, draw)
    return program, Case(name, kind, c_text(program), dict(program.defines), conditions)


def runnable_microkernels() -> list[str]:
    """The names of those that run on the processor at hand, in the order of preference."""
    return [kernel.name for kernel in microkernels() if kernel.unavailable() is None]


def _microkernel(draw: Random) -> str:
    """All that fit as a rule; otherwise none at all, or one of those that run here, other distributions' included."""
    runnable = runnable_microkernels()
    weights = (12.0, 3.0, *(5 / len(runnable) for _ in runnable))
    return draw.choices((AUTOMATIC, NO_MICROKERNEL, *runnable), weights)[0]


def _with_counter(loop: Loop, counter: str) -> Loop:
    """The loop with a counter of another type, if it counts upwards between numbers from zero on."""
    plain = not loop.first.terms and not loop.last.terms and loop.first.constant >= 0 and loop.step > 0
    return replace(loop, counter=counter) if plain else loop


def with_size(program: Program, draw: Random) -> Program:
    """The program with one constant bound as an integer parameter, whose value ``-D`` gives."""
    loops = [node for node in nodes(program.body) if isinstance(node, Loop) and not node.last.terms]
    if not loops:
        return program
    bound = draw.choice(loops).last.constant + 1

    def changed(loop: Loop) -> Loop:
        return replace(loop, last=Sum(((1, "size"),), -1)) if loop.last == Sum((), bound - 1) else loop

    return fitted(replace(program, body=with_loops(program.body, changed), defines=(("size", bound),)))
