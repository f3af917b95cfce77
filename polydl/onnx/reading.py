"""ONNX models as they are stored: read, checked, and with weights in the place of those whose file is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from polydl.arguments import whole
from polydl.errors import MissingComponentError, OptionError, SourceError
from polydl.models.graph import Array
from polydl.onnx.nodes import Shape
from polydl.system.files import opened

try:
    import onnx
    from google.protobuf.json_format import ParseError as JsonError
    from google.protobuf.message import DecodeError
    from google.protobuf.text_format import ParseError as TextError
    from onnx import external_data_helper, numpy_helper
    from onnx.parser import ParseError as OnnxTextError
except ImportError:
    raise MissingComponentError(
        "the package onnx is not installed", remedy="install it with: pip install 'polydl[onnx]'"
    ) from None

OLDEST_OPSET = 7
# What its format makes of a file that isn't of that format, which ``onnx`` tells by the name's ending.
_UNREADABLE = (DecodeError, ValueError, TextError, JsonError, OnnxTextError)
# The largest model that ``onnx`` checks and infers shapes of.
_MOST_BYTES = 2**31 - 1
#: shapes of inputs by name, or that of the only one
GivenShapes = Mapping[str, Sequence[int]] | Sequence[int] | None


@dataclass(frozen=True)
class StoredModel:
    """A model as it was read."""

    #: an ``onnx.ModelProto`` with all weights in it
    model: Any
    #: where it came from, for messages
    path: str
    #: weights that were missing, and are random
    random: tuple[str, ...] = ()

    @property
    def opset(self) -> int:
        """The version of the standard's own operators."""
        return max((each.version for each in self.model.opset_import if each.domain in ("", "ai.onnx")), default=0)


def read_model(source: Any) -> StoredModel:
    """A file, or a model that was read already.

    Weights in further files that are missing are drawn at random. Raises SourceError for a file that can't be read or
    is no ONNX model.
    """
    random: list[str] = []
    if not isinstance(source, str | Path):
        model, path = source, "<model>"
        if not isinstance(model, onnx.ModelProto):
            raise OptionError(f"{type(source).__name__} is no model", remedy="pass a path or an onnx.ModelProto")
        _check_data_is_there(model, path)
    else:
        path = str(source)
        try:
            opened(Path(path)).close()  # no pipe or device, which the package would read without end
            model = onnx.load(path, load_external_data=False)
        except OSError as error:
            raise SourceError(f"can't be read: {error.strerror}", file=path, remedy="name an ONNX file") from None
        except _UNREADABLE as error:
            raise _damaged(path, error) from None
        random = _complete(model, Path(path))
    model = _with_shapes(model, path)
    try:
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise _damaged(path, error) from None
    stored = StoredModel(_named(model), path, tuple(random))
    if stored.opset < OLDEST_OPSET:
        text = f"its operators are those of version {stored.opset}; {OLDEST_OPSET} and later are understood"
        raise SourceError(text, file=path, remedy="convert it with onnx.version_converter")
    return stored


def _check_data_is_there(model: Any, path: str) -> None:
    """Raises SourceError for weights in further files, which are looked for in the working directory."""
    for tensor in _stored_elsewhere(model):
        location = external_data_helper.ExternalDataInfo(tensor).location
        if not Path(location).exists():
            text = f"it was read without its weights: {tensor.name!r} is in the file {location}"
            raise SourceError(text, file=path, remedy="pass the model's path, or load it with its data")


def _with_shapes(model: Any, path: str) -> Any:
    """A model with the shapes of its outputs, which files may leave out. Raises SourceError where none follows."""
    if not _without_shape(model):
        return model
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception as error:
        # Nothing of it is checked yet.
        raise _damaged(path, error) from None
    for name in _without_shape(inferred):
        text = f"the output {name!r} has no shape there, and none follows from its nodes"
        raise SourceError(text, file=path, remedy="export it with the shapes of its outputs, or cut it before them")
    return inferred


def _without_shape(model: Any) -> list[str]:
    """Names of outputs that are tensors, or of no known type, and have no shape."""
    kinds = [(each.name, each.type) for each in model.graph.output]
    return [
        name for name, kind in kinds
        if kind.WhichOneof("value") in (None, "tensor_type") and not kind.tensor_type.HasField("shape")
    ]  # fmt: skip


def _named(model: Any) -> Any:
    """A model with names for all parts of Split and for all first results; files may leave out what nothing needs.

    ONNX Runtime, which results are compared with, ends the process where a part has none.
    """
    without = [
        (number, position)
        for number, node in enumerate(model.graph.node)
        for position, name in enumerate(node.output)
        if not name and any(node.output) and (node.op_type == "Split" or not position)
    ]
    if not without:
        return model
    named = onnx.ModelProto()
    named.CopyFrom(model)
    known = {name for node in named.graph.node for name in (*node.input, *node.output)}
    for number, position in without:
        node = named.graph.node[number]
        name = f"{next(filter(None, node.output))}.left_out{position}"
        while name in known:
            name += "_"
        known.add(name)
        node.output[position] = name
    return named


def _damaged(path: str, error: Exception) -> SourceError:
    return SourceError(f"is no ONNX model, or damaged: {first_line(error)}", file=path, remedy="export it again")


def first_line(error: Exception) -> str:
    """What an error says first, or its name."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _complete(model: Any, path: Path) -> list[str]:
    """Put weights of further files into a model; the names of those whose file is missing, which become random."""
    random: list[str] = []
    elsewhere = _stored_elsewhere(model)
    size = sum(map(_stored_bytes, elsewhere))
    if size > _MOST_BYTES:
        raise SourceError(
            f"its weights take {size / 1e9:.1f} GB, and the package onnx works with models of up to 2 GiB",
            file=str(path),
            remedy="export its parts as models of their own, or pass the PyTorch model to polydl.torch.optimize",
        )
    for tensor in elsewhere:
        location = external_data_helper.ExternalDataInfo(tensor).location
        if (path.parent / location).exists():
            try:
                opened(path.parent / location).close()
                external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
            except (onnx.checker.ValidationError, ValueError, OSError) as error:
                raise _damaged(str(path), error) from None
        elif tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.raw_data = random_weights(tuple(tensor.dims), len(random)).tobytes()
            random.append(tensor.name)
        else:
            text = f"the file {location} with the constant {tensor.name!r} is missing"
            raise SourceError(text, file=str(path), remedy="put it beside the model")
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
    return random


def _stored_elsewhere(model: Any) -> list[Any]:
    """The constants that are in further files."""
    return [each for each in model.graph.initializer if external_data_helper.uses_external_data(each)]


def _stored_bytes(tensor: Any) -> int:
    """Of a constant in a further file; where that is not said, those of floats."""
    length = external_data_helper.ExternalDataInfo(tensor).length
    return int(length or 4 * prod(tensor.dims))


def random_weights(shape: Shape, seed: int) -> Array:
    """Weights that keep values about as large as they come in; vectors are positive, as variances must be."""
    generator = np.random.default_rng(seed)
    if len(shape) < 2:
        return generator.uniform(0.5, 1.5, shape).astype(np.float32)
    deviation = 1 / sqrt(max(1, prod(shape[1:])))
    array: Array = generator.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
    return array


def weights(stored: StoredModel) -> dict[str, Array]:
    """The model's constants. Raises SourceError for one that is sparse or has not as many bytes as its shape says."""
    arrays = {}
    for sparse in stored.model.graph.sparse_initializer:
        text = f"the constant {sparse.values.name!r} is stored as a sparse tensor"
        raise SourceError(text, file=stored.path, remedy="store it as a dense one")
    for tensor in stored.model.graph.initializer:
        try:
            arrays[tensor.name] = numpy_helper.to_array(tensor)
        except (ValueError, TypeError) as error:
            raise _damaged(stored.path, ValueError(f"the constant {tensor.name!r}: {error}")) from None
    return arrays


def input_shapes(stored: StoredModel, given: GivenShapes) -> dict[str, Shape]:
    """The shape of each input: what is given, where the model leaves it open.

    ``given`` are shapes by name, or that of the only input. Raises OptionError for a shape that doesn't fit, that is
    not known, or for an input that is not there, and SourceError for an input of another type than float.
    """
    graph = stored.model.graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = {each.name: each.type.tensor_type for each in graph.input if each.name not in constants}
    for name, tensor in inputs.items():
        if tensor.elem_type != onnx.TensorProto.FLOAT:
            kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
            text = f"the input {name!r} is of type {kind}; only float is understood"
            raise SourceError(text, file=stored.path, remedy="cut the model behind what takes it")
    shapes = _by_name(given, list(inputs))
    return {name: _shape(name, tensor, shapes.get(name)) for name, tensor in inputs.items()}


def require_shapes(given: Any) -> None:
    """Raises OptionError for what is neither a shape nor a mapping of names to shapes; None is left to the model."""
    if given is None:
        return
    for name, shape in given.items() if isinstance(given, Mapping) else [("", given)]:
        which = f"inputs[{name!r}]" if isinstance(given, Mapping) else "inputs"
        if isinstance(shape, str | bytes | Mapping) or not isinstance(shape, Collection):
            remedy = 'pass a shape, such as (1, 3, 224, 224), or one for each input: {"image": (1, 3, 224, 224)}'
            raise OptionError(f"{which} is {shape!r}, which is no shape", remedy=remedy)
        for extent in shape:
            whole(f"an extent of {which}", extent, remedy="pass integers, such as (1, 3, 224, 224)")


def _by_name(given: GivenShapes, names: list[str]) -> Mapping[str, Sequence[int]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if len(names) != 1:
            remedy = f"name the input of each: {', '.join(f'{name}=SHAPE' for name in names)}"
            raise OptionError(f"one shape, and {len(names)} inputs", remedy=remedy)
        return {names[0]: given}
    for name in given:
        if name not in names:
            raise OptionError(f"the model has no input {name!r}", remedy=f"its inputs are {', '.join(names)}")
    return given


def _shape(name: str, tensor: Any, given: Sequence[int] | None) -> Shape:
    """The shape of an input, of which the model may know some extents or not even the rank."""
    extents = list(tensor.shape.dim) if tensor.HasField("shape") else None
    # Some exporters write -1 for an extent that is open.
    known = None if extents is None else [max(each.dim_value, 0) for each in extents]
    names = [each.dim_param or "?" for each in extents or ()]
    shown = None if known is None else _in_words(str(size or name) for size, name in zip(known, names, strict=True))
    if given is None:
        if known is None or not all(known):
            text = f"the shape of the input {name!r} is open" + (f": {shown}" if shown else "")
            raise OptionError(text, remedy=f"give it, such as --input {name}=1,3,224,224")
        return tuple(known)
    # Of Python's integers, which the package onnx asks for.
    shape = tuple(map(int, given))
    fits = known is None or (len(known) == len(shape) and all(k in (0, g) for k, g in zip(known, shape, strict=True)))
    if not fits or not all(extent > 0 for extent in shape):
        text = f"the input {name!r} is of shape {shown}, and {_in_words(map(str, shape))} is given"
        raise OptionError(text, remedy="give what fits, or export the model for that shape")
    return shape


def _in_words(extents: Iterable[str]) -> str:
    return f"({', '.join(extents)})"
