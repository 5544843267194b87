#!/usr/bin/env python3
"""Writes ops/OP-OPSET.* of operators where tests of the format do not look.

    python3 test/models/form_ops.py [OP...]

Sizes and positions are made in single precision, a start may lie in front of a dim that is walked backwards, pooled
windows may leave elements out, means of integers are integers. As ops.py, which it is made of; the table FORMS is the
place to add an op.
"""

import sys

import numpy as np
from ops import POOL, i64, make_case, v, write


def f32(*values):
    """A constant list of numbers."""
    return np.array(values, np.float32)


NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
POOL["ten"] = ((np.arange(40, dtype=np.float32).reshape(1, 1, 4, 10) * 7) % 11) / 4
POOL["small"] = POOL["x"] / np.float32(4096)
POOL["zeros"] = np.zeros((2, 3), np.float32)

FORMS = {
    ("Resize", 19): [
        v("ten", None, f32(1, 1, 1, 0.7), mode="nearest"),
        v("ten", None, f32(1, 1, 1, 1.3), mode="linear"),
        v("ten", None, f32(1, 1, 1, 0.6), **NEAREST),
        v("ten", None, f32(1, 1, 1, 1 / 3), **NEAREST),
    ],
    ("Resize", 10): [v("ten", f32(1, 1, 0.6, 0.6)), v("ten", f32(1, 1, 0.5, 1.3), mode="linear")],
    ("Upsample", 9): [v("ten", f32(1, 1, 2, 3)), v("ten", f32(1, 1, 2, 3), mode="linear")],
    ("Slice", 13): [
        v("x", i64(-100), i64(-200), i64(1), i64(-1)),
        v("x", i64(100), i64(-(2**62)), i64(2), i64(-3)),
    ],
    ("LpPool", 18): [v("image", kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1, pads=[1, 0, 1, 1])],
    ("ReduceMean", 20): [v("i", i64(1), keepdims=0), v("i")],
    ("ReduceL2", 20): [v("i", i64(-1))],
    ("DynamicQuantizeLinear", 11): [v("x", out=3), v("zeros", out=3)],
    ("MeanVarianceNormalization", 13): [v("small", axes=[0, 2]), v("x", axes=[0, 2])],
}


def main():
    wanted = sys.argv[1:]
    for (op, opset), variants in FORMS.items():
        if not wanted or op in wanted:
            write(f"{op}-{opset}", *make_case(op, opset, variants))


if __name__ == "__main__":
    main()
