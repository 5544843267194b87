#!/usr/bin/env python3
"""Writes ops/OP-ms1.*: operators of the domain com.microsoft, into which ONNX Runtime's optimizer fuses others.

    python3 test/models/contrib_ops.py [OP...]

As ops.py, which it is made of; the table CONTRIB is the place to add an op.
"""

import sys

import numpy as np
from ops import POOL, floats, i64, integers, make_case, scalar, v, write

POOL.update(
    {
        "query": floats(2, 4, 8),
        "key": floats(2, 5, 8),
        "value": floats(2, 5, 8),
        "query32": floats(2, 4, 32),
        "kv16": floats(2, 4, 16),
        "angles8": floats(9, 8),
        "past": floats(2, 2, 3, 4),
        "past2": floats(2, 2, 2, 3, 4),
        "bias24": floats(24),
        "projection": floats(8, 24),
        "angles": floats(9, 2),
        "words": integers(0, 5, 2, 4).astype(np.int32),
        "table8": floats(6, 8),
        "narrow": floats(2, 3, 32),
        "segments": integers(0, 2, 2, 4).astype(np.int32),
    }
)


def i32(*values):
    """A constant list of small integers."""
    return np.array(values, np.int32)


# Masks keep at least one key.
KEEP = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
BYTES = integers(0, 256, 8, 4).astype(np.uint8)
QUARTERS = integers(0, 256, 4, 2, 8).astype(np.uint8)
ZEROS = integers(0, 256, 4, 1).astype(np.uint8)
GROUPED = {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1}
POOL.update({"query1": floats(2, 1, 32), "kv1": floats(2, 1, 16), "past1": floats(2, 1, 5, 16)})
WEIGHT_BYTES = integers(-100, 100, 8, 24).astype(np.int8)
CONTRIB = {
    "Gelu": [v("x")],
    "BiasGelu": [v("x", "row")],
    "FastGelu": [v("x"), v("x", "row")],
    "QuickGelu": [v("x", alpha=1.702), v("x", alpha=0.5)],
    "FusedMatMul": [v("a", "bt", transB=1, alpha=0.5), v("heads", "heads", transB=1, alpha=2.0), v("a", "c", transA=1)],
    "SkipLayerNormalization": [
        v("query", "query", "scale8", "shift8", epsilon=1e-5),
        v("query", "query", "scale8", None, "shift8", out=(0, 3), epsilon=1e-5),
    ],
    "SkipSimplifiedLayerNormalization": [v("query", "query", "scale8", "shift8", out=(0, 3), epsilon=1e-5)],
    "EmbedLayerNormalization": [
        v("words", None, "table8", "table8", None, "scale8", "shift8", out=2, epsilon=1e-5),
        v("words", "segments", "table8", "table8", "table8", "scale8", "shift8", KEEP[:, 1:], out=2, epsilon=1e-5),
    ],
    "Attention": [
        v("query", "projection", "bias24", num_heads=2),
        v("query", "projection", "bias24", num_heads=2, unidirectional=1),
        v("query", "projection", "bias24", KEEP[:, :4], num_heads=2),
        v("query", "projection", "bias24", i32(3, 4), num_heads=2),
        v("query", "projection", "bias24", i32(3, 4, 1, 0), num_heads=2),
        v("query", "projection", "bias24", None, "past2", out=2, num_heads=2, unidirectional=1),
    ],
    "MultiHeadAttention": [
        v("query", "key", "value", num_heads=2),
        v("query", "key", "value", "bias24", KEEP, num_heads=2, scale=0.3),
        v("query", "query", "query", None, None, None, "past", "past", out=3, num_heads=2),
    ],
    "MatMulNBits": [
        v("narrow", QUARTERS, np.abs(floats(4, 2)), K=32, N=4, bits=4, block_size=16),
        v("narrow", QUARTERS, np.abs(floats(4, 2)), ZEROS, K=32, N=4, bits=4, block_size=16),
    ],
    "DynamicQuantizeMatMul": [
        v("query", BYTES, scalar(0.05), scalar(120, np.uint8)),
        v("query", BYTES, scalar(0.05), scalar(120, np.uint8), "scale4"),
    ],
    "MatMulIntegerToFloat": [
        v(BYTES.T.copy(), BYTES, scalar(0.02), scalar(0.05), scalar(100, np.uint8), scalar(120, np.uint8)),
    ],
    "RotaryEmbedding": [
        v("query", i64(1), "angles", "angles", num_heads=0),
        v("query", np.array([[0, 1, 2, 3], [4, 5, 6, 7]]), "angles", "angles", interleaved=1),
    ],
    "GroupQueryAttention": [
        v("query32", "kv16", "kv16", None, None, i32(3, 3), scalar(4, np.int32), out=3, num_heads=2, kv_num_heads=1),
        v("query32", "kv16", "kv16", None, None, i32(3, 3), scalar(4, np.int32), "angles8", "angles8", out=3, **GROUPED),
        # Lines of a batch with pasts of different lengths.
        v("query1", "kv1", "kv1", "past1", "past1", i32(3, 5), scalar(6, np.int32), out=3, num_heads=2, kv_num_heads=1),
        v("query1", "kv1", "kv1", "past1", "past1", i32(5, 2), scalar(6, np.int32), "angles8", "angles8", out=3, **GROUPED),
    ],
    "QAttention": [
        v(
            integers(0, 256, 2, 4, 8).astype(np.uint8),
            WEIGHT_BYTES,
            "bias24",
            scalar(0.02),
            scalar(0.01),
            None,
            scalar(128, np.uint8),
            scalar(0, np.int8),
            num_heads=2,
        ),
    ],
}


def main():
    wanted = sys.argv[1:]
    for op, variants in CONTRIB.items():
        if not wanted or op in wanted:
            write(f"{op}-ms1", *make_case(op, 20, variants, "com.microsoft"))


if __name__ == "__main__":
    main()
