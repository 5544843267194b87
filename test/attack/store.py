"""Hostile clients of the store in which the ranks of a job meet.

Every case is a behaviour and a number. The clients come while the job's other ranks are still missing, or while it
trains; in either case the job has to end well, with the result of an undisturbed run, and no file may change.
"""

import pathlib
import socket
import struct
import threading
import time

from checks import LIMIT, ends_with
from jobs import Setup
from processes import Lost, Missed

SETUPS = [Setup("mlp", 2, "shm", 3000), Setup("mlp", 4, "shm", 1500), Setup("gpt", 2, "shm", 800),
          Setup("mlp", 2, "gloo", 600)]
MEMORY = 512 << 20  # bytes that rank 0 may need at most
KEYS = ["shm/alive", "shm/group/0/1#{}", "shm/group/0/1/2/3#{}", "gloo/0", "gloo/1", "mixed/0"]


def text(word):
    return struct.pack("<I", len(word)) + word


def set_request(key, value):
    """A request of the protocol without authentication that older versions had."""
    return b"S" + text(key.encode()) + text(value)


class Clients:
    """Connections to one port, which stay open until the end."""

    def __init__(self, port, rng, target):
        self.port, self.rng, self.target, self.sockets = port, rng, target, []
        self.stops = threading.Event()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        client.settimeout(2)
        self.sockets.append(client)
        return client

    def send(self, client, data):
        try:
            client.sendall(data)
        except OSError:
            pass  # refused, or nobody reads

    def garbage(self):
        for _ in range(20):
            self.send(self.connect(), self.rng.randbytes(self.rng.randrange(1, 65536)))

    def lengths(self):
        for length in (0xFFFFFFFF, 0x7FFFFFFF, 1 << 30):
            client = self.connect()
            self.send(client, b"S" + text(b"key") + struct.pack("<I", length))
            for _ in range(64):
                self.send(client, bytes(1 << 20))
            self.send(self.connect(), struct.pack("<I", length) + bytes(1 << 20))

    def silent(self):
        for _ in range(30):
            self.connect()

    def deaf(self):
        client = self.connect()
        self.send(client, set_request("big", bytes(1 << 20)))
        for _ in range(200):
            self.send(client, b"G" + text(b"big"))

    def crowd(self):
        for _ in range(500):
            self.connect()

    def hasty(self):
        for _ in range(300):
            client = self.connect()
            self.send(client, self.rng.randbytes(8))
            client.close()

    def drip(self):
        client = self.connect()
        for byte in set_request("key", bytes(200)):
            self.send(client, bytes([byte]))
            if self.stops.wait(0.05):
                return

    def ticket(self):
        """Asks ranks to map a file as if it were shared memory of the job."""
        client, end = self.connect(), time.monotonic() + 5
        while time.monotonic() < end and not self.stops.wait(0.002):
            for key in KEYS:
                for number in range(4):
                    self.send(client, set_request(key.format(number), f"self/../../../{self.target}".encode()))

    def close(self):
        self.stops.set()
        for client in self.sockets:
            client.close()


PRECIOUS = b"precious" * (1 << 20)  # large enough to be mapped as shared memory of a group
KINDS = ["ticket", "deaf", "lengths", "crowd", "garbage", "silent", "hasty", "drip"]


def cases(arena, count, seed):
    return [f"{KINDS[i % len(KINDS)]}/{seed + i // len(KINDS)}" for i in range(max(4, count // 5))]


def wait(job, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if job.code is not None or time.monotonic() > end:
            raise Missed() if job.code == 0 else Lost(f"ends before the attack: {job.err()}")
        time.sleep(0.002)


def serves(port):
    """Whether somebody listens at the port; needs no connection."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[1].endswith(f":{port:04X}"):
                return True
    return False


def largest_memory(pid):
    """Bytes that a process has needed until now at most; 0 if it has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def run(case, kind, _number):
    setup, joins = case.rng.choice(SETUPS), case.rng.random() < 0.5
    target = case.folder / "target"
    target.write_bytes(PRECIOUS)
    case.tell(f"{kind} clients, {'before the other ranks join' if joins else 'in the training'}; {setup}")
    env = {"CLEAVE_JOB_SECRET": f"{case.name} {case.rng.random()}"}
    ranks = case.train_ranks(setup, last=1 if joins else setup.ranks, env=env, timeout=30)
    port = int(case.environment["MASTER_PORT"])
    clients = Clients(port, case.rng, target)
    attack = threading.Thread(target=lambda: quietly(getattr(clients, kind)))
    try:
        wait(ranks[0], (lambda: serves(port)) if joins else case.logged)
        attack.start()
        attack.join(0.3 if joins else 10)
        memory = largest_memory(ranks[0].pid)
        if joins:
            ranks += [case.start_rank(setup, rank, timeout=30) for rank in range(1, setup.ranks)]
        for rank in ranks:
            ends_with(rank, [0], LIMIT + 60)
    finally:
        clients.close()
        if target.read_bytes() != PRECIOUS:  # the worst, whatever else happened
            raise Lost("a client has changed a file through the store")
    if not clients.sockets:
        raise Missed()
    if memory > MEMORY:
        raise Lost(f"rank 0 needed {memory >> 20} MiB")
    case.compare(setup)


def quietly(function):
    """Ends when the store refuses to be attacked."""
    try:
        function()
    except OSError:
        pass


ATTACKS = {"store": (cases, run)}
