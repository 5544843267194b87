"""The PyTorch models behind the .onnx files of this folder, and the table of their sizes.

export.py writes them as PyTorch's exporters do; ../golden/record.py trains them and records the losses.
Parameters are drawn from a fixed seed exactly as PyTorch initialises fresh modules (equal LayerNorm
weights and all): exporters merge equal parameters, and that is one of the things under test.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Multi-head self-attention over [batch, seq, width]."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, seq, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, seq, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(y.transpose(1, 2).reshape(batch, seq, width))


class Mlp(nn.Module):
    """The two-layer perceptron of a transformer block."""

    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 4 * width)
        self.proj = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.proj(F.gelu(self.fc(x)))


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, causal)
        self.ln2 = nn.LayerNorm(width)
        self.mlp = Mlp(width)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    """GPT-2 style decoder: tokens [batch, seq] -> logits [batch, seq, vocab]; the head is tied to `tok`."""

    def __init__(self, layers=2, width=32, heads=4, vocab=64, seq=16, gpt2_init=False):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(seq, width)
        self.blocks = nn.ModuleList(Block(width, heads, causal=True) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.tok.weight
        if gpt2_init:
            self.apply(init_like_gpt2)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


def init_like_gpt2(module):
    """GPT-2's initialisation: weights from N(0, 0.02), biases zero."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class Projection(nn.Module):
    """GPT-2's linear layer: the weight is [inputs, outputs]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight).view(*x.shape[:-1], -1)


class SpelledBlock(nn.Module):
    """A pre-norm block with attention, mask, GELU (tanh form) and dropout spelled out, as GPT-2's first code does."""

    def __init__(self, width, heads, positions):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = Projection(width, 3 * width)
        self.c_proj = Projection(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = Projection(width, 4 * width)
        self.c_out = Projection(4 * width, width)
        self.dropout = nn.Dropout(0.0)
        self.register_buffer("mask", torch.tril(torch.ones(positions, positions)).view(1, 1, positions, positions))

    def attention(self, x):
        batch, seq, width = x.shape
        q, k, v = self.c_attn(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, seq, self.heads, -1).permute(0, 2, 1, 3) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(self.mask[:, :, :seq, :seq] == 0, float("-inf"))
        y = self.dropout(F.softmax(scores, dim=-1)) @ v
        return self.c_proj(y.permute(0, 2, 1, 3).contiguous().view(batch, seq, width))

    def mlp(self, x):
        h = self.c_fc(x)
        h = 0.5 * h * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * torch.pow(h, 3.0))))
        return self.dropout(self.c_out(h))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class SpelledGpt(nn.Module):
    """tokens [batch, 16] -> logits [batch, 16, 64] as GPT-2's first code spells it; the position table is longer."""

    def __init__(self, layers=2, width=32, heads=4, vocab=64, positions=24):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(positions, width)
        self.h = nn.ModuleList(SpelledBlock(width, heads, positions) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], dtype=torch.long, device=tokens.device).unsqueeze(0)
        x = self.wte(tokens) + self.wpe(positions)
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with a shortcut, which is a strided 1x1 convolution where the shape changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + shortcut)


class ResNet(nn.Module):
    """image [batch, 3, 16, 16] -> logits [batch, 10]: stem, two stages of basic blocks, pooling, fc."""

    def __init__(self, channels=(8, 16), classes=10):
        super().__init__()
        first, second = channels
        self.conv1 = nn.Conv2d(3, first, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(first)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(first, first, 1))
        self.layer2 = nn.Sequential(BasicBlock(first, second, 2), BasicBlock(second, second, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(second, classes)

    def forward(self, image):
        x = self.maxpool(F.relu(self.bn1(self.conv1(image))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Perceptron(nn.Module):
    """x [batch, 20] -> logits [batch, 7] through 50 and 30 units: odd sizes, relu and gelu."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 50)
        self.fc2 = nn.Linear(50, 30)
        self.fc3 = nn.Linear(30, 7)

    def forward(self, x):
        return self.fc3(F.gelu(self.fc2(F.relu(self.fc1(x)))))


class Vit(nn.Module):
    """image [batch, 3, 16, 16] -> logits [batch, 10]: 4x4 patches, class token, two encoder blocks."""

    def __init__(self, width=24, heads=3, layers=2, patch=4, side=16, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, stride=patch)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads, causal=False) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x)[:, 0])


# name -> (constructor, name of the one input, its shape without the batch dim, integer range or None)
MODELS = {
    "gpt": (Gpt, "tokens", (16,), 64),
    "gpt2": (SpelledGpt, "tokens", (16,), 64),
    "resnet": (ResNet, "image", (3, 16, 16), None),
    "mlp": (Perceptron, "x", (20,), None),
    "vit": (Vit, "image", (3, 16, 16), None),
}

# The GPT of docs/examples/gpt (byte level) and the larger one of test/bench, same tuple.
EXAMPLE_GPT = (lambda: Gpt(3, 64, 4, 256, 64, gpt2_init=True), "tokens", (64,), 256)
BENCH_GPT = (lambda: Gpt(4, 256, 4, 256, 256, gpt2_init=True), "tokens", (256,), 256)


def build(spec, seed=1):
    """A fresh model of `spec`, the same for the same seed."""
    torch.manual_seed(seed)
    return spec[0]()


def samples(spec, count, seed):
    """`count` inputs of `spec`: uniform tokens or normal floats."""
    generator = torch.Generator().manual_seed(seed)
    _, _, shape, tokens = spec
    if tokens:
        return torch.randint(tokens, (count, *shape), generator=generator)
    return torch.randn((count, *shape), generator=generator)
