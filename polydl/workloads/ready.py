"""Ready loop nests: the convolution layers and matrix products that papers on this subject measure.

``workload("resnet_03")`` is C with a ``#pragma scop`` and all sizes in place; ``names()`` lists what there is. The
layers are those of ten networks (``data/conv_layers.csv``), the products those of ``data/gemm_sizes.csv``. Any other
one is had by writing its sizes: ``gemm_64x96x128`` for M x N x K, ``conv_64x128x56x56x3x3s1p1`` for 64 to 128 channels,
an image of 56 x 56, a filter of 3 x 3, stride 1 and padding 1; ``g32`` and ``d2`` behind that are 32 groups and a
dilation of 2. ``dwconv_96x112x112x3x3s2p1`` is a depthwise convolution of 96 channels; those of three networks are
suites (``data/depthwise_layers.csv``). A suite may be a CSV file of such sizes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from polydl.errors import OptionError
from polydl.system.files import reason_of, text_of
from polydl.workloads.layouts import fitting_layout, usual_block
from polydl.workloads.nests import (
    PRODUCTS,
    Convolution,
    Element,
    Layout,
    MatrixProduct,
    Padding,
    convolution_nest,
    source_of,
)
from polydl.workloads.similar_names import known_workloads, those_like

Blocks = int | Sequence[int] | Literal["paper"]

_DATA = Path(__file__).parents[1] / "data"
_GEMM = re.compile(r"gemm_([1-9]\d*)x([1-9]\d*)x([1-9]\d*)", re.ASCII)
_SIZE = r"([1-9]\d*)"
_CONVOLUTION = re.compile(rf"conv_{'x'.join([_SIZE] * 6)}s{_SIZE}p(\d+)(?:g{_SIZE})?(?:d{_SIZE})?", re.ASCII)
_DEPTHWISE = re.compile(rf"dwconv_{'x'.join([_SIZE] * 5)}s{_SIZE}p(\d+)(?:d{_SIZE})?", re.ASCII)
# Columns of a CSV file of sizes, in the order in which they stand in a name.
_CONVOLUTION_COLUMNS = ("channels", "filters", "height", "width", "kernel_height", "kernel_width", "stride", "padding")
_PRODUCT_COLUMNS = ("m", "n", "k")
_CONVOLUTION_LAYOUTS: tuple[Layout, ...] = ("blocked", "nchw", "nhwc")
_GEMM_LAYOUTS: tuple[Layout, ...] = ("row-major", "blocked")
# The part of a layer's products that rows of padding must have to be worth skipping.
_MUCH_PADDING = 1 / 8


@dataclass(frozen=True)
class Workload:
    """One nest with an output of floats.

    A convolution takes the padded image, which may be larger than what the filter reaches: a stride need not come out
    even.
    """

    #: as ``--workload`` takes it
    name: str
    #: the text in C
    source: str
    #: name of its function
    function: str
    #: operations of one invocation, without the products that are skipped
    flops: int
    #: for tables, in a few words
    description: str
    #: the sizes
    problem: Convolution | MatrixProduct
    #: of all arrays
    layout: Layout
    #: (input channels, output channels) or (m, n, k); 1 where nothing is blocked
    blocks: tuple[int, ...]
    #: ``skipped`` where the image has no rows of padding, and there are no products with them
    padding: Padding = "stored"

    @property
    def weights(self) -> str:
        """The parameter that stays the same from call to call where the nest is a layer of a network."""
        return "filter" if isinstance(self.problem, Convolution) else "B"

    def write(self, directory: str | Path) -> Path:
        """Write ``<name>.c`` and return its path. Raises ResourceError if that can't be done."""
        from polydl.system.files import write_atomically

        path = Path(directory) / f"{self.name}.c"
        write_atomically(path, self.source)
        return path


@dataclass(frozen=True)
class _Layer:
    model: str
    name: str
    convolution: Convolution
    in_paper: bool
    #: channels of a block, as the paper has it; None where it has none
    block: int | None


def names() -> tuple[str, ...]:
    """Every layer and every product of the tables, in their order."""
    return (*_layers(), *_products())


def suites() -> tuple[str, ...]:
    """Names that ``suite`` knows."""
    return tuple(_suites())


def suite(name: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    """The workloads of a suite. ``others`` are suites that the caller has beside these.

    A network's name gives its layers, ``conv`` all layers, ``conv-paper`` the 201 that the paper measured and
    ``conv-other`` the rest. The depthwise layers of three more networks are ``mobilenetv2-depthwise``,
    ``efficientnet-b4-depthwise`` and ``convnext-depthwise``. ``gemm`` gives all products and ``gemm-paper`` the 8 of
    the paper's Table 1. A name that ends with ``.csv``, in letters of any case, is a file with the columns ``workload``
    (names), or ``channels``, ``filters``, ``height``, ``width``, ``kernel_height``, ``kernel_width``, ``stride``,
    ``padding``, or ``m``, ``n`` and ``k``. Raises OptionError.
    """
    if name.lower().endswith(".csv"):
        return _suite_of_file(Path(name))
    known = _suites()
    if name not in known:
        raise OptionError(f"there is no suite {name!r}", remedy=those_like(name, (*known, *others), "suites"))
    return known[name]


def layout_of(name: str) -> Layout:
    """The layout that suits a workload: blocks of channels, or pixels side by side where channels fill no vectors.

    Products are by rows. Raises OptionError for an unknown name.
    """
    layer = _layers().get(name) or _layer_of_sizes(name)
    return workload(name).layout if layer is None else fitting_layout(layer.convolution)


def workload(
    name: str,
    images: int = 1,
    layout: Layout | None = None,
    block: Blocks | None = None,
    overwrite: bool = True,
    element: Element = "float",
    padding: Padding | None = None,
) -> Workload:
    """The nest of that name. With inputs that are ``bfloat16`` it is called ``<name>_bfloat16``.

    A nest before it sets its output to zero; without ``overwrite`` it adds to its output, as the paper's do.

    ``layout`` of a convolution is ``blocked`` (the default: activations nChw_c, filters KCrs_c_k, the block of input
    channels before that of output channels), ``nchw`` (filters KCRS) or ``nhwc`` (filters RSCK); of a product
    ``row-major`` (the default) or ``blocked``. ``block`` is one block for all blocked dimensions or one for each
    (``Workload.blocks``); each must divide its dimension; ``paper`` are those that it used for its layers. By default
    blocks fill their vectors.

    The ``padding`` of a convolution's image is ``stored`` as zeros, or its rows are ``skipped``: a condition in the
    nest leaves them out, and only columns of padding are in memory. By default they are skipped where an eighth of all
    products would be with them, but not in depthwise convolutions. Raises OptionError.
    """
    if images < 1:
        raise OptionError(f"{images} images", remedy="at least 1")
    layer = _layers().get(name) or _layer_of_sizes(name)
    if layer is not None:
        return _convolution(layer, images, layout or "blocked", block, overwrite, element, padding)
    sizes = _GEMM.fullmatch(name)
    if sizes is None:
        raise OptionError(f"there is no workload {name!r}", remedy=known_workloads(name, names()))
    if images != 1:
        raise OptionError(f"{name} is a matrix product and has no images", remedy="leave out the number of images")
    if padding is not None:
        raise OptionError(f"{name} is a matrix product and has no padding", remedy="leave out the padding")
    m, n, k = (int(size) for size in sizes.groups())
    return _product(name, MatrixProduct(m, n, k), layout or "row-major", block, overwrite, element)


# ---- the tables


@lru_cache(maxsize=1)
def _layers() -> dict[str, _Layer]:
    layers = {}
    with open(_DATA / "conv_layers.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            convolution = Convolution(
                images=1,
                channels=int(row["nIfm"]),
                filters=int(row["nOfm"]),
                height=int(row["ifh"]),
                width=int(row["ifw"]),
                kernel_height=int(row["kh"]),
                kernel_width=int(row["kw"]),
                pad_height=int(row["padh"]),
                pad_width=int(row["padw"]),
                stride=int(row["stride"]),
            )
            block = int(row["gemm_block"]) if row["gemm_block"] else None
            name = row["layer"]
            layers[name] = _Layer(row["model"], name, convolution, row["in_paper_201"] == "1", block)
    return layers


def _layer_of_sizes(name: str) -> _Layer | None:
    """The layer whose sizes a name gives; None for another name. Raises OptionError where nothing comes out."""
    sizes, depthwise = _CONVOLUTION.fullmatch(name), _DEPTHWISE.fullmatch(name)
    if depthwise is not None:
        channels, *others = (int(size or 1) for size in depthwise.groups())
        filters, groups = channels, channels
        height, width, kernel_height, kernel_width, stride, padding, dilation = others
    elif sizes is not None:
        numbers = (int(size or 1) for size in sizes.groups())
        channels, filters, height, width, kernel_height, kernel_width, stride, padding, groups, dilation = numbers
    else:
        return None
    if channels % groups or filters % groups:
        raise OptionError(
            f"{groups} groups do not divide {channels} and {filters} channels", construct=name, remedy="fewer groups"
        )
    convolution = Convolution(
        images=1,
        channels=channels,
        filters=filters,
        height=height,
        width=width,
        kernel_height=kernel_height,
        kernel_width=kernel_width,
        pad_height=padding,
        pad_width=padding,
        stride=stride,
        groups=groups,
        dilation=dilation,
    )
    if convolution.output_height < 1 or convolution.output_width < 1:
        raise OptionError(f"the filter of {name} is larger than its image", remedy="a smaller filter, or more padding")
    return _Layer("", name, convolution, False, None)


def _is_workload(name: str) -> bool:
    return name in names() or any(form.fullmatch(name) for form in (_CONVOLUTION, _DEPTHWISE, _GEMM))


def _suite_of_file(path: Path) -> tuple[str, ...]:
    try:
        reader = csv.DictReader(io.StringIO(text_of(path), newline=""))
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
        columns, rows = set(reader.fieldnames), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        text = f"no sizes can be read: {reason_of(error)}"
        raise OptionError(text, file=str(path), remedy="give a CSV file") from error
    remedy = "give sizes above zero"
    if columns >= set(_CONVOLUTION_COLUMNS):
        found = ["conv_{}x{}x{}x{}x{}x{}s{}p{}".format(*(row[name] for name in _CONVOLUTION_COLUMNS)) for row in rows]
    elif columns >= set(_PRODUCT_COLUMNS):
        found = ["gemm_{}x{}x{}".format(*(row[name] for name in _PRODUCT_COLUMNS)) for row in rows]
    elif "workload" in columns:
        found = []
    else:
        wanted = " or ".join(", ".join(group) for group in (["workload"], _CONVOLUTION_COLUMNS, _PRODUCT_COLUMNS))
        raise OptionError("the file has no columns of sizes", file=str(path), line=1, remedy=f"name them {wanted}")
    named = [row.get("workload") or "" for row in rows]
    # Beside sizes, the column may say something else of a workload than its name.
    if "workload" in columns and (not found or any(map(_is_workload, named))):
        found, remedy = named, "name a ready workload, or one by its sizes, such as gemm_64x96x128"
    if not found:
        raise OptionError("the file has no rows", file=str(path), remedy="give one row for each workload")
    for line, name in enumerate(found, 2):
        if not _is_workload(name):
            raise OptionError(f"{name} is no workload", file=str(path), line=line, remedy=remedy)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=1)
def _products() -> dict[str, bool]:
    """Names of the products, and whether the paper measured them."""
    with open(_DATA / "gemm_sizes.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {f"gemm_{row['M']}x{row['N']}x{row['K']}": row["source"] == "paper_table1" for row in rows}


@lru_cache(maxsize=1)
def _depthwise_suites() -> dict[str, tuple[str, ...]]:
    """The different depthwise layers of networks, by their sizes."""
    found: dict[str, tuple[str, ...]] = {}
    with open(_DATA / "depthwise_layers.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["suite"]] = (*found.get(row["suite"], ()), row["workload"])
    return found


@lru_cache(maxsize=1)
def _suites() -> dict[str, tuple[str, ...]]:
    layers = _layers().values()
    models = dict.fromkeys(layer.model for layer in layers)
    return {
        **{model: tuple(layer.name for layer in layers if layer.model == model) for model in models},
        "conv": tuple(_layers()),
        "conv-paper": tuple(layer.name for layer in layers if layer.in_paper),
        "conv-other": tuple(layer.name for layer in layers if not layer.in_paper),
        **_depthwise_suites(),
        "gemm": tuple(_products()),
        "gemm-paper": tuple(name for name, in_paper in _products().items() if in_paper),
    }


def _checked_blocks(extents: Sequence[int], given: Blocks, name: str) -> tuple[int, ...]:
    if isinstance(given, str):
        raise OptionError(
            f"the paper has no blocks for {name}", construct=str(given), remedy="give them, or leave it out"
        )
    blocks = (given,) * len(extents) if isinstance(given, int) else tuple(given)
    if len(blocks) != len(extents):
        raise OptionError(f"{len(blocks)} blocks for {name}", remedy=f"give one, or {len(extents)}")
    for extent, block in zip(extents, blocks, strict=True):
        if block < 1 or extent % block:
            raise OptionError(f"a block of {block} does not divide {extent}", construct=name, remedy="another block")
    return blocks


def _check_layout(layout: str, known: Sequence[str], block: object, name: str) -> None:
    if layout not in known:
        raise OptionError(f"{name} has no layout {layout!r}", remedy=f"one of {', '.join(known)}")
    if layout != "blocked" and block is not None:
        raise OptionError(f"the layout {layout} of {name} has no blocks", remedy="leave out the block")


# ---- C


def _convolution(
    layer: _Layer,
    images: int,
    layout: Layout,
    block: Blocks | None,
    overwrite: bool,
    element: Element,
    padding: Padding | None,
) -> Workload:
    _check_layout(layout, _CONVOLUTION_LAYOUTS, block, layer.name)
    fields = {**vars(layer.convolution), "images": images}
    problem = Convolution(**fields)
    # Of a group; each channel of a depthwise convolution is one, and blocks hold several of them.
    inside = 1 if problem.depthwise else problem.groups
    channels, filters = problem.channels // inside, problem.filters // inside
    if layout != "blocked":
        blocks: tuple[int, ...] = (1, 1)
    elif block == "paper" and layer.block is not None:
        blocks = (layer.block, layer.block)
    elif block is not None:
        blocks = _checked_blocks((channels, filters), block, layer.name)
    else:
        blocks = (usual_block(channels), usual_block(filters))
    if padding is None:
        # A product of a depthwise convolution costs no more than the test that would leave it out.
        much = not problem.depthwise and problem.flops_on_padding >= _MUCH_PADDING * problem.flops
        padding = "skipped" if much else "stored"
    description = (
        f"{_channels_in_words(problem)}, image {problem.height}x{problem.width}, "
        f"filter {problem.kernel_height}x{problem.kernel_width}, padding {problem.pad_height}x{problem.pad_width}, "
        + ("its rows skipped, " if padding == "skipped" else "")
        + (f"dilation {problem.dilation}, " if problem.dilation > 1 else "")
        + f"stride {problem.stride}, {images} image{'s' if images > 1 else ''}, layout {layout}"
        + (f" by {' and '.join(map(str, blocks[problem.depthwise :]))}" if layout == "blocked" else "")
    )
    if problem.depthwise and blocks[0] != blocks[1]:
        raise OptionError(
            f"blocks of {blocks[0]} and {blocks[1]} channels for {layer.name}", remedy="give one: it is depthwise"
        )
    return _workload(layer.name, description, problem, layout, blocks, overwrite, element, padding)


def _channels_in_words(problem: Convolution) -> str:
    if problem.depthwise:
        return f"Depthwise, {problem.channels} channels"
    groups = f" in {problem.groups} groups" if problem.groups > 1 else ""
    return f"{problem.channels} to {problem.filters} channels{groups}"


def _product(
    name: str, problem: MatrixProduct, layout: Layout, block: Blocks | None, overwrite: bool, element: Element
) -> Workload:
    _check_layout(layout, _GEMM_LAYOUTS, block, name)
    extents = (problem.m, problem.n, problem.k)
    if layout != "blocked":
        blocks: tuple[int, ...] = (1, 1, 1)
    elif block is not None:
        blocks = _checked_blocks(extents, block, name)
    else:
        blocks = tuple(usual_block(extent) for extent in extents)
    description = f"matrix product {problem.m}x{problem.n}x{problem.k} (M x N x K), layout {layout}"
    if layout == "blocked":
        description += " by {}, {} and {}".format(*blocks)
    return _workload(name, description, problem, layout, blocks, overwrite, element)


def _workload(
    name: str,
    description: str,
    problem: Convolution | MatrixProduct,
    layout: Layout,
    blocks: tuple[int, ...],
    overwrite: bool,
    element: Element,
    padding: Padding = "stored",
) -> Workload:
    flops = problem.flops
    if isinstance(problem, Convolution):
        nest = convolution_nest(problem, layout, blocks, padding)
        if padding == "skipped":
            flops -= problem.flops_on_padding
    else:
        nest = PRODUCTS[layout](problem, blocks)
    if element != "float":
        name, description = f"{name}_{element}", f"{description}, inputs {element}"
    source = source_of(description, name, nest, overwrite, element)
    return Workload(name, source, name, flops, description, problem, layout, blocks, padding)
