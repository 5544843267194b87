#!/usr/bin/env python3
"""The breadth of timm and transformers, for modules.py: a small model of every family, with random weights.

    test/models/torch/families.py [timm] [transformers]      # prints the names
    test/models/torch/sweep_pt2.py --forms exported $(test/models/torch/families.py timm)

`timm:FAMILY` is the smallest model of the family by parameters, on the smallest of some image sizes that it takes.
`transformers:KIND:TYPE` is the model for language (causal, masked, pairs of texts) or images of a configuration class, with small
numbers where the class has them. Many classes want numbers that fit each other: those that cannot be built are skipped. A router that begins with zeros (afmoe) is off: ties decide, and PyTorch's order of them is its own.
"""

import sys

import torch
from torch import nn

ROWS = 2
MOST = 50_000_000  # parameters: configurations in a configuration keep their own sizes
SIZES = 64, 96, 128, 224, 256
NUMBERS = {
    4: ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads", "num_experts",
        "num_local_experts", "n_routed_experts"),
    2: ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers",
        "num_key_value_heads", "num_experts_per_tok"),
    8: ("head_dim", "d_kv", "sliding_window", "v_head_dim", "qk_nope_head_dim", "qk_rope_head_dim", "state_size"),
    16: ("moe_intermediate_size", "shared_expert_intermediate_size", "q_lora_rank", "kv_lora_rank"),
    32: ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size"),
    48: ("intermediate_size", "ffn_dim", "hidden_dim", "d_ff", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim"),
    64: ("vocab_size", "max_position_embeddings", "n_positions", "image_size"),
    1: ("n_group", "topk_group", "first_k_dense_replace", "bos_token_id"),
    0: ("pad_token_id",),
}
KINDS = {"causal": "CAUSAL_LM", "masked": "MASKED_LM", "pairs": "SEQ_TO_SEQ_CAUSAL_LM", "images": "IMAGE_CLASSIFICATION"}


class NotBuilt(Exception):
    """The library cannot build the model with these numbers, or it is too large."""


class Logits(nn.Module):
    """A model of transformers, called by keyword without a cache."""

    def __init__(self, model, kind):
        super().__init__()
        self.model = model
        self.kind = kind

    def forward(self, x):
        given = {"pixel_values" if self.kind == "images" else "input_ids": x}
        if self.kind == "pairs":
            given["decoder_input_ids"] = x
        if self.kind in ("causal", "pairs"):
            given["use_cache"] = False
        return self.model(**given, return_dict=True)["logits"]


def smallest(family):
    """The name of the model with the fewest parameters, counted without memory for them."""
    import timm

    counts = {}
    for name in timm.list_models(module=family):
        try:
            with torch.device("meta"):
                counts[name] = sum(p.numel() for p in timm.create_model(name, pretrained=False).parameters())
        except Exception:  # some cannot be made without memory
            continue
    return min(counts, key=counts.get)


def timm_model(family):
    import timm

    name = smallest(family)
    for size in SIZES:
        for options in ({"img_size": size}, {}):
            try:
                model = timm.create_model(name, pretrained=False, num_classes=10, **options).eval()
                inputs = (torch.randn(ROWS, 3, size, size),)
                with torch.no_grad():
                    model(*inputs)
                return model, inputs
            except Exception as error:  # no such option, or another size is expected
                last = error
    raise last


def small(config_class):
    """A configuration with small numbers where the class has numbers."""
    plain = config_class()
    given = {}
    for number, names in NUMBERS.items():
        for name in names:
            value = getattr(plain, name, "absent")
            if isinstance(value, int) and not isinstance(value, bool):
                given[name] = number
    return config_class(**given)


def mapping(kind):
    from transformers.models.auto import modeling_auto

    return getattr(modeling_auto, f"MODEL_FOR_{KINDS[kind]}_MAPPING_NAMES")


def transformers_model(kind, name):
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    model_class = mapping(kind)[name]
    model_class = model_class if isinstance(model_class, str) else model_class[0]
    config = small(getattr(transformers, CONFIG_MAPPING_NAMES[name]))
    with torch.device("meta"):
        count = sum(p.numel() for p in getattr(transformers, model_class)(config).parameters())
    if count > MOST:
        raise NotBuilt(f"{count} parameters")
    model = Logits(getattr(transformers, model_class)(config), kind).eval()
    size = getattr(config, "image_size", 64)
    inputs = torch.randn(ROWS, 3, size, size) if kind == "images" else torch.randint(3, 60, (ROWS, 12))
    return model, (inputs,)


def build(name):
    """As modules.build; raises NotBuilt."""
    library, *rest = name.split(":")
    try:
        return timm_model(*rest) if library == "timm" else transformers_model(*rest)
    except Exception as error:  # whatever the library says: it is not ours to judge
        raise NotBuilt(str(error)) from error


def names(libraries):
    if "timm" in libraries:
        import timm

        yield from (f"timm:{family}" for family in timm.list_modules())
    if "transformers" in libraries:
        yield from (f"transformers:{kind}:{name}" for kind in KINDS for name in mapping(kind))


if __name__ == "__main__":
    print("\n".join(names(sys.argv[1:] or ["timm", "transformers"])))
