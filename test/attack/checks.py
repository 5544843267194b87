"""What a job that was attacked owes to its user; each check raises Lost."""

import re

import cleave
from jobs import SLACK, TIMEOUT
from processes import Lost

GRACE = 5  # seconds in which the launcher waits for the reports of other ranks
LIMIT = TIMEOUT + GRACE + SLACK
PLACE = (r"step \d+|(before|after) its (first|last) step|load|join|read|open|sav|checkpoint|connect|waiting for|finish|"
         r"rendezvous|reach")


def ends_with(job, codes, limit=LIMIT):
    """The job ends in time, with one of these exit codes and no process left."""
    code = job.wait(limit)
    left = job.left()
    if left:
        raise Lost(f"{len(left)} processes outlive the job, which ended with {code}")
    if code not in codes:
        raise Lost(f"ends with {code} instead of {' or '.join(map(str, codes))}: {job.err()}")
    return code


def said_of(job):
    """The one message of a job, without the name that a rank on its own gives itself."""
    said = cleave.errors(job.err())
    if len(said) != 1:
        raise Lost(f"{len(said)} messages instead of one: {job.err()}")
    return re.sub(r"^cleave-run: error: rank \d+: ", "", said[0]) if "RANK" in job.env else said[0]


def names_rank(job, rank=None):
    """One message, which names the rank (or any) and its place."""
    said = said_of(job)
    who = r"\brank \d+" if rank is None else rf"\brank {rank}\b"
    if not re.search(who, said) or not re.search(PLACE, said):
        raise Lost(f"the message does not name {'a rank' if rank is None else f'rank {rank}'} and its place: {said}")


def says(job, *patterns):
    """One message, with each of these."""
    said = said_of(job)
    for pattern in patterns:
        if not re.search(pattern, said):
            raise Lost(f"the message does not say `{pattern}`: {said}")
