"""Attention stays one op: no plan holds a matrix of scores, and training follows the decomposition, for every form of
mask, bias, dropout and shared heads.

The decomposition runs for f64, for which programs have no kernel."""

import json
import pathlib
import random
import re
import tempfile
import unittest

import cleave

BATCH, STEPS = 2, 4


class Form:
    """A training step around one attention of odd sizes, as text of the phase `import`."""

    def __init__(self, name, mask="", attributes="", heads=4, groups=4):
        self.name, self.mask, self.attributes, self.heads, self.groups = name, mask, attributes, heads, groups

    def operands(self):
        """(syntax, masks and biases as statements, their types) with %p, the padding, [batch, keys]."""
        lines, syntax, types = [], "", ""
        if "bias" in self.mask:
            lines += ["%b0 = graph.iota dim 1 : TENSOR[SCORES]", "%b1 = graph.iota dim 3 : TENSOR[SCORES]",
                      "%b2 = graph.sub %b0, %b1 : TENSOR[SCORES]", "%b3 = graph.mul %b2, %scores_tenth : TENSOR[SCORES]"]
            syntax, types = syntax + " bias %b3", types + ", TENSOR[SCORES]"
        if "learned" in self.mask:
            lines += ["%b = graph.broadcast %wb to [1, 3] : TENSOR[HEADSxKEYS] -> TENSOR[SCORES]"]
            syntax, types = syntax + " bias %b", types + ", TENSOR[SCORES]"
        if "padding" in self.mask:
            lines += ["%m0 = graph.compare ne %p, %zeros : tensor<2xKEYSxi64>",
                      "%mask = graph.broadcast %m0 to [0, 3] : tensor<2xKEYSxi1> -> tensor<SCORESxi1>"]
        if "triangle" in self.mask:
            lines += ["%i = graph.iota dim 2 : tensor<SCORESxi64>", "%j = graph.iota dim 3 : tensor<SCORESxi64>",
                      "%triangle = graph.compare le %j, %i : tensor<SCORESxi64>",
                      "%both = graph.and %mask, %triangle : tensor<SCORESxi1>"]
        if "padding" in self.mask:
            syntax += " mask %both" if "triangle" in self.mask else " mask %mask"
            types += ", tensor<SCORESxi1>"
        return syntax, lines, types

    def text(self, element, queries, keys, width=4, depth=3):
        """The module; TENSOR[a x b] stands for a tensor of `element`."""
        syntax, lines, types = self.operands()
        wide = "f64" if element == "f64" else "f32"
        q, k = f"{BATCH}x{self.heads}x{queries}x{width}", f"{BATCH}x{self.groups}x{keys}x{width}"
        v, y = f"{BATCH}x{self.groups}x{keys}x{depth}", f"{BATCH}x{self.heads}x{queries}x{depth}"
        arguments, body = [], ["%tenth = graph.constant dense<0.1> : TENSOR[]",
                               "%scores_tenth = graph.broadcast %tenth to [] : TENSOR[] -> TENSOR[SCORES]",
                               "%zero = graph.constant dense<0> : tensor<i64>",
                               "%zeros = graph.broadcast %zero to [] : tensor<i64> -> tensor<2xKEYSxi64>"]
        for name, shape in (("q", q), ("k", k), ("v", v)):
            weights = shape.split("x", 1)[1]
            arguments += [f'%x{name}: tensor<{shape}xi64> {{graph.name = "x{name}", graph.role = "input"}}',
                          f'%w{name}: TENSOR[{weights}] {{graph.name = "w{name}", graph.role = "parameter", '
                          'graph.source = {fill = 0.1 : f64}}']
            body += [f"%f{name} = graph.cast %x{name} : tensor<{shape}xi64> -> TENSOR[{shape}]",
                     f"%l{name} = graph.broadcast %w{name} to [1, 2, 3] : TENSOR[{weights}] -> TENSOR[{shape}]",
                     f"%{name} = graph.mul %f{name}, %l{name} : TENSOR[{shape}]"]
        if "learned" in self.mask:
            arguments.append('%wb: TENSOR[HEADSxKEYS] {graph.name = "wb", graph.role = "parameter", '
                             'graph.source = {fill = 0.1 : f64}}')
        arguments.append(f'%p: tensor<{BATCH}x{keys}xi64> {{graph.name = "p", graph.role = "input"}}')
        body += lines
        body += [f"%y, %lse = graph.attention %q, %k, %v{syntax} {{scale = 0.6 : f64{self.attributes}}} : (TENSOR[{q}], "
                 f"TENSOR[{k}], TENSOR[{v}]{types}) -> (TENSOR[{y}], tensor<{y.rsplit('x', 1)[0]}x{wide}>)",
                 f"%square = graph.mul %y, %y : TENSOR[{y}]",
                 f"%loss = graph.reduce sum %square over [0, 1, 2, 3] : TENSOR[{y}] -> TENSOR[]"]
        text = f"func.func @step({', '.join(arguments)}) -> (TENSOR[] {{graph.name = \"loss\", graph.role = \"output\"}}) {{\n"
        text += "\n".join(body) + "\nreturn %loss : TENSOR[]\n}\n"
        text = text.replace("HEADS", str(self.heads))
        text = re.sub(r"TENSOR\[([\w]*)\]", lambda m: f"tensor<{m[1] and m[1] + 'x'}{element}>", text)
        return text.replace("SCORES", f"{BATCH}x{self.heads}x{queries}x{keys}").replace("KEYS", str(keys))


FORMS = [
    Form("plain"),
    Form("causal", attributes=", causal"),
    Form("padding", "padding", ", safe"),
    Form("padding and causality", "padding triangle", ", safe"),
    Form("a finite fill", "padding triangle", ", fill = -2.0 : f64"),
    Form("bias", "bias", ", causal"),
    Form("dropout", attributes=", causal, dropout = 0.3 : f64"),
    Form("shared heads", "padding bias", ", safe, dropout = 0.3 : f64", groups=2),
    Form("one head of keys", attributes=", causal", heads=3, groups=1),
]
LEARNED = Form("learned bias", "learned", ", causal")  # its gradient has no kernel


def data(path, form, queries, keys, width=4, depth=3):
    """Random integers; the last keys of some samples, and all of one, are padding."""
    draw = random.Random(form.name)
    samples = BATCH * STEPS
    shapes = {"xq": (samples, form.heads, queries, width), "xk": (samples, form.groups, keys, width),
              "xv": (samples, form.groups, keys, depth)}
    arrays = {}
    for name, shape in shapes.items():
        count = shape[0] * shape[1] * shape[2] * shape[3]
        arrays[name] = (shape, [draw.randint(-9, 9) for _ in range(count)])
    shown = [0 if sample == 1 else draw.randint(1, keys) for sample in range(samples)]
    arrays["p"] = ((samples, keys), [int(key < count) for count in shown for key in range(keys)])
    cleave.write_npz(path, arrays)


class Attention(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, form, element, queries, keys, *options):
        source, plan = self.folder / f"{element}.mlir", self.folder / f"{element}.plan"
        source.write_text(form.text(element, queries, keys))
        cleave.must("cleave-compile", source, "--start-from", "import", "--train", "--loss", "output:loss", "--optimizer",
                    "sgd:lr=0.01", "-o", plan, *options)
        return plan

    def losses(self, plan):
        log = self.folder / "log.jsonl"
        log.unlink(missing_ok=True)
        found = cleave.losses(cleave.train(plan, self.folder / "data.npz", STEPS, log)[0])
        return [found[step] for step in sorted(found)]

    def test_no_plan_holds_a_matrix_of_scores(self):
        queries, keys = 250, 260
        for form in FORMS:
            for options in ([], ["--ranks", 2], ["--accumulate", 2], ["--dtype", "bf16"]):
                with self.subTest(form=form.name, options=options):
                    plan = self.plan(form, "f32", queries, keys, *options)
                    program = cleave.must("cleave-dump", plan, "--program", 0).out
                    self.assertIn("attention", program)
                    limit = form.heads * queries * keys // 2  # of one sample, on two ranks
                    for shape in re.findall(r"\[([\dx]+)\]", program):
                        elements = 1
                        for size in shape.split("x"):
                            elements *= int(size)
                        self.assertLess(elements, limit, shape)
                    for part in json.loads(cleave.must("cleave-dump", plan, "--json").out)["programs"]:
                        for arena in part["arenas"]:
                            self.assertLess(arena["bytes"], 4 * BATCH * limit)

    def test_kernels_train_as_the_decomposition(self):
        queries, keys = 37, 41
        for form in [*FORMS, LEARNED]:
            data(self.folder / "data.npz", form, queries, keys)
            whole = self.losses(self.plan(form, "f64", queries, keys))
            self.assertEqual(len(whole), STEPS)
            self.assertGreater(max(whole) - min(whole), 0)
            for options in ([], ["--ranks", 2], ["--ranks", 4], ["--ranks", 3, "--mesh", "dp=3"]):
                with self.subTest(form=form.name, options=options):
                    found = self.losses(self.plan(form, "f32", queries, keys, *options))
                    self.assertLessEqual(cleave.apart(found, whole), 1e-5)
            # Four steps in 8 bits of mantissa; f16 leaves out steps until its scale fits.
            for element, steps, most in (("bf16", STEPS, 4e-2), ("f16", 1, 2e-3)):
                with self.subTest(form=form.name, element=element):
                    found = self.losses(self.plan(form, "f32", queries, keys, "--dtype", element))
                    self.assertLessEqual(cleave.apart(found[:steps], whole[:steps]), most)

    def test_what_has_no_kernel_is_decomposed(self):
        for form, element, kernels in ((FORMS[0], "f32", 2), (LEARNED, "f32", 1), (FORMS[0], "f64", 0)):
            program = cleave.must("cleave-dump", self.plan(form, element, 5, 7), "--program", 0).out
            self.assertEqual(len(re.findall(r"^ *\d+  attention", program, re.M)), kernels, program)


if __name__ == "__main__":
    unittest.main(verbosity=2)
