"""Ranks that another launcher has started: they join by its environment, and give the losses of a local launch."""

import json
import os
import signal
import socket
import subprocess
import time
import unittest

import cleave
import fixture

STEPS = 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def torchrun(rank, size, port):
    return {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def open_mpi(rank, size, port):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size, "OMPI_COMM_WORLD_LOCAL_RANK": rank,
            "OMPI_COMM_WORLD_LOCAL_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def slurm(rank, size, port):
    return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": size, "SLURM_LOCALID": rank, "SLURM_JOB_ID": 4711,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


class Launchers(fixture.InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = cls.folder / "mlp.plan"
        cleave.compile_model(cleave.MLP["model"], cls.plan, "--pin", "dp", ranks=2)
        cls.wanted, _ = cleave.train(cls.plan, cleave.MLP["data"], STEPS, cls.folder / "local.jsonl")

    def start(self, launcher, log, steps, **more):
        """The processes of two ranks."""
        port, ranks = free_port(), []
        log.unlink(missing_ok=True)
        command = [cleave.BIN / "cleave-run", self.plan, "--data", cleave.MLP["data"], "--steps", steps]
        command = [str(word) for word in [*command, "--threads", 1, "--log", log]]
        for rank in range(2):
            variables = {name: str(value) for name, value in launcher(rank, 2, port).items()}
            ranks.append(subprocess.Popen(command, env={**os.environ, **variables, **more},
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        return ranks

    def check(self, launcher, **more):
        log = self.folder / "joined.jsonl"
        ranks = self.start(launcher, log, STEPS, **more)
        try:
            said = [process.communicate(timeout=600)[1] for process in ranks]
        finally:
            for process in ranks:
                process.kill()
                process.wait()
                process.stderr.close()
        self.assertEqual([process.returncode for process in ranks], [0, 0], said)
        steps, lines = cleave.read_log(log)
        self.assertEqual(cleave.losses(steps), cleave.losses(self.wanted))
        self.assertEqual([line["rank"] for line in lines], [0, 1])

    def test_torchrun_is_told_why_a_rank_failed(self):
        error = self.folder / "refused.json"
        variables = {name: str(value) for name, value in torchrun(0, 1, free_port()).items()}
        answer = cleave.tool("cleave-run", self.plan, "--data", cleave.MLP["data"], "--steps", 1,
                             env={**variables, "TORCHELASTIC_ERROR_FILE": str(error)})
        self.assertEqual(answer.code, 1, answer)
        told = json.loads(error.read_text())["message"]
        self.assertIn("the plan is for 2 ranks", told["message"])
        self.assertIn(told["message"], answer.err)
        self.assertLess(int(told["extraInfo"]["timestamp"]), time.time() + 1)

    def test_a_rank_that_lost_another_one_is_not_the_root_cause(self):
        """torchrun gives a killed rank the time at which it notices, and takes the earliest failure."""
        error, log = self.folder / "lost.json", self.folder / "lost.jsonl"
        ranks = self.start(torchrun, log, 10_000_000, TORCHELASTIC_ERROR_FILE=str(error))
        for process in ranks:
            self.addCleanup(lambda process=process: (process.kill(), process.wait(), process.stderr.close()))
        end = time.monotonic() + 600
        while time.monotonic() < end and not (log.exists() and log.read_text().count("\n") >= 3):
            time.sleep(0.05)
        ranks[1].kill()
        ranks[0].communicate(timeout=600)
        told = json.loads(error.read_text())["message"]
        self.assertGreater(int(told["extraInfo"]["timestamp"]), time.time() + 1)

    def test_a_signal_to_one_rank_ends_all_behind_the_same_step(self):
        log = self.folder / "ended.jsonl"
        ranks = self.start(torchrun, log, 10_000_000)
        for process in ranks:
            self.addCleanup(lambda process=process: (process.kill(), process.wait(), process.stderr.close()))
        end = time.monotonic() + 600
        while time.monotonic() < end and not (log.exists() and log.read_text().count("\n") >= 3):
            time.sleep(0.05)
        ranks[1].send_signal(signal.SIGTERM)
        said = [process.communicate(timeout=600)[1] for process in ranks]
        self.assertEqual([process.returncode for process in ranks], [128 + signal.SIGTERM] * 2, said)
        self.assertEqual([line["rank"] for line in cleave.read_log(log)[1]], [0, 1])

    def test_torchrun(self):
        self.check(torchrun)

    def test_torchrun_over_tcp(self):
        self.check(torchrun, CLEAVE_COMM="gloo")

    def test_mpirun(self):
        self.check(open_mpi)

    def test_slurm(self):
        self.check(slurm)


if __name__ == "__main__":
    unittest.main(verbosity=2)
