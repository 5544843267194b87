"""Two hosts, as network namespaces of this machine: links that go down, come back, lose packets, and cut a save short.

Every case is a kind of attack and a number:
  down   the link goes down after some step: all ranks end with exit code 3 and name a rank of the other host
  save   the same while a process writes a file of a checkpoint
  blink  the link goes down for two seconds and comes back: the job goes on
  loss   5 % of all packets are lost (wire.py): the job goes on
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from checks import LIMIT, ends_with, names_rank, said_of
from faults import PAUSE, Fault
from jobs import TIMEOUT, Setup
from processes import Lost, Missed, Skipped

SETUPS = [Setup("mlp", 2, "gloo", 1000), Setup("mlp", 4, "gloo", 100), Setup("gpt", 2, "gloo", 100)]
KINDS = ["down", "blink", "save", "loss"]
WIRE = pathlib.Path(__file__).resolve().parent / "wire.py"
NUMBER = itertools.count()
ADDRESS = "10.213.77.{}"


def cases(arena, count, seed):
    return [f"{KINDS[i % len(KINDS)]}/{seed + i // len(KINDS)}" for i in range(max(2, count // 8))]


def must(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped(f"`{' '.join(map(str, command))}`: {done.stderr.strip()}")


class Hosts:
    """Two network namespaces with one link between them, which loses `loss` percent of the packets."""

    def __init__(self, loss):
        if not shutil.which("ip"):
            raise Skipped("`ip` is not installed")
        number = next(NUMBER)
        self.names, self.loss, self.wire = [f"cleave-{os.getpid()}-{number}-{host}" for host in "ab"], loss, None

    def __enter__(self):
        try:
            for name in self.names:
                must("ip", "netns", "add", name)
            self.connect()
            for at, name in enumerate(self.names):
                must("ip", "-n", name, "addr", "add", f"{ADDRESS.format(at + 1)}/24", "dev", "link0")
                must("ip", "-n", name, "link", "set", "lo", "up")
                must("ip", "-n", name, "link", "set", "link0", "up")
        except Skipped:
            self.__exit__()
            raise
        return self

    def connect(self):
        first, second = self.names
        if not self.loss:
            must("ip", "link", "add", "link0", "netns", first, "type", "veth", "peer", "name", "link0", "netns", second)
            return
        for name in self.names:
            must("ip", "-n", name, "tuntap", "add", "dev", "link0", "mode", "tap")
        command = [sys.executable, WIRE, first, second, str(self.loss), first]
        self.wire = subprocess.Popen(command, stdout=subprocess.PIPE)
        if not self.wire.stdout.readline():
            raise Skipped("no wire between TAP devices")

    def __exit__(self, *_):
        if self.wire:
            self.wire.kill()
            self.wire.wait()
            self.wire.stdout.close()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def enter(self, host):
        """The beginning of a command that runs on a host, under a host name of its own."""
        return ["ip", "netns", "exec", self.names[host], "unshare", "--uts", "sh", "-c",
                f"hostname host{host} && exec \"$@\"", "sh"]

    def link(self, state):
        must("ip", "-n", self.names[0], "link", "set", "link0", state)


def run(case, kind, _number):
    setup = case.rng.choice(SETUPS)
    half = setup.ranks // 2
    case.tell(f"link: {kind}; {setup}")
    with Hosts(5 if kind == "loss" else 0) as hosts:
        fault = Fault(case, case.saved, case.rng.randrange(150), PAUSE) if kind == "save" else None
        env = {"MASTER_ADDR": ADDRESS.format(1), "CLEAVE_COMM": "", "LOCAL_WORLD_SIZE": half}
        env.update(fault.env if fault else {})
        timeout = 30 if kind in ("blink", "loss") else TIMEOUT
        try:
            ranks = case.train_ranks(setup, prefix=lambda rank: hosts.enter(rank // half), env=env, timeout=timeout)
            attack(case, hosts, kind, setup, ranks, fault)
        finally:
            case.close()
    if kind in ("down", "save"):
        case.resume(setup)
    else:
        case.compare(setup)


def attack(case, hosts, kind, setup, ranks, fault):
    half = setup.ranks // 2
    if kind != "loss":
        step = case.rng.randrange(setup.steps * 3 // 4)
        case.tell(f"in {fault.env['FAULT_AT']}th call of a save" if fault else f"after step {step}")
        wait(case, ranks, (lambda: fault.hit()) if fault else (lambda: case.logged() > step))
        hosts.link("down")
    if kind == "blink":
        time.sleep(2)
        hosts.link("up")
    for rank in ranks:
        if kind in ("blink", "loss"):
            ends_with(rank, [0], limit=LIMIT + 120)
        else:
            ends_with(rank, [3])
            names_rank(rank)
    if kind in ("down", "save"):
        for host in range(2):
            names_other_host([said_of(rank) for rank in ranks[host * half : (host + 1) * half]], host, half)


def names_other_host(messages, host, half):
    """At least one of a host's ranks says that it is a rank of the other host which does not answer."""
    others = range((1 - host) * half, (2 - host) * half)
    if not any(re.search(rf"\brank {rank}\b", text) for text in messages for rank in others):
        raise Lost(f"host {host} does not name a rank of the other host: {messages}")


def wait(case, ranks, condition):
    """Until the condition holds; Missed if the job ends before."""
    end = time.monotonic() + LIMIT
    while not condition():
        if any(rank.code for rank in ranks):
            raise Lost(f"ends before the attack: {[rank.err() for rank in ranks]}")
        if any(rank.code is not None for rank in ranks) or time.monotonic() > end:
            raise Missed()
        time.sleep(0.002)


ATTACKS = {"net": (cases, run)}
