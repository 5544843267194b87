"""Lost ranks: a rank that is stopped anywhere is found within the timeout, slow storage is waited for, and `--max-restarts`
continues from the newest checkpoint with the results of a run that was not disturbed."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import cleave

TIMEOUT = 4  # seconds of --timeout where a rank is stopped

# Preloaded into the ranks: a system call on a file whose path contains $SLOW takes long, and one on $STOP or $KILL ends
# in the signal.
SHIM = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int is_on(int file, const char *variable) {
  const char *wanted = getenv(variable);
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return wanted && readlink(link, path, sizeof path - 1) > 0 && strstr(path, wanted);
}
ssize_t write(int file, const void *data, size_t bytes) {
  if (is_on(file, "SLOW")) {
    usleep(100000);
    bytes = bytes < 16384 ? bytes : 16384;
  }
  return syscall(SYS_write, file, data, bytes);
}
int fsync(int file) {
  if (is_on(file, "STOP"))
    raise(SIGSTOP);
  if (is_on(file, "KILL"))
    raise(SIGKILL);
  return (int)syscall(SYS_fsync, file);
}
"""


class Restarting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.plans = {}
        folder = pathlib.Path(cls.temporary.name)
        for ranks in (1, 3, 4):
            cls.plans[ranks] = folder / f"{ranks}.plan"
            cleave.compile_model(cleave.GPT["model"], cls.plans[ranks], "--pin", "dp", ranks=ranks)
        (folder / "shim.c").write_text(SHIM)
        cls.shim = folder / "shim.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", cls.shim, folder / "shim.c"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log.jsonl"

    def start(self, ranks, steps, *options, env=None):
        command = [cleave.BIN / "cleave-run", self.plans[ranks], "--data", cleave.GPT["data"], "--steps", steps]
        command += ["--threads", 1, "--log", self.log, *options]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, **{name: str(value) for name, value in (env or {}).items()}})
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stderr.close()))
        return process

    def end_of(self, process, seconds=600):
        try:
            _, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"cleave-run goes on for {seconds} s") from None
        return process.returncode, err

    def wait_for(self, condition, process):
        end = time.monotonic() + 600
        while not condition():
            if time.monotonic() > end or process.poll() is not None:
                raise AssertionError(f"what the test waits for does not come: {process.poll()}")
            time.sleep(0.01)

    def steps(self):
        return self.log.read_text().count('"loss"') if self.log.exists() else 0

    def events(self):
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if "event" in line]

    def is_stopped(self, pid):
        return " T " in pathlib.Path(f"/proc/{pid}/stat").read_text()

    def weights(self, save):
        """The checksum of every slice of the newest checkpoint in `save`."""
        index = json.loads((sorted(pathlib.Path(save).glob("step-*"))[-1] / "index.json").read_text())
        return {name: [slice["crc32"] for slice in tensor["slices"]] for name, tensor in index["tensors"].items()}

    # Timeouts

    def stop_in_a_save(self, rank, **env):
        save = self.folder / "save"
        shim = {**cleave.preloading(self.shim), "STOP": f"rank-0000{rank}.safetensors", **env}
        process = self.start(4, 10, "--save", save, "--save-every", 2, "--timeout", TIMEOUT, env=shim)
        self.wait_for(lambda: any(self.is_stopped(pid) for pid in cleave.children(process.pid)), process)
        begun = time.monotonic()
        code, err = self.end_of(process)
        self.assertEqual(code, 3, err)
        self.assertEqual(len(cleave.errors(err)), 1, err)
        self.assertIn(f"rank {rank} made no progress while saving for {TIMEOUT} s", cleave.errors(err)[0])
        self.assertLess(time.monotonic() - begun, 10 * TIMEOUT, "the timeout is not kept")
        record = json.loads((self.folder / "save.flight-record.json").read_text())
        self.assertEqual([line["rank"] for line in record["ranks"] if line["is_lost"]], [rank])
        self.assertIn("while saving after step 1", record["ranks"][rank]["place"])

    def test_a_rank_that_is_stopped_in_a_save_is_lost(self):
        self.stop_in_a_save(2)

    def test_a_rank_that_is_stopped_in_a_save_is_lost_over_tcp(self):
        self.stop_in_a_save(2, CLEAVE_COMM="gloo")

    def test_rank_0_that_is_stopped_in_a_save_is_lost(self):
        self.stop_in_a_save(0)

    def test_slow_storage_is_waited_for(self):
        save = self.folder / "save"
        begun = time.monotonic()
        for comm in ("shm", "gloo"):
            shim = {**cleave.preloading(self.shim), "SLOW": "rank-00000.safetensors", "CLEAVE_COMM": comm}
            process = self.start(4, 2, "--save", save / comm, "--timeout", 2, env=shim)
            code, err = self.end_of(process)
            self.assertEqual(code, 0, err)
        self.assertGreater(time.monotonic() - begun, 10, "storage was not slow enough for this test")

    def test_a_single_rank_that_is_stopped_in_a_step_is_lost(self):
        process = self.start(1, 10_000_000, "--timeout", TIMEOUT)
        self.wait_for(lambda: self.steps() >= 3, process)
        os.kill(cleave.children(process.pid)[0], signal.SIGSTOP)
        code, err = self.end_of(process)
        self.assertEqual(code, 3, err)
        self.assertRegex(cleave.errors(err)[0], rf"rank 0 made no progress in step \d+ for {TIMEOUT} s")

    def test_a_rank_that_is_stopped_before_its_first_step_is_lost(self):
        process = self.start(4, 10_000_000, "--timeout", TIMEOUT)
        self.wait_for(lambda: len(cleave.children(process.pid)) == 4, process)
        os.kill(cleave.children(process.pid)[2], signal.SIGSTOP)
        code, err = self.end_of(process)
        self.assertEqual(code, 3, err)
        self.assertRegex(cleave.errors(err)[0], r"rank 2\b")

    def test_a_launcher_that_was_stopped_loses_no_rank(self):
        process = self.start(4, 10_000_000, "--timeout", 2)
        self.wait_for(lambda: self.steps() >= 3, process)
        process.send_signal(signal.SIGSTOP)
        time.sleep(6)
        process.send_signal(signal.SIGCONT)
        time.sleep(1)
        before = self.steps()
        self.wait_for(lambda: self.steps() > before, process)
        process.send_signal(signal.SIGTERM)
        code, err = self.end_of(process)
        self.assertEqual(code, 128 + signal.SIGTERM, err)

    def test_a_job_that_was_stopped_as_a_whole_goes_on(self):
        process = self.start(4, 10_000_000, "--timeout", 2)
        self.wait_for(lambda: self.steps() >= 3, process)
        everyone = [process.pid, *cleave.children(process.pid)]
        for how, pause in ((signal.SIGSTOP, 6), (signal.SIGCONT, 1)):
            for pid in everyone:
                os.kill(pid, how)
            time.sleep(pause)
        before = self.steps()
        self.wait_for(lambda: self.steps() > before, process)
        process.send_signal(signal.SIGTERM)
        code, err = self.end_of(process)
        self.assertEqual(code, 128 + signal.SIGTERM, err)

    # Restarts

    def undisturbed(self, ranks, steps, *options):
        """The losses of a run that nothing disturbs, and its weights."""
        save, log = self.folder / "undisturbed", self.folder / "undisturbed.jsonl"
        lines, _ = cleave.train(self.plans[ranks], cleave.GPT["data"], steps, log, "--save", save, *options)
        return cleave.losses(lines), self.weights(save)

    def kill_and_restart(self, *options, steps=120):
        """Kills rank 1 after the first checkpoint; returns what was said, and the restarts in the log."""
        save = self.folder / "save"
        process = self.start(4, steps, "--save", save, "--save-every", 20, "--max-restarts", 3, *options)
        self.wait_for(lambda: self.steps() >= 25, process)
        os.kill(cleave.children(process.pid)[1], signal.SIGKILL)
        code, err = self.end_of(process)
        self.assertEqual(code, 0, err)
        said = [line for line in err.splitlines() if "; restart 1 of 3 with" in line]
        self.assertEqual(len(said), 1, err)
        self.assertRegex(said[0], r"rank 1 was ended by signal 9 .* from '.*step-\d+'")
        self.assertIn("restarted once", err)
        events = self.events()
        self.assertEqual([event["event"] for event in events], ["restart"])
        self.assertIn("rank 1 was ended by signal 9", events[0]["reason"])
        return events[0]

    def test_a_killed_rank_is_replaced_and_nothing_is_different(self):
        event = self.kill_and_restart()
        self.assertEqual(event["ranks"], 4)
        self.assertEqual(event["from_step"] % 20, 0)
        losses, weights = self.undisturbed(4, 120)
        self.assertEqual(cleave.losses(cleave.read_log(self.log)[0]), losses)
        self.assertEqual(self.weights(self.folder / "save"), weights)

    def test_three_ranks_continue_where_four_were(self):
        event = self.kill_and_restart("--plans", f"{self.plans[1]},{self.plans[3]}")
        self.assertEqual(event["ranks"], 3)
        self.undisturbed(4, event["from_step"])
        losses, weights = self.undisturbed(3, 120, "--resume", self.folder / "undisturbed")
        self.assertEqual(cleave.losses(cleave.read_log(self.log)[0]), losses)
        self.assertEqual(self.weights(self.folder / "save"), weights)

    def test_restarts_are_limited(self):
        shim = {**cleave.preloading(self.shim), "KILL": "rank-00001.safetensors"}
        process = self.start(4, 10, "--save", self.folder / "save", "--max-restarts", 2, env=shim)
        code, err = self.end_of(process)
        self.assertEqual(code, 3, err)
        self.assertEqual(err.count("; restart "), 2, err)
        self.assertEqual(err.count("from the beginning"), 2, err)
        self.assertIn("; restarted 2 times", cleave.errors(err)[0])
        self.assertEqual([event["restart"] for event in self.events()], [1, 2])

    def test_a_users_mistake_and_a_users_signal_restart_nothing(self):
        answer = cleave.tool("cleave-run", self.plans[4], "--data", self.folder / "none.npz", "--max-restarts", 2)
        self.assertEqual(answer.code, 1, answer)
        self.assertNotIn("restart", answer.err)
        process = self.start(4, 10_000_000, "--max-restarts", 2)
        self.wait_for(lambda: self.steps() >= 3, process)
        process.send_signal(signal.SIGTERM)
        code, err = self.end_of(process)
        self.assertEqual(code, 128 + signal.SIGTERM, err)
        self.assertNotIn("restart", err)

    def test_plans_of_another_model_are_refused(self):
        other = self.folder / "mlp.plan"
        cleave.compile_model(cleave.MLP["model"], other, "--pin", "dp", ranks=2)
        answer = cleave.tool("cleave-run", self.plans[4], "--data", cleave.GPT["data"], "--plans", other)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("another model than the first plan", answer.err)

    def test_torchrun_starts_the_ranks_again_in_another_number(self):
        save = self.folder / "save"
        options = ["--data", cleave.GPT["data"], "--threads", 1, "--log", self.log, "--save", save, "--plans", self.plans[1]]
        cleave.must("cleave-run", self.plans[3], *options, "--steps", 5)
        env = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "TORCHELASTIC_RESTART_COUNT": 2}
        env = {name: str(value) for name, value in env.items()}
        answer = cleave.must("cleave-run", self.plans[3], *options, "--steps", 9, env=env)
        self.assertIn("restart 2 with 1 rank from", answer.err)
        self.assertEqual(sorted(cleave.losses(cleave.read_log(self.log)[0])), list(range(9)))
        self.assertEqual([(event["restart"], event["ranks"], event["from_step"]) for event in self.events()], [(2, 1, 5)])

    # Flight records

    def test_the_flight_record_names_the_collective(self):
        record = self.folder / "record.json"
        process = self.start(4, 10_000_000, "--timeout", TIMEOUT, "--flight-record", record)
        self.wait_for(lambda: self.steps() >= 3, process)
        os.kill(cleave.children(process.pid)[2], signal.SIGSTOP)
        code, err = self.end_of(process)
        self.assertEqual(code, 3, err)
        said = json.loads(record.read_text())
        self.assertEqual([line["rank"] for line in said["ranks"]], [0, 1, 2, 3])
        self.assertEqual([line["rank"] for line in said["ranks"] if line["is_lost"]], [2])
        for line in said["ranks"]:
            self.assertEqual(line["collective"]["ranks"], [0, 1, 2, 3])
            self.assertGreater(line["collective"]["count"], 3)
        program = cleave.must("cleave-dump", self.plans[4], "--program", 0).out
        per_step = len(re.findall(r"^ *\d+ +(all-reduce|all-gather|reduce-scatter|all-to-all) ", program, re.MULTILINE))
        waiting = said["ranks"][0]
        self.assertEqual((waiting["collective"]["count"] - 1) // per_step, waiting["step"])
        self.assertEqual(waiting["instruction"]["kind"], waiting["collective"]["kind"])
        self.assertGreater(said["ranks"][2]["seconds_without_progress"], TIMEOUT / 2)

    def test_under_another_launcher_each_rank_writes_its_own_flight_record(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        ranks, record = [], self.folder / "record.json"
        for rank in range(3):
            env = {"RANK": rank, "WORLD_SIZE": 3, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 3,
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            ranks.append(self.start(3, 10_000_000, "--flight-record", record, env=env))
        self.wait_for(lambda: self.steps() >= 3, ranks[0])
        os.kill(ranks[1].pid, signal.SIGKILL)
        for rank in (0, 2):
            code, err = self.end_of(ranks[rank])
            self.assertEqual(code, 3, err)
            said = json.loads((self.folder / f"record.rank{rank}.json").read_text())
            self.assertEqual([line["rank"] for line in said["ranks"]], [rank])
            self.assertEqual(said["ranks"][0]["collective"]["ranks"], [0, 1, 2])
            self.assertIn("rank 1", said["reason"])

    def test_without_a_file_the_flight_record_is_two_lines(self):
        process = self.start(4, 10_000_000)
        self.wait_for(lambda: self.steps() >= 3, process)
        os.kill(cleave.children(process.pid)[2], signal.SIGKILL)
        _, err = self.end_of(process)
        notes = [line for line in err.splitlines() if "last collective: " in line]
        self.assertEqual(len(notes), 2, err)
        self.assertRegex(notes[0], re.compile(r"note: rank 2, in step \d+.* of ranks 0, 1, 2, 3 \(number \d+\)"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
