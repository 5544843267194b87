"""The package `cleave` with PyTorch: modules, datasets, and trained weights back in the module."""

import copy
import pathlib
import sys
import tempfile
import unittest
import warnings
from functools import partial

try:
    import torch
except ImportError:
    print("skipped: found no PyTorch in this Python, which modules need; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

import cleave
from cleave import optimizers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

QUIET = {"threads": 1, "progress": False}
TRAIN = {"loss": "softmax-cross-entropy", "optimizer": "sgd:lr=0.1"}


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Linear(16, 3)
        self.third = nn.Linear(3, 3)
        self.third.weight = nn.Parameter(torch.eye(3))

    def forward(self, x):
        return self.third(self.second(torch.relu(self.norm(self.first(x)))))


class Tied(nn.Module):
    """Tokens to logits with one table, and a mask; the result is a dictionary."""

    def __init__(self):
        super().__init__()
        self.table, self.mixed = nn.Embedding(11, 8), nn.Linear(8, 8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens, mask):
        return {"logits": self.head(torch.tanh(self.mixed(self.table(tokens))) * mask.unsqueeze(-1))}


class FixedBatch(nn.Module):
    """Takes its batch apart, so that torch.export fixes its size."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(torch.cat(list(x.split(1))))


class LowRank(nn.Module):
    """A linear layer with an adapter of rank 2 (LoRA)."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.lora_a = nn.Parameter(torch.randn(2, layer.in_features) / 2)
        self.lora_b = nn.Parameter(torch.zeros(layer.out_features, 2))

    def forward(self, x):
        return self.layer(x) + x @ self.lora_a.T @ self.lora_b.T


def trained_by_pytorch(module, x, y, batch, steps):
    return trained(module, torch.optim.SGD(module.parameters(), lr=0.1), x, y, batch, steps)


def trained(module, optimizer, x, y, batch, steps):
    losses = []
    for step in range(steps):
        rows = [(step * batch + i) % len(x) for i in range(batch)]
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.module = Mlp()
        self.x, self.y = torch.randn(40, 6), torch.randint(3, (40,))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def close(self, found, wanted, tolerance=1e-5):
        torch.testing.assert_close(torch.tensor(found), torch.tensor(wanted), rtol=tolerance, atol=tolerance)

    def test_training_gives_the_losses_of_pytorch_and_the_weights_return_into_the_module(self):
        plan = cleave.compile(self.module, self.x[:8], ranks=2, pin="dp", **TRAIN)
        run = plan.run(TensorDataset(self.x, self.y), steps=8, **QUIET)
        reference = copy.deepcopy(self.module)
        self.close(run.losses, trained_by_pytorch(reference, self.x, self.y, 8, 8))
        names = run.load(self.module)
        self.assertIn("norm.running_mean", names)
        for name, value in reference.state_dict().items():
            torch.testing.assert_close(self.module.state_dict()[name], value, rtol=1e-4, atol=1e-5, msg=name)

    def test_the_batch_of_a_plan_may_be_another_than_that_of_the_example(self):
        plan = cleave.compile(self.module, (self.x[:4],), set={"x.0": 20}, **TRAIN)
        self.assertEqual([i.shape for i in plan.inputs], [(20, 6), (20,)])
        run = plan.run({"x": self.x, plan.inputs[1].name: self.y}, steps=2, **QUIET)
        self.close(run.losses, trained_by_pytorch(self.module, self.x, self.y, 20, 2))

    def test_a_loader_an_iterable_and_tensors_give_the_same_losses(self):
        class Stream(IterableDataset):
            def __iter__(stream):
                return iter(zip(self.x, self.y))

        plan = cleave.compile(self.module, self.x[:8], **TRAIN)
        wanted = plan.run(TensorDataset(self.x, self.y), steps=5, **QUIET).losses
        workers = DataLoader(TensorDataset(self.x, self.y), batch_size=4, num_workers=1)
        self.assertEqual(plan.run(workers, epochs=1, **QUIET).losses, wanted)
        for data in (DataLoader(TensorDataset(self.x, self.y), batch_size=4), DataLoader(Stream(), batch_size=7), Stream(), list(zip(self.x, self.y))):
            self.assertEqual(plan.run(data, steps=5, **QUIET).losses, wanted)

    def test_a_dictionary_of_inputs_and_outputs_and_a_tied_table(self):
        module = Tied()
        tokens, mask = torch.randint(11, (8, 5)), torch.ones(8, 5)
        plan = cleave.compile(module, {"tokens": tokens, "mask": mask}, loss="softmax-cross-entropy", ranks=2)
        self.assertEqual([i.name for i in plan.inputs], ["tokens", "mask", "logits.label"])
        data = {"tokens": tokens, "mask": mask, "logits.label": torch.randint(11, (8, 5))}
        run = plan.run(data, steps=10, **QUIET)
        self.assertLess(run.losses[-1], run.losses[0])
        before = module.table.weight.clone()
        run.load(module)
        self.assertFalse(torch.equal(before, module.table.weight))
        self.assertIs(module.head.weight, module.table.weight)

    def test_a_module_that_needs_one_batch_size_gets_that_of_the_example(self):
        plan = cleave.compile(FixedBatch(), torch.randn(4, 4), **TRAIN)
        self.assertEqual(plan.inputs[0].shape, (4, 4))

    def test_a_saved_plan_takes_the_module_with_it(self):
        data = TensorDataset(self.x, self.y)
        plan = cleave.compile(self.module, self.x[:8], **TRAIN)
        wanted = plan.run(data, steps=2, **QUIET).losses
        path = plan.save(self.folder / "mlp.plan")
        del plan
        loaded = cleave.Plan.load(path)
        run = loaded.run(data, steps=2, **QUIET)
        self.assertEqual(run.losses, wanted)
        self.assertIn("first.weight", run.load(self.module))

    def test_inference_gives_the_outputs_of_the_module(self):
        self.module.eval()
        plan = cleave.compile(self.module, self.x[:8], ranks=2)
        (found,) = plan.run({"x": self.x[:8]}, steps=1, **QUIET).outputs.values()
        self.close(found.tolist(), self.module(self.x[:8]).tolist())

    def test_an_archive_and_a_profile_of_a_module(self):
        path = cleave.export(self.module, self.x[:8], self.folder / "mlp.pt2")
        self.assertEqual(cleave.compile(path, set={"x.0": 8}).inputs[0].shape, (8, 6))
        wanted = sum(p.numel() for p in self.module.parameters())
        self.assertEqual(cleave.profile(self.module, self.x[:8]).total["parameters"], wanted)

    def test_an_optimizer_of_pytorch_gives_its_hyperparameters_and_parameters(self):
        reference = copy.deepcopy(self.module)
        chosen = [p for name, p in self.module.named_parameters() if not name.startswith("second")]
        ours = torch.optim.AdamW(chosen, lr=0.02, betas=(0.8, 0.9), weight_decay=0.3)
        plan = cleave.compile(self.module, self.x[:8], loss="softmax-cross-entropy", optimizer=ours)
        theirs = torch.optim.AdamW([p for name, p in reference.named_parameters() if not name.startswith("second")], lr=0.02, betas=(0.8, 0.9),
                                   weight_decay=0.3)
        self.close(plan.run(TensorDataset(self.x, self.y), steps=5, **QUIET).losses, trained(reference, theirs, self.x, self.y, 8, 5))

    def test_pytorch_continues_a_training_with_the_states_of_its_optimizer(self):
        for make in (partial(torch.optim.SGD, lr=0.1, momentum=0.9, dampening=0.3), partial(torch.optim.Adam, lr=0.02, amsgrad=True), torch.optim.AdamW,
                     partial(torch.optim.RMSprop, momentum=0.5, centered=True), torch.optim.Adagrad, torch.optim.Adafactor):
            reference, ours = copy.deepcopy(self.module), copy.deepcopy(self.module)
            wanted = trained(reference, make(reference.parameters()), self.x, self.y, 8, 10)
            run = cleave.compile(ours, self.x[:8], loss="softmax-cross-entropy", optimizer=make, ranks=2).run(TensorDataset(self.x, self.y), steps=5, **QUIET)
            optimizer = make(ours.parameters())
            run.load(ours)
            self.assertEqual(len(run.load_states(optimizer, ours)), len(list(ours.parameters())))
            found = run.losses + trained(ours, optimizer, self.x, self.y, 8, 5)
            self.close(found, wanted, 1e-4)

    def test_states_that_do_not_fit_are_refused_and_change_nothing(self):
        def trained_by(optimizer):
            return cleave.compile(self.module, self.x[:8], loss="softmax-cross-entropy", optimizer=optimizer).run(TensorDataset(self.x, self.y), steps=1, **QUIET)

        adam, sgd = trained_by("adam"), trained_by("sgd")
        for run, optimizer, words in [(adam, torch.optim.SGD(self.module.parameters(), momentum=0.9), "states adam.m, adam.v of `first.weight`"),
                                      (adam, torch.optim.Adam(self.module.parameters(), amsgrad=True), "amsgrad=True .* has no state adam.v_max"),
                                      (adam, torch.optim.Adam([self.module.second.weight]), "states of `first.bias`, which is not a parameter"),
                                      (adam, torch.optim.Rprop(self.module.parameters()), "an optimizer Rprop, expected"),
                                      (sgd, torch.optim.AdamW(self.module.parameters()), "no states of an optimizer in the checkpoint")]:
            with self.assertRaisesRegex(ValueError, words):
                run.load_states(optimizer, self.module)
            self.assertEqual(len(optimizer.state), 0)
        self.assertEqual(sgd.load_states(torch.optim.SGD(self.module.parameters()), self.module), [])

    def test_adapters_alone_are_trained_and_return_into_the_module(self):
        self.module.first, self.module.second = LowRank(self.module.first), LowRank(self.module.second)
        reference, before = copy.deepcopy(self.module), copy.deepcopy(self.module.state_dict())
        adapters = [p for name, p in reference.named_parameters() if "lora" in name]
        wanted = trained(reference, torch.optim.AdamW(adapters, lr=0.05), self.x, self.y, 8, 5)
        plan = cleave.compile(self.module, self.x[:8], loss="softmax-cross-entropy", optimizer="adamw:lr=0.05", trainable="*.lora_*", ranks=2)
        run = plan.run(TensorDataset(self.x, self.y), steps=5, **QUIET)
        self.close(run.losses, wanted)
        names = [f"{layer}.lora_{part}" for layer in ("first", "second") for part in "ab"]
        self.assertEqual(sorted(name for name in run.load(self.module) if not name.startswith("norm.")), names)
        changed = [name for name, value in self.module.named_parameters() if not torch.equal(value, before[name])]
        self.assertEqual(changed, names)

    def test_an_optimizer_that_does_not_fit_is_refused(self):
        for optimizer, words in [(torch.optim.Rprop(self.module.parameters()), "found an optimizer Rprop, expected one of torch.optim's SGD"),
                                 (torch.optim.SGD(self.module.parameters(), maximize=True), "maximize=True, which Cleave does not have"),
                                 (torch.optim.SGD(Tied().parameters()), "3 parameters in the optimizer that Mlp does not have")]:
            with self.assertRaisesRegex(cleave.CompileError, words):
                cleave.compile(self.module, self.x[:8], loss="softmax-cross-entropy", optimizer=optimizer)
        with self.assertRaisesRegex(TypeError, "optimizer of PyTorch for a model file"):
            cleave.compile("model.onnx", optimizer=torch.optim.SGD(self.module.parameters()))

    def test_groups_of_an_optimizer_are_named_by_parameter(self):
        weights = [p for p in self.module.parameters() if p.dim() > 1]
        rest = [p for p in self.module.parameters() if p.dim() == 1]
        groups = [{"params": weights}, {"params": rest, "weight_decay": 0.0}]
        found = optimizers.optimizer_options(torch.optim.AdamW(groups, lr=0.5), self.module)
        self.assertEqual(found.optimizer, "adamw:lr=0.5,beta1=0.9,beta2=0.999,eps=1e-08,weight-decay=0.01,amsgrad=false")
        self.assertIn("first.bias:weight-decay=0.0", found.groups)
        self.assertEqual((len(found.groups), found.freeze), (len(rest), []))
        reference = copy.deepcopy(self.module)
        ours, theirs = (torch.optim.SGD([{"params": [p for p in m.parameters() if p.dim() > 1]},
                                         {"params": [p for p in m.parameters() if p.dim() == 1], "lr": 0.3}], lr=0.1) for m in (self.module, reference))
        run = cleave.compile(self.module, self.x[:8], loss="softmax-cross-entropy", optimizer=ours).run(TensorDataset(self.x, self.y), steps=5, **QUIET)
        self.close(run.losses, trained(reference, theirs, self.x, self.y, 8, 5))

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(cleave.CompileError, "expected example_inputs"):
            cleave.compile(self.module)
        with self.assertRaisesRegex(cleave.CompileError, "torch.export cannot export Mlp"):
            cleave.compile(self.module, torch.randn(8, 5))
        run = cleave.compile(self.module, self.x[:8], **TRAIN).run(TensorDataset(self.x, self.y), steps=1, **QUIET)
        with self.assertRaisesRegex(ValueError, "which Tied has not"):
            run.load(Tied())


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    unittest.main(verbosity=2)
