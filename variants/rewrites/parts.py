"""A statement in parts: nests one after the other, each with some of its instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.construct import fresh, has_loops_alone
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.poly.counting import count
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.legality import in_words
from polydl.poly.substitution import restricted


def require_apart(scop: Scop, statement: Statement) -> None:
    """Raises IllegalVariantError for a statement that can't be taken apart: one that must keep its loops."""
    if not has_loops_alone(scop, statement) or scop.has_call(statement.name):
        raise IllegalVariantError(f"{statement.name} does not have its loops to itself")
    if any(statement.name in group.statements for group in scop.shared) or -1 in statement.directions:
        raise IllegalVariantError(f"the loops of {statement.name} must stay as they are")
    if any(node.kind == "affine" for node in statement.body.walk()):
        raise IllegalVariantError(f"{statement.name} computes with its loop counters")


def require_own_loops(scop: Scop, statement: Statement) -> None:
    """Raises IllegalVariantError for a statement whose loops are those of a marked call, or of a fusion."""
    if scop.has_call(statement.name) or any(statement.name in group.statements for group in scop.shared):
        raise IllegalVariantError(f"the loops of {statement.name} must stay as they are")


def require_unjoined(scop: Scop, statement: Statement, loops: Iterable[int], known: Iterable[Dependence]) -> None:
    """Raises IllegalVariantError if a dependence leads to an instance with another value of one of the ``loops``."""
    for dependence in known:
        if dependence.source == dependence.target == statement.name:
            relation = isl.Map(dependence.relation)
            if not relation.is_subset(in_one_iteration(relation, loops)):
                raise IllegalVariantError(f"{in_words(scop, dependence)} joins the parts")


def part_names(scop: Scop, name: str, number: int) -> list[str]:
    """Names of so many parts: the statement's own, and others that the scop does not have."""
    taken = {each.name for each in scop.statements}
    names = [name]
    for place in range(2, number + 1):
        names.append(fresh(f"{name}_{place}", taken))
    return names


def on_part(statement: Statement, domain: isl.Set) -> Statement:
    """The statement on a part of its domain."""
    return replace(restricted(statement, domain), instances=count(str(domain)))


def in_parts(scop: Scop, statement: Statement, parts: Sequence[Statement], depth: int = 0) -> Scop:
    """The scop with nests in the place of a statement's, in order; what comes later moves on.

    The nests are those inside of the first ``depth`` loops around the statement, which all parts share.
    """
    first = statement.betas[depth]
    placed = [_at(part, depth, first + number) for number, part in enumerate(parts)]
    statements: list[Statement] = []
    for each in scop.statements:
        same = each.name == statement.name
        statements += placed if same else [moved_on(each, statement, depth, len(parts) - 1)]
    return replace(scop, statements=tuple(statements))


def moved_on(other: Statement, statement: Statement, depth: int, by: int) -> Statement:
    """Another statement ``by`` places further on, if it comes later inside of the first ``depth`` loops around one."""
    later = other.betas[:depth] == statement.betas[:depth] and other.betas[depth] > statement.betas[depth]
    return _at(other, depth, other.betas[depth] + by) if later else other


def _at(statement: Statement, depth: int, place: int) -> Statement:
    return replace(statement, betas=(*statement.betas[:depth], place, *statement.betas[depth + 1 :]))
