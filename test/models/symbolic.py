#!/usr/bin/env python3
"""Writes symbolic/*.onnx: tiny models whose batch, sequence and image sizes are all symbols, for the importer's tests.

    python3 test/models/symbolic.py

Needs torch, onnx, onnxscript. As in export.py, the stack traces of the exporting machine are dropped.
"""

import pathlib
import warnings

import onnx
import onnx.parser
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent / "symbolic"


class Language(nn.Module):
    """Attention with a mask buffer that is cut to the sequence, the last token's logits, and a mean over the sequence."""

    def __init__(self, vocabulary=32, width=16, heads=2, longest=64):
        super().__init__()
        self.heads = heads
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary)
        self.register_buffer("mask", torch.tril(torch.ones(longest, longest)).view(1, 1, longest, longest))

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        parts = [p.view(batch, length, self.heads, -1).transpose(1, 2) for p in self.mix(self.norm(x)).chunk(3, dim=-1)]
        q, k, v = parts
        weights = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        weights = weights.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf")).softmax(dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, -1))
        return self.head(x[:, -1] + x[:, 1:].mean(dim=1) + x.flip(1)[:, 0])


class Image(nn.Module):
    """Convolutions and pooling that halve the image, whatever its size; global pooling; a skip connection."""

    def __init__(self, channels=8):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 7, stride=2, padding=3)
        self.norm = nn.BatchNorm2d(channels)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.down = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.same = nn.Conv2d(channels, channels, 3, padding=2, dilation=2, groups=2)
        self.average = nn.AvgPool2d(2, ceil_mode=True)
        self.head = nn.Linear(2 * channels, 10)

    def forward(self, image):
        x = self.pool(torch.relu(self.norm(self.first(image))))
        x = self.down(x)
        x = x + self.same(x)
        y = nn.functional.pad(x, (1, 2, 0, 1))
        x = torch.cat([x.mean(dim=(2, 3)), self.average(y).amax(dim=(2, 3))], dim=1)
        return self.head(x)


EXAMPLES = {
    "language": (Language, lambda: torch.randint(0, 32, (3, 6)), {0: "batch", 1: "seq"}),
    "image": (Image, lambda: torch.randn(3, 3, 37, 50), {0: "batch", 2: "height", 3: "width"}),
}


def write(name, exporter, opset):
    make, sample, symbols = EXAMPLES[name]
    torch.manual_seed(0)
    model = make().eval()
    path = HERE / f"{name}.{exporter}{opset or ''}.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter == "dynamo":
            dims = {axis: torch.export.Dim.DYNAMIC for axis, symbol in symbols.items()}
            torch.onnx.export(model, (sample(),), path, dynamo=True, dynamic_shapes=(dims,), external_data=False)
        else:
            torch.onnx.export(model, (sample(),), path, dynamo=False, opset_version=opset, input_names=["x"],
                              output_names=["y"], dynamic_axes={"x": symbols})
    loaded = onnx.load(path)
    for node in loaded.graph.node:
        kept = [p for p in node.metadata_props if p.key != "pkg.torch.onnx.stack_trace"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(loaded, path)
    print(path.name, path.stat().st_size)


def write_expression():
    """Sizes as exporters may name them: an expression of another symbol, and a name that looks like one."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        main (float[batch,past] x, float[batch,now] z) => (float[batch,all] y) { y = Concat <axis = 1> (x, z) }""")
    x, z = (i.type.tensor_type.shape.dim for i in model.graph.input)
    z[1].dim_param = "past + 1"
    x[0].dim_param = z[0].dim_param = "batch-size"
    onnx.save(model, HERE / "expression.onnx")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, opsets in {"language": (11, 17), "image": (10, 17)}.items():
        write(name, "dynamo", None)
        for opset in opsets:
            write(name, "ts", opset)
    write_expression()
