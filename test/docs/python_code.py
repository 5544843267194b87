"""The Python on the pages for users works: all blocks of a page run in order, in one folder, with small modules and data in the place of the
reader's, and few steps."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

try:
    import torch
    import transformers
    from datasets import Dataset
except ImportError as error:
    print(f"skipped: found no {error.name} in this Python, expected PyTorch, datasets and transformers; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

import cleave
import pages
from torch import nn
from torch.nn import functional as F

CLASSES, TOKENS, LENGTH = 3, 16, 8
RUN = cleave.Plan.run
# Experiment trackers, which need not be installed; test/python/trackers.py tests them.
sys.modules.update({name: unittest.mock.MagicMock() for name in ("wandb", "mlflow")})


class Perceptron(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 16), nn.Linear(16, CLASSES)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class LowRank(Perceptron):
    """With an adapter, as the notebook has it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Module()
        self.fc.lora_a, self.fc.lora_b = nn.Parameter(torch.randn(2, 6)), nn.Parameter(torch.zeros(CLASSES, 2))

    def forward(self, x):
        return super().forward(x) + x @ self.fc.lora_a.T @ self.fc.lora_b.T


class TwoTowers(nn.Module):
    """Embeddings of images and captions."""

    def __init__(self):
        super().__init__()
        self.image, self.caption = nn.Linear(12, 4), nn.Embedding(TOKENS, 4)

    def forward(self, image, caption):
        return self.image(image.flatten(1)), self.caption(caption).mean(1)


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(TOKENS, 8), nn.Linear(8, TOKENS)

    def forward(self, tokens):
        return self.head(self.table(tokens))


def few(options):
    """The options of Plan.run with a thousandth of the steps, and one thread."""
    for name in ("steps", "save_every", "eval_every"):
        if name in options:
            options[name] = max(2, options[name] // 1000)
    if "epochs" in options:
        options["epochs"] = 2
    if "lr_schedule" in options:
        options["lr_schedule"] = re.sub(r"warmup=\d+", "warmup=2", options["lr_schedule"])
    return {"threads": 1, "progress": False, **options}


def run_shortly(plan, *data, **options):
    return RUN(plan, *data, **few(options))


def samples(width=6):
    labels = torch.arange(32) % CLASSES
    return list(zip(torch.randn(32, width) + labels[:, None], labels))


def gpt():
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=TOKENS, n_positions=LENGTH, bos_token_id=0, eos_token_id=0,
                                     loss_type="ForCausalLM")
    return transformers.GPT2LMHeadModel(config)


def perceptron():
    data = samples()
    return {"module": Perceptron(), "example_inputs": torch.randn(8, 6), "dataset": data, "data": data, "train": data, "test": data}


def text():
    ids = torch.randint(1, TOKENS, (16, LENGTH))
    dataset = Dataset.from_dict({"input_ids": ids.tolist(), "labels": ids.tolist()})
    return {"model": gpt(), "ids": ids[:4], "datasets": types.SimpleNamespace(load_dataset=lambda name: dataset), "tokenize": lambda row: row}


def trained():
    names = perceptron()
    plan = cleave.compile(names["module"], names["example_inputs"], loss="softmax-cross-entropy")
    return {**names, "plan": plan, "run": plan.run(names["data"], steps=2000), "loss_of": F.cross_entropy, "x": torch.randn(8, 6), "y": torch.arange(8) % CLASSES}


def saved():
    import safetensors.torch
    model = Tokens()
    safetensors.torch.save_model(model, "trained.safetensors")
    return {"model": model}


def towers():
    return {"model": TwoTowers(), "image": torch.randn(4, 3, 2, 2), "caption": torch.zeros(4, LENGTH, dtype=torch.long), "batch": torch.export.Dim("batch")}


# The names that code uses and does not make, by the page, or by the section of a page.
NAMES = {
    "README.md": perceptron,
    "choose-a-loss.md": towers,
    "export-a-model.md": lambda: {"model": Tokens(), "tokens": torch.zeros(2, LENGTH, dtype=torch.long)},
    "export-what-was-trained.md": saved,
    "To Hugging Face": lambda: {"hf": gpt()},
    "use-cleave-from-python.md": perceptron,
    "From Hugging Face": text,
    "Watch, stop, resume": trained,
    "Fine-tune with LoRA": lambda: {**perceptron(), "module": LowRank()},
    "Continue in PyTorch": trained,
    "Learning rates and evaluations": perceptron,
}
# A program for `cleave-run --data-command`, which the page calls feed.py, and what it leaves to the reader.
FEED = """
def make_batch(step, batch, rng):
    return rng.random((batch, 6), dtype="float32"), rng.integers(0, 3, batch)
"""


class PythonCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        torch.manual_seed(0)
        self.enterContext(unittest.mock.patch.object(cleave.Plan, "run", run_shortly))

    def feed(self, block):
        """Runs the block as the command that feeds a run."""
        pathlib.Path("feed.py").write_text(FEED + block.text)
        plan = cleave.compile(Perceptron(), torch.zeros(8, 6), loss="softmax-cross-entropy")
        plan.save("mlp.plan")
        cleave.call("cleave-run", "mlp.plan", data_command=f"{sys.executable} feed.py", steps=3, threads=1)

    def compile_what_was_written(self, block):
        """Runs the compilations of files that the Python above them wrote; commands.py runs the others, with files of its own."""
        for line in block.text.replace("\\\n", "").splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["cleave-compile"] and pathlib.Path(words[1]).exists() and "…" not in words:
                subprocess.run([pathlib.Path(os.environ["CLEAVE_BIN"]) / words[0], *words[1:], "-q"], check=True)

    def check(self, page):
        names, section = {"torch": torch, "F": F, "cleave": cleave}, page.name
        names.update(NAMES.get(section, dict)())
        for block in pages.blocks(page):
            if block.kind == "commands":
                with self.subTest(block.place):
                    self.compile_what_was_written(block)
            if block.kind != "python" or "init_device_mesh" in block.text: # needs several GPUs; python-dtensors does the same on CPUs
                continue
            with self.subTest(block.place):
                if "CLEAVE_INPUTS" in block.text:
                    self.feed(block)
                    continue
                if block.section != section:
                    section = block.section
                    names.update(NAMES.get(section, dict)())
                exec(compile(block.text.replace("…", "'…'"), block.place, "exec"), names)


def test_of(page):
    return lambda self: self.check(page)


for page in pages.PAGES:
    if any(block.kind == "python" for block in pages.blocks(page)):
        setattr(PythonCode, f"test_{page.stem}", test_of(page))

if __name__ == "__main__":
    chosen = [f"PythonCode.test_{name}" for name in sys.argv[1:] if not name.startswith("-")]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
