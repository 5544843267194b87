"""train.toml: options of cleave-compile and cleave-run in one file, written beside checkpoints, from which a run is repeated."""

import unittest

import cleave
import fixture

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None


class TrainFiles(fixture.InFolder):
    def write(self, text):
        path = self.folder / "given.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def refused(self, text, *words):
        answer = cleave.tool("cleave-run", "--config", self.write(text))
        self.assertEqual(answer.code, 1, answer)
        for word in words:
            self.assertIn(word, answer.err)

    def test_a_run_is_repeated_from_the_file_beside_its_checkpoints(self):
        given = self.write(f"""
[compile]  # a comment
model = "{cleave.MLP['model']}"
train = true
eval = false
loss = ["softmax-cross-entropy:logits"]
optimizer = 'adamw:lr=1e-3'
set = [
  "batch=8",
]
ranks = 2
output = "{self.folder}/mlp.plan"

[run]
plan = "{self.folder}/mlp.plan"
data = "{cleave.MLP['data']}"
steps = 12
shuffle = true
""")
        cleave.must("cleave-compile", "--config", given)
        first, again = self.folder / "first", self.folder / "again"
        options = ["--save-every", 6, "--lr-schedule", "cosine:warmup=2", "--threads", 1]
        cleave.must("cleave-run", "--config", given, *options, "--save", first, "--log", self.folder / "first.jsonl")
        kept = first / "train.toml"
        (self.folder / "mlp.plan").unlink()
        cleave.must("cleave-compile", "--config", kept)
        cleave.must("cleave-run", "--config", kept, "--save", again, "--log", self.folder / "again.jsonl")
        losses = [[step["loss"] for step in cleave.read_log(self.folder / f"{name}.jsonl")[0]] for name in ("first", "again")]
        self.assertEqual(len(losses[0]), 12)
        self.assertEqual(losses[0], losses[1])
        text = kept.read_text().replace(str(first), str(again)).replace("first.jsonl", "again.jsonl")
        self.assertEqual(text, (again / "train.toml").read_text())
        if tomllib:
            read = tomllib.loads(kept.read_text())
            self.assertEqual(read["compile"]["set"], ["batch=8"])
            self.assertEqual(read["run"]["save-every"], 6)

    def test_a_run_that_was_resumed_is_repeated_from_its_beginning(self):
        plan, saved, log = self.folder / "resumed.plan", self.folder / "resumed", self.folder / "resumed.jsonl"
        cleave.compile_model(cleave.MLP["model"], plan)
        run = ["cleave-run", plan, "--data", cleave.MLP["data"], "--threads", 1, "--save", saved, "--log", log]
        cleave.must(*run, "--steps", 4)
        cleave.must(*run, "--steps", 8, "--resume", saved)
        self.assertNotIn("\nresume =", (saved / "train.toml").read_text())
        before = log.read_text()
        self.assertIn("nothing to do", cleave.must(*run, "--steps", 8, "--resume", saved).out)
        self.assertEqual(log.read_text(), before)
        again = self.folder / "repeated.jsonl"
        cleave.must("cleave-run", "--config", saved / "train.toml", "--save", self.folder / "repeated", "--log", again)
        losses = [[step["loss"] for step in cleave.read_log(path)[0]] for path in (log, again)]
        self.assertEqual(losses[0], losses[1])

    def test_the_command_line_has_precedence(self):
        given = self.write("[compile]\nmodel = 'none.onnx'\noutput = 'none.plan'\n")
        self.assertIn("other.onnx", cleave.tool("cleave-compile", "--config", given, "other.onnx").err)

    def test_texts_keep_their_characters(self):
        plan = r'a "quoted" # plan\, with, [all].plan'
        escaped = plan.replace("\\", "\\\\").replace('"', '\\"')
        for value in (f'"{escaped}"', f"'{plan}'"):
            self.refused(f"[run]\nplan = {value}\n", plan)

    def test_mistakes_name_the_line_and_what_was_expected(self):
        self.refused("[run]\n\nstep = 5\n", "line 3: [run] has no option 'step'; did you mean steps?")
        self.refused("[runs]\nsteps = 5\n", "line 1: found the section [runs], expected [compile] or [run]")
        self.refused("steps = 5\n", "line 1: found an option before the first section")
        self.refused("[run]\nplan = gpt.plan\n", 'write texts in quotes: "gpt.plan"')
        self.refused("[run]\nplan = 'gpt.plan\n", "line 2: expected ' at the end of a text")
        self.refused("[run]\nsteps = 5\nsteps = 6\n", "line 3: found 'steps' for the second time")
        self.refused("[run]\ndata = ['a' 'b']\n", "expected ',' or ']'")
        self.refused("[run]\nsteps = 5 6\n", "found '6', expected the end of the line")
        self.refused("[run]\nplan = 'none.plan'\nsteps = 'many'\n", "--steps")


if __name__ == "__main__":
    unittest.main(verbosity=2)
