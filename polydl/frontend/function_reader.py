"""One walk over a function's body: the uses of variables, and the constructs that a Scop can't represent.

Runs in the child process that holds libclang. Constructs that pet would ignore silently, or reject without a reason,
are reported here with their offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from clang.cindex import Cursor, CursorKind, StorageClass, TypeKind, conf

from polydl.bfloat16 import CONVERSIONS
from polydl.errors import UnsupportedConstructError
from polydl.frontend.c_types import shape_of
from polydl.frontend.data_integers import data_integers
from polydl.frontend.facts import (
    Branch,
    BranchKind,
    Construct,
    DeclaredType,
    Role,
    VariableStorage,
    VariableUse,
    first_line,
)
from polydl.frontend.loop_headers import problem_of, remedy_of_comma
from polydl.frontend.operators import (
    ADDRESS_OF,
    ASSIGN,
    COMMA,
    DEREFERENCE,
    INCREMENTS,
    LOGICAL,
    binary_operator,
    unary_operator,
)
from polydl.frontend.pointers import SWAPPED, is_swapped, pointers_of, remedy_of_dereference
from polydl.frontend.purity import impurity, pure_function, remedy_of, remedy_of_pointer
from polydl.frontend.source import line_of, one_line
from polydl.frontend.typed_integers import TypedIntegers
from polydl.frontend.unsupported import KINDS, UNSUPPORTED, named_with_remedy
from polydl.frontend.walk import key_of, preorder, text_offset
from polydl.ir.scop import PureFunction

_OWN_STATEMENT = "make it a statement of its own"
# Of variables that a function declares with these words; without them, they are local.
_STORAGES: dict[StorageClass, VariableStorage] = {StorageClass.STATIC: "static", StorageClass.EXTERN: "global"}
_COUNTED = (
    "write in the place of {} what it is there, a sum of loop counters times constants, such as 64 * i + j; what data "
    "counts can't be modelled"
)
_COUNTED_DOWN = "count in its last part: for (int i = N - 1; i >= 0; --i)"


@dataclass
class Variable:
    """A variable during the walk; ``VariableFacts`` documents the other fields."""

    name: str
    storage: VariableStorage
    shape: DeclaredType
    #: libclang's cursor
    declaration: Any
    #: of its declaration in the text, in characters
    offset: int
    #: whether a loop counts with it
    loop_counter: bool
    #: whether its declaration gives it a value
    initialized: bool
    #: its name in the view that pet reads
    shown: str = ""
    #: whether it is an integer that holds data, not a size or an index
    carries_data: bool = False
    #: end of its block or its loop
    scope_end: int = -1
    references: list[VariableUse] = field(default_factory=list)

    def written(self, start: int, end: int) -> bool:
        """Whether the range holds an assignment to the variable, or its declaration."""
        if start <= self.offset < end:
            return True
        return any(r.role in ("write", "update") and start <= r.offset < end for r in self.references)


class FunctionReader:
    """Walks ``function``; afterwards its public attributes have what was seen, with offsets in ``text``.

    Raises UnsupportedConstructError for an expression of more than ``deepest`` operations inside of one another.
    """

    def __init__(self, function: Any, text: str, main_file: str, deepest: int) -> None:
        self.function = function
        self.text = text
        self.main_file = main_file
        self._deepest = deepest
        # The labels that jumps name.
        self._targets = {each.spelling for each in preorder(function) if each.kind == CursorKind.LABEL_REF}
        #: the keys of local integers that hold data
        self.data_integers = data_integers(function)
        #: by what libclang tells declarations apart; those of the same name in other scopes are others
        self.variables: dict[str, Variable] = {}
        self.constructs: list[Construct] = []
        self.branches: list[Branch] = []
        #: the file's functions that are called, by their names
        self.callees: dict[str, PureFunction] = {}
        #: integers whose types matter
        self.typed_integers = TypedIntegers(text)
        #: start and end of what is between the brackets
        self.subscripts: list[tuple[int, int]] = []
        #: types of casts as they are written, and as elements of arrays have them
        self.cast_types: dict[str, str] = {}
        #: start and end of blocks in braces
        self.blocks: list[tuple[int, int]] = []
        self._control_depth = 0
        #: the operations, calls and so on that what is read now lies in, from the outermost to itself
        self._around: list[Any] = []
        self._condition_depth = 0
        #: of the loop whose header is read: its parts
        self._header: list[Any] = []
        self._data_in_control = False
        self._index_depth = 0
        self._loop_ends: list[int] = []
        self._block_ends: list[int] = []
        for parameter in function.get_arguments():
            self._declare(parameter, "parameter")
            for child in parameter.get_children():
                self._controlled(child)
        body = function.get_definition()
        for child in body.get_children():
            if child.kind == CursorKind.COMPOUND_STMT:
                self._statement(child)

    # -- statements -------------------------------------------------------------------

    def _statement(self, cursor: Any) -> None:
        kind = cursor.kind
        if kind == CursorKind.COMPOUND_STMT:
            self._block_ends.append(cursor.extent.end.offset)
            self.blocks.append((cursor.extent.start.offset, cursor.extent.end.offset))
            for child in cursor.get_children():
                self._statement(child)
            self._block_ends.pop()
        elif kind == CursorKind.FOR_STMT:
            self._for(cursor)
        elif kind == CursorKind.IF_STMT:
            condition, *branches = cursor.get_children()
            self._branch("if", cursor, lambda: self._controlled(condition), branches[0])
            with self._conditional():
                for branch in branches:
                    self._statement(branch)
        elif kind in (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT):
            self._branch("break" if kind == CursorKind.BREAK_STMT else "continue", cursor)
        elif kind == CursorKind.DECL_STMT:
            for child in cursor.get_children():
                self._local(child)
        elif kind in (CursorKind.LABEL_STMT, CursorKind.NULL_STMT):
            if kind == CursorKind.LABEL_STMT and cursor.spelling in self._targets:
                self._unsupported(cursor)
            for child in cursor.get_children():
                self._statement(child)
        elif kind in (CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.SWITCH_STMT):
            self._unsupported(cursor)
            self._branch("while", cursor)
            self._loop_ends.append(cursor.extent.end.offset)
            with self._conditional():
                for child in cursor.get_children():
                    self._statement(child)
            self._loop_ends.pop()
        else:
            self._expression(cursor, statement=True)

    def _for(self, cursor: Any) -> None:
        *header, body = cursor.get_children()
        self._loop_ends.append(cursor.extent.end.offset)

        def visit() -> None:
            self._control_depth += 1
            self._header = header
            for child in header:
                if child.kind == CursorKind.DECL_STMT:
                    for declared in child.get_children():
                        self._local(declared, loop_counter=True)
                else:
                    self._expression(child, statement=True)
            self._header = []
            self._control_depth -= 1

        problem = problem_of(header)
        if problem is not None:
            self.refuse(*problem)
        self._branch("for", cursor, visit, body)
        with self._conditional():
            self._statement(body)
        self._loop_ends.pop()

    def _branch(
        self, kind: BranchKind, cursor: Any, visit: Callable[[], None] | None = None, body: Any | None = None
    ) -> None:
        """Record a branch. ``visit`` walks its condition, which ends where ``body`` begins."""
        outer, self._data_in_control = self._data_in_control, False
        if visit is not None:
            visit()
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        inside = body.extent.start.offset if body is not None else end
        self.branches.append(Branch(kind, start, inside, end, self._data_in_control))
        self._data_in_control = outer

    def _controlled(self, cursor: Any) -> None:
        """Walk an expression that decides which statements run or which element is accessed."""
        self._control_depth += 1
        self._expression(cursor)
        self._control_depth -= 1

    def _local(self, cursor: Any, loop_counter: bool = False) -> None:
        if cursor.kind != CursorKind.VAR_DECL:
            return
        variable = self._declare(cursor, _STORAGES.get(cursor.storage_class, "local"), loop_counter)
        name = cursor.spelling
        if cursor.type.get_canonical().kind == TypeKind.POINTER:
            remedy = SWAPPED if is_swapped(cursor, self.function) else remedy_of_pointer(cursor)
            self.refuse(cursor, f"the pointer {name} may alias an array", remedy)
        elif variable.shape.problem is not None:
            self.refuse(cursor, f"{name} is {variable.shape.problem}", "use float, double or an integer type")
        elif variable.storage != "local":
            kind = cursor.storage_class.name.lower()
            self.refuse(
                cursor, f"the {kind} variable {name} is declared inside the region", "declare it before the region"
            )
        with self._index(cursor):
            for child in cursor.get_children():
                if child.kind != CursorKind.TYPE_REF:
                    self._expression(child)

    @property
    def _decides(self) -> bool:
        """Whether what is read now decides which statements run or which elements they use."""
        return self._control_depth > 0 or self._index_depth > 0

    @contextmanager
    def _index(self, declaration: Any) -> Iterator[None]:
        """A context for computing a variable, which is an index if it is an integer that doesn't hold data."""
        holds = shape_of(declaration.type).is_scalar_integer and key_of(declaration) not in self.data_integers
        self._index_depth += holds
        yield
        self._index_depth -= holds

    @contextmanager
    def _conditional(self, holds: bool = True) -> Iterator[None]:
        """A context for what may not be reached, if that ``holds`` of it."""
        self._condition_depth += holds
        yield
        self._condition_depth -= holds

    # -- expressions ------------------------------------------------------------------

    def _expression(self, cursor: Any, role: Role = "read", statement: bool = False) -> None:
        kind = cursor.kind
        level = kind not in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR)
        if level:
            self._around.append(cursor)
        if len(self._around) > self._deepest:
            start = cursor.location.offset
            raise UnsupportedConstructError(
                f"more than {self._deepest} operations of an expression lie inside of one another",
                line=line_of(self.text, start),
                construct=one_line(self.text.split("\n")[line_of(self.text, start) - 1], 120),
                remedy=f"split it, such as into sums of {self._deepest // 2} terms, each of them a statement",
            )
        if kind == CursorKind.DECL_REF_EXPR:
            self._reference(cursor, role)
        elif kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            self._binary(cursor, statement)
        elif kind == CursorKind.UNARY_OPERATOR:
            self._unary(cursor, statement)
        elif kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            base, index = cursor.get_children()
            self._expression(base, "element")
            self._controlled(index)
            self._subscript(index.extent.start.offset, index.extent.end.offset)
        elif kind == CursorKind.CALL_EXPR:
            self._call(cursor)
        elif kind == CursorKind.INTEGER_LITERAL:
            self.typed_integers.constant(cursor, self._around, self._decides)
        else:
            if kind in UNSUPPORTED:
                self._unsupported(cursor)
            elif kind == CursorKind.CSTYLE_CAST_EXPR and shape_of(cursor.type).problem is None:
                self.cast_types[cursor.type.spelling] = shape_of(cursor.type).element
            # Parentheses and implicit conversions don't change how a variable is used.
            inherited = kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR)
            chosen = kind == CursorKind.CONDITIONAL_OPERATOR
            for place, child in enumerate(cursor.get_children()):
                if child.kind.is_statement():
                    self._statement(child)
                    continue
                with self._conditional(chosen and place > 0):
                    self._expression(child, role if inherited else "read")
        if level:
            self._around.pop()

    def _binary(self, cursor: Any, statement: bool) -> None:
        operator = binary_operator(cursor)
        left, right = cursor.get_children()
        compound = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
        if operator == ASSIGN and (pointers := pointers_of(cursor)) is not None:
            message = f"{pointers[0].spelling} is made to point to what {pointers[1].spelling} points to"
            self.refuse(cursor, message, SWAPPED)
        if compound or operator == ASSIGN:
            if not statement:
                self.refuse(cursor, "an assignment inside an expression can't be modelled", _OWN_STATEMENT)
            # `x = x / 2` reads x, as `x /= 2` does.
            plain = left.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR
            updates = compound or (plain and not _named(left).isdisjoint(_named(right)))
            self._expression(left, "update" if updates else "write")
            if left.kind == CursorKind.DECL_REF_EXPR and left.referenced is not None:
                with self._index(left.referenced):
                    self._expression(right)
            else:
                self._expression(right)
            return
        if operator == COMMA:
            remedy = remedy_of_comma(cursor, self._header, self.text)
            self.refuse(cursor, "the comma operator can't be modelled", remedy)
        self._expression(left)
        with self._conditional(operator in LOGICAL):
            self._expression(right)

    def _unary(self, cursor: Any, statement: bool) -> None:
        operator = unary_operator(cursor)
        (operand,) = cursor.get_children()
        role: Role = "read"
        if operator in INCREMENTS:
            role = "update"
            if not statement:
                remedy = _COUNTED_DOWN if self._header else _OWN_STATEMENT
                if self._decides and not self._header:
                    # As a statement of its own it would decide what iterations after it use.
                    name = self.text[operand.extent.start.offset : operand.extent.end.offset]
                    remedy = _COUNTED.format(name)
                self.refuse(cursor, "an increment inside an expression can't be modelled", remedy)
        elif operator == ADDRESS_OF:
            role = "address"
            self.refuse(cursor, "taking an address can't be modelled", "use the array's elements with subscripts")
        elif operator == DEREFERENCE:
            self.refuse(cursor, "dereferencing a pointer can't be modelled", remedy_of_dereference(operand))
        self._expression(operand, role)

    def _call(self, cursor: Any) -> None:
        callee = cursor.referenced
        if callee is None or callee.kind != CursorKind.FUNCTION_DECL:
            self.refuse(cursor, "a call through a pointer can't be modelled", "call the function by its name")
        elif callee.get_usr() == self.function.get_usr():
            self.refuse(
                cursor, f"the function calls itself ({callee.spelling})", "write the recursion as loops", endless=True
            )
        else:
            reason = impurity(callee, self.main_file)
            if reason is not None:
                self.refuse(
                    cursor,
                    f"the call of {callee.spelling} can't be modelled: {reason}",
                    remedy_of(callee, self.main_file, bool(self._loop_ends)),
                )
            elif callee.spelling not in CONVERSIONS.union(self.callees) and callee.get_definition() is not None:
                self.callees[callee.spelling] = pure_function(callee)
        for argument in cursor.get_arguments():
            self._expression(argument)

    def _reference(self, cursor: Any, role: Role) -> None:
        declared = cursor.referenced
        if declared is None or declared.kind not in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            return
        variable = self.variables.get(key_of(declared))
        if variable is None:
            variable = self._declare(declared, "global")
        if self._control_depth and (variable.shape.extents or not variable.shape.is_integer):
            self._data_in_control = True
        offset = cursor.location.offset
        spelled = text_offset(cursor.location)
        if not re.match(rf"{re.escape(variable.name)}\b", self.text[spelled : spelled + len(variable.name) + 1]):
            spelled = -1
        if role == "read" and not variable.shape.extents:
            self.typed_integers.variable(cursor, spelled, self._around, self._decides)
        control = self._control_depth > 0
        lent = role == "address" and self._is_lent()
        variable.references.append(VariableUse(offset, spelled, role, control, self._condition_depth > 0, lent))

    def _is_lent(self) -> bool:
        """Whether what is read now is ``x`` in ``&x`` as an argument of a function of the C library."""
        call = self._around[-3] if self._around[2:] else None
        callee = call.referenced if call is not None and call.kind == CursorKind.CALL_EXPR else None
        return callee is not None and bool(conf.lib.clang_Location_isInSystemHeader(callee.location))

    def _subscript(self, start: int, end: int) -> None:
        """Record a subscript if it and its brackets are in the text itself, not in a macro."""
        if self.text[:start].rstrip()[-1:] == "[" and self.text[end:].lstrip()[:1] == "]":
            self.subscripts.append((start, end))

    def _declare(self, cursor: Any, storage: VariableStorage, loop_counter: bool = False) -> Variable:
        # Of what a macro stands for, too.
        in_main = cursor.location.file is not None and cursor.location.file.name == self.main_file
        variable = Variable(
            name=cursor.spelling,
            shown=cursor.spelling,
            storage=storage,
            shape=shape_of(cursor.type),
            declaration=cursor,
            offset=cursor.location.offset if in_main else -1,
            loop_counter=loop_counter,
            initialized=_is_initialized(cursor),
        )
        ends = self._loop_ends if loop_counter else self._block_ends
        if storage in ("local", "static") and ends:
            variable.scope_end = ends[-1]
        self.variables[key_of(cursor)] = variable
        return variable

    def _unsupported(self, cursor: Any) -> None:
        name, remedy = named_with_remedy(cursor.kind)
        self.refuse(cursor, f"{name} can't be modelled", remedy)

    def refuse(self, cursor: Any, message: str, remedy: str, endless: bool = False) -> None:
        """Note a construct that a Scop can't represent."""
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        kind = KINDS.get(cursor.kind, "")
        quoted = first_line(self.text[start:end])
        self.constructs.append(Construct(start, end, message, quoted, remedy, endless, kind))


def _named(expression: Any) -> set[str]:
    """The keys of what an expression names."""
    names = [each for each in preorder(expression) if each.kind == CursorKind.DECL_REF_EXPR]
    return {key_of(each.referenced) for each in names if each.referenced is not None}


def _is_initialized(declaration: Any) -> bool:
    initializer = conf.lib.clang_Cursor_getVarDeclInitializer
    initializer.argtypes, initializer.restype = [Cursor], Cursor
    return not conf.lib.clang_Cursor_isNull(initializer(declaration))
