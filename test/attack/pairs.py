"""Two jobs, or ranks of one job, that do not belong together.

  folder    two jobs save into one folder: one of them is refused, the other has the result of an undisturbed run
  stranger  a rank of another job comes to the store first: it is refused, and the job goes on
  twin      two processes are the same rank: never a wrong result
  seed, plan, steps, data, resume
            rank 1 was started with something else: all ranks refuse to train, and say what differs
"""

import shutil
import time

import cleave
from checks import LIMIT, ends_with, says
from jobs import Setup
from processes import Lost

SETUPS = [Setup("mlp", 2, "shm", 1000), Setup("mlp", 2, "gloo", 300)]
KINDS = ["folder", "stranger", "plan", "resume", "twin", "seed", "steps", "data"]


def cases(arena, count, seed):
    return [f"{KINDS[i % len(KINDS)]}/{seed + i // len(KINDS)}" for i in range(max(4, count // 8))]


def run(case, kind, _number):
    setup = case.rng.choice(SETUPS)
    case.tell(f"{kind}; {setup}")
    {"folder": folder, "stranger": stranger, "twin": twin}.get(kind, lambda *_: differ(case, setup, kind))(case, setup)


def folder(case, setup):
    """The second job, with another seed, starts at any time of the first."""
    first = case.train(setup, name="first")
    time.sleep(case.rng.random() * 0.5)
    second = case.train(setup, name="second", options=["--seed", 7])
    codes = [ends_with(job, [0, 1]) for job in (first, second)]
    if sorted(codes) != [0, 1]:
        raise Lost(f"the jobs end with {codes}: {first.err()} {second.err()}")
    says([first, second][codes.index(1)], str(case.saved))
    case.compare(setup, seed=0 if codes[0] == 0 else 7)


def stranger(case, setup):
    ranks = case.train_ranks(setup, last=1, timeout=20)
    time.sleep(0.3 * case.rng.random())
    env = {**case.environment, "RANK": "1", "LOCAL_RANK": "1", "TORCHELASTIC_RUN_ID": "another"}
    other = case.start(case.command(setup, options=["--seed", 7]), env, "stranger")
    time.sleep(0.3 * case.rng.random())
    ranks.append(case.start_rank(setup, 1, timeout=20))
    for rank in ranks:
        ends_with(rank, [0])
    ends_with(other, [1, 3])
    case.compare(setup)


def twin(case, setup):
    ranks = case.train_ranks(setup, timeout=20)
    time.sleep(0.2 * case.rng.random())
    twin = case.start(case.command(setup), {**case.environment, "RANK": "1", "LOCAL_RANK": "1"}, "twin")
    codes = [ends_with(job, [0, 1, 3], LIMIT + 20) for job in [*ranks, twin]]
    if codes[0] == 0 and 0 in codes[1:]:
        case.compare(setup)
    elif codes.count(0):
        raise Lost(f"rank 0, rank 1 and its twin end with {codes}")


def differ(case, setup, kind):
    options, how = [], {}
    if kind == "seed":
        options = ["--seed", 7]
    elif kind == "steps":
        how["steps"] = setup.steps + 1
    elif kind == "plan":
        how["plan"] = case.arena.plan(setup, "dp")
    elif kind == "data":
        how["data"] = case.folder / "other.npz"
        arrays = cleave.read_npz(setup.data)
        shutil.copy(setup.data, how["data"])
        case.tell(f"arrays {sorted(arrays)}")
        change(how["data"])
    else:
        case.train(setup, steps=10).wait(LIMIT)
        options = ["--resume", case.saved]
    ranks = case.train_ranks(setup, last=1)
    ranks.append(case.start_rank(setup, 1, options=options, **how))
    for rank in ranks:
        ends_with(rank, [1, 3])
    if not any("rank 1" in rank.err() for rank in ranks):
        raise Lost(f"no rank says that rank 1 differs: {[rank.err() for rank in ranks]}")


def change(path):
    """Other numbers of the same shapes: one bit of the file's first array."""
    data = bytearray(path.read_bytes())
    data[data.index(b"\n", data.index(b"NUMPY")) + 40] ^= 1
    path.write_bytes(data)


ATTACKS = {"pairs": (cases, run)}
