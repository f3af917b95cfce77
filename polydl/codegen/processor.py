"""What emitted code does on a processor that lacks instructions which it was compiled to: it runs the original nest.

The compiler may use the instructions of its target anywhere, in the check and in the original nest as well. What is
``for_all`` processors is compiled without them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Bits of XCR0: the registers of AVX, and those of AVX-512 besides.
_AVX, _AVX512 = 0x06, 0xE6
_REGISTERS = ("eax", "ebx", "ecx", "edx")
#: What ``definitions`` include.
INCLUDES = ("cpuid.h",)
#: What leaves the original nest out of a function that asks the processor: on one that lacks something, it traps.
TUNED_ALONE = "POLYDL_TUNED_ALONE"
_ALONE_WORDS = "to time it on a processor that has what it needs"
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|el|endif)", re.MULTILINE)


@dataclass(frozen=True)
class InstructionSet:
    """Instructions that compilers use by themselves where they may, and where CPUID says whether there are any.

    Sources: Intel, "Software Developer's Manual", volume 2A, CPUID; AMD, "Programmer's Manual", volume 3, appendix E.
    """

    #: for people, and for the macro that compilers define
    name: str
    #: of CPUID, in EAX
    leaf: int
    #: of the leaf, in ECX
    part: int
    #: that has the answer
    register: str
    #: of that register, 0 is the lowest
    bit: int
    #: bits of XCR0 of the registers that the system must save
    saved: int = 0

    @property
    def macro(self) -> str:
        """The macro that gcc and clang define where the target has the instructions, such as ``__AVX512F__``."""
        return "__" + self.name.replace("-", "").replace(".", "_").upper() + "__"


INSTRUCTION_SETS = (
    InstructionSet("SSE3", 1, 0, "ecx", 0),
    InstructionSet("SSSE3", 1, 0, "ecx", 9),
    InstructionSet("SSE4.1", 1, 0, "ecx", 19),
    InstructionSet("SSE4.2", 1, 0, "ecx", 20),
    InstructionSet("MOVBE", 1, 0, "ecx", 22),
    InstructionSet("POPCNT", 1, 0, "ecx", 23),
    InstructionSet("LZCNT", 0x80000001, 0, "ecx", 5),
    InstructionSet("FMA4", 0x80000001, 0, "ecx", 16, _AVX),
    InstructionSet("XOP", 0x80000001, 0, "ecx", 11, _AVX),
    InstructionSet("TBM", 0x80000001, 0, "ecx", 21),
    InstructionSet("BMI", 7, 0, "ebx", 3),
    InstructionSet("BMI2", 7, 0, "ebx", 8),
    InstructionSet("ADX", 7, 0, "ebx", 19),
    InstructionSet("AVX", 1, 0, "ecx", 28, _AVX),
    InstructionSet("F16C", 1, 0, "ecx", 29, _AVX),
    InstructionSet("FMA", 1, 0, "ecx", 12, _AVX),
    InstructionSet("AVX2", 7, 0, "ebx", 5, _AVX),
    InstructionSet("GFNI", 7, 0, "ecx", 8),
    InstructionSet("AVX-VNNI", 7, 1, "eax", 4, _AVX),
    InstructionSet("AVX-IFMA", 7, 1, "eax", 23, _AVX),
    InstructionSet("AVX-VNNI-INT8", 7, 1, "edx", 4, _AVX),
    InstructionSet("AVX512F", 7, 0, "ebx", 16, _AVX512),
    InstructionSet("AVX512CD", 7, 0, "ebx", 28, _AVX512),
    InstructionSet("AVX512DQ", 7, 0, "ebx", 17, _AVX512),
    InstructionSet("AVX512BW", 7, 0, "ebx", 30, _AVX512),
    InstructionSet("AVX512VL", 7, 0, "ebx", 31, _AVX512),
    InstructionSet("AVX512IFMA", 7, 0, "ebx", 21, _AVX512),
    InstructionSet("AVX512VBMI", 7, 0, "ecx", 1, _AVX512),
    InstructionSet("AVX512VBMI2", 7, 0, "ecx", 6, _AVX512),
    InstructionSet("AVX512VNNI", 7, 0, "ecx", 11, _AVX512),
    InstructionSet("AVX512BITALG", 7, 0, "ecx", 12, _AVX512),
    InstructionSet("AVX512VPOPCNTDQ", 7, 0, "ecx", 14, _AVX512),
    InstructionSet("AVX512FP16", 7, 0, "edx", 23, _AVX512),
    InstructionSet("AVX512BF16", 7, 1, "eax", 5, _AVX512),
)
"""Tile registers are not among them: code that uses them asks the system for them first, and does without."""

# Without SSE3 there are no later ones of its kind, AVX and AVX-512 included.
_BASELINE = "no-sse3,no-popcnt,no-lzcnt,no-movbe,no-bmi,no-bmi2,no-adx,no-gfni,no-tbm"
BEGIN = f"""\
#if defined __x86_64__ && defined __clang__
#pragma clang attribute push(__attribute__((target("{_BASELINE}"))), apply_to = function)
#elif defined __x86_64__ && defined __GNUC__
#pragma GCC push_options
#pragma GCC target("{_BASELINE}")
#endif"""
END = """\
#if defined __x86_64__ && defined __clang__
#pragma clang attribute pop
#elif defined __x86_64__ && defined __GNUC__
#pragma GCC pop_options
#endif"""


def for_all(*texts: str) -> str:
    """C that is compiled for all processors, whatever the compiler may use for other parts of the file."""
    return "\n".join([BEGIN, *texts, END])


def unless_alone(nest: str) -> str:
    """The original nest, left out by ``TUNED_ALONE``: to compile it takes up to two thirds of a candidate's time.

    A nest with conditional directives, which may belong to some outside of it, is kept in any case.
    """
    if _CONDITIONAL.search(nest):
        return nest
    return "\n".join([f"#ifdef {TUNED_ALONE} /* {_ALONE_WORDS} */", "  __builtin_trap();", "#else", nest, "#endif"])


def used_sets(macros: Collection[str]) -> tuple[str, ...]:
    """The names of the sets that a compiler which defines these macros may use."""
    return tuple(each.name for each in INSTRUCTION_SETS if each.macro in macros)


def further_sets(macros: Collection[str]) -> tuple[str, ...]:
    """The names of what these macros tell beside ``INSTRUCTION_SETS``, such as tile registers."""
    known = {each.macro for each in INSTRUCTION_SETS}
    return tuple(sorted(macro.strip("_").replace("_", "-") for macro in macros if macro not in known))


@cache
def definitions() -> str:
    """C of ``polydl_missing()`` and ``polydl_fits()``: whether the processor has all that the compiler may use."""
    rows = [
        line
        for each in INSTRUCTION_SETS
        for line in (
            f"#ifdef {each.macro}",
            f'  {{"{each.name}", {each.leaf:#x}, {each.part}, {_REGISTERS.index(each.register)}, {each.bit}, '
            f"{each.saved:#x}}},",
            "#endif",
        )
    ]
    return "\n".join(
        [
            "static const struct polydl_instructions {",
            "  const char *name;",
            "  unsigned leaf, part;",
            "  int place, bit; /* of what CPUID says of them */",
            "  unsigned registers; /* that the system must save */",
            "} polydl_used[] = {",
            *rows,
            "  {NULL, 0, 0, 0, 0, 0},",
            "};",
            for_all(Path(__file__).with_name("processor.c").read_text(encoding="utf-8").rstrip("\n")),
        ]
    )


def question(name: str) -> str:
    """C of a function of that name, which says what is missing."""
    return "\n".join(
        [f"const char *{name}(void);", f"const char *{name}(void)", "{", "  return polydl_missing();", "}"]
    )
