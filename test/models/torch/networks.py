"""Networks of torchvision, timm and transformers at small sizes with random weights, for modules.py: name -> (module, inputs).

Where the library is not installed, building fails with ImportError.
"""

import torch
from torch import nn

BATCH = 4


def floats(*shape):
    return lambda: (torch.randn(BATCH, *shape),)


def tokens(high, *shape):
    return lambda: (torch.randint(high, (BATCH, *shape)),)


class Pick(nn.Module):
    """One part of what a module returns: an item of a tuple, or an entry of a dictionary."""

    def __init__(self, module, key):
        super().__init__()
        self.module = module
        self.key = key

    def forward(self, *inputs):
        return self.module(*inputs)[self.key]


class Keyword(nn.Module):
    """A model of transformers, called by keyword without a cache."""

    def __init__(self, model, argument, output, cached=True):
        super().__init__()
        self.model = model
        self.argument = argument
        self.output = output
        self.options = {"use_cache": False} if cached else {}

    def forward(self, x):
        return self.model(**{self.argument: x}, **self.options, return_dict=True)[self.output]


class Translation(nn.Module):
    """An encoder and a decoder of transformers on two inputs."""

    def __init__(self, model, argument):
        super().__init__()
        self.model = model
        self.argument = argument

    def forward(self, x, y):
        return self.model(**{self.argument: x}, decoder_input_ids=y, use_cache=False, return_dict=True)["logits"]


# -- torchvision
def vision(name, size=64, **options):
    def make():
        import torchvision

        return torchvision.models.get_model(name, weights=None, **options)

    return make, floats(3, size, size)


def segmentation(name, size=64):
    def make():
        import torchvision

        return Pick(torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=5), "out")

    return make, floats(3, size, size)


def with_narrow_head(name, features):
    """Without the hundred million weights that these have in their linear layers."""

    def make():
        import torchvision

        model = torchvision.models.get_model(name, weights=None, num_classes=10)
        model.classifier = nn.Sequential(nn.Linear(features, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, 10))
        return model

    return make, floats(3, 64, 64)


def small_vit():
    from torchvision.models.vision_transformer import VisionTransformer

    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=3, hidden_dim=24, mlp_dim=48, num_classes=10)


def small_swin(version=1):
    from torchvision.models import swin_transformer as t

    options = {"block": t.SwinTransformerBlockV2, "downsample_layer": t.PatchMergingV2} if version == 2 else {}
    return t.SwinTransformer([4, 4], embed_dim=12, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], stochastic_depth_prob=0.0,
                             num_classes=10, **options)


def small_convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, None, 2)], num_classes=10)


def small_maxvit():
    from torchvision.models.maxvit import MaxVit

    return MaxVit(input_size=(32, 32), stem_channels=8, partition_size=4, block_channels=[8, 16], block_layers=[1, 1], head_dim=4,
                  stochastic_depth_prob=0.0, num_classes=10)


VISION = {
    "resnet18": vision("resnet18"),
    "resnet18.train": vision("resnet18"),
    "resnet50": vision("resnet50"),
    "resnext50": vision("resnext50_32x4d"),
    "alexnet": with_narrow_head("alexnet", 256 * 6 * 6),
    "vgg": with_narrow_head("vgg11_bn", 512 * 7 * 7),
    "squeezenet": vision("squeezenet1_1"),
    "mobilenet-v2": vision("mobilenet_v2"),
    "mobilenet": vision("mobilenet_v3_small"),
    "shufflenet": vision("shufflenet_v2_x0_5"),
    "efficientnet": vision("efficientnet_b0"),
    "efficientnet-v2": vision("efficientnet_v2_s"),
    "mnasnet": vision("mnasnet0_5"),
    "densenet": vision("densenet121"),
    "googlenet": vision("googlenet", aux_logits=False, init_weights=False),
    "inception": vision("inception_v3", size=96, aux_logits=False, init_weights=False),
    "regnet": vision("regnet_y_400mf"),
    "regnet-x": vision("regnet_x_400mf"),
    "vit": (small_vit, floats(3, 32, 32)),
    "swin": (small_swin, floats(3, 32, 32)),
    "swin-v2": (lambda: small_swin(2), floats(3, 32, 32)),
    "convnext": (small_convnext, floats(3, 32, 32)),
    "maxvit": (small_maxvit, floats(3, 32, 32)),
    "lraspp": segmentation("lraspp_mobilenet_v3_large"),
    "deeplab": segmentation("deeplabv3_mobilenet_v3_large"),
    "fcn": segmentation("fcn_resnet50"),
}


# -- timm
def image_model(name, size=64, **options):
    def make():
        import timm

        return timm.create_model(name, pretrained=False, num_classes=10, **options)

    return make, floats(3, size, size)


def small_mixer():
    from timm.models.mlp_mixer import MlpMixer

    return MlpMixer(num_classes=10, img_size=32, patch_size=8, num_blocks=2, embed_dim=24)


def small_poolformer():
    from timm.models.metaformer import MetaFormer

    return MetaFormer(depths=(1, 1, 1, 1), dims=(16, 24, 32, 48), num_classes=10)


TIMM = {
    "timm-resnet": image_model("resnet10t"),
    "timm-ghostnet": image_model("ghostnet_050"),
    "timm-mobilevit": image_model("mobilevit_xxs"),
    "timm-edgenext": image_model("edgenext_xx_small"),
    "timm-mixer": (small_mixer, floats(3, 32, 32)),
    "timm-deit": image_model("deit_tiny_patch16_224", img_size=64, depth=2, embed_dim=24, num_heads=3),
    "timm-eva": image_model("eva02_tiny_patch14_224", 56, img_size=56, depth=2, embed_dim=24, num_heads=3),
    "timm-poolformer": (small_poolformer, floats(3, 64, 64)),
}


# -- transformers
SMALL = {"vocab_size": 50, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 32}
EXPERTS = {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}
ENCODER = {**SMALL, "num_attention_heads": 3, "intermediate_size": 48, "max_position_embeddings": 16}


def language(model, config, **options):
    """A model that gives logits for tokens."""

    def make():
        import transformers as t

        return Keyword(getattr(t, model)(getattr(t, config)(**options)), "input_ids", "logits")

    return make, tokens(50, 9)


def hidden(model, config, argument="input_ids", draw=tokens(50, 9), more=None, **options):
    """A model that gives its last hidden state."""

    def make():
        import transformers as t

        made = getattr(t, model)(getattr(t, config)(**options), **(more or {}))
        return Keyword(made, argument, "last_hidden_state", False)

    return make, draw


def translation(model, config, argument, draw, **options):
    def make():
        import transformers as t

        return Translation(getattr(t, model)(getattr(t, config)(**options)), argument)

    return make, draw


def two_texts():
    return torch.randint(50, (BATCH, 9)), torch.randint(50, (BATCH, 6))


def sound_and_text():
    return torch.randn(BATCH, 20, 24), torch.randint(50, (BATCH, 6))


T5 = {"vocab_size": 50, "d_model": 24, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 3}
PLAIN = {"add_pooling_layer": False}

TRANSFORMERS = {
    "gpt2": language("GPT2LMHeadModel", "GPT2Config", vocab_size=50, n_positions=16, n_embd=24, n_layer=2, n_head=3),
    "llama": language("LlamaForCausalLM", "LlamaConfig", **GROUPED),
    "llama4": language("Llama4ForCausalLM", "Llama4TextConfig", head_dim=6, intermediate_size_mlp=40, num_local_experts=4,
                       num_experts_per_tok=1, **GROUPED),
    "mistral": language("MistralForCausalLM", "MistralConfig", sliding_window=4, **GROUPED),
    "qwen": language("Qwen2ForCausalLM", "Qwen2Config", **GROUPED),
    "gemma": language("GemmaForCausalLM", "GemmaConfig", head_dim=6, **GROUPED),
    "phi": language("PhiForCausalLM", "PhiConfig", **{**GROUPED, "hidden_size": 32}),
    "gpt-neox": language("GPTNeoXForCausalLM", "GPTNeoXConfig", max_position_embeddings=32, **SMALL),
    "opt": language("OPTForCausalLM", "OPTConfig", vocab_size=50, hidden_size=24, ffn_dim=40, num_hidden_layers=2,
                    num_attention_heads=4, max_position_embeddings=32, word_embed_proj_dim=24),
    "mixtral": language("MixtralForCausalLM", "MixtralConfig", **EXPERTS),
    "mixtral-batched": language("MixtralForCausalLM", "MixtralConfig", experts_implementation="batched_mm", **EXPERTS),
    "bert": hidden("BertModel", "BertConfig", more=PLAIN, **ENCODER),
    "roberta": hidden("RobertaModel", "RobertaConfig", more=PLAIN, **ENCODER),
    "fnet": hidden("FNetModel", "FNetConfig", more=PLAIN, vocab_size=50, hidden_size=24, intermediate_size=48, num_hidden_layers=2,
                   max_position_embeddings=16),
    "distilbert": hidden("DistilBertModel", "DistilBertConfig", vocab_size=50, dim=24, hidden_dim=48, n_layers=2, n_heads=3,
                         max_position_embeddings=16),
    "t5": hidden("T5EncoderModel", "T5Config", **T5),
    "t5-full": translation("T5ForConditionalGeneration", "T5Config", "input_ids", two_texts, **T5),
    "whisper": translation("WhisperForConditionalGeneration", "WhisperConfig", "input_features", sound_and_text, vocab_size=50,
                           num_mel_bins=20, d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3,
                           decoder_attention_heads=3, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=12,
                           max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
                           suppress_tokens=None, begin_suppress_tokens=None),
    "hf-vit": hidden("ViTModel", "ViTConfig", "pixel_values", floats(3, 32, 32), PLAIN, hidden_size=24, num_hidden_layers=2,
                     num_attention_heads=3, intermediate_size=48, image_size=32, patch_size=8),
}

MODULES = {**VISION, **TIMM, **TRANSFORMERS}
