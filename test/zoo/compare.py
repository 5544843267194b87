"""Compares networks of cleave-zoo with PyTorch's own: same weights, same inputs, same outputs.

    compare.py --zoo build/bin/cleave-zoo [NAME ...]

Needs torch, torchvision, transformers, onnx and onnxruntime, so it is not part of the tests. The parameters of a zoo file are
graph inputs, which onnxruntime is fed with random values; PyTorch loads the same values by name.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
import torchvision
import transformers

SIZES = dict(layers=2, hidden=32, heads=4)
TOKENS = dict(input_ids=(3, 10))


def hugging_face(kind, config, **arguments):
    return getattr(transformers, kind)(getattr(transformers, config)(attn_implementation="eager", **arguments))


# name -> (sizes for cleave-zoo, the network, its inputs: token shapes or None for images)
CASES = {
    "gpt2": (dict(SIZES, vocab=50, context=16),
             lambda: hugging_face("GPT2LMHeadModel", "GPT2Config", n_layer=2, n_embd=32, n_head=4, vocab_size=50,
                                  n_positions=16), TOKENS),
    "llama3-8b": (dict(SIZES, vocab=50, ffn=48, **{"kv-heads": 2}),
                  lambda: hugging_face("LlamaForCausalLM", "LlamaConfig", num_hidden_layers=2, hidden_size=32,
                                       num_attention_heads=4, num_key_value_heads=2, vocab_size=50, intermediate_size=48,
                                       rms_norm_eps=1e-5,
                                       rope_parameters=dict(rope_type="default", rope_theta=500000.0)), TOKENS),
    "mixtral-8x7b": (dict(SIZES, vocab=50, ffn=48, experts=3, **{"kv-heads": 2, "top-k": 3}),
                     lambda: hugging_face("MixtralForCausalLM", "MixtralConfig", num_hidden_layers=2, hidden_size=32,
                                          num_attention_heads=4, num_key_value_heads=2, vocab_size=50,
                                          intermediate_size=48, num_local_experts=3, num_experts_per_tok=3,
                                          rope_parameters=dict(rope_type="default", rope_theta=1000000.0)), TOKENS),
    "bert-base": (dict(SIZES, vocab=50, ffn=64, context=16),
                  lambda: hugging_face("BertForMaskedLM", "BertConfig", num_hidden_layers=2, hidden_size=32,
                                       num_attention_heads=4, vocab_size=50, intermediate_size=64,
                                       max_position_embeddings=16),
                  dict(TOKENS, attention_mask=(3, 10), token_type_ids=(3, 10))),
    "t5-small": (dict(SIZES, vocab=50, ffn=64, **{"head-size": 8}),
                 lambda: hugging_face("T5ForConditionalGeneration", "T5Config", num_layers=2, d_model=32, num_heads=4,
                                      d_kv=8, d_ff=64, vocab_size=50), dict(TOKENS, decoder_input_ids=(3, 7))),
    "whisper-tiny": (dict(SIZES, vocab=50, ffn=64, mels=8, frames=12, context=16),
                     lambda: hugging_face("WhisperForConditionalGeneration", "WhisperConfig", encoder_layers=2,
                                          decoder_layers=2, d_model=32, encoder_attention_heads=4,
                                          decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                                          vocab_size=50, num_mel_bins=8, max_source_positions=12,
                                          max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                                          decoder_start_token_id=1, suppress_tokens=None),
                     dict(input_features=(3, 8, 24), decoder_input_ids=(3, 10))),
    "vit_b_16": (dict(SIZES, image=64, classes=10),
                 lambda: torchvision.models.VisionTransformer(64, 16, 2, 4, 32, 128, num_classes=10), None),
}
for name in ("resnet18", "resnet50", "wide_resnet50_2", "densenet121", "densenet161"):
    CASES[name] = (dict(image=64, classes=10),
                   lambda name=name: getattr(torchvision.models, name)(num_classes=10), None)
CASES["vgg11"] = (dict(classes=10), lambda: torchvision.models.vgg11(num_classes=10), None)


def zoo_file(zoo, name, sizes, folder):
    path = os.path.join(folder, name + ".onnx")
    subprocess.run([zoo, name, "-o", path] + [f"--{key}={value}" for key, value in sizes.items()], check=True,
                   stdout=subprocess.DEVNULL)
    onnx.checker.check_model(path, full_check=True)
    return path


def inputs_of(shapes, side, random):
    if shapes is None:
        return {"x": random.standard_normal((2, 3, side, side)).astype(np.float32)}
    out = {}
    for key, shape in shapes.items():
        if key == "input_features":
            out[key] = random.standard_normal(shape).astype(np.float32)
        else:
            out[key] = random.integers(0, 2 if key in ("attention_mask", "token_type_ids") else 50, shape)
    if "attention_mask" in out:
        out["attention_mask"][:, 0] = 1
    return out


def value_for(key, shape, random):
    value = random.standard_normal(shape).astype(np.float32) * 0.1
    if key.endswith("running_var"):
        return np.abs(value) + 0.5
    return value + 1 if ".bn" in key or "norm" in key.lower() or ".ln" in key else value


def load(network, weights):
    """Gives the network the weights; those of Mixtral's experts are stacked and packed differently."""
    state = network.state_dict()
    for key in state:
        if key in weights:
            state[key] = torch.tensor(weights[key])
        elif key.endswith("experts.gate_up_proj"):
            base = key.removesuffix("mlp.experts.gate_up_proj") + "block_sparse_moe.experts."
            parts = [np.transpose(weights[base + part], (0, 2, 1)) for part in ("w1", "w3")]
            state[key] = torch.tensor(np.concatenate(parts, axis=1))
        elif key.endswith("experts.down_proj"):
            base = key.removesuffix("mlp.experts.down_proj") + "block_sparse_moe.experts."
            state[key] = torch.tensor(np.transpose(weights[base + "w2"], (0, 2, 1)))
        elif key.endswith("mlp.gate.weight"):
            state[key] = torch.tensor(weights[key.replace("mlp.gate", "block_sparse_moe.gate")])
    left = [key for key in state if key not in weights and "moe" not in key and "mlp." not in key
            and "num_batches" not in key]
    network.load_state_dict(state)
    network.tie_weights() if hasattr(network, "tie_weights") else None
    return left


def difference(zoo, name, folder):
    sizes, build, shapes = CASES[name]
    random = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(zoo_file(zoo, name, sizes, folder), providers=["CPUExecutionProvider"])
    inputs = inputs_of(shapes, sizes.get("image", 224), random)
    weights = {entry.name: value_for(entry.name, entry.shape, random) for entry in session.get_inputs()
               if entry.name not in inputs}
    network = build().eval()
    left = load(network, weights)
    if left:
        print(f"{name}: not given by the zoo: {', '.join(left)}")
    with torch.no_grad():
        tensors = {key: torch.tensor(value) for key, value in inputs.items()}
        expected = network(**tensors) if shapes else network(tensors["x"])
    expected = (expected if torch.is_tensor(expected) else expected.logits).numpy()
    found = session.run(None, {**inputs, **weights})[0]
    return np.abs(found - expected).max() / np.abs(expected).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zoo", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.manual_seed(0)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or CASES:
            error = difference(options.zoo, name, folder)
            print(f"{name}: largest difference {error:.1e} of the largest output")
            failed |= not error < 1e-4
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
