#!/usr/bin/env python3
"""Times PyTorch's training step of one benchmark model; prints one line of JSON.

    tools/dev/gpu/torch_step.py SPEC [--mode eager|compiled] [--device cuda|cpu] [--steps 20]

SPEC is an entry of the bundle's manifest as JSON: `zoo`, `sizes`, `set`, `batch`. bf16 autocast, fused AdamW, weights and data drawn
from a seed; every step copies its batch to the device, as Cleave does.
"""

import argparse
import json
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


def draw(shape, classes, device):
    """One host batch: token or class numbers, or values of a normal distribution where there are no classes."""
    values = torch.randint(classes, shape) if classes else torch.randn(shape)
    return values.pin_memory() if device == "cuda" else values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("spec", type=json.loads)
    parser.add_argument("--mode", default="eager", choices=["eager", "compiled"])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--steps", type=int, default=20)
    a = parser.parse_args()
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model, inputs, labels = model_of(a.spec)
    model = model.to(a.device).train()
    step_model = torch.compile(model) if a.mode == "compiled" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
    host = [(draw(*inputs, a.device), draw(*labels, a.device)) for _ in range(2)]
    seconds, losses = [], []
    for step in range(a.steps):
        begin = time.perf_counter()
        x, y = (part.to(a.device, non_blocking=True) for part in host[step % 2])
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(a.device, dtype=torch.bfloat16):
            logits = step_model(x)
            loss = F.cross_entropy(logits.flatten(0, -2).float(), y.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    memory = torch.cuda.max_memory_allocated() if a.device == "cuda" else 0
    half = seconds[len(seconds) // 2:]
    print(json.dumps({"engine": f"PyTorch {torch.__version__} {a.mode}", "seconds": statistics.median(half),
                      "fastest": min(seconds), "first_seconds": seconds[0], "memory_bytes": memory,
                      "losses": [losses[0], losses[-1]]}))


if __name__ == "__main__":
    main()
