"""A graph that torch.export made, brought into a form without side effects and without what is constant.

PyTorch's own way to it, ``run_decompositions``, traces the whole graph once more. It is taken only for graphs that need
it: where a value is changed that others share the memory of, or an operator of several parts has to be taken apart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node

_RANDOM = torch.Tag.nondeterministic_seeded
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
# These return their operand in evaluation mode or for p = 0, which their schemas don't say, and else draw numbers.
_DROPOUTS = tuple(f"aten::{name}dropout" for name in ("", "feature_", "alpha_", "feature_alpha_"))
# Parts of names of the operators whose results depend on how their operands lie in memory.
_OF_MEMORY = ("view", "strided", "reshape_alias", "resize")
_WITH_STATISTICS = {"aten::batch_norm": "training", "aten::instance_norm": "use_input_stats"}


def functional(program: ExportedProgram, is_known: Callable[[str], bool]) -> ExportedProgram:
    """The program without operators that change their operands, but for those of which PyTorch says where.

    ``is_known`` says whether an operator of a name need not be taken apart.
    """
    for node in list(program.graph.nodes):
        if _does_nothing(node):
            # Its result is its operand: what changes the one changes the other.
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    for node in list(program.graph.nodes):
        if str(node.target) == "aten._assert_tensor_metadata.default":
            program.graph.erase_node(node)
        elif _changes(node):
            _as_function(node, is_known)
    program.graph.eliminate_dead_code()
    if any(_changes(node) or _has_to_be_taken_apart(node, is_known) for node in program.graph.nodes):
        program.graph_module.recompile()
        return program.run_decompositions({})
    return program


def folded(graph: Graph, known: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What nodes give that depend on ``known`` alone, the values of placeholders, by their names."""
    values: dict[str, Any] = dict(known)
    results: dict[str, Any] = {}

    def value(node: Node) -> Any:
        return values[node.name]

    for node in graph.nodes:
        if node.op != "call_function" or not all(each.name in values for each in node.all_input_nodes):
            continue
        tags = getattr(node.target, "tags", ())
        if _RANDOM in tags or _changes(node):
            continue
        assert callable(node.target)
        with torch.no_grad():
            result = node.target(*torch.fx.node.map_arg(node.args, value), **torch.fx.node.map_arg(node.kwargs, value))
        values[node.name] = results[node.name] = result
    return results


def _name(node: Node) -> str:
    return str(node.target._schema.name) if isinstance(node.target, torch._ops.OpOverload) else ""


def _does_nothing(node: Node) -> bool:
    """Whether it is a dropout that drops nothing, in place or not."""
    is_dropout = _name(node).removesuffix("_") in _DROPOUTS
    return is_dropout and not (_argument(node, "train") and _argument(node, "p"))


def _argument(node: Node, name: str) -> Any:
    assert isinstance(node.target, torch._ops.OpOverload)
    for position, known in enumerate(node.target._schema.arguments):
        if known.name == name:
            return node.args[position] if position < len(node.args) else node.kwargs.get(name, known.default_value)
    return None


def _changes(node: Node) -> bool:
    """Whether an operator changes one of its operands, such as a normalization's running statistics."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    statistics = _WITH_STATISTICS.get(_name(node))
    if statistics is not None:
        return bool(_argument(node, statistics)) and _argument(node, "running_mean") is not None
    return bool(node.target._schema.is_mutable)


def _has_to_be_taken_apart(node: Node, is_known: Callable[[str], bool]) -> bool:
    """Whether it is a view that consists of others, and is not known as such."""
    return _is_unknown_composite(node, is_known) and _is_view(node)


def _is_unknown_composite(node: Node, is_known: Callable[[str], bool]) -> bool:
    """Whether it consists of other operators, and none of those that become kernels. Its schema may hide a view."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or is_known(target.__name__):
        return False
    return bool(target.has_kernel_for_dispatch_key(_COMPOSITE))


def _is_view(node: Node) -> bool:
    """Whether a result may share memory with an operand."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        # Parts of results, such as getitem's.
        return True
    return any(each.alias_info is not None for each in target._schema.returns)


def depends_on_order(node: Node) -> bool:
    """Whether an operator may refuse a value whose elements are in another order in memory, or give something else."""
    if node.target is operator.getitem:
        return False
    name = str(node.target)
    return not name.startswith("aten.") or any(part in name for part in _OF_MEMORY)


def _as_function(node: Node, is_known: Callable[[str], bool]) -> None:
    """Let an operator that changes its first operand give a new value instead, which all behind it take.

    Nothing is done where others may share the operand's memory, it is not the graph's own, or the new value would be of
    another type, as that of a comparison is.
    """
    target = node.target
    assert isinstance(target, torch._ops.OpOverload)
    packet, _, overload = target.__name__.rpartition(".")
    value = node.args[0] if node.args else None
    if not packet.endswith("_") or not isinstance(value, Node) or value.op != "call_function":
        return
    function = getattr(getattr(torch.ops.aten, packet[:-1], None), overload, None)
    if function is None or [e.name for e in function._schema.arguments] != [e.name for e in target._schema.arguments]:
        return
    before = set()
    for each in value.graph.nodes:
        if each is node:
            break
        before.add(each)
    near = (value, *(user for user in value.users if user in before))
    if any(_is_view(each) or _is_unknown_composite(each, is_known) for each in near):
        return
    if not _gives_the_same_type(function, node):
        return
    node.target = function
    value.replace_all_uses_with(node, delete_user_cb=lambda user: user is not node and user not in before)


def _gives_the_same_type(function: Callable[..., Any], node: Node) -> bool:
    """Whether a function gives what a node's operator leaves in its first operand, as far as type and shape go."""

    def value(operand: Node) -> Any:
        return operand.meta["val"]

    wanted = node.meta.get("val")
    try:
        result = function(*torch.fx.node.map_arg(node.args, value), **torch.fx.node.map_arg(node.kwargs, value))
    except Exception:
        # Of sizes that depend on data, PyTorch does not know the result.
        return False
    return (
        isinstance(wanted, torch.Tensor)
        and isinstance(result, torch.Tensor)
        and (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    )
