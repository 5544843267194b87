"""The page of `cleave-dump --html` in a browser: what it draws, at two widths. Chromium runs without a window; without it the tests are
skipped."""

import html.parser
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import cleave

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Goes behind the page's own script: what a test asks of the page when it is drawn.
QUESTIONS = """<script>
const canvas = document.getElementById("memory-chart");
const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const alive = () => document.querySelector("#alive p").textContent;
press(canvas, "Home");
const first = alive();
press(canvas, "ArrowRight");
const second = alive();
const chart = document.getElementById("timeline-chart");
press(chart, "ArrowRight");
const instruction = document.getElementById("instruction").textContent;
const bars = Number(chart.dataset.drawn);
for (let k = 0; k < 9; ++k) press(chart, "+");
const fewer = Number(chart.dataset.drawn);
press(chart, "Home");
const search = document.getElementById("decision-table-search");
search.value = "attn.qkv";
search.dispatchEvent(new Event("input"));
const found = document.querySelector("#decision-table tbody").dataset.drawn;
document.body.append(Object.assign(document.createElement("output"), {id: "answers", textContent: JSON.stringify({
  wider: document.documentElement.scrollWidth - window.innerWidth, first, second, instruction, bars, fewer, found: Number(found)})}));
</script></body>"""


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
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plan = cls.folder / "gpt.plan"
        cleave.compile_model(cleave.GPT["model"], cls.plan, "--accumulate", 2, ranks=4)
        cls.json = json.loads(cleave.must("cleave-dump", cls.plan, "--json").out)
        cleave.must("cleave-dump", cls.plan, "--html", cls.folder / "gpt.html")

    def look(self, width):
        """The page as the browser has drawn it, and what it said."""
        page = (self.folder / "gpt.html").read_text()
        (self.folder / "asked.html").write_text(page.replace("</body>", QUESTIONS))
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--window-size={width},900",
                               f"--user-data-dir={self.folder / 'browser'}", "--virtual-time-budget=2000", "--dump-dom",
                               f"file://{self.folder / 'asked.html'}"], capture_output=True, text=True, timeout=300, check=False)
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the page complains")
        return Elements(done.stdout)

    def test_everything_is_drawn(self):
        page = self.look(1280)
        program = self.json["programs"][0]
        self.assertEqual(page.titles, ["Mesh", "Memory", "Timeline", "Decisions", "Rates", "Collectives", "Remarks"])
        self.assertEqual(page.drawn["ranks"], 4)
        self.assertEqual(page.drawn["memory-chart"], program["buffers"])
        text = cleave.must("cleave-dump", self.plan, "--program", 0).out
        instructions = sum(int(line.split(": ")[1].split()[0]) for line in text.splitlines() if line.startswith("segment "))
        answers = json.loads(page.answers)
        self.assertEqual(answers["bars"], instructions)
        self.assertLess(answers["fewer"], instructions, "zooming shows a part")
        wanted = [d for d in self.json["decisions"] if d["kind"] != "remark" and "attn.qkv" in json.dumps(d)]
        self.assertEqual(answers["found"], len(wanted))

    def test_the_keyboard_moves_through_memory_and_time(self):
        answers = json.loads(self.look(1280).answers)
        self.assertIn("At 0, ", answers["first"])
        self.assertIn("At 1, ", answers["second"])
        self.assertIn(" from 0 s", answers["instruction"])

    def test_a_narrow_window_does_not_scroll_sideways(self):
        for width in (500, 1280):
            self.assertLessEqual(json.loads(self.look(width).answers)["wider"], 0, f"at {width} pixels")


if __name__ == "__main__":
    unittest.main()
