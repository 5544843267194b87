#!/usr/bin/env python3
"""Writes mlp-functions.onnx: mlp.ts-train.onnx with each of its layers as a call of one function.

    python3 test/models/functions.py

Needs onnx.
"""

import pathlib

import onnx
from onnx import helper

HERE = pathlib.Path(__file__).resolve().parent


def main():
    model = onnx.load(HERE / "mlp.ts-train.onnx")
    opset = model.opset_import[0]
    layer = next(node for node in model.graph.node if node.op_type == "Gemm")
    inner = helper.make_node("Gemm", ["x", "weight", "bias"], ["y"], "product")
    inner.attribute.extend(layer.attribute)
    function = helper.make_function("local", "Linear", ["x", "weight", "bias"], ["y"], [inner], [opset])
    for node in model.graph.node:
        if node.op_type == "Gemm":
            node.op_type, node.domain = "Linear", "local"
            del node.attribute[:]
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    (HERE / "mlp-functions.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
