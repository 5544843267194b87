#!/usr/bin/env python3
"""Writes programs/: models with functions, loops, branches, sequences and operators of old opsets, and what the ONNX
reference evaluator or ONNX Runtime computes with them.

    python3 test/models/programs.py

Needs numpy, onnx, onnxruntime. Every model is text, in onnx's own notation; inputs are drawn at random.
"""

import pathlib
import shutil

import numpy as np
import onnx
import onnx.inliner
import onnx.parser
import onnxruntime
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).resolve().parent / "programs"
RANDOM = np.random.default_rng(5)

PROGRAMS = {
    # A function with an attribute that has a default, one that calls it, and one with a branch inside.
    "functions": (18, """
main (float[2,3] x, float[2,3] z) => (float[2,3] y0, float[2,3] y1, float[2,3] y2, float[2,3] y3) {
  y0 = my.scaled (x)
  y1 = my.scaled <factor: float = 0.5> (x)
  y2 = my.twice (x, z)
  y3 = my.either (x, z)
}
<domain: "my", opset_import: ["" : 18]>
scaled <factor: float = 3.0> (a) => (b) {
  c = Constant <value_float: float = @factor> ()
  b = Mul (a, c)
}
<domain: "my", opset_import: ["" : 18, "my" : 1]>
twice (a, c) => (d) {
  b = my.scaled <factor: float = 2.0> (a)
  d = Sub (b, c)
}
<domain: "my", opset_import: ["" : 18]>
either (a, c) => (b) {
  size = Size (a)
  six = Constant <value_int: int = 6> ()
  same = Equal (size, six)
  b = If (same) <
    then_branch = yes () => (r) { r = Add (a, c) },
    else_branch = no () => (r) { r = Mul (a, c) }
  >
}
""", {"my": 1}),
    # Rounds counted by a number that follows from a shape; a condition that follows from the round.
    "loop": (16, """
main (float[2,3] x) => (float[2,3] y0, float[3,2,3] y1, float[2,3] y2) {
  shape = Shape (x)
  one = Constant <value_int: int = 1> ()
  rounds = Gather (shape, one)
  yes = Constant <value = bool {1}> ()
  y0, y1 = Loop (rounds, yes, x) <body = round (int64 i, bool go, float[2,3] a) => (bool go_on, float[2,3] b, float[2,3] c) {
    go_on = Identity (go)
    n = Cast <to = 1> (i)
    b = Add (a, n)
    c = Mul (b, x)
  }>
  none = Constant <value_int: int = 100> ()
  y2 = Loop (none, yes, x) <body = until (int64 i, bool go, float[2,3] a) => (bool go_on, float[2,3] b) {
    four = Constant <value_int: int = 4> ()
    go_on = Less (i, four)
    b = Sub (a, x)
  }>
}
""", {}),
    "scan": (16, """
main (float[3] start, float[4,3] rows, float[3,4] columns) => (float[3] y0, float[4,3] y1, float[3,4] y2) {
  y0, y1, y2 = Scan (start, rows, columns) <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1],
      scan_output_axes = [0, -1], scan_output_directions = [1, 0],
    body = step (float[3] s, float[3] r, float[3] c) => (float[3] t, float[3] u, float[3] w) {
      t = Add (s, r)
      u = Mul (t, c)
      w = Sub (s, c)
    }>
}
""", {}),
    "sequences": (17, """
main (float[2,3] x, float[2,3] z) => (float[2,6] y0, float[2,3] y1, int64 y2, float[3,2,3] y3, float[2,3] y4, bool y5) {
  zero = Constant <value_int: int = 0> ()
  last = Constant <value_int: int = -1> ()
  empty = SequenceEmpty ()
  one = SequenceInsert (empty, x)
  two = SequenceInsert (one, z, zero)
  y0 = ConcatFromSequence <axis = 1> (two)
  y1 = SequenceAt (two, last)
  y2 = SequenceLength (two)
  three = SequenceInsert (two, x)
  y3 = ConcatFromSequence <axis = 0, new_axis = 1> (three)
  rest = SequenceErase (three, zero)
  maybe = Optional (rest)
  again = OptionalGetElement (maybe)
  y5 = OptionalHasElement (maybe)
  y4 = SequenceAt (again, zero)
}
""", {}),
    "weights": (16, """
main (float[2,3] x) => (float[2,2] y0) {
  shape = Shape (x)
  one = Constant <value_int: int = 1> ()
  size = Gather (shape, one)
  wide = Greater (size, one)
  y0 = If (wide) <
    then_branch = yes () => (float[2,2] r) <float[3,2] weight = {1, 2, 3, 4, 5, 6}> { r = MatMul (x, weight) },
    else_branch = no () => (float[2,2] r) {
      t = Transpose (x)
      r = MatMul (x, t)
    }
  >
}
""", {}),
    # Operators in the forms that they had before opset 11.
    "old": (7, """
main (float[2,3,4] x, float[2,3,5,5] image, float[3] scale, float[3] shift, float[3] mean, float[3] positive)
    => (float[1,2,4] y0, float[2,5,4] y1, float[2,3,4] y2, float[2,3,4] y3, float[2,3,5,5] y4, float[2,3,2,2] y5,
        float[2,3,4] y6, float[2,3,4] y7, float[2,3,5,5] y8, float[2,1,4] y9) {
  y0 = Slice <starts = [1, -2], ends = [2, 9], axes = [0, 1]> (x)
  y1 = Pad <pads = [0, 1, 0, 0, 1, 0], mode = "constant", value = 2.5> (x)
  y2 = Clip <min = -0.5, max = 0.75> (x)
  y3 = Dropout <ratio = 0.5> (x)
  y4 = BatchNormalization <epsilon = 0.01> (image, scale, shift, mean, positive)
  y5 = AveragePool <kernel_shape = [3, 3], strides = [2, 2], count_include_pad = 1> (image)
  y6 = Softmax <axis = 2> (x)
  y7 = Sum (x, x, x)
  y8 = LRN <size = 3, alpha = 0.01> (image)
  y9 = ReduceLogSumExp <axes = [1], keepdims = 1> (x)
}
""", {}),
    # A branch and the end of a loop that depend on data.
    "choices": (18, """
main (float[2,3] x, float[2,3] z) => (float[2,3] y0, float[2,3] y1, float[2,3] y2) {
  sum = ReduceSum <keepdims = 0> (x)
  zero = Constant <value_float: float = 0.0> ()
  positive = Greater (sum, zero)
  negative = Not (positive)
  y0 = If (positive) <
    then_branch = grow () => (r) { r = Add (x, z) },
    else_branch = turn () => (s) { s = Neg (x) }
  >
  y1 = If (negative) <
    then_branch = grow2 () => (r2) { r2 = Add (x, z) },
    else_branch = turn2 () => (s2) { s2 = Neg (x) }
  >
  most = Constant <value_int: int = 6> ()
  yes = Constant <value = bool {1}> ()
  y2 = Loop (most, yes, z) <
    body = longer (int64 i, bool before, float[2,3] a) => (bool again, float[2,3] b) {
      two = Constant <value_float: float = 2.0> ()
      limit = Constant <value_float: float = 9.0> ()
      b = Mul (a, two)
      largest = ReduceMax <keepdims = 0> (b)
      again = Less (largest, limit)
    }
  >
}
""", {}),
}


def draw(value):
    kind = value.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    array = np.round(RANDOM.standard_normal(shape) * 16) / 16
    if value.name == "positive":
        array = np.abs(array) + 0.5
    return array.astype(np.float32)


def with_defaults(model):
    """The model with the attributes that calls of its functions leave out, which onnx's inliner does not fill in."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    functions = {f.name: f for f in model.functions}
    for nodes in [model.graph.node, *(f.node for f in model.functions)]:
        for node in nodes:
            given = {a.name for a in node.attribute}
            defaults = functions[node.op_type].attribute_proto if node.op_type in functions else []
            node.attribute.extend(a for a in defaults if a.name not in given)
    return model


def compute(model, feeds):
    """By the reference evaluator; where it lacks an old version, by ONNX Runtime."""
    names = [o.name for o in model.graph.output]
    model = onnx.inliner.inline_local_functions(with_defaults(model))
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        runtime = session.run(names, feeds)
    except Exception as error:
        print("onnxruntime:", str(error).splitlines()[0][:300])
        runtime = None
    try:
        reference = ReferenceEvaluator(model).run(names, feeds)
    except Exception as error:
        print("reference evaluator:", str(error).splitlines()[0][:300])
        reference = None
    for name, a, b in zip(names, runtime or [], reference or []):
        if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-5, atol=1e-5):
            print(f"{name}: onnxruntime and the reference evaluator differ")
    return dict(zip(names, runtime or reference, strict=True))


README = """# Programs

Models with functions, loops, branches, sequences, weights in subgraphs, and operators of old opsets, as `NAME.onnx`; `NAME.npz`
holds inputs and, by the outputs' names, what ONNX Runtime or the ONNX reference evaluator computes. `../programs.py` writes all.
"""


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    for name, (opset, text, domains) in PROGRAMS.items():
        imports = ", ".join([f'"" : {opset}'] + [f'"{d}" : {v}' for d, v in domains.items()])
        model = onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]>{text}")
        onnx.checker.check_model(model)
        feeds = {i.name: draw(i) for i in model.graph.input}
        print(name)
        results = compute(model, feeds)
        (HERE / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
        np.savez(HERE / f"{name}.npz", **feeds, **{n: np.asarray(r) for n, r in results.items()})
    (HERE / "README.md").write_text(README)


if __name__ == "__main__":
    main()
