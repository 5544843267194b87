"""Plans with one changed field and a right checksum, by test/fuzz/mutants: refused, or run to an end.

A case is a block of mutants of every plan there; the table counts mutants. A lost case is repeated with
`test/fuzz/mutants/run.py --first N`.
"""

import re

import cleave
from processes import Lost, Skipped

BLOCK = 10  # mutants of each plan
SCRIPT = cleave.ROOT / "test/fuzz/mutants/run.py"


def cases(arena, count, seed):
    return [str((seed + i) * BLOCK) for i in range(max(1, count // 8))]


def run(case, first):
    program = cleave.BIN.parent / "test/fuzz/plan-mutants"
    if not program.exists() or not SCRIPT.exists():
        raise Skipped(f"{program} is not built")
    command = ["python3", "-B", SCRIPT, "--program", program, "--plans", case.arena.folder / "mutants"]
    case.arena.once("mutants", lambda: case.start([*command, "--count", 1], name="plans").wait(3600))
    job = case.start([*command, "--count", BLOCK, "--first", first])
    code, said = job.wait(3600), job.out()
    case.weight = sum(int(number) for number in re.findall(r"of (\d+) mutants", said))
    harmful = re.findall(r"^\d+: .*", said, re.M)
    case.tell(f"{case.weight} mutants from {first}")
    if harmful:
        case.losses = len(harmful)
        raise Lost("\n".join(harmful))
    # A block in which none is refused, or none runs, is bad luck of a small number.
    if job.left() or case.weight == 0 or job.err():
        raise Lost(f"the script ends with {code}: {job.err()}")


ATTACKS = {"mutants": (cases, run)}
