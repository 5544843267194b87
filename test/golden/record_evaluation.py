#!/usr/bin/env python3
"""Records how PyTorch evaluates a model with dropout and batch norm: model.eval() after a few steps of training.

    python3 test/golden/record_evaluation.py

Needs torch, numpy. Writes evaluation.pt2 (the fresh model, exported in training form), evaluation.safetensors (its state after the
training), evaluation.npz (samples whose number is no multiple of the batch, and labels, some of them ignored) and evaluation.json (loss
and accuracy over the samples, and for a loss of mean squares the mean over all elements). test/e2e/evaluation.py compares.
"""

import json
import pathlib
import struct
import sys

import numpy as np
import torch
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models"))
import export_pt2  # noqa: E402

SAMPLES, FEATURES, CLASSES = 21, 6, 5


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(FEATURES, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.dropout = torch.nn.Dropout(0.5)
        self.last = torch.nn.Linear(8, CLASSES)

    def forward(self, x):
        return {"logits": self.last(self.dropout(F.relu(self.norm(self.first(x)))))}


def write_safetensors(path, state):
    header, data = {}, b""
    for name, value in state.items():
        part = value.numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[value.dtype]
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(0)
    net = Net().train()
    batch = torch.export.Dim("batch", min=2, max=4096)
    program = torch.export.export(net, (), {"x": torch.randn(4, FEATURES)}, dynamic_shapes={"x": {0: batch}})
    export_pt2.save(program, HERE / "evaluation.pt2")

    x = torch.randn(SAMPLES, FEATURES)
    labels = torch.randint(0, CLASSES, (SAMPLES,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(10):
        optimizer.zero_grad()
        F.cross_entropy(net(x)["logits"], labels).backward()
        optimizer.step()
    labels[[2, 19]] = -100
    target = torch.randn(SAMPLES, CLASSES)
    net.eval()
    with torch.no_grad():
        logits = net(x)["logits"]
        counted = labels != -100
        found = {"loss": F.cross_entropy(logits, labels).item(),
                 "accuracy": (logits.argmax(1) == labels)[counted].float().mean().item(),
                 "mse": F.mse_loss(logits, target).item()}
    write_safetensors(HERE / "evaluation.safetensors", net.state_dict())
    np.savez(HERE / "evaluation.npz", **{"x": x.numpy(), "logits.label": labels.numpy(), "target": target.numpy()})
    (HERE / "evaluation.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
