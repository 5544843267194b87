#!/usr/bin/env python3
"""Writes ops/: one small model per ONNX op and version, and what ONNX Runtime computes with it.

    python3 test/models/ops.py [OP...]

Needs numpy, onnx, onnxruntime. One file holds several variants of
its op (attributes, ranks, negative axes) as outputs y0, y1, …; shapes, axes and the like are initializers, as
exporters write them. The table CASES below is the place to add an op.
"""

import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPS = pathlib.Path(__file__).resolve().parent / "ops"
RANDOM = np.random.default_rng(3)


def floats(*shape):
    """Normal float32 values, rounded so that files compress and sums stay near exact."""
    return (np.round(RANDOM.standard_normal(shape) * 64) / 64).astype(np.float32)


def integers(low, high, *shape):
    return RANDOM.integers(low, high, shape, dtype=np.int64)


def i64(*values):
    """A constant list of integers."""
    return np.array(values, np.int64)


def scalar(value, kind=np.float32):
    return np.array(value, kind)


# Graph inputs, by name; a name in a variant below means one of these. Any other array is an initializer.
POOL = {
    "x": floats(2, 3, 4),
    "y": floats(2, 3, 4),
    "row": floats(4),
    "column": floats(3, 1),
    "wide": floats(2, 5, 8),
    "positive": np.abs(floats(2, 3, 4)) + np.float32(0.25),
    "unit": np.clip(floats(2, 3, 4) / 4, -0.9, 0.9),
    "a": floats(3, 5),
    "b": floats(5, 4),
    "at": floats(5, 3),
    "bt": floats(4, 5),
    "c": floats(3, 4),
    "batched": floats(2, 3, 5),
    "heads": floats(2, 2, 3, 5),
    "heads2": floats(2, 2, 5, 4),
    "v": floats(5),
    "image": floats(2, 4, 7, 6),
    "image3": floats(2, 3, 8, 8),
    "filter": floats(6, 4, 3, 3),
    "filter1": floats(5, 4, 1, 1),
    "grouped": floats(6, 2, 3, 3),
    "depthwise": floats(4, 1, 3, 3),
    "bias6": floats(6),
    "signal": floats(2, 3, 9),
    "filter1d": floats(4, 3, 3),
    "upfilter": floats(4, 3, 3, 3),
    "scale4": floats(4) + np.float32(1.5),
    "shift4": floats(4),
    "mean4": floats(4),
    "var4": np.abs(floats(4)) + np.float32(0.5),
    "scale8": floats(8),
    "shift8": floats(8),
    "i": integers(-9, 9, 2, 3, 4),
    "j": integers(1, 9, 2, 3, 4),
    "p": RANDOM.random((2, 3, 4)) < 0.5,
    "q": RANDOM.random((2, 3, 4)) < 0.5,
    "rows": integers(-5, 5, 2, 3),
    "table": floats(5, 6),
    "elements": integers(-3, 3, 2, 3, 4),
    "labels": integers(0, 6, 5),
    "updates": floats(2, 3, 4),
    "patch": floats(2, 6),
    "odd": np.array([0.5, 1.5, -0.5, -1.5, 2.5, np.inf, -np.inf, np.nan, 0.0], np.float32),
    "near": floats(2, 3, 4) + np.float32(0.001),
    "square": floats(2, 5, 5),
    "ones": np.ones((2, 1, 4), np.float32),
}


def v(*inputs, out=1, **attributes):
    """A variant: its inputs (names of POOL, arrays or None), number of outputs (or which) and attributes."""
    return inputs, out, attributes


def unary(*names, x="x"):
    return {(name, 13): [v(x)] for name in names}


def binary(*names, a="x", b="y"):
    return {(name, 13): [v(a, b), v(a, "row"), v("column", a)] for name in names}


# Of operators on regions and words; made without RANDOM, on which all that is below depends.
IMAGES = (np.arange(2 * 2 * 6 * 5, dtype=np.float32).reshape(2, 2, 6, 5) * 7) % 11
BOXES = np.array([[0, 0, 4, 5], [1, 2, 3.5, 4.5], [-2, 3, 9, 7.5]], np.float32)
WORDS = np.array([[1, 2, 3, 1, 2, 4], [2, 2, 3, 4, 1, 1]], np.int64)
GRAMS = {
    "ngram_counts": [0, 2],
    "ngram_indexes": [0, 1, 2, 3, 4],
    "pool_int64s": [1, 4, 1, 2, 2, 3, 2, 4],
    "min_gram_length": 1,
    "max_gram_length": 2,
}

CASES = {
    **unary(
        "Abs",
        "Neg",
        "Exp",
        "Erf",
        "Tanh",
        "Sigmoid",
        "Relu",
        "Softplus",
        "Softsign",
        "Sin",
        "Cos",
        "Floor",
        "Ceil",
        "Sign",
        "Identity",
    ),
    **unary("Log", "Sqrt", "Reciprocal", x="positive"),
    **unary("Asin", "Acos", "Atan", "Atanh", x="unit"),
    **unary("Tan", "Sinh", "Cosh", "Asinh"),
    **unary("Round", "IsNaN", "IsInf", x="odd"),
    **unary("Not", x="p"),
    **binary("Add", "Sub", "Mul", "Max", "Min"),
    ("Add", 11): [v("i", "j"), v("x", scalar(2.5))],
    ("Div", 13): [v("x", "positive"), v("positive", "positive"), v("i", "j"), v("x", scalar(8.0))],
    ("Pow", 13): [
        v("positive", "x"),
        v("x", scalar(2.0)),
        v("x", scalar(3, np.int64)),
        v("positive", scalar(-0.5)),
    ],
    ("Mod", 13): [v("i", "j"), v("x", "positive", fmod=1)],
    **{
        (n, 13): [v("i", "j"), v("x", "row"), v("x", "x")]
        for n in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
    },
    **{(n, 13): [v("p", "q")] for n in ("And", "Or", "Xor")},
    ("Where", 13): [v("p", "x", "y"), v("p", "x", scalar(-np.inf)), v("p", "row", "column")],
    ("Sum", 13): [v("x", "y", "row"), v("x")],
    ("Mean", 13): [v("x", "y", "positive")],
    ("PRelu", 16): [v("x", "row"), v("x", floats(3, 1))],
    ("LeakyRelu", 16): [v("x"), v("x", alpha=0.2)],
    ("Elu", 13): [v("x"), v("x", alpha=0.5)],
    ("Selu", 13): [v("x")],
    ("Celu", 13): [v("x", alpha=0.7)],
    ("ThresholdedRelu", 13): [v("x", alpha=0.3)],
    ("HardSigmoid", 13): [v("x"), v("x", alpha=1 / 6, beta=0.5)],
    ("HardSwish", 14): [v("x")],
    ("Mish", 18): [v("x")],
    ("Gelu", 20): [v("x"), v("x", approximate="tanh")],
    ("Clip", 11): [v("x", scalar(-0.5), scalar(0.5)), v("x", scalar(0.0)), v("x", None, scalar(1.0))],
    ("Clip", 13): [v("x", scalar(0.0), scalar(6.0)), v("x")],
    ("Cast", 13): [
        v("x", to=TensorProto.INT64),
        v("i", to=TensorProto.FLOAT),
        v("x", to=TensorProto.BOOL),
        v("p", to=TensorProto.FLOAT),
        v("x", to=TensorProto.DOUBLE),
        v("x", to=TensorProto.INT32),
    ],
    ("Cast", 19): [v("x", to=TensorProto.INT64), v("p", to=TensorProto.INT64)],
    ("CastLike", 15): [v("i", "x"), v("x", "i")],
    ("Dropout", 11): [v("x"), v("x", ratio=0.3)],
    ("Dropout", 13): [v("x"), v("x", scalar(0.3)), v("x", scalar(0.3), scalar(False, np.bool_))],
    # contraction
    ("MatMul", 13): [
        v("a", "b"),
        v("batched", "b"),
        v("heads", "heads2"),
        v("a", "v"),
        v("v", "b"),
        v("v", "v"),
        v("batched", "heads2"),
    ],
    ("Gemm", 11): [
        v("a", "b", "c"),
        v("a", "bt", "row", transB=1),
        v("at", "b", transA=1, alpha=0.5),
        v("a", "b", scalar(2.0), beta=0.5),
    ],
    ("Gemm", 13): [v("a", "bt", transB=1), v("at", "bt", "column", transA=1, transB=1)],
    ("Einsum", 12): [
        v("heads", "heads2", equation="bhik,bhkj->bhij"),
        v("a", "b", equation="ik,kj->ji"),
        v("batched", "batched", equation="bik,bjk->bij"),
        v("x", equation="bij->bj"),
        v("x", "row", equation="...j,j->...j"),
    ],
    ("Conv", 11): [
        v("image", "filter", "bias6", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        v("image", "filter", strides=[2, 2]),
        v("image", "filter", pads=[1, 0, 2, 1], strides=[2, 1]),
        v("image", "filter", dilations=[2, 2], pads=[2, 2, 2, 2]),
        v("image", "grouped", group=2),
        v("image", "depthwise", group=4, pads=[1, 1, 1, 1]),
        v("image", "filter1"),
        v("image", "filter", auto_pad="SAME_UPPER", strides=[2, 2]),
        v("image", "filter", auto_pad="SAME_LOWER", strides=[2, 2]),
        v("image", "filter", auto_pad="VALID"),
        v("signal", "filter1d", pads=[1, 1]),
    ],
    ("ConvTranspose", 11): [
        v("image", "upfilter"),
        v("image", "upfilter", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]),
    ],
    ("MaxPool", 12): [
        v("image", kernel_shape=[2, 2]),
        v("image", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        v("image", kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1),
        v("image", kernel_shape=[2, 2], dilations=[2, 2]),
        v("signal", kernel_shape=[3], strides=[2]),
        v("image", kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"),
    ],
    ("AveragePool", 11): [
        v("image", kernel_shape=[2, 2], strides=[2, 2]),
        v("image", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        v("image", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
    ],
    ("AveragePool", 19): [
        v("image", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        v("image", kernel_shape=[2, 2], dilations=[2, 2]),
    ],
    ("GlobalAveragePool", 13): [v("image"), v("signal")],
    ("GlobalMaxPool", 13): [v("image")],
    # reduction
    **{
        (n, 13): [v("x"), v("x", axes=[1]), v("x", axes=[-1], keepdims=0), v("x", axes=[0, 2])]
        for n in (
            "ReduceMean",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceL1",
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceLogSumExp",
        )
    },
    **{
        (n, 18): [
            v("x"),
            v("x", i64(1)),
            v("x", i64(-1), keepdims=0),
            v("x", i64(0, -1)),
            v("x", noop_with_empty_axes=1),
        ]
        for n in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2")
    },
    ("ReduceMean", 11): [v("x", axes=[-1]), v("x", axes=[2, 1], keepdims=0)],
    ("ReduceSum", 11): [v("x", axes=[1]), v("x", keepdims=0), v("i", axes=[0])],
    ("ReduceSum", 13): [v("x", i64(1)), v("x", i64(-2, -1), keepdims=0), v("x"), v("x", noop_with_empty_axes=1)],
    ("ArgMax", 13): [v("x"), v("x", axis=-1, keepdims=0), v("p2", axis=1, select_last_index=1)],
    ("ArgMin", 13): [v("x", axis=1)],
    ("CumSum", 14): [
        v("x", scalar(1, np.int64)),
        v("x", scalar(-1, np.int64), exclusive=1),
        v("i", scalar(0, np.int64), reverse=1),
    ],
    ("TopK", 11): [v("x", i64(2), out=2), v("wide", i64(3), out=2, axis=1, largest=0)],
    # movement
    ("Reshape", 11): [v("x", i64(6, 4)), v("x", i64(0, -1)), v("x", i64(-1)), v("x", i64(1, 2, 3, 1, 4))],
    ("Reshape", 14): [v("x", i64(4, 0, -1)), v("x", i64(2, 12), allowzero=1)],
    ("Transpose", 13): [v("x"), v("x", perm=[0, 2, 1]), v("heads", perm=[0, 2, 1, 3])],
    ("Expand", 13): [v("column", i64(2, 3, 4)), v("x", i64(1)), v("ones", i64(5, 1, 3, 1))],
    ("Slice", 11): [
        v("x", i64(1), i64(3), i64(1)),
        v("x", i64(0, 0), i64(2, 2)),
        v("x", i64(-1), i64(-9223372036854775807), i64(2), i64(-1)),
        v("x", i64(0), i64(9223372036854775807), i64(-1), i64(2)),
        v("x", i64(-2), i64(1000), i64(-1)),
    ],
    ("Pad", 11): [
        v("x", i64(0, 1, 2, 0, 0, 1)),
        v("x", i64(0, 0, 1, 0, 0, 1), scalar(-1.5)),
        v("x", i64(0, 1, 2, 0, 2, 1), mode="reflect"),
        v("x", i64(0, 1, 2, 0, 2, 1), mode="edge"),
        v("x", i64(0, -1, 0, 0, 0, -1)),
    ],
    ("Pad", 18): [v("x", i64(1, 2), scalar(0.0), i64(-1))],
    ("Concat", 13): [v("x", "y", axis=0), v("x", "y", "x", axis=-1), v("x", "ones", axis=1), v("x", axis=1)],
    ("Split", 11): [v("wide", out=2, axis=-1), v("wide", out=2, axis=1, split=[2, 3]), v("x", out=2)],
    ("Split", 13): [v("wide", out=4, axis=2), v("wide", i64(1, 4), out=2, axis=-2)],
    ("Split", 18): [v("wide", out=3, axis=1, num_outputs=3), v("wide", out=2, axis=2, num_outputs=2)],
    ("Squeeze", 11): [v("ones"), v("ones", axes=[1])],
    ("Squeeze", 13): [v("ones", i64(-2)), v("ones")],
    ("Unsqueeze", 11): [v("x", axes=[0]), v("x", axes=[1, -1])],
    ("Unsqueeze", 13): [v("x", i64(-1)), v("x", i64(3, 0)), v("row", i64(0, 2))],
    ("Flatten", 13): [v("image"), v("image", axis=0), v("image", axis=-1), v("image", axis=4)],
    ("Tile", 13): [v("x", i64(1, 2, 3))],
    ("Trilu", 14): [
        v("square"),
        v("square", upper=0),
        v("square", scalar(1, np.int64), upper=1),
        v("square", scalar(-2, np.int64), upper=0),
    ],
    ("DepthToSpace", 13): [v("image", blocksize=2), v("image", blocksize=2, mode="CRD")],
    ("SpaceToDepth", 13): [v("image3", blocksize=2)],
    ("Resize", 11): [
        v(
            "image3",
            np.zeros(0, np.float32),
            np.array([1, 1, 2, 2], np.float32),
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    ],
    ("Resize", 13): [
        v(
            "image3",
            None,
            np.array([1, 1, 2, 2], np.float32),
            mode="linear",
            coordinate_transformation_mode="half_pixel",
        ),
        v("image3", None, None, i64(2, 3, 5, 13), mode="linear", coordinate_transformation_mode="align_corners"),
    ],
    # indexing
    ("Gather", 13): [
        v("table", "rows"),
        v("table", "rows", axis=0),
        v("x", i64(0, -1), axis=2),
        v("x", scalar(1, np.int64), axis=1),
        v("table", scalar(-1, np.int64)),
    ],
    ("GatherElements", 13): [v("x", integers(-3, 3, 2, 2, 4), axis=1), v("x", integers(0, 4, 2, 3, 2), axis=-1)],
    ("GatherND", 13): [
        v("x", np.array([[0, 1], [1, 2]], np.int64)),
        v("x", np.array([[[1]], [[0]]], np.int64), batch_dims=1),
    ],
    ("ScatterElements", 13): [v("x", integers(0, 1, 1, 3, 4), "x1", axis=0)],
    ("ScatterElements", 16): [v("x", integers(0, 3, 2, 3, 4), "updates", axis=1, reduction="add")],
    ("ScatterND", 13): [v("table", np.array([[1], [3]], np.int64), "patch")],
    ("ScatterND", 16): [v("table", np.array([[1], [1]], np.int64), "patch", reduction="add")],
    ("OneHot", 13): [
        v("labels", i64(6), np.array([0, 1], np.float32)),
        v("labels", i64(6), np.array([-1, 2], np.float32), axis=0),
    ],
    # normalization
    ("Softmax", 11): [v("x"), v("x", axis=2), v("heads", axis=1), v("x", axis=-1)],
    ("Softmax", 13): [v("x"), v("x", axis=1), v("heads", axis=0)],
    ("LogSoftmax", 11): [v("x"), v("x", axis=-1)],
    ("LogSoftmax", 13): [v("x"), v("x", axis=0)],
    ("LayerNormalization", 17): [
        v("wide", "scale8", "shift8"),
        v("wide", "scale8", epsilon=0.01),
        v("wide", floats(5, 8), floats(5, 8), axis=1),
        v("wide", "scale8", "shift8", axis=-1, out=3),
    ],
    **{
        ("BatchNormalization", n): [
            v("image", "scale4", "shift4", "mean4", "var4"),
            v("image", "scale4", "shift4", "mean4", "var4", epsilon=0.1),
        ]
        for n in (11, 14, 15)
    },
    ("InstanceNormalization", 13): [v("image", "scale4", "shift4", epsilon=0.001)],
    ("GroupNormalization", 18): [v("image", floats(2), floats(2), num_groups=2)],
    ("LpNormalization", 13): [v("x"), v("x", axis=1, p=1)],
    # structure
    ("Shape", 13): [v("x")],
    ("Shape", 15): [v("x", start=1), v("x", start=-2, end=-1), v("x", end=100)],
    ("Size", 13): [v("x")],
    ("ConstantOfShape", 13): [v(i64(2, 3)), v(i64(2), value=helper.make_tensor("v", TensorProto.INT64, [1], [7]))],
    ("Constant", 13): [
        v(value_float=1.5),
        v(value_ints=[1, 2]),
        v(value=helper.make_tensor("v", TensorProto.FLOAT, [2], [1, 2])),
    ],
    ("Range", 13): [
        v(scalar(0, np.int64), scalar(7, np.int64), scalar(2, np.int64)),
        v(scalar(1.0), scalar(-1.0), scalar(-0.5)),
    ],
    ("SoftmaxCrossEntropyLoss", 13): [
        v("c5", "labels4"),
        v("c5", "labels4", reduction="sum"),
        v("c5", "labels4", reduction="none"),
        v("c5", "labels4", ignore_index=1),
    ],
    ("Det", 11): [
        v(np.array([[2, 1, 3], [4, 1, 0], [0, 5, 1]], np.float32)),
        v(np.array([[[0, 2], [3, 1]], [[1, 2], [2, 4]]], np.float32)),
    ],
    ("RoiAlign", 10): [
        v(IMAGES, BOXES, i64(1, 0, 1), output_height=2, output_width=3, sampling_ratio=2, spatial_scale=0.5),
        v(IMAGES, BOXES, i64(0, 0, 1), output_height=2, output_width=2, sampling_ratio=1, mode="max"),
    ],
    ("RoiAlign", 16): [
        v(IMAGES, BOXES, i64(1, 0, 1), output_height=2, output_width=3, sampling_ratio=2),
        v(
            IMAGES,
            BOXES,
            i64(1, 1, 1),
            output_height=3,
            output_width=1,
            sampling_ratio=3,
            coordinate_transformation_mode="output_half_pixel",
        ),
    ],
    ("TfIdfVectorizer", 9): [
        v(WORDS, mode="TFIDF", weights=[0.5, 2.0, 1.0, 3.0, 0.25], max_skip_count=1, **GRAMS),
        v(WORDS, mode="IDF", weights=[0.5, 2.0, 1.0, 3.0, 0.25], max_skip_count=0, **GRAMS),
        v(WORDS[0], mode="TF", max_skip_count=2, **GRAMS),
    ],
}
POOL.update(
    p2=np.array([[1, 3, 3, 0], [2, 2, 1, 2]], np.float32),
    x1=floats(1, 3, 4),
    c5=floats(4, 5),
    labels4=np.array([0, 1, 4, 1], np.int64),
)


def name_input(value, name, used, constants):
    """The name of a variant's input: "" if left out, its own if of POOL, else `name`, a new initializer."""
    if value is None:
        return ""
    if isinstance(value, str):
        used.append(value)
        return value
    constants.append(numpy_helper.from_array(value, name))
    return name


def chain(*steps):
    """Nodes that belong together (see CHAINS): each step is an op, its inputs, its outputs and attributes."""
    return [helper.make_node(op, inputs, outputs, **attributes) for op, inputs, outputs, attributes in steps]


# Ops that only make sense together, as exporters write them: name -> (opset, inputs of POOL, constants, outputs, nodes)
CHAINS = {
    "SplitToSequence": (
        13,
        ["wide"],
        {"size": scalar(2, np.int64), "first": scalar(0, np.int64), "last": scalar(-1, np.int64)},
        ["y0", "y1"],
        chain(
            ("SplitToSequence", ["wide", "size"], ["parts"], {"axis": 1}),
            ("SequenceAt", ["parts", "first"], ["y0"], {}),
            ("SequenceAt", ["parts", "last"], ["y1"], {}),
        ),
    ),
    "SequenceConstruct": (
        13,
        ["x", "y"],
        {"at": scalar(1, np.int64)},
        ["y0", "y1", "y2"],
        chain(
            ("SequenceConstruct", ["x", "y"], ["parts"], {}),
            ("ConcatFromSequence", ["parts"], ["y0"], {"axis": 1}),
            ("ConcatFromSequence", ["parts"], ["y1"], {"axis": 0, "new_axis": 1}),
            ("SequenceAt", ["parts", "at"], ["y2"], {}),
        ),
    ),
    "If": (
        13,
        ["x"],
        {"condition": scalar(True, np.bool_)},
        ["y0"],
        chain(
            (
                "If",
                ["condition"],
                ["y0"],
                {
                    "then_branch": helper.make_graph(
                        chain(("Neg", ["x"], ["t"], {})), "then", [], [onnx.ValueInfoProto(name="t")]
                    ),
                    "else_branch": helper.make_graph(
                        chain(("Abs", ["x"], ["e"], {})), "else", [], [onnx.ValueInfoProto(name="e")]
                    ),
                },
            )
        ),
    ),
}


def make_model(name, opset, used, constants, outputs, nodes, domain=""):
    """A model of `nodes` whose outputs have no type yet."""
    values = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(POOL[n].dtype), POOL[n].shape)
        for n in used
    ]
    graph = helper.make_graph(nodes, name, values, [onnx.ValueInfoProto(name=o) for o in outputs], constants)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def make_case(op, opset, variants, domain=""):
    """The model of one row of CASES, and the names of the POOL inputs it uses."""
    nodes, constants, used, outputs = [], [], [], []
    for index, (inputs, count, attributes) in enumerate(variants):
        names = [name_input(value, f"c{index}_{k}", used, constants) for k, value in enumerate(inputs)]
        kept = range(count) if isinstance(count, int) else count
        results = [f"y{index}"] if count == 1 else [f"y{index}_{k}" if k in kept else "" for k in range(kept[-1] + 1)]
        nodes.append(helper.make_node(op, names, results, f"{op}{index}", domain=domain, **attributes))
        outputs += filter(None, results)
    used = list(dict.fromkeys(used))
    return make_model(op, opset, used, constants, outputs, nodes, domain), used


def make_chain(name):
    """The model of one row of CHAINS, and the names of the POOL inputs it uses."""
    opset, used, constants, outputs, nodes = CHAINS[name]
    tensors = [numpy_helper.from_array(value, n) for n, value in constants.items()]
    return make_model(name, opset, used, tensors, outputs, nodes), used


def expected(proto, feeds):
    """What ONNX Runtime computes, unoptimised."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return {o.name: r for o, r in zip(session.get_outputs(), session.run(None, feeds), strict=True)}


def second_opinion(name, proto, feeds, results):
    """Prints where the ONNX reference evaluator disagrees."""
    try:
        other = ReferenceEvaluator(proto).run(list(results), feeds)
    except Exception as error:  # the evaluator lacks old versions of some ops
        print(f"{name}: the reference evaluator says: {str(error).splitlines()[0][:90]}")
        return
    for (output, a), b in zip(results.items(), other, strict=True):
        if a.shape != np.shape(b) or not np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            print(f"{name}: {output}: the reference evaluator differs")


def write(name, proto, used):
    """Writes NAME.onnx with types and shapes of its outputs, and NAME.npz."""
    feeds = {n: POOL[n] for n in used}
    untyped = onnx.ModelProto()
    untyped.CopyFrom(proto)
    inferred = onnx.shape_inference.infer_shapes(untyped, data_prop=True)
    results = expected(inferred, feeds)
    for output in proto.graph.output:
        result = results[output.name]
        output.CopyFrom(
            helper.make_tensor_value_info(output.name, helper.np_dtype_to_tensor_dtype(result.dtype), result.shape)
        )
    second_opinion(name, proto, feeds, results)
    (OPS / f"{name}.onnx").write_bytes(proto.SerializeToString(deterministic=True))
    np.savez(OPS / f"{name}.npz", **feeds, **results)


README = """# Single ops

`OP-OPSET.onnx` holds variants of one op as outputs y0, y1, …, `OP-OPSET.npz` its inputs and, by the outputs'
names, what ONNX Runtime computes. Begin with the table CASES in `../ops.py`, which writes {count} models (and first
removes the others): the ops that PyTorch's exporters write for models of today, in the versions that opsets 11 to
20 have. Run after it, `../form_ops.py` adds ops in forms that conformance tests leave out, in older versions
too, and `../contrib_ops.py` (`OP-ms1`) those of com.microsoft.
"""


def main():
    wanted = sys.argv[1:]
    if not wanted:
        shutil.rmtree(OPS, ignore_errors=True)
    OPS.mkdir(exist_ok=True)
    made = {f"{op}-{opset}": make_case(op, opset, variants) for (op, opset), variants in CASES.items()}
    made.update({f"{name}-{row[0]}": make_chain(name) for name, row in CHAINS.items()})
    for name, (proto, used) in made.items():
        if not wanted or name.split("-")[0] in wanted:
            write(name, proto, used)
    (OPS / "README.md").write_text(README.replace("{count}", str(len(made))))


if __name__ == "__main__":
    main()
