#!/usr/bin/env python3
"""Writes the .onnx files of this folder: how exporters spell out what Cleave recognises.

    python3 test/models/patterns/export.py [NAME…]

Needs torch, transformers, onnx, onnxscript. Weights are random and small; what matters is the form. `NAME.dynamo.onnx` is
the current exporter, `NAME.noopt.onnx` the same with optimize=False, `NAME.ts.onnx` the old one; `NAME.npz` has inputs and
what PyTorch computes of them.
"""

import math
import pathlib
import sys
import warnings

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import export as common  # noqa: E402

BATCH, SEQ, WIDTH, VOCAB = 2, 6, 16, 24


class Norms(nn.Module):
    """Layer and rms norms as people write them."""

    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList(torch.rand(WIDTH) + 0.5 for _ in range(5))
        self.bias = nn.Parameter(torch.rand(WIDTH))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        a = (x - mean) / torch.sqrt((x - mean).pow(2).mean(-1, keepdim=True) + 1e-5) * self.scales[0] + self.bias
        a = a + self.scales[1] * ((a - a.mean(-1, keepdim=True)) * torch.rsqrt(a.var(-1, unbiased=False, keepdim=True) + 1e-6))
        b = a * torch.rsqrt((a * a).mean(-1, keepdim=True) + 1e-6) * self.scales[2]
        c = self.scales[3] * (b / (b.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt())
        return F.layer_norm(c, (WIDTH,), self.scales[4], None)


class RmsNorm(nn.Module):
    """PyTorch's own, which the old exporter does not know."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH, 1e-5)

    def forward(self, x):
        return self.norm(x)


class MixedNorms(nn.Module):
    """Norms of a half precision model, computed in float32."""

    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList(torch.rand(WIDTH) + 0.5 for _ in range(2))
        self.bias = nn.Parameter(torch.rand(WIDTH))
        self.half()

    def forward(self, x):
        h = x.half().float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        h = self.scales[0] * h.half()
        wide = h.float()
        mean = wide.mean(-1, keepdim=True)
        unit = (wide - mean) / torch.sqrt(((wide - mean) ** 2).mean(-1, keepdim=True) + 1e-5)
        return (unit.half() * self.scales[1] + self.bias).float()


class Activations(nn.Module):
    """GELU, SiLU and their gated forms as people write them."""

    def __init__(self):
        super().__init__()
        self.fc = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(9))

    def forward(self, x):
        h = self.fc[0](x)
        h = h * 0.5 * (1.0 + torch.erf(h / math.sqrt(2.0)))
        h = self.fc[1](h)
        h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * torch.pow(h, 3))))
        h = self.fc[2](h)
        h = h * 0.5 * (1.0 + torch.tanh(h * 0.7978845608 * (1.0 + 0.044715 * h * h)))
        h = self.fc[3](h)
        h = h * torch.sigmoid(1.702 * h)
        h = F.gelu(self.fc[4](h))
        h = F.gelu(self.fc[5](h), approximate="tanh")
        gate = self.fc[6](h)
        h = gate * torch.sigmoid(gate) * self.fc[7](h)
        h = self.fc[8](h)
        return h / (1 + torch.exp(-h)) + F.silu(h)


class Attentions(nn.Module):
    """Attention by einsum, by bmm of merged heads, with a scaled query, and with F.multi_head_attention."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(4))
        self.mha = nn.MultiheadAttention(WIDTH, 4, batch_first=True)

    def split(self, i, x):
        return (t.reshape(BATCH, SEQ, 4, WIDTH // 4) for t in self.qkv[i](x).chunk(3, -1))

    def by_einsum(self, x):
        q, k, v = self.split(0, x)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(WIDTH // 4)
        mask = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).reshape(BATCH, SEQ, WIDTH)

    def by_bmm(self, x, mask):
        q, k, v = (t.transpose(1, 2).reshape(BATCH * 4, SEQ, WIDTH // 4) for t in self.split(1, x))
        scores = torch.bmm(q * (WIDTH // 4) ** -0.5, k.transpose(1, 2))
        scores = scores.view(BATCH, 4, SEQ, SEQ) + mask
        weights = F.softmax(scores, dim=-1).view(BATCH * 4, SEQ, SEQ)
        out = torch.bmm(weights, v).view(BATCH, 4, SEQ, WIDTH // 4)
        return out.transpose(1, 2).reshape(BATCH, SEQ, WIDTH)

    def by_where(self, x, allowed):
        q, k, v = (t.transpose(1, 2) for t in self.split(2, x))
        scale = (WIDTH // 4) ** -0.25
        scores = (q * scale) @ (k * scale).transpose(-1, -2)
        scores = torch.where(allowed, scores, -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, SEQ, WIDTH)

    def forward(self, x, padding):
        mask = (1.0 - padding[:, None, None, :].to(x.dtype)) * -10000.0
        x = self.by_einsum(x)
        x = x + self.by_bmm(x, mask)
        x = x + self.by_where(x, padding[:, None, None, :] != 0)
        q, k, v = (t.transpose(1, 2) for t in self.split(3, x))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=padding[:, None, None, :].bool())
        x = x + y.transpose(1, 2).reshape(BATCH, SEQ, WIDTH)
        return x + self.mha(x, x, x, need_weights=False)[0]


class Interleaved(nn.Module):
    """Rotary embedding of neighbouring pairs, and attention over it."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        angles = torch.arange(SEQ)[:, None] * 10000 ** (-torch.arange(0, 4, 2) / 4)[None]
        self.register_buffer("cos", angles.cos().repeat_interleave(2, -1))
        self.register_buffer("sin", angles.sin().repeat_interleave(2, -1))

    def turn(self, x):
        other = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
        return x * self.cos + other * self.sin

    def forward(self, x):
        q, k, v = (t.reshape(BATCH, SEQ, 4, WIDTH // 4).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
        return y.transpose(1, 2).reshape(BATCH, SEQ, WIDTH)


class Losses(nn.Module):
    """A classifier with its loss spelled out."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(WIDTH, VOCAB)

    def forward(self, x, labels):
        logits = self.fc(x)
        chosen = F.log_softmax(logits, -1).gather(-1, labels.unsqueeze(-1))
        spelled = -chosen.squeeze(-1).mean()
        return spelled + F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1))


def floats(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def tokens(low=0, high=VOCAB):
    return torch.randint(low, high, (BATCH, SEQ), generator=torch.Generator().manual_seed(2))


def padding():
    mask = torch.ones(BATCH, SEQ, dtype=torch.int64)
    mask[1, SEQ - 2 :] = 0
    return mask


class Output(nn.Module):
    """The first output of a transformers model, all inputs by position."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)), return_dict=False, **self.more())[0]

    def more(self):
        return {"use_cache": False} if self.model.config.model_type in ("llama", "gpt2", "t5") else {}


def hugging(kind, attention):
    import transformers as t

    if kind == "llama":
        config = t.LlamaConfig(hidden_size=WIDTH, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
                               num_key_value_heads=2, vocab_size=VOCAB, max_position_embeddings=SEQ)
        make, names = t.LlamaForCausalLM, ["input_ids", "attention_mask"]
    elif kind == "bert":
        config = t.BertConfig(hidden_size=WIDTH, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
                              vocab_size=VOCAB, max_position_embeddings=SEQ)
        make, names = t.BertModel, ["input_ids", "attention_mask"]
    elif kind == "t5":
        config = t.T5Config(d_model=WIDTH, d_kv=4, d_ff=24, num_layers=1, num_heads=4, vocab_size=VOCAB,
                            feed_forward_proj="gated-gelu")
        make, names = t.T5EncoderModel, ["input_ids", "attention_mask"]
    elif kind == "gpt2":
        config = t.GPT2Config(n_embd=WIDTH, n_layer=1, n_head=4, vocab_size=VOCAB, n_positions=SEQ)
        make, names = t.GPT2LMHeadModel, ["input_ids", "attention_mask"]
    else:
        config = t.ViTConfig(hidden_size=WIDTH, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
                             image_size=8, patch_size=4)
        make, names = t.ViTModel, ["pixel_values"]
    config._attn_implementation = attention
    return Output(make(config).eval(), names)


def hf(kind, attention, *inputs):
    return lambda: (hugging(kind, attention), inputs)


X = floats(BATCH, SEQ, WIDTH)
IMAGE = floats(BATCH, 3, 8, 8)
CASES = {
    "norms": lambda: (Norms(), (X,)),
    "rms-norm": lambda: (RmsNorm(), (X,)),
    "mixed-norms": lambda: (MixedNorms(), (X,)),
    "activations": lambda: (Activations(), (X,)),
    "attentions": lambda: (Attentions(), (X, padding())),
    "interleaved": lambda: (Interleaved(), (X,)),
    "losses": lambda: (Losses(), (X, tokens())),
    "llama-eager": hf("llama", "eager", tokens(), padding()),
    "llama-sdpa": hf("llama", "sdpa", tokens(), padding()),
    "bert-eager": hf("bert", "eager", tokens(), padding()),
    "bert-sdpa": hf("bert", "sdpa", tokens(), padding()),
    "t5-eager": hf("t5", "eager", tokens(), padding()),
    "gpt2-eager": hf("gpt2", "eager", tokens(), padding()),
    "gpt2-sdpa": hf("gpt2", "sdpa", tokens(), padding()),
    "vit-sdpa": hf("vit", "sdpa", IMAGE),
}


def shrink(path):
    """Drops what says nothing about the computation: most of a file of the current exporter."""
    proto = onnx.load(str(path))
    kept = {value.name for value in proto.graph.output}
    short = {"": ""}
    for node in proto.graph.node:
        del node.metadata_props[:]
        node.ClearField("doc_string")
        node.ClearField("name")
        for result in node.output:
            short.setdefault(result, result if result in kept else f"t{len(short)}")
        assert not any(attribute.HasField("g") for attribute in node.attribute), "subgraphs use names of the outer graph"
    for node in proto.graph.node:
        node.input[:] = [short.get(name, name) for name in node.input]
        node.output[:] = [short[name] for name in node.output]
    for tensor in (*proto.graph.value_info, *proto.graph.input, *proto.graph.output, *proto.graph.initializer):
        del tensor.metadata_props[:]
    del proto.graph.value_info[:]
    del proto.graph.metadata_props[:]
    del proto.metadata_props[:]
    path.write_bytes(proto.SerializeToString(deterministic=True))


# Cases that are also written with optimize=False.
UNOPTIMIZED = ("attentions", "llama-sdpa")


def export(name, exporter):
    torch.manual_seed(0)
    model, inputs = CASES[name]()
    model.eval()
    path = HERE / f"{name}.{exporter}.onnx"
    names = ["x", "y"][: len(inputs)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = dict(input_names=names, output_names=["output"])
        if exporter == "ts":
            torch.onnx.export(model, inputs, str(path), dynamo=False, opset_version=17, **options)
        else:
            torch.onnx.export(model, inputs, str(path), dynamo=True, external_data=False, verbose=False,
                              optimize=exporter == "dynamo", **options)
    common.drop_stack_traces(path)
    shrink(path)
    with torch.no_grad():
        arrays = dict(zip(names, inputs), output=model(*inputs))
    numpy.savez(HERE / f"{name}.npz", **{key: value.numpy() for key, value in arrays.items()})
    print(path.name, path.stat().st_size)


def main():
    torch.set_num_threads(1)
    wanted = sys.argv[1:] or list(CASES)
    for name in wanted:
        for exporter in ("dynamo", "noopt", "ts"):
            if (exporter == "noopt" and name not in UNOPTIMIZED) or (exporter == "ts" and name == "rms-norm"):
                continue
            export(name, exporter)


if __name__ == "__main__":
    main()
