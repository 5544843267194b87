"""Jobs under attack, and the plans and undisturbed results that they are compared with."""

import collections
import json
import pathlib
import random
import re
import shutil
import threading
import time

import cleave
from processes import Job, Lost, free_port

TIMEOUT = 4  # seconds given as --timeout
SLACK = 40   # seconds that a crowded machine may add to every limit


class Setup:
    """A model on a number of ranks, and how they communicate. Takes about a second for `steps` steps."""

    def __init__(self, model, ranks, comm, steps):
        self.model, self.ranks, self.comm, self.steps = model, ranks, comm, steps
        self.source = {"mlp": cleave.MLP, "gpt": cleave.GPT}[model]
        self.data = self.source["data"]

    def __str__(self):
        return f"{self.model} on {self.ranks} ranks over {self.comm}, {self.steps} steps"


SETUPS = [Setup("mlp", 1, "shm", 3000), Setup("mlp", 2, "shm", 2000), Setup("mlp", 4, "shm", 1000),
          Setup("gpt", 2, "shm", 500), Setup("gpt", 4, "shm", 200), Setup("mlp", 2, "gloo", 400),
          Setup("mlp", 4, "gloo", 60), Setup("gpt", 2, "gloo", 40)]


class Arena:
    """The folder of a campaign: plans and undisturbed weights, each made once."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._made, self._locks = {}, collections.defaultdict(threading.RLock)

    def once(self, key, make):
        """What `make` returns, which is called the first time. Other keys need not wait for it."""
        with self._locks[key]:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    def plan(self, setup, pin="zero3"):
        def make():
            path = self.folder / f"{setup.model}-{setup.ranks}-{pin}.plan"
            cleave.compile_model(setup.source["model"], path, "--pin", pin, ranks=setup.ranks)
            return path
        return self.once(("plan", setup.model, setup.ranks, pin), make)

    def undisturbed(self, setup, steps, seed):
        """(weights, seconds) of a run without an attack."""
        def make():
            case = Case(self, f"undisturbed/{setup.model}-{setup.ranks}-{setup.comm}-{steps}-{seed}")
            begin = time.monotonic()
            job = case.train(setup, steps=steps, options=["--seed", seed])
            if job.wait(600) != 0:
                raise Lost(f"a run without an attack ends with {job.code}: {job.err()}")
            return weights(case.saved), time.monotonic() - begin
        return self.once(("undisturbed", setup.model, setup.ranks, setup.comm, steps, seed), make)

    def wanted(self, setup, steps=None, seed=0):
        """The weights of an undisturbed run; those of shared memory, which is fast: Gloo gives the same bits."""
        return self.undisturbed(Setup(setup.model, setup.ranks, "shm", 0), steps or setup.steps, seed)[0]


def steps_in(folder):
    """The complete checkpoints below a folder, oldest first."""
    found = [path.parent for path in pathlib.Path(folder).rglob("index.json")]
    shown = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    return sorted(shown, key=lambda path: int(re.sub(r"\D", "", path.name) or -1))


def weights(folder):
    """The bytes of all tensors of the newest checkpoint: (step, {(file, tensor): bytes})."""
    steps = steps_in(folder)
    if not steps:
        raise Lost(f"no checkpoint in {folder}")
    found = {}
    for path in sorted(steps[-1].glob("*.safetensors")):
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                found[path.name, name] = data[8 + length + begin : 8 + length + end]
    return int(re.sub(r"\D", "", steps[-1].name)), found


class Case:
    """One attack with all its parameters: the name, as in `kills/17`, from which `rng` derives the rest."""

    def __init__(self, arena, name, attempt=0):
        self.arena, self.name, self.rng = arena, name, random.Random(f"{name}/{attempt}")
        self.root = arena.folder / f"{name.replace('/', '-')}.{attempt}"
        self.folder = self.root / "files"  # what jobs write, apart from their output
        shutil.rmtree(self.root, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.saved, self.log = self.folder / "saved", self.folder / "log.jsonl"
        self.begin = time.monotonic()
        self.story, self.jobs = [], []  # what was done, in words; everything that was started
        self.weight = self.losses = 1   # how much the case counts in the table, and how much of it if it is lost

    def tell(self, text):
        self.story.append(text)

    def logged(self):
        """Lines of the log until now."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def start(self, command, env=None, name="job"):
        job = Job(self, [str(word) for word in command], env or {}, self.root / name)
        self.jobs.append(job)
        return job

    def command(self, setup, steps=None, options=(), plan=None, data=None, saves=10, timeout=TIMEOUT):
        steps = steps or setup.steps
        return [cleave.BIN / "cleave-run", plan or self.arena.plan(setup), "--data", data or setup.data, "--threads", 1,
                "--steps", steps, "--save", self.saved, "--save-every", max(1, steps // saves), "--log", self.log,
                "--timeout", timeout, *options]

    def train(self, setup, env=None, name="job", **how):
        """Starts a training on this machine."""
        return self.start(self.command(setup, **how), {"CLEAVE_COMM": setup.comm, **(env or {})}, name)

    def train_ranks(self, setup, last=None, prefix=lambda rank: [], env=None, **how):
        """Starts the ranks up to `last` one by one, as torchrun does; returns one job per rank."""
        shared = {"WORLD_SIZE": setup.ranks, "LOCAL_WORLD_SIZE": setup.ranks, "MASTER_ADDR": "127.0.0.1",
                  "MASTER_PORT": free_port(), "CLEAVE_COMM": setup.comm, "TORCHELASTIC_RUN_ID": self.name,
                  **(env or {})}
        self.environment = {name: str(value) for name, value in shared.items()}
        return [self.start_rank(setup, rank, prefix(rank), **how) for rank in range(last or setup.ranks)]

    def start_rank(self, setup, rank, prefix=(), env=None, **how):
        env = {**self.environment, "RANK": str(rank), "LOCAL_RANK": str(rank), **(env or {})}
        return self.start([*prefix, *self.command(setup, **how)], env, f"rank-{rank}")

    def resume(self, setup, steps=None, options=()):
        """Goes on undisturbed from the newest checkpoint; Lost unless the final weights are those of an undisturbed
        run, to the last bit."""
        again = ["--resume", self.saved] if steps_in(self.saved) else []
        self.log.unlink(missing_ok=True)
        job = self.train(setup, name="resumed", steps=steps, options=[*again, *options])
        if job.wait(300) != 0:
            raise Lost(f"does not resume: {job.code} {job.err()}")
        self.compare(setup, steps)

    def compare(self, setup, steps=None, seed=0):
        if weights(self.saved) != self.arena.wanted(setup, steps, seed):
            raise Lost("the final weights are not those of an undisturbed run")

    def close(self):
        for job in self.jobs:
            job.end()
