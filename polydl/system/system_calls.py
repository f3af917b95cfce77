"""The system calls that code in the sandbox may not make: those that reach other programs through the file system.

A file system that can only be read still has the sockets of other programs, and whoever connects to one may ask such
a program to write, to send, or to start something outside. So there are no sockets at all. The filter is a program of
the classic Berkeley Packet Filter, as seccomp(2) describes it.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from polydl.errors import MissingComponentError

# Instructions (linux/bpf_common.h), of which each one compares with a constant and skips some of the next ones.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
# Where struct seccomp_data has the number of the system call, and the architecture.
_NUMBER, _ARCHITECTURE = 0, 4
# Verdicts (linux/seccomp.h).
_KILL, _ERROR, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000


@dataclass(frozen=True)
class _Numbers:
    """What a kind of processor calls things; sources: linux/audit.h, asm/unistd.h."""

    architecture: int
    socket: int
    socketpair: int
    #: io_uring makes sockets, too
    io_uring_setup: int
    #: numbers from here on are another set of calls; 0: there is none
    others_from: int = 0


_MACHINES = {
    "x86_64": _Numbers(0xC000003E, socket=41, socketpair=53, io_uring_setup=425, others_from=0x40000000),
    "aarch64": _Numbers(0xC00000B7, socket=198, socketpair=199, io_uring_setup=425),
}


def without_sockets(machine: str) -> bytes:
    """The filter for a kind of processor, as ``platform.machine`` names it. Raises MissingComponentError."""
    if machine not in _MACHINES:
        raise MissingComponentError(
            f"which system calls make sockets on {machine} is not known, and a sandbox must have none",
            remedy=f"use a virtual machine, or one of {' and '.join(_MACHINES)}",
        )
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in _instructions(_MACHINES[machine]))


def _instructions(numbers: _Numbers) -> Iterator[tuple[int, int, int, int]]:
    """Each as its code, how many to skip if it holds and if it doesn't, and its constant."""
    # Programs for another kind of processor would have other numbers.
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _IF_EQUAL, 1, 0, numbers.architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if numbers.others_from:
        yield _IF_AT_LEAST, 0, 1, numbers.others_from
        yield _RETURN, 0, 0, _KILL
    for refused in (numbers.socket, numbers.socketpair, numbers.io_uring_setup):
        yield _IF_EQUAL, 0, 1, refused
        yield _RETURN, 0, 0, _ERROR | errno.EACCES
    yield _RETURN, 0, 0, _ALLOW


@cache
def filter_path() -> str:
    """A path from which other processes of this user read the filter, as long as this process lives.

    The file has no name that code in the sandbox could write to. Raises MissingComponentError.
    """
    content = without_sockets(platform.machine())
    descriptor = os.memfd_create("filter")
    os.write(descriptor, content)
    return f"/proc/{os.getpid()}/fd/{descriptor}"
