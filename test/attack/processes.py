"""The processes of a job under attack, and how a case can end."""

import os
import pathlib
import signal
import socket
import subprocess
import time


class Lost(Exception):
    """The product did not survive the attack."""


class Missed(Exception):
    """The attack came too late: the job had ended before."""


class Skipped(Exception):
    """This machine cannot do the attack."""


class Job:
    """A process and all that it starts, which are known by a variable of their environment."""

    def __init__(self, case, command, env, path):
        self.tag = f"CLEAVE_ATTACK={os.getpid()}/{case.name}/{len(case.jobs)}"
        name, value = self.tag.split("=")
        self.env = env
        self.path, self.begin = path, time.monotonic()
        with open(f"{path}.out", "w") as out, open(f"{path}.err", "w") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **env, name: value}, start_new_session=True)
        self.pid = self.process.pid

    @property
    def code(self):
        return self.process.poll()

    def err(self):
        return pathlib.Path(f"{self.path}.err").read_text(errors="replace").strip()[-1500:]

    def out(self):
        return pathlib.Path(f"{self.path}.out").read_text(errors="replace")

    def ranks(self):
        """The process ids of the ranks, in their order: that in which the kernel lists children."""
        try:
            children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:
            return []
        return [int(word) for word in children.split()]

    def starved(self):
        """The most seconds that a process of this job has waited for a processor."""
        waited = [0]
        for pid in self.processes():
            try:
                waited.append(int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]))
            except (OSError, IndexError):
                pass
        return max(waited) / 1e9

    def wait(self, seconds):
        """The exit code. The time in which other processes had the processors does not count."""
        limit = time.monotonic() + seconds - self.starved()
        end = time.monotonic() + seconds
        while True:
            try:
                return self.process.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                end = limit + self.starved()
            if end <= time.monotonic():
                raise Lost(f"goes on for {seconds} s: {self.err()}")

    def processes(self):
        """All living processes of this job."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.tag.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def left(self, seconds=15):
        """The processes that outlive the job."""
        end = time.monotonic() + seconds
        while (found := self.processes()) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def end(self):
        for pid in self.processes():
            signalled(pid, signal.SIGKILL)
        self.process.wait()


def signalled(pid, number):
    """Sends a signal; False if the process is gone."""
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
