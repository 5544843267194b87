"""Writes not-passed.txt from the messages of the program conformance (run.py --write-list)."""

import collections
import re

# The first pattern found in a test's name and messages determines the reason why it does not pass.
REASONS = [
    (r"bernoulli|training_dropout", "random numbers: the values depend on the implementation"),
    (r"ImageDecoder", "decoding of image files is not part of a computation on tensors"),
    (r"TreeEnsemble|ArrayFeatureExtractor|Binarizer", "classical machine learning (ai.onnx.ml): Cleave trains networks"),
    (r"e8m0|element type 24", "float8e8m0: an exponent without a mantissa, which no element type of Cleave represents"),
    (r"bitcast", "the bits of 64-bit numbers are not exact during import"),
    (r"uses opset", "opsets below 6"),
    (
        r"present_fp16|linear_attention_fp16",
        "float16: another order of rounding than in the record; differs by one unit in the last place",
    ),
    (r"FLOAT4E2M1", "the record converts NaN to a number of float4; Cleave keeps NaN"),
    (r"dft_inverse", "sums in float32 miss the absolute tolerance of 1e-7 where the result is zero"),
    (r"adam_multiple", "the record differs from the newer one of the same test, which passes"),
    (r"ui16|expected uint16", "the record has bfloat16 values with the type uint16"),
]

HEAD = (
    "# The tests of ONNX that Cleave does not pass, by reason (Expectations.h). Tests that pass are not listed.\n"
    "# run.py --write-list writes this file; the reasons are in write_list.py.\n"
)


def reason_of(name, messages):
    text = name + "\t" + " ".join(messages)
    return next((why for pattern, why in REASONS if re.search(pattern, text)), None)


def write(failures, path):
    """`failures`: path, test and message per line, separated by tabs. Returns the tests without a matching reason."""
    messages = collections.defaultdict(dict)
    with open(failures, encoding="utf-8") as lines:
        for line in lines:
            if line.count("\t") >= 2:
                way, name, message = line.rstrip("\n").split("\t", 2)
                messages[name][way] = message
    groups, unknown = {}, {}
    for name in sorted(messages):
        ways = messages[name]
        why = reason_of(name, ways.values())
        if why:
            groups.setdefault(why, []).append(name + ("" if len(ways) == 2 else " " + next(iter(ways))))
        else:
            unknown[name] = next(iter(ways.values()))
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for why, names in groups.items():
            out.write(f"\n[{why}]\n" + "".join(name + "\n" for name in names))
    return unknown
