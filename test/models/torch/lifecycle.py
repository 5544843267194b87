#!/usr/bin/env python3
"""Takes the models of architectures.py through what their users do, beside PyTorch: train, evaluate, resume, export, load.

    test/models/torch/lifecycle.py [--bin build/bin] [--formats pt2,onnx,onnx-noopt] [--keep DIR] [ARCHITECTURE...]

With --keep, all files stay in DIR, and models that are there are not exported again.

Formats: a torch.export archive, PyTorch's ONNX export as it comes, and the same with optimize=False; all of a model in training mode with a
dynamic batch. The stages, each of which needs those before it:

* train: six steps of SGD by cleave-run and by PyTorch on the same samples. Losses within 1e-4, or at most three times as far from
  PyTorch's in float64 as PyTorch's own in float32 (deep batch norms over four samples amplify roundings);
* evaluate: outputs of the trained weights beside PyTorch's in eval mode;
* resume: three steps, a checkpoint, three more: the losses of the run that was not interrupted;
* export: the trained weights as safetensors, of ONNX models also as a copy of the file;
* load: the weights in a new PyTorch model, beside those that PyTorch trained.

Prints one line per architecture and format, then a table. A default ONNX export may be another model, with batch norms folded into convolutions,
or with nodes and parameters merged and computed. Stages that fail where Cleave warns of that are `changed` and do not count. Exit code 1 if anything
else fails. Needs torch, torchvision, transformers, onnxscript, safetensors.
"""

import argparse
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch.nn import functional as F

import architectures
from architectures import ARCHITECTURES, BATCH

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
STEPS, SAMPLES = 6, 3 * BATCH
STAGES = ("train", "evaluate", "resume", "export", "load")
LOSSES, OUTPUTS, SAME = 1e-4, 1e-3, 1e-6


class Failed(Exception):
    """A stage failed; what is shown of it."""


class Tools:
    def __init__(self, path):
        self.path = path
        self.run_options = subprocess.run([path / "cleave-run", "--help"], capture_output=True, text=True).stdout

    def __call__(self, name, *arguments):
        command = [str(self.path / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=900)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if re.match(r"cleave-\w+: (?!remark|warning|note)", line)]
            raise Failed((said or done.stderr.strip().splitlines() or ["silent"])[-1][:400])
        return done.stderr


# -- PyTorch
def loss_of(kind, output, label):
    if kind == "output":
        return output
    if kind == "bce":
        return F.binary_cross_entropy_with_logits(output, label)
    return F.cross_entropy(output.reshape(-1, output.shape[-1]), label.reshape(-1))


def torch_training(architecture, model, data, labels, dtype):
    """(losses of the steps, the trained model)."""
    model = copy.deepcopy(model).to(dtype).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=architecture.lr)
    losses = []
    for step in range(STEPS):
        rows = [(step * BATCH + i) % SAMPLES for i in range(BATCH)]
        inputs = [t[rows].to(dtype) if t.is_floating_point() else t[rows] for t in data.values()]
        label = None if labels is None else labels[rows].to(dtype) if labels.is_floating_point() else labels[rows]
        optimizer.zero_grad()
        loss = loss_of(architecture.loss, model(*inputs), label)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model


def export(model, data, form, path):
    """Writes the model file, unless --keep has kept it; returns the options of cleave-compile for its batch."""
    known = path.with_suffix(".sizes")
    if known.exists():
        return json.loads(known.read_text())
    inputs = tuple(t[:BATCH] for t in data.values())
    dynamic = {name: {0: torch.export.Dim("batch", min=2, max=1024)} for name in data}
    for shapes in (dynamic, None):
        try:
            if form == "pt2":
                torch.export.save(torch.export.export(model, inputs, dynamic_shapes=shapes), path)
            else:
                torch.onnx.export(model, inputs, path, dynamo=True, optimize=form == "onnx", dynamic_shapes=shapes, external_data=False,
                                  verbose=False)
            sizes = ["--set", f"batch={BATCH}"] if shapes else []
            known.write_text(json.dumps(sizes))
            return sizes
        except Exception as error:  # whatever PyTorch says
            if shapes is None:
                raise Failed(f"PyTorch does not export it: {str(error).strip().splitlines()[0][:200]}") from None


# -- comparisons
def apart(found, wanted):
    found, wanted = numpy.asarray(found, numpy.float64), numpy.asarray(wanted, numpy.float64)
    if found.shape != wanted.shape or not numpy.isfinite(found).all():
        raise Failed(f"shapes {found.shape} and {wanted.shape}, or not finite")
    return float(numpy.abs(found - wanted).max() / max(numpy.abs(wanted).max(), 1e-30))


def losses_in(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["loss"] for line in lines if "step" in line]


def within(found, limit, what):
    if not found <= limit:
        raise Failed(f"{what} apart by {found:.1e}")
    return found


# -- the stages
class Life:
    def __init__(self, tools, name, form, folder):
        self.tools, self.form, self.folder = tools, form, folder
        self.architecture = ARCHITECTURES[name]
        torch.manual_seed(0)
        self.model = self.architecture.make().train()
        self.data = self.architecture.draw(SAMPLES)
        self.labels = self.architecture.label and self.architecture.label(SAMPLES, self.data)
        self.isChanged = False  # whether the exporter made another model, by Cleave's warning
        self.before = copy.deepcopy(self.model)
        self.path = folder / f"{name}.{'pt2' if form == 'pt2' else 'onnx'}"
        self.sizes = export(self.model, self.data, form, self.path)
        arrays = {key: t.numpy() for key, t in self.data.items()}
        numpy.savez(folder / "inputs.npz", **arrays)
        if self.labels is not None:
            arrays["label"] = self.labels.numpy()
        numpy.savez(folder / "data.npz", **arrays)

    def steps(self, steps, log, *options):
        self.tools("cleave-run", self.folder / "train.plan", "--data", self.folder / "data.npz", "--steps", steps, "--threads", 1,
                   "--log", self.folder / log, *options)
        return losses_in(self.folder / log)

    def train(self):
        said = self.tools("cleave-compile", self.path, "--train", "--loss", self.architecture.loss, "--optimizer",
                          f"sgd:lr={self.architecture.lr}", *self.sizes, "-o", self.folder / "train.plan")
        self.isChanged = "export with optimize=False" in said
        self.losses = self.steps(STEPS, "log.jsonl", "--save", self.folder / "saved")
        wanted, self.trained = torch_training(self.architecture, self.before, self.data, self.labels, torch.float32)
        found = apart(self.losses, wanted)
        if found > LOSSES:
            exact, _ = torch_training(self.architecture, self.before, self.data, self.labels, torch.float64)
            within(apart(self.losses, exact), 3 * apart(wanted, exact), f"losses {self.losses} beside {wanted}")
        self.exact = found <= LOSSES
        return found

    def evaluate(self):
        if "--weights" not in self.tools.run_options:
            raise Failed("cleave-run has no --weights")
        self.tools("cleave-export", self.folder / "train.plan", "--checkpoint", self.folder / "saved", "-o", self.folder / "eval.safetensors")
        self.tools("cleave-compile", self.path, "--batch-norm", "frozen", *self.sizes, "-o", self.folder / "eval.plan")
        self.tools("cleave-run", self.folder / "eval.plan", "--weights", self.folder / "eval.safetensors", "--data",
                   self.folder / "inputs.npz", "--steps", 1, "--threads", 1, "--out", self.folder / "out.npz")
        with torch.no_grad():
            wanted = self.reloaded("eval.safetensors").eval()(*[t[:BATCH] for t in self.data.values()])
        out = numpy.load(self.folder / "out.npz")
        found = out[out.files[0]]
        return within(apart(found.reshape(wanted.shape) if found.size == 1 else found, wanted), OUTPUTS, "outputs")

    def resume(self):
        self.steps(STEPS // 2, "first.jsonl", "--save", self.folder / "half")
        found = self.steps(STEPS, "first.jsonl", "--resume", self.folder / "half")
        return within(apart(found, self.losses), SAME, "losses")

    def export(self):
        for suffix in ["safetensors"] + ["onnx"] * (self.form != "pt2"):
            self.tools("cleave-export", self.folder / "train.plan", "--checkpoint", self.folder / "saved", "-o",
                       self.folder / f"trained.{suffix}")
        return 0.0

    def reloaded(self, file):
        """A new model with the weights in the file."""
        from safetensors.torch import load_file, load_model

        model = copy.deepcopy(self.before)
        try:
            missing, unexpected = load_model(model, self.folder / file, strict=False)
        except RuntimeError as error:  # other shapes
            raise Failed(str(error).strip().splitlines()[-1].strip()) from None
        parameters = {name for name, p in model.named_parameters() if p.requires_grad}
        if unexpected or parameters & set(missing):
            raise Failed(f"missing {sorted(parameters & set(missing))[:3]}, unexpected {sorted(unexpected)[:3]} of {len(load_file(self.folder / file))}")
        return model

    def load(self):
        found, wanted, begun = (dict(m.named_parameters()) for m in (self.reloaded("trained.safetensors"), self.trained, self.before))
        worst, where = 0.0, ""
        for name, parameter in wanted.items():
            size = (parameter - begun[name]).norm() + 1e-2 * parameter.norm() + 1e-4 * parameter.numel() ** 0.5
            if (ratio := float((found[name] - parameter).norm() / size)) > worst:
                worst, where = ratio, name
        if self.exact:
            within(worst, 1e-2, f"`{where}`")
        if self.form != "pt2":
            import onnx

            onnx.checker.check_model(onnx.load(self.folder / "trained.onnx"))
        return worst


def live(tools, name, form, folder):
    """Stage -> a number, or why it failed."""
    results = {}
    try:
        life = Life(tools, name, form, folder)
        for stage in STAGES:
            try:
                results[stage] = getattr(life, stage)()
            except Failed as failure:
                results[stage] = None if life.isChanged else str(failure)
                if stage == "train":
                    break
    except Failed as failure:
        results["train"] = str(failure)
    return results


def cell(results, stage):
    if stage not in results:
        return "–"
    return "changed" if results[stage] is None else "failed" if isinstance(results[stage], str) else f"{results[stage]:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--formats", default="pt2,onnx")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="ARCHITECTURE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    tools, table, failed = Tools(options.bin.resolve()), [], 0
    forms = options.formats.split(",")
    for name in options.names or ARCHITECTURES:
        row = [name]
        for form in forms:
            with tempfile.TemporaryDirectory() as temporary:
                folder = options.keep / f"{name}.{form}" if options.keep else pathlib.Path(temporary)
                folder.mkdir(parents=True, exist_ok=True)
                for saved in ("saved", "half"):
                    shutil.rmtree(folder / saved, ignore_errors=True)
                try:
                    results = live(tools, name, form, folder)
                except Exception as error:
                    results = {"train": f"{type(error).__name__}: {error}"}
            row += [cell(results, stage) for stage in STAGES]
            said = [f"{stage}: {what}" for stage, what in results.items() if isinstance(what, str)]
            failed += bool(said)
            print(name, form, *(said or ["ok"]), sep="  ", flush=True)
        table.append(row)
    print("\n| |", " | ".join(f"{form} {stage}" for form in forms for stage in STAGES), "|")
    print("|" + "---|" * (1 + len(forms) * len(STAGES)))
    for row in table:
        print("|", " | ".join(row), "|")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
