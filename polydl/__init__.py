"""polydl makes a loop nest written in C fast: it proves, ranks, measures and emits its variants.

    nest = polydl.parse("conv.c", defines={"nImg": 1})
    machine = polydl.Machine.detect(cache_sizes="32K,1M,36608K")
    variants = polydl.generate_variants(nest, machine=machine)
    ranking = polydl.rank(nest, variants, machine=machine)
    result = polydl.optimize(nest, machine=machine, top_k=5)
    result.best(output=out, input=inp, filter=flt)

Names load on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from os.path import abspath, dirname, isdir, join

# As `typing` has it, which takes longer to import than all that comes before the command's signals are handled.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from polydl.errors import PolydlError as PolydlError
    from polydl.execute.contract import Peer as Peer
    from polydl.ir.ranking import Ranking as Ranking
    from polydl.ir.scop import Scop as Scop
    from polydl.ir.variant import Variant as Variant
    from polydl.libraries.build import Library as Library
    from polydl.libraries.build import library as library
    from polydl.machine import Machine as Machine
    from polydl.models.loaded import LoadedModel as LoadedModel
    from polydl.models.loaded import load as load
    from polydl.optimization.fused import fuse as fuse
    from polydl.optimization.optimize import optimize as optimize
    from polydl.optimization.optimized import Optimization as Optimization
    from polydl.optimization.optimized import OptimizationInterrupted as OptimizationInterrupted
    from polydl.optimization.peers import PeerComparison as PeerComparison
    from polydl.optimization.peers import compare_with_peers as compare_with_peers
    from polydl.pipeline import generate_variants as generate_variants
    from polydl.pipeline import rank as rank
    from polydl.reading import parse as parse

__all__ = [
    "Library",
    "LoadedModel",
    "Machine",
    "Optimization",
    "OptimizationInterrupted",
    "Peer",
    "PeerComparison",
    "PolydlError",
    "Ranking",
    "Scop",
    "Variant",
    "compare_with_peers",
    "fuse",
    "generate_variants",
    "library",
    "load",
    "optimize",
    "parse",
    "rank",
]

_HOME = {
    "Library": "polydl.libraries.build",
    "LoadedModel": "polydl.models.loaded",
    "Machine": "polydl.machine",
    "Optimization": "polydl.optimization.optimized",
    "OptimizationInterrupted": "polydl.optimization.optimized",
    "Peer": "polydl.execute.contract",
    "PeerComparison": "polydl.optimization.peers",
    "PolydlError": "polydl.errors",
    "Ranking": "polydl.ir.ranking",
    "Scop": "polydl.ir.scop",
    "Variant": "polydl.ir.variant",
    "compare_with_peers": "polydl.optimization.peers",
    "fuse": "polydl.optimization.fused",
    "generate_variants": "polydl.pipeline",
    "library": "polydl.libraries.build",
    "load": "polydl.models.loaded",
    "optimize": "polydl.optimization.optimize",
    "parse": "polydl.reading",
    "rank": "polydl.pipeline",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("polydl")
    if name in _HOME:
        try:
            home = import_module(_HOME[name])
        except ModuleNotFoundError as error:
            from polydl.errors import missing_dependency

            missing = missing_dependency(error)
            if missing is None:
                raise
            raise missing from None
        return getattr(home, name)
    raise AttributeError(f"module 'polydl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__file__", "__path__"])


def _complete(path: list[str]) -> list[str]:
    """Where the parts of the package lie.

    At the root of a checkout, Python takes the folder ``polydl`` there for the package, though four of its parts lie
    beside it. The whole is then an installed polydl, or the checkout where none is installed.
    """
    if any(isdir(join(directory, "microkernels")) for directory in path):
        return path
    here = dirname(abspath(__file__))
    others = [join(abspath(directory), "polydl") for directory in sys.path]
    installed = [other for other in others if other != here and isdir(join(other, "microkernels"))]
    return installed or [*path, dirname(here)]


__path__ = _complete(list(__path__))
