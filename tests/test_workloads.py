"""Every workload's C says what its table says: sizes, blocks, operations; and it parses and compiles cleanly."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import pytest
from marks import parametrized

import polydl
from polydl.errors import OptionError
from polydl.workloads import Convolution, Layout, Workload, layout_of, names, suite, suites, workload

MODELS = suites()[:10]
# The two oldest networks' first layers have 3 channels; the others stand for what else there is.
ODD = ("xception_08", "googlenetv3_20", "googlenetv3_21", "maskrcnn_45", "mobilenet_11", "yolov2_14")
# A depthwise one, one in groups, and one whose filter reaches over more pixels than it has.
DEPTHWISE = ("dwconv_96x112x112x3x3s2p1", "conv_64x128x14x14x3x3s1p1g4", "dwconv_24x9x8x5x3s1p2d2")
SAMPLE: list[tuple[str, Layout]] = [
    *((suite(model)[place], "blocked") for model in MODELS for place in (0, -1)),
    *((name, "blocked") for name in ODD),
    *(("resnet_05", layout) for layout in ("nchw", "nhwc")),
    *((name, "row-major") for name in suite("gemm")),
    ("gemm_84x1024x4096", "blocked"),
    *((name, layout) for name in DEPTHWISE for layout in ("blocked", "nchw", "nhwc")),
]


def test_the_tables_are_complete() -> None:
    assert len(suite("conv")) == 234
    assert len(suite("conv-paper")) == 201
    assert set(suite("conv-paper")) | set(suite("conv-other")) == set(suite("conv"))
    assert sum(len(suite(model)) for model in MODELS) == 234
    assert len(suite("gemm")) == 18
    assert len(suite("gemm-paper")) == 8
    assert names() == (*suite("conv"), *suite("gemm"))


@parametrized(("name", "layout"), SAMPLE, quick=5)
def test_the_nest_parses_and_does_the_work_it_says(name: str, layout: Layout, tmp_path: Path) -> None:
    made = workload(name, layout=layout)
    scop = polydl.parse(made.write(tmp_path), function=made.function)
    assert scop.flops == made.flops
    assert made.padding == "skipped" or made.flops == made.problem.flops
    assert [scop.array(parameter.array).elements for parameter in scop.function.parameters] == _elements(made)
    assert [parameter.is_const for parameter in scop.function.parameters] == [False, True, True]


@pytest.mark.parametrize(
    ("name", "layout"), [("resnet_05", "blocked"), ("resnet_05", "nhwc"), ("gemm_64x48x32", "row-major")]
)
def test_inputs_may_be_bfloat16(name: str, layout: Layout, tmp_path: Path) -> None:
    made, floats = workload(name, layout=layout, element="bfloat16"), workload(name, layout=layout)
    assert made.name == made.function == f"{name}_bfloat16"
    scop = polydl.parse(made.write(tmp_path))
    assert scop.flops == made.flops == floats.flops
    assert [scop.array(parameter.array).element for parameter in scop.function.parameters] == [
        "float",
        "bfloat16",
        "bfloat16",
    ]
    assert [array.extents for array in scop.arrays] == [
        array.extents for array in polydl.parse(floats.write(tmp_path)).arrays
    ]


@pytest.mark.parametrize("layout", ["blocked", "nchw", "nhwc"])
def test_rows_of_padding_may_be_skipped(layout: Layout, tmp_path: Path) -> None:
    made, stored = (workload("resnet_17", layout=layout, padding=padding) for padding in ("skipped", "stored"))
    scop = polydl.parse(made.write(tmp_path))
    rows = 7 * 3 - 2
    assert scop.flops == made.flops == stored.flops // 21 * rows
    assert scop.array("input").elements == 7 * 9 * 512
    assert scop.statements[-1].box is None
    assert polydl.parse(stored.write(tmp_path)).array("input").elements == 9 * 9 * 512


def test_rows_of_padding_are_skipped_where_they_are_many() -> None:
    """5 rows of a filter on 7 rows of an image: 6 of 35 are padding."""
    assert workload("googlenetv1_49").padding == "skipped"
    assert {workload(name).padding for name in ("resnet_17", "googlenetv1_37", "resnet_03")} == {"stored"}
    with pytest.raises(OptionError, match="has no padding"):
        workload("gemm_4x4x4", padding="stored")


def _elements(workload: Workload) -> list[int]:
    p = workload.problem
    if not isinstance(p, Convolution):
        return [p.m * p.n, p.m * p.k, p.k * p.n]
    rows = p.height + (2 * p.pad_height if workload.padding == "stored" else 0)
    padded = rows * (p.width + 2 * p.pad_width)
    return [
        p.images * p.filters * p.output_height * p.output_width,
        p.filters * (p.channels // p.groups) * p.kernel_height * p.kernel_width,
        p.images * p.channels * padded,
    ]


def test_no_layer_reads_beyond_its_padded_image_and_blocks_divide() -> None:
    names = suite("conv")
    assert names
    for name in names:
        made = workload(name)
        p = made.problem
        assert isinstance(p, Convolution)
        assert (p.output_height - 1) * p.stride + p.kernel_height <= p.height + 2 * p.pad_height
        assert (p.output_width - 1) * p.stride + p.kernel_width <= p.width + 2 * p.pad_width
        assert (p.channels % made.blocks[0], p.filters % made.blocks[1]) == (0, 0), name


@pytest.mark.native
def test_compilers_have_nothing_to_say(tmp_path: Path) -> None:
    sources = [str(workload(name, layout=layout).write(tmp_path / layout)) for name, layout in SAMPLE]
    flags = ["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-fsyntax-only", "-fopenmp"]
    done = subprocess.run(["gcc", *flags, *sources], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("resnet_03", (64, 64)),
        ("googlenetv1_15", (48, 64)),
        ("googlenetv1_17", (48, 208)),
        ("resnet_00", (3, 64)),
        ("overfeat_01", (3, 48)),
        ("xception_08", (91, 91)),
        ("fastrcnn_22", (64, 24)),
        ("maskrcnn_46", (64, 27)),
        ("mobilenet_11", (64, 5)),
        ("gemm_84x1024x4096", (42, 64, 64)),
        ("gemm_2048x1x128", (64, 1, 64)),
    ],
)
def test_blocks_fill_vectors(name: str, blocks: tuple[int, ...]) -> None:
    assert workload(name, layout="blocked").blocks == blocks


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("resnet_03", "blocked"),
        ("conv_512x6x16x16x1x1s1p0", "nchw"),
        ("conv_256x81x28x28x1x1s1p0", "nchw"),
        # In steps of two the pixels are apart, and seven of them fill a vector no better than six channels do.
        ("conv_512x6x16x16x1x1s2p0", "blocked"),
        ("conv_512x6x7x7x3x3s1p1", "nchw"),
        ("conv_512x12x7x7x3x3s1p1", "blocked"),
        ("conv_512x12x32x32x3x3s1p1", "nchw"),
        ("conv_64x62x56x56x1x1s1p0", "blocked"),
        ("dwconv_6x112x112x3x3s1p1", "blocked"),
        ("gemm_64x96x128", "row-major"),
    ],
)
def test_pixels_fill_vectors_where_channels_do_not(name: str, layout: Layout) -> None:
    assert layout_of(name) == layout


def test_the_blocks_of_the_paper_can_be_had() -> None:
    assert workload("googlenetv1_17", block="paper").blocks == (16, 16)
    assert workload("resnet_03", block="paper").blocks == (64, 64)
    for name in ("resnet_00", "gemm_4x4x4"):
        with pytest.raises(OptionError, match="the paper has no blocks"):
            workload(name, layout="blocked", block="paper")


def test_the_sizes_of_one_layer() -> None:
    made = workload("resnet_05", images=28)
    assert "float output[28][8][28][28][64]" in made.source
    assert "const float filter[8][4][1][1][64][64]" in made.source
    assert "const float input[28][4][56][56][64]" in made.source, "a row of the image is longer than the stride needs"
    assert "input[img][ifm_tile][oj * 2][oi * 2][ifm]" in made.source
    assert made.flops == 2 * 28 * 512 * 28 * 28 * 256


def test_blocks_can_be_given() -> None:
    made = workload("resnet_03", block=(16, 32))
    assert made.blocks == (16, 32)
    assert "float output[1][2][56][56][32]" in made.source
    assert workload("resnet_03", block=32).blocks == (32, 32)
    assert workload("gemm_12x10x8", layout="blocked", block=(3, 5, 2)).blocks == (3, 5, 2)


def test_any_product_has_a_name() -> None:
    made = workload("gemm_7x11x13")
    assert made.flops == 2 * math.prod((7, 11, 13))
    assert "void gemm_7x11x13(float C[7][11]" in made.source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "resnet_3"}, "did you mean .*resnet_03"),
        ({"name": "gemm_4096x4096"}, "did you mean gemm_4096x4096x4096"),
        ({"name": "gemm_0x1x1"}, "no workload"),
        ({"name": "resnet_03", "images": 0}, "0 images"),
        ({"name": "resnet_03", "layout": "row-major"}, "one of blocked, nchw, nhwc"),
        ({"name": "gemm_8x8x8", "layout": "nchw"}, "one of row-major, blocked"),
        ({"name": "gemm_8x8x8", "images": 2}, "has no images"),
        ({"name": "resnet_03", "layout": "nchw", "block": 16}, "has no blocks"),
        ({"name": "resnet_03", "block": 48}, "48 does not divide 64"),
        ({"name": "resnet_03", "block": (16, 16, 16)}, "3 blocks"),
        ({"name": "resnet_03", "block": 0}, "0 does not divide"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        workload(**arguments)  # type: ignore[arg-type]
    assert re.search(message, str(raised.value)), str(raised.value)


def test_any_convolution_has_a_name(tmp_path: Path) -> None:
    known, sized = (workload(name) for name in ("resnet_03", "conv_64x64x56x56x3x3s1p1"))
    assert sized.problem == known.problem
    assert sized.source.replace(sized.function, known.function).split() == known.source.split()
    strided = workload("conv_3x16x9x10x3x2s2p0", layout="nchw")
    assert polydl.parse(strided.write(tmp_path)).flops == strided.flops == 2 * 3 * 16 * 4 * 5 * 3 * 2
    with pytest.raises(OptionError, match="larger than its image"):
        workload("conv_3x16x2x2x5x5s1p1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m,n,k\n4,5,6\n7,8,9\n4,5,6\n", ("gemm_4x5x6", "gemm_7x8x9")),
        ("M,N,K,workload\n4,5,6,translation\n", ("gemm_4x5x6",)),
        ("what,workload\nfirst,resnet_03\nsecond,gemm_4x5x6\n", ("resnet_03", "gemm_4x5x6")),
        (
            "channels,filters,height,width,kernel_height,kernel_width,stride,padding\n3,64,224,224,7,7,2,3\n",
            ("conv_3x64x224x224x7x7s2p3",),
        ),
    ],
)
def test_a_suite_may_be_a_file_of_sizes(text: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(text)
    assert suite(str(path)) == expected
    assert suite(str(path.rename(tmp_path / "SIZES.CSV"))) == expected


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no columns of sizes"),
        ("m,n\n4,5\n", 1, "no columns of sizes"),
        ("m,n,k\n", None, "no rows"),
        ("m,n,k\n4,5,6\n4,5,0\n", 3, "gemm_4x5x0 is no workload"),
        ("what,workload\nfirst,translation\n", 2, "(?s)translation is no workload.*name a ready workload"),
    ],
)
def test_a_file_without_sizes_is_refused(text: str, line: int | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(text)
    with pytest.raises(OptionError, match=message) as raised:
        suite(str(path))
    assert (raised.value.file, raised.value.line) == (str(path), line)
    with pytest.raises(OptionError, match="no sizes can be read"):
        suite(str(tmp_path / "none.csv"))


def test_an_unknown_suite_is_named() -> None:
    with pytest.raises(OptionError, match="did you mean resnet"):
        suite("resnett")


@pytest.mark.parametrize(("name", "layout"), [("gemm_12x10x8", "row-major"), ("mobilenet_11", "nhwc")])
def test_overwriting_sets_the_output_to_zero_first(tmp_path: Path, name: str, layout: Layout) -> None:
    adding = workload(name, layout=layout, overwrite=False)
    made = workload(name, layout=layout)
    assert made.flops == adding.flops
    scop = polydl.parse(made.write(tmp_path), function=made.function)
    zeroing, product = scop.statements
    assert [access.array for access in zeroing.writes] == [access.array for access in product.writes]
    assert zeroing.instances == scop.array(zeroing.writes[0].array).elements
    assert not zeroing.reads


def test_sizes_of_depthwise_and_grouped_convolutions() -> None:
    sizes = {"images": 1, "height": 56, "width": 48, "kernel_height": 5, "kernel_width": 3, "stride": 2}
    padding = {"pad_height": 2, "pad_width": 2}
    made = workload("dwconv_96x56x48x5x3s2p2").problem
    assert made == Convolution(channels=96, filters=96, groups=96, dilation=1, **sizes, **padding)
    assert isinstance(made, Convolution)
    assert made.depthwise
    assert (made.output_height, made.output_width, made.flops) == (28, 25, 2 * 96 * 28 * 25 * 15)
    grouped = workload("conv_64x96x56x48x5x3s2p2g32d3").problem
    assert grouped == Convolution(channels=64, filters=96, groups=32, dilation=3, **sizes, **padding)
    assert isinstance(grouped, Convolution)
    assert not grouped.depthwise
    assert (grouped.output_height, grouped.flops) == (24, 2 * 96 * 24 * grouped.output_width * 2 * 15)


def test_layers_of_three_networks_are_depthwise() -> None:
    counts = {"mobilenetv2": 10, "efficientnet-b4": 14, "convnext": 4}
    for network, count in counts.items():
        layers = suite(f"{network}-depthwise")
        assert len(set(layers)) == count
        for name in layers:
            problem = workload(name).problem
            assert isinstance(problem, Convolution)
            assert problem.depthwise
            assert problem.output_height == -(-problem.height // problem.stride)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("conv_64x96x9x9x3x3s1p1g5", "5 groups do not divide 64 and 96 channels"),
        ("dwconv_64x9x9x3x3s1p0d5", "larger than its image"),
        ("dwconv_64x9x9x3x3", "there is no workload"),
    ],
)
def test_sizes_that_go_together_badly_are_refused(name: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        workload(name)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("conv_64x128x56", "name it by its sizes: conv_CxKxHxWxRxSsTpP"),
        ("dwconv_64x9x9x3x3", " by its sizes: dwconv_CxHxWxRxSsTpP"),
        ("gemm_64x96", " by their sizes: gemm_MxNxK"),
        ("gemm_0x1x1", "sizes begin at 1: gemm_MxNxK"),
        ("gemm_10x1x0", "sizes begin at 1: gemm_MxNxK"),
        ("conv_64x128x56x56x3x3s0p0", "sizes begin at 1, the padding at 0: conv_CxK"),
        ("conv_64x128x56x56x3x3p0", "name it by its sizes: conv_CxK"),
        ("resnett_03", "did you mean resnet_03"),
        ("resnett_03", "others are named by their sizes: conv_CxKxHxWxRxSsTpP"),
    ],
)
def test_a_wrong_name_is_answered_with_the_pattern_of_names(name: str, remedy: str) -> None:
    with pytest.raises(OptionError, match="there is no workload") as raised:
        workload(name)
    assert remedy in (raised.value.remedy or "")
    assert workload("conv_64x128x56x56x3x3s1p1").name
    assert workload("dwconv_96x56x56x3x3s1p1").name


def test_a_depthwise_convolution_has_one_block() -> None:
    assert workload("dwconv_96x9x9x3x3s1p1", block=16).blocks == (16, 16)
    assert workload("conv_64x96x9x9x3x3s1p1g2", block=(16, 24)).blocks == (16, 24)
    with pytest.raises(OptionError, match="blocks of 16 and 32 channels"):
        workload("dwconv_96x9x9x3x3s1p1", block=(16, 32))
