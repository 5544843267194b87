"""The user's mistakes at run time and impossible plans: one message that says what was found and the way out."""

import gzip
import struct
import subprocess
import unittest

import cleave
import fixture


class Mistakes(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.folder / "mlp.plan"
        cleave.compile_model(cleave.MLP["model"], cls.plan, "--pin", "dp", ranks=2)

    def refuses(self, answer, *words, code=1):
        """One message on stderr with all the words."""
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(len(answer.errors()), 1, answer)
        for word in words:
            self.assertIn(word.lower(), answer.err.lower(), answer)

    def run_plan(self, plan, *options, **how):
        return cleave.tool("cleave-run", plan, "--data", cleave.MLP["data"], "--steps", 2, *options, **how)

    def damaged(self, name, change):
        data = bytearray(self.plan.read_bytes())
        path = self.folder / name
        path.write_bytes(change(data))
        return path

    def test_a_plan_of_another_version(self):
        plan = self.damaged("version.plan", lambda b: b[:8] + struct.pack("<I", 999) + b[12:])
        self.refuses(self.run_plan(plan), "version.plan", "version 999", "compile the model again")
        self.refuses(cleave.tool("cleave-dump", plan), "version 999")

    def test_a_plan_that_is_cut_off(self):
        plan = self.damaged("cut.plan", lambda b: b[: len(b) // 2])
        self.refuses(self.run_plan(plan), "cut.plan", "truncated")

    def test_a_plan_with_one_bit_flipped(self):
        def flip(data):
            data[len(data) // 3] ^= 4
            return data

        self.refuses(self.run_plan(self.damaged("flipped.plan", flip)), "flipped.plan", "damaged")

    def test_a_file_that_is_no_plan(self):
        self.refuses(self.run_plan(cleave.MLP["model"]), "mlp.dynamo.onnx", "not a plan")

    def test_output_that_has_no_room(self):
        """A device that is always full: what could not be written is never taken for written."""
        full = "/dev/full"
        said = "no space left on device"
        with open(full, "w", encoding="utf-8") as out:
            for command in (["cleave-dump", self.plan], ["cleave-dump", "--json", self.plan], ["cleave-zoo", "--list"],
                            ["cleave-profile", cleave.MLP["model"], "--set", "batch=8"]):
                done = subprocess.run([cleave.BIN / command[0], *command[1:]], stdout=out, stderr=subprocess.PIPE,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 1, command)
                self.assertIn(said, done.stderr.lower())
        phase = cleave.compile_options(cleave.MLP["model"], "--stop-after", "import", "-o", full)
        self.refuses(cleave.tool("cleave-compile", *phase), full, said)

    def test_a_plan_that_is_not_there(self):
        self.refuses(self.run_plan(self.folder / "none.plan"), "none.plan")

    def test_another_number_of_processes_than_the_plan_has_ranks(self):
        self.refuses(self.run_plan(self.plan, "--nproc", 3), "3", "2", "rank")

    def test_a_device_that_is_none_or_not_the_plans(self):
        self.refuses(self.run_plan(self.plan, "--device", "gpu"), "found 'gpu'", "cuda:N")
        self.refuses(self.run_plan(self.plan, "--device", "cuda"), "the plan is for cpu", "--device cuda")

    def test_another_number_of_ranks_in_the_launchers_environment(self):
        outer = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29555"}
        self.refuses(self.run_plan(self.plan, env=outer), "1", "2", "rank")  # more processes: disagreement.py

    def test_data_that_lacks_an_input(self):
        answer = cleave.tool("cleave-run", self.plan, "--data", cleave.GPT["data"], "--steps", 2)
        self.refuses(answer, "x", "tokens")

    def test_data_of_another_shape(self):
        answer = cleave.tool("cleave-run", self.plan, "--data", cleave.GOLDEN / "image.npz", "--steps", 2)
        self.refuses(answer, "image")

    def test_a_data_file_that_is_not_there(self):
        answer = cleave.tool("cleave-run", self.plan, "--data", self.folder / "none.npz", "--steps", 2)
        self.refuses(answer, "none.npz")

    def test_tokens_and_labels_that_the_model_does_not_have(self):
        plan, data = self.folder / "gpt.plan", self.folder / "gpt.npz"
        cleave.compile_model(cleave.GPT["model"], plan)
        right = [i % 64 for i in range(8 * 16)]
        wrong = right[:-1] + [64]
        for tokens, labels, words in [(wrong, right, ["token 64", "tokens", "0 to 63"]),
                                      (right, wrong, ["64", "logits.label", "0 to 63"])]:
            with self.subTest(words=words):
                cleave.write_npz(data, {"tokens": ((8, 16), tokens), "logits.label": ((8, 16), labels)})
                self.refuses(cleave.tool("cleave-run", plan, "--data", data, "--steps", 1), *words)

    def test_labels_are_known_as_such_whatever_they_are_called(self):
        plan, data = self.folder / "targets.plan", self.folder / "targets.npz"
        loss = ["--train", "--loss", "softmax-cross-entropy:logits,targets", "--set", "batch=8", "--cluster", "local-cpu"]
        cleave.must("cleave-compile", cleave.GPT["model"], *loss, "-o", plan)
        tokens = [i % 64 for i in range(8 * 16)]
        for last, words in [(64, ["64", "targets", "0 to 63"]), (-100, [])]:
            with self.subTest(last=last):
                cleave.write_npz(data, {"tokens": ((8, 16), tokens), "targets": ((8, 16), tokens[:-1] + [last])})
                answer = cleave.tool("cleave-run", plan, "--data", data, "--steps", 1)
                self.refuses(answer, *words) if words else self.assertEqual(answer.code, 0, answer)

    def test_what_cannot_be_written_shows_before_the_run(self):
        (self.folder / "file").write_text("")
        for options, words in [(["--save", self.folder / "file"], ["could not create the folder"]),
                               (["--log", self.folder / "none" / "log.jsonl"], ["does not exist"])]:
            with self.subTest(options=options):
                answer = self.run_plan(self.plan, *options)
                self.refuses(answer, *words)
                self.assertNotIn("step", answer.out, answer)
        forward = self.folder / "forward.plan"
        cleave.must("cleave-compile", cleave.MLP["model"], "--set", "batch=8", "-o", forward)
        self.refuses(self.run_plan(forward, "--out", self.folder / "x.npy"), "x.npy", ".safetensors")
        self.refuses(self.run_plan(forward, "--resume", self.folder), "for inference", "--weights")

    def test_a_checkpoint_with_values_that_the_plan_takes_from_the_model(self):
        saved, frozen = self.folder / "trained", self.folder / "frozen.plan"
        cleave.must("cleave-run", self.plan, "--data", cleave.MLP["data"], "--steps", 1, "--save", saved)
        name = cleave.must("cleave-dump", self.plan, "--json").out.split('"kind": "parameter"')[0].rsplit('"name": "', 1)[1].split('"')[0]
        cleave.compile_model(cleave.MLP["model"], frozen, "--freeze", name)
        self.refuses(self.run_plan(frozen, "--resume", saved), name, "a constant in this plan", "cleave-export")

    def test_what_is_no_option_is_told_like_every_mistake(self):
        for tool in ("cleave-compile", "cleave-run", "cleave-dump", "cleave-calibrate", "cleave-solve"):
            answer = cleave.tool(tool, "--no-such-option")
            self.refuses(answer)
            self.assertTrue(answer.err.startswith(f"{tool}: error: "), answer)

    def test_a_cost_network_with_a_number_that_is_not_whole(self):
        problem = self.folder / "problem.json"
        problem.write_text('{"spaces": [{"budget": 1.5}], "nodes": [], "edges": []}')
        self.refuses(cleave.tool("cleave-solve", problem), "'/spaces/0'", "found 1.5, expected a whole number", "not an instance of the contest")

    def test_a_cost_network_that_is_no_json(self):
        problem = self.folder / "no.json"
        for content in (b"nodes: []\n", gzip.compress(b"nodes: []\n")):
            with self.subTest(content=content):
                problem.write_bytes(content)
                answer = cleave.tool("cleave-solve", problem)
                self.refuses(answer, "no.json", "not an instance of the contest", "expected")
                self.assertEqual(answer.err.count("parse error"), 1, answer)

    def test_parameters_of_different_shapes_cannot_be_tied(self):
        for model, symbol in [("mlp.pt2", "x.0"), ("mlp.dynamo.onnx", "batch")]:
            with self.subTest(model=model):
                answer = cleave.tool("cleave-compile", cleave.MODELS / model, "--set", f"{symbol}=8", "--tie",
                                     "fc1.weight=fc2.weight", "-o", self.folder / "tied.plan")
                self.refuses(answer, "fc1.weight", "different shapes")

    def test_a_checkpoint_folder_that_is_empty(self):
        empty = self.folder / "empty"
        empty.mkdir(exist_ok=True)
        self.refuses(self.run_plan(self.plan, "--resume", empty), "empty")

    def test_a_model_file_that_changed_after_the_plan_was_made(self):
        model, plan = self.folder / "mine.onnx", self.folder / "mine.plan"
        model.write_bytes(cleave.MLP["model"].read_bytes())
        cleave.compile_model(model, plan)
        model.write_bytes(cleave.GPT["model"].read_bytes())
        self.refuses(self.run_plan(plan), "mine.onnx")

    def test_memory_that_no_plan_fits_says_how_much_is_missing(self):
        options = cleave.compile_options(cleave.GPT["model"], "--memory", "100KiB", ranks=2)
        answer = cleave.tool("cleave-compile", *options, "-o", self.folder / "small.plan")
        self.refuses(answer, "100 KiB", "KiB", code=2)
        self.assertFalse((self.folder / "small.plan").exists())

    def test_only_those_who_train_are_warned_of_what_is_not_trained(self):
        model = cleave.MODELS / "resnet.ts-eval.onnx"
        for options, count in [([], 0), (["--train", "--loss", "softmax-cross-entropy:logits"], 1)]:
            with self.subTest(options=options):
                answer = cleave.must("cleave-compile", model, *options, "--set", "batch=8", "--stop-after", "import",
                                     "-o", self.folder / "warned.mlir")
                self.assertEqual(answer.err.count("the model trains without them"), count, answer)

    def test_what_an_option_cannot_mean_is_answered_with_what_there_is(self):
        train = ["--train", "--loss", "softmax-cross-entropy:logits"]
        batch = ["--set", "batch=8"]
        mistakes = [
            ([*train], ["batch", "--set"]),
            ([*train, *batch, "--set", "bach=8"], ["bach", "batch"]),
            (["--train", *batch], ["--loss"]),
            (["--train", "--loss", "mse:logit", *batch], ["logit", "logits"]),
            (["--train", "--loss", "hinge:logits", *batch], ["hinge", "mse"]),
            ([*train, *batch, "--optimizer", "muon"], ["muon", "adamw"]),
            ([*train, *batch, "--optimizer", "sgd:speed=1"], ["speed", "lr"]),
            ([*train, *batch, "--cluster", "tpu-pod"], ["tpu-pod", "local-cpu"]),
            ([*train, *batch, "--ranks", 4, "--mesh", "dp=3"], ["3", "4"]),
            ([*train, *batch, "--ranks", 2, "--pin", "zero9"], ["zero9", "zero3"]),
            ([*train, *batch, "--freeze", "fc9.*"], ["fc9.*"]),
            ([*train, *batch, "--memory", "2 lots"], ["2 lots"]),
            ([*train, *batch, "--memory", "0"], ["--memory", "'0'", "at least 1.00 KiB"]),
            ([*train, *batch, "--clip-norm", "0"], ["--clip-norm", "above 0"]),
        ]
        for options, words in mistakes:
            with self.subTest(options=options):
                plan = self.folder / "no.plan"
                self.refuses(cleave.tool("cleave-compile", cleave.MLP["model"], *options, "-o", plan), *words)

    def test_empty_values_are_refused(self):
        """As those of shell variables that are not set: neither the next option nor a default takes their place."""
        for tool, *words in (("cleave-run", "x.plan", "--save=", "-q"), ("cleave-run", "x.plan", "--resume", ""),
                             ("cleave-run", "x.plan", "--log=", "--quiet"), ("cleave-compile", "x.pt2", "--memory=", "-o", "x.plan"),
                             ("cleave-compile", "x.pt2", "--memory", ""), ("cleave-compile", "x.pt2", "--pin", ""),
                             ("cleave-dump", "x.plan", "--html", ""), ("cleave-profile", "x.pt2", "--set=")):
            with self.subTest(tool=tool, words=words):
                option = next(word for word in words if word.startswith("--")).rstrip("=")
                self.refuses(cleave.tool(tool, *words), option + " is empty")
        self.refuses(cleave.tool("cleave-run", ""), "argument 1 is empty")

    def test_an_option_does_not_become_the_value_of_the_one_before(self):
        self.refuses(cleave.tool("cleave-run", self.plan, "--data", "--steps", 6), "--data has no value: the next word is the option --steps")
        self.refuses(cleave.tool("cleave-compile", "model.onnx", "-o", "--train"), "-o has no value: the next word is the option --train")


if __name__ == "__main__":
    unittest.main(verbosity=2)
