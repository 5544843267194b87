#!/usr/bin/env python3
"""Exports one model in every form that PyTorch knows, and compares what Cleave makes of them.

    test/models/torch/sweep_forms.py [--bin build/bin] [--forms exported,trace,...] [--keep DIR] [--ops] [MODEL...]

Per model and form: the plan's cost and memory for 8 GPUs (cluster h100-node) and the losses of some steps on one CPU, against those of the first
form; cost within 1e-6, losses within 1e-5. One line each, with the composites that were recognised; --ops also lists the graph ops that
the first form has not, or has in another number. Exit code 1 if any is off. Forms that PyTorch cannot make of a model, or whose exporter
makes another model of it (batch norms folded into convolutions), are skipped. Needs torch and onnxscript, and transformers for some models.
"""

import argparse
import collections
import copy
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import export_pt2  # noqa: E402
import models  # noqa: E402
import modules  # noqa: E402

ROOT = HERE.parent.parent.parent
COST, LOSSES, STEPS, BATCH = 1e-6, 1e-5, 6, 8
# Of costs: some files count batches (num_batches_tracked) and others do not; ONNX's OneHot takes negative classes, too.
ALIKE = {"resnet": 1e-5, "loss.one-hot": 1e-4}


def load(path):
    """A script beside this one as a module; two folders have an export.py."""
    found = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


onnx_export, script_export = load(HERE.parent / "export.py"), load(HERE / "export.py")


class Named(torch.nn.Module):
    """A model of transformers with one input; attention is written out if eager, and leaves out small tokens if padded."""

    def __init__(self, kind, attention, padded, layers):
        super().__init__()
        self.padded = padded
        self.model = hugging(kind, attention, layers)
        self.options = {"use_cache": False} if kind in ("gpt2", "llama") else {}

    def forward(self, tokens):
        mask = {"attention_mask": (tokens > 3).long()} if self.padded else {}
        return self.model(tokens, **mask, **self.options, return_dict=False)[0]


class LanguageLoss(torch.nn.Module):
    """tokens [batch, 16] -> the loss of predicting each from those before it, in one of the ways in which people write it."""

    def __init__(self, spelling):
        super().__init__()
        self.model = models.Gpt(layers=1)
        self.spelling = spelling

    def forward(self, tokens):
        logits, labels = self.model(tokens)[:, :-1], tokens[:, 1:]
        if self.spelling == "cross-entropy":
            return F.cross_entropy(logits.reshape(-1, 64), labels.reshape(-1))
        if self.spelling == "transposed":
            return F.cross_entropy(logits.transpose(1, 2), labels)
        if self.spelling == "nll":
            return F.nll_loss(F.log_softmax(logits, -1).reshape(-1, 64), labels.reshape(-1))
        if self.spelling == "gather":
            return -F.log_softmax(logits, -1).gather(-1, labels.unsqueeze(-1)).mean()
        return -(F.log_softmax(logits, -1) * F.one_hot(labels, 64)).sum(-1).mean()


def hugging(kind, attention, layers):
    import transformers as t

    if kind == "gpt2":
        config = t.GPT2Config(vocab_size=64, n_positions=16, n_embd=24, n_layer=layers, n_head=3, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
        make = t.GPT2LMHeadModel
    elif kind == "llama":
        config = t.LlamaConfig(vocab_size=64, hidden_size=24, intermediate_size=40, num_hidden_layers=layers,
                               num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32)
        make = t.LlamaForCausalLM
    elif kind == "bert":
        config = t.BertConfig(vocab_size=64, hidden_size=24, num_hidden_layers=layers, num_attention_heads=3, intermediate_size=48,
                              max_position_embeddings=16, hidden_dropout_prob=0, attention_probs_dropout_prob=0,
                              pad_token_id=None)  # no row without gradient, which ONNX cannot say
        make = t.BertForMaskedLM
    else:
        config = t.T5Config(vocab_size=64, d_model=24, d_kv=8, d_ff=48, num_layers=layers, num_heads=3, dropout_rate=0)
        make = t.T5EncoderModel
    config._attn_implementation = attention
    return make(config)


def tokens_of(kind, attention, padded, layers=2):
    return (lambda: Named(kind, attention, padded, layers), "tokens", (16,), 64)


# name -> (constructor, name of the one input, its shape without the batch dim, integer range or None)
MODELS = {name: models.MODELS[name] for name in ("mlp", "gpt", "vit", "resnet", "gpt2")}
for kind in ("gpt2", "bert", "llama", "t5"):
    for attention in ("eager",) if kind == "t5" else ("sdpa", "eager"):
        for padded in (False, True):
            MODELS[f"hf-{kind}.{attention}{'.padded' if padded else ''}"] = tokens_of(kind, attention, padded)
LOSSES_OF = ("cross-entropy", "transposed", "nll", "gather", "one-hot")
MODELS |= {f"loss.{spelling}": (lambda spelling=spelling: LanguageLoss(spelling), "tokens", (16,), 64) for spelling in LOSSES_OF}
FORMS = ["exported", "decomposed", "noopt", "dynamo", "legacy-plain", "legacy", "trace", "script", "frozen"]
# Forms that are made of a model in eval mode, or fold batch norms whatever the mode is.
FOLDING = {"dynamo", "legacy", "frozen"}


def write(spec, form, folder):
    """Writes the model in one form; returns the path."""
    if form in ("exported", "decomposed"):
        program = export_pt2.program_of(spec, BATCH)
        path = folder / f"{form}.pt2"
        export_pt2.save(program if form == "exported" else program.run_decompositions(), path)
    elif form in ("trace", "script", "frozen"):
        path = folder / f"{form}.pt"
        script_export.write(spec, form, path, BATCH)
    else:
        path = folder / f"{form}.onnx"
        exporter, opset = {"noopt": ("noopt", None), "dynamo": ("dynamo", None), "legacy-plain": ("train", 17), "legacy": ("eval", 17)}[form]
        onnx_export.export(spec, exporter, opset, path, batch=BATCH)
    return path


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["without a word"]
        raise SystemError(f"{pathlib.Path(command[0]).name} exits with {done.returncode}: {said[-1][:400]}")
    return done


def training(spec, kind, path):
    """cleave-compile's options for one form."""
    output = "0" if path.suffix == ".pt" else "logits"
    symbol = f"{spec[1]}.0" if path.suffix == ".pt2" else "batch"
    dims = ",".join(map(str, (BATCH, *spec[2])))
    label = "" if kind == "output" else ",label"
    options = ["--train", "--loss", f"{kind}:{output}{label}", "--optimizer", "adamw:lr=1e-3"]
    if path.suffix == ".pt":
        return options + ["--input", f"{spec[1]}={'int64' if spec[3] else 'float32'}[{dims}]"]
    return options + ["--set", f"{symbol}={BATCH}"]


def write_data(spec, path):
    """Inputs and labels of the steps; returns the loss to train with."""
    model = models.build(spec).eval()
    inputs = models.samples(spec, BATCH * STEPS, seed=0)
    with torch.no_grad():
        shape = model(inputs[:BATCH]).shape
    if not shape:  # a loss itself
        numpy.savez(path, **{spec[1]: inputs.numpy()})
        return "output"
    kind = "mse" if isinstance(model, Named) and shape[-1] != 64 else "softmax-cross-entropy"
    generator = torch.Generator().manual_seed(1)
    whole = (BATCH * STEPS, *shape[1:])
    label = torch.randn(whole, generator=generator) if kind == "mse" else torch.randint(shape[-1], whole[:-1], generator=generator)
    numpy.savez(path, **{spec[1]: inputs.numpy(), "label": label.numpy()})
    return kind


def ops_of(folder):
    text = (folder / "1-forward.mlir").read_text()
    return collections.Counter(re.findall(r"graph\.(\w+)[ (<]", re.sub(r"graph\.\w+ =", "", text)))


def measure(tools, spec, kind, path, data):
    """What Cleave makes of one file."""
    folder = path.parent / path.stem
    folder.mkdir(exist_ok=True)
    options = training(spec, kind, path)
    said = call(tools / "cleave-compile", path, *options, "--cluster", "h100-node", "--ranks", 8, "--dump-phases", folder, "-o", folder / "gpus.plan")
    predicted = json.loads(call(tools / "cleave-dump", folder / "gpus.plan", "--json").stdout)["predicted"]
    call(tools / "cleave-compile", path, *options, "-o", folder / "cpu.plan")
    call(tools / "cleave-run", folder / "cpu.plan", "--data", data, "--steps", STEPS, "--threads", 1, "--log", folder / "log")
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    recognised = re.findall(r"recognised: (.*)", said.stderr)
    return {"cost": predicted["step_seconds"], "memory": predicted.get("peak_bytes", 0),
            "losses": numpy.array([line["loss"] for line in lines if "step" in line]), "ops": ops_of(folder),
            "recognised": recognised[0] if recognised else "nothing"}


def judge(found, first, tolerance):
    cost = abs(found["cost"] / first["cost"] - 1)
    losses = numpy.abs(found["losses"] / first["losses"] - 1).max()
    good = cost <= tolerance and losses <= LOSSES
    return good, f"cost {found['cost']:.6e} ({cost:.0e}) losses {losses:.0e} memory {found['memory']}: {found['recognised']}"


def reason_against(name, form):
    """Why a form is another model than the rest; None where it is not."""
    if name == "resnet" and form in FOLDING:
        return "batch norms are folded"
    if name.endswith("sdpa.padded") and form in ("noopt", "dynamo"):
        return "masked scores are finite, so that queries without keys attend to all of them"
    if name == "gpt2" and form == "dynamo":
        return "the table of positions is cut to those that are used"
    if name.startswith("hf-t5") and form == "dynamo":
        return "the table of relative positions is replaced by what it gives, a parameter for each pair of positions"
    if name.startswith("hf-llama") and form == "frozen":
        return "the table of frequencies, once a buffer, is a constant as all parameters are, and trained as they are"
    return None


def check(arguments, name, folder):
    """One line per form; returns how many are off."""
    spec, first, failed = MODELS[name], None, 0
    kind = write_data(spec, folder / "data.npz")
    for form in arguments.forms:
        reason = reason_against(name, form)
        result, text, found = "skip", f"another model: {reason}", None
        if not reason:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    path = write(spec, form, folder)
            except Exception as error:  # whatever PyTorch says: it is not ours to judge
                text = "PyTorch makes no such file of it" + (f": {str(error)[:300]}" if arguments.ops else "")
            else:
                try:
                    found = measure(arguments.bin, spec, kind, path, folder / "data.npz")
                    first = first or found
                    good, text = judge(found, first, ALIKE.get(name, COST))
                    result = "ok" if good else "FAIL"
                except SystemError as error:
                    result, text = "FAIL", str(error)
        failed += result == "FAIL"
        print(f"{result:4} {name:14} {form:13} {text}", flush=True)
        if found and arguments.ops:
            more, less = copy.copy(found["ops"]), copy.copy(first["ops"])
            more.subtract(first["ops"])
            print("     ", {op: n for op, n in sorted(more.items()) if n} if found is not first else dict(sorted(less.items())), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--forms", default=FORMS, type=lambda text: text.split(","))
    parser.add_argument("--keep", type=pathlib.Path, help="where the files go that are made")
    parser.add_argument("--ops", action="store_true")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    failed = 0
    for name in arguments.models or MODELS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep / name if arguments.keep else pathlib.Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            failed += check(arguments, name, folder)
    print(f"{failed} off")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
