"""A clone of the tree's last commit with a separate build, for scripts that must not change the tree: seeding.py, programs/coverage.py."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fresh_clone(work, *options):
    """Clones into WORK/src, or updates it to the last commit. Returns its folder and its build folder, whose path lets
    the compiler cache reuse other builds."""
    source = work.resolve() / "src"
    if not source.exists():
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(source)], check=True)
    last = subprocess.check_output(["git", "-C", str(ROOT), "rev-parse", "HEAD"], text=True).strip()
    subprocess.run(["git", "-C", str(source), "fetch", "-q"], check=True)
    subprocess.run(["git", "-C", str(source), "checkout", "-q", "--detach", "--force", last], check=True)
    build = source / "build"
    subprocess.run(["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), *options], check=True,
                   stdout=subprocess.DEVNULL)
    return source, build


def compile_targets(build, targets):
    subprocess.run(["cmake", "--build", str(build), "--target", *targets], check=True, stdout=subprocess.DEVNULL)
