"""PyTorch modules for the importers of PyTorch's own formats: name -> (module, inputs).

`build(name)` gives a module with seeded weights, in eval mode unless TRAIN names it, and a tuple of inputs; the module returns
one tensor of floats. Needs torch; those of networks.py need more.
"""

import torch
from torch import nn
from torch.nn import functional as F

import corners
import families
import networks
from networks import BATCH, floats, tokens

class Function(nn.Module):
    """A linear layer before a function, so that there is a parameter whose gradient goes through it."""

    def __init__(self, function, width, rows=()):
        super().__init__()
        self.function = function
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.function(self.fc(x))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.bn2 = nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.bn1(self.conv1(x))
        y = F.relu_(y)
        y = self.bn2(self.conv2(y))
        y += x
        return F.relu(y, inplace=True)


class Tagger(nn.Module):
    """tokens -> a score per tag and position, by a recurrent network."""

    def __init__(self, cell, **options):
        super().__init__()
        self.embed = nn.Embedding(30, 12)
        self.rnn = cell(12, options.pop("hidden", 10), batch_first=True, **options)
        self.tag = nn.Linear(20 if options.get("bidirectional") else 10, 5)

    def forward(self, tokens):
        return self.tag(self.rnn(self.embed(tokens))[0])


class CellLoop(nn.Module):
    """A loop over the steps of a sequence, unrolled by the exporter."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(6, 5)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 5).to(x)
        c = torch.zeros(x.shape[0], 5).to(x)
        out = []
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
            out.append(h)
        return torch.stack(out, dim=1)


class ComplexRotary(nn.Module):
    """Positions as complex numbers, as Llama's first code has them: a table that is kept, or made in every step."""

    def __init__(self, kept):
        super().__init__()
        self.fc = nn.Linear(12, 12)
        self.kept = kept
        self.register_buffer("inverse", 0.1 ** torch.arange(3.0))
        self.register_buffer("table", self.angles(16), persistent=False)

    def angles(self, length):
        angle = torch.arange(length)[:, None] * self.inverse
        return torch.polar(torch.ones_like(angle), angle)

    def forward(self, x):
        pairs = self.fc(x).reshape(*x.shape[:-1], 2, -1, 2)
        table = self.table[: x.shape[1]] if self.kept else self.angles(x.shape[1]) * 2.0
        turned = torch.view_as_complex(pairs) * table[:, None, :]
        real = torch.view_as_real(turned).flatten(-2)
        return real * (turned * turned.conj()).real.sum() + turned.imag.mean() if self.kept else real


class Seq2Seq(nn.Module):
    """PyTorch's own transformer, encoder and decoder."""

    def __init__(self):
        super().__init__()
        self.model = nn.Transformer(12, 3, 2, 2, 24, dropout=0.0, batch_first=True)

    def forward(self, x, y):
        mask = torch.triu(torch.full((y.shape[1], y.shape[1]), float("-inf")), diagonal=1)
        return self.model(x, y, tgt_mask=mask)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x):
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), diagonal=1)
        return self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]


class GroupedAttention(nn.Module):
    """Queries of 4 heads on keys and values of 2, with rotary positions, as current language models have them."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 32, bias=False)
        self.kv = nn.Linear(16, 32, bias=False)
        self.register_buffer("freqs", 1.0 / 100.0 ** (torch.arange(0, 8, 2).float() / 8))

    def rotate(self, x):
        angle = torch.outer(torch.arange(x.shape[2]).float(), self.freqs)
        cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin

    def forward(self, x):
        batch, seq, _ = x.shape
        q = self.q(x).view(batch, seq, 4, 8).transpose(1, 2)
        k, v = self.kv(x).view(batch, seq, 2, 2, 8).permute(3, 0, 2, 1, 4)
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return y.transpose(1, 2).reshape(batch, seq, -1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.GroupNorm(2, 6), nn.SiLU())
        self.up = nn.ConvTranspose2d(6, 3, 4, stride=2, padding=1)
        self.out = nn.Conv2d(6, 2, 1)

    def forward(self, x):
        return self.out(torch.cat([self.up(self.down(x)), F.leaky_relu(x)], dim=1))


class Resizing(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.options = options

    def forward(self, x):
        return F.interpolate(self.conv(x), **self.options)


class Slices(nn.Module):
    """Writes to views of a tensor, reads with ellipsis, steps and negative places."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        y = self.fc(x).clone()
        y[:, 1] = 0
        y[..., ::2] *= 2
        y[:, -2:, 1:3].add_(1)
        return torch.cat([y[:, 1:], y.flip(1)[:, :1], torch.roll(y, 1, dims=-1)], dim=1)


class Indices(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(6, 5))

    def forward(self, rows):
        picked = self.table[rows]
        spread = torch.zeros(rows.shape[0], 6).scatter(1, rows, 0.7).to(self.table) @ self.table
        along = torch.gather(self.table.expand(rows.shape[0], 6, 5), 1, rows.unsqueeze(-1).expand(-1, -1, 5))
        return picked.sum(1) + spread + along.mean(1) + self.table[rows[:, 0], rows[:, 1] % 5].unsqueeze(1)


class Reductions(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        parts = [y.sum(-1), y.mean(-1), y.amax(-1), y.std(-1), y.var(-1, unbiased=False), y.logsumexp(-1), y.norm(dim=-1)]
        parts += [y.max(dim=-1).values, y.prod(dim=-1), y.cumsum(-1)[..., -1], torch.topk(y, 2).values.sum(-1)]
        return torch.stack(parts, dim=-1)


class Pointwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        z = torch.where(y > 0, y, y.exp() - 1) + y.clamp(-0.5, 0.5) + y.abs().pow(1.5) + torch.rsqrt(y * y + 1)
        z = z + torch.addcmul(y, y, x, value=0.5) + torch.lerp(y, x, 0.25) + y.sigmoid().log() + torch.atan(y) + y.erf()
        return z.masked_fill(x > 1.5, 0.0) + (x > 0).float() * y + x // 0.5 * 0.1 + torch.remainder(x, 0.7)


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.instance = nn.InstanceNorm1d(6, affine=True)
        self.layer = nn.LayerNorm((6, 5))
        self.weighted = nn.utils.parametrizations.weight_norm(nn.Linear(5, 5))
        self.rms = nn.RMSNorm(5, eps=1e-6)

    def forward(self, x):
        return self.rms(self.weighted(self.layer(self.instance(x))))


class Detached(nn.Module):
    """Parameters whose gradients are stopped on some ways and not on others."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.gate = nn.Parameter(torch.randn(6))

    def forward(self, x):
        y = self.fc(x)
        scale = y.detach().abs().amax(-1, keepdim=True)
        return y / scale + torch.sigmoid(y).detach() * self.gate


class WithoutGradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer("mean", torch.zeros(6))

    def forward(self, x):
        y = self.fc(x)
        with torch.no_grad():
            center = y.mean(0)
            spread = (y - center).abs().mean() + self.fc.bias.exp().sum()
            spread = spread * 0.5
        return (y - center) / spread


class Padded(nn.Module):
    """Tables with a row that is not trained, and one that is frozen altogether."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 6, padding_idx=2)
        self.places = nn.Embedding(5, 6)
        self.places.weight.requires_grad_(False)
        self.fc = nn.Linear(6, 4)

    def forward(self, tokens):
        return self.fc(self.words(tokens) + self.places.weight)


class Bags(nn.Module):
    """Sums of rows, distances between all rows, and elements put where a mask is."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(9, 6, mode="mean")
        self.centers = nn.Parameter(torch.randn(3, 6))

    def forward(self, tokens):
        y = self.bag(tokens)
        near = torch.cdist(y, self.centers)
        return torch.cat([near, y.masked_scatter(y > 0, self.centers[:, :4].tanh().repeat(3, 1))], -1)


class Losses(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 5)

    def forward(self, x, labels):
        y = self.fc(x)
        losses = [F.cross_entropy(y, labels), F.cross_entropy(y, labels, label_smoothing=0.1)]
        losses += [F.nll_loss(F.log_softmax(y, -1), labels, weight=torch.tensor([1.0, 2.0, 0.5, 1.0, 1.5]).to(y))]
        losses += [F.mse_loss(y, y.roll(1, 0)), F.smooth_l1_loss(y, torch.zeros_like(y), beta=0.5)]
        losses += [F.binary_cross_entropy_with_logits(y, (y > 0).to(y)), F.kl_div(F.log_softmax(y, -1), F.softmax(x[:, :5], -1))]
        return torch.stack(losses)


def encoder():
    layer = nn.TransformerEncoderLayer(12, 3, 24, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def activations(x):
    names = "relu gelu silu elu selu celu leaky_relu hardtanh hardswish hardsigmoid softplus softsign mish logsigmoid tanhshrink"
    return torch.stack([getattr(F, name)(x) for name in names.split()])


def movement(x):
    y = F.pad(x, (1, 2), value=0.5) + F.pad(x.unsqueeze(1), (1, 2), mode="replicate").squeeze(1)
    y = torch.cat([y, F.pad(x.unsqueeze(1), (2, 1), mode="reflect").squeeze(1)], dim=-1).unflatten(-1, (2, -1))
    return torch.stack(torch.tril(y).unbind(1), -1).repeat(1, 2, 1).tile(2).permute(2, 0, 1).contiguous()


# name -> (constructor, function that draws the inputs)
MODULES = {
    "linear": (lambda: nn.Linear(5, 3), floats(5)),
    "mlp": (lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)), floats(6)),
    "activations": (lambda: Function(activations, 6), floats(6)),
    "movement": (lambda: Function(movement, 8), floats(8)),
    "pointwise": (Pointwise, floats(6)),
    "reductions": (Reductions, floats(3, 6)),
    "slices": (Slices, floats(4, 8)),
    "indices": (Indices, lambda: (torch.stack([torch.randperm(6)[:3] for _ in range(BATCH)]),)),
    "norms": (Norms, floats(6, 5)),
    "detach": (Detached, floats(6)),
    "no-grad": (WithoutGradients, floats(6)),
    "padding": (Padded, tokens(9, 5)),
    "bags": (Bags, tokens(9, 5)),
    "losses": (Losses, lambda: (torch.randn(BATCH, 6), torch.randint(5, (BATCH,)))),
    "einsum": (lambda: Function(lambda x: torch.einsum("bij,bkj->bik", x, x), 4), floats(3, 4)),
    "bilinear": (lambda: Function(lambda x: torch.baddbmm(x, x, x, alpha=0.5), 4), floats(4, 4)),
    "glu": (lambda: Function(lambda x: F.glu(x) + F.softmax(x[..., :4], -1), 8), floats(8)),
    "conv1d": (lambda: nn.Conv1d(3, 4, 3, padding="same", dilation=2), floats(3, 9)),
    "conv2d": (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), floats(4, 9, 9)),
    "conv3d": (lambda: nn.Conv3d(2, 3, 2), floats(2, 4, 5, 4)),
    "depthwise": (lambda: nn.Conv2d(4, 8, 3, groups=4, padding_mode="circular", padding=1), floats(4, 6, 6)),
    "deconv": (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), floats(4, 5, 5)),
    "pools": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.AvgPool2d(2, 1, 1), nn.AdaptiveAvgPool2d((3, 2))),
        floats(3, 12, 12),
    ),
    "residual": (Residual, floats(4, 6, 6)),
    "residual.train": (Residual, floats(4, 6, 6)),
    "batchnorm1d.train": (lambda: nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Tanh()), floats(5)),
    "unet": (UNet, floats(3, 8, 8)),
    "nearest": (lambda: Resizing(scale_factor=2), floats(3, 6, 6)),
    "linear-resize": (lambda: Resizing(size=(9, 7), mode="bilinear", align_corners=False), floats(3, 6, 6)),
    "rotary-kept": (lambda: ComplexRotary(True), floats(9, 12)),
    "rotary-made": (lambda: ComplexRotary(False), floats(9, 12)),
    "corners": (lambda: Resizing(scale_factor=2.0, mode="bilinear", align_corners=True), floats(3, 6, 6)),
    "cubic": (lambda: Resizing(size=(9, 7), mode="bicubic"), floats(3, 6, 6)),
    "shuffle": (lambda: nn.Sequential(nn.Conv2d(3, 8, 1), nn.PixelShuffle(2), nn.PixelUnshuffle(2)), floats(3, 4, 4)),
    "lstm": (lambda: Tagger(nn.LSTM), tokens(30, 7)),
    "lstm.deep": (lambda: Tagger(nn.LSTM, num_layers=2, bidirectional=True), tokens(30, 7)),
    "lstm.projected": (lambda: Tagger(nn.LSTM, proj_size=10, hidden=14), tokens(30, 7)),
    "gru": (lambda: Tagger(nn.GRU, bidirectional=True), tokens(30, 7)),
    "rnn": (lambda: Tagger(nn.RNN), tokens(30, 7)),
    "cells": (CellLoop, floats(4, 6)),
    "transformer": (Seq2Seq, lambda: (torch.randn(BATCH, 5, 12), torch.randn(BATCH, 4, 12))),
    "attention": (Attention, floats(5, 12)),
    "grouped-attention": (GroupedAttention, floats(6, 16)),
    "encoder": (encoder, floats(5, 12)),
    "encoder.train": (encoder, floats(5, 12)),
    **networks.MODULES,
    **corners.MODULES,
}

# Built in training mode: those named so. Dropout is 0 there.
TRAIN = {name for name in MODULES if name.endswith(".train")}

# What PyTorch decomposes these into has no gradient where the module has one (a root of 0, a softmax of nothing), or has
# operators that come of nothing else (_trilinear, as_strided_scatter).
NOT_DECOMPOSED = {f"corner.{family}" for family in ("kinks", "elementwise", "reductions", "writes", "attention", "convolution", "movement")}

# Freezing makes a GRU cell's state a constant, to which the frozen program then adds.
NOT_FROZEN = {"corner.recurrent"}


def use_double():
    """From here on floats are float64, also where a module asks for float32 by name."""
    if hasattr(torch, "export"):
        from torch.export import pt2_archive  # noqa: F401  makes its tables of types before their names change

    torch.storage._storage_type_to_dtype_map()  # the same
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double


def build(name):
    """(module, inputs) with the same numbers whenever it is called; names of families.py are known, too."""
    torch.manual_seed(7)
    if ":" in name:
        return families.build(name)
    make, draw = MODULES[name]
    module = make().train(name in TRAIN)
    # Running statistics that are not those of a fresh module.
    for buffer_name, buffer in module.named_buffers():
        if buffer_name.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        elif buffer_name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return module, draw()
