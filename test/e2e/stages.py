"""Stages of a pipeline train what one rank trains: losses and gradient norms are the same bits, except those of tied parameters, whose
gradients are summed in another order; memory is as planned; checkpoints move between any two numbers of stages."""

import json
import os
import random
import re
import signal
import subprocess
import time
import unittest

import cleave
import fixture
import zoo

MICRO_BATCHES, BATCH, STEPS = 3, 2, 6
_TEXT = {"hidden": 64, "heads": 4, "layers": 5, "vocab": 101}
MODELS = {
    "llama2-7b": ({**_TEXT, "kv-heads": 2, "ffn": 96}, 16),
    "mixtral-8x7b": ({**_TEXT, "hidden": 32, "kv-heads": 2, "ffn": 48}, 16),
    "vit_b_16": ({"layers": 4, "hidden": 48, "heads": 3, "ffn": 96, "patch": 8, "image": 32, "classes": 10}, 0),
    "unet": ({"layers": 2, "hidden": 8, "image": 32, "classes": 2}, 0),  # connections skip stages
}
# Models with parameters that several stages read: an embedding, and in T5 also the bias of all attentions.
TIED = {"gpt2": ({**_TEXT, "ffn": 128, "context": 16}, 16),
        "t5-small": ({**_TEXT, "layers": 2, "hidden": 32, "head-size": 8, "ffn": 64}, 16)}


def write(name, sizes, folder, micro_batches=MICRO_BATCHES):
    """(model file, samples, options of cleave-compile)."""
    zoo.MODELS[name] = sizes
    zoo.BATCH = BATCH
    options, model = zoo.options(name), zoo.write_model(name, folder)
    zoo.BATCH = BATCH * micro_batches  # of a whole step
    return model, zoo.write_samples(name, folder, STEPS), [*options, "--accumulate", micro_batches, "--clip-norm", 1]


# The schedules of one pipeline, that with recomputation last.
SCHEDULES = ("looped-bfs", "interleaved", "zb-h1", "interleaved-zb", "zb-h2", "zb-v", "dualpipe-v", "pre-recompute", "last-no-recompute", "critical-path")


def random_order(draw, placement, backward):
    """A CSV file with an order of all parts in which each chunk runs its micro-batches in turn. `backward`: B, or I and W."""
    last, kinds = len(placement) - 1, "F" + backward
    lists, counts = [[] for _ in range(max(placement) + 1)], {(chunk, kind): 0 for chunk in range(last + 1) for kind in kinds}

    def is_ready(chunk, kind):
        batch = counts[chunk, kind]
        needed = {"F": [(chunk - 1, "F")], "W": [(chunk, "I")]}.get(kind, [(chunk, "F"), (chunk + 1, kind)])
        return batch < MICRO_BATCHES and all(counts[each] > batch for each in needed if 0 <= each[0] <= last)

    while ready := [each for each in counts if is_ready(*each)]:
        chunk, kind = draw.choice(ready)
        lists[placement[chunk]].append(f"{chunk}{kind}{counts[chunk, kind]}")
        counts[chunk, kind] += 1
    return "".join(",".join(tasks) + "\n" for tasks in lists)


class Stages(fixture.Plans):
    def plan(self, name, model, options, stages, ranks=1):
        """With so many ranks per stage."""
        return self.compile(f"{name}-{stages}x{ranks}", model, *options, "--stages", stages, ranks=stages * ranks)

    def numbers(self, plan, samples, *options, steps=STEPS):
        return self.trained(plan, samples, steps, *options)

    def test_losses_and_gradient_norms_are_the_same_bits_on_any_number_of_stages(self):
        for name, sizes in {**MODELS, "resnet18": ({"image": 32, "classes": 10}, 0)}.items():
            model, samples, options = write(name, sizes, self.folder)
            wanted = self.numbers(self.plan(name, model, options, 1), samples)
            for stages in (2, 3, 4):
                with self.subTest(model=name, stages=stages):
                    self.assertEqual(self.numbers(self.plan(name, model, options, stages), samples), wanted)

    def test_a_cut_inside_a_layer_changes_no_more_than_the_rounding(self):
        """Here between the products of experts and their weighted sum. Messages are dense, so that sums of their gradients may be in another
        order than in one stage."""
        sizes, length = MODELS["mixtral-8x7b"]
        model, samples, options = write("mixtral-8x7b", ({**sizes, "layers": 3}, length), self.folder)
        wanted = self.numbers(self.plan("whole", model, options, 1), samples)
        for a, b in zip(self.numbers(self.plan("cut", model, options, 4), samples), wanted):
            self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-6)

    def test_the_layers_of_each_chunk_are_those_that_the_user_states(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        wanted = self.numbers(self.plan("whole", model, options, 1), samples)
        for stages, layout, more in ((2, "Et*4|tL", []), (3, "E|t*5|L", []), (2, "Et|(t|)*2ttL", ["--schedule", "interleaved"])):
            with self.subTest(layout=layout):
                plan = self.plan("cut", model, [*options, *more, "--cut", layout], stages)
                self.assertEqual(self.numbers(plan, samples), wanted)
        plan = self.plan("cut", model, [*options, "--cut", "Ett|tt|tL"], 3)
        for rank, layers in ((0, "01"), (1, "23"), (2, "4")):
            program = cleave.must("cleave-dump", plan, "--program", rank).out
            self.assertEqual(set(re.findall(r"model\.layers\.(\d)", program)), set(layers))
        refused = cleave.tool("cleave-compile", model, *options, "--stages", 2, "--ranks", 2, "--cut", "Et|ttL", "-o", self.folder / "no.plan")
        self.assertEqual(refused.code, 1)
        self.assertIn("found 3 layers 't', expected the 5 of the model, model.layers.0 to model.layers.4", refused.err)

    def test_tied_parameters_are_updated_alike_by_the_stages_that_read_them(self):
        for name, sizes in TIED.items():
            model, samples, options = write(name, sizes, self.folder)
            wanted = self.numbers(self.plan(name, model, options, 1), samples)
            for stages in (2, 3):
                found = self.numbers(self.plan(name, model, options, stages), samples)
                for a, b in zip(found, wanted):
                    self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-5)

    def test_stages_of_several_ranks_train_what_one_rank_trains(self):
        for name, layouts in (("llama2-7b", [[], ["--pin", "zero3"], ["--mesh", "dp=2,tp=2"]]), ("unet", [["--pin", "dp"]]), ("gpt2", [["--pin", "megatron"]])):
            model, samples, options = write(name, {**MODELS, **TIED}[name], self.folder)
            wanted = self.numbers(self.plan(name, model, options, 1), samples)
            for layout in layouts:
                with self.subTest(model=name, layout=layout):
                    found = self.numbers(self.plan(name, model, [*options, *layout], 2, ranks=4 if "--mesh" in layout else 2), samples)
                    for a, b in zip(found, wanted):
                        self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-5)

    def test_types_recomputation_and_one_micro_batch(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        for more, tolerance in ((["--pin", "full-recompute"], 0), (["--ema", "0.9"], 0), (["--dtype", "bf16"], 2e-3), (["--dtype", "f16"], 2e-3)):
            wanted = self.numbers(self.compile("whole", model, *options, *more), samples)
            found = self.numbers(self.compile("stages", model, *options, *more, "--stages", 2, ranks=2), samples)
            for a, b in zip(found, wanted):
                self.assertLessEqual(max(abs(x - y) / abs(y) for x, y in zip(a, b)), tolerance, more)
        options = options[: options.index("--accumulate")]
        self.assertEqual(self.numbers(self.compile("stages", model, *options, "--stages", 2, ranks=2), samples),
                         self.numbers(self.compile("whole", model, *options), samples))

    def test_a_dropout_drops_the_same_elements_in_both_parts_of_a_micro_batch(self):
        for micro_batches in (2, 3):
            options = ["--train", "--loss", "softmax-cross-entropy:logits", "--set", "batch=2", "--accumulate", micro_batches]
            plans = [self.compile(f"dropout-{stages}", cleave.MODELS / "dropout.onnx", *options, "--stages", stages, ranks=stages) for stages in (1, 2)]
            self.assertEqual(*(self.numbers(plan, cleave.GOLDEN / "mlp.npz") for plan in plans))

    def test_stages_evaluate_as_one_rank_does(self):
        """Also moving averages, and batch norms whose stored values are on two stages."""
        for name, layouts in (("llama2-7b", (([], 2, 1), (["--schedule", "zb-v"], 2, 1), (["--pin", "zero3"], 2, 2))), ("unet", (([], 2, 1), ([], 4, 1)))):
            model, samples, options = write(name, MODELS[name], self.folder, 4)
            options = [*options, "--eval", "--ema", "0.9", "--eval-ema"]
            found = []
            for more, stages, ranks in (([], 1, 1), *layouts):
                plan = self.plan(name, model, [*options, *more], stages, ranks)
                self.numbers(plan, samples, "--eval", samples, "--eval-every", 2, steps=4)
                found.append(cleave.evaluations(plan.with_suffix(".jsonl")))
                self.assertEqual([(line["step"], *line) for line in found[-1]], [(line["step"], *line) for line in found[0]])
                self.assertGreaterEqual(len(found[-1]), 2)
                for line, wanted in zip(found[-1], found[0]):
                    for key, value in wanted.items():
                        self.assertAlmostEqual(line[key], value, delta=1e-6 * abs(value), msg=(name, more, key))

    def test_a_checkpoint_is_resumed_on_any_number_of_stages(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        plans = {stages: self.plan("resumed", model, options, stages) for stages in (1, 2, 4)}
        wanted = self.numbers(plans[1], samples)
        for before in plans:
            saved = self.folder / f"saved-{before}"
            self.numbers(plans[before], samples, "--save", saved, steps=3)
            for after in plans:
                self.assertEqual(self.numbers(plans[after], samples, "--resume", saved), wanted[3:], (before, after))

    def test_training_goes_on_after_a_rank_was_killed(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        plan = self.plan("killed", model, options, 2)
        saved = self.folder / "killed"
        command = [cleave.BIN / "cleave-run", plan, "--data", samples, "--steps", "100000", "--threads", "1", "--save", saved, "--save-every", "2", "-q"]
        with subprocess.Popen([*map(str, command)], start_new_session=True, stderr=subprocess.DEVNULL) as job:
            while job.poll() is None and not (saved / "step-00000002").exists():
                time.sleep(0.005)
            self.assertIsNone(job.poll())
            os.killpg(job.pid, signal.SIGKILL)
        last = max(int(path.name.removeprefix("step-")) for path in saved.glob("step-*"))
        wanted = self.numbers(plan, samples, steps=last + 3)
        self.assertEqual(self.numbers(plan, samples, "--resume", saved, steps=last + 3), wanted[last:])

    def test_all_forward_parts_first_gives_the_same_bits_in_more_memory(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        plans = [self.compile(name, model, *options, "--stages", 2, "--schedule", name, ranks=2) for name in ("1f1b", "gpipe")]
        self.assertEqual(*(self.numbers(plan, samples) for plan in plans))
        drawings = [cleave.must("cleave-dump", plan, "--schedule").out for plan in plans]
        self.assertRegex(drawings[0], r"stage 1  \.*F0[- .]*B0[- .]*F1")
        self.assertRegex(drawings[1], r"stage 1  \.*F0[- .]*F1[- .]*F2[- .]*B0")
        self.assertIn("in flight on stages: 2 1", drawings[0])
        self.assertIn("in flight on stages: 3 3", drawings[1])

    def csv(self, text):
        path = self.folder / f"order{len(list(self.folder.glob('order*')))}.csv"
        path.write_text(text)
        return path

    def test_every_schedule_trains_what_one_rank_trains(self):
        """The same bits, but for the one that runs the backward parts of micro-batches from the last to the first."""
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder, 4)  # twice as many as stages, which dualpipe-v needs
        wanted = self.numbers(self.plan("whole", model, options, 1), samples, steps=3)
        for schedule in SCHEDULES:
            plan = self.plan(schedule, model, [*options, "--schedule", schedule], 2)
            found = self.numbers(plan, samples, steps=3)
            for a, b in zip(found, wanted):
                self.assertLessEqual(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-6 if schedule == "looped-bfs" else 0, schedule)

    def test_a_schedule_recomputes_before_the_gradient_arrives(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        plans = [self.plan(f"recomputed{i}", model, [*options, *more], i) for i, more in ((1, []), (2, ["--pin", "full-recompute", "--schedule", "pre-recompute"]))]
        self.assertEqual(*(self.numbers(plan, samples, steps=3) for plan in plans))
        self.assertRegex(cleave.must("cleave-dump", plans[1], "--schedule").out, r"stage 0  .*F2.*R1.*B1")

    def test_orders_of_a_file_train_what_one_rank_trains(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        wanted = self.numbers(self.plan("whole", model, options, 1), samples, steps=2)
        for seed in range(8):
            draw = random.Random(seed)
            stages, chunks = draw.choice([2, 3]), draw.choice([1, 2, 3])
            placement = [chunk % stages for chunk in range(stages * chunks)]
            if chunks == 2 and draw.random() < 0.5:
                placement[stages:] = range(stages - 1, -1, -1)
            order = self.csv(random_order(draw, placement, draw.choice(["B", "IW"])))
            more = draw.choice([[], ["--pin", "full-recompute"]])
            with self.subTest(seed=seed):
                plan = self.plan("order", model, [*options, *more, "--schedule", order], stages)
                self.assertEqual(self.numbers(plan, samples, steps=2), wanted)

    def test_schedules_go_with_several_ranks_per_stage_and_16_bit_types(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder, 4)
        for more, tolerance in ((["--pin", "zero3"], 1e-5), (["--pin", "megatron", "--dtype", "bf16"], 2e-3)):
            wanted = self.numbers(self.plan("whole", model, [*options, *more[2:]], 1), samples, steps=3)
            for schedule in ("interleaved", "zb-v"):
                found = self.numbers(self.plan("ranks", model, [*options, *more, "--schedule", schedule], 2, ranks=2), samples, steps=3)
                for a, b in zip(found, wanted):
                    self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), tolerance, (more, schedule))

    def test_a_chosen_number_of_stages_trains_what_one_rank_trains(self):
        model, samples, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        wanted = self.numbers(self.plan("chosen", model, options, 1), samples)
        plan = self.compile("chosen-auto", model, *options, "--stages", "auto", ranks=4)
        for a, b in zip(self.numbers(plan, samples), wanted):
            self.assertLess(max(abs(x - y) / abs(y) for x, y in zip(a, b)), 1e-5)
        decisions = json.loads(cleave.must("cleave-dump", plan, "--json").out)["decisions"]
        remarks = [decision["reason"] for decision in decisions if decision["name"] == "stages"]
        self.assertRegex(remarks[-1], rf"^[124] stages? of [124] ranks? in {MICRO_BATCHES} micro-batches chosen: 1: .*; 2: .*; 4: ")

    def test_what_stages_cannot_do_yet_is_refused(self):
        model, _, options = write("llama2-7b", MODELS["llama2-7b"], self.folder)
        plan = self.folder / "refused.plan"
        for words, more in ((("--stages", "0"), ["--stages", 0]),
                            (("--ranks 5", "a multiple of --stages"), ["--stages", 2, "--ranks", 5]),
                            (("--mesh x=4", "the mesh of one stage"), ["--stages", 2, "--ranks", 4, "--mesh", "x=4"]),
                            (("--what-if",), ["--stages", 2, "--ranks", 2, "--what-if"]),
                            (("'fastest'", "interleaved"), ["--stages", 2, "--ranks", 2, "--schedule", "fastest"]),
                            (("1f1b", "2 chunks per stage", "--chunks"), ["--stages", 2, "--ranks", 2, "--chunks", 2]),
                            (("orders 2 micro-batches on 2 stages", "--accumulate"), ["--stages", 2, "--ranks", 2, "--schedule", self.csv("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n")]),
                            (("0F1 is missing",), ["--stages", 2, "--ranks", 2, "--schedule", self.csv("0F0,0B0\n1F0,1B1\n")]),
                            (("line 1, cell 1", r"\x1b[31m", "2F0"), ["--stages", 2, "--ranks", 2, "--schedule", self.csv("\x1b[31m" + "x" * 9000)]),
                            (("no.csv",), ["--stages", 2, "--ranks", 2, "--schedule", "no.csv"]),
                            (("--ranks least",), ["--stages", "auto", "--ranks", "least"]),
                            (("--stages", "'many'", "auto"), ["--stages", "many"]),
                            (("--schedule", "--stages"), ["--schedule", "gpipe"]),
                            (("--chunks", "--stages"), ["--chunks", 2]),
                            (("--chunks", "--schedule auto"), ["--stages", 2, "--ranks", 2, "--schedule", "auto", "--chunks", 2]),
                            (("cannot be cut into 500 chunks",), ["--stages", 500, "--ranks", 500])):
            answer = cleave.tool("cleave-compile", model, *options, *more, "-o", plan)
            self.refuses(answer, *words)
            self.assertNotIn("\x1b", answer.err)
            self.assertLess(len(answer.err), 1000)
            self.assertFalse(plan.exists())
        self.refuses(cleave.tool("cleave-compile", model, "--stages", 2, "--ranks", 2, "-o", plan), "--train")
        model, _, options = write("llama2-7b", MODELS["llama2-7b"], self.folder, 4)
        self.refuses(cleave.tool("cleave-compile", model, *options, "--stages", 2, "--ranks", 2, "--schedule", "chimera", "-o", plan), "2 pipelines", "1f1b")


if __name__ == "__main__":
    unittest.main()
