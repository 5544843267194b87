#!/usr/bin/env python3
"""Random PyTorch modules, trained by Cleave and by PyTorch.

    test/fuzz/modules/fuzz_modules.py [--bin build/bin] [--cases 100] [--first 1] [--jobs 1]   # a campaign; prints and keeps what differs
    test/fuzz/modules/fuzz_modules.py --print SEED                                             # the Python module of a seed
    test/fuzz/modules/fuzz_modules.py FILE.py…                                                 # compares such modules

Exit code 1 if any case differs, 77 without PyTorch.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

try:
    import torch
except ImportError:
    print("skipped: found no PyTorch in this Python, which random modules need; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

import campaign  # noqa: E402
import check  # noqa: E402
import drawing  # noqa: E402


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin", help="folder of the tools")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seconds", type=float, help="ends the campaign after this time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--forms", type=lambda text: text.split(","), default=drawing.FORMS, help="formats, for example pt2,strict")
    parser.add_argument("--families", type=lambda text: text.split(","), help=f"families of blocks of every case, of {', '.join(drawing.FAMILIES)}; default: drawn")
    parser.add_argument("--skip", type=re.compile, metavar="REGEX", help="leaves out statements that match, for example 'renorm|isclose'")
    parser.add_argument("--shrinks", type=int, default=150, help="how many smaller cases are tried")
    parser.add_argument("--refusals", action="store_true", help="shrinks and keeps what Cleave refuses, too")
    parser.add_argument("--shown", type=lambda text: text.split(","), default=["refused", "exporter", "noisy"], help="kinds of outcomes that are listed at the end")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/modules"), help="folder for cases that differ")
    parser.add_argument("--print", type=int, metavar="SEED", dest="seed")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE.py")
    return parser.parse_args()


def replay(files, given):
    """Compares the modules in files."""
    failed = 0
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            outcome = check.check(path.resolve(), given.bin, pathlib.Path(folder))
        failed += outcome.kind in campaign.BAD
        print(f"{path}: {outcome.kind} {outcome.what}\n    {outcome.detail}")
    return 1 if failed else 0


def main():
    given = options()
    given.bin = given.bin.resolve()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if given.seed is not None:
        print(campaign.drawn_case(given.seed, given).text())
        return 0
    return replay(given.files, given) if given.files else campaign.campaign(given)


if __name__ == "__main__":
    sys.exit(main())
