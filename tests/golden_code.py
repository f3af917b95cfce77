"""The C of one variant of one nest: all that the golden tests ask of polydl."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from machines import machine_with

from polydl import pipeline, registry
from polydl.codegen import kept_memory, processor, team
from polydl.codegen.support import SUPPORT, TRANSPOSE
from polydl.frontend.constants import with_constants
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics, numerics_level
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.apply import apply
from polydl.variant_json import variant_from_json


@dataclass(frozen=True)
class Case:
    """A variant of the nest in ``nest``, and what its C depends on besides."""

    nest: Path
    variant: Variant
    vector_bytes: int
    numerics: Numerics
    defines: tuple[tuple[str, int], ...] = ()
    constants: tuple[str, ...] = ()

    @staticmethod
    def from_json(nest: Path, fields: dict[str, Any]) -> Case:
        """``fields`` has the steps, and the other fields by name; the variant's file holds it."""
        defines = tuple(fields.get("defines", {}).items())
        variant = variant_from_json(fields["steps"])
        constants = tuple(fields.get("constants", ()))
        return Case(nest, variant, fields["vector_bytes"], numerics_level(fields["numerics"]), defines, constants)

    @property
    def microkernels(self) -> tuple[str, ...]:
        """In the order in which the registry prefers them."""
        used = self.variant.microkernels.values()
        return tuple(name for name in registry.names("microkernels") if name in used)


@contextmanager
def every_microkernel() -> Iterator[None]:
    """The built-in ones all apply, whatever the processor and its LIBXSMM can do."""
    with pytest.MonkeyPatch.context() as patch:
        for name in registry.GROUPS["microkernels"]:
            kind = type(registry.load("microkernels", name))
            patch.setattr(kind, "unavailable", lambda self: None)
            if hasattr(sys.modules[kind.__module__], "dispatch"):
                patch.setattr(sys.modules[kind.__module__], "dispatch", lambda *shape: 1)
        yield


@lru_cache
def _parsed(nest: Path, defines: tuple[tuple[str, int], ...], constants: tuple[str, ...]) -> Scop:
    return with_constants(pipeline.parse(nest, defines=dict(defines)), constants)


def parsed(case: Case) -> Scop:
    """The nest."""
    return _parsed(case.nest, case.defines, case.constants)


def different_c(kernel: KernelSource) -> str:
    """The C of a kernel without the parts that are the same in all files."""
    text = kernel.c
    same = {
        processor.definitions(): "processor",
        kept_memory.support(): "kept memory",
        team.support(): "team",
        SUPPORT[TRANSPOSE].text: "transposing copies",
        processor.BEGIN: "for all processors",
        processor.END: "for this one",
    }
    for part, name in same.items():
        text = text.replace(part, f"/* {name} */")
    return text


def generated(case: Case, exported: str = "", suffix: str = "") -> KernelSource:
    """Other names are as in ``pipeline.kernel``. Raises IllegalVariantError."""
    with every_microkernel():
        core = machine_with(1, case.vector_bytes).core
        kernels = [registry.load("microkernels", name).on(core) for name in case.microkernels]
        applied = apply(parsed(case), case.variant, kernels, numerics=case.numerics)
        return pipeline.kernel(applied, case.vector_bytes, exported, suffix)
