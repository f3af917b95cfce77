"""Translation of pet's expressions into ``Expression`` and ``Access``.

pet restricts index expressions silently: an index is undefined where it would be negative, and where a condition of
``?:`` prevents its evaluation. The first is an error in the source and the second is not, so that conditions are
tracked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from polydl.frontend.facts import CALLED
from polydl.ir.affine import Affine
from polydl.ir.statement import Access, AccessKind, Expression

ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "&=", "^=", "|="})
STEPS = {"++": "+=", "--": "-="}

Json = Mapping[str, Any]


class NotAffineError(Exception):
    """A subscript is no affine function of the loop counters."""


@dataclass(frozen=True)
class EvaluatedReference:
    """An array reference and the instances that evaluate it."""

    access: Access
    #: its subscripts
    index: isl.MultiPwAff
    #: the instances
    domain: isl.Set


@dataclass
class Translator:
    """Translates one statement."""

    #: iteration domain of the statement
    domain: isl.Set
    #: pet's names of variables -> names in the Scop
    names: Mapping[str, str]
    #: pet's names of arrays that stand for integers in the view that pet read
    data: frozenset[str]
    #: the types of casts as they are written, and as elements of arrays have them
    cast_types: Mapping[str, str]
    #: number that was added to all subscripts in that view; it is subtracted here
    shift: int = 0
    #: every access so far, in the order of evaluation
    evaluations: list[EvaluatedReference] = field(default_factory=list)

    def body(self, root: Json) -> Expression:
        """The statement's expression. Raises NotAffineError."""
        if root["text"] in STEPS:
            one = Expression("literal", "1")
            target = self._access(root["arguments"][0], self.domain)
            return Expression("op", STEPS[root["text"]], (target, one))
        return self._translate(root, self.domain)

    def _translate(self, node: Json, domain: isl.Set) -> Expression:
        kind, arguments = node["kind"], node["arguments"]
        if kind == "access":
            return self._access(node, domain)
        if kind in ("int", "double"):
            return Expression("literal", node["text"])
        if kind in ("call", "cast"):
            text = node["text"].removeprefix(CALLED)
            if kind == "cast":
                text = self.cast_types.get(text, text)
            return Expression(kind, text, tuple(self._translate(argument, domain) for argument in arguments))
        domains = [domain] * len(arguments)
        if node["text"] == "?:":
            domains[1] = self._may_hold(arguments[0], domain, True)
            domains[2] = self._may_hold(arguments[0], domain, False)
        elif node["text"] in ("&&", "||"):
            domains[1] = self._may_hold(arguments[0], domain, node["text"] == "&&")
        parts = tuple(self._translate(argument, inside) for argument, inside in zip(arguments, domains, strict=True))
        return Expression("op", node["text"], parts)

    def _may_hold(self, condition: Json, domain: isl.Set, wanted: bool) -> isl.Set:
        """The instances of ``domain`` for which ``condition`` may have the value ``wanted``."""
        if condition["kind"] == "access" and condition["affine"] and not condition["arguments"]:
            zero = self._affine(condition).zero_set()
            return domain.subtract(zero) if wanted else domain.intersect(zero)
        if condition["kind"] == "op" and condition["text"] == "!":
            return self._may_hold(condition["arguments"][0], domain, not wanted)
        if condition["kind"] == "op" and condition["text"] in ("&&", "||"):
            left, right = (self._may_hold(part, domain, wanted) for part in condition["arguments"])
            return left.intersect(right) if (condition["text"] == "&&") == wanted else left.union(right)
        return domain

    def _affine(self, node: Json) -> isl.PwAff:
        index = isl.MultiPwAff.read_from_str(self.domain.get_ctx(), node["index"])
        return index.get_pw_aff(0).set_tuple_id(isl.dim_type.in_, self.domain.get_tuple_id())

    def _access(self, node: Json, domain: isl.Set) -> Expression:
        if node["arguments"]:
            raise NotAffineError
        if node["affine"]:
            return Expression("affine", str(self._affine(node)))
        index = isl.MultiPwAff.read_from_str(domain.get_ctx(), node["index"])
        index = index.set_tuple_id(isl.dim_type.in_, self.domain.get_tuple_id())
        array = index.get_tuple_name(isl.dim_type.out)
        if index.involves_nan():
            raise NotAffineError
        if array in self.data:
            index = index.drop_dims(isl.dim_type.out, 0, 1)
        array = self.names[array]
        index = index.set_tuple_name(isl.dim_type.out, array)
        if self.shift:
            index = self._shifted_back(index, domain)
        relation = isl.Map.from_multi_pw_aff(index).intersect_domain(domain).coalesce()
        reference = node["reference"]
        kinds: list[AccessKind] = ["read"] if node["reads"] else []
        kinds += ["write"] if node["writes"] else []
        for kind in kinds:
            access = Access(reference, array, kind, str(relation), str(index), subscripts(index, domain))
            self.evaluations.append(EvaluatedReference(access, index, domain))
        return Expression("access", reference)

    def _shifted_back(self, index: isl.MultiPwAff, domain: isl.Set) -> isl.MultiPwAff:
        back = isl.Val.int_from_si(domain.get_ctx(), -self.shift)
        for position in range(index.dim(isl.dim_type.out)):
            subscript = index.get_pw_aff(position)
            reached = subscript.intersect_domain(domain)
            # An index that is never evaluated has no values, but keeps its form.
            least = min(form.get_constant_val().to_python() for _, form in subscript.get_pieces())
            if not reached.domain().is_empty():
                least, _ = value_range(reached)
            if least >= self.shift // 2:
                index = index.set_pw_aff(position, subscript.add_constant_val(back))
        return index


def kept_references(body: Expression, evaluations: Sequence[EvaluatedReference]) -> frozenset[str]:
    """The references to what an assignment sets to itself where conditions don't hold, but for those of conditions."""
    target, value = body.arguments
    forms = {evaluation.access.reference: evaluation.access.index for evaluation in evaluations}
    form = forms[target.text]
    results = list(_results(value))
    if value.text != "?:" or not any(node.kind == "access" and forms[node.text] == form for node in results):
        return frozenset()
    inside = [node.text for result in results for node in result.walk() if node.kind == "access"]
    return frozenset([target.text, *(name for name in inside if forms[name] == form)])


def _results(value: Expression) -> Iterator[Expression]:
    """What ``?:`` chooses from."""
    if value.kind == "cast":
        yield from _results(value.arguments[0])
    elif value.text == "?:":
        for choice in value.arguments[1:]:
            yield from _results(choice)
    else:
        yield value


def value_range(value: isl.PwAff) -> tuple[int, int]:
    """The least and the greatest value, for at least one point."""
    # Not min_val of the form itself: its coefficients are fractions where all points are odd, say, and it is halved.
    values = isl.Map.from_pw_aff(value).range()
    return values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()


def subscripts(index: isl.MultiPwAff, domain: isl.Set) -> tuple[Affine, ...] | None:
    """Each subscript as an affine form of the iterators with integer coefficients; None if one of them isn't."""
    forms = []
    for position in range(index.dim(isl.dim_type.out)):
        pieces = index.get_pw_aff(position).intersect_domain(domain).coalesce().get_pieces()
        if len(pieces) != 1:
            return None
        form = affine(pieces[0][1])
        if form is None:
            return None
        forms.append(form)
    return tuple(forms)


def affine(form: isl.Aff) -> Affine | None:
    """The form with integer coefficients; None if it has integer divisions or a denominator."""
    if form.dim(isl.dim_type.div) or not form.get_denominator_val().is_one():
        return None
    coefficients = tuple(
        int(form.get_coefficient_val(isl.dim_type.in_, position).to_python())
        for position in range(form.dim(isl.dim_type.in_))
    )
    return Affine(coefficients, int(form.get_constant_val().to_python()))
