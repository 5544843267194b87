"""Writes not-passed.txt from what the program conformance says about tests that are not passed (run.py --write-list)."""

import collections
import re

# The first pattern that is found in a test's name and messages says why it is not passed.
REASONS = [
    (r"bernoulli|training_dropout", "random numbers: every program draws its own"),
    (r"ImageDecoder", "decoding of image files is not part of a computation on tensors"),
    (r"TreeEnsemble|ArrayFeatureExtractor|Binarizer", "classical machine learning (ai.onnx.ml): Cleave trains networks"),
    (r"e8m0|element type 24", "float8e8m0: an exponent without a mantissa, which nothing holds"),
    (r"bitcast", "the bits of 64-bit numbers are not known exactly while importing"),
    (r"uses opset", "opsets below 6"),
    (
        r"present_fp16|linear_attention_fp16",
        "float16: rounded in another order than the record, one unit in the last place apart",
    ),
    (r"FLOAT4E2M1", "what is no number becomes one of float4 in the record; Cleave keeps it"),
    (r"dft_inverse", "sums in float32 miss the absolute tolerance of 1e-7 where the result is zero"),
    (r"adam_multiple", "the record differs from the newer one of the same test, which is passed"),
    (r"ui16|expected uint16", "the record holds bfloat16 under the name of uint16"),
]

HEAD = (
    "# The tests of ONNX that Cleave does not pass, below the reason why (Expectations.h). A test that passes has no"
    " place here.\n# run.py --write-list writes this file; reasons are in write_list.py.\n"
)


def reason_of(name, messages):
    text = name + "\t" + " ".join(messages)
    return next((why for pattern, why in REASONS if re.search(pattern, text)), None)


def write(failures, path):
    """`failures`: path, test and message per line, separated by tabs. Returns the tests that no reason fits."""
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
