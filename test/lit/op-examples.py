"""Checks the descriptions of all ops, attributes and types in dialects/*/*.td.

    op-examples.py ROOT CLEAVE_OPT LLVM_BIN

* Each op has a summary and a description with exactly one ```mlir block, which contains the op and
  passes `cleave-opt --verify-roundtrip`: it parses, verifies, and prints what it parses.
* Each constraint "(C1) …" of a description has a negative test: a chunk of a .mlir file under
  test/lit with `expected-error` and a comment like `// graph.slice (C1)` or `// #mesh.mesh (M1)`.
  A constraint with the same number and words as one of another op shares its test.

Ends with 1 and one line per finding if any of this does not hold.
"""

import glob
import json
import os
import re
import subprocess
import sys

FENCE = re.compile(r"```mlir\n(.*?)```", re.S)
CONSTRAINT = re.compile(r"^ *\(([A-Z]\d+)\) (.*(?:\n +(?!\([A-Z]\d+\) )\S.*)*)", re.M)
NEGATIVE = re.compile(r"^ *// (#?\w+\.\w+) \(([A-Z]\d+)\)", re.M)


def records_of(root, dialect, llvm):
    """TableGen's records of all .td files of a dialect, by name."""
    files = sorted(glob.glob(f"dialects/{dialect}/*.td", root_dir=root))
    source = "".join(f'include "{file}"\n' for file in files)
    command = [f"{llvm}/llvm-tblgen", "--dump-json", "-I", ".", "-I", f"{llvm}/../include", "-"]
    done = subprocess.run(command, cwd=root, input=source, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def described(records, dialect):
    """(name as in IR, record, whether it is an op) of all ops, attributes and types."""
    for kind, field, mark in (("Op", "opDialect", ""), ("AttrDef", "dialect", "#"),
                              ("TypeDef", "dialect", "!")):
        for name in records["!instanceof"].get(kind, []):
            record = records[name]
            is_own = records[record[field]["def"]]["name"] == dialect
            if is_own and "EnumAttr" not in record["!superclasses"]:
                word = record["opName"] if kind == "Op" else record["mnemonic"]
                yield f"{mark}{dialect}.{word}", record, kind == "Op"


def constraints_of(description):
    """Label -> words of a description's numbered constraints."""
    text = FENCE.sub("", description or "")
    return {label: " ".join(words.split()) for label, words in CONSTRAINT.findall(text)}


def example_findings(name, record, cleave_opt):
    """What is missing or wrong in an op's summary, description and example."""
    description = record["description"] or ""
    if not (record["summary"] or "").strip():
        yield "has no summary"
    if not FENCE.sub("", description).strip():
        yield "has no description"
    examples = FENCE.findall(description)
    if len(examples) != 1:
        yield f"has {len(examples)} examples (```mlir blocks), expected 1"
        return
    if not re.search(rf"\b{re.escape(name)}\b", examples[0]):
        yield "does not occur in its example"
    command = [cleave_opt, "--verify-roundtrip", "-"]
    done = subprocess.run(command, input=examples[0], capture_output=True, text=True)
    if done.returncode:
        yield f"has an example that cleave-opt rejects:\n{done.stderr}"


def negative_tests(root):
    """(name, label, file) of all comments that name a constraint above an expected error."""
    for file in sorted(glob.glob("test/lit/**/*.mlir", root_dir=root, recursive=True)):
        with open(os.path.join(root, file), encoding="utf-8") as stream:
            for chunk in stream.read().split("// -----"):
                if "expected-error" in chunk:
                    for name, label in NEGATIVE.findall(chunk):
                        yield name, label, file


def coverage_findings(constraints, tests):
    """Constraints without a test, and tests of constraints that do not exist."""
    tested = set()
    for name, label, file in tests:
        if label not in constraints.get(name, {}):
            yield f"{file}: names the constraint ({label}) of {name}, which does not exist"
        else:
            tested.add((label, constraints[name][label]))
    for name, labels in constraints.items():
        for label, words in labels.items():
            if (label, words) not in tested:
                yield f"{name}: constraint ({label}) has no negative test under test/lit: {words}"


def main():
    root, cleave_opt, llvm = sys.argv[1:]
    findings, constraints, ops = [], {}, 0
    for path in sorted(glob.glob("dialects/*/*Ops.td", root_dir=root)):
        dialect = path.split("/")[1]
        for name, record, is_op in described(records_of(root, dialect, llvm), dialect):
            constraints[name] = constraints_of(record["description"])
            if is_op:
                ops += 1
                texts = example_findings(name, record, cleave_opt)
                findings += [f"{name}: {text}" for text in texts]
    findings += coverage_findings(constraints, negative_tests(root))
    print("\n".join(findings + [f"{ops} ops, {sum(map(len, constraints.values()))} constraints"]))
    sys.exit(1 if findings or not ops else 0)


if __name__ == "__main__":
    main()
