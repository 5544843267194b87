#!/usr/bin/env python3
"""Writes the .onnx files of this folder and of docs/examples/gpt, as PyTorch's own exporters write them.

    python3 test/models/export.py              # all committed files, then the table in README.md
    python3 test/models/export.py --bench OUT  # the larger GPT of the benchmark (13 MB, not committed)

Needs torch, onnx, onnxscript. The only change made to what an exporter wrote: the metadata key
`pkg.torch.onnx.stack_trace` is dropped, since it holds paths of the machine that exported.
"""

import argparse
import collections
import pathlib
import re
import warnings

import onnx
import torch

import models

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# file stem -> (model, exporter, opset or None for the exporter's default). Exporters: `dynamo` is the
# current one as it comes, `noopt` the same with optimize=False; `train` and `eval` are the old one in
# TrainingMode.TRAINING without constant folding, and as it comes.
FILES = {
    "gpt.dynamo": ("gpt", "dynamo", None),
    "gpt.dynamo-noopt": ("gpt", "noopt", None),
    "gpt.ts-train": ("gpt", "train", 17),
    "gpt.ts-eval": ("gpt", "eval", 18),
    "gpt2.dynamo": ("gpt2", "dynamo", None),
    "gpt2.dynamo-noopt": ("gpt2", "noopt", None),
    "gpt2.ts-train": ("gpt2", "train", 13),
    "gpt2.ts-eval": ("gpt2", "eval", 11),
    "resnet.dynamo": ("resnet", "dynamo", None),
    "resnet.dynamo-noopt": ("resnet", "noopt", None),
    "resnet.ts-train": ("resnet", "train", 17),
    "resnet.ts-train-13": ("resnet", "train", 13),
    "resnet.ts-eval": ("resnet", "eval", 11),
    "mlp.dynamo": ("mlp", "dynamo", None),
    "mlp.dynamo-noopt": ("mlp", "noopt", None),
    "mlp.ts-train": ("mlp", "train", 11),
    "mlp.ts-eval": ("mlp", "eval", 20),
    "vit.dynamo": ("vit", "dynamo", None),
    "vit.dynamo-noopt": ("vit", "noopt", None),
    "vit.ts-train": ("vit", "train", 20),
    "vit.ts-eval": ("vit", "eval", 14),
}


def export(spec, exporter, opset, path, external=False, batch=2):
    """Exports a fresh model of `spec` to `path` with a symbolic first dim `batch`; returns the model.

    It is run with `batch` samples."""
    model = models.build(spec)
    name = spec[1]
    training = exporter != "eval"
    model.train(training)
    common = dict(input_names=[name], output_names=["logits"], opset_version=opset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter in ("dynamo", "noopt"):
            first = torch.export.Dim("batch", min=1, max=4096)
            torch.onnx.export(
                model,
                (models.samples(spec, batch, seed=0),),
                str(path),
                dynamo=True,
                optimize=exporter == "dynamo",
                external_data=external,
                verbose=False,
                dynamic_shapes={name: {0: first}},
                **common,
            )
        else:
            mode = torch.onnx.TrainingMode.TRAINING if training else torch.onnx.TrainingMode.EVAL
            torch.onnx.export(
                model,
                (models.samples(spec, batch, seed=0),),
                str(path),
                dynamo=False,
                training=mode,
                do_constant_folding=not training,
                dynamic_axes={name: {0: "batch"}, "logits": {0: "batch"}},
                **common,
            )
    drop_stack_traces(path)
    return model


def drop_stack_traces(path):
    """Removes the exporter's stack traces, and refuses a file that still holds an absolute path."""
    proto = onnx.load(str(path), load_external_data=False)
    for node in proto.graph.node:
        kept = [p for p in node.metadata_props if p.key != "pkg.torch.onnx.stack_trace"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    data = proto.SerializeToString(deterministic=True)
    found = re.search(rb"/(home|root|tmp|usr|work|Users)/[ -~]{0,60}", data)
    if found:
        raise SystemExit(f"{path}: holds the path {found.group().decode()}")
    pathlib.Path(path).write_bytes(data)


def describe(path):
    """One row of the README's table: opset, size, and how often each op occurs."""
    proto = onnx.load(str(path), load_external_data=False)
    counts = collections.Counter()
    for node in proto.graph.node:
        counts[f"{node.domain}::{node.op_type}" if node.domain else node.op_type] += 1
    for function in proto.functions:
        counts[f"function {function.name}"] += 1
    opsets = ", ".join(f"{o.domain + ' ' if o.domain else ''}{o.version}" for o in proto.opset_import)
    ops = ", ".join(f"{op} {n}" for op, n in sorted(counts.items()))
    size = (pathlib.Path(path).stat().st_size + 1023) // 1024
    return f"| `{path.relative_to(ROOT)}` | {opsets} | {size} | {len(proto.graph.initializer)} | {ops} |"


def write_table(paths):
    """Replaces the table in README.md."""
    head = ["| file | opset | KiB | initializers | ops |", "|---|---|---|---|---|"]
    table = "\n".join(head + [describe(p) for p in paths])
    readme = HERE / "README.md"
    text = readme.read_text()
    begin, end = "<!-- table -->\n", "\n<!-- end -->"
    before, rest = text.split(begin)
    readme.write_text(before + begin + table + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench", metavar="OUT", help="write only the benchmark's GPT, to OUT")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.bench:
        export(models.BENCH_GPT, "dynamo", None, arguments.bench)
        return
    paths = []
    for stem, (model, exporter, opset) in FILES.items():
        paths.append(HERE / f"{stem}.onnx")
        export(models.MODELS[model], exporter, opset, paths[-1])
    paths.append(HERE / "gpt-external.onnx")
    export(models.MODELS["gpt"], "dynamo", None, paths[-1], external=True)
    paths.append(ROOT / "docs/examples/gpt/gpt.onnx")
    export(models.EXAMPLE_GPT, "dynamo", None, paths[-1])
    write_table(paths)


if __name__ == "__main__":
    main()
