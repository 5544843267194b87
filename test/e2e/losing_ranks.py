"""A rank that dies or hangs ends the job with exit code 3 and one message that names the rank and its step."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import cleave


class LosingRanks(unittest.TestCase):
    def start(self, folder, ranks, *options):
        """A training that would take hours, after its first steps; (process, log)."""
        plan, log = folder / "gpt.plan", folder / "log.jsonl"
        cleave.compile_model(cleave.GPT["model"], plan, "--pin", "dp", ranks=ranks)
        command = [cleave.BIN / "cleave-run", plan, "--data", cleave.GPT["data"], "--steps", 10_000_000]
        command += ["--threads", 1, "--log", log, *options]
        process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stderr.close()))
        end = time.monotonic() + 600
        while time.monotonic() < end and process.poll() is None:
            if log.exists() and log.read_text().count("\n") >= 3:
                return process
            time.sleep(0.05)
        raise AssertionError(f"three steps are not logged within 10 minutes: {process.poll()}")

    def end_of(self, process, seconds):
        try:
            _, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"cleave-run goes on for {seconds} s after a rank was lost") from None
        return process.returncode, err

    def lose(self, how, seconds, *options):
        with tempfile.TemporaryDirectory() as folder:
            process = self.start(pathlib.Path(folder), 4, *options)
            ranks = cleave.children(process.pid)
            self.assertEqual(len(ranks), 4)
            os.kill(ranks[2], how)
            code, err = self.end_of(process, seconds)
            left = [pid for pid in ranks if pathlib.Path(f"/proc/{pid}").exists()]
        self.assertEqual(code, 3, err)
        message = cleave.errors(err)
        self.assertEqual(len(message), 1, err)
        self.assertRegex(message[0], re.compile(r"rank 2\b.*step \d+"))
        self.assertEqual(left, [], "ranks outlive the job")

    def test_a_killed_rank_ends_the_job_within_seconds(self):
        self.lose(signal.SIGKILL, 50)

    def test_a_stopped_rank_ends_the_job_within_the_timeout(self):
        self.lose(signal.SIGSTOP, 50, "--timeout", 5)

    def test_an_interrupted_job_leaves_no_rank_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.start(pathlib.Path(folder), 2)
            ranks = cleave.children(process.pid)
            process.send_signal(signal.SIGTERM)
            code, err = self.end_of(process, 50)
        self.assertEqual(code, 128 + signal.SIGTERM, err)
        self.assertRegex(cleave.errors(err)[0], r"^cleave-run: ended by signal 15 \(Terminated\) after step \d+")
        self.assertEqual([pid for pid in ranks if pathlib.Path(f"/proc/{pid}").exists()], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
