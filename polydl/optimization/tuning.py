"""Many nests, each optimized; what was done before is not done again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from polydl.emission.replaced import check_replaced
from polydl.emitted_names import REPORT_FILE
from polydl.errors import OptionError, PolydlError
from polydl.execute.contract import Executor
from polydl.execute.toolchain import found_compilers
from polydl.frontend.child import fork_server
from polydl.frontend.source import read_source
from polydl.machine import Machine
from polydl.optimization.optimize import optimize
from polydl.optimization.unmeasured import none_passed
from polydl.records import answers as kept_answers
from polydl.records.questions import question
from polydl.report.documents import optimization_document, to_text, write_report
from polydl.system.files import write_together
from polydl.system.side_by_side import answers
from polydl.workloads import workload


@dataclass(frozen=True)
class TuningTask:
    """A nest to optimize, a file or a ready workload, and the folder of its results."""

    #: the file, or the workload's name
    name: str
    #: where the results go
    directory: Path
    #: the workload; empty for a file
    workload: str = ""
    #: macros, and values of the function's integer parameters
    defines: Mapping[str, str | int] = field(default_factory=dict)
    #: searched for headers in this order
    include_directories: tuple[str, ...] = ()
    #: to read where the file has several; None for the only one
    function: str | None = None
    #: arrays that hold the same at every call
    constant: tuple[str, ...] = ()
    #: a function of the file that fills the arrays; empty without one
    init: str = ""

    def written(self) -> Path:
        """The file. A workload is written to the folder of its results."""
        return workload(self.workload).write(self.directory) if self.workload else Path(self.name)


@dataclass(frozen=True)
class Tuned:
    """The result of one nest."""

    nest: TuningTask
    #: of the machine that it is for, ``Machine.cpu_id``
    cpu: str
    #: ``failed`` if nothing was emitted, or the nest was refused
    status: Literal["ok", "failed"]
    #: why it failed
    message: str
    #: as ``optimize --json`` prints it; None if the nest was refused
    document: Mapping[str, Any] | None
    #: whether it is the answer to the same question that was kept earlier
    answered: bool
    #: that it took
    seconds: float


def nests_of(
    files: Sequence[str],
    workloads: Sequence[str],
    directory: Path,
    *,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str] = (),
    function: str | None = None,
    constant: Sequence[str] = (),
    init: str = "",
) -> tuple[TuningTask, ...]:
    """The nests of files and of ready workloads, each once, with a folder in ``directory``.

    ``constant`` are arrays of all, and the options beside it are of all files. Raises OptionError for an unknown
    workload, and for files that would share a folder.
    """
    constants = tuple(constant)
    of_files = TuningTask("", directory, "", defines or {}, tuple(include_directories), function, constants, init)
    once: dict[Path, str] = {}
    for name in files:
        # The folder of a link is that of its own name.
        once.setdefault(Path(os.path.realpath(name), Path(name).stem), name)
    from_files = (replace(of_files, name=name, directory=directory / Path(name).stem) for name in once.values())
    names = dict.fromkeys(workload(name).name for name in workloads)
    of_workloads = (TuningTask(name, directory / name, workload=name, constant=constants) for name in names)
    nests: dict[Path, TuningTask] = {}
    for nest in (*from_files, *of_workloads):
        other = nests.setdefault(nest.directory, nest)
        if other is not nest:
            raise OptionError(
                f"the results of {other.name} and {nest.name} would share {nest.directory}",
                remedy="rename one of the files",
            )
    return tuple(nests.values())


def tune(
    nests: Sequence[TuningTask],
    *,
    machine: Machine,
    records: Path,
    fresh: bool = False,
    compiler: str | None = None,
    **options: Any,
) -> Iterator[Tuned]:
    """Optimize all nests in several processes, and yield each result as soon as it is there.

    They are prepared side by side, and timed one by one. ``options`` are those of ``optimize``, values that can be
    pickled. What ``records`` hold is not measured again, and a question that was answered is not asked again, unless
    ``fresh``. A nest that is refused, and one of which no candidate passes, is a result as well.
    """
    work = partial(tuned, machine=machine, records=records, fresh=fresh, compiler=compiler, **options)
    for nest, result in answers(work, nests, (fork_server,)):
        ended = "the process that optimized it ended"
        yield result or Tuned(nest, machine.cpu_id, "failed", ended, None, False, 0.0)


def tuned(
    nest: TuningTask,
    *,
    machine: Machine,
    records: Path,
    fresh: bool = False,
    compiler: str | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Tuned:
    """One nest as ``tune`` has it. With an ``executor``, it is compiled and measured there."""
    started = time.perf_counter()
    try:
        result = _one(nest, machine, records, fresh, compiler, executor, options)
    except PolydlError as error:
        result = Tuned(nest, machine.cpu_id, "failed", str(error), None, False, 0.0)
    return replace(result, seconds=time.perf_counter() - started)


def _one(
    nest: TuningTask,
    machine: Machine,
    records: Path,
    fresh: bool,
    compiler: str | None,
    executor: Executor | None,
    options: Mapping[str, Any],
) -> Tuned:
    check_replaced(nest.directory, REPORT_FILE)
    file = nest.written()
    place = "" if executor is None else executor.name
    digest = _question(nest, file, machine, compiler, {**options, "executor": place})
    kept = kept_answers.find(records, digest) if digest is not None and not fresh else None
    if isinstance(kept, kept_answers.Answer):
        files: dict[str, str] = {kind: str(path) for kind, path in kept_answers.restore(kept, nest.directory).items()}
        files["report"] = str(nest.directory / REPORT_FILE)
        document = {**kept.document, "files": {**dict.fromkeys(kept.document["files"]), **files}}
        write_together({nest.directory / REPORT_FILE: to_text(document)})
        return Tuned(nest, machine.cpu_id, "ok", "", document, True, 0.0)
    result = optimize(
        file,
        machine=machine,
        out=nest.directory,
        records=records,
        fresh=fresh,
        compiler=compiler,
        workload=nest.workload or None,
        executor=executor,
        defines=nest.defines,
        include_directories=nest.include_directories,
        function=nest.function,
        constant=nest.constant,
        init=nest.init,
        calibrate=True,
        **options,
    )
    result = write_report(result, nest.directory)
    document = optimization_document(result)
    if result.winner is None and result.plain is None:
        return Tuned(
            nest,
            machine.cpu_id,
            "failed",
            none_passed(result.scop, [each.measurement for each in result.tried]),
            document,
            False,
            0.0,
        )
    failed = any(each.measurement.status != "ok" for each in result.tried)
    replaceable = kept is None or (isinstance(kept, kept_answers.Refused) and not kept.remedy)
    if digest is not None and replaceable and not failed:
        # What can't be kept is measured again the next time.
        with suppress(PolydlError):
            contents = kept_answers.written_files(result.files, result.library_sha256)
            kept_answers.keep(records, digest, kept_answers.Answer(document, contents))
    return Tuned(nest, machine.cpu_id, "ok", "", document, False, 0.0)


def _question(
    nest: TuningTask, file: Path, machine: Machine, compiler: str | None, options: Mapping[str, Any]
) -> str | None:
    return question(
        read_source(file),
        directory=file.parent,
        include_directories=nest.include_directories,
        machine=machine,
        compilers=found_compilers(compiler),
        options={
            "tune": True,
            **options,
            "define": sorted(nest.defines.items()),
            "function": nest.function,
            "constant": nest.constant,
            "init": nest.init,
        },
    )
