#!/usr/bin/env python3
"""A training step of a mixture of experts of transformers on one core: Cleave beside PyTorch, with grouped products (decision 0090)
of 8 and of 64 experts, and with gathered weights of 8.

    test/bench/experts.py [--bin build/bin] [--steps 5]

Two layers of width 256, experts of width 512, 512 tokens that choose 2 each, SGD. Per form the best of the steps after the first,
the losses of the first step, which must agree, and PyTorch's time relative to Cleave's. Needs torch and transformers.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy
import torch
import transformers
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIG = {"vocab_size": 512, "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 256, "num_experts_per_tok": 2}
RATE = 0.1


class Logits(nn.Module):
    def __init__(self, form, experts=8):
        super().__init__()
        config = transformers.MixtralConfig(**CONFIG, num_local_experts=experts, experts_implementation=form)
        self.model = transformers.MixtralForCausalLM(config)

    def forward(self, x):
        return self.model(input_ids=x, use_cache=False)["logits"]


def by_torch(module, x, steps):
    """Seconds and loss of each step."""
    optimizer = torch.optim.SGD(module.parameters(), RATE)
    out = []
    for _ in range(steps):
        start = time.perf_counter()
        loss = nn.functional.cross_entropy(module(x).flatten(0, 1), x.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        out.append((time.perf_counter() - start, loss.item()))
    return out


def by_cleave(tools, module, x, steps, folder):
    torch.export.save(torch.export.export(module, (x,)), folder / "m.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy(), label=x.numpy())
    subprocess.run([tools / "cleave-compile", folder / "m.pt2", "--train", "--loss", "softmax-cross-entropy", "--optimizer",
                    f"sgd:lr={RATE}", "--cluster", "local-cpu", "--ranks", "1", "-o", folder / "m.plan"], check=True, capture_output=True)
    subprocess.run([tools / "cleave-run", folder / "m.plan", "--data", folder / "data.npz", "--steps", str(steps), "--threads", "1",
                    "--log", folder / "log"], check=True, capture_output=True)
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return [(line["seconds"], line["loss"]) for line in lines if "loss" in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    x = torch.randint(CONFIG["vocab_size"], (4, 128), generator=torch.Generator().manual_seed(1))
    for form, experts in (("grouped_mm", 8), ("grouped_mm", 64), ("batched_mm", 8)):
        torch.manual_seed(0)
        module = Logits(form, experts)
        with tempfile.TemporaryDirectory() as folder:
            ours = by_cleave(options.bin, module, x, options.steps, pathlib.Path(folder))
        theirs = by_torch(module, x, options.steps)
        best = [min(seconds for seconds, _ in run[1:]) for run in (ours, theirs)]
        for name, seconds, run in (("Cleave", best[0], ours), ("PyTorch", best[1], theirs)):
            print(f"{form:10} {experts:2} experts {name:8} {seconds * 1e3:7.0f} ms per step, loss {run[0][1]:.5f}")
        print(f"{form:10} {experts:2} experts ratio    {best[1] / best[0]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
