#!/usr/bin/env python3
"""Writes the .pt2 files of this folder, as torch.export.save writes them.

    python3 test/models/export_pt2.py

Needs torch. The only changes made to what PyTorch wrote: notes on where nodes come from (stack traces, histories of passes) are
dropped, since they hold paths of the machine that exported, and the program's text is compressed.
"""

import functools
import io
import json
import pathlib
import re
import zipfile

import torch

import models

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ["gpt", "gpt2", "mlp", "resnet", "vit"]
DECOMPOSED = ["gpt", "mlp", "resnet", "vit"]
KEPT = {"nn_module_stack"}  # of a node's notes


def with_named_output(model):
    """The same model, returning {"logits": ...}."""
    forward = type(model).forward

    @functools.wraps(forward)
    def named(self, *inputs, **options):
        return {"logits": forward(self, *inputs, **options)}

    model.__class__ = type(type(model).__name__, (type(model),), {"forward": named})
    return model


def program_of(spec, samples=2):
    """The exported program of a fresh model in training mode, with a dynamic first dim."""
    model = with_named_output(models.build(spec).train())
    batch = torch.export.Dim("batch", min=1, max=4096)
    return torch.export.export(model, (), {spec[1]: models.samples(spec, samples, seed=0)}, dynamic_shapes={spec[1]: {0: batch}})


def drop_notes(part):
    """Of all nodes below a part of the program, also of graphs inside graphs."""
    if isinstance(part, list):
        for item in part:
            drop_notes(item)
    elif isinstance(part, dict):
        if "target" in part and isinstance(part.get("metadata"), dict):
            part["metadata"] = {key: value for key, value in part["metadata"].items() if key in KEPT}
        for item in part.values():
            drop_notes(item)


def save(program, path):
    """Writes the archive; refuses one that still holds an absolute path."""
    whole = io.BytesIO()
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as target:
        for entry in source.infolist():
            data, how = source.read(entry), zipfile.ZIP_STORED
            folder, _, name = entry.filename.partition("/")
            if name == "models/model.json":
                text = json.loads(data)
                drop_notes(text["graph_module"])
                data, how = json.dumps(text).encode(), zipfile.ZIP_DEFLATED
            found = re.search(rb"/(home|root|tmp|usr|work|Users)/[ -~]{0,60}", data)
            if found:
                raise SystemExit(f"{path}: {name} holds the path {found.group().decode()}")
            target.writestr(zipfile.ZipInfo(f"{path.stem}/{name}"), data, how)


def main():
    torch.set_num_threads(1)
    for name in MODELS:
        program = program_of(models.MODELS[name])
        save(program, HERE / f"{name}.pt2")
        if name in DECOMPOSED:
            save(program.run_decompositions(), HERE / f"{name}.decomposed.pt2")


if __name__ == "__main__":
    main()
