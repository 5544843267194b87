#!/usr/bin/env python3
"""Writes dropout.onnx: two linear layers with a dropout between them that is in training mode.

    python3 test/models/dropout.py

Needs numpy and onnx. Exporters write such a Dropout for a model in training mode; PyTorch's current one writes none.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(3)
weights = {name: random.normal(0, 0.3, shape).astype(np.float32)
           for name, shape in {"fc1.weight": (20, 32), "fc1.bias": (32,), "fc2.weight": (32, 10), "fc2.bias": (10,)}.items()}
constants = {"ratio": np.array(0.25, np.float32), "training": np.array(True)}
nodes = [
    helper.make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["hidden"]),
    helper.make_node("Relu", ["hidden"], ["active"]),
    helper.make_node("Dropout", ["active", "ratio", "training"], ["dropped"]),
    helper.make_node("Gemm", ["dropped", "fc2.weight", "fc2.bias"], ["logits"]),
]
graph = helper.make_graph(
    nodes, "dropout",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
    [numpy_helper.from_array(value, name) for name, value in {**weights, **constants}.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, pathlib.Path(__file__).with_name("dropout.onnx"))
