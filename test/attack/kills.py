"""Kills and stops of ranks and launchers at random and aimed moments.

A case has a number, which decides everything: model, ranks, communication, whether cleave-run or an outer launcher
starts the ranks, the victim, the signal and the moment:
  random  any time of the run
  load    when a process opens the model or the data
  step    after a step that the log shows
  save    when a process creates, writes, flushes or renames a file of a checkpoint
  end     the same for the last calls of the run
"""

import re
import signal
import time

import cleave
from checks import LIMIT, ends_with, names_rank, said_of, says
from faults import COUNT, Fault
from jobs import SETUPS, TIMEOUT, Case
from processes import Lost, Missed, signalled

MOMENTS = ["random", "load", "step", "save", "end"]
SHORT = 20  # steps of a run that is struck at a call, which needs no luck
GONE, BACK = "for good", "for a second"


def numbers(share):
    """Cases for a share of the campaign."""
    return lambda arena, count, seed: [str(seed + i) for i in range(round(count * share))]


class Attack:
    """One case. `sent` and `how_long` are set by the kind of attack."""

    def __init__(self, case):
        self.case, rng = case, case.rng
        self.setup = rng.choice(SETUPS)
        self.moment = rng.choice(MOMENTS)
        self.outer = self.setup.ranks > 1 and rng.random() < 0.25  # an outer launcher starts the ranks
        self.victim = rng.randrange(self.setup.ranks)
        if not self.outer:
            self.victim = rng.choices([self.victim, "launcher", "all ranks"], [6, 3, 1])[0]
        self.at_call = self.moment in ("load", "save", "end")
        self.steps = SHORT if self.at_call else self.setup.steps
        self.kind = "open" if self.moment == "load" else "write"
        self.under = cleave.ROOT / "test" if self.moment == "load" else case.saved
        self.pids = []

    def calls(self):
        """The names of the calls of an undisturbed run at which it can be struck."""
        def run():
            case = Case(self.case.arena, f"calls/{self.setup.model}-{self.setup.ranks}-{self.setup.comm}-{self.kind}")
            fault = Fault(case, cleave.ROOT / "test" if self.kind == "open" else case.saved, 0, COUNT, self.kind)
            case.train(self.setup, env=fault.env, steps=SHORT, saves=4).wait(300)
            return fault.calls()
        return self.case.arena.once(("calls", self.setup, self.kind), run)

    def start(self):
        case, env, self.fault = self.case, {}, None
        if self.moment == "random":  # measured before the attack
            self.seconds = case.arena.undisturbed(self.setup, self.setup.steps, 0)[1]
        if self.at_call:
            calls = self.calls()
            kind = case.rng.choice(sorted(set(calls)))  # or nearly all would be writes
            last = range(len(calls) - 6, len(calls))
            at = case.rng.choice(last if self.moment == "end" else [i for i, call in enumerate(calls) if call == kind])
            self.fault = Fault(case, self.under, at, int(self.sent), self.kind)
            env = self.fault.env
            case.tell(f"at call {at} of {len(calls)}")
        how = {"steps": self.steps, "saves": 4 if self.at_call else 10}
        if self.outer:
            self.jobs = case.train_ranks(self.setup, env=env, **how)
            self.pids = [job.pid for job in self.jobs]
        else:
            self.jobs = [case.train(self.setup, env=env, **how)]

    def lives(self):
        return all(job.code is None for job in self.jobs)

    def watch(self, condition):
        """Waits until the condition gives something, noting the ranks' processes; Missed if the job is done before."""
        while True:
            if not self.outer and len(self.pids) < self.setup.ranks:
                self.pids = self.jobs[0].ranks()
            lives = self.lives()  # asked before the condition, which may have become true at the end
            if found := condition():
                return found
            if not lives and any(job.code for job in self.jobs):
                raise Lost(f"ends before the attack: {[job.err() for job in self.jobs]}")
            if not lives:
                raise Missed()
            time.sleep(0.002)

    def strike(self):
        """Sends the signal, or waits until the fault has; sets the victim."""
        if self.at_call:
            pid, call, path = self.watch(self.fault.hit)
            self.case.tell(f"{call} {path}")
            self.victim = self.pids.index(pid) if pid in self.pids else None if pid != self.jobs[0].pid else "launcher"
            self.struck = [pid]
        else:
            self.struck = self.watch(self.moment_comes())
            if not all([signalled(pid, self.sent) for pid in self.struck]):
                raise Missed()

    def moment_comes(self):
        """A function that gives the victim's processes when the moment has come."""
        rng, begin = self.case.rng, time.monotonic()
        after = rng.random() * self.seconds if self.moment == "random" else 0
        step = rng.randrange(self.setup.steps) if self.moment == "step" else -1
        self.case.tell(f"after {after:.2f} s" if self.moment == "random" else f"after step {step}")

        def comes():
            if time.monotonic() - begin < after or (step >= 0 and self.case.logged() <= step):
                return None
            if self.victim == "launcher":
                return [self.jobs[0].pid]
            if len(self.pids) < self.setup.ranks:
                return None
            return self.pids if self.victim == "all ranks" else [self.pids[self.victim]]
        return comes

    def late(self):
        """Whether the processes that were not struck ended well: Missed if nothing is wrong with the result."""
        others = [job for job in self.jobs if job.pid not in self.struck or self.victim == "launcher"]
        if all(job.wait(LIMIT) == 0 for job in others):
            self.case.compare(self.setup, self.steps)
            raise Missed()

    def check_death(self):
        """Exit codes, messages, no process left, no damage."""
        struck = [job for job in self.jobs if job.pid in self.struck]
        rank = self.victim if isinstance(self.victim, int) else None
        if self.victim == "launcher" and self.sent == signal.SIGKILL:
            ends_with(self.jobs[0], [-signal.SIGKILL])
        elif self.victim == "launcher":
            ends_with(self.jobs[0], [128 + self.sent])
            says(self.jobs[0], f"ended by signal {int(self.sent)}")
        else:
            others = [job for job in self.jobs if job not in struck]
            for job in others:
                ends_with(job, [3])
                names_rank(job, rank if len(others) == 1 else None)
            # Of several ranks on their own, some learn that the victim is gone, and then leave the rest.
            if rank is not None and not any(re.search(rf"\brank {rank}\b", said_of(job)) for job in others):
                raise Lost(f"no message names rank {rank}: {[job.err() for job in others]}")
        for job in struck:
            job.end()
        self.case.resume(self.setup, self.steps)


def describe(attack, what):
    who = f"rank {attack.victim}" if isinstance(attack.victim, int) else attack.victim
    who = "whoever comes there" if attack.at_call else who
    attack.case.tell(f"{what} {who} ({attack.moment}); {attack.setup}, {'outer' if attack.outer else 'own'} launcher")


def kill(case, _number):
    attack = Attack(case)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    launcher_only = attack.victim == "launcher" and not attack.at_call
    attack.sent = case.rng.choice(signals) if launcher_only else signal.SIGKILL
    describe(attack, attack.sent.name)
    attack.start()
    attack.strike()
    attack.late()
    attack.check_death()


def stop(case, _number):
    attack = Attack(case)
    attack.sent = signal.SIGSTOP
    length = BACK if attack.victim == "launcher" or case.rng.random() < 0.25 else GONE
    describe(attack, f"SIGSTOP {length}")
    attack.start()
    attack.strike()
    if attack.victim == "launcher" or length == BACK:
        time.sleep(TIMEOUT / 4)
        for pid in attack.struck:
            signalled(pid, signal.SIGCONT)
        for job in attack.jobs:
            ends_with(job, [0])
        case.compare(attack.setup, attack.steps)
        return
    attack.late()
    attack.check_death()


ATTACKS = {"kills": (numbers(0.6), kill), "stops": (numbers(0.4), stop)}
