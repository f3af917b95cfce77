"""Builds the programs of one microkernel and times their calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from polydl.calibration.programs import elements_needed, program, timed_calls
from polydl.contracts import GemmShape, GemmSite, Microkernel
from polydl.errors import ExecutionError, MissingComponentError
from polydl.execute.child import Child, ChildError
from polydl.execute.resources import choose_cores
from polydl.execute.toolchain import Toolchain
from polydl.native import privileged
from polydl.system.files import temporary_directory
from polydl.system.process_group import run_in_group

# Seconds of a call and the GFLOPS of the probes before and after, for each sample.
Samples = list[list[float]]

WORKER = (sys.executable, "-P", "-m", "polydl.calibration.worker")
_REMEDY = "mend the microkernel, or calibrate others with --microkernel"
_SITES_PER_PROGRAM = 2
_ROUNDS = 11
# Calls of which most samples were disturbed get further rounds, up to so many times in all.
_LEAST_SOUND = 5
_MOST_TURNS = 3
# Of each question to the process that times calls, and of the compiler.
_TIMEOUT_SECONDS = 120.0
# A sample counts if its probes differ by no more than this, and neither lies further below the usual one.
_TOLERANCE = 0.1


def timed(
    kernel: Microkernel, sites: Sequence[GemmSite], vector_bytes: int, toolchain: Toolchain
) -> dict[GemmShape, float]:
    """Peak cycles of every call that the sites make, by shape; all of the same element types.

    Raises ExecutionError if the microkernel's C does not compile, crashes or hangs.
    """
    if not sites:
        return {}
    programs = [sites[first : first + _SITES_PER_PROGRAM] for first in range(0, len(sites), _SITES_PER_PROGRAM)]
    with temporary_directory() as directory:
        with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
            pending = [
                pool.submit(
                    compiled,
                    program(kernel, part, vector_bytes),
                    toolchain,
                    directory / f"{number}.so",
                    what=f"the microkernel {kernel.name}",
                    link_flags=kernel.link_flags(),
                )
                for number, part in enumerate(programs)
            ]
            try:
                libraries = [future.result() for future in pending]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        calls = [(number, call) for number, part in enumerate(programs) for call in timed_calls(part)]
        core = choose_cores(1)[0]
        try:
            with Child([core], directory, WORKER) as child:
                child.request(
                    "start",
                    _TIMEOUT_SECONDS,
                    libraries=[str(library) for library in libraries],
                    elements=[sites[0].element, sites[0].type_b, sites[0].accumulator],
                    lengths=list(elements_needed(sites)),
                    core=core,
                )
                wanted = [[number, call.site, *call.last, call.shape.batch] for number, call in calls]
                samples: list[Samples] = [[] for _ in calls]
                pending_calls = list(range(len(calls)))
                for turn in range(_MOST_TURNS):
                    chosen = [wanted[place] for place in pending_calls]
                    reply = child.request("measure", _TIMEOUT_SECONDS, calls=chosen, rounds=_ROUNDS, seed=turn)
                    for place, taken in zip(pending_calls, reply["samples"], strict=True):
                        samples[place] += taken
                    usual = usual_probe(samples)
                    pending_calls = [n for n in pending_calls if len(undisturbed(samples[n], usual)) < _LEAST_SOUND]
                    if not pending_calls:
                        break
        except ChildError as error:
            raise ExecutionError(
                f"the microkernel {kernel.name} can't be timed ({error.status}): {error.message}",
                remedy=_REMEDY,
            ) from None
    usual = usual_probe(samples)
    return {
        call.shape: peak_cycles(taken, usual, vector_bytes) for (_, call), taken in zip(calls, samples, strict=True)
    }


def compiled(
    text: str,
    toolchain: Toolchain,
    library: Path,
    *,
    what: str,
    link_flags: Sequence[str] = (),
    remedy: str = _REMEDY,
) -> Path:
    """A shared library of C, beside its source.

    Raises ExecutionError that names ``what``, with the ``remedy``, if it does not compile in two minutes, and
    MissingComponentError if the compiler can't be run.
    """
    source = library.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    kind = ("-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,-z,defs")
    command = [str(toolchain.path), *toolchain.flags, *kind, str(source), "-o", str(library), *link_flags]
    try:
        done = run_in_group([*command, "-lm"], library.parent, timeout_seconds=_TIMEOUT_SECONDS)
    except OSError as error:
        raise MissingComponentError(
            f"the compiler can't be run: {error}", remedy=privileged("apt-get install -y gcc libc6-dev")
        ) from None
    except subprocess.TimeoutExpired:
        raise ExecutionError(
            f"the C of {what} does not compile in {_TIMEOUT_SECONDS:.0f} seconds", remedy=remedy
        ) from None
    if done.returncode != 0:
        raise ExecutionError(f"the C of {what} does not compile:\n{done.stderr.strip()}", remedy=remedy)
    return library


def usual_probe(samples: Sequence[Samples]) -> float:
    """The upper quartile of all probes: what the core does beside such calls while it has the machine for itself.

    The peak does not serve as a measure: the clock that it is reached with is rarely there beside vector code.
    """
    rates = sorted(rate for taken in samples for _, before, after in taken for rate in (before, after))
    return rates[(3 * len(rates)) // 4]


def undisturbed(taken: Samples, usual: float) -> Samples:
    """The samples whose probes agree with each other and with the usual one."""
    least = (1.0 - _TOLERANCE) * usual
    return [
        [seconds, before, after]
        for seconds, before, after in taken
        if min(before, after) >= least and abs(before - after) <= _TOLERANCE * max(before, after)
    ]


def peak_cycles(taken: Samples, usual: float, vector_bytes: int) -> float:
    """Seconds of a call in units of the core's peak as the probes beside it saw it: the median of undisturbed samples.

    Where too few are left, of that third of all samples that had the best probes.
    """
    chosen = undisturbed(taken, usual)
    if len(chosen) < _LEAST_SOUND:
        chosen = sorted(taken, key=lambda sample: -min(sample[1:]))[: max(1, len(taken) // 3)]
    return median(seconds * (before + after) / 2 for seconds, before, after in chosen) * 1e9 / vector_bytes
