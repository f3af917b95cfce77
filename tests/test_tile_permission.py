"""Processes that the system gives no tile registers: what is said of them."""

from __future__ import annotations

import ctypes
import errno
import subprocess
import sys

import pytest

from polydl.microkernels import amx

# The stack of a signal handler of older C libraries, which the registers of AMX alone fill.
WITH_A_SMALL_STACK = """
import ctypes
from polydl.microkernels.amx import AMX

class Stack(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

held = ctypes.create_string_buffer(8192)
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(ctypes.addressof(held), 0, 8192)), None) == 0
print(AMX.unavailable())
"""


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "a thread has a signal stack (sigaltstack) that tile registers don't fit"),
        (errno.EPERM, "the system does not let processes use tile registers"),
    ],
)
def test_a_refusal_is_told_by_its_reason(number: int, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def syscall(self, *_: ctypes.c_long) -> int:
            ctypes.set_errno(number)
            return -1

    monkeypatch.setattr(amx, "cpu_flags", lambda: {"amx_bf16", "amx_int8", "amx_tile", "avx512bw"})
    monkeypatch.setattr(amx, "CDLL", lambda *_, **__: Refusing())
    assert amx._missing.__wrapped__() == reason


@pytest.mark.amx
def test_a_small_signal_stack_leaves_a_process_without_them() -> None:
    done = subprocess.run([sys.executable, "-c", WITH_A_SMALL_STACK], capture_output=True, text=True, check=True)
    assert "signal stack" in done.stdout
