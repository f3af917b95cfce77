"""PolyBench/C 4.2.1: its programs as workloads.

polydl ships none of them. ``make polybench`` fetches the public repository at the commit that results refer to.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from polydl.errors import OptionError
from polydl.system.files import text_of

Dataset = Literal["MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE"]

SUITE = "polybench"
DATASETS: tuple[Dataset, ...] = get_args(Dataset)
DEFAULT_DATASET: Dataset = "LARGE"
#: where ``make polybench`` puts it
FOLDER = Path("build/polybench")

_PREFIX = f"{SUITE}_"
_LIST = Path("utilities/benchmark_list")
# On their own data nothing of these can be verified: what heat-3d begins with is a fixed point of its stencil, and of
# the columns of gramschmidt so many depend on others that most of its result is rounding errors.
_ON_RANDOM_DATA = frozenset({"gramschmidt", "heat_3d"})
# Bounds that are the constants of the data set, and arrays that are arrays.
_MACROS = ("POLYBENCH_USE_SCALAR_LB", "POLYBENCH_STACK_ARRAYS")


@dataclass(frozen=True)
class SuiteProgram:
    """One program of PolyBench with a data set, or another C file."""

    name: str
    #: the C file
    path: Path
    #: that holds the nest; None for the only one
    function: str | None
    #: macros by name
    defines: dict[str, str | int]
    #: where its headers are, searched in this order
    include_directories: tuple[Path, ...]
    #: for tables and pages, in a few words
    description: str
    #: that fills the arrays; "" for random data
    init: str


def is_of_polybench(name: str) -> bool:
    """Whether a workload's name is that of a program of PolyBench."""
    return name.startswith(_PREFIX)


def is_program(name: str) -> bool:
    """Whether it is the name of a ``SuiteProgram``: compilers are its peers."""
    return is_of_polybench(name) or "." in name


def names(folder: Path) -> tuple[str, ...]:
    """The workloads of a folder with PolyBench, in the order of its list. Raises OptionError if it is not there."""
    return tuple(_sources(folder))


def program(name: str, folder: Path, dataset: Dataset) -> SuiteProgram:
    """A program of PolyBench. Raises OptionError where the folder has no PolyBench, or PolyBench no such program."""
    sources = _sources(folder)
    path = sources.get(name)
    if path is None:
        close = difflib.get_close_matches(name, sources, n=3, cutoff=0.5) or [*sources]
        raise OptionError(f"PolyBench has no program for {name!r}", remedy=f"one of {', '.join(close)}")
    if not path.is_file():
        raise OptionError("PolyBench's list names a file that is not there", file=str(path), remedy=_remedy())
    kernel = name.removeprefix(_PREFIX)
    return SuiteProgram(
        name=name,
        path=path,
        function=f"kernel_{kernel}",
        defines={f"{dataset}_DATASET": 1, **dict.fromkeys(_MACROS, 1)},
        include_directories=(folder / "utilities",),
        description=f"{path.stem} of PolyBench/C, {dataset}",
        init="" if kernel in _ON_RANDOM_DATA else "init_array",
    )


def _sources(folder: Path) -> dict[str, Path]:
    """The files of the programs, by workload."""
    try:
        lines = text_of(folder / _LIST).split()
    except (OSError, UnicodeDecodeError):
        raise OptionError(
            "PolyBench is not there, which polydl does not ship", file=str(folder / _LIST), remedy=_remedy()
        ) from None
    return {_PREFIX + Path(line).stem.replace("-", "_"): folder / line for line in lines}


def _remedy() -> str:
    return "run `make polybench` in polydl's folder, or name a folder with PolyBench/C 4.2.1 by --polybench"
