#!/usr/bin/env python3
"""Writes `precision/`: models whose positions and regions must stay f32 in a low type, with PyTorch's losses under autocast.

    python3 test/models/low_precision.py

Needs torch. Every model is exported with its regions that disable autocast; `rotary.decomposed.pt2` has none. `records.json` has the losses
of STEPS steps of SGD under autocast to each low type, and what they would be without the regions.
"""

import contextlib
import json
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent / "precision"
STEPS, BATCH, LENGTH, WIDTH, LR = 4, 2, 16, 16, 0.005
NOISE = 0.1  # of labels, which are otherwise what the model computes in float32: roundings of positions raise the loss
REGIONS = True


def full():
    """The region in which a model needs f32."""
    return torch.autocast("cpu", enabled=False) if REGIONS else contextlib.nullcontext()


class Rotary(nn.Module):
    """Frequencies of a parameter and of a buffer times positions in the input, and distances times slopes as a bias of attention."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.learned = nn.Parameter(torch.rand(1, WIDTH // 4), requires_grad=False)  # trained at positions of 8000, it would diverge
        self.register_buffer("fixed", 100.0 ** -(torch.arange(WIDTH // 4) / (WIDTH // 4)))
        self.register_buffer("slopes", torch.tensor([0.1, 0.03]))

    def forward(self, x, positions):
        with full():
            at = positions[..., None].float()
            angles = torch.cat([torch.einsum("btk,f->btf", at, self.fixed), at @ self.learned], -1)
            cos, sin = angles.cos().repeat(1, 1, 2), angles.sin().repeat(1, 1, 2)
            distance = (positions[:, None, :, None] - positions[:, None, None, :]).abs().float()
            bias = -self.slopes[None, :, None, None] * distance

        def turned(z):
            a, b = z.chunk(2, -1)
            return z * cos + torch.cat([-b, a], -1) * sin

        q, k, v = (z.view(*z.shape[:2], 2, -1).transpose(1, 2) for z in
                   (turned(self.query(x)), turned(self.key(x)), self.value(x)))
        scores = (q @ k.transpose(-1, -2)).float() * 5 + bias
        y = (F.softmax(scores, -1) @ v).transpose(1, 2).flatten(2)
        return {"y": y}


class Timesteps(nn.Module):
    """An embedding of float timesteps by Fourier features, layers on it, and a layer of sines in a region."""

    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(1, WIDTH // 2) * 3)
        self.first, self.second, self.last = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x, times):
        with full():
            angles = (times[:, None] @ self.frequencies) * 6.2831853
            embedding = torch.cat([angles.sin(), angles.cos()], -1)
        y = F.silu(self.first(embedding))[:, None] + x
        with full():
            y = torch.sin(20 * self.second(y.float()))
        return {"y": self.last(y)}


def made(kind):
    torch.manual_seed(5)
    return kind()


def data(kind, draw):
    x = draw.standard_normal((STEPS * BATCH, LENGTH, WIDTH), dtype=np.float32)
    if kind is Rotary:
        arrays = {"x": x, "positions": draw.integers(0, 8000, (len(x), 1)) + np.arange(LENGTH)}
    else:
        arrays = {"x": x, "times": draw.random(len(x), dtype=np.float32) * 30}
    with torch.no_grad():
        y = made(kind)(*map(torch.from_numpy, arrays.values()))["y"].numpy()
    return arrays | {"y.label": y + NOISE * draw.standard_normal(y.shape, dtype=np.float32)}


def losses(model, arrays, low):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=LR)
    out = []
    for i in range(STEPS):
        x, at, label = (torch.from_numpy(a[i * BATCH : (i + 1) * BATCH]) for a in arrays.values())
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=low):
            y = model(x, at)["y"]
        loss = F.mse_loss(y.float(), label)
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return out


def main():
    global REGIONS
    torch.set_num_threads(1)
    HERE.mkdir(exist_ok=True)
    records = {}
    for kind in (Rotary, Timesteps):
        name = kind.__name__.lower()
        arrays = data(kind, np.random.default_rng(3))
        np.savez_compressed(HERE / f"{name}.npz", **arrays)
        records[name] = {}
        for regions in (True, False):
            REGIONS = regions
            for low, key in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
                model = made(kind)
                if regions and key == "bf16":
                    example = tuple(torch.from_numpy(a[:BATCH]) for a in list(arrays.values())[:2])
                    program = torch.export.export(model, example)
                    torch.export.save(program, HERE / f"{name}.pt2")
                    if kind is Rotary:
                        torch.export.save(program.run_decompositions(), HERE / f"{name}.decomposed.pt2")
                records[name][key if regions else f"{key} without regions"] = losses(model, arrays, low)
    (HERE / "records.json").write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
