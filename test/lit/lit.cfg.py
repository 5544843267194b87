# Configuration of lit for the tests in this folder. Run by `ctest -R lit`, or by hand:
#   /usr/lib/llvm-22/bin/lit -sv -Dbuild=build -Dllvm=/usr/lib/llvm-22/bin test/lit/shard
import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build")))
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-22/bin")

config.name = "cleave"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "test", "lit")

# cleave-opt and the other tools; then FileCheck, not, count, split-file.
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"
config.substitutions.append(("%models", os.path.join(root, "test", "models")))
