"""The parts of a GPU session that need no build: limits of its tools, what it keeps of their outputs, its tables."""

import argparse
import json
import pathlib
import sys
import tempfile
import time
import unittest
import uuid

import cleave

sys.path.insert(0, str(cleave.ROOT / "tools/dev/gpu"))
import report  # noqa: E402
import session  # noqa: E402


def is_alive(mark):
    """Whether a process with this text in its environment is running."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                return True
        except OSError:  # it has ended, or belongs to someone else
            pass
    return False


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "manifest.json").write_text(json.dumps({"cluster": "local-cpu", "losses": [], "speed": []}))
        options = argparse.Namespace(bundle=self.place, output=self.place, call="first", budget=180)
        self.session, self.mark = session.Session(options, self.place), str(uuid.uuid4())

    def run_shell(self, script, limit):
        return self.session.run(["sh", "-c", script], limit, MARK=self.mark)

    def expect_no_process(self):
        end = time.monotonic() + 60
        while is_alive(self.mark):
            self.assertLess(time.monotonic(), end, "a process of the tool is still running")
            time.sleep(0.1)

    def test_a_tool_that_hangs_ends_at_its_limit_with_its_descendants(self):
        begin = time.monotonic()
        with self.assertRaisesRegex(session.Failure, "sh does not end within 2 s"):
            self.run_shell("sleep 600 & wait", 2)
        self.assertLess(time.monotonic() - begin, 120)
        self.expect_no_process()

    def test_descendants_of_a_tool_that_ends_are_killed(self):
        begin = time.monotonic()
        self.assertEqual(self.run_shell("sleep 600 & echo done", 120), "done\n")
        self.assertLess(time.monotonic() - begin, 120)
        self.expect_no_process()

    def test_descendants_of_a_tool_that_fails_are_killed(self):
        with self.assertRaisesRegex(session.Failure, "sh ends with 3: last"):
            self.run_shell("sleep 600 & echo first >&2; echo last >&2; exit 3", 120)
        self.expect_no_process()

    def test_all_failures_are_kept_with_their_commands(self):
        for number in (3, 4):
            with self.assertRaises(session.Failure):
                self.run_shell(f"echo out; echo first {number} >&2; echo last >&2; exit {number}", 120)
        kept = (self.place / "failures.txt").read_text()
        for number in (3, 4):
            self.assertIn(f"exit {number}\nends with {number}\n-- standard output\nout\n\n-- standard error\nfirst {number}\nlast\n", kept)
        self.assertEqual(kept.count(f"== MARK={self.mark} sh -c"), 2)

    def test_a_failed_run_of_the_smoke_test_is_repeated_with_logs_of_libraries(self):
        tool = self.place / "bin/cleave-run"
        tool.parent.mkdir()
        tool.write_text('#!/bin/sh\n[ "$CLEAVE_CHECK_KERNELS" ] && echo a call >"$CUBLASLT_LOG_FILE"\necho refused >&2\nexit 1\n')
        tool.chmod(0o755)
        self.session.options.device = "cpu"
        self.session.manifest["losses"] = [
            {"name": name, "model": "m", "data": "d", "steps": 9, "plans": {"1": "p"}, "losses": [1.0] * 9, "tolerance": 1e-4}
            for name in ("gpt.b8", "gpt.bf16")]
        self.session.all(["smoke"])
        found = self.session.results["parts"]["smoke"]
        self.assertEqual([name for name in found if name.startswith("gpt")], ["gpt.bf16", "gpt.b8"])
        for name in ("gpt.b8", "gpt.bf16"):
            run = found[name]["ranks"]["1"]
            self.assertEqual(run["failure"], "cleave-run ends with 1: refused")
            self.assertEqual(run["checked"]["failure"], "cleave-run ends with 1: refused")
        logs = (self.place / "libraries.txt").read_text()
        self.assertIn("== gpt.bf16: cublaslt.log\na call\n", logs)
        self.assertIn("== gpt.b8: cudnn.log\nnot written\n", logs)
        self.assertEqual((self.place / "failures.txt").read_text().count("\nends with 1\n"), 4)

    def test_nothing_starts_after_the_end_of_the_part(self):
        self.session.end = time.monotonic()
        with self.assertRaisesRegex(session.Failure, "the time of the part is over"):
            self.run_shell("true", 120)


class Texts(unittest.TestCase):
    def test_long_texts_keep_head_and_tail(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "log")
            path.write_text("head" + "." * 1000 + "tail")
            self.assertEqual(session.clip(path, 2000), path.read_text())
            self.assertEqual(session.clip(path, 8), "head\n… 1000 bytes left out …\ntail")

    def test_a_trace_is_summed_by_kind(self):
        def event(kind, step, dur, tid=0):
            return {"ph": "X", "tid": tid, "name": f"node of {kind}", "dur": dur,
                    "args": {"kind": kind, "step": step, "predicted_us": 500.0}}

        events = [{"ph": "M", "name": "thread_name", "tid": tid, "args": {"name": name}}
                  for tid, name in enumerate(("computes", "predicted"))]
        for step in (7, 8):
            events += [event("copy", step, 1000.0), event("matmul", step, 2000.0), event("matmul", step, 4000.0),
                       event("copy", step, 500.0, tid=1)]
        matmul, copy = session.kinds_of(events, 0.010)
        self.assertEqual(matmul, {"kind": "matmul", "example": "node of matmul", "count": 2, "measured_ms": 6, "predicted_ms": 1,
                                  "ratio": 6, "share": 0.6})
        self.assertEqual((copy["count"], copy["measured_ms"], copy["ratio"]), (1, 1, 2))
        case = {"seconds": 0.010, "predicted_seconds": 0.002, "kinds": [matmul, copy]}
        text = report.profile({"gpt": case, "vit": {"failure": "did not run"}})
        self.assertEqual([line.split()[0] for line in text], ["gpt:", "kind", "matmul", "copy", "all", "vit"])
        self.assertEqual(text[2].split()[1:], ["2", "6.000", "ms", "1.000", "ms", "6.00", "60.0%", "node", "of", "matmul"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
