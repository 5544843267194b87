"""Jobs that start again by themselves.

  kills    ranks are killed at random moments, 50 times in 2,000 steps (in the short form: 5 times in 400): exit code 0
  stops    a rank is stopped for good, twice: the same
  plans    a rank is killed, and the job goes on with the plan for fewer ranks: exit code 0 and a last checkpoint
  give-up  the ranks are killed again and again before they complete a step: exit code 3, with the number of restarts
In the first two, the final weights are those of an undisturbed run, to the last bit.
"""

import signal
import time

from checks import ends_with, names_rank, says
from jobs import SLACK, TIMEOUT, Setup, weights
from processes import Lost, Missed, signalled

KINDS = ["kills", "stops", "plans", "give-up"]


def cases(arena, count, seed):
    steps, kills = (2000, 50) if count >= 200 else (400, 5)
    setup = "gpt-4-shm" if count >= 200 else "mlp-4-shm"
    found = [f"kills/{setup}-{steps}/{kills}/{seed}", f"stops/mlp-2-shm-3000/2/{seed}"]
    if count >= 200:
        found += [f"kills/mlp-2-gloo-2000/50/{seed}"]
    return found + [f"{kind}/mlp-4-shm-2000/1/{seed + i}" for i in range(count // 50) for kind in KINDS[2:]]


def setup_of(word):
    model, ranks, comm, steps = word.split("-")
    return Setup(model, int(ranks), comm, int(steps))


def run(case, kind, word, times, _number):
    setup, times = setup_of(word), int(times)
    case.tell(f"{kind}, {times} times; {setup}")
    if kind in ("kills", "stops"):
        disturb(case, setup, times, signal.SIGKILL if kind == "kills" else signal.SIGSTOP)
    else:
        {"plans": plans, "give-up": give_up}[kind](case, setup)


def begin(case, setup, restarts, *options):
    return case.train(setup, saves=40, options=["--max-restarts", restarts, *options])


def await_ranks(job, setup, before, done=lambda: True):
    """The ranks of the job when all are new and the condition holds; None if the job has ended."""
    end = time.monotonic() + TIMEOUT * 4 + SLACK
    while job.code is None:
        ranks = job.ranks()
        if len(ranks) == setup.ranks and not set(ranks) & set(before) and done():
            return ranks
        if time.monotonic() > end:
            raise Lost(f"does not start again within {TIMEOUT * 4 + SLACK} s: {job.err()}")
        time.sleep(0.002)
    return None


def disturb(case, setup, times, number):
    """Every attack follows a completed step, so that the job makes progress; they are spread over the run."""
    job, ranks = begin(case, setup, times + 5), []
    for attack in range(times):
        begun = case.logged()
        target = case.rng.random() * setup.steps / times
        fewest = max(1, int(target * 0.8))
        ranks = await_ranks(job, setup, ranks, lambda: case.logged() >= begun + fewest)
        if ranks is None:
            if job.code:
                raise Lost(f"ends with {job.code} after {attack} attacks: {job.err()}")
            raise Missed()
        time.sleep(case.rng.random() * 0.02)
        signalled(case.rng.choice(ranks), number)
    ends_with(job, [0], 600)
    case.tell(job.err().splitlines()[-1])
    case.compare(setup)


def plans(case, setup):
    fewer = Setup(setup.model, setup.ranks // 2, setup.comm, setup.steps)
    one = Setup(setup.model, 1, setup.comm, setup.steps)
    job = begin(case, setup, 3, "--plans", f"{case.arena.plan(fewer)},{case.arena.plan(one, 'dp')}")
    ranks = await_ranks(job, setup, [], lambda: case.logged() > case.rng.randrange(setup.steps // 2))
    if ranks is None:
        raise Missed()
    signalled(case.rng.choice(ranks), signal.SIGKILL)
    ends_with(job, [0], 300)
    if weights(case.saved)[0] != setup.steps:
        raise Lost(f"the last checkpoint is of step {weights(case.saved)[0]}")


def give_up(case, setup):
    """Kills the ranks as soon as they are there."""
    job, ranks, kills = begin(case, setup, 20), [], 0
    while ranks := await_ranks(job, setup, ranks):
        signalled(case.rng.choice(ranks), signal.SIGKILL)
        kills += 1
    case.tell(f"{kills} kills")
    ends_with(job, [3])
    names_rank(job)
    says(job, "restart")


ATTACKS = {"restarts": (cases, run)}
