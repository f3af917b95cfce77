"""The element type ``bfloat16``: the upper half of a float, which C has no name for.

Nests say ``bfloat16`` (a typedef of a 16-bit unsigned integer), ``bfloat16_to_float`` and ``float_to_bfloat16``;
``include/polydl/bfloat16.h`` defines all three, and a file may do so itself. In NumPy such arrays hold ``uint16``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ELEMENT = "bfloat16"
TO_FLOAT = "bfloat16_to_float"
FROM_FLOAT = "float_to_bfloat16"
CONVERSIONS = frozenset({TO_FLOAT, FROM_FLOAT})
INCLUDE = Path(__file__).with_name("include")
"""The include directory of ``<polydl/bfloat16.h>``."""

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]polydl/bfloat16\.h[>"].*$', re.MULTILINE)


@cache
def _header() -> str:
    return (INCLUDE / "polydl" / "bfloat16.h").read_text(encoding="utf-8").rstrip("\n")


def with_header(source: str) -> str:
    """C that needs no header of polydl's: its text takes the place of the line that includes it."""
    return _INCLUDED.sub(lambda _: _header(), source)


def to_float(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The values of an array of bfloat16s, given as ``uint16`` (or any type of two bytes that holds their bits)."""
    import numpy as np

    return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def from_float(values: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """The nearest bfloat16s as ``uint16``, the even ones of two; what is not a number stays that."""
    import numpy as np

    floats = np.ascontiguousarray(values, np.float32)
    bits = floats.view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
    return np.where(np.isnan(floats), (bits >> 16) | np.uint32(0x40), nearest).astype(np.uint16)
