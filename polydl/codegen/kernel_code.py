"""The code of a variant before it is put together: its loops, and what they need around them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from polydl import bfloat16
from polydl.codegen import bfloat16_rounding, print_c, transforms
from polydl.codegen.calls import annotated_call, iterator_values, microkernel_call
from polydl.codegen.context import CallFacts
from polydl.codegen.facts import call_facts, temporary_arrays
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.loop_ir import Body, Node, at_file_scope, expressions
from polydl.codegen.loops import loops
from polydl.codegen.passes.private_arrays import used_outside
from polydl.codegen.passes.thread_choice import has_threads
from polydl.codegen.storage import LocalStorage, local_storage
from polydl.codegen.support import needed
from polydl.codegen.values import Element, Expr
from polydl.contracts.microkernel import EmittedSite
from polydl.ir.calls import TransformCall
from polydl.ir.ingredients import Fragment
from polydl.ir.scop import Scop
from polydl.plan.apply import Applied
from polydl.plan.call_sites import CallSite
from polydl.plan.contraction import starts_of
from polydl.plan.nest_plan import NestPlan
from polydl.plan.next_tile import with_first_copy_only
from polydl.vector_functions import called, from_library, prototypes, roots


@dataclass(frozen=True)
class KernelCode:
    """An applied variant as code; each part is made once, when it is asked for."""

    applied: Applied
    #: of the vectors where loops fill them
    vector_bytes: int
    #: the end of the names of transforms and of the prefixes of microkernels' names
    suffix: str = ""

    @cached_property
    def sites(self) -> dict[int, CallSite]:
        """The calls of microkernels, by the nests that they stand in."""
        return {
            index: replace(site, gemm=replace(site.gemm, prefix=f"{site.gemm.prefix}{self.suffix}"))
            for index, site in self.applied.sites.items()
        }

    @cached_property
    def transform_calls(self) -> dict[int, TransformCall]:
        """The tile transforms, by the nests that they stand for."""
        return {
            nest.nest.index: replace(nest.nest.transform, call=f"{nest.nest.transform.call}{self.suffix}")
            for nest in self.applied.plan.nests
            if nest.nest.transform is not None
        }

    @cached_property
    def preparing(self) -> Body:
        """The loops that prepare constants; none where nothing is prepared."""
        part = self.applied.prepared
        everything = frozenset(each.name for each in self.applied.scop.statements)
        return self._loops(everything - part.statements) if part.nests else ()

    @cached_property
    def running(self) -> Body:
        """All other loops."""
        return self._loops(self.applied.prepared.statements)

    @property
    def loops(self) -> Body:
        return (*self.preparing, *self.running)

    @property
    def threaded(self) -> bool:
        """Whether loops of every call run on threads."""
        return has_threads(self.running)

    def _loops(self, others: Collection[str]) -> Body:
        """The loops without those of the statements ``others``, and without those that calls make superfluous."""
        applied = self.applied
        return loops(
            self._scop,
            applied.plan,
            dict(enumerate(applied.directions)),
            self._call,
            omitted=(*self._omitted, *others),
            calls={site.statement.name: self._call_facts(site) for site in self._all_sites},
            numerics=applied.rewritten.numerics,
            vector_bytes=self.vector_bytes,
            smaller=applied.contractions,
        )

    def _call_facts(self, site: CallSite) -> CallFacts:
        starts = starts_of(self.applied.contractions, site.plan.around)
        return call_facts(self.applied.scop, site, self.vector_bytes, starts)

    def _call(self, nest: NestPlan, values: Sequence[Expr]) -> Node:
        scop = self.applied.scop
        statement = scop.statement(nest.nest.statements[0])
        if nest.nest.index in self.transform_calls:
            iterators = iterator_values(nest, statement.depth, values)
            return transforms.invocation(scop, statement, self.transform_calls[nest.nest.index], iterators)
        if nest.nest.annotated is not None:
            return annotated_call(scop, nest, values)
        starts = starts_of(self.applied.contractions, nest.around)
        return microkernel_call(scop, self.sites[nest.nest.index], values, starts)

    @property
    def _all_sites(self) -> tuple[CallSite, ...]:
        return tuple(self.sites.values())

    @cached_property
    def _scop(self) -> Scop:
        tiles = [site.next_tile for site in self._all_sites if site.next_tile is not None]
        return with_first_copy_only(self.applied.scop, tiles)

    @cached_property
    def _omitted(self) -> tuple[str, ...]:
        """The statements that calls of other nests do as well."""
        spared = {*self.applied.absorbed, *self.applied.finished}
        nests = (nest.nest for nest in self.applied.plan.nests if nest.nest.index in spared)
        return tuple(name for nest in nests for name in nest.statements)

    # -- memory

    @cached_property
    def storage(self) -> LocalStorage:
        """Where the region's own arrays are, but for those that loops declare or that the code leaves in registers."""
        scop = self._scop
        # What calls access does not all show in the code.
        calls = {name for nest in self.applied.plan.nests if nest.inner for name in nest.nest.statements}
        written_out = {each.name for each in scop.statements} - calls - {*self._omitted}
        mentioned = {value.array for value in expressions(self.loops) if isinstance(value, Element)}
        unused = temporary_arrays(scop, written_out) - mentioned
        private = {each.array.name for each in self.applied.contractions if each.private}
        unused |= private - used_outside(self.loops) if private else private
        kept = tuple(array for array in scop.arrays if array.name not in unused)
        return local_storage(replace(scop, arrays=kept), self.applied.prepared)

    @cached_property
    def memory(self) -> KeptMemory:
        """What threads keep from call to call, and the buffer of what is prepared."""
        return KeptMemory(self.storage.kept, self.applied.prepared.bytes)

    # -- what stands at file scope

    @cached_property
    def emitted(self) -> tuple[tuple[CallSite, EmittedSite], ...]:
        """What microkernels need, by the sites of their calls."""
        return tuple((site, site.kernel.emit(site.gemm, self.vector_bytes)) for site in self._all_sites)

    @cached_property
    def setups(self) -> tuple[str, ...]:
        """C that runs once in a process, before the first call."""
        return tuple(each.setup for _, each in self.emitted if each.setup)

    @cached_property
    def support(self) -> tuple[Fragment, ...]:
        """Small functions that the loops call."""
        return tuple(needed(self.loops))

    @cached_property
    def transformed(self) -> tuple[Fragment, ...]:
        """The functions that transform tiles."""
        scop = self.applied.scop
        return tuple(
            transforms.definition(
                scop, scop.statement(nest.nest.statements[0]), call, self.vector_bytes, self.applied.core
            )
            for nest in self.applied.plan.nests
            if (call := self.transform_calls.get(nest.nest.index)) is not None
        )

    @cached_property
    def vector_functions(self) -> tuple[str, ...]:
        """Functions of the C library of which the loops call vector versions."""
        scop = self.applied.scop
        return () if self.applied.keeps_products else from_library(scop, called(scop.statements))

    @property
    def flushes(self) -> bool:
        """Whether results may be rounded to bfloat16 by instructions that take numbers below 1.2e-38 as zeros."""
        return bfloat16_rounding.are_used(self.support)

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """C that declares functions of the C library as loops with vectors need them."""
        scop = self.applied.scop
        square_roots = roots(scop, called(scop.statements)) if self.applied.reassociate else ()
        return (*square_roots, *prototypes(self.vector_functions))

    @cached_property
    def epilogue_calls_functions(self) -> bool:
        """Whether what microkernels apply to their results calls functions of the C library."""
        return any(site.epilogue is not None and site.epilogue.calls for site in self._all_sites)

    @cached_property
    def includes(self) -> tuple[str, ...]:
        """The headers at the top of the file, each once."""
        names = ["stddef.h", *(name for _, each in self.emitted for name in each.includes), *self.memory.includes]
        return tuple(dict.fromkeys((*names, *(["pthread.h"] if self.setups else []))))

    @cached_property
    def definitions(self) -> tuple[str, ...]:
        """The C of types, variables and functions at file scope, in the order in which they need each other."""
        elements = {element for site in self._all_sites for element in (site.gemm.element, site.gemm.type_b)}
        elements |= {operand.element for each in self._all_sites if each.epilogue for operand in each.epilogue.operands}
        once = [
            "static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;",
            "\n".join(["static void polydl_setup(void)", "{", *self.setups, "}"]),
        ]
        return (
            *([f"typedef unsigned short {bfloat16.ELEMENT};"] if bfloat16.ELEMENT in elements else []),
            *self.memory.definitions(),
            *(["#include <math.h>"] if self.epilogue_calls_functions else []),
            *self._declarations(),
            *map(print_c.definition, at_file_scope(self.loops)),
            *(each.definitions for _, each in self.emitted),
            *(each.text for each in self.transformed),
            *(once if self.setups else []),
        )

    def _declarations(self) -> list[str]:
        """The source's own functions that what microkernels apply to their results calls before they are defined."""
        epilogues = [site.epilogue for site in self._all_sites if site.epilogue is not None]
        names = called(each.statement for epilogue in epilogues for each in epilogue.statements)
        return [f"{function.declaration};" for function in self.applied.scop.functions if function.name in names]
