"""Many cases on several processes: draws, checks, shrinks, and sums up."""

import collections
import multiprocessing
import multiprocessing.connection
import pathlib
import signal
import sys
import tempfile
import time

import drawing
import forms
import torch
from check import Outcome, check
from shrink import Shrinker

CHUNK = 50  # cases of one process, which then ends
ALIKE = 2  # how many that fail alike a process shrinks
BAD = ("difference", "crash")


def drawn_case(seed, options):
    return with_form(drawing.draw(seed, options.forms, options.skip, options.families))


def with_form(case):
    """The case in a format that can hold it."""
    if case.features() & forms.LACKS[case.run["form"]]:
        case.run["form"] = "strict" if case.seed % 4 == 0 and "checkpoint" not in case.features() else "pt2"
    return case


def check_case(case, options):
    with tempfile.TemporaryDirectory(prefix="cleave-modules-") as name:
        folder = pathlib.Path(name)
        path = folder / f"case{case.seed}.py"
        path.write_text(case.text())
        return check(path, options.bin, folder)


def run_seed(seed, options, seen):
    """(outcome, the text of the case if it is kept, how large the case was and became)."""
    begin = time.time()
    try:
        case = drawn_case(seed, options)
    except Exception as error:
        return Outcome("unusable", f"not drawn: {type(error).__name__}: {str(error)[:80]}"), None
    drawn = time.time() - begin
    outcome = check_case(case, options)
    outcome.seconds["draw"] = drawn
    wanted = outcome.kind in BAD or (outcome.kind == "refused" and options.refusals)
    if not wanted:
        return outcome, None
    seen[outcome.what] += 1
    if seen[outcome.what] > ALIKE:
        return outcome, case.text()
    shrunk = Shrinker(lambda c: alike(check_case(with_form(c), options), outcome), options.shrinks).shrink(case)
    if shrunk is not case:
        outcome.detail = check_case(shrunk, options).detail
    return outcome, shrunk.text()


def alike(found, wanted):
    return found.kind == wanted.kind and found.what == wanted.what


def work(seeds, options, pipe):
    """One process: sends (seed, outcome, text) for each seed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that folders are removed, and tools ended
    torch.set_num_threads(1)
    seen = collections.Counter()
    for seed in seeds:
        pipe.send((seed, None, None))
        try:
            pipe.send((seed, *run_seed(seed, options, seen)))
        except Exception as error:  # a defect of the generator
            import traceback

            pipe.send((seed, Outcome("unusable", f"generator: {type(error).__name__}: {error}", traceback.format_exc()), None))
    pipe.close()


class Summary:
    def __init__(self, options):
        self.options, self.begin = options, time.time()
        self.kinds, self.forms, self.messages = collections.Counter(), collections.Counter(), collections.defaultdict(list)
        self.seconds = collections.Counter()

    def add(self, seed, outcome, text):
        self.kinds[outcome.kind] += 1
        self.seconds.update(outcome.seconds)
        if outcome.kind not in ("ok",):
            self.messages[outcome.kind, outcome.what].append(seed)
        if outcome.kind in BAD or text:
            self.show(seed, outcome, text)

    def show(self, seed, outcome, text):
        print(f"seed {seed} after {time.time() - self.begin:.0f} s: {outcome.kind}: {outcome.what}\n    {outcome.detail}", flush=True)
        if text:
            self.options.out.mkdir(parents=True, exist_ok=True)
            comment = "".join(f"# {line}\n" for line in f"{outcome.kind}: {outcome.what}\n{outcome.detail}".splitlines())
            (self.options.out / f"case{seed}.py").write_text(text + "\n" + comment)

    def close(self):
        passed = time.time() - self.begin
        total = sum(self.kinds.values())
        for (kind, what), seeds in sorted(self.messages.items(), key=lambda item: (item[0][0], -len(item[1]))):
            if kind in self.options.shown:
                print(f"{kind:12} {len(seeds):5}  {what}  (seeds {', '.join(map(str, seeds[:3]))})")
        print(f"{total} cases in {passed:.0f} s, {total / passed * 60:.0f} a minute:", ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common()))
        print("seconds:", ", ".join(f"{name} {value:.0f}" for name, value in self.seconds.most_common()))
        return 1 if any(self.kinds[kind] for kind in BAD) else 0


def campaign(options):
    """Checks the seeds on --jobs processes; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes, too
    summary, jobs = Summary(options), {}
    context = multiprocessing.get_context("fork")
    chunks = iter(range(options.first, options.first + options.cases, CHUNK))

    def start(seeds):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(seeds, options, theirs), daemon=True)
        process.start()
        theirs.close()
        jobs[ours] = (process, list(seeds))

    def next_chunk():
        if options.seconds and time.time() - summary.begin > options.seconds:
            return
        first = next(chunks, None)
        if first is not None:
            start(range(first, min(first + CHUNK, options.first + options.cases)))

    for _ in range(options.jobs):
        next_chunk()
    try:
        while jobs and not (options.seconds and time.time() - summary.begin > options.seconds):
            for pipe in multiprocessing.connection.wait(list(jobs), timeout=1):
                receive(pipe, jobs, summary, start, next_chunk)
    finally:
        for process, _ in jobs.values():
            process.terminate()
        code = summary.close()
    return code


def receive(pipe, jobs, summary, start, next_chunk):
    """Takes one message; a process that ended in the middle of a case crashed in PyTorch."""
    process, seeds = jobs[pipe]
    try:
        seed, outcome, text = pipe.recv()
        if outcome is not None:
            seeds.remove(seed)
            summary.add(seed, outcome, text)
    except EOFError:
        del jobs[pipe]
        process.join()
        if process.exitcode and seeds:
            summary.add(seeds[0], Outcome("unusable", "PyTorch crashes"), None)
            if len(seeds) > 1:
                start(seeds[1:])
                return
        next_chunk()
