"""The child process that runs libpet: ``python -m polydl.frontend.pet_worker REQUEST RESULT``.

pet prints, aborts and sometimes crashes on input that it does not support, and it contains its own LLVM. In a process
of its own that does no harm: the parent reads its output and its exit status. Results are JSON, with isl's objects as
strings, since the parent's isl is another copy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import cffi

from polydl.frontend.child import answer
from polydl.frontend.pet_library import open_libraries

_DECLARATIONS = """
typedef struct isl_ctx isl_ctx;
typedef struct isl_id isl_id;
typedef struct isl_set isl_set;
typedef struct isl_val isl_val;
typedef struct isl_multi_pw_aff isl_multi_pw_aff;
typedef struct isl_schedule isl_schedule;
typedef struct pet_loc pet_loc;
typedef struct pet_tree pet_tree;
typedef struct pet_expr {
  int ref; isl_ctx *ctx; uint32_t hash; int type; int type_size; unsigned n_arg; struct pet_expr **args;
  char *type_name;
} pet_expr;
struct pet_stmt { pet_loc *loc; isl_set *domain; pet_tree *body; unsigned n_arg; pet_expr **args; };
struct pet_array {
  isl_set *context; isl_set *extent; isl_set *value_bounds; char *element_type;
  int element_is_record; int element_size; int live_out; int uniquely_defined; int declared; int exposed; int outer;
};
typedef struct pet_scop {
  pet_loc *loc; isl_set *context; isl_set *context_value; isl_schedule *schedule;
  int n_type; void **types; int n_array; struct pet_array **arrays; int n_stmt; struct pet_stmt **stmts;
  int n_implication; void **implications; int n_independence; void **independences;
} pet_scop;
void free(void *);

isl_ctx *isl_ctx_alloc_with_pet_options(void);
void *isl_ctx_peek_pet_options(isl_ctx *);
int pet_options_parse(void *options, int argc, char **argv, unsigned flags);
int pet_options_set_autodetect(isl_ctx *, int);
pet_scop *pet_scop_extract_from_C_source(isl_ctx *, const char *filename, const char *function);
pet_scop *pet_scop_free(pet_scop *);
unsigned pet_loc_get_start(pet_loc *);
unsigned pet_loc_get_end(pet_loc *);
int pet_tree_get_type(pet_tree *);
pet_expr *pet_tree_expr_get_expr(pet_tree *);
int pet_expr_get_type(pet_expr *);
int pet_expr_get_n_arg(pet_expr *);
pet_expr *pet_expr_get_arg(pet_expr *, int);
pet_expr *pet_expr_free(pet_expr *);
int pet_expr_op_get_type(pet_expr *);
const char *pet_op_str(int);
int pet_expr_is_affine(pet_expr *);
int pet_expr_access_is_read(pet_expr *);
int pet_expr_access_is_write(pet_expr *);
isl_id *pet_expr_access_get_ref_id(pet_expr *);
isl_multi_pw_aff *pet_expr_access_get_index(pet_expr *);
const char *pet_expr_call_get_name(pet_expr *);
isl_val *pet_expr_int_get_val(pet_expr *);
char *pet_expr_double_get_str(pet_expr *);
int pet_stmt_is_kill(struct pet_stmt *);

char *isl_set_to_str(isl_set *);
char *isl_schedule_to_str(isl_schedule *);
char *isl_multi_pw_aff_to_str(isl_multi_pw_aff *);
char *isl_val_to_str(isl_val *);
const char *isl_id_get_name(isl_id *);
isl_id *isl_id_free(isl_id *);
isl_val *isl_val_free(isl_val *);
isl_multi_pw_aff *isl_multi_pw_aff_free(isl_multi_pw_aff *);
"""

# enum pet_expr_type of pet's public header.
_KINDS = ("access", "call", "cast", "int", "double", "op")
_TREE_IS_EXPRESSION = 0
_ALL_ARGUMENTS = 1  # ISL_ARG_ALL: an unknown option is an error


class _Pet:
    """libpet, and the conversion of its objects into plain values."""

    def __init__(self, libraries: list[str]) -> None:
        self.ffi = cffi.FFI()
        self.ffi.cdef(_DECLARATIONS)
        self.isl, self.pet = open_libraries(self.ffi, libraries)
        # Looked up now, so that a library without these functions fails at once.
        self.extract, self.print_schedule = self.pet.pet_scop_extract_from_C_source, self.isl.isl_schedule_to_str
        self.libc: Any = self.ffi.dlopen(None)

    def scops(self, file: str, function: str, autodetect: bool, options: list[str]) -> list[dict[str, Any]]:
        """The first scop of a function of ``file``, if it has one; with ``autodetect``, pet finds the region itself."""
        context = self.pet.isl_ctx_alloc_with_pet_options()
        arguments = [self.ffi.new("char[]", os.fsencode(text)) for text in ["pet", *options]]
        vector = self.ffi.new("char *[]", [*arguments, self.ffi.NULL])
        self.pet.pet_options_parse(self.pet.isl_ctx_peek_pet_options(context), len(arguments), vector, _ALL_ARGUMENTS)
        self.pet.pet_options_set_autodetect(context, int(autodetect))
        scop = self.extract(context, os.fsencode(file), os.fsencode(function))
        if scop == self.ffi.NULL:
            return []
        described = self.scop(scop)
        self.pet.pet_scop_free(scop)
        return [described]

    def scop(self, scop: Any) -> dict[str, Any]:
        return {
            "start": self.pet.pet_loc_get_start(scop.loc),
            "end": self.pet.pet_loc_get_end(scop.loc),
            "context": self.text("set", scop.context),
            "schedule": self.owned(self.print_schedule(scop.schedule)),
            "statements": [self.statement(scop.stmts[i]) for i in range(scop.n_stmt)],
        }

    def statement(self, statement: Any) -> dict[str, Any]:
        described = {
            "start": self.pet.pet_loc_get_start(statement.loc),
            "end": self.pet.pet_loc_get_end(statement.loc),
            "domain": self.text("set", statement.domain),
            "conditions": [self.expression(statement.args[i]) for i in range(statement.n_arg)],
            "kill": bool(self.pet.pet_stmt_is_kill(statement)),
            "body": None,
        }
        if self.pet.pet_tree_get_type(statement.body) == _TREE_IS_EXPRESSION:
            body = self.pet.pet_tree_expr_get_expr(statement.body)
            described["body"] = self.expression(body)
            self.pet.pet_expr_free(body)
        return described

    def expression(self, expression: Any) -> dict[str, Any]:
        kind = _KINDS[self.pet.pet_expr_get_type(expression)]
        arguments = []
        for position in range(self.pet.pet_expr_get_n_arg(expression)):
            argument = self.pet.pet_expr_get_arg(expression, position)
            arguments.append(self.expression(argument))
            self.pet.pet_expr_free(argument)
        described: dict[str, Any] = {"kind": kind, "arguments": arguments}
        if kind == "access":
            described |= self.access(expression)
        elif kind == "op":
            described["text"] = self.string(self.pet.pet_op_str(self.pet.pet_expr_op_get_type(expression)))
        elif kind == "call":
            described["text"] = self.string(self.pet.pet_expr_call_get_name(expression))
        elif kind == "cast":
            described["text"] = self.cast_type(expression)
        elif kind == "int":
            value = self.pet.pet_expr_int_get_val(expression)
            described["text"] = self.text("val", value)
            self.isl.isl_val_free(value)
        else:
            described["text"] = self.owned(self.pet.pet_expr_double_get_str(expression))
        return described

    def access(self, expression: Any) -> dict[str, Any]:
        index = self.pet.pet_expr_access_get_index(expression)
        described: dict[str, Any] = {
            "index": self.text("multi_pw_aff", index),
            "affine": self.pet.pet_expr_is_affine(expression) == 1,
            "reads": self.pet.pet_expr_access_is_read(expression) == 1,
            "writes": self.pet.pet_expr_access_is_write(expression) == 1,
        }
        self.isl.isl_multi_pw_aff_free(index)
        reference = self.pet.pet_expr_access_get_ref_id(expression)
        described["reference"] = self.string(self.isl.isl_id_get_name(reference)) if reference else ""
        self.isl.isl_id_free(reference)
        return described

    def cast_type(self, expression: Any) -> str:
        # pet has no accessor for the type's name, so that its struct is read, after a check of its layout.
        if expression.n_arg != 1 or expression.type != _KINDS.index("cast"):
            raise RuntimeError("this libpet lays out its expressions otherwise than pet 0.11")
        return self.string(expression.type_name)

    def text(self, kind: str, value: Any) -> str:
        return self.owned(getattr(self.isl, f"isl_{kind}_to_str")(value))

    def owned(self, pointer: Any) -> str:
        """The text of a C string that the caller has to free."""
        text = self.string(pointer)
        self.libc.free(pointer)
        return text

    def string(self, pointer: Any) -> str:
        if pointer == self.ffi.NULL:
            raise RuntimeError("libpet returned no text")
        content = self.ffi.string(pointer)
        assert isinstance(content, bytes)
        return content.decode()


@cache
def _opened(libraries: tuple[str, ...]) -> _Pet:
    return _Pet(list(libraries))


def prepare(request: Mapping[str, Any]) -> None:
    """Load what ``main`` will need for the request, for processes that are forked afterwards."""
    with suppress(OSError, AttributeError):
        _opened(tuple(request["libraries"]))


def _scops(request: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        pet = _opened(tuple(request["libraries"]))
    except (OSError, AttributeError) as error:
        return {"unusable": str(error)}
    # Python falls back to another place where TMPDIR names none, and the Clang inside of libpet does not.
    os.environ["TMPDIR"] = request["temporary"]
    return {"scops": pet.scops(request["file"], request["function"], request["autodetect"], request["options"])}


def main(request_path: str, result_path: str) -> None:
    """Answers the request in one file with a result in another (``polydl.frontend.child``)."""
    answer(request_path, result_path, _scops)


if __name__ == "__main__":
    main(*sys.argv[1:])
