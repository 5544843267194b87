#!/usr/bin/env python3
"""Writes merged.dynamo.onnx, merged-slope.dynamo.onnx and merged-transpose.dynamo.onnx: what PyTorch's default ONNX export loses of a fresh model whose parameters are equal.

`gain` and `scale` multiply one value and are both ones: the exporter merges the two products, and `scale` is gone. `shift` and `offset` (zeros) are
read as 1 + shift and 1 + offset, which the exporter computes and merges: one tensor, read under two names. The slope of a PReLU, [1], gets a
further dim for rows of matrices, and is then merged with a weight, [1, 1]. A product with a symmetric weight is merged with that with its transpose.
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


class Slope(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.act = nn.Linear(1, 1, bias=False), nn.PReLU(init=0.5)
        nn.init.constant_(self.fc.weight, 0.5)

    def forward(self, x):
        return self.act(self.fc(x))


class Transpose(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        nn.init.constant_(self.fc.weight, 0.5)

    def forward(self, x):
        return self.fc(x) + nn.functional.linear(x, self.fc.weight.t())


def write(model, x, name):
    torch.onnx.export(model.train(), (x,), pathlib.Path(__file__).with_name(name), dynamo=True, dynamic_shapes={"x": {0: "batch"}},
                      external_data=False, verbose=False)


if __name__ == "__main__":
    torch.manual_seed(0)
    write(Merged(), torch.randn(2, 4), "merged.dynamo.onnx")
    write(Slope(), torch.randn(2, 1), "merged-slope.dynamo.onnx")
    write(Transpose(), torch.randn(2, 2, 3), "merged-transpose.dynamo.onnx")
