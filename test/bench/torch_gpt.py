#!/usr/bin/env python3
"""Times PyTorch's eager training step of the benchmark's GPT, and prints the losses beside the time.

    python3 test/bench/torch_gpt.py [--threads N] [--steps 10] [--batch 8] [--compile] [--data FILE.npz]

The model is the one that `test/models/export.py --bench OUT` writes: 4 layers, 256 wide, 4 heads, vocabulary
256, sequence 256, fresh weights; AdamW, float32. One line of JSON per run; FLOP count as below (2 per
multiply-add, forward and twice that backward, nothing for softmax, norms and the optimizer).
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/models"))
import models  # noqa: E402


def flops(batch, layers=4, width=256, vocab=256, seq=256):
    """FLOPs of one step's matrix products, attention counted in full (not halved for causality)."""
    block = 12 * width * width + 2 * seq * width
    return 3 * 2 * batch * seq * (layers * block + width * vocab)


def license_windows(count, seq=256):
    """The repository's LICENSE, repeated, as `count` windows of bytes and the bytes one further."""
    text = np.frombuffer((ROOT / "LICENSE").read_bytes(), np.uint8).astype(np.int64)
    text = np.resize(text, count * seq + 1)
    return text[:-1].reshape(count, seq).copy(), text[1:].reshape(count, seq).copy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager")
    parser.add_argument("--data", help="write the samples that were used to this .npz")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    tokens, labels = license_windows(a.steps * a.batch)
    if a.data:
        np.savez(a.data, **{"tokens": tokens, "logits.label": labels})
    tokens, labels = torch.from_numpy(tokens), torch.from_numpy(labels)
    model = models.build(models.BENCH_GPT).train()
    step_model = torch.compile(model) if a.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.lr, weight_decay=0.01)
    seconds, losses = [], []
    for step in range(a.steps):
        rows = slice(step * a.batch, (step + 1) * a.batch)
        begin = time.perf_counter()
        optimizer.zero_grad()
        logits = step_model(tokens[rows])
        loss = F.cross_entropy(logits.flatten(0, 1), labels[rows].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    median = statistics.median(seconds[2:] or seconds)
    print(
        json.dumps(
            {
                "engine": f"PyTorch {torch.__version__} " + ("compiled" if a.compile else "eager"),
                "threads": a.threads,
                "batch": a.batch,
                "steps": a.steps,
                "seconds_per_step": round(median, 4),
                "fastest": round(min(seconds), 4),
                "gflop": round(flops(a.batch) / 1e9, 2),
                "gflop_per_second": round(flops(a.batch) / median / 1e9, 1),
                "loss": losses,
            }
        )
    )


if __name__ == "__main__":
    main()
