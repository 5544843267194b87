#!/usr/bin/env python3
"""Writes models whose dropouts are in training mode: dropout.onnx, two linear layers with a dropout between them, and
attention-dropout.onnx, attention of two heads over five tokens that drops its weights.

    python3 test/models/dropout.py

Needs numpy and onnx. Exporters write such a Dropout for a model in training mode; PyTorch's current one writes none.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATIO = {"ratio": np.array(0.25, np.float32), "training": np.array(True)}
node = helper.make_node


def weights_of(shapes):
    random = np.random.default_rng(3)
    return {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def dropped(source, result):
    return node("Dropout", [source, "ratio", "training"], [result])


def write(name, nodes, weights, constants):
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(value, name) for name, value in {**weights, **constants}.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, pathlib.Path(__file__).with_name(f"{name}.onnx"))


def layers():
    nodes = [
        node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["hidden"]),
        node("Relu", ["hidden"], ["active"]),
        dropped("active", "dropped"),
        node("Gemm", ["dropped", "fc2.weight", "fc2.bias"], ["logits"]),
    ]
    shapes = {"fc1.weight": (20, 32), "fc1.bias": (32,), "fc2.weight": (32, 10), "fc2.bias": (10,)}
    write("dropout", nodes, weights_of(shapes), RATIO)


def attention():
    nodes = [node("Reshape", ["x", "tokens"], ["t"])]
    shapes = {"out.weight": (60, 10), "out.bias": (10,)}
    for part, order in {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}.items():
        shapes[f"{part}.weight"] = (4, 12)
        nodes += [
            node("MatMul", ["t", f"{part}.weight"], [f"{part}.all"]),
            node("Reshape", [f"{part}.all", "heads"], [f"{part}.heads"]),
            node("Transpose", [f"{part}.heads"], [part], perm=order),
        ]
    nodes += [
        node("MatMul", ["q", "k"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        dropped("weights", "kept"),
        node("MatMul", ["kept", "v"], ["attended"]),
        node("Transpose", ["attended"], ["merged"], perm=[0, 2, 1, 3]),
        node("Reshape", ["merged", "flat"], ["row"]),
        node("Gemm", ["row", "out.weight", "out.bias"], ["logits"]),
    ]
    forms = {"tokens": [0, 5, 4], "heads": [0, 5, 2, 6], "flat": [0, 60]}
    write("attention-dropout", nodes, weights_of(shapes),
          {**RATIO, **{name: np.array(form, np.int64) for name, form in forms.items()}})


layers()
attention()
