"""A table of commands with typos, absurd values and wrong files: each is answered with one line that says what is meant, and an exit code."""

import unittest

import cleave
import fixture

# Words of the commands: `{train}` is a training of the bundled MLP without its output, `{run}` a run of its plan on its data. An
# error is the whole message behind `TOOL: error: `.
COMMANDS = [
    # Options.
    ("cleave-compile {model} --los mse", "unknown option --los; did you mean --loss?"),
    ("cleave-compile {train} -o {out} --rank=4", "unknown option --rank; did you mean --ranks?"),
    ("cleave-run {run} --stesp 3", "unknown option --stesp; did you mean --steps?"),
    ("cleave-dump {plan} --Sharding", "unknown option --Sharding; did you mean --sharding?"),
    ("cleave-zoo gpt2 --layer 2 -o {out}", "unknown option --layer; did you mean --layers?"),
    ("cleave-export {plan} --nonsense", "unknown option --nonsense (see --help)"),
    # Names.
    ("cleave-compile {train} -o {out} --cluster h100", "--cluster: unknown cluster 'h100'; did you mean h100-node?"),
    ("cleave-compile {train} -o {out} --optimizer AdamX", "--optimizer: unknown optimizer `AdamX`; did you mean adam or adamw?"),
    ("cleave-compile {train} -o {out} --optimizer adamw:weight_decay=0.1",
     "--optimizer: the optimizer adamw has no `weight_decay`; did you mean weight-decay?"),
    ("cleave-compile {train},label-smothing=0.1 -o {out}",
     "--loss: the loss softmax-cross-entropy has no option `label-smothing`; did you mean label-smoothing?"),
    ("cleave-compile {train} -o {out} --batch-norm froozen", "--batch-norm: found 'froozen'; did you mean frozen? (see --help)"),
    ("cleave-compile {train} -o {out} --freeze fc1.wieght",
     "{model}: --freeze `fc1.wieght` matches no parameter of the model; did you mean fc1.weight?"),
    ("cleave-compile {pt2} --set bs=16 -o {out}", "{pt2}: --set bs=16: the model has no symbol 'bs': expected batch or x.0"),
    ("cleave-run {run} --lr-schedule cosine:wramup=3", "--lr-schedule: the schedule cosine has no `wramup`; did you mean warmup?"),
    ("cleave-run {run} --on-nan skp", "--on-nan: found 'skp'; did you mean skip? (see --help)"),
    ("cleave-dump {plan} --explain fc1.wieght", "the plan has no parameter, op or value named fc1.wieght; did you mean fc1.weight?"),
    ("cleave-zoo gtp2 -o {out}", "unknown architecture 'gtp2'; did you mean gpt2?"),
    # Absurd values.
    ("cleave-compile {train} -o {out} --memory 10",
     "--memory: found '10', which is 10 B, expected at least 1.00 KiB, such as 2GiB or 800MB"),
    ("cleave-compile {train} -o {out} --memory 0", "--memory: found '0', which is 0 B, expected at least 1.00 KiB, such as 2GiB or 800MB"),
    ("cleave-compile {train} -o {out} --memory 2pints", "--memory: found '2pints', expected an amount such as 2GiB, 800MB or 4096"),
    ("cleave-compile {train} -o {out} --ranks 0", "--ranks: found '0', expected a number above 0, or least"),
    ("cleave-run {run} --nproc -1", "--nproc: found '-1', expected a number above 0 (see --help)"),
    # Wrong files.
    ("cleave-run {model} --data {data}", "'{model}' is not a plan file; cleave-compile writes one from a model"),
    ("cleave-dump {none}", "plan file: cannot read '{none}': No such file or directory"),
]


class Typos(fixture.InFolder):
    def test_each_is_one_line_with_its_exit_code(self):
        words = {"model": cleave.MLP["model"], "pt2": cleave.MODELS / "mlp.pt2", "data": cleave.MLP["data"], "out": self.folder / "out",
                 "plan": self.folder / "mlp.plan", "none": self.folder / "none.plan"}
        words["train"] = f"{words['model']} --train --set batch=8 --loss softmax-cross-entropy:logits"
        words["run"] = f"{words['plan']} --data {words['data']}"
        cleave.compile_model(words["model"], words["plan"])
        for command, message in COMMANDS:
            with self.subTest(command=command):
                name, *arguments = command.format(**words).split()
                answer = cleave.tool(name, *arguments)
                self.assertEqual(answer.errors(), [f"{name}: error: {message.format(**words)}"])
                self.assertEqual(answer.code, 1)
                self.assertEqual(answer.out, "")
                self.assertFalse(words["out"].exists())

    def test_amounts_have_the_units_that_people_type(self):
        for amount in ("10M", "10 MB", "10m", "0.01g", "10MiB", "10485760"):
            with self.subTest(amount=amount):
                cleave.compile_model(cleave.MLP["model"], self.folder / "amount.plan", "--memory", amount)


if __name__ == "__main__":
    unittest.main(verbosity=2)
