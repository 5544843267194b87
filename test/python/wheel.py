"""`pip install .` into a fresh environment; the package then compiles and trains outside of the repository, with nothing of it in sight."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """
import pathlib, cleave
assert pathlib.Path(cleave.__file__).is_relative_to(pathlib.Path({environment!r})), cleave.__file__
plan = cleave.compile({model!r}, loss="softmax-cross-entropy:logits", set={{"batch": 8}}, ranks=2)
run = plan.run({data!r}, steps=20, threads=1, progress=False)
assert len(run.losses) == 20 and run.losses[-1] < run.losses[0], run.losses
assert cleave.tools.find("cleave-run").is_relative_to(pathlib.Path({environment!r}))
print(run)
"""


def main():
    with tempfile.TemporaryDirectory() as name:
        environment = pathlib.Path(name) / "environment"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        build = pathlib.Path(os.environ.get("CLEAVE_BIN", ROOT / "build/bin")).resolve().parent
        begin = time.monotonic()
        installed = subprocess.run([str(environment / "bin/pip"), "install", str(ROOT), "-C", f"cmake.define.CLEAVE_BUILD={build}"],
                                   capture_output=True, text=True)
        if "No matching distribution found for scikit-build-core" in installed.stdout + installed.stderr:
            print("skipped: found no package index with scikit-build-core, which builds the package")
            return 77
        assert installed.returncode == 0, installed.stdout + installed.stderr
        print(f"installed in {time.monotonic() - begin:.1f} s")
        clean = {key: value for key, value in os.environ.items() if key not in ("CLEAVE_BIN", "PYTHONPATH")}
        use = USE.format(environment=str(environment), model=str(ROOT / "test/models/mlp.dynamo.onnx"), data=str(ROOT / "test/golden/mlp.npz"))
        subprocess.run([str(environment / "bin/python"), "-c", use], cwd=name, env=clean, check=True)
        version = subprocess.run([str(environment / "bin/cleave-compile"), "--version"], cwd=name, env=clean, capture_output=True, text=True)
        assert version.stdout.startswith("cleave-compile "), version
        listed = subprocess.run([str(environment / "bin/cleave"), "zoo", "--list"], cwd=name, env=clean, capture_output=True, text=True)
        assert "gpt2" in listed.stdout, listed
    return 0


if __name__ == "__main__":
    sys.exit(main())
