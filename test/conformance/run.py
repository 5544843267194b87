#!/usr/bin/env python3
"""Runs the conformance tests on this machine: ONNX's archive (unpacked once) and Debian's package. Exit code 77: there are none."""

import argparse
import glob
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import write_list

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "data")
DEBIAN = "/usr/share/libonnx-testdata/data"


def unpacked(archive, version, build):
    """The folder with the archive's tests; a marker file states that it is complete."""
    folder = os.path.join(build, version)
    marker = os.path.join(folder, "complete")
    if not os.path.exists(marker):
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        open(marker, "w", encoding="utf-8").close()
    return folder


def sets(shared, build):
    found = []
    for archive in sorted(glob.glob(os.path.join(shared, "onnx_node_*.tgz"))):
        version = re.search(r"onnx_node_(.*)\.tgz", archive).group(1)
        found.append(f"{version}={unpacked(archive, version, build)}/data")
    if os.path.isdir(DEBIAN):
        found.append(f"debian={DEBIAN}")
    return found


def rewrite(command, path):
    with tempfile.TemporaryDirectory() as folder:
        failures = os.path.join(folder, "failures.txt")
        subprocess.run([*command, "--failures", failures], stdout=subprocess.DEVNULL, check=False)
        unknown = write_list.write(failures, path)
    for name, message in unknown.items():
        print(f"{name} is not passed, and write_list.py has no reason for it: {message}")
    return 1 if unknown else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="the program conformance")
    parser.add_argument("--shared", default=SHARED, help="the folder with the archive")
    parser.add_argument("--write-list", action="store_true", help="write not-passed.txt anew instead of comparing with it")
    options, more = parser.parse_known_args()
    found = sets(options.shared, os.path.dirname(options.bin))
    if not found:
        print(f"skipped: neither onnx_node_*.tgz in {options.shared} nor {DEBIAN} is there")
        return 77
    expected = os.path.join(HERE, "not-passed.txt")
    if options.write_list:
        return rewrite([options.bin, *found, *more], expected)
    command = [options.bin, *found, *(["--expected", expected] if os.path.exists(expected) else []), *more]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
