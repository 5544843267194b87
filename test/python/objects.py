"""Losses, types and optimizers of PyTorch as arguments of `cleave.compile`: the losses of a run are PyTorch's."""

import copy
import functools
import pathlib
import sys
import tempfile
import unittest
import warnings

try:
    import torch
except ImportError:
    print("skipped: found no PyTorch in this Python, whose objects are arguments; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

import cleave
from cleave import compiling, optimizers
from torch import nn
from torch.nn import functional as F

QUIET = {"threads": 1, "progress": False}
BATCH, STEPS, CLASSES = 6, 3, 4
SGD = "sgd:lr=0.1"


class Scores(nn.Module):
    """Scores of classes; of an image, for each of its pixels."""

    def __init__(self, of_images=False):
        super().__init__()
        self.scores = nn.Conv2d(2, CLASSES, 1) if of_images else nn.Linear(5, CLASSES)

    def forward(self, x):
        return self.scores(x)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind, self.size = nn.Linear(5, CLASSES), nn.Linear(5, 1)

    def forward(self, x):
        return {"kind": self.kind(x), "size": self.size(x)}


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(CLASSES, CLASSES)

    def forward(self, tokens):
        return self.table(tokens)


def steps_of(module, optimizer, loss_of, x, labels):
    """The losses of a training by PyTorch; `loss_of` takes the results of the module and the labels of a batch."""
    losses = []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        loss = loss_of(module(x[rows]), {name: label[rows] for name, label in labels.items()})
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Objects(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def trained(self, module, x, labels, **options):
        """The losses of a run; `labels` are those of outputs by name."""
        plan = cleave.compile(module, x[:BATCH], **options)
        data = {i.name: labels[i.name.removesuffix(".label")] if i.is_label else x for i in plan.inputs}
        return plan.run(data, steps=STEPS, **QUIET).losses

    def compare(self, loss, x, labels, module, name="0"):
        reference = copy.deepcopy(module)
        wanted = steps_of(reference, torch.optim.SGD(reference.parameters(), lr=0.1), lambda y, batch: loss(y, batch[name]), x, {name: labels})
        found = self.trained(module, x, {name: labels}, loss=loss, optimizer=SGD)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6, msg=lambda text: f"{loss}: {text}")


class Losses(Objects):
    def test_losses_of_classes_are_those_of_pytorch(self):
        x, labels = torch.randn(BATCH * STEPS, 5), torch.randint(CLASSES, (BATCH * STEPS,))
        labels[::5] = 1
        weight = torch.tensor([1.0, 0.25, 3.0, 0.1])
        for loss in (nn.CrossEntropyLoss(), F.cross_entropy, nn.CrossEntropyLoss(label_smoothing=0.2, ignore_index=1),
                     nn.CrossEntropyLoss(weight, reduction="sum"), nn.CrossEntropyLoss(weight, label_smoothing=0.1)):
            self.compare(loss, x, labels, Scores())
        for loss in (nn.NLLLoss(), nn.NLLLoss(weight, ignore_index=1)):
            self.compare(loss, x, labels, nn.Sequential(Scores(), nn.LogSoftmax(1)))

    def test_losses_of_numbers_are_those_of_pytorch(self):
        x, labels = torch.randn(BATCH * STEPS, 5), torch.randn(BATCH * STEPS, CLASSES)
        for loss in (nn.MSELoss(), nn.MSELoss(reduction="sum"), nn.L1Loss(), F.l1_loss, nn.HuberLoss(delta=0.3), nn.SmoothL1Loss(beta=0.5)):
            self.compare(loss, x, labels, Scores())
        for loss in (nn.BCEWithLogitsLoss(), nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0, 0.5])),
                     nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0))):
            self.compare(loss, x, labels.gt(0).float(), Scores())

    def test_the_classes_of_images_are_in_dim_1(self):
        x, labels = torch.randn(BATCH * STEPS, 2, 4, 3), torch.randint(CLASSES, (BATCH * STEPS, 4, 3))
        self.compare(nn.CrossEntropyLoss(), x, labels, Scores(of_images=True))

    def test_many_weights_are_given_by_a_file_that_is_not_beside_the_plan(self):
        classes = 100
        x, labels = torch.randn(BATCH * STEPS, 5), torch.randint(classes, (BATCH * STEPS,))
        loss = nn.CrossEntropyLoss(torch.rand(classes))
        self.compare(loss, x, labels, nn.Linear(5, classes))
        with tempfile.TemporaryDirectory() as folder:
            cleave.compile(nn.Linear(5, classes), x[:BATCH], loss=loss, output=pathlib.Path(folder) / "one.plan")
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).iterdir()), ["one.plan", "one.plan.pt2"])

    def test_a_dictionary_gives_a_loss_for_each_output(self):
        x, labels = torch.randn(BATCH * STEPS, 5), {"kind": torch.randint(CLASSES, (BATCH * STEPS,)), "size": torch.randn(BATCH * STEPS, 1)}
        module = TwoHeads()
        reference = copy.deepcopy(module)
        wanted = steps_of(reference, torch.optim.SGD(reference.parameters(), lr=0.1),
                          lambda y, batch: F.cross_entropy(y["kind"], batch["kind"]) + 0.5 * F.mse_loss(y["size"], batch["size"]), x, labels)
        found = self.trained(module, x, labels, loss={"kind": nn.CrossEntropyLoss(), "size": "mse:factor=0.5"}, optimizer=SGD)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)

    def test_a_loss_that_cleave_does_not_have_is_refused_by_name(self):
        class Own(nn.CrossEntropyLoss):
            pass

        for loss, words in [(nn.CrossEntropyLoss(reduction="none"), "CrossEntropyLoss with reduction='none', which Cleave does not have"),
                            (nn.BCEWithLogitsLoss(weight=torch.ones(4)), r"weight of shape \[4\], which Cleave does not have; expected pos_weight"),
                            (nn.KLDivLoss(), "found the loss KLDivLoss, expected torch.nn's CrossEntropyLoss, "),
                            (F.kl_div, "found the loss kl_div"), (Own(), "found the loss Own"), (lambda y, label: y.sum(), "found the loss <lambda>"),
                            (nn.BCELoss(), "BCEWithLogitsLoss on what the model gives before its sigmoid"), (3, "found the loss int"),
                            ({"1": nn.MSELoss()}, "MSELoss for an output `1`, expected one of 0")]:
            with self.assertRaisesRegex(cleave.CompileError, words):
                cleave.compile(Scores(), torch.randn(BATCH, 5), loss=loss)
        with self.assertRaisesRegex(cleave.CompileError, "outputs kind, size; expected the output of the loss, for example loss={'kind': MSELoss"):
            cleave.compile(TwoHeads(), torch.randn(BATCH, 5), loss=nn.MSELoss())
        with self.assertRaisesRegex(TypeError, "for a model file, expected a text: `smooth-l1:OUTPUT,beta=0.5`"):
            cleave.compile("model.onnx", loss=nn.SmoothL1Loss(beta=0.5))

    def test_classes_in_three_dims_are_left_to_the_user(self):
        words = "loss='softmax-cross-entropy:0,ignore-index=-1' if they are the last dim, or loss='softmax-cross-entropy:0,ignore-index=-1,class-dim=1'"
        with self.assertRaisesRegex(cleave.CompileError, words):
            cleave.compile(Sequence(), torch.randint(CLASSES, (BATCH, 7)), loss=nn.CrossEntropyLoss(ignore_index=-1))


class Types(Objects):
    def test_a_type_of_pytorch_is_that_of_products(self):
        x, labels = torch.randn(BATCH * STEPS, 5), {"0": torch.randint(CLASSES, (BATCH * STEPS,))}
        losses = {dtype: self.trained(copy.deepcopy(module), x, labels, loss=nn.CrossEntropyLoss, dtype=dtype)
                  for module in [Scores()] for dtype in ("bf16", torch.bfloat16, "bfloat16", torch.float32)}
        self.assertEqual(losses["bf16"], losses[torch.bfloat16])
        self.assertEqual(losses["bf16"], losses["bfloat16"])
        self.assertNotEqual(losses["bf16"], losses[torch.float32])

    def test_rules_may_have_types_of_pytorch(self):
        found = compiling._dtype({"dtype": torch.bfloat16, "rules": [{"name": "half", "dtype": torch.float32}]})
        self.assertEqual(found, {"dtype": "bf16", "rules": [{"name": "half", "dtype": "f32"}]})

    def test_another_type_is_refused(self):
        with self.assertRaisesRegex(TypeError, "found torch.float64 as dtype, expected torch.float32"):
            cleave.compile(Scores(), torch.randn(BATCH, 5), loss="mse", dtype=torch.float64)


class Optimizers(Objects):
    def compare(self, module, ours, theirs):
        x, labels = torch.randn(BATCH * STEPS, 5), {"0": torch.randint(CLASSES, (BATCH * STEPS,))}
        reference = copy.deepcopy(module)
        wanted = steps_of(reference, theirs(reference.parameters()), lambda y, batch: F.cross_entropy(y, batch["0"]), x, labels)
        found = self.trained(module, x, labels, loss=nn.CrossEntropyLoss(), optimizer=ours)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)

    def test_a_class_has_the_defaults_of_pytorch_and_a_partial_its_own(self):
        for make in (torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.Adafactor,
                     functools.partial(torch.optim.Adam, lr=0.02, amsgrad=True),
                     functools.partial(torch.optim.Adam, lr=0.1, weight_decay=0.5, decoupled_weight_decay=True)):
            self.compare(Scores(), make, make)

    def test_a_name_has_any_case(self):
        self.compare(Scores(), "AdamW:lr=0.01", functools.partial(torch.optim.AdamW, lr=0.01))

    def test_groups_may_switch_a_flag_off(self):
        module = Scores()
        groups = [{"params": [module.scores.weight]}, {"params": [module.scores.bias], "amsgrad": False}]
        found = optimizers.optimizer_options(torch.optim.AdamW(groups, amsgrad=True), module)
        self.assertIn("amsgrad=true", found.optimizer)
        self.assertEqual(found.groups, ["scores.bias:amsgrad=false"])

    def test_what_would_be_ignored_is_refused_or_warned_of(self):
        module, x = Scores(), torch.randn(BATCH, 5)

        class AdamW(torch.optim.Optimizer):
            """Has the name of PyTorch's only."""

        with self.assertRaisesRegex(cleave.CompileError, "found an optimizer AdamW, expected one of torch.optim's"):
            cleave.compile(module, x, loss="mse", optimizer=AdamW(module.parameters(), {}))
        used = torch.optim.AdamW(module.parameters())
        module(x).sum().backward()
        used.step()
        with self.assertWarnsRegex(cleave.Warning, "AdamW with a state"):
            cleave.compile(module, x, loss="mse", optimizer=used)
        groups = torch.optim.SGD([{"params": [module.scores.weight]}, {"params": [module.scores.bias], "lr": 1.0}])
        with self.assertRaisesRegex(TypeError, "optimizer_group beside an optimizer of PyTorch with groups"):
            cleave.compile(module, x, loss="mse", optimizer=groups, optimizer_group="no-decay")
        mixed = torch.optim.Adam([{"params": [module.scores.weight]}, {"params": [module.scores.bias], "decoupled_weight_decay": True}])
        with self.assertRaisesRegex(cleave.CompileError, "decoupled_weight_decay in some groups"):
            cleave.compile(module, x, loss="mse", optimizer=mixed)
        with self.assertRaisesRegex(TypeError, "an optimizer of type int"):
            cleave.compile(module, x, loss="mse", optimizer=3)


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    unittest.main(verbosity=2)
