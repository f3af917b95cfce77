"""Loops of the generated code as values: between isl's AST and C.

A body is a tuple of nodes that run one after the other. ``polydl.codegen.build`` makes them of isl's AST,
``polydl.codegen.passes`` rewrite them, and ``polydl.codegen.print_c`` writes them as C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from polydl.codegen.values import (
    Binary,
    Element,
    Expr,
    Integer,
    Linear,
    Name,
    as_sum,
    collected,
    flattened,
    substituted,
    walk,
    with_elements,
)
from polydl.poly.reductions import Operation

ONE = Integer(1)


@dataclass(frozen=True)
class Variable:
    """A variable or an array of a declaration, without its type."""

    name: str
    #: Of an array; an array that begins with a value begins with zeros.
    extents: tuple[int, ...] = ()
    #: The value, of an array its first element's; none where it begins undefined.
    initial: Expr | None = None


@dataclass(frozen=True)
class Declare:
    """Variables of one C type."""

    #: C's name of it, as ``double`` or ``const float *``.
    type: str
    variables: tuple[Variable, ...]
    #: Whether C's ``const`` stands before the type.
    constant: bool = False
    #: In bytes, if it is more than the type's.
    alignment: int = 0


@dataclass(frozen=True)
class Assign:
    """C's ``target operator value;``, where the operator is ``=``, ``+=`` or another one of C's assignments."""

    target: Expr
    operator: str
    value: Expr
    #: The statement of the source; none for what the code has to do besides.
    statement: str = ""
    #: Of which iteration of an unrolled loop this is the copy: the end of the names of all that it has of its own.
    copy: str = ""


@dataclass(frozen=True)
class Evaluate:
    """An expression for what it does."""

    value: Expr


@dataclass(frozen=True)
class Structure:
    """A structure at file scope, with a type and a name for each of its members."""

    name: str
    members: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Constant integers of type ``long`` at file scope."""

    name: str
    #: its elements, in order
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Function:
    """A function at file scope that returns nothing, with a type and a name for each of its parameters."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Body
    #: Whether compilers make it part of what calls it: as they see fit, rather so, or always.
    inlining: Literal["", "inline", "always"] = "inline"
    #: What stands above it, in words.
    comment: str = ""


Definition = Structure | Table | Function


class Callee(Protocol):
    """What a call runs."""

    def call(self, arguments: Mapping[str, str]) -> str:
        """The call as a C statement, from the C of its arguments by their names."""
        ...


@dataclass(frozen=True)
class Call:
    """A call that stands for the innermost loops of a nest."""

    callee: Callee
    #: Name of the statement whose loops it stands for.
    statement: str
    #: By their names, which are the callee's.
    arguments: tuple[tuple[str, Expr], ...] = ()
    #: Of the counters of all loops around, those that nests share first.
    counters: tuple[Expr, ...] = ()
    #: Of the statement's iterators, where the call begins.
    iterators: tuple[Expr, ...] = ()
    #: What the callee needs at file scope, in this order.
    definitions: tuple[Definition, ...] = ()

    def argument(self, name: str) -> Expr:
        """The value of the argument of that name. Raises KeyError if the call has none."""
        return dict(self.arguments)[name]

    def with_arguments(self, **values: Expr) -> Call:
        """The call with these arguments besides, or in place of those of the same names."""
        return replace(self, arguments=tuple({**dict(self.arguments), **values}.items()))


@dataclass(frozen=True)
class Pragma:
    """OpenMP's directive for a loop, with its clauses."""

    #: Behind ``#pragma omp``.
    directive: str
    #: How many loops are dealt out as one.
    collapse: int = 0
    #: Elements of a vector, 0 for any number.
    simdlen: int = 0
    #: Whether threads get the next iterations when they are done with some.
    dynamic: bool = False
    #: Variables and arrays, with their extents, that lanes or threads accumulate, by the operation.
    sums: tuple[tuple[Operation, str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class LoopReduction:
    """What a loop accumulates in a variable of its own.

    A sum begins with zero and is added to the target at its end, an extremum begins with the target and replaces it.
    """

    variable: str
    #: Of the variable, in C.
    type: str
    #: What the result is added to, or replaces.
    target: Element
    #: Name of the statement whose results are accumulated.
    statement: str
    operation: Operation = "+"
    #: What the sum is multiplied by at the end, if anything.
    factor: Expr | None = None


@dataclass(frozen=True)
class For:
    """C's ``for`` over one counter, which the loop declares, and whatever a pass has decided about how it runs."""

    iterator: str
    first: Expr
    condition: Expr
    body: Body
    #: What is added to the counter after each iteration.
    step: Expr = ONE
    #: Which dimension of the statements' time this is; none for loops that the schedule doesn't have.
    place: int = -1
    #: Whether threads share out the iterations.
    parallel: bool = False
    #: Whether the iterations may fill vectors.
    vector: bool = False
    #: What its iterations add up.
    reductions: tuple[LoopReduction, ...] = ()
    #: What belongs to the loop before its first iteration, and after its last one: all have a scope of their own.
    before: Body = ()
    after: Body = ()
    pragma: Pragma | None = None
    #: Of the counter.
    type: str = "int"
    #: Assignments that go with each step of the counter.
    along: Body = ()

    @property
    def last(self) -> Expr | None:
        """The last value of a counter that advances by one; None where the condition is of another kind."""
        match self.condition:
            case Binary("<=", Name(name), bound) if name == self.iterator and self.step == ONE:
                return bound
        return None

    @property
    def range(self) -> range:
        """All values of a counter that advances by one, if they are known and not negative; an empty range if not."""
        match self.first, self.last:
            case Integer(first), Integer(last) if first >= 0 and last >= 0:
                return range(first, last + 1)
        return range(0)

    @property
    def trips(self) -> int | None:
        """The iterations of a counter that advances by one; None if they may be more here and fewer there."""
        if self.last is None:
            return None
        distance = as_sum(flattened(Linear(((1, self.last), (-1, self.first)))))
        return None if collected(distance.terms) else max(0, distance.constant + 1)


@dataclass(frozen=True)
class While:
    """C's ``while``: the condition is tested before each run of the body."""

    condition: Expr
    body: Body


@dataclass(frozen=True)
class If:
    """C's ``if``, with an ``else`` where there is something to run otherwise."""

    condition: Expr
    then: Body
    otherwise: Body = ()


@dataclass(frozen=True)
class Switch:
    """The body of the case that an integer is; none where it is another number.

    Declarations of a case stand in a block.
    """

    value: Expr
    #: each with the integer for which it runs
    cases: tuple[tuple[int, Body], ...]


@dataclass(frozen=True)
class Let:
    """A loop of one iteration."""

    #: Name of the counter, which keeps its value.
    iterator: str
    value: Expr
    body: Body
    #: Of the counter.
    type: str = "int"


@dataclass(frozen=True)
class Block:
    """Nodes in a scope of their own."""

    body: Body


@dataclass(frozen=True)
class ParallelRegion:
    """What all threads run."""

    body: Body


Node = For | While | If | Switch | Let | Block | ParallelRegion | Assign | Declare | Evaluate | Call
Body = tuple[Node, ...]


def bodies(node: Node) -> tuple[Body, ...]:
    """The bodies inside a node."""
    match node:
        case For():
            return node.before, node.body, node.along, node.after
        case If():
            return node.then, node.otherwise
        case Switch():
            return tuple(body for _, body in node.cases)
        case While() | Let() | Block() | ParallelRegion():
            return (node.body,)
    return ()


def with_bodies(node: Node, change: Callable[[Body], Body]) -> Node:
    """The node with each of the bodies inside it changed; itself if they stay as they are."""
    match node:
        case For():
            before, body, after = change(node.before), change(node.body), change(node.after)
            along = change(node.along) if node.along else ()
            same = before is node.before and body is node.body and along is node.along and after is node.after
            return node if same else replace(node, before=before, body=body, along=along, after=after)
        case If():
            then, otherwise = change(node.then), change(node.otherwise)
            same = then is node.then and otherwise is node.otherwise
            return node if same else replace(node, then=then, otherwise=otherwise)
        case Switch():
            cases = tuple((number, change(body)) for number, body in node.cases)
            same = all(new is old for (_, new), (_, old) in zip(cases, node.cases, strict=True))
            return node if same else replace(node, cases=cases)
        case While() | Let() | Block() | ParallelRegion():
            body = change(node.body)
            return node if body is node.body else replace(node, body=body)
    return node


def nodes(body: Body) -> Iterator[Node]:
    """All nodes of a body, those inside others after these."""
    for node in body:
        yield node
        for inside in bodies(node):
            yield from nodes(inside)


def values(node: Node) -> tuple[Expr, ...]:
    """The expressions of a node as it runs, without those of the nodes inside."""
    match node:
        case For():
            return node.first, node.condition, node.step
        case While() | If():
            return (node.condition,)
        case Let() | Evaluate() | Switch():
            return (node.value,)
        case Assign():
            return node.target, node.value
        case Declare():
            return tuple(each.initial for each in node.variables if each.initial is not None)
        case Call():
            return tuple([value for _, value in node.arguments])
    return ()


def with_values(node: Node, change: Callable[[Expr], Expr]) -> Node:
    """The node with all of its own expressions changed."""
    match node:
        case For():
            first, condition, step = change(node.first), change(node.condition), change(node.step)
            same = first is node.first and condition is node.condition and step is node.step
            return node if same else replace(node, first=first, condition=condition, step=step)
        case While() | If():
            condition = change(node.condition)
            return node if condition is node.condition else replace(node, condition=condition)
        case Let() | Evaluate() | Switch():
            value = change(node.value)
            return node if value is node.value else replace(node, value=value)
        case Assign():
            target, value = change(node.target), change(node.value)
            same = target is node.target and value is node.value
            return node if same else replace(node, target=target, value=value)
        case Declare():
            changed = (
                each if each.initial is None else replace(each, initial=change(each.initial)) for each in node.variables
            )
            return replace(node, variables=tuple(changed))
        case Call():
            arguments = tuple((name, change(value)) for name, value in node.arguments)
            counters, iterators = (tuple(map(change, own)) for own in (node.counters, node.iterators))
            before = (*values(node), *node.counters, *node.iterators)
            after = (*(value for _, value in arguments), *counters, *iterators)
            same = all(one is other for one, other in zip(before, after, strict=True))
            return node if same else replace(node, arguments=arguments, counters=counters, iterators=iterators)
    return node


def rewritten(body: Body, change: Callable[[Node], Body]) -> Body:
    """The body with each of its nodes, after those inside it, replaced by any number of others.

    What stays as it is, is the same object.
    """
    made: list[Node] = []
    for node in body:
        made += change(with_bodies(node, lambda inside: rewritten(inside, change)))
    same = len(made) == len(body) and all(one is other for one, other in zip(made, body, strict=True))
    return body if same else tuple(made)


def mapped(body: Body, change: Callable[[Node], Node]) -> Body:
    """The body with each of its nodes, after those inside it, changed."""
    return rewritten(body, lambda node: (change(node),))


def with_values_of(body: Body, counters: Mapping[str, Expr]) -> Body:
    """The body with values in place of counters."""
    return mapped(body, lambda node: with_values(node, lambda value: substituted(value, counters)))


def with_elements_of(body: Body, change: Callable[[Element], Expr]) -> Body:
    """The body with all array elements changed."""
    return mapped(body, lambda node: with_values(node, lambda value: with_elements(value, change)))


def expressions(body: Body) -> Iterator[Expr]:
    """All expressions in a body, and those that they are made of."""
    return (part for node in nodes(body) for value in values(node) for part in walk(value))


def assignments(body: Body) -> Iterator[Assign]:
    """The instances of the source's statements, in their order."""
    return (node for node in nodes(body) if isinstance(node, Assign) and node.statement)


def statements(body: Body) -> frozenset[str]:
    """The source's statements that run in a body."""
    return frozenset(node.statement for node in nodes(body) if isinstance(node, Assign | Call) and node.statement)


def at_file_scope(body: Body) -> list[Definition]:
    """What the calls of a body need at file scope."""
    return list(dict.fromkeys(each for node in nodes(body) if isinstance(node, Call) for each in node.definitions))


def has_loop(body: Body) -> bool:
    """Whether a ``For`` is anywhere in a body; other kinds of loops don't count."""
    return any(isinstance(node, For) for node in nodes(body))


def is_straight(body: Body) -> bool:
    """Whether all statements in a body run, each once."""
    return all(isinstance(node, Assign | Call | Declare | Evaluate) for node in body)


def only_loop(body: Body) -> For | None:
    """The loop that is all of a body."""
    match body:
        case (For() as loop,):
            return loop
    return None


def at_most(iterator: str, last: Expr) -> Expr:
    """The condition ``iterator <= last`` of a loop, which ``For.last`` recognises."""
    return Binary("<=", Name(iterator), last)
