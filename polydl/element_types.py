"""The types of elements as NumPy has them.

Child processes import it: NumPy and the standard library only.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from polydl import bfloat16
from polydl.errors import UnsupportedConstructError

Values = np.ndarray[Any, np.dtype[Any]]

_DTYPES: dict[str, np.dtype[Any]] = {
    "_Bool": np.dtype(np.bool_),
    "char": np.dtype(np.int8),
    "signed char": np.dtype(ctypes.c_byte),
    "unsigned char": np.dtype(ctypes.c_ubyte),
    "short": np.dtype(ctypes.c_short),
    "unsigned short": np.dtype(ctypes.c_ushort),
    "int": np.dtype(ctypes.c_int),
    "unsigned int": np.dtype(ctypes.c_uint),
    "long": np.dtype(ctypes.c_long),
    "unsigned long": np.dtype(ctypes.c_ulong),
    "long long": np.dtype(ctypes.c_longlong),
    "unsigned long long": np.dtype(ctypes.c_ulonglong),
    # A type of its own, told from uint16 by its metadata.
    bfloat16.ELEMENT: np.dtype(np.uint16, metadata={"element": bfloat16.ELEMENT}),
    "_Float16": np.dtype(np.float16),
    "float": np.dtype(ctypes.c_float),
    "double": np.dtype(ctypes.c_double),
    "long double": np.dtype(np.longdouble),
}


def element_dtype(element: str) -> np.dtype[Any]:
    """NumPy's name for a canonical C type. Raises UnsupportedConstructError if it has none."""
    try:
        return _DTYPES[element]
    except KeyError:
        raise UnsupportedConstructError(
            f"arrays of {element!r} can't be filled and compared", remedy=f"use one of {', '.join(_DTYPES)}"
        ) from None


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether it is the type that NumPy has as ``uint16`` with a note."""
    return bool(dtype.metadata)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether elements of a type are real numbers; bfloat16, which NumPy has as ``uint16``, is among them."""
    return dtype.kind == "f" or is_bfloat16(dtype)


def spacing(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next larger number of a floating-point type."""
    return 2.0**-7 if is_bfloat16(dtype) else float(np.finfo(dtype).eps)


def numbers(values: Values, dtype: np.dtype[Any]) -> Values:
    """The values of elements of that type as numbers: bfloat16 bits become floats, others stay as they are."""
    return bfloat16.to_float(values) if is_bfloat16(dtype) else values
