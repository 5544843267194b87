"""`cleave-run --eval`: the evaluation during a training gives what PyTorch's model.eval() gives and what inference with the trained
weights gives, over all samples once, on any number of ranks; the best checkpoint stays."""

import json
import math
import struct
import unittest

import cleave
import fixture
import onnx_chain
from weights import write_safetensors

MODEL, DATA = cleave.GOLDEN / "evaluation.pt2", cleave.GOLDEN / "evaluation.npz"
WEIGHTS = cleave.GOLDEN / "evaluation.safetensors"
RECORD = json.loads((cleave.GOLDEN / "evaluation.json").read_text())
SGD = ["--train", "--eval", "--loss", "softmax-cross-entropy:logits", "--optimizer", "sgd:lr=0.2", "--set", "x.0=8"]


def cross_entropy(logits, labels):
    """Loss and accuracy of rows of logits."""
    classes, total, right, count = len(logits) // len(labels), 0.0, 0, 0
    for i, label in enumerate(labels):
        row = logits[i * classes : (i + 1) * classes]
        if label == -100:
            continue
        total += math.log(sum(math.exp(x) for x in row)) - row[label]
        right += row.index(max(row)) == label
        count += 1
    return total / count, right / count


def class_loss(scores, labels, isLogarithm, weights=None, smoothing=0.0, ignored=-100):
    """Loss and accuracy as torch.nn.functional.cross_entropy (or nll_loss) defines them, sample by sample."""
    classes, total, weight, right, count = len(scores) // len(labels), 0.0, 0.0, 0, 0
    for i, label in enumerate(labels):
        if label in (-100, ignored):
            continue
        row, factors = scores[i * classes : (i + 1) * classes], weights or [1.0] * classes
        norm = 0.0 if isLogarithm else math.log(sum(math.exp(x) for x in row))
        terms = [w * (norm - x) for x, w in zip(row, factors)]
        total += (1 - smoothing) * terms[label] + smoothing * sum(terms) / classes
        weight, right, count = weight + factors[label], right + (row.index(max(row)) == label), count + 1
    return total / weight, right / count


def read_safetensors(path):
    """Tensors of f32: name -> (shape, flat list); others are left out."""
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, info in json.loads(data[8:begin]).items():
        if info.get("dtype") == "F32":
            first, end = info["data_offsets"]
            found[name] = info["shape"], list(struct.unpack(f"<{(end - first) // 4}f", data[begin + first : begin + end]))
    return found


class Evaluation(fixture.Plans):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.log = cls.folder / "log.jsonl"
        cls.plans = {ranks: cls.compile(f"train{ranks}", MODEL, *SGD, ranks=ranks) for ranks in (1, 2)}

    def evaluate(self, plan, steps, *options, data=DATA):
        """The evaluations of a run."""
        _, ranks = cleave.train(plan, data, steps, self.log, "--eval", data, *options)
        for rank in ranks:
            self.assertEqual(rank["planned_bytes"], rank["allocated_bytes"])
        return cleave.evaluations(self.log)

    def test_it_gives_what_pytorchs_eval_gives_over_all_samples_once(self):
        plans = {**self.plans, "zero3": self.compile("zero3", MODEL, *SGD, "--pin", "zero3", ranks=2),
                 "adamw, two micro-batches": self.compile("adamw", MODEL, *SGD[:4], "--optimizer", "adamw", "--accumulate", 2,
                                                          "--set", "x.0=5", ranks=2)}
        for name, plan in plans.items():
            with self.subTest(plan=name):
                (found,) = self.evaluate(plan, 0, "--weights", WEIGHTS)
                self.assertLess(abs(found["eval_loss"] - RECORD["loss"]), 1e-5)
                self.assertLess(abs(found["eval_accuracy"] - RECORD["accuracy"]), 1e-6)
                self.assertNotIn("eval_perplexity", found)

    def test_a_mean_of_squares_counts_every_element_once(self):
        mse = self.compile("mse", MODEL, *SGD[:3], "mse:logits,target", *SGD[4:], ranks=2)
        (found,) = self.evaluate(mse, 0, "--weights", WEIGHTS)
        self.assertLess(abs(found["eval_loss"] - RECORD["mse"]), 1e-5)
        self.assertEqual(set(found), {"step", "eval_loss"})

    def test_several_losses_are_summed_and_told_one_by_one(self):
        both = self.compile("both", MODEL, *SGD, "--loss", "mse:logits,target")
        (found,) = self.evaluate(both, 0, "--weights", WEIGHTS)
        wanted = {"eval_loss": RECORD["loss"] + RECORD["mse"], "eval_loss.0": RECORD["loss"], "eval_loss.1": RECORD["mse"],
                  "eval_accuracy.0": RECORD["accuracy"]}
        self.assertEqual(set(found), {"step", *wanted})
        for name, number in wanted.items():
            self.assertLess(abs(found[name] - number), 1e-5, name)

    def test_a_loss_of_the_model_itself_is_evaluated_on_whole_batches(self):
        step = """func.func @step(%x: tensor<8x5xf32> {graph.name = "target", graph.role = "input"},
            %w: tensor<f32> {graph.name = "w", graph.role = "parameter", graph.source = {fill = 2.0 : f64}})
            -> (tensor<f32> {graph.name = "y", graph.role = "output"}) {
          %s = graph.reduce sum %x over [0, 1] : tensor<8x5xf32> -> tensor<f32>
          %y = graph.mul %s, %w : tensor<f32>
          return %y : tensor<f32>
        }"""
        (self.folder / "step.mlir").write_text(step)
        plan = self.compile("own", self.folder / "step.mlir", "--start-from", "import", "--train", "--eval", "--loss", "output:y")
        answer = cleave.must("cleave-run", plan, "--data", DATA, "--steps", 0, "--eval", DATA, "--log", self.log)
        self.assertIn("leaves out the last 5 of 21 samples", answer.err)
        (found,) = cleave.evaluations(self.log)
        self.assertAlmostEqual(found["eval_loss"], sum(cleave.read_npz(DATA)["target"][1][: 16 * 5]), places=4)

    def test_every_loss_of_classes_counts_every_sample_once_with_its_weight(self):
        infer, out = self.compile("scores", MODEL, "--batch-norm", "frozen", "--set", "x.0=8"), self.folder / "scores.npz"
        cleave.must("cleave-run", infer, "--data", DATA, "--weights", WEIGHTS, "--out", out, "--threads", 1)
        labels, scores = cleave.read_npz(DATA)["logits.label"][1], cleave.read_npz(out)["logits"][1]
        classes = len(scores) // len(labels)
        weights = [0.5 + 0.25 * c for c in range(classes)]
        text = ":".join(map(str, weights))
        self.assertGreater(len(labels) % 8, 0, "data that fill their micro-batches show nothing")
        used = max(set(labels), key=labels.count)
        for kind, given in {"softmax-cross-entropy": {}, "nll": {}, "softmax-cross-entropy,label-smoothing=0.2": {"smoothing": 0.2},
                            f"softmax-cross-entropy,class-weights={text}": {"weights": weights},
                            f"nll,class-weights={text},reduction=sum": {"weights": weights},
                            f"softmax-cross-entropy,class-weights={text},label-smoothing=0.1": {"weights": weights, "smoothing": 0.1},
                            f"softmax-cross-entropy,ignore-index={used}": {"ignored": used}}.items():
            with self.subTest(loss=kind):
                name, *options = kind.split(",")
                plan = self.compile("weighted", MODEL, *SGD[:3], ",".join([f"{name}:logits", *options]), *SGD[4:], ranks=2)
                data = DATA  # its ignored labels are -100, which another --ignore-index does not allow
                if "ignored" in given:
                    data = self.folder / "ignored.npz"
                    arrays = cleave.read_npz(DATA)
                    shape, values = arrays["logits.label"]
                    cleave.write_npz(data, {**arrays, "logits.label": (shape, [used if label == -100 else label for label in values])})
                (found,) = self.evaluate(plan, 0, "--weights", WEIGHTS, data=data)
                loss, accuracy = class_loss(scores, labels, name == "nll", **given)
                self.assertLess(abs(found["eval_loss"] - loss), 2e-5 * max(1, abs(loss)))
                self.assertLess(abs(found["eval_accuracy"] - accuracy), 1e-6)

    def test_it_gives_what_inference_with_the_checkpoint_gives(self):
        labels = cleave.read_npz(DATA)["logits.label"][1]
        for ranks, plan in self.plans.items():
            with self.subTest(ranks=ranks):
                saved, out = self.folder / f"saved{ranks}", self.folder / "out.npz"
                found = self.evaluate(plan, 5, "--eval-every", 2, "--save", saved)
                self.assertEqual([line["step"] for line in found], [1, 3, 4])
                infer = self.compile(f"infer{ranks}", MODEL, "--batch-norm", "frozen", "--set", "x.0=8", ranks=ranks)
                cleave.must("cleave-run", infer, "--data", DATA, "--weights", saved, "--out", out, "--threads", 1)
                loss, accuracy = cross_entropy(cleave.read_npz(out)["logits"][1], labels)
                self.assertLess(abs(found[-1]["eval_loss"] - loss), 1e-5)
                self.assertLess(abs(found[-1]["eval_accuracy"] - accuracy), 1e-6)

    def test_evaluations_do_not_change_the_training_and_a_resumed_run_repeats_them(self):
        plan, saved = self.plans[2], self.folder / "whole"
        wanted = self.evaluate(plan, 6, "--eval-every", 2, "--save", saved, "--save-every", 2, "--keep", 9)
        losses = cleave.losses(cleave.read_log(self.log)[0])
        plain = cleave.losses(cleave.train(plan, DATA, 6, self.log)[0])
        self.assertEqual(losses, plain)
        found = self.evaluate(plan, 6, "--eval-every", 2, "--resume", saved / "step-00000002")
        self.assertEqual(found, wanted[1:])
        again = self.evaluate(plan, 6, "--resume", saved)  # nothing is left to train
        self.assertEqual(again[-1], wanted[-1])

    def test_a_model_without_inputs_is_evaluated_once(self):
        model, plan = self.folder / "constant.onnx", self.folder / "constant.plan"
        onnx_chain.write_model(model, [onnx_chain.node("Exp", ["w"], "y")], [onnx_chain.weight("w", (), [0.0])], {}, {"y": []})
        for ranks in (1, 2):
            cleave.must("cleave-compile", model, "--train", "--eval", "--loss", "output:y", "--optimizer", "sgd:lr=0.5", "--ranks", ranks,
                        "-o", plan)
            cleave.train(plan, DATA, 1, self.log, "--eval", DATA)
            (found,) = cleave.evaluations(self.log)
            self.assertAlmostEqual(found["eval_loss"], math.exp(-0.5), delta=1e-6)

    def test_checked_memory_finds_nothing(self):
        checked = {"CLEAVE_CHECK_KERNELS": "1"}
        plan = self.folder / "checked.plan"
        cleave.must("cleave-compile", MODEL, *SGD, "--ranks", 2, "-o", plan, env=checked)
        found = cleave.train(plan, DATA, 3, self.log, "--eval", DATA, "--eval-every", 1, env=checked)
        self.assertEqual(len(cleave.evaluations(self.log)), 3)
        wanted = cleave.losses(cleave.train(self.plans[2], DATA, 3, self.log)[0])
        self.assertLess(cleave.apart(list(cleave.losses(found[0]).values()), list(wanted.values())), 1e-6)

    def test_tokens_have_a_perplexity_and_the_loss_of_a_model_without_dropout_is_that_of_the_step(self):
        data = cleave.GPT["data"]
        options = ["--train", "--eval", "--loss", "softmax-cross-entropy:logits", "--set", "batch=8", "--mesh", "dp=2,tp=2"]
        plan = self.compile("gpt", cleave.GPT["model"], *options, ranks=4)
        steps, _ = cleave.train(plan, data, 1, self.log)
        (found,) = self.evaluate(plan, 0, "--eval-steps", 1, data=data)
        self.assertLess(abs(found["eval_loss"] - steps[0]["loss"]), 1e-5)
        self.assertLess(abs(found["eval_perplexity"] - math.exp(found["eval_loss"])), 1e-6)

    def test_the_best_checkpoint_stays(self):
        saved, out = self.folder / "best", self.folder / "best.safetensors"
        options = ["--eval-every", 1, "--save", saved, "--keep", 1, "--keep-best", "eval_loss"]
        found = self.evaluate(self.compile("fast", MODEL, *SGD[:5], "sgd:lr=1", *SGD[6:]), 8, *options)
        best = min(found, key=lambda line: line["eval_loss"])
        self.assertLess(best["step"], 7, "a training whose last evaluation is the best shows nothing")
        noted = json.loads((saved / "best.json").read_text())
        self.assertEqual(noted, {"step": best["step"] + 1, "metric": "eval_loss", "value": best["eval_loss"]})
        kept = {path.name for path in saved.glob("step-*")}
        self.assertEqual(kept, {f"step-{best['step'] + 1:08}", "step-00000008"})
        (again,) = self.evaluate(self.plans[2], 0, "--weights", saved, "--best")
        self.assertLess(abs(again["eval_loss"] - best["eval_loss"]), 1e-5)
        cleave.must("cleave-export", self.plans[1], "--checkpoint", saved, "--best", "-o", out)
        (exported,) = self.evaluate(self.plans[2], 0, "--weights", out)
        self.assertEqual(exported, again)
        # A continued run goes on from the value in the folder.
        self.evaluate(self.plans[1], 8, *options, "--resume", saved)
        self.assertEqual(json.loads((saved / "best.json").read_text()), noted)

    def test_moving_averages_are_evaluated_beside_the_parameters(self):
        decay, steps = 0.5, 4
        options = [*SGD, "--ema", decay, "--eval-ema"]
        plans = {"1": self.compile("ema1", MODEL, *options), "zero1": self.compile("ema2", MODEL, *options, "--pin", "zero1", ranks=2)}
        for name, plan in plans.items():
            with self.subTest(plan=name):
                saved, file = self.folder / f"ema{name}", self.folder / "averages.safetensors"
                found = self.evaluate(plan, steps, "--eval-every", 1, "--save", saved, "--save-every", 1, "--keep", 9,
                                      "--keep-best", "eval_ema_loss")
                average = {}
                for step, line in enumerate(found):
                    cleave.must("cleave-export", plan, "--checkpoint", saved / f"step-{step + 1:08}", "-o", self.folder / "now.safetensors")
                    for tensor, (shape, values) in read_safetensors(self.folder / "now.safetensors").items():
                        before = average.get(tensor, (shape, values))[1]
                        isTrained = "running" not in tensor and "num_batches" not in tensor
                        average[tensor] = shape, [decay * a + (1 - decay) * b if isTrained else b for a, b in zip(before, values)]
                    write_safetensors(file, average)
                    (wanted,) = self.evaluate(plan, 0, "--weights", file)
                    self.assertLess(abs(line["eval_ema_loss"] - wanted["eval_loss"]), 2e-5)
                    self.assertLess(abs(line["eval_ema_accuracy"] - wanted["eval_accuracy"]), 1e-6)
                    self.assertLess(abs(wanted["eval_ema_loss"] - wanted["eval_loss"]), 1e-6, "before the first step averages are the parameters")
                self.assertGreater(abs(found[-1]["eval_ema_loss"] - found[-1]["eval_loss"]), 1e-3, "a training without averages shows nothing")
                (again,) = self.evaluate(self.plans[2], 0, "--weights", saved, "--ema")
                self.assertLess(abs(again["eval_loss"] - found[-1]["eval_ema_loss"]), 1e-5)
                best = min(found, key=lambda line: line["eval_ema_loss"])
                self.assertEqual(json.loads((saved / "best.json").read_text())["value"], best["eval_ema_loss"])

    def test_phases_hand_the_evaluation_on(self):
        whole, text = self.folder / "whole.plan", self.folder / "planned.mlir"
        cleave.must("cleave-compile", MODEL, *SGD, "--ranks", 2, "--stop-after", "planned", "-o", text)
        cleave.must("cleave-compile", text, "--start-from", "planned", "-o", whole)
        (found,) = self.evaluate(whole, 0, "--weights", WEIGHTS)
        self.assertLess(abs(found["eval_loss"] - RECORD["loss"]), 1e-5)

    def test_what_cannot_be_is_told(self):
        def run(plan, *options):
            return cleave.tool("cleave-run", plan, "--data", DATA, "--steps", 1, *options)

        plain = self.compile("plain", MODEL, "--train", *SGD[2:])
        infer = self.compile("infer", MODEL, "--set", "x.0=8")
        self.refuses(run(plain, "--eval", DATA), "the plan has no evaluation", "compile it with --eval")
        self.refuses(run(infer, "--eval", DATA), "the plan is for inference", "--weights")
        self.refuses(run(self.plans[1], "--eval-every", 2), "--eval-every needs --eval DATA")
        self.refuses(run(self.plans[1], "--eval", DATA, "--keep-best", "eval_loss"), "--keep-best needs --save DIR")
        self.refuses(run(self.plans[1], "--eval", DATA, "--save", self.folder / "x", "--keep-best", "loss"),
                     "unknown metric 'loss'", "expected eval_loss or eval_accuracy")
        self.refuses(run(self.plans[1], "--eval", cleave.MLP["data"]), "--eval")
        self.refuses(cleave.tool("cleave-compile", MODEL, *SGD, "--eval-ema", "-o", self.folder / "x.plan"), "--eval-ema", "needs --eval and --ema")
        self.refuses(run(self.plans[1], "--ema"), "--ema needs --weights DIR")
        self.refuses(run(self.plans[1], "--weights", WEIGHTS, "--ema"), "has no moving averages", "compiled with --ema")
        self.refuses(run(self.plans[1], "--best"), "--best needs --weights DIR")
        self.refuses(run(self.plans[1], "--weights", self.folder, "--best"), "no best checkpoint", "--keep-best")
        self.refuses(cleave.tool("cleave-compile", MODEL, "--eval", "--set", "x.0=8", "-o", self.folder / "x.plan"),
                     "--eval is given without --train")


if __name__ == "__main__":
    unittest.main(verbosity=2)
