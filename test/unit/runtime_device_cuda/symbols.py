#!/usr/bin/env python3
"""Compares the functions that our tables look up in NVIDIA's libraries with those that the libraries on this machine export.

    symbols.py [FOLDER…]   # where else to look for libraries, besides the loader's folders, the CUDA toolkit and the wheels of this Python

Exit code 1 if a library lacks a function, 77 if no library is found. `nm` reads the libraries, so that they need no GPU and no driver.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLES = ["runtime/device/cuda/DriverTable.cpp", "runtime/device/cuda/BlasTable.cpp", "runtime/device/cuda/DnnTable.cpp", "runtime/comm/nccl/Nccl.cpp"]


def folders(more):
    """Where libraries may lie, in the order of the search."""
    found = list(more) + os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found += [str(pathlib.Path(line.split(" => ")[1]).parent) for line in output("/sbin/ldconfig", "-p").splitlines() if " => " in line]
    toolkits = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True)]
    found += [f"{toolkit}/{place}" for toolkit in toolkits if toolkit for place in ("lib64", "lib", "lib64/stubs", "lib/stubs")]
    found += glob.glob(f"{sysconfig.get_paths()['purelib']}/nvidia/*/lib")
    return [folder for folder in dict.fromkeys(found) if folder]


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def library_of(names, places):
    """The first file of one of these names; stubs of the toolkit have no version in theirs."""
    for name in [*names, *(re.sub(r"\.so\..*", ".so", name) for name in names)]:
        for place in places:
            if (path := pathlib.Path(place) / name).exists():
                return path
    return None


def exported(path):
    return {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", str(path)).splitlines() if line.strip()}


def main():
    places, checked, missing = folders(sys.argv[1:]), 0, 0
    for table in TABLES:
        text = (ROOT / table).read_text()
        names = re.findall(r'"(lib\w+\.so\.[\d.]+)"', text)
        functions = re.findall(r'find\((?:library, )?"(\w+)"', text)
        if not names or not functions:
            sys.exit(f"{table} names no library or no function")
        path = library_of(names, places)
        if path is None:
            print(f"skipped {table}: found no {' or '.join(names)}")
            continue
        known = exported(path)
        lacking = [function for function in functions if function not in known]
        checked, missing = checked + 1, missing + len(lacking)
        print(f"{path}: {len(functions) - len(lacking)} of {len(functions)} functions", *(f"\n    lacks {function}" for function in lacking))
    if not checked:
        print("skipped: none of NVIDIA's libraries is on this machine")
        return 77
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
