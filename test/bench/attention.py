#!/usr/bin/env python3
"""Cleave's attention, forward and backward, beside PyTorch's scaled_dot_product_attention, on the same cores in one run.

    PYTHON_WITH_TORCH test/bench/attention.py [--bin build/bin] [--threads 1] [--queries 4096] [--heads 1] [--groups 1] …

The model is an attention of three parameters with one input added, and the mean of its square as loss; a step is plain SGD. Both
train it in turns from the same weights. Prints seconds per step of both, their ratio, and how far the losses are apart. FLOPs: two
products of the scores' size forward, five backward, half of them if causal.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LR = 1.0


class Attention(torch.nn.Module):
    def __init__(self, o):
        super().__init__()
        draw = torch.Generator().manual_seed(1)

        def weights(heads, rows):
            return torch.nn.Parameter(torch.randn(1, heads, rows, o.width, generator=draw))

        self.q, self.k, self.v = weights(o.heads, o.queries), weights(o.groups, o.queries), weights(o.groups, o.queries)
        self.causal, self.grouped = o.causal, o.heads != o.groups

    def forward(self, x):
        y = F.scaled_dot_product_attention(self.q + x, self.k + x, self.v + x, is_causal=self.causal, enable_gqa=self.grouped)
        return (y * y).mean()


def torch_steps(model, data, threads):
    """(seconds per step, losses) of eager training."""
    torch.set_num_threads(threads)
    seconds, losses = [], []
    optimizer = torch.optim.SGD(model.parameters(), lr=LR)
    for x in torch.from_numpy(data):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = model(x[None])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:]), losses


def cleave_steps(options, folder, steps):
    command = [options.bin / "cleave-run", folder / "a.plan", "--data", folder / "data.npz", "--steps", steps, "--threads",
               options.threads, "--log", folder / "log.jsonl"]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    log = [step for step in map(json.loads, open(folder / "log.jsonl")) if "step" in step]
    return statistics.median(step["seconds"] for step in log[1:]), [step["loss"] for step in log]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    for name, default in (("threads", 1), ("rounds", 3), ("steps", 5), ("queries", 4096), ("heads", 1), ("groups", 1), ("width", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--causal", action="store_true")
    options = parser.parse_args()
    data = np.random.default_rng(1).standard_normal((options.steps, 1, 1, options.width), dtype=np.float32) * 0.1
    flops = 14 * options.heads * options.queries**2 * options.width / (2 if options.causal else 1)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        np.savez(folder / "data.npz", x=data)
        exported = torch.export.export(Attention(options), (torch.from_numpy(data[:1]),))
        torch.export.save(exported, folder / "a.pt2")
        subprocess.run([str(options.bin / "cleave-compile"), str(folder / "a.pt2"), "--train", "--loss", "output:0", "--optimizer",
                        f"sgd:lr={LR}", "-o", str(folder / "a.plan")], check=True)
        theirs, ours = [], []
        for _ in range(options.rounds):
            seconds, wanted = torch_steps(Attention(options), data, options.threads)
            theirs.append(seconds)
            seconds, found = cleave_steps(options, folder, options.steps)
            ours.append(seconds)
            apart = max(abs(a - b) / abs(a) for a, b in zip(wanted, found))
            print(f"round: PyTorch {theirs[-1]:.3f} s, Cleave {ours[-1]:.3f} s; losses apart by {apart:.1e} relative")
        theirs, ours = statistics.median(theirs), statistics.median(ours)
        print(f"PyTorch {theirs:.3f} s ({flops / theirs / 1e9:.0f} GFLOP/s), Cleave {ours:.3f} s ({flops / ours / 1e9:.0f} GFLOP/s), "
              f"ratio {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
