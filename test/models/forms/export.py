#!/usr/bin/env python3
"""Writes the files of this folder.

    python3 test/models/forms/export.py

Needs torch, onnxscript and transformers.
"""

import pathlib
import shutil
import sys
import tempfile
import warnings

import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "torch"))

import sweep_forms  # noqa: E402
import torch  # noqa: E402

# model -> (whether padding is left out, its forms)
FORMS = {"llama": (False, ["exported", "decomposed", "dynamo", "trace"]), "bert": (True, ["exported", "legacy", "trace"])}
KEPT = {"pkg.torch.onnx.fx_node"}


def shrink(path):
    """Drops most of what the exporter notes about nodes."""
    proto = onnx.load(str(path))
    for node in proto.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key in KEPT]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    del proto.graph.value_info[:]
    path.write_bytes(proto.SerializeToString(deterministic=True))


def main():
    torch.set_num_threads(1)
    for kind, (padded, forms) in FORMS.items():
        spec = sweep_forms.tokens_of(kind, "sdpa", padded, layers=1)
        for form in forms:
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                written = sweep_forms.write(spec, form, pathlib.Path(folder))
                if written.suffix == ".onnx":
                    shrink(written)
                shutil.copy(written, HERE / f"{kind}.{form}{written.suffix}")


if __name__ == "__main__":
    main()
