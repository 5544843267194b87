"""The pages of `cleave-dump --html` and `cleave-run --report` in a browser: what they draw, at two widths, light and dark. Chromium runs
without a window; without it the tests are skipped."""

import html.parser
import json
import math
import re
import shutil
import subprocess
import unittest

import cleave
import fixture

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# What a test asks of a page when it is drawn, by a script behind the page's own.
ASK = """<script>
const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const textOf = (query) => document.querySelector(query).textContent;
const answers = {wider: document.documentElement.scrollWidth - window.innerWidth};
%s
document.body.append(Object.assign(document.createElement("output"), {id: "answers", textContent: JSON.stringify(answers)}));
</script></body>"""

OF_PLANS = """
const memory = document.getElementById("memory-chart"), time = document.getElementById("timeline-chart");
press(memory, "Home");
answers.first = textOf("#alive p");
press(memory, "ArrowRight");
answers.second = textOf("#alive p");
press(time, "ArrowRight");
answers.instruction = textOf("#instruction");
answers.bars = Number(time.dataset.drawn);
for (let k = 0; k < 9; ++k) press(time, "+");
answers.fewer = Number(time.dataset.drawn);
press(time, "Home");
const search = document.getElementById("decision-table-search");
search.value = "attn.qkv";
search.dispatchEvent(new Event("input"));
answers.found = Number(document.querySelector("#decision-table tbody").dataset.drawn);
answers.rows = [...document.querySelectorAll("#decision-table tbody tr")].map((row) => row.textContent);
answers.marks = memory.dataset.marks;
answers.rowsOfTime = layOutTimeline().rows.map((row) => row.title);
const boxes = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth);
answers.cut = boxes.length;
answers.hinted = boxes.filter((box) => box.tabIndex === 0 && getComputedStyle(box).backgroundImage.includes("gradient")).length;
"""

# The frames of each tensor by its name.
OF_MESHES = """
const menu = document.getElementById("tensor"), tensors = plan.tensors.filter(({shape}) => shape.length);
answers.frames = {};
tensors.forEach(({name}, t) => {
  menu.value = t;
  menu.dispatchEvent(new Event("change"));
  answers.frames[name] = Number(document.getElementById("ranks").dataset.drawn);
});
"""

# The model: its boxes, and the decisions that the name of a module shows alone.
OF_MODELS = """
answers.modules = [...document.querySelectorAll("#modules .head")].map((head) => head.innerText.replaceAll("\\n", " "));
answers.layouts = [...document.querySelectorAll("#modules .mono.note")].map((box) => box.textContent);
answers.bars = [...document.querySelectorAll("#modules .kinds")].map((bar) => bar.title);
const rowsOf = () => [...document.querySelectorAll("#decision-table tbody tr")].map((row) => row.textContent);
answers.all = rowsOf().length;
[...document.querySelectorAll("#modules button")].find((button) => button.textContent === "fc").click();
answers.chosen = rowsOf();
document.querySelector("#decision-table [aria-label='show all rows']").click();
answers.again = rowsOf().length;
"""

# The edges of the model: the lines between its boxes, what they say, and those that are left when all boxes or one are closed.
OF_EDGES = """
const svg = document.getElementById("model-edges");
const linesOf = () => edgeLines.map(({from, to, isSkip, isCopies, isMoved}) =>
  [modules[from].name, modules[to].name, [isSkip && "skip", isCopies && "copies", isMoved && "moved"].filter(Boolean).join(" ")]);
const inside = (outer, inner) => outer.left - 0.5 <= inner.left && inner.right <= outer.right + 0.5 && outer.top - 0.5 <= inner.top && inner.bottom <= outer.bottom + 0.5;
answers.lines = linesOf();
answers.drawn = [Number(svg.dataset.drawn), Number(svg.dataset.skips), svg.querySelectorAll(".line").length, svg.querySelectorAll(".skip").length, svg.querySelectorAll(".moved").length];
answers.outside = [...svg.querySelectorAll(".line")].filter((line) => !inside(svg.getBoundingClientRect(), line.getBoundingClientRect())).length;
answers.cutBoxes = [...document.querySelectorAll("#modules .head > *")].filter((part) => part.offsetParent && !inside(document.getElementById("model").getBoundingClientRect(), part.getBoundingClientRect())).length;
answers.isDark = matchMedia("(prefers-color-scheme: dark)").matches;
answers.paper = getComputedStyle(document.body).backgroundColor;
press(svg, "End");
answers.last = textOf("#edge");
answers.ends = [...document.querySelectorAll("#modules .end > .head .mono")].map((name) => name.textContent);
press(svg, "Home");
answers.first = textOf("#edge");
svg.querySelector(".skip .near").dispatchEvent(new PointerEvent("pointerenter"));
answers.pointed = textOf("#edge");
const all = (title) => [...document.querySelectorAll("#model .controls button")].find((button) => button.textContent === title).click();
all("close all");
answers.closed = linesOf();
answers.closedBoxes = [...document.querySelectorAll("#modules .module")].filter((box) => box.offsetParent).length;
all("open all");
document.querySelector("#modules .outer .toggle").click();
answers.oneClosed = linesOf();
"""

OF_RUNS = """
const loss = document.getElementById("loss-chart");
press(loss, "Home");
answers.first = textOf("#loss-value");
press(loss, "End");
press(loss, "ArrowLeft");
press(loss, "ArrowLeft");
answers.later = textOf("#loss-value");
"""


class Elements(html.parser.HTMLParser):
    """The attribute data-drawn of every element with an id, the titles of the sections, and the answers."""

    def __init__(self, text):
        super().__init__()
        self.drawn, self.titles, self.answers, self.is_title, self.is_answer = {}, [], "", False, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if "data-drawn" in attributes and "id" in attributes:
            self.drawn[attributes["id"]] = int(attributes["data-drawn"])
        self.is_title, self.is_answer = tag == "h2", attributes.get("id") == "answers"

    def handle_data(self, data):
        if self.is_title:
            self.titles.append(data)
        if self.is_answer:
            self.answers += data

    def handle_endtag(self, tag):
        self.is_title = self.is_answer = False


@unittest.skipUnless(BROWSER, "no Chromium is installed")
class Pages(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], cls.plan, "--accumulate", 2, ranks=4)
        cls.json = json.loads(cleave.must("cleave-dump", cls.plan, "--json").out)
        cleave.must("cleave-dump", cls.plan, "--html", cls.folder / "gpt.html")

    def look(self, name, questions, width=1280, change=None, scheme="light"):
        """A page as the browser has drawn it, with the answers to the questions. `change` is applied to its data, `scheme` is the system's."""
        page = (self.folder / name).read_text()
        if change:
            begin = page.index('type="application/json">') + len('type="application/json">')
            end = page.index("</script>", begin)
            page = page[:begin] + json.dumps(change(json.loads(page[begin:end]))).replace("<", "\\u003c") + page[end:]
        (self.folder / "asked.html").write_text(page.replace("</body>", ASK % questions))
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--window-size={width},900",
                               f"--user-data-dir={self.folder / 'browser'}", "--virtual-time-budget=2000", "--dump-dom",
                               f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
                               f"file://{self.folder / 'asked.html'}"], capture_output=True, text=True, timeout=300, check=False)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the page complains")
        return Elements(done.stdout)

    def test_everything_is_drawn(self):
        page = self.look("gpt.html", OF_PLANS)
        program = self.json["programs"][0]
        self.assertEqual(page.titles, ["Mesh", "Model", "Memory", "Timeline", "Meshes tried", "Decisions", "Rates", "Collectives", "Remarks"])
        self.assertLessEqual(page.drawn["ranks"], 4)
        self.assertEqual(page.drawn["memory-chart"], program["buffers"])
        text = cleave.must("cleave-dump", self.plan, "--program", 0).out
        instructions = sum(int(line.split(": ")[1].split()[0]) for line in text.splitlines() if line.startswith("segment "))
        answers = json.loads(page.answers)
        self.assertEqual(answers["bars"], instructions)
        self.assertLess(answers["fewer"], instructions, "zooming shows a part")
        wanted = [d for d in self.json["decisions"] if d["kind"] != "remark" and "attn.qkv" in json.dumps(d)]
        self.assertEqual(sum(int((re.search(r" x (\d+)", row) or [1, 1])[1]) for row in answers["rows"]), len(wanted))
        self.assertLess(answers["found"], len(wanted), "the two blocks share rows")
        self.assertTrue(any("blocks.{0,1}.attn.qkv.weight x 2" in row for row in answers["rows"]), answers["rows"])
        self.assertFalse([row for row in answers["rowsOfTime"] if "transfers" in row], "CPUs take no time for them")
        self.assertEqual(answers["marks"], "begin, micro x 2: forward, backward, update")

    def test_equal_layers_of_the_model_share_a_box_that_shows_their_decisions(self):
        page = self.look("gpt.html", OF_MODELS)
        answers = json.loads(page.answers)
        names = [head.split()[0] for head in answers["modules"]]
        self.assertEqual(names, ["head", "pos", "blocks.{0,1}", "ln1", "attn", "qkv", "proj", "ln2", "mlp", "fc", "proj", "ln"])
        self.assertIn("x 2", answers["modules"][2])
        self.assertEqual((page.drawn["modules"], len(answers["bars"])), (9, 9))
        self.assertIn("matmul", answers["bars"][names.index("qkv") - 2])
        layouts = {decision["name"]: decision["choice"] for decision in self.json["decisions"] if decision["kind"] == "parameter"}
        stored = layouts["blocks.0.mlp.fc.weight"].removeprefix("lives as ").split("]")[0]
        self.assertTrue(any(text.startswith(f"weight {stored}") for text in answers["layouts"]), answers["layouts"])
        self.assertTrue(0 < len(answers["chosen"]) < answers["all"])
        self.assertTrue(all("mlp.fc." in row for row in answers["chosen"]), answers["chosen"])
        self.assertEqual(answers["again"], answers["all"])

    def lines(self, answers):
        """The lines of the model as `from > to`, by what they are: "" or some of skip, copies (to another layer of the box), moved."""
        self.assertEqual(answers["drawn"][0], len(answers["lines"]))
        self.assertEqual(answers["drawn"][2:], [len(answers["lines"])] + [sum(what in line[2] for line in answers["lines"]) for what in ("skip", "moved")])
        found = {}
        for begin, end, what in answers["lines"]:
            found.setdefault(what, []).append(f"{begin} > {end}")
        return found

    def test_lines_lead_from_each_module_to_the_readers_of_its_results(self):
        answers = json.loads(self.look("gpt.html", OF_EDGES).answers)
        lines, block = self.lines(answers), "blocks.{0,1}."
        inner = [("ln1", "attn.qkv"), ("attn.qkv", "attn.proj"), ("attn.proj", "ln2"), ("ln2", "mlp.fc"), ("mlp.fc", "mlp.proj")]
        self.assertEqual(sorted(lines[""]), sorted([f"{block}{a} > {block}{b}" for a, b in inner] +
                                                   [f"head > {block}ln1", f"pos > {block}ln1", f"{block}mlp.proj > ln", "ln > head"]))
        # The residual stream goes around attention and MLP, in the first block from the embeddings, and on to the next block.
        self.assertEqual(sorted(lines["skip"]), sorted([f"head > {block}ln2", f"pos > {block}ln2", f"{block}ln1 > {block}ln2", f"{block}ln2 > ln"]))
        self.assertEqual(lines["skip copies"], [f"{block}ln2 > {block}ln1"])
        self.assertEqual(lines["copies"], [f"{block}mlp.proj > {block}ln1"])
        self.assertEqual(len(answers["lines"]), 15)

    def test_a_line_says_what_passes_and_closed_boxes_share_lines(self):
        answers = json.loads(self.look("gpt.html", OF_EDGES).answers)
        self.assertRegex(answers["first"], r"^head → blocks\.0\.ln1: f32\[\d+x16x32\], [\d.]+ KiB")
        self.assertRegex(answers["last"], r"^ln → head: f32\[\d+x16x32\], ")
        self.assertEqual(sorted(answers["ends"]), ["head", "ln"])
        self.assertRegex(answers["pointed"], r" \(skip connection\): f32\[")
        self.assertEqual(answers["closedBoxes"], 4)
        block = "blocks.{0,1}"
        self.assertEqual(answers["closed"], [["head", block, ""], ["pos", block, ""], [block, block, "copies"], [block, "ln", ""], ["ln", "head", ""]])
        self.assertEqual(answers["oneClosed"], answers["closed"])

    def test_skip_connections_of_a_u_net_lead_past_the_layers_between(self):
        model, plan = self.folder / "unet.onnx", self.folder / "unet.plan"
        cleave.must("cleave-zoo", "unet", "--hidden", 8, "--layers", 2, "--image", 32, "-o", model)
        cleave.compile_model(model, plan, "--mesh", "dp=2", batch=4, ranks=2)
        cleave.must("cleave-dump", plan, "--html", self.folder / "unet.html")
        page = self.look("unet.html", OF_EDGES)
        lines = self.lines(json.loads(page.answers))
        skips = [(line.split(" > ")[0].split(".")[0], line.split(" > ")[1].split(".")[0]) for line in lines["skip"]]
        self.assertEqual(sorted(skips), [("down1", "up1"), ("inc", "up2")])
        pairs = {(line.split(" > ")[0].split(".")[0], line.split(" > ")[1].split(".")[0]) for lines_of in lines.values() for line in lines_of}
        self.assertEqual({pair for pair in pairs if pair[0] != pair[1]} - set(skips),
                         {("inc", "down1"), ("down1", "down2"), ("down2", "up1"), ("up1", "up2"), ("up2", "outc")})

    def test_stages_send_to_each_other_in_the_model_and_run_after_each_other_in_the_timeline(self):
        plan = self.folder / "stages.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--stages", 2, "--micro-batch", 4, ranks=2)
        cleave.must("cleave-dump", plan, "--html", self.folder / "stages.html")
        of_times = """
        const {bars, end} = layOutTimeline();
        answers.end = end;
        answers.later = bars.filter(({isLater}) => isLater).length;
        answers.begins = plan.programs.map(({segments}) => segments.map(({name, begin}) => [name, begin]));
        """
        answers = json.loads(self.look("stages.html", OF_EDGES + of_times).answers)
        self.assertTrue([line for line in answers["lines"] if "moved" in line[2]])
        described = json.loads(cleave.must("cleave-dump", plan, "--json").out)
        self.assertAlmostEqual(answers["end"], described["predicted"]["step_seconds"], delta=0.02 * answers["end"])
        first, second = (dict(reversed(begins)) for begins in answers["begins"])  # of segments with one name, the first
        self.assertLess(first["forward"], second["forward"])
        self.assertLess(second["backward"], first["backward"])
        self.assertGreater(answers["later"], 0)

    def test_ranks_with_one_block_of_a_tensor_share_a_frame(self):
        for ranks in (8, 32):
            with self.subTest(ranks=ranks):
                self.check_frames(ranks)

    def check_frames(self, ranks):
        plan = self.folder / "mesh.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--pin", "fsdp+tp:4", ranks=ranks)
        cleave.must("cleave-dump", plan, "--html", self.folder / "mesh.html")
        described = json.loads(cleave.must("cleave-dump", plan, "--json").out)
        frames = json.loads(self.look("mesh.html", OF_MESHES).answers)["frames"]
        for tensor in described["tensors"]:
            axes = {axis for dim in tensor["sharding"] for axis in dim}
            sizes = [described["mesh"][axis] for axis in axes]
            if tensor["shape"]:
                wanted = math.prod(sizes) if math.prod(sizes) <= 16 else sum(sizes)  # of many blocks, one for each place on an axis
                self.assertEqual(frames[tensor["name"]], wanted, tensor)
        self.assertGreater(len(set(frames.values())), 1)

    def test_the_budget_of_a_rank_is_marked_where_the_plan_has_one(self):
        def change(data):
            data["predicted"]["budget_bytes"] = 1 << 20
            return data

        answers = json.loads(self.look("gpt.html", "answers.note = textOf('#memory p');", change=change).answers)
        self.assertIn("and the budget of a rank", answers["note"])

    def test_the_keyboard_moves_through_memory_and_time(self):
        answers = json.loads(self.look("gpt.html", OF_PLANS).answers)
        self.assertIn("At 0, ", answers["first"])
        self.assertIn("At 1, ", answers["second"])
        self.assertIn(" from 0 s", answers["instruction"])

    def test_an_evaluation_is_no_part_of_the_timeline_of_a_step(self):
        plan = self.folder / "evaluated.plan"
        cleave.compile_model(cleave.GPT["model"], plan, "--accumulate", 2, "--eval", "--mesh", "dp=4", ranks=4)
        cleave.must("cleave-dump", plan, "--html", self.folder / "evaluated.html")
        text = cleave.must("cleave-dump", plan, "--program", 0).out
        step, evaluation = text.split("Evaluation of rank 0")
        instructions = [int(count) for count in re.findall(r"segment \w+: (\d+) instructions", step)]
        self.assertIn("an evaluation runs micro", evaluation)
        page = self.look("evaluated.html", OF_PLANS + "answers.timeline = textOf('#timeline p');")
        answers = json.loads(page.answers)
        self.assertEqual(answers["bars"], sum(instructions))
        self.assertIn("All 4 ranks run the same program", answers["timeline"])
        self.assertRegex(answers["timeline"], r"of a step; .* of it are exposed")

    def test_a_narrow_window_does_not_scroll_sideways(self):
        papers = set()
        for width, scheme in ((400, "light"), (400, "dark"), (500, "light"), (1280, "light"), (1280, "dark")):
            answers = json.loads(self.look("gpt.html", OF_PLANS + OF_EDGES, width, scheme=scheme).answers)
            self.assertLessEqual(answers["wider"], 0, f"at {width} pixels")
            self.assertEqual(answers["hinted"], answers["cut"], "what is cut says that it scrolls")
            self.assertTrue(answers["cut"] or width > 500)
            self.assertEqual((answers["outside"], answers["cutBoxes"]), (0, 0), f"at {width} pixels")
            self.assertEqual((len(answers["lines"]), answers["drawn"][1]), (15, 5))
            self.assertEqual(answers["isDark"], scheme == "dark")
            papers.add((scheme, answers["paper"]))
        self.assertEqual(len(papers), 2)

    def test_a_run_is_drawn_from_its_first_step_on(self):
        plan, data = self.folder / "evaluated.plan", cleave.GPT["data"]
        cleave.compile_model(cleave.GPT["model"], plan, "--eval")
        run = lambda steps, *options: cleave.must("cleave-run", plan, "--data", data, "--eval", data, "--eval-every", 2, "--steps", steps, "-q",
                                                  "--save", self.folder / "saved", "--log", self.folder / "log.jsonl", *options)
        run(3)
        run(7, "--resume", self.folder / "saved", "--report", self.folder / "run.html")
        page = self.look("run.html", OF_RUNS)
        self.assertEqual(page.titles, ["Loss", "Grad norm", "Tokens per second", "Evaluation: accuracy", "Evaluation: perplexity", "Seconds of a step", "Memory"])
        self.assertEqual(page.drawn["loss-chart"], 7 + 5, "and evaluations behind steps 1, 2, 3, 5 and 6")
        self.assertEqual(page.drawn["eval_accuracy-chart"], 5)
        self.assertEqual(page.drawn["seconds-chart"], 7)
        with open(self.folder / "log.jsonl") as file:
            first = json.loads(file.readline())
        answers = json.loads(page.answers)
        self.assertRegex(answers["first"], r"^step 0: [^;]*$")
        self.assertRegex(answers["later"], r"^step 4: .*; evaluation [\d.]+ after step 3$")
        self.assertAlmostEqual(float(answers["first"].split()[2].rstrip(",")), first["loss"], delta=1e-3 * first["loss"])
        self.assertLessEqual(answers["wider"], 0)

    def test_runs_are_compared_in_one_page_and_in_a_table(self):
        other = self.folder / "other.plan"
        cleave.compile_model(cleave.GPT["model"], other, "--mesh", "dp=2", ranks=2)
        reports = [self.folder / "four.html", self.folder / "two.html"]
        for plan, steps, report in ((self.plan, 4, reports[0]), (other, 6, reports[1])):
            cleave.must("cleave-run", plan, "--data", cleave.GPT["data"], "--steps", steps, "-q", "--report", report)
        cleave.must("cleave-dump", *reports, "--html", self.folder / "both.html")
        page = self.look("both.html", "answers.value = textOf('#loss-value'); answers.different = textOf('#difference-table');")
        self.assertEqual(page.titles, ["Loss", "Grad norm", "Tokens per second", "Seconds of a step", "Differences", "Memory"])
        self.assertEqual((page.drawn["runs"], page.drawn["loss-chart"], page.drawn["seconds-chart"]), (2, 10, 10))
        answers = json.loads(page.answers)
        self.assertLessEqual(answers["wider"], 0)
        self.assertRegex(answers["value"], r"^step 3: four [\d.]+; two [\d.]+$")
        for text in (answers["different"], cleave.must("cleave-dump", *reports).out):
            self.assertIn("compile --ranks", text)
            self.assertIn("run --steps", text)
            self.assertNotIn("compile --loss", text, "both runs have it")
        damaged = self.folder / "damaged.html"
        damaged.write_text(reports[1].read_text().replace('"lines":[', '"lines":7,"line":['))
        for second, message in ((damaged, "is a damaged report"), (self.folder / "gpt.html", "is the page of a plan, expected reports"), (self.plan, "is not a page, expected reports"),
                                ("--memory", "--memory: expected one plan, found reports")):
            answer = cleave.tool("cleave-dump", reports[0], second)
            self.assertEqual(answer.code, 1)
            self.assertIn(message, answer.err)

    def test_a_run_that_fails_is_drawn_with_its_error(self):
        plan = self.folder / "wild.plan"
        options = cleave.compile_options(cleave.GPT["model"])
        options[options.index(cleave.ADAMW)] = "sgd:lr=1e30"
        cleave.must("cleave-compile", *options, "-o", plan)
        answer = cleave.tool("cleave-run", plan, "--data", cleave.GPT["data"], "--steps", 9, "-q", "--report", self.folder / "failed.html")
        self.assertEqual(answer.code, 1)
        page = self.look("failed.html", "answers.bad = textOf('.bad');")
        self.assertIn("loss is nan in step", json.loads(page.answers)["bad"])
        self.assertLess(page.drawn["seconds-chart"], 9)


if __name__ == "__main__":
    unittest.main()
