"""Architectures at reduced sizes for lifecycle.py: name -> Architecture. Nothing is random after the weights: dropouts are off, and
stochastic depth drops with a probability of 1e-7, so that its operators stay in the export. Tables of positions have as many rows as the
texts have tokens, where the default ONNX export would cut off the others.

Models are those of torchvision and transformers, or written here as their papers' authors or timm write them.
"""

import dataclasses
import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

BATCH = 4
ALMOST_NEVER = 1e-7
TOKENS, LENGTH, CLASSES = 50, 12, 10


@dataclasses.dataclass
class Architecture:
    make: Callable  # () -> module
    draw: Callable  # samples -> {argument of forward: tensor}
    label: Callable | None  # (samples, inputs) -> labels; None: the output is the loss
    loss: str = "softmax-cross-entropy"
    lr: float = 0.02


class Wrapped(nn.Module):
    """A model of transformers that gives one output for its first argument."""

    def __init__(self, model, output, **options):
        super().__init__()
        self.model, self.output, self.options = model, output, options

    def forward(self, x):
        return self.model(x, **self.options, return_dict=True)[self.output]


# -- written here
class UNet(nn.Module):
    def __init__(self, width=8, levels=2):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                                 nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

        widths = [width * 2**i for i in range(levels + 1)]
        self.down = nn.ModuleList([block(i, o) for i, o in zip([3, *widths], widths)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in reversed(widths[:-1])])
        self.join = nn.ModuleList([block(2 * w, w) for w in reversed(widths[:-1])])
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, reversed(kept[:-1])):
            x = join(torch.cat([skip, up(x)], 1))
        return self.out(x)


class LstmModel(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, TOKENS)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


class MixerBlock(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, patch=8, size=32, width=24, depth=2):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*[MixerBlock((size // patch) ** 2, width) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.blocks(self.stem(x).flatten(2).transpose(1, 2))
        return self.head(self.norm(x).mean(1))


def drop_path(x, probability, training):
    """As timm writes it."""
    if probability == 0.0 or not training:
        return x
    keep = 1 - probability
    mask = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
    if keep > 0.0:
        mask.div_(keep)
    return x * mask


class DeitBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6), heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, c)
        x = x + drop_path(self.proj(y), ALMOST_NEVER, self.training)
        return x + drop_path(self.fc2(F.gelu(self.fc1(self.norm2(x)))), ALMOST_NEVER, self.training)


class Deit(nn.Module):
    """DeiT with its distillation token: the mean of two heads."""

    def __init__(self, patch=8, size=32, width=24, depth=2, heads=3):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.cls_token, self.dist_token = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 2, width) * 0.02)
        self.blocks = nn.ModuleList([DeitBlock(width, heads) for _ in range(depth)])
        self.norm, self.head, self.head_dist = nn.LayerNorm(width), nn.Linear(width, CLASSES), nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        tokens = [t.expand(x.shape[0], -1, -1) for t in (self.cls_token, self.dist_token)]
        x = torch.cat([*tokens, x], 1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return (self.head(x[:, 0]) + self.head_dist(x[:, 1])) / 2


class MptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)
        self.heads = heads

    def forward(self, x, bias):
        b, s, c = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(c // self.heads) + bias
        mask = torch.ones(s, s, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Mpt(nn.Module):
    """MPT's decoder: biases of attention by distance (ALiBi), no biases of layers, a tied head."""

    def __init__(self, width=24, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.blocks = nn.ModuleList([MptBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, bias=False)
        self.register_buffer("slopes", 2.0 ** -(8 / heads * torch.arange(1, heads + 1)), persistent=False)

    def forward(self, x):
        positions = torch.arange(x.shape[1], device=x.device)
        bias = (positions[None, :] - positions[:, None]) * self.slopes[:, None, None]
        x = self.embed(x)
        for block in self.blocks:
            x = block(x, bias)
        return F.linear(self.norm(x), self.embed.weight)


# -- torchvision
def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(8, 16, 2), CNBlockConfig(16, None, 2)], stochastic_depth_prob=ALMOST_NEVER, layer_scale=0.1,
                    num_classes=CLASSES)


def swin():
    from torchvision.models.swin_transformer import SwinTransformer

    return SwinTransformer([4, 4], embed_dim=12, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4],
                           stochastic_depth_prob=ALMOST_NEVER, num_classes=CLASSES)


def densenet():
    from torchvision.models.densenet import DenseNet

    return DenseNet(growth_rate=8, block_config=(2, 3, 2), num_init_features=16, num_classes=CLASSES)


def efficientnet():
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig

    blocks = [MBConvConfig(1, 3, 1, 16, 8, 1), MBConvConfig(6, 3, 2, 8, 16, 2), MBConvConfig(6, 5, 2, 16, 24, 2)]
    return EfficientNet(blocks, dropout=0.0, stochastic_depth_prob=ALMOST_NEVER, num_classes=CLASSES, last_channel=64)


def mobilenet():
    from torchvision.models.mobilenetv3 import InvertedResidualConfig as Block
    from torchvision.models.mobilenetv3 import MobileNetV3

    blocks = [Block(16, 3, 16, 16, True, "RE", 2, 1, 1.0), Block(16, 3, 48, 24, False, "RE", 1, 1, 1.0),
              Block(24, 5, 48, 24, True, "HS", 1, 1, 1.0)]
    return MobileNetV3(blocks, last_channel=64, num_classes=CLASSES, dropout=0.0)


def regnet():
    from torchvision.models.regnet import BlockParams, RegNet

    return RegNet(BlockParams([1, 2], [16, 32], [8, 8], [1.0, 1.0], [2, 2], se_ratio=0.25), num_classes=CLASSES, stem_width=8)


def shufflenet():
    from torchvision.models.shufflenetv2 import ShuffleNetV2

    return ShuffleNetV2([2, 2, 2], [16, 24, 32, 48, 64], num_classes=CLASSES)


# -- transformers
SMALL = {"vocab_size": TOKENS, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 32}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def hugging(model, config, output="logits", call=None, **options):
    def make():
        import transformers

        made = getattr(transformers, model)(getattr(transformers, config)(**options))
        return Wrapped(made, output, **(call or {}))

    return make


class Translation(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return self.model(x, decoder_input_ids=y, use_cache=False, return_dict=True)["logits"]


def t5():
    import transformers as t

    # PyTorch's ONNX exporter fails on its fused attention with trained biases: it decomposes it into a result of other strides.
    return Translation(t.T5ForConditionalGeneration(t.T5Config(
        vocab_size=TOKENS, d_model=24, d_kv=8, d_ff=48, num_layers=2, num_heads=3, dropout_rate=0.0, attn_implementation="eager")))


class MaskedAutoencoder(nn.Module):
    """ViT-MAE's own loss; the noise that chooses the masked patches is an input."""

    def __init__(self):
        super().__init__()
        import transformers as t

        self.model = t.ViTMAEForPreTraining(t.ViTMAEConfig(
            hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=48, image_size=32, patch_size=8,
            decoder_hidden_size=24, decoder_num_hidden_layers=1, decoder_num_attention_heads=3, decoder_intermediate_size=48))

    def forward(self, x, noise):
        return self.model(x, noise=noise, return_dict=True)["loss"]


# -- data
def images(size):
    return lambda samples: {"x": torch.randn(samples, 3, size, size)}


def tokens(samples):
    return {"x": torch.randint(3, TOKENS, (samples, LENGTH))}


def two_texts(samples):
    return {"x": torch.randint(3, TOKENS, (samples, LENGTH)), "y": torch.randint(3, TOKENS, (samples, 7))}


def images_and_noise(samples):
    return {"x": torch.randn(samples, 3, 32, 32), "noise": torch.rand(samples, 16)}


def classes(samples, inputs):
    return torch.randint(CLASSES, (samples,))


def same_length(name):
    return lambda samples, inputs: torch.randint(3, TOKENS, inputs[name].shape)


def masks(samples, inputs):
    return (inputs["x"][:, :2] > 0).float()


NO_CACHE = {"use_cache": False}


def image_model(make, size=32, **options):
    return Architecture(make, images(size), classes, **options)


def language_model(model, config, **options):
    return Architecture(hugging(model, config, call=NO_CACHE, **options), tokens, same_length("x"))


def encoder(model, config, label=same_length("x"), **options):
    return Architecture(hugging(model, config, **options), tokens, label)


ARCHITECTURES = {
    "efficientnet": image_model(efficientnet),
    "convnext": image_model(convnext),
    "swin": image_model(swin),
    "mobilenet-v3": image_model(mobilenet),
    "regnet": image_model(regnet),
    "densenet": image_model(densenet, 64),
    "shufflenet": image_model(shufflenet, 64),
    "unet": Architecture(UNet, images(16), masks, "bce"),
    "lstm": Architecture(LstmModel, tokens, same_length("x"), lr=0.5),
    "mixer": image_model(Mixer),
    "deit": image_model(Deit),
    "mpt": Architecture(Mpt, tokens, same_length("x")),
    "distilbert": encoder("DistilBertForSequenceClassification", "DistilBertConfig", classes, vocab_size=TOKENS, dim=24, hidden_dim=48,
                          n_layers=2, n_heads=3, max_position_embeddings=LENGTH, num_labels=CLASSES, dropout=0.0, attention_dropout=0.0,
                          seq_classif_dropout=0.0),
    "roberta": encoder("RobertaForMaskedLM", "RobertaConfig", **{**SMALL, **STILL}, max_position_embeddings=32),
    "electra": encoder("ElectraForSequenceClassification", "ElectraConfig", classes, **{**SMALL, **STILL}, embedding_size=16,
                       max_position_embeddings=LENGTH, num_labels=CLASSES),
    "qwen2": language_model("Qwen2ForCausalLM", "Qwen2Config", **GROUPED),
    "gemma2": language_model("Gemma2ForCausalLM", "Gemma2Config", head_dim=6, query_pre_attn_scalar=6, sliding_window=4, **GROUPED),
    "phi3": language_model("Phi3ForCausalLM", "Phi3Config", pad_token_id=0, eos_token_id=1, bos_token_id=2, **GROUPED),
    "gpt-neox": language_model("GPTNeoXForCausalLM", "GPTNeoXConfig", max_position_embeddings=32, **SMALL),
    "opt": language_model("OPTForCausalLM", "OPTConfig", vocab_size=TOKENS, hidden_size=24, ffn_dim=40, num_hidden_layers=2,
                          num_attention_heads=4, max_position_embeddings=32, word_embed_proj_dim=24, dropout=0.0),
    "bloom": language_model("BloomForCausalLM", "BloomConfig", vocab_size=TOKENS, hidden_size=24, n_layer=2, n_head=4,
                            hidden_dropout=0.0, attention_dropout=0.0),
    "t5": Architecture(t5, two_texts, same_length("y")),
    "mamba": language_model("MambaForCausalLM", "MambaConfig", vocab_size=TOKENS, hidden_size=16, state_size=4, num_hidden_layers=2,
                            use_mambapy=False),
    "vit-mae": Architecture(MaskedAutoencoder, images_and_noise, None, "output"),
}
