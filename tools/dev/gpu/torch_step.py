#!/usr/bin/env python3
"""Times PyTorch's training step of one benchmark model; prints one line of JSON.

    tools/dev/gpu/torch_step.py SPEC [--mode eager|compiled] [--device cuda|cpu] [--steps 20] [--gate FILE]

SPEC is an entry of the bundle's manifest as JSON: `zoo`, `sizes`, `set`, `batch`. Weights are drawn on the device. The step has bf16
autocast, the loss inside the compiled region, fused AdamW, and channels_last in ResNets; it copies its batch to the device, as Cleave
does. The first half of the steps is warm-up; the rest gives the median and the peak memory. With --gate it compiles, makes FILE, and
times its steps when FILE is gone, so that several models can compile at the same time and have the GPU for themselves when they are timed.
"""

import argparse
import json
import pathlib
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """A transformer layer with the norms before."""

    def __init__(self, hidden, heads, ffn):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, ffn), nn.Linear(ffn, hidden)

    def forward(self, x):
        batch, seq, hidden = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, seq, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, seq, hidden))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """GPT-2: learned positions, output weights shared with the embedding."""

    def __init__(self, layers, hidden, heads, ffn, vocab, context):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, hidden), nn.Embedding(context, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads, ffn) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.tokens.weight)


class Loss(nn.Module):
    """A model and its loss, to be compiled together."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return F.cross_entropy(self.model(x).flatten(0, -2).float(), y.flatten())


class Clock:
    """Marks points of time: on a GPU in its queue, so that the host runs ahead as it does without a clock."""

    def __init__(self, device):
        self.is_cuda, self.marks = device == "cuda", []

    def mark(self):
        if self.is_cuda:
            self.marks.append(torch.cuda.Event(enable_timing=True))
            self.marks[-1].record()
        else:
            self.marks.append(time.perf_counter())

    def seconds(self):
        """Seconds between the marks."""
        if self.is_cuda:
            torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 if self.is_cuda else b - a for a, b in zip(self.marks, self.marks[1:])]


def model_of(spec):
    """The module, and the shape and number of values of its input and labels: (inputs, labels, classes)."""
    sizes, batch = spec["sizes"], spec["batch"]
    if spec["zoo"].startswith("gpt"):
        shape = (batch, spec["set"]["seq"])
        return Gpt(**sizes), (shape, sizes["vocab"]), (shape, sizes["vocab"])
    import torchvision
    side, classes = sizes.get("image", 224), sizes.get("classes", 1000)
    if spec["zoo"].startswith("resnet"):
        model = getattr(torchvision.models, spec["zoo"])(num_classes=classes)
    elif "hidden" in sizes:
        model = torchvision.models.VisionTransformer(side, 16, sizes["layers"], sizes["heads"], sizes["hidden"], sizes["ffn"],
                                                     num_classes=classes)
    else:
        model = getattr(torchvision.models, spec["zoo"])(num_classes=classes)
    return model, ((batch, 3, side, side), 0), ((batch,), classes)


def draw(shape, classes, layout, device):
    """One host batch: token or class numbers, or values of a normal distribution where there are no classes."""
    values = torch.randint(classes, shape) if classes else torch.randn(shape).to(memory_format=layout)
    return values.pin_memory() if device == "cuda" else values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("spec", type=json.loads)
    parser.add_argument("--mode", default="eager", choices=["eager", "compiled"])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--gate", type=pathlib.Path)
    a = parser.parse_args()
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.benchmark = True
    layout = torch.channels_last if a.spec["zoo"].startswith("resnet") else torch.contiguous_format
    with torch.device(a.device):
        model, inputs, labels = model_of(a.spec)
    model = model.to(memory_format=layout).train()
    loss_of = torch.compile(Loss(model)) if a.mode == "compiled" else Loss(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
    host = [(draw(*inputs, layout, a.device), draw(*labels, layout, a.device)) for _ in range(2)]
    clock, losses, warm = Clock(a.device), [], a.steps // 2

    def train(step):
        x, y = (part.to(a.device, non_blocking=True) for part in host[step % 2])
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(a.device, dtype=torch.bfloat16):
            loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    first = 0
    if a.gate:
        train(0)
        first = 1
        if a.device == "cuda":
            torch.cuda.synchronize()
        a.gate.touch()
        while a.gate.exists():
            time.sleep(0.05)
    for step in range(first, a.steps):
        if step == warm and a.device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        clock.mark()
        train(step)
    clock.mark()
    seconds = clock.seconds()
    memory = torch.cuda.max_memory_allocated() if a.device == "cuda" else 0
    print(json.dumps({"engine": f"PyTorch {torch.__version__} {a.mode}", "seconds": statistics.median(seconds[warm - first:]),
                      "fastest": min(seconds[warm - first:]), "first_seconds": seconds[0], "memory_bytes": memory,
                      "losses": [losses[0].item(), losses[-1].item()]}))


if __name__ == "__main__":
    main()
