"""Faults at a chosen system call of a job: compiles fault.c, and makes its environment."""

import pathlib
import subprocess

import cleave
from processes import Skipped

HERE = pathlib.Path(__file__).resolve().parent
FULL, BROKEN, PAUSE, COUNT = "full", "broken", "pause", "count"


def library(arena):
    """The compiled library, made once."""
    def make():
        path = arena.folder / "fault.so"
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", path, HERE / "fault.c", "-ldl"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Skipped(f"fault.c does not compile here: {getattr(error, 'stderr', error)}") from None
        return path
    return arena.once("fault", make)


class Fault:
    """Strikes call number `at` of all calls of `kind` (`write` or `open`) below `under`; `action` is one of the words
    above or a signal's number."""

    def __init__(self, case, under, at, action, kind="write"):
        self.state = case.root / f"fault-{action}"
        self.state.write_bytes(bytes(8))
        pathlib.Path(f"{self.state}.hit").unlink(missing_ok=True)
        self.env = {**cleave.preloading(library(case.arena)), "FAULT_UNDER": str(under), "FAULT_CALLS": kind,
                    "FAULT_AT": str(at), "FAULT_DO": str(action), "FAULT_STATE": str(self.state)}

    def calls(self):
        """With COUNT: the names of all calls until now."""
        path = pathlib.Path(f"{self.state}.hit")
        return [line.split()[1] for line in path.read_text().splitlines()] if path.exists() else []

    def hit(self):
        """(process id, call, path) of the struck call; None before it."""
        try:
            words = pathlib.Path(f"{self.state}.hit").read_text().split(maxsplit=2)
        except OSError:
            return None
        return (int(words[0]), words[1], words[2].strip()) if len(words) == 3 else None
