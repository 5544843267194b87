#!/usr/bin/env python3
"""Writes the TorchScript files of this folder, as torch.jit writes them, from the models of ../models.py.

    python3 test/models/torch/export.py           # those of a current PyTorch
    /usr/bin/python3 test/models/torch/export.py  # those of PyTorch 1.13 (Debian's python3-torch)

The only change made to what PyTorch wrote: the files *.debug_pkl are dropped, since they hold paths of the machine that exported.
"""

import copy
import pathlib
import re
import sys
import tempfile
import zipfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import models  # noqa: E402

# file stem -> (model, form); those that end in -1.13 are written by that version.
FILES = {
    "mlp.trace": ("mlp", "trace"),
    "mlp.frozen": ("mlp", "frozen"),
    "mlp.script-1.13": ("mlp", "script"),
    "resnet.script": ("resnet", "script"),
    "resnet.trace-1.13": ("resnet", "trace"),
    "gpt.script": ("gpt", "script"),
    "gpt.frozen": ("gpt", "frozen"),
    "vit.trace": ("vit", "trace"),
    "gpt2.trace-1.13": ("gpt2", "trace"),
}


def write(spec, form, path, samples=2):
    """Writes a fresh model of `spec`; frozen is what was scripted, or else what was traced with so many samples."""
    model = models.build(spec).train(form != "frozen")
    made = None
    if form != "trace":
        try:
            made = torch.jit.script(model)
        except Exception:  # PyTorch cannot make a script of everything
            if form == "script":
                raise
    if made is None:
        model = models.build(spec).train(form != "frozen")  # trying may have changed it
        state = copy.deepcopy(model.state_dict())
        made = torch.jit.trace(model, (models.samples(spec, samples, seed=0),), check_trace=False)
        made.load_state_dict(state, strict=False)  # tracing a batch norm moves its statistics
    if form == "frozen":
        made = torch.jit.freeze(made)
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / path.name
        made.save(str(whole))
        strip(whole, path)


def strip(whole, path):
    """The archive without debug files; refuses one that still holds an absolute path."""
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith(".debug_pkl"):
                continue
            found = re.search(rb"/(home|root|tmp|usr|Users)/[ -~]{0,60}", data)
            if found:
                raise SystemExit(f"{path}: {name} holds the path {found.group().decode()}")
            kind = zipfile.ZIP_DEFLATED if name.endswith(".py") else zipfile.ZIP_STORED
            target.writestr(zipfile.ZipInfo(name), data, kind)


def main():
    old = torch.__version__.startswith("1.")
    for stem, (model, form) in FILES.items():
        if stem.endswith("-1.13") == old:
            write(models.MODELS[model], form, HERE / f"{stem}.pt")


if __name__ == "__main__":
    main()
