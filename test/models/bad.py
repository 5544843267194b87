#!/usr/bin/env python3
"""Writes the broken models of bad/: one mistake each, and in bad/cases.json the words its message must hold.

    python3 test/models/bad.py

Needs onnx (only to build the protobufs; nothing is checked by it). Truncated and bit-flipped files are not here: a
test makes them from any good file.
"""

import json
import pathlib
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BAD = pathlib.Path(__file__).resolve().parent / "bad"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def weight(name, *shape):
    """A float32 initializer of ones."""
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def model(nodes, initializers, x=("batch", 4), y=("batch", 6), opset=17):
    """A model x -> logits."""
    graph = helper.make_graph(
        nodes,
        "bad",
        [helper.make_tensor_value_info("x", FLOAT, x)],
        [helper.make_tensor_value_info("logits", FLOAT, y)],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def matmul(x, w="fc.weight", name="/fc/MatMul"):
    """logits = x · w."""
    return helper.make_node("MatMul", [x, w], ["logits"], name)


def linear(**options):
    """The good model that the cases below spoil: logits = x · fc.weight."""
    return model([matmul("x")], [weight("fc.weight", 4, 6)], **options)


def node(op, inputs, **attributes):
    """logits = op(inputs), with one 4x6 weight `fc.weight`."""
    domain = attributes.pop("domain", "")
    return model(
        [helper.make_node(op, inputs, ["logits"], f"/fc/{op}", domain=domain, **attributes)],
        [weight("fc.weight", 4, 6)],
    )


def external(location, offset="0", length="96"):
    """The good model with its weight in another file."""
    proto = linear()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=value)
    return proto


def raw_weight(dims, size):
    """The good model with `size` bytes behind a weight of `dims`."""
    proto = linear()
    tensor = proto.graph.initializer[0]
    tensor.dims[:] = dims
    tensor.raw_data = bytes(size)
    return proto


def without_opset():
    proto = linear()
    del proto.opset_import[:]
    return proto


def without_graph():
    proto = linear()
    proto.ClearField("graph")
    return proto


def cyclic():
    return model(
        [
            helper.make_node("Add", ["x", "b"], ["a"], "/first"),
            helper.make_node("Relu", ["a"], ["b"], "/second"),
            matmul("b"),
        ],
        [weight("fc.weight", 4, 6)],
    )


def written_twice():
    return model([matmul("x", name="/first"), matmul("x", name="/second")], [weight("fc.weight", 4, 6)])


def mixed_types():
    proto = linear()
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones((4, 6), np.int64), "fc.weight"))
    return proto


def wrong_reshape():
    shape = numpy_helper.from_array(np.array([5, 5], np.int64), "shape")
    return model(
        [helper.make_node("Reshape", ["fc.weight", "shape"], ["v"], "/reshape"), matmul("x", "v")],
        [weight("fc.weight", 4, 6), shape],
    )


def output_of_nothing():
    proto = linear()
    proto.graph.output[0].name = "scores"
    return proto


def initializer_twice():
    proto = linear()
    proto.graph.initializer.append(weight("fc.weight", 4, 6))
    return proto


def several():
    """Several mistakes: in the graph, in a subgraph, in a function."""
    inner = [
        helper.make_node("Frobnicate", ["a"], ["b"], "blend"),
        helper.make_node("Relu", ["a"], ["c"], "relu", speed=3),
        helper.make_node("Add", ["b", "c"], ["d"], "add"),
    ]
    function = helper.make_function("local", "Mix", ["a"], ["d"], inner, [helper.make_opsetid("", 17)])
    branch = helper.make_graph(
        [helper.make_node("Warp", ["x"], ["w"], "/warp")],
        "branch",
        [],
        [helper.make_tensor_value_info("w", FLOAT, ("batch", 4))],
    )
    sparse = helper.make_node("Softmax", ["x"], ["s"], "/softmax", temperature=2.0)
    proto = model(
        [
            helper.make_node("Mix", ["x"], ["m"], "/mix", domain="local"),
            sparse,
            helper.make_node("If", ["flag"], ["i"], "/if", then_branch=branch, else_branch=branch),
            helper.make_node("Sum", ["m", "s", "i"], ["sum"], "/sum"),
            matmul("sum"),
        ],
        [weight("fc.weight", 4, 6), numpy_helper.from_array(np.array(True), "flag")],
    )
    proto.functions.append(function)
    proto.opset_import.append(helper.make_opsetid("local", 1))
    return proto


# name -> (model, words of the message, in any order)
def input_chooses():
    """A product that does not fit, in a model with the rate as an input, on which sizes may depend."""
    scale = helper.make_node("Cast", ["rate"], ["scale"], "/Cast", to=FLOAT)
    product = helper.make_node("MatMul", ["x", "fc.weight"], ["product"], "/fc/MatMul")
    proto = model([scale, product, helper.make_node("Mul", ["product", "scale"], ["logits"], "/Mul")], [weight("fc.weight", 5, 6)])
    proto.graph.input.append(helper.make_tensor_value_info("rate", INT64, []))
    return proto


CASES = {
    "unknown-op": (node("Frobnicate", ["x", "fc.weight"]), ["Frobnicate", "/fc/Frobnicate"]),
    "unknown-domain": (
        node("FusedMatMul", ["x", "fc.weight"], domain="com.example"),
        ["com.example", "FusedMatMul"],
    ),
    "missing-weights": (external("missing-weights.data"), ["missing-weights.data", "fc.weight"]),
    "short-weights": (external("short-weights.data", length="96"), ["short-weights.data", "fc.weight"]),
    "weights-beyond-end": (external("short-weights.data", offset="4096"), ["short-weights.data", "fc.weight"]),
    "weights-length": (external("full-weights.data", length="40"), ["fc.weight", "40", "96"]),
    "weights-outside": (external("../../../LICENSE"), ["../../../LICENSE", "fc.weight"]),
    "matmul-dims": (model([matmul("x")], [weight("fc.weight", 5, 6)]), ["MatMul", "4", "5"]),
    "add-dims": (
        model([helper.make_node("Add", ["x", "fc.weight"], ["logits"], "/add")], [weight("fc.weight", 5)]),
        ["Add", "4", "5"],
    ),
    "reshape-size": (wrong_reshape(), ["Reshape", "24", "25"]),
    "opset-future": (linear(opset=99), ["99", "opset"]),
    "opset-missing": (without_opset(), ["opset"]),
    "graph-missing": (without_graph(), ["graph"]),
    "cycle": (cyclic(), ["cycle"]),
    "undefined-input": (node("MatMul", ["x", "ghost"]), ["ghost", "MatMul"]),
    "undefined-output": (output_of_nothing(), ["scores"]),
    "written-twice": (written_twice(), ["logits"]),
    "initializer-twice": (initializer_twice(), ["fc.weight"]),
    "initializer-bytes": (raw_weight([4, 6], 95), ["fc.weight", "95", "96"]),
    "initializer-negative": (raw_weight([4, -6], 96), ["fc.weight", "-6"]),
    "initializer-overflow": (raw_weight([1 << 40, 1 << 40], 96), ["fc.weight"]),
    "too-few-inputs": (node("MatMul", ["x"]), ["MatMul", "1", "2"]),
    "mixed-types": (mixed_types(), ["MatMul", "int64"]),
    "axis-out-of-range": (node("Softmax", ["x"], axis=7), ["Softmax", "axis", "7"]),
    "attribute-missing": (node("Cast", ["x"]), ["Cast", "attribute"]),
    "several": (several(), ["Frobnicate", "/mix/blend", "speed", "/mix/relu", "temperature", "Warp", "/warp"]),
    "input-chooses": (input_chooses(), ["MatMul", "'rate'", "--value rate=N"]),
    "attribute-type": (node("Softmax", ["x"], axis="last"), ["Softmax", "axis"]),
}

# File content that is not a model at all -> words of the message.
NO_MODEL = {"empty": (b"", ["empty"]), "text": (b"This is not a model.\n" * 4, ["onnx"])}


def main():
    shutil.rmtree(BAD, ignore_errors=True)
    BAD.mkdir()
    for name, (proto, _) in CASES.items():
        (BAD / f"{name}.onnx").write_bytes(proto.SerializeToString(deterministic=True))
    for name, (data, _) in NO_MODEL.items():
        (BAD / f"{name}.onnx").write_bytes(data)
    (BAD / "short-weights.data").write_bytes(bytes(50))
    (BAD / "full-weights.data").write_bytes(bytes(96))
    (BAD / "good.onnx").write_bytes(linear().SerializeToString(deterministic=True))
    cases = {f"{name}.onnx": words for name, (_, words) in {**CASES, **NO_MODEL}.items()}
    (BAD / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    (BAD / "README.md").write_text(README)


README = """# Broken models

One mistake per file; `cases.json` lists the words that Cleave's message (exit code 1, one line) must hold, in
upper or lower case. Begin with `../bad.py`, which writes all of it. `good.onnx` is the model that they spoil; it
must be accepted.
"""

if __name__ == "__main__":
    main()
