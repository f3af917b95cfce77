"""ONNX models drawn at random: operators with any legal attributes, values used several times, names of any kind."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

Shape = tuple[int, ...]
# Keywords of C, names that polydl makes of others, and what is no identifier.
_NAMES = (
    "int",
    "x.image",
    "x.rows",
    "int.copy",
    "größe",
    "a b",
    "0",
    "/layer/conv.weight",
    "main",
    "output0",
    "x.mean",
)
_FUNCTIONS = ("Relu", "Sigmoid", "Tanh", "HardSigmoid", "Identity", "Dropout", "LeakyRelu", "Elu", "Softplus", "Neg")
# From there on, shapes and places are operands, not attributes.
_SLICE_WITH_OPERANDS, _PAD_WITH_OPERANDS, _SPLIT_WITH_OPERANDS, _REDUCTION_WITH_OPERANDS = 10, 11, 13, 18


class RandomModel:
    """One to seven operators behind one or two inputs, all of which ONNX Runtime takes; ``model`` is the result."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = self.draw.choice((7, 9, 11, 12, 13, 17, 20, 21))
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.names = self.draw.sample(_NAMES, len(_NAMES))
        images = (self.draw.choice((1, 2)), self.draw.choice((1, 3, 4, 16, 24)), *self.draw.choices(range(4, 10), k=2))
        rows = self.draw.choice(((3, self.draw.choice((4, 8, 12))), (2, 4, 12)))
        shapes: list[Shape] = [images] if self.draw.random() < 0.7 else [rows]
        if self.draw.random() < 0.3:
            shapes.append(shapes[0])
        self.inputs: dict[str, Shape] = dict(zip("xy", shapes, strict=False))
        self.shapes: dict[str, Shape] = dict(self.inputs)
        for _ in range(self.draw.randint(1, 7)):
            self._operator()
        self.model = self._model()

    def _constant(self, *shape: int, positive: bool = False) -> str:
        array = self.numbers.standard_normal(shape).astype(np.float32) / np.float32(max(1, *shape[1:], 1) ** 0.5)
        return self._stored(np.abs(array) + np.float32(0.5) if positive else array)

    def _stored(self, array: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def _add(self, operator: str, *inputs: str, **attributes: Any) -> None:
        """Add a node, unless the standard refuses it."""
        name = self.names.pop() if self.names and self.draw.random() < 0.5 else f"value{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [name], **attributes)
        try:
            schema = onnx.defs.get_schema(operator, self.opset, "")
            types = {each: helper.make_tensor_type_proto(TensorProto.FLOAT, self.shapes[each])
                     for each in inputs if each in self.shapes}  # fmt: skip
            for each in inputs:
                if each in self.constants:
                    array = self.constants[each]
                    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                    types[each] = helper.make_tensor_type_proto(kind, array.shape)
            data = {
                each: numpy_helper.from_array(self.constants[each], each) for each in inputs if each in self.constants
            }
            opsets = [helper.make_opsetid("", self.opset)]
            onnx.checker.check_node(node, _context(self.opset))
            inferred = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=opsets)
        except (onnx.checker.ValidationError, shape_inference.InferenceError, onnx.defs.SchemaError):
            return
        shape = tuple(each.dim_value for each in inferred[name].tensor_type.shape.dim)
        if all(0 < extent < 200 for extent in shape):
            self.nodes.append(node)
            self.shapes[name] = shape

    def _operator(self) -> None:
        draw = self.draw
        value = draw.choice(list(self.shapes))
        shape = self.shapes[value]
        common = (self._function, self._with_constant, self._of_two, self._view, self._part, self._frame, self._reduced)
        images = (self._convolution, self._transposed, self._window, self._batch_norm, self._whole, self._concatenate)
        kinds = (
            (*common, *images, self._convolution, self._window)
            if len(shape) == 4
            else (
                *common[: None if shape else 3],
                *(self._rows,) * (3 if shape else 0),
                *(self._line,) * (3 if len(shape) == 3 else 0),
            )
        )
        draw.choice(kinds)(value, shape)

    def _function(self, value: str, shape: Shape) -> None:
        operator = self.draw.choice((*_FUNCTIONS, "Clip", "HardSwish", "Gelu"))
        if operator == "Clip" and self.opset < 11:
            self._add("Clip", value, **self.draw.choice(({"min": 0.0}, {"max": 0.5}, {"min": 0.0, "max": 6.0}, {})))
        elif operator == "Clip":
            low = self._stored(np.float32(-0.25)) if self.draw.random() < 0.5 else ""
            self._add("Clip", value, low, self._stored(np.float32(0.5)))
        elif operator == "Gelu":
            self._add("Gelu", value, approximate=self.draw.choice(("none", "tanh")))
        else:
            self._add(operator, value)

    def _with_constant(self, value: str, shape: Shape) -> None:
        operator = self.draw.choice(("Add", "Sub", "Mul", "Div"))
        of_channels = (shape[1], 1, 1) if len(shape) == 4 else shape[-1:]
        extents = self.draw.choice(((), (1,), (1,) * len(shape), of_channels))
        constant = self._constant(*extents, positive=True)
        self._add(operator, *((value, constant) if self.draw.random() < 0.6 else (constant, value)))

    def _of_two(self, value: str, shape: Shape) -> None:
        fitting = [name for name, other in self.shapes.items() if other in (shape, (*shape[:2], 1, 1))]
        operands = value, self.draw.choice(fitting)
        self._add(self.draw.choice(("Add", "Mul")), *self.draw.sample(operands, 2))

    def _view(self, value: str, shape: Shape) -> None:
        operator = self.draw.choice(("Flatten", "Reshape", "Transpose"))
        if operator == "Flatten":
            self._add("Flatten", value, axis=self.draw.randint(1, len(shape)))
        elif operator == "Reshape":
            whole = self.draw.choice(((-1,), (0, -1), (1, *shape), (shape[0], -1, shape[-1]), (*shape[:1], 1, 1, -1)))
            self._add("Reshape", value, self._stored(np.array(whole)))
        else:
            self._add("Transpose", value, perm=self.draw.sample(range(len(shape)), len(shape)))

    def _convolution(self, value: str, shape: Shape) -> None:
        draw, channels = self.draw, shape[1]
        groups = draw.choice([1, 1, *(count for count in (2, 3, channels) if channels % count == 0)])
        outputs = groups * draw.choice((1, 2, 4, 16 // groups or 1))
        size = draw.choice((1, 2, 3)), draw.choice((1, 3, 4))
        operands = [value, self._constant(outputs, channels // groups, *size)]
        operands += [self._constant(outputs)] if draw.random() < 0.5 else []
        attributes = {"group": groups, "strides": draw.choices((1, 2, 3), k=2), **self._padding()}
        if not attributes.get("auto_pad", "").startswith("SAME"):
            attributes["dilations"] = draw.choices((1, 1, 2), k=2)
        self._add("Conv", *operands, **attributes)

    def _transposed(self, value: str, shape: Shape) -> None:
        draw, strides = self.draw, self.draw.choices((1, 2, 3), k=2)
        operands = [
            value,
            self._constant(shape[1], draw.choice((1, 4, 16)), draw.choice((1, 2, 3)), draw.choice((2, 4))),
        ]
        more = {"output_padding": [draw.randrange(step) for step in strides]} if draw.random() < 0.4 else {}
        padding = {"pads": draw.choices((0, 0, 1), k=4)} if draw.random() < 0.7 else {}
        self._add("ConvTranspose", *operands, strides=strides, **padding, **more)

    def _padding(self) -> dict[str, Any]:
        way = self.draw.choice(("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
        if way == "NOTSET":
            return {"pads": self.draw.choices((0, 1, 2), k=4)} if self.draw.random() < 0.8 else {}
        return {"auto_pad": way}

    def _window(self, value: str, shape: Shape) -> None:
        draw, operator = self.draw, self.draw.choice(("MaxPool", "AveragePool"))
        size = draw.choices((1, 2, 3), k=2)
        attributes: dict[str, Any] = {"kernel_shape": size, **self._padding()}
        if "pads" in attributes:
            # ONNX Runtime refuses windows that may lie in the padding alone.
            attributes["pads"] = [min(pad, size[place % 2] - 1) for place, pad in enumerate(attributes["pads"])]
        # ONNX Runtime refuses windows that "same" padding would have begin inside of the image.
        most = size if attributes.get("auto_pad", "").startswith("SAME") else (3, 3)
        attributes |= {"strides": [draw.randint(1, limit) for limit in most]} if draw.random() < 0.8 else {}
        if self.opset >= 10 and draw.random() < 0.3:
            attributes["ceil_mode"] = 1
        if operator == "AveragePool" and draw.random() < 0.5:
            attributes["count_include_pad"] = 1
        self._add(operator, value, **attributes)

    def _batch_norm(self, value: str, shape: Shape) -> None:
        self._add("BatchNormalization", value, *(self._constant(shape[1], positive=n in (0, 3)) for n in range(4)))

    def _whole(self, value: str, shape: Shape) -> None:
        operator = self.draw.choice(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean"))
        if operator != "ReduceMean":
            self._add(operator, value)
        elif self.opset < 18:
            self._add("ReduceMean", value, axes=self.draw.choice(([2, 3], [-1, -2])), keepdims=self.draw.choice((0, 1)))
        else:
            axes = self._stored(np.array(self.draw.choice(([2, 3], [-1, -2]))))
            self._add("ReduceMean", value, axes, keepdims=self.draw.choice((0, 1)))

    def _concatenate(self, value: str, shape: Shape) -> None:
        fitting = [name for name, other in self.shapes.items()
                   if len(other) == 4 and (other[0], other[2:]) == (shape[0], shape[2:])]  # fmt: skip
        self._add(
            "Concat", *self.draw.sample(fitting, self.draw.randint(1, len(fitting))), axis=self.draw.choice((1, -3))
        )

    def _part(self, value: str, shape: Shape) -> None:
        """Elements along a dimension: some of them, or twice as many."""
        draw, axis = self.draw, self.draw.randrange(len(shape))
        if draw.random() < 0.4:
            others = [name for name, other in self.shapes.items() if (*other[:axis], *other[axis + 1 :])
                      == (*shape[:axis], *shape[axis + 1 :]) and len(other) == len(shape)]  # fmt: skip
            self._add("Concat", value, draw.choice(others), axis=draw.choice((axis, axis - len(shape))))
            return
        first = draw.randrange(shape[axis])
        last = draw.randint(first + 1, shape[axis])
        if self.opset < _SLICE_WITH_OPERANDS:
            self._add("Slice", value, starts=[first], ends=[last], axes=[axis])
        else:
            operands = [[first], [last], [axis], [draw.choice((1, 1, 2))]]
            self._add("Slice", value, *(self._stored(np.array(each)) for each in operands))

    def _frame(self, value: str, shape: Shape) -> None:
        pads = self.draw.choices((0, 0, 1, 2), k=2 * len(shape))
        fill = self.draw.choice((0.0, 0.0, 0.5))
        if self.opset < _PAD_WITH_OPERANDS:
            self._add("Pad", value, pads=pads, value=fill)
        else:
            self._add("Pad", value, self._stored(np.array(pads)), self._stored(np.float32(fill)))

    def _reduced(self, value: str, shape: Shape) -> None:
        draw = self.draw
        operator = draw.choice(("ReduceMean", "ReduceSum", "ReduceMax"))
        axes = draw.sample(range(len(shape)), draw.randint(1, len(shape)))
        operands = self.opset >= (_SPLIT_WITH_OPERANDS if operator == "ReduceSum" else _REDUCTION_WITH_OPERANDS)
        if operands:
            self._add(operator, value, self._stored(np.array(axes)), keepdims=draw.choice((0, 1)))
        else:
            self._add(operator, value, axes=axes, keepdims=draw.choice((0, 1)))

    def _line(self, value: str, shape: Shape) -> None:
        """A convolution, a pooling or a normalization of one dimension."""
        draw, channels = self.draw, shape[1]
        kind = draw.choice(("Conv", "Conv", "MaxPool", "InstanceNormalization", "BatchNormalization"))
        if kind == "Conv":
            filters = self._constant(draw.choice((4, 16)), channels, draw.choice((1, 3)))
            self._add("Conv", value, filters, pads=draw.choices((0, 1), k=2), strides=[draw.choice((1, 2))])
        elif kind == "MaxPool":
            self._add("MaxPool", value, kernel_shape=[2], strides=[draw.choice((1, 2))])
        elif kind == "InstanceNormalization":
            self._add(kind, value, self._constant(channels), self._constant(channels))
        else:
            self._batch_norm(value, shape)

    def _rows(self, value: str, shape: Shape) -> None:
        draw, outputs = self.draw, self.draw.choice((1, 5, 8))
        operator = draw.choice(("Gemm", "MatMul", "Softmax", "LayerNormalization"))
        if operator == "Gemm":
            turned = draw.choice((0, 1))
            weight = self._constant(*((outputs, shape[-1]) if turned else (shape[-1], outputs)))
            bias = self._constant(*draw.choice(((outputs,), (1, outputs), (1,), (shape[0], 1))))
            self._add(
                "Gemm", value, weight, bias, transB=turned, alpha=draw.choice((1.0, 0.5)), beta=draw.choice((1.0, 2.0))
            )
        elif operator == "MatMul":
            self._add("MatMul", value, self._constant(shape[-1], outputs))
        elif operator == "Softmax":
            last = len(shape) - 1
            self._add(
                "Softmax", value, axis=draw.choice((-1, last, draw.randint(0, last) if self.opset >= 13 else last))
            )
        else:
            constants = self._constant(shape[-1]), self._constant(shape[-1])
            self._add("LayerNormalization", value, *constants[: draw.choice((1, 2))])

    def _model(self) -> Any:
        computed = [name for node in self.nodes for name in node.output]
        results = (
            [computed[-1], *self.draw.sample(computed[:-1], self.draw.randint(0, min(2, len(computed) - 1)))]
            if computed
            else ["x"]
        )
        self.draw.shuffle(results)
        graph = helper.make_graph(
            self.nodes,
            "random",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name]) for name in results],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def _context(opset: int) -> Any:
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = 8, {"": opset}
    return context
