"""The C of ``c-amx`` for any processor: tile registers and the vectors beside them in plain C (tests/tiles_in_c)."""

from __future__ import annotations

import re
from pathlib import Path

HEADERS = Path(__file__).with_name("tiles_in_c")
FLAGS = (
    *("-O1", "-march=x86-64-v3", "-ffp-contract=off", "-Wno-psabi", "-shared", "-fPIC", f"-I{HEADERS}"),
    *("-D__AMX_BF16__", "-D__AMX_INT8__", "-D__AVX512BW__"),
)
_INSTRUCTIONS = {
    "CONFIGURE(from)": "tile_configure(from)",
    "RELEASE()": "tile_release()",
    "ZERO(t)": "tile_zero(t)",
    "LOAD(t, from, bytes)": "tile_load(t, from, bytes)",
    "STORE(t, to, bytes)": "tile_store(t, to, bytes)",
    "DOT(name, c, b, a)": "tile_dot(name, c, b, a)",
}


def tiles_in_c(text: str) -> str:
    """The text with a call of a function in place of each instruction on tiles, and of the request to use them."""
    for instruction, function in _INSTRUCTIONS.items():
        head = re.escape(f"#define POLYDL_TILE_{instruction} ")
        text, count = re.subn(rf"{head}__asm__ volatile.*", f"#define POLYDL_TILE_{instruction} {function}", text)
        assert count >= 1, instruction
    text, count = re.subn(r"return syscall\(.*\) == 0;", "return 1;", text)
    assert count >= 1
    assert "tmm" not in text
    return f'#include "tiles.h"\n{text}'
