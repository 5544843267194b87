"""Entries of the zoo at sizes that a CPU trains in seconds, with random samples. Standard library only."""

import math
import random

import cleave

BATCH = 8
_TEXT = {"hidden": 256, "heads": 4, "layers": 4, "vocab": 512}
# Entry: its sizes, and of text the tokens per sample.
MODELS = {
    "gpt2": ({**_TEXT, "ffn": 1024, "context": 256}, 256),
    "llama2-7b": ({**_TEXT, "kv-heads": 2, "ffn": 688}, 128),
    "mixtral-8x7b": ({**_TEXT, "layers": 2, "hidden": 128, "kv-heads": 2, "ffn": 256}, 64),
    "vit_b_16": ({"layers": 4, "hidden": 192, "heads": 3, "ffn": 768, "patch": 8, "image": 64, "classes": 10}, 0),
    "resnet18": ({"image": 64, "classes": 10}, 0),
    "resnet50": ({"image": 32, "classes": 10}, 0),
    "unet": ({"layers": 2, "hidden": 16, "image": 64, "classes": 2}, 0),
}
IMAGE_TO_IMAGE = ("unet",)  # their labels are images
TEXT_TO_TEXT = ("t5-small",)  # their decoder reads a second text


def options(name):
    """Options of cleave-compile for training."""
    tokens = MODELS[name][1]
    return ["--train", "--loss", "mse:logits" if name in IMAGE_TO_IMAGE else "softmax-cross-entropy:logits", "--optimizer",
            "adamw:lr=1e-4", "--set", f"batch={BATCH}" + (f",seq={tokens}" if tokens else "")
            + (f",target={tokens}" if name in TEXT_TO_TEXT else "")]


def write_model(name, folder):
    """Path of the model's file."""
    path = folder / f"{name}.onnx"
    cleave.must("cleave-zoo", name, *(word for size, value in MODELS[name][0].items() for word in (f"--{size}", value)), "-o", path)
    return path


def write_samples(name, folder, steps):
    """Path of random samples with labels for so many steps."""
    sizes, tokens = MODELS[name]
    draw, count = random.Random(1), BATCH * steps
    if tokens:
        drawn = [draw.randrange(sizes["vocab"]) for _ in range(count * tokens)]
        arrays = {"input_ids": ((count, tokens), drawn), "logits.label": ((count, tokens), drawn[1:] + drawn[:1])}
        if name in TEXT_TO_TEXT:
            arrays["decoder_input_ids"] = ((count, tokens), drawn[::-1])
    else:
        side = sizes["image"]
        drawn = lambda *shape: (shape, [draw.gauss(0, 1) for _ in range(math.prod(shape))])  # noqa: E731
        labels = ((count,), [draw.randrange(sizes["classes"]) for _ in range(count)])
        arrays = {"x": drawn(count, 3, side, side),
                  "logits.label": drawn(count, sizes["classes"], side, side) if name in IMAGE_TO_IMAGE else labels}
    path = folder / f"{name}.npz"
    cleave.write_npz(path, arrays)
    return path
