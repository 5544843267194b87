#!/usr/bin/env python3
"""Records how PyTorch trains small mixtures of experts of transformers, for ../e2e/experts.py.

    record_experts.py

Writes experts-NAME.pt2 of each model, experts.npz with tokens, and experts.json with the losses of SGD. The models differ in the
number of experts that a token chooses and in shared experts; their loads are uneven, and some experts have no tokens. Needs torch
and transformers.
"""

import json
import pathlib
import sys

import numpy
import torch
import transformers
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "models"))
import export_pt2  # noqa: E402

STEPS, RATE, SAMPLES, TOKENS, VOCABULARY = 6, 0.5, 4, 12, 24
SMALL = {"vocab_size": VOCABULARY, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2,
         "num_key_value_heads": 1, "max_position_embeddings": 16, "experts_implementation": "grouped_mm"}
# name -> model, configuration
MODELS = {
    "top2": ("MixtralForCausalLM", "MixtralConfig", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "top1-shared": ("Qwen2MoeForCausalLM", "Qwen2MoeConfig", {"num_experts": 6, "num_experts_per_tok": 1, "moe_intermediate_size": 12,
                                                              "shared_expert_intermediate_size": 20}),
    "top8": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", {"num_experts": 64, "num_experts_per_tok": 8, "moe_intermediate_size": 4,
                                                       "head_dim": 8}),
}


class Logits(nn.Module):
    def __init__(self, model, config, options):
        super().__init__()
        self.model = getattr(transformers, model)(getattr(transformers, config)(**SMALL, **options))

    def forward(self, x):
        return self.model(input_ids=x, use_cache=False)["logits"]


def train(module, x):
    optimizer = torch.optim.SGD(module.parameters(), RATE)
    losses = []
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(module(x).flatten(0, 1), x.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    # Few different tokens: many choose the same experts.
    x = torch.randint(VOCABULARY // 3, (SAMPLES, TOKENS), generator=torch.Generator().manual_seed(1))
    numpy.savez(HERE / "experts.npz", x=x.numpy(), label=x.numpy())
    losses = {}
    for name, entry in MODELS.items():
        torch.manual_seed(0)
        module = Logits(*entry)
        export_pt2.save(torch.export.export(module, (x,)), HERE / f"experts-{name}.pt2")
        losses[name] = train(module, x)
    record = {"optimizer": f"sgd:lr={RATE}", "losses": losses}
    (HERE / "experts.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
