"""``optimize``: a PyTorch model becomes kernels, one native call for all of them where no foreign operator remains."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, Never, SupportsIndex

import torch
from torch.utils import _pytree as pytree

from polydl.arguments import of_type, require_callable, truth_of
from polydl.emission.emit import own_directory
from polydl.emitted_names import Naming
from polydl.errors import ArgumentError, ExecutionError, OptionError, ResourceError
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.machine import Machine
from polydl.models.kernels import KernelOptions, OperatorKernel, OperatorNest, constants_are_cold
from polydl.models.layout import ValueType
from polydl.models.loaded import LoadedModel, copied
from polydl.models.mixed_precision import in_mixed_precision
from polydl.models.optimized_kernels import KnownKernels
from polydl.models.program import Lowered, lower, write_program
from polydl.models.rounding import value_type_named, with_values_of
from polydl.models.verdicts import find, keep
from polydl.torch.comparison import kept_for_speed, whole_seconds
from polydl.torch.decisions import TimingVerdict, question
from polydl.torch.export import Arguments, Exported, exported, results_on
from polydl.torch.functional import depends_on_order
from polydl.torch.report import Report, accuracy_of
from polydl.torch.running import ForeignStep, NativeStep, in_order_of, in_words, is_plain, register, run_program
from polydl.torch.segments import Kept, Segment, segments

Progress = Callable[[int, int], None]
# More than rounding in another order leaves, whatever the depth of a network, unless PyTorch's own errors are as large:
# an error, and how many times PyTorch's. bfloat16s are rounded to 8 bits behind each operator, PyTorch's as well.
_MOST = {"float": (1e-2, 100), "bfloat16": (5e-2, 4)}


class OptimizedModel:
    """A model for inputs of the shapes that it was optimized for. ``model(*inputs)`` gives what the original gives."""

    def __init__(
        self,
        signature: inspect.Signature,
        example: Arguments,
        program: Exported,
        steps: Sequence[NativeStep | ForeignStep],
        programs: Sequence[LoadedModel],
        folders: Sequence[Path],
        report: Report,
    ) -> None:
        self._signature = signature
        self._nesting = example.form
        self._inputs = program.inputs
        self._expected = [node.meta["val"] for node in program.inputs]
        self._outputs = program.outputs
        self._form = program.form
        self._steps = tuple(steps)
        self._known = {**_values_of_now(program, self._steps), **program.attributes}
        self._programs = tuple(programs)
        self._folders = tuple(folders)
        self._report = report
        #: the inputs that are no numbers, which are those of programs
        self._tensors = [place for place, wanted in enumerate(self._expected) if isinstance(wanted, torch.Tensor)]
        names = tuple(program.inputs[place].name for place in self._tensors)
        results = tuple(getattr(each, "name", None) for each in program.outputs)
        #: the step that is the whole model
        self._whole = None
        if len(self._steps) == 1 and isinstance(self._steps[0], NativeStep):
            only = self._steps[0]
            if only.inputs == names and only.outputs == results:
                self._whole = self._programs[0]

    def __repr__(self) -> str:
        native = sum(isinstance(step, NativeStep) for step in self._steps)
        return f"<OptimizedModel: {native} native calls, {len(self._steps) - native} operators of PyTorch's>"

    @property
    def native_calls(self) -> int:
        """How many compiled programs a call runs."""
        return sum(isinstance(step, NativeStep) for step in self._steps)

    @property
    def foreign_operators(self) -> int:
        """How many operators a call leaves to PyTorch."""
        return len(self._steps) - self.native_calls

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Raises ArgumentError for inputs of another number, shape, type or device, or that need gradients."""
        given = self._checked(Arguments.bound(self._signature, inputs, named))
        if self._whole is not None:
            results = run_program(self._whole, [given[place] for place in self._tensors])
            return pytree.tree_unflatten(results, self._form)
        values: dict[str, Any] = dict(self._known)
        for node, value, wanted in zip(self._inputs, given, self._expected, strict=True):
            values[node.name] = in_order_of(value, wanted)
        # The types of the model's values are those that it was optimized for.
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            for step in self._steps:
                step.run(values)
            results = [self._result(each, values) for each in self._outputs]
        return pytree.tree_unflatten(results, self._form)

    def _result(self, output: Any, values: Mapping[str, Any]) -> Any:
        """One of the results, which the caller may change, as far as the model has made it."""
        if not isinstance(output, torch.fx.Node):
            return output
        value = values[output.name]
        return value.clone() if output.name in self._known and isinstance(value, torch.Tensor) else value

    def _checked(self, arguments: Arguments) -> Sequence[Any]:
        """The values of the arguments, in the order of the program's inputs."""
        if arguments.form != self._nesting:
            names = ", ".join(node.name for node in self._inputs)
            raise ArgumentError(
                f"{len(arguments.leaves)} inputs, where the model was optimized for others",
                remedy=f"pass these, nested as in the example: {names}",
            )
        given = arguments.leaves
        for node, value, wanted in zip(self._inputs, given, self._expected, strict=True):
            if not isinstance(wanted, torch.Tensor):
                if not _is_same(value, wanted):
                    what = in_words(value) if isinstance(value, torch.Tensor) else repr(value)
                    remedy = f"pass {wanted!r}, or optimize for that value"
                    raise ArgumentError(f"input {node.name!r} is {what}", remedy=remedy)
                continue
            if not is_plain(value, wanted.dtype) or value.shape != wanted.shape:
                remedy = f"pass {wanted.dtype} of shape {tuple(wanted.shape)} on cpu, or optimize for such inputs"
                raise ArgumentError(f"input {node.name!r} is {in_words(value)}", remedy=remedy)
            if value.requires_grad and torch.is_grad_enabled():
                remedy = "call it under torch.no_grad(), or train the original model"
                raise ArgumentError(f"input {node.name!r} needs a gradient, which kernels don't compute", remedy=remedy)
        return given

    def __copy__(self) -> OptimizedModel:
        """One with the same programs, which no call changes in a way that another could see."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> OptimizedModel:
        del memo
        return copy.copy(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise OptionError(
            "an optimized model can't be pickled",
            remedy="pickle the original model; if it needs no PyTorch, save it to a folder, which polydl.load reads",
        )

    def with_report(self, report: Report) -> OptimizedModel:
        """The same model, which says something else of itself."""
        other = copy.copy(self)
        other._report = report
        return other

    def report(self) -> Report:
        """What was chosen for each operator and why, and the accuracy of the whole. ``str`` of it is a table."""
        return self._report

    def save(self, folder: str | Path) -> None:
        """Write C, library, weights and manifest to a folder, which ``polydl.load`` and C programs take.

        Raises OptionError if operators remain that only PyTorch has, and for what is no folder's name.
        """
        if self._whole is None:
            kept = ", ".join(dict.fromkeys(each.operator for each in self._report.kept))
            kept = kept or "inputs that are no tensors of floats, or results that no kernel computes"
            raise OptionError(
                f"the model needs PyTorch for {kept}", remedy="save the parts that need none as models of their own"
            )
        copied(self._folders[0], folder)


def _values_of_now(program: Exported, steps: Sequence[NativeStep | ForeignStep]) -> dict[str, torch.Tensor]:
    """Copies of the parameters that foreign operators read or that are results; native programs have their own."""
    read = [node for step in steps if isinstance(step, ForeignStep) for node in step.node.all_input_nodes]
    read += [each for each in program.outputs if isinstance(each, torch.fx.Node)]
    names = {node.name for node in read}
    return {name: value.detach().clone() for name, value in program.parameters.items() if name in names}


def _is_same(value: Any, wanted: Any) -> bool:
    """Whether a value other than a tensor is the one of the example; what is no number is the same as itself."""
    if not isinstance(value, type(wanted)):
        return False
    return bool(value == wanted) or (isinstance(wanted, float) and isnan(wanted) and isnan(value))


def optimize(
    model: torch.nn.Module,
    example_inputs: Sequence[Any] | torch.Tensor = (),
    *,
    example_keywords: Mapping[str, Any] | None = None,
    name: str = "model",
    threads: int | None = None,
    budget: str | None = None,
    numerics: Numerics = DEFAULT_NUMERICS,
    fewer_products: bool = True,
    element: str = "float",
    records: str | Path | bool = True,
    compare: bool = True,
    progress: Progress | None = None,
) -> OptimizedModel:
    """A model's kernels for inputs like the examples, on ``threads`` threads (by default, all).

    ``example_inputs`` are those by position, a single tensor or several, ``example_keywords`` those by name. ``name``
    is that of the C function that ``save`` writes. ``budget``, ``numerics``, ``fewer_products`` and ``records`` are
    those of ``polydl.optimize``, for each distinct operator. With ``element="bfloat16"``, weights of products and what
    kernels pass on to others are rounded to that type, as within ``torch.autocast``, but where floats are faster;
    inputs, results and sums stay floats. Weights are those of now: later changes to the model have no effect. With
    ``compare``, each operator is also timed in PyTorch, in float, and stays there if that is faster and makes the whole
    model faster; with ``records``, that is measured once. ``progress`` is told how many of the distinct operators are
    ready, and of how many.

    Raises OptionError for an option that is not valid, such as a name that C can't have, within ``torch.autocast``, and
    for a model in training mode, of another type than float or on another device, ArgumentError for examples that it
    fails on, UnsupportedConstructError for one that PyTorch can't export, and ExecutionError if the results are others.
    Operators that are not understood stay PyTorch's.
    """
    if not isinstance(model, torch.nn.Module):
        raise OptionError(
            f"{type(model).__name__} is no torch.nn.Module", remedy="pass a model, or wrap it in a Module"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise OptionError("the model is one of TorchScript", remedy="pass the Module that it was made from")
    function = Naming(of_type("name", name, str, remedy="pass a C identifier")).of("model")
    truth_of("compare", compare)
    require_callable("progress", progress)
    value_type = value_type_named(element)
    options = KernelOptions(budget=budget, numerics=numerics, fewer_products=fewer_products, records=records)
    signature = inspect.signature(model.forward)
    example = Arguments.bound(signature, *_examples(example_inputs, example_keywords))
    machine = Machine.detect(threads=threads)
    program = exported(model, example)
    cold = constants_are_cold(sum(each.numel() for each in program.parameters.values()), value_type, machine)
    options = replace(options, cold_constants=cold)
    known = KnownKernels(machine, options, progress)

    def parts(kept: Mapping[str, str]) -> tuple[Segment | Kept, ...]:
        steps = segments(program.nodes, program.parameters, kept)
        return tuple(
            replace(step, graph=in_mixed_precision(with_values_of(step.graph, value_type), known))
            if isinstance(step, Segment)
            else step
            for step in steps
        )

    plain = parts({})
    kernels = known.of(_nests(plain))

    def assembled(decision: TimingVerdict) -> OptimizedModel:
        steps = parts(decision.kept) if decision.kept else plain
        kernels = known.of(_nests(steps))
        return _assembled(signature, example, program, steps, kernels, decision, function, machine.threads)

    if not compare:
        return _right(model, example, assembled(TimingVerdict({}, {})), value_type)
    directory = options.directory
    digest = None if directory is None else question(program, plain, kernels, machine)
    decision = None if directory is None or digest is None else find(directory, digest, TimingVerdict)
    if decision is not None:
        return _right(model, example, assembled(decision), value_type)
    decision, fast = _decided(example, program, plain, known, assembled)
    fast = _right(model, example, fast, value_type)
    if directory is not None and digest is not None:
        try:
            keep(directory, digest, decision)
        except ResourceError as error:
            warnings.warn(f"the next time compares with PyTorch again: {error}", stacklevel=2)
    return fast


def _examples(inputs: Any, keywords: Any) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Examples by position and by name. Raises OptionError for what is no list, or no mapping."""
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        text = f"example_inputs is of type {type(inputs).__name__}, neither a tensor nor a list"
        raise OptionError(text, remedy="pass a list of the inputs in their order, and others as example_keywords")
    names = {} if keywords is None else keywords
    if not isinstance(names, Mapping) or not all(isinstance(each, str) for each in names):
        text = f"example_keywords is of type {type(keywords).__name__}, no mapping of names to inputs"
        raise OptionError(text, remedy='pass a dictionary, such as {"mask": mask}')
    return tuple(inputs), names


def _decided(
    example: Arguments,
    program: Exported,
    steps: Sequence[Segment | Kept],
    known: KnownKernels,
    assembled: Callable[[TimingVerdict], OptimizedModel],
) -> tuple[TimingVerdict, OptimizedModel]:
    """What stays PyTorch's for speed, and the model that follows from it."""
    machine = known.machine
    kept, times = kept_for_speed(steps, program, known.of(_nests(steps)), machine, known.options.cold_constants)
    native = assembled(TimingVerdict({}, times))
    if not kept:
        return TimingVerdict({}, times), native
    mixed = assembled(TimingVerdict(kept, times))
    seconds = {
        fast: whole_seconds(partial(fast, *example.positional, **example.named), machine.threads)
        for fast in (native, mixed)
    }
    if seconds[mixed] < seconds[native]:
        return TimingVerdict(kept, times), mixed
    note = (
        f"PyTorch is faster at {len(kept)} operators by themselves, not in the whole: {seconds[native] * 1e3:.3g} ms "
        f"without them, {seconds[mixed] * 1e3:.3g} ms with them"
    )
    return TimingVerdict({}, times, note), native.with_report(replace(native.report(), note=note))


def _right(model: torch.nn.Module, example: Arguments, fast: OptimizedModel, value_type: ValueType) -> OptimizedModel:
    """The optimized model with its errors in the report.

    Raises ExecutionError if its results are others, and ArgumentError if the model itself fails on the examples.
    """
    accuracy = accuracy_of(model, example, fast, value_type)
    if accuracy is None:
        # Either it takes no doubles, or nothing at all.
        results_on(model, example)
    least, times = _MOST[value_type]
    if accuracy is not None and not accuracy.error <= max(least, times * accuracy.library_error):
        text = f"the results differ from the model's in double by {accuracy.error:.2g}"
        raise ExecutionError(text, remedy="please report it, with the model")
    return fast.with_report(replace(fast.report(), accuracy=accuracy))


def _lowered(steps: Sequence[Segment | Kept]) -> dict[int, Lowered]:
    return {number: lower(step.graph) for number, step in enumerate(steps) if isinstance(step, Segment)}


def _nests(steps: Sequence[Segment | Kept]) -> list[OperatorNest]:
    return [nest for lowered in _lowered(steps).values() for nest in lowered.nests]


def _assembled(
    signature: inspect.Signature,
    example: Arguments,
    program: Exported,
    steps: Sequence[Segment | Kept],
    kernels: Mapping[OperatorNest, OperatorKernel],
    decision: TimingVerdict,
    name: str,
    threads: int,
) -> OptimizedModel:
    running: list[NativeStep | ForeignStep] = []
    programs, folders = [], []
    ordered = _needed_in_order([step.node for step in steps if isinstance(step, Kept)])
    lowered = _lowered(steps)
    for number, step in enumerate(steps):
        if isinstance(step, Kept):
            running.append(ForeignStep(step.node))
            continue
        folder = own_directory()
        write_program(lowered[number], kernels, folder, name=name, threads=threads)
        programs.append(LoadedModel(folder))
        folders.append(folder)
        inputs, outputs = (tuple(node.name for node in nodes) for nodes in (step.inputs, step.outputs))
        examples = tuple(node.meta["val"] if node in ordered else None for node in step.outputs)
        running.append(NativeStep(register(programs[-1]), inputs, outputs, examples))
    kept = [step for step in steps if isinstance(step, Kept)]
    report = Report.of([each.manifest for each in programs], kept, decision.times, decision.note)
    return OptimizedModel(signature, example, program, running, programs, folders, report)


def _needed_in_order(kept: Sequence[torch.fx.Node]) -> set[torch.fx.Node]:
    """Values whose elements foreign operators, in the order in which they run, may need where PyTorch has them.

    An operator may pass on the order of what it reads.
    """
    needed: set[torch.fx.Node] = set()
    for node in reversed(kept):
        if node in needed or depends_on_order(node):
            needed.update(node.all_input_nodes)
    return needed
