"""Two small tasks as users do them, on two ranks: a character GPT on this repository's text, and a CNN on images of stripes. Both train with
warm-up and cosine, evaluate, keep the best checkpoint, stop half way, resume, and predict with the best weights."""

import collections
import json
import math
import pathlib
import random
import unittest

import cleave
import fixture

CLASSES = 10


def evaluations(log):
    """The lines of a log about evaluations, without their times."""
    lines = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines if line.get("event") == "eval"]


def stripes(numbers, count):
    """Noisy images of stripes whose angle is the class, in float32[count, 3, 16, 16], with their labels."""
    pixels, labels = [], []
    for _ in range(count):
        label = numbers.randrange(CLASSES)
        angle, phase = math.pi * label / CLASSES, numbers.uniform(0, 2 * math.pi)
        across = [math.cos(angle), math.sin(angle)]
        for _ in range(3):
            pixels += [math.sin(1.3 * (x * across[0] + y * across[1]) + phase) + numbers.gauss(0, 0.3) for y in range(16) for x in range(16)]
        labels.append(label)
    return {"image": ((count, 3, 16, 16), pixels), "logits.label": ((count,), labels)}


def loss_by_frequencies(text, held_out):
    """The cross-entropy, in nats per byte, of a model that knows nothing but how often each byte occurs in a text."""
    counts = collections.Counter(text)
    return -sum(math.log((counts[byte] + 1) / (len(text) + 256)) for byte in held_out) / len(held_out)


class Tasks(fixture.InFolder):
    def task(self, name, plan, data, held_out, steps, metric, *options):
        """Trains in one go, and with a stop half way, which has to give the same; returns the log of the first."""
        half, whole, two = steps // 2, self.folder / f"{name}.jsonl", self.folder / f"{name}-2.jsonl"
        given = [plan, "--data", data, "--shuffle", "--threads", 1, "--eval", held_out, "--eval-every", half // 2, "--keep-best", metric,
                 "--lr-schedule", f"cosine:warmup=10%,steps={steps}", *options]
        cleave.must("cleave-run", *given, "--steps", steps, "--save", self.folder / name, "--log", whole)
        cleave.must("cleave-run", *given, "--steps", half, "--save", self.folder / f"{name}-2", "--log", two)
        cleave.must("cleave-run", *given, "--steps", steps, "--save", self.folder / f"{name}-2", "--resume", self.folder / f"{name}-2",
                    "--log", two)
        steps_of = [cleave.read_log(log)[0] for log in (whole, two)]
        self.assertEqual(*[[(line["step"], line["loss"], line["lr"]) for line in lines if "loss" in line] for lines in steps_of])
        best = [json.loads((folder / "best.json").read_text()) for folder in (self.folder / name, self.folder / f"{name}-2")]
        self.assertEqual(*best)
        found = evaluations(whole)
        self.assertEqual(found[-1], evaluations(two)[-1])
        self.assertEqual(best[0]["value"], (max if metric == "eval_accuracy" else min)(line[metric] for line in found))
        return found

    def test_a_gpt_learns_the_text_of_this_repository(self):
        text = b"".join(path.read_bytes() for path in sorted((cleave.ROOT / "docs").rglob("*.md")))
        part = len(text) // 10
        model, plan, files = self.folder / "gpt.onnx", self.folder / "gpt.plan", [self.folder / "text.bin", self.folder / "held-out.bin"]
        files[0].write_bytes(text[:-part])
        files[1].write_bytes(text[-part:])
        cleave.must("cleave-zoo", "gpt2", "--layers", 2, "--hidden", 64, "--heads", 4, "--vocab", 256, "--context", 32, "-o", model)
        cleave.must("cleave-compile", model, "--train", "--eval", "--loss", "softmax-cross-entropy:logits", "--optimizer",
                    "adamw:lr=2e-3,weight-decay=0.1", "--optimizer-group", "no-decay", "--clip-norm", 1, "--set", "batch=16,seq=32",
                    "--ranks", 2, "-o", plan)
        found = self.task("gpt", plan, *files, 320, "eval_loss", "--eval-steps", 20)
        self.assertLess(found[-1]["eval_loss"], 0.9 * loss_by_frequencies(text[:-part], text[-part:]))
        self.assertAlmostEqual(found[-1]["eval_perplexity"], math.exp(found[-1]["eval_loss"]), places=3)

    def test_a_cnn_tells_angles_of_stripes_and_predicts_with_its_best_weights(self):
        numbers, files = random.Random(0), [self.folder / "train.npz", self.folder / "held-out.npz"]
        model, plan, infers = cleave.MODELS / "resnet.dynamo-noopt.onnx", self.folder / "cnn.plan", self.folder / "infer.plan"
        for file, count in zip(files, (640, 160)):
            cleave.write_npz(file, stripes(numbers, count))
        cleave.must("cleave-compile", model, "--train", "--eval", "--loss", "softmax-cross-entropy:logits", "--optimizer",
                    "sgd:lr=0.1,momentum=0.9", "--set", "batch=32", "--ranks", 2, "-o", plan)
        found = self.task("cnn", plan, files[0], files[1], 100, "eval_accuracy")
        self.assertGreater(found[-1]["eval_accuracy"], 0.9)

        cleave.must("cleave-compile", model, "--batch-norm", "frozen", "--set", "batch=32", "-o", infers)
        cleave.must("cleave-run", infers, "--data", files[1], "--weights", self.folder / "cnn", "--best", "--out", self.folder / "out.npz")
        (count, classes), logits = cleave.read_npz(self.folder / "out.npz")["logits"]
        labels = cleave.read_npz(files[1])["logits.label"][1]
        rows = [logits[classes * i : classes * (i + 1)] for i in range(count)]
        right = sum(row.index(max(row)) == label for row, label in zip(rows, labels))
        best = json.loads((self.folder / "cnn/best.json").read_text())
        self.assertAlmostEqual(right / len(labels), best["value"], places=6)


if __name__ == "__main__":
    unittest.main()
