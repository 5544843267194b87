#!/usr/bin/env python3
"""A Llama of 2 layers at 8,192 tokens, trained by Cleave in a low type and by PyTorch under autocast from the same weights.

    PYTHON_WITH_TORCH test/bench/long_context.py [--bin build/bin] [--tokens 8192] [--steps 20] [--dtype bf16] [--threads 1]

The model is transformers' LlamaForCausalLM with angles by a product, as before transformers 5. PyTorch first teaches it, in short
samples, to repeat the word three places back, which only the angles of positions tell it: rounded to bf16, they raise the loss by 10.
Every fifth label is random, so that the loss does not vanish. Prints the losses' largest relative distance from PyTorch's under autocast,
and from float32's. Ends with 1 if the distance from autocast exceeds 1 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT = 0.01
VOCABULARY = 256
LR = 1e-4
BACK = 3  # places
LESSONS = 120 * [(8, 256)] + 40 * [(2, 1024)] + 40 * [(1, 2048)]  # samples and tokens of the steps before


class Angles(torch.nn.Module):
    """Cosines and sines of positions."""

    def __init__(self, frequencies):
        super().__init__()
        self.register_buffer("inv_freq", frequencies)

    def forward(self, x, position_ids):
        with torch.autocast("cpu", enabled=False):
            angles = (self.inv_freq[None, :, None].expand(len(position_ids), -1, 1) @ position_ids[:, None, :].float()).transpose(1, 2)
            angles = torch.cat([angles, angles], -1)
            return angles.cos(), angles.sin()


class Logits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        config = transformers.LlamaConfig(
            num_hidden_layers=2, hidden_size=64, num_attention_heads=2, num_key_value_heads=1, intermediate_size=128,
            vocab_size=VOCABULARY, max_position_embeddings=1 << 20, rope_parameters=dict(rope_type="default", rope_theta=500000.0),
            use_cache=False)
        self.model = transformers.LlamaForCausalLM(config)
        self.model.model.rotary_emb = Angles(self.model.model.rotary_emb.inv_freq)

    def forward(self, tokens):
        return {"logits": self.model(input_ids=tokens).logits}


def loss_of(model, tokens, labels):
    return torch.nn.functional.cross_entropy(model(tokens)["logits"].flatten(0, 1).float(), labels.flatten())


def words(shape):
    """Random words, and as labels those `BACK` places before, or any."""
    tokens, others = torch.randint(0, VOCABULARY, (2, *shape))
    return tokens, torch.where(torch.rand(shape) < 0.2, others, tokens.roll(BACK, -1))


def taught():
    model = Logits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for shape in LESSONS:
        optimizer.zero_grad()
        loss_of(model, *words(shape)).backward()
        optimizer.step()
    return model


def torch_losses(state, tokens, labels, low):
    """The losses of AdamW steps; `low` is a type for autocast, or None."""
    model = Logits()
    model.load_state_dict(state)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.01)
    losses = []
    for x, y in zip(tokens, labels):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=low, enabled=low is not None):
            loss = loss_of(model, x[None], y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def cleave_losses(options, folder):
    run(options.bin / "cleave-compile", folder / "model.pt2", "--train", "--loss", "softmax-cross-entropy", "--optimizer",
        f"adamw:lr={LR},weight-decay=0.01", "--dtype", options.dtype, "-o", folder / "a.plan")
    run(options.bin / "cleave-run", folder / "a.plan", "--data", folder / "data.npz", "--steps", options.steps, "--threads",
        options.threads, "--log", folder / "log.jsonl")
    return [step["loss"] for step in map(json.loads, open(folder / "log.jsonl")) if "step" in step]


def apart(a, b):
    return max(abs(x - y) / abs(y) for x, y in zip(a, b, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--dtype", choices=("bf16", "f16"), default="bf16")
    for name, default in (("threads", 1), ("steps", 20), ("tokens", 8192)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    low = dict(bf16=torch.bfloat16, f16=torch.float16)[options.dtype]
    model = taught()
    tokens, labels = words((options.steps, options.tokens))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        torch.export.save(torch.export.export(model, (tokens[:1],)), folder / "model.pt2")
        np.savez(folder / "data.npz", **{"tokens": tokens.numpy(), "label": labels.numpy()})
        ours = cleave_losses(options, folder)
    full = torch_losses(model.state_dict(), tokens, labels, None)
    cast = torch_losses(model.state_dict(), tokens, labels, low)
    distance = apart(ours, cast)
    for name, losses in (("PyTorch, float32", full), ("PyTorch, autocast", cast), ("Cleave", ours)):
        print(f"{name}: {losses[0]:.5f} to {losses[-1]:.5f}")
    print(f"from float32: autocast {apart(cast, full):.2%}, Cleave {apart(ours, full):.2%}; Cleave from autocast {distance:.2%}")
    sys.exit(distance > LIMIT)


if __name__ == "__main__":
    main()
