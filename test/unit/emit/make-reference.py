#!/usr/bin/env python3
"""Writes reference.json beside this file: inputs and what PyTorch (or a plain loop here) makes of them.

Run it with a Python that has torch; the tests read only the JSON. Numbers have ten digits.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
TYPES = {torch.float64: "f64", torch.int64: "i64", torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8"}
cases = {}


def plain(value):
    value = float(value)
    if math.isinf(value) or math.isnan(value):
        return str(value)
    return int(value) if value == int(value) else float(f"{value:.10g}")


def pack(tensor):
    tensor = tensor.detach()
    return {"type": TYPES[tensor.dtype], "shape": list(tensor.shape),
            "values": [plain(x) for x in tensor.flatten().tolist()]}


def case(name, inputs, outputs):
    assert name not in cases, name
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    cases[name] = {"inputs": [pack(x) for x in inputs], "outputs": [pack(x) for x in outputs]}


def random(*shape):
    # Few digits, so that the file is exact.
    return torch.round(torch.randn(*shape) * 64) / 64


def indexing():
    x, wide = random(3, 4), torch.tensor([[0, -1, 2], [1, 1, -4]])
    case("gather elements 1", [x, wide], x[:2].gather(1, wide % 4))
    rows = torch.tensor([[2, 0, -1], [0, -3, 1]])
    case("gather elements 0", [x, rows], x[:, :3].gather(0, rows % 3))
    updates, twice = random(2, 3), torch.tensor([[0, 2, 2], [1, 1, 1]])
    for name, how in (("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")):
        case("scatter elements " + name, [x, twice, updates], x.scatter_reduce(1, twice, updates, how))
    once = torch.tensor([[0, -1, 2], [3, 1, 0]])
    case("scatter elements replace", [x, once, updates], x.scatter(1, once % 4, updates))
    cube = random(2, 3, 4)
    at = torch.tensor([[[0, 2], [1, -1]], [[1, 0], [-2, 1]]])
    case("gather nd", [cube, at], cube[at[..., 0], at[..., 1]])
    batched = torch.tensor([[[0], [2]], [[-1], [1]]])
    case("gather nd batch", [cube, batched], torch.stack([cube[b][batched[b, :, 0]] for b in range(2)]))
    values, places = random(3, 4), torch.tensor([[0, 1], [1, -1], [0, 1]])
    index = (places[:, 0], places[:, 1])
    case("scatter nd add", [cube, places, values], cube.index_put(index, values, accumulate=True))
    last = cube.clone()
    for place, value in zip(places.tolist(), values):
        last[place[0], place[1]] = value
    case("scatter nd replace", [cube, places, values], last)
    lengths = torch.tensor([2, 3, 1])
    turned = cube.clone()
    for b, n in enumerate(lengths.tolist()):
        turned[:, b, :n] = cube[:, b, :n].flip(1)
    case("reverse sequence", [cube, lengths], turned)


def ordering():
    x = random(2, 5, 3)
    x[0, 1] = x[0, 3]
    for axis in (0, 1, 2):
        for descending in (False, True):
            case(f"sort {axis} {'down' if descending else 'up'}", [x],
                 torch.sort(x, dim=axis, descending=descending, stable=True))
    case("top 2 largest", [x], torch.sort(x, dim=1, descending=True, stable=True)[0][:, :2])
    case("top 2 smallest", [x], torch.sort(x, dim=1, stable=True)[0][:, :2])
    odd = x.clone()
    odd[1, 2, 0] = float("nan")
    case("arg max", [odd], torch.argmax(odd, 1))
    case("arg min", [odd], torch.argmin(odd, 1))
    case("arg max last", [x], 4 - torch.argmax(x.flip(1), 1))
    case("cumsum", [x], torch.cumsum(x, 1))
    case("cumsum reverse exclusive", [x], torch.cumsum(x.flip(1), 1).flip(1) - x)
    case("cumprod", [x], torch.cumprod(x, 2))
    ties = torch.tensor([[1.0, 3, 2, 3, 0, 4], [2, 2, 1, 2, 2, 2]])
    case("cummax", [ties], torch.cummax(ties, 1))
    case("cummin", [ties], torch.cummin(ties, 1))


def weights(module, suffix="l0"):
    return [getattr(module, f"{kind}_{suffix}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def recurrent():
    steps, batch, features, hidden = 4, 3, 2, 3
    x, h, c = random(steps, batch, features), random(1, batch, hidden), random(1, batch, hidden)
    lengths = torch.tensor([4, 2, 1])

    def packed(module, state):
        pack = torch.nn.utils.rnn.pack_padded_sequence(x, lengths)
        y, state = module(pack, state)
        return torch.nn.utils.rnn.pad_packed_sequence(y, total_length=steps)[0], state

    for kind, module in (("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("rnn", torch.nn.RNN)):
        layer = module(features, hidden, bidirectional=True)
        for p in layer.parameters():
            p.data = torch.round(p.data * 64) / 64
        two = lambda s: torch.cat([s, s])
        state = (two(h), two(c)) if kind == "lstm" else two(h)
        given = [x, *([h[0], c[0]] if kind == "lstm" else [h[0]])]
        for name, run in (("", layer), (" lengths", lambda _, s: packed(layer, s))):
            y, last = run(x, state)
            last = list(last) if kind == "lstm" else [last]
            extra = [lengths] if name else []
            for d, suffix in ((0, "l0"), (1, "l0_reverse")):
                case(f"{kind}{' backward' if d else ''}{name}", [*given, *extra, *weights(layer, suffix)],
                     [y[..., d * hidden:(d + 1) * hidden], *[s[d] for s in last]])
    # The variants that PyTorch has not, step by step.
    w, r, b, rb = random(9, 2), random(9, 3), random(9), random(9)
    state, outputs = h[0], []
    for t in range(steps):
        wr, wz, wn = (x[t] @ w.T + b).split(3, 1)
        rr, rz, _ = (state @ r.T + rb).split(3, 1)
        reset, update = torch.sigmoid(wr + rr), torch.sigmoid(wz + rz)
        news = torch.tanh(wn + (reset * state) @ r[6:].T + rb[6:])
        state = (1 - update) * news + update * state
        outputs.append(state)
    case("gru reset before", [x, h[0], w, r, b, rb], [torch.stack(outputs), state])
    w, r, b, p = random(12, 2), random(12, 3), random(12), random(3, 3)
    state, cell, outputs = h[0], c[0], []
    for t in range(steps):
        gi, gf, gg, go = (x[t] @ w.T + state @ r.T + b).split(3, 1)
        i = torch.sigmoid((gi + p[0] * cell).clamp(-0.75, 0.75))
        f = torch.sigmoid((gf + p[1] * cell).clamp(-0.75, 0.75))
        cell = f * cell + i * torch.tanh(gg.clamp(-0.75, 0.75))
        o = torch.sigmoid((go + p[2] * cell).clamp(-0.75, 0.75))
        state = o * torch.tanh(cell.clamp(-0.75, 0.75))
        outputs.append(state)
    case("lstm peepholes clip", [x, h[0], c[0], w, r, b, p], [torch.stack(outputs), state, cell])


def resize():
    x = random(1, 2, 5, 4)
    for name, size in (("up", (8, 9)), ("down", (2, 3))):
        case(f"resize nearest {name}", [x], F.interpolate(x, size, mode="nearest"))
        case(f"resize nearest exact {name}", [x], F.interpolate(x, size, mode="nearest-exact"))
        for mode in ("bilinear", "bicubic"):
            for align in (False, True):
                case(f"resize {mode} {name}{' corners' if align else ''}", [x],
                     F.interpolate(x, size, mode=mode, align_corners=align))
            case(f"resize {mode} {name} antialias", [x],
                 F.interpolate(x, size, mode=mode, align_corners=False, antialias=True))
    line = random(1, 1, 7)
    case("resize linear scale", [line], F.interpolate(line, scale_factor=1.7, mode="linear"))


def attention():
    q, k, v = random(2, 4, 3, 5), random(2, 4, 6, 5), random(2, 4, 6, 2)
    run = F.scaled_dot_product_attention
    case("attention", [q, k, v], run(q, k, v))
    case("attention scale", [q, k, v], run(q, k, v, scale=0.5))
    mask = torch.rand(2, 1, 3, 6) < 0.6
    mask[..., 0] = True
    case("attention bool mask", [q, k, v, mask], run(q, k, v, attn_mask=mask))
    bias = random(3, 6)
    case("attention float mask", [q, k, v, bias], run(q, k, v, attn_mask=bias))
    case("attention causal", [q, k[:, :, :3], v[:, :, :3]], run(q, k[:, :, :3], v[:, :, :3], is_causal=True))
    offset = torch.arange(6)[None] <= torch.arange(3)[:, None] + 3
    case("attention causal offset", [q, k, v], run(q, k, v, attn_mask=offset))
    case("attention groups", [q, k[:, :2], v[:, :2]], run(q, k[:, :2], v[:, :2], enable_gqa=True))
    counts = torch.tensor([6, 2])
    seen = (torch.arange(6)[None] < counts[:, None])[:, None, None]
    case("attention counts", [q, k, v, counts], run(q, k, v, attn_mask=seen))
    none = mask.clone()
    none[0, 0, 1] = False
    weights = torch.nan_to_num(torch.softmax((q @ k.mT / 5 ** 0.5).masked_fill(~none, -math.inf), -1))
    case("attention empty row", [q, k, v, none], weights @ v)
    capped = 2 * torch.tanh(q @ k.mT / 5 ** 0.5 / 2)
    case("attention softcap", [q, k, v], torch.softmax(capped, -1) @ v)
    x, angles = random(2, 3, 6), random(3, 2)
    cos, sin = torch.cos(angles), torch.sin(angles)
    a, b, rest = x[..., :2], x[..., 2:4], x[..., 4:]
    case("rotate halves", [x, cos, sin], torch.cat([cos * a - sin * b, sin * a + cos * b, rest], -1))
    a, b = x[..., 0:4:2], x[..., 1:4:2]
    pairs = torch.stack([cos * a - sin * b, sin * a + cos * b], -1).reshape(2, 3, 4)
    case("rotate pairs", [x, cos, sin], torch.cat([pairs, rest], -1))


def sampling():
    x, grid = random(2, 2, 4, 5), random(2, 3, 2, 2)
    for mode in ("nearest", "bilinear", "bicubic"):
        for border in ("zeros", "border", "reflection"):
            for align in (False, True):
                name = f"grid sample {mode} {border}{' corners' if align else ''}"
                case(name, [x, grid], F.grid_sample(x, grid, mode, border, align))
    x, grid = random(1, 2, 3, 4, 2), random(1, 2, 1, 3, 3)
    case("grid sample volume", [x, grid], F.grid_sample(x, grid, align_corners=False))
    theta, deep = random(2, 2, 3), random(1, 3, 4)
    for align in (False, True):
        name = " corners" if align else ""
        case("affine grid" + name, [theta], F.affine_grid(theta, (2, 1, 3, 4), align))
        case("affine grid volume" + name, [deep], F.affine_grid(deep, (1, 1, 2, 3, 2), align))
    image, columns = random(2, 3, 5, 4), random(2, 12, 6)
    case("columns to image", [columns],
         F.fold(columns, (5, 4), (2, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)))
    case("image to columns", [image],
         F.unfold(image, (2, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1)))


def spectral():
    x, z = random(2, 7, 3), random(2, 7, 3)
    parts = lambda y: [y.real, y.imag]
    both = torch.complex(x, z)
    case("fourier", [x, z], parts(torch.fft.fft(both, dim=1)))
    case("fourier short", [x, z], parts(torch.fft.fft(both, n=4, dim=1)))
    case("fourier long real", [x], parts(torch.fft.rfft(x, n=10, dim=1)))
    case("inverse fourier", [x, z], parts(torch.fft.ifft(both, dim=1)))
    for n in (8, 7):
        case(f"inverse real fourier {n}", [x, z], torch.fft.irfft(both, n=n, dim=1))
    signal, window = random(2, 11), random(4)
    y = torch.stft(signal, 4, 3, 4, window, center=False, onesided=True, return_complex=True)
    case("short time fourier", [signal, window], parts(y.transpose(1, 2)))


def loss():
    scores, labels = random(4, 3, 2), torch.tensor([[0, 2], [1, 1], [-100, 0], [2, 2]])
    w = torch.tensor([0.5, 2, 1])
    for reduction in ("none", "mean", "sum"):
        case("nll " + reduction, [torch.log_softmax(scores, 1), labels, w],
             F.nll_loss(torch.log_softmax(scores, 1), labels, w, reduction=reduction))
        case("cross entropy " + reduction, [scores, labels], F.cross_entropy(scores, labels, reduction=reduction))
        for name, given in (("", []), (" weights", [w])):
            case(f"cross entropy smooth {reduction}{name}", [scores, labels, *given],
                 F.cross_entropy(scores, labels, *given, reduction=reduction, label_smoothing=0.25))
    case("cross entropy ignoring a class", [scores[:, :, 1], labels[:, 1]],
         F.cross_entropy(scores[:, :, 1], labels[:, 1], ignore_index=1))


def quantization():
    x, scale = random(2, 3, 4), torch.tensor([0.5, 0.03125, 0.25])
    zero = torch.tensor([3, -5, 0], dtype=torch.int8)
    column = lambda t: t.reshape(1, 3, 1).double()
    q = torch.clamp(torch.round(x / column(scale)) + column(zero), -128, 127).to(torch.int8)
    case("quantize axis", [x, scale, zero], q)
    case("dequantize axis", [q, scale, zero], (q.double() - column(zero)) * column(scale))
    blocks = torch.rand(2, 3, 2).add(0.5)
    spread = blocks.repeat_interleave(2, 2)
    case("quantize blocks", [x, blocks], torch.clamp(torch.round(x.float() / spread.float()), 0, 255).to(torch.uint8))


for family in (indexing, ordering, recurrent, resize, attention, sampling, spectral, loss, quantization):
    family()
path = pathlib.Path(__file__).with_name("reference.json")
text = ",\n".join(f"{json.dumps(name)}: {json.dumps(body, separators=(',', ':'))}" for name, body in cases.items())
path.write_text("{\n" + text + "\n}\n")
print(len(cases), "cases,", path.stat().st_size, "bytes")
