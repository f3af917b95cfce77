"""The parts of a Scop from the results of libclang and pet: statements are selected, named, ordered and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal

import islpy as isl

from polydl.errors import AnalysisError, NoScopError, UnsupportedConstructError
from polydl.frontend import bounds, checks
from polydl.frontend.annotation import Annotation
from polydl.frontend.expressions import (
    ASSIGNMENTS,
    STEPS,
    EvaluatedReference,
    NotAffineError,
    Translator,
    kept_references,
)
from polydl.frontend.facts import SourceFacts, VariableFacts
from polydl.frontend.order import Order, original_order, schedule_tree
from polydl.frontend.source import Place, one_line, without_comments
from polydl.frontend.team import check_team
from polydl.ir.calls import AnnotatedCall
from polydl.ir.scop import Array, Parameter, SourceFunction
from polydl.ir.statement import Expression, Statement
from polydl.poly.counting import count, quota

# isl's operations for one nest, some seconds; a nest that needs more can't be optimized.
_OPERATIONS = 200_000_000
_IF = re.compile(r"if\b")
# Added to subscripts to make them positive; a subscript above half of this has been shifted.
SHIFT = 1 << 29

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """The parts of a Scop that follow from its region; the fields are those of ``Scop``."""

    function: SourceFunction
    statements: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    #: the schedule tree of the statements kept, in pet's order
    schedule: str
    annotated_calls: tuple[AnnotatedCall, ...]
    #: offsets of the region in the analysed text, end exclusive
    start: int
    #: of the region, as an offset into the source
    end: int


@dataclass(eq=False)
class _Draft:
    """A statement under construction."""

    #: pet's description
    json: Json
    #: in the source
    offset: int
    #: iteration domain, with pet's name of the statement
    domain: isl.Set
    #: as in the source
    text: str
    body: Expression = field(default_factory=lambda: Expression("literal", ""))
    evaluations: Sequence[EvaluatedReference] = ()

    @property
    def pet_name(self) -> str:
        return str(self.domain.get_tuple_name())

    @property
    def target(self) -> Json:
        written: Json = self.json["body"]["arguments"][0]
        return written


def build(scop: Json, facts: SourceFacts, place: Place, annotations: Iterable[Annotation], shift: int = 0) -> Model:
    """The model of pet's ``scop``.

    ``place`` has the text that ``facts`` refer to. ``shift`` was added to all subscripts in the view that pet read.
    Raises a UserError for anything in the region that can't be represented, AnalysisError when isl's quota is used up.
    """
    builder = _Builder(scop, facts, place, shift)
    line = place.line(builder.start)
    with _isl(builder.context, place, line):
        builder.select()
        if infeasible(scop):
            raise bounds.overflow(builder.start, place)
        order = builder.order()
        arrays = builder.translate()
        schedule = builder.schedule(order)
        statements = builder.statements(order)
    with _isl(builder.context, place, line):
        counted = tuple(builder.counted(statement) for statement in statements)
    calls = [call for annotation in annotations for call in builder.annotated(annotation)]
    return Model(builder.function(), counted, arrays, schedule, tuple(calls), builder.start, builder.end)


def infeasible(scop: Json) -> bool:
    """Whether pet has concluded that the region can't run; it then drops all facts about it.

    A negative subscript or an overflow of int is reason enough. pet doesn't see that ``i == 0 || a[i - 1] > 0`` has no
    negative subscript.
    """
    return isl.Set.read_from_str(isl.Context(), scop["context"]).is_empty()


@contextmanager
def _isl(context: isl.Context, place: Place, line: int) -> Iterator[None]:
    """A context that limits isl's work. An AnalysisError in it gets the file and the line."""
    try:
        with quota(context, _OPERATIONS):
            yield
    except (isl.Error, AnalysisError) as error:
        message = error.message if isinstance(error, AnalysisError) else f"isl failed on the region: {error}"
        raise AnalysisError(
            message, file=place.file, line=line, remedy="simplify the region's bounds and subscripts, or split it"
        ) from error


class _Builder:
    def __init__(self, scop: Json, facts: SourceFacts, place: Place, shift: int) -> None:
        self.scop, self.facts, self.place, self.shift = scop, facts, place, shift
        self.text = place.text
        self.context = isl.Context()
        self.drafts: list[_Draft] = []
        #: conditions that C asks for where it may assign nothing
        self.asked: list[_Draft] = []
        origins = facts.shown.origins
        self.start, self.end = facts.region or (origins[scop["start"]], origins[scop["end"]])
        self.variables: dict[str, VariableFacts] = {}
        for variable in facts.variables:
            declared = variable.storage == "parameter" or self.start <= variable.offset < self.end
            if declared or variable.within(self.start, self.end):
                # Counters of successive loops may share a name; the facts needed here are the same for all of them.
                self.variables.setdefault(variable.shown, variable)
        self.names = {shown: self._model_name(variable) for shown, variable in self.variables.items()}
        self.data = frozenset(shown for shown, variable in self.variables.items() if variable.carries_data)

    # -- which statements count -------------------------------------------------------

    def select(self) -> None:
        """Keep the statements whose results are read by the rest of the program or by a statement that is kept."""
        checks.check_whole_loops(self.facts, self.start, self.end, self.place)
        checks.check_constructs(self.facts, self.start, self.end, self.place)
        check_team(self.facts, self.start, self.end, self.place)
        checks.check_variables(self.facts, self.start, self.end, self.place)
        checks.check_sizes(self.facts, self.start, self.end, self.place)
        candidates = [draft for draft in map(self._draft, self.scop["statements"]) if draft is not None]
        for draft in candidates:
            self._check_value(draft)
        kept = [draft for draft in candidates if not self._is_index(draft) or self._is_result(draft)]
        reads = {name for draft in kept for name in _read(draft.json["body"])}
        while needed := [d for d in candidates if d not in kept and self._written(d) in reads]:
            for draft in needed:
                checks.check_no_counter(
                    self.variables[self._written(draft)], self.facts, self.start, self.end, self.place
                )
            kept += needed
            reads |= {name for draft in needed for name in _read(draft.json["body"])}
        for draft in kept:
            self._check_parameters(draft.domain, draft)
            if not infeasible(self.scop):
                bounds.check_finite(draft.domain, draft.offset, self.facts, self.place)
        self.drafts = [draft for draft in kept if not draft.domain.is_empty()]
        if kept and not self.drafts:
            raise checks.nothing_runs(self.facts, self.start, self.end, self.place)
        if not kept:
            raise NoScopError(
                "the region writes no array",
                file=self.place.file,
                line=self.place.line(self.start),
                remedy="put loops that write to an array into the region",
            )

    def _draft(self, described: Json) -> _Draft | None:
        """The draft of a statement; None for one that pet inserted for itself, and for one without effect."""
        origins = self.facts.shown.origins
        offset, end = origins[described["start"]], origins[described["end"]]
        # What a macro stands for ends in the macro's definition.
        while (offset < end or end < offset < len(self.text)) and self.text[offset].isspace():
            offset += 1
        body = described["body"]
        if described["kill"] or (body is not None and body["kind"] == "op" and body["text"] == "assume"):
            return None
        if described["conditions"]:
            raise checks.undecided(self.facts, offset, self.place)
        # pet may have been shown two statements for one of the file.
        quoted = self.text[offset:end] or self.facts.shown.text[described["start"] : described["end"]]
        text = one_line(without_comments(quoted), limit=10_000)
        if body is None:
            raise UnsupportedConstructError(
                "pet kept this as one block",
                file=self.place.file,
                line=self.place.line(offset),
                construct=text,
                remedy="write it with for loops and assignments",
            )
        domain = isl.Set.read_from_str(self.context, described["domain"]).drop_unused_params()
        if body["kind"] != "op" or body["text"] not in ASSIGNMENTS | STEPS.keys():
            if _IF.match(self.text, offset):
                self.asked.append(_Draft(described, offset, domain, text.rstrip(";")))
            return None
        target = body["arguments"][0]
        if target["kind"] != "access" or target["affine"] or not target["writes"]:
            raise UnsupportedConstructError(
                "this assigns to something that isn't an array element or a variable",
                file=self.place.file,
                line=self.place.line(offset),
                construct=text,
                remedy="assign to an array element, such as a[i], or to a variable",
            )
        if _array(target) not in self.variables:
            # pet stores conditions that it could not evaluate in arrays of its own.
            raise checks.undecided(self.facts, offset, self.place)
        return _Draft(described, offset, domain, text)

    def _written(self, draft: _Draft) -> str:
        return _array(draft.target)

    def _is_index(self, draft: _Draft) -> bool:
        """Whether the statement only writes an integer of the function: a loop counter or a part of a subscript."""
        variable = self.variables[self._written(draft)]
        return variable.shape.is_scalar_integer and variable.storage == "local"

    def _is_result(self, draft: _Draft) -> bool:
        """Whether the statement writes an integer, no loop counter, that is read after the region."""
        variable = self.variables[self._written(draft)]
        return checks.read_later(variable, self.facts, self.start, self.end, self.place)

    def _check_value(self, draft: _Draft) -> None:
        shape = self.variables[self._written(draft)].shape
        value = draft.json["body"]["arguments"][-1]
        if not shape.is_scalar_integer or draft.json["body"]["text"] != "=" or value["arguments"]:
            return
        if value["kind"] == "int":
            number = isl.Val(value["text"], context=self.context)
            form = isl.PwAff.val_on_domain(draft.domain, number)
        elif value["kind"] == "access" and value["affine"]:
            index = isl.MultiPwAff.read_from_str(self.context, value["index"])
            form = index.get_pw_aff(0).intersect_domain(draft.domain)
        else:
            return
        if not form.domain().is_empty() and form.drop_unused_params().dim(isl.dim_type.param) == 0:
            bounds.check_value(form, shape, draft.offset, draft.text, self.place)

    def _check_parameters(self, value: isl.Set | isl.Map | isl.PwAff, draft: _Draft) -> None:
        """Check that isl sees no parameters: a parameter is an integer without a known value."""
        used = value.drop_unused_params()
        for position in range(used.dim(isl.dim_type.param)):
            name = used.get_dim_name(isl.dim_type.param, position)
            variable = self.variables.get(str(name))
            if variable is not None:
                uses = [use for use in variable.within(self.start, self.end) if use.control]
                offset = uses[0].offset if uses else draft.offset
                raise checks.unknown_sizes([(variable, offset)], self.place)
            raise checks.unknown_element(self.facts, draft.offset, draft.text, self.place)

    # -- order, expressions, accesses -------------------------------------------------

    def order(self) -> dict[str, Order]:
        """The order of the kept statements, by pet's names. Sorts the drafts in this order."""
        depths = {draft.pet_name: draft.domain.dim(isl.dim_type.set) for draft in self.drafts}
        order = original_order(isl.Schedule.read_from_str(self.context, self.scop["schedule"]), depths)
        self.drafts.sort(key=lambda draft: order[draft.pet_name].betas)
        for draft in self.drafts:
            bounds.check_counters(draft.domain, draft.offset, order[draft.pet_name].directions, self.facts, self.place)
        return order

    def translate(self) -> tuple[Array, ...]:
        """Translate the bodies and accesses of all drafts, and check them. Returns the arrays."""
        by_name = {self.names[shown]: variable for shown, variable in self.variables.items()}
        for number, draft in enumerate([*self.drafts, *self.asked]):
            domain = draft.domain.set_tuple_name(f"S{number}")
            translator = Translator(domain, self.names, self.data, self.facts.cast_types, self.shift)
            try:
                draft.body = translator.body(draft.json["body"])
            except NotAffineError:
                raise checks.unknown_element(self.facts, draft.offset, draft.text, self.place) from None
            draft.evaluations = tuple(translator.evaluations)
            forms = [node.text for node in draft.body.walk() if node.kind == "affine"]
            indices = [evaluation.access.index for evaluation in draft.evaluations]
            bounds.check_wraps(str(domain), [*forms, *indices], draft.offset, draft.text, self.place)
            for node in draft.body.walk():
                if node.kind == "affine":
                    self._check_parameters(isl.PwAff.read_from_str(self.context, node.text), draft)
            for evaluation in draft.evaluations:
                relation = isl.Map.read_from_str(self.context, evaluation.access.relation)
                self._check_parameters(relation, draft)
                variable = by_name[evaluation.access.array]
                bounds.check_subscripts(evaluation, variable, draft.offset, draft.text, self.place)
                bounds.check_defined(evaluation, draft.offset, draft.text, self.place)
            elements = {
                evaluation.access.reference: by_name[evaluation.access.array].shape.element
                for evaluation in draft.evaluations
            }
            checks.check_conversions(draft.body, elements, draft.offset, draft.text, self.place)
        arrays = self._arrays()
        declared = {array.name: array for array in arrays}
        for draft in [*self.drafts, *self.asked]:
            for evaluation in draft.evaluations:
                array = declared[evaluation.access.array]
                bounds.check_bounds(evaluation, array, draft.offset, draft.text, self.place)
        bounds.check_memory(arrays, self.place, self.facts.function.offset)
        return arrays

    def _arrays(self) -> tuple[Array, ...]:
        accesses: dict[str, list[EvaluatedReference]] = {}
        for draft in [*self.drafts, *self.asked]:
            for evaluation in draft.evaluations:
                accesses.setdefault(evaluation.access.array, []).append(evaluation)
        arrays = []
        for shown, variable in self.variables.items():
            name = self.names[shown]
            used = accesses.get(name, [])
            if not used and variable.storage != "parameter":
                continue
            extents = bounds.known_extents(variable, self.place)
            if extents and extents[0] is None:
                extents = (self._open_extent(variable, used), *extents[1:])
            shape = variable.shape
            known = tuple(extent for extent in extents if extent is not None)
            arrays.append(Array(name, shape.element, shape.element_bytes, known, self._storage(variable)))
        return tuple(arrays)

    def _open_extent(self, variable: VariableFacts, used: Sequence[EvaluatedReference]) -> int:
        if used and variable.storage == "parameter":
            chosen = [draft for draft in self.drafts if _IF.match(self.text, draft.offset)]
            kept = {name for draft in chosen for name in kept_references(draft.body, draft.evaluations)}
            certain = [evaluation for evaluation in used if evaluation.access.reference not in kept]
            return bounds.certain_extent(variable, used, certain, self.place)
        if variable.references:
            raise bounds.open_extent(variable, self.place)
        return 1

    def _storage(self, variable: VariableFacts) -> Literal["parameter", "global", "constant", "local", "function"]:
        if variable.storage == "parameter":
            return "parameter"
        if variable.storage == "global":
            return "constant" if variable.shape.is_const else "global"
        if variable.storage == "static":
            return "function"
        if self.start <= variable.offset < self.end:
            return "local"
        loops = [b for b in self.facts.branches if b.kind in ("for", "while")]
        repeated = any(b.offset < self.start and self.end <= b.end and variable.offset < b.offset for b in loops)
        outside = len(variable.references) > len(variable.within(self.start, self.end))
        return "function" if variable.initialized or repeated or outside else "local"

    def _model_name(self, variable: VariableFacts) -> str:
        if variable.carries_data or variable.storage != "local" or not self.start <= variable.offset < self.end:
            return variable.name
        return variable.shown

    # -- results ----------------------------------------------------------------------

    def schedule(self, order: Mapping[str, Order]) -> str:
        named = [
            (draft.domain.set_tuple_name(f"S{number}"), order[draft.pet_name])
            for number, draft in enumerate(self.drafts)
        ]
        return str(schedule_tree(named))

    def statements(self, order: Mapping[str, Order]) -> list[Statement]:
        statements = []
        for number, draft in enumerate(self.drafts):
            domain = draft.domain.set_tuple_name(f"S{number}")
            place = order[draft.pet_name]
            statements.append(
                Statement(
                    name=f"S{number}",
                    iterators=tuple(str(name) for name in domain.get_var_names(isl.dim_type.set)),
                    domain=str(domain),
                    box=_exact_box(domain),
                    instances=0,
                    betas=place.betas,
                    directions=place.directions,
                    body=draft.body,
                    accesses=tuple(evaluation.access for evaluation in draft.evaluations),
                    line=self.place.line(draft.offset),
                    text=draft.text,
                )
            )
        return statements

    def counted(self, statement: Statement) -> Statement:
        if statement.box is not None:
            instances = prod(high - low + 1 for low, high in statement.box)
        else:
            instances = count(isl.Set.read_from_str(self.context, statement.domain))
        return replace(statement, instances=instances)

    def annotated(self, annotation: Annotation) -> list[AnnotatedCall]:
        """The marked call, in a list; the list is empty if no statement of the region describes the call."""
        start, end = annotation.edited_start, annotation.edited_end
        inside = [(f"S{n}", draft) for n, draft in enumerate(self.drafts) if start <= draft.offset < end]
        loops = [b for b in self.facts.branches if b.kind == "for" and start <= b.offset < end]
        depths = [sum(loop.offset <= draft.offset < loop.end for loop in loops) for _, draft in inside]
        if not inside:
            return []
        return [AnnotatedCall(annotation.call, annotation.line, tuple(name for name, _ in inside), min(depths))]

    def function(self) -> SourceFunction:
        facts = self.facts.function
        variables = [variable for variable in self.facts.variables if variable.storage == "parameter"]
        parameters = tuple(
            Parameter(
                name=declared.name,
                declaration=declared.declaration,
                sized=declared.sized,
                name_in_header=declared.name_in_header,
                in_header=declared.in_header,
                sized_in_header=declared.sized_in_header,
                array=declared.name,
                is_pointer=bool(variable.shape.extents),
                is_const=variable.shape.is_const,
                value=self.facts.bound.get(declared.name),
            )
            for declared, variable in zip(facts.parameters, variables, strict=True)
        )
        return SourceFunction(facts.name, facts.return_type, parameters, self.place.line(facts.offset))


def _array(access: Json) -> str:
    """The name of the array in pet's index expression."""
    target: str = access["index"].rsplit("->", 1)[1].split("[", 1)[0].strip()
    return target


def _read(node: Json) -> set[str]:
    """The arrays and variables that an expression reads."""
    names = {_array(node)} if node["kind"] == "access" and not node["affine"] and node["reads"] else set()
    return names.union(*map(_read, node["arguments"]))


def _exact_box(domain: isl.Set) -> tuple[tuple[int, int], ...] | None:
    """The inclusive bounds of each iterator where the domain is exactly their product."""
    box = []
    full = isl.Set.universe(domain.get_space())
    for position in range(domain.dim(isl.dim_type.set)):
        low, high = domain.dim_min_val(position), domain.dim_max_val(position)
        full = full.lower_bound_val(isl.dim_type.set, position, low)
        full = full.upper_bound_val(isl.dim_type.set, position, high)
        box.append((int(low.to_python()), int(high.to_python())))
    return tuple(box) if full.is_subset(domain) else None
