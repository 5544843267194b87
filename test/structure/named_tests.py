"""The share of a folder's sources with a test of their name: it may rise, but not fall. The test of X.cpp or of
room/X.cpp is XTest.cpp or room/XTest.cpp in the suite."""

import os

# Folder -> the suite with its tests, and the least share of its sources that have one, in percent. Folders below count, too.
SHARES = {
    "compiler/planner": ("test/unit/planner", 100),
    "compiler/solver": ("test/unit/solver", 100),
    "passes/driver": ("test/unit/driver", 80),
    "passes/codegen/gpu": ("test/unit/codegen_gpu", 85),
    "runtime/device/cuda": ("test/unit/runtime_device_cuda", 81),
}


def tested(tree, folder):
    """The sources of a folder with a test of their name, and those without."""
    suite, _ = SHARES[folder]
    files = set(tree.files)
    sources = [f for f in tree.files if f.startswith(f"{folder}/") and f.endswith(".cpp")]
    has = {f for f in sources if f"{suite}{f.removeprefix(folder).removesuffix('.cpp')}Test.cpp" in files}
    return [f for f in sources if f in has], [f for f in sources if f not in has]


def shares_do_not_fall(tree):
    for folder, (suite, least) in SHARES.items():
        having, missing = tested(tree, folder)
        count = len(having) + len(missing)
        if 100 * len(having) < least * count:
            yield (f"{folder}: {len(having)} of {count} sources have a test of their name in {suite}, fewer than {least} %; "
                   f"without: {' '.join(os.path.basename(f) for f in missing)}")


RULES = [shares_do_not_fall]
