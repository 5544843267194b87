#!/usr/bin/env python3
"""Writes merged.dynamo.onnx: what PyTorch's default ONNX export loses of a fresh model whose parameters are equal.

`gain` and `scale` multiply one value and are both ones: the exporter merges the two products, and `scale` is gone. `shift` and `offset` (zeros) are
read as 1 + shift and 1 + offset, which the exporter computes and merges: one tensor, read under two names.
"""

import pathlib

import torch
from torch import nn


class Merged(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.gain, self.scale = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
        self.shift, self.offset = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(4))

    def forward(self, x):
        x = self.fc(x)
        x = torch.sin(x * self.gain) + torch.cos(x * self.scale)
        return (x * (1 + self.shift)).exp() * (1 + self.offset)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.onnx.export(Merged().train(), (torch.randn(2, 4),), pathlib.Path(__file__).with_name("merged.dynamo.onnx"), dynamo=True,
                      dynamic_shapes={"x": {0: "batch"}}, external_data=False, verbose=False)
