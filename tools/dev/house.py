#!/usr/bin/env python3
"""Measures how well a checkout is kept, one row per point: tools/dev/house.py [ROOT].

    tools/dev/house.py [ROOT]                          the table
    tools/dev/house.py --undocumented FOLDER [ROOT]    header declarations below FOLDER without a comment

Product code is what lies in dialects, compiler, passes, runtime and tools; recorded data (models, JSON, traces) are
not measured.

Declarations of headers are types, functions and methods, public and protected data members, constants and type
aliases; a list of enumerators is one with its enum. They are documented with a comment directly above, a trailing
comment, or, for the second figure, a comment that heads their group: declarations without an empty line between
them; a struct's comment heads its first fields. The file's first comment documents the type that it begins with.
Not counted: private members, forward declarations, overrides, operators, destructors, copies and what is defaulted or
deleted, accessors that only return the member of their name, and constructors that have at most one parameter or
whose parameters are all named like members of the class.
"""

import argparse
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "structure"))

import classes
import layers
import named_tests
from declarations import blanked, documentable
from sizes import _functions
from sources import Tree

PRODUCT = ("dialects/", "compiler/", "passes/", "runtime/", "tools/")
LLVM = "/usr/lib/llvm-22"
CPP = (".h", ".cpp", ".c", ".cu", ".cuh")
SOURCE = CPP + (".td", ".proto")
TESTS = SOURCE + (".py", ".sh", ".mlir", ".test")
MESSAGE = re.compile(r"\b(userError|infeasible|lost|defect|fail|failure|Failure|emitError|emitOpError|withContext|concat)\s*\(")
MESSAGE_NUMBER = re.compile(r"\bstd::to_string\s*\(")


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


class House:
    def __init__(self, root):
        self.tree = Tree(root)
        self.product = [f for f in self.tree.files if f.startswith(PRODUCT)]
        self.cpp = [f for f in self.product if f.endswith(CPP)]
        self.lines = {f: self.tree.text(f).count("\n") for f in self.tree.files if f.endswith(TESTS)}

    def rows(self):
        yield from self.sizes()
        yield from self.documented()
        yield from self.tests()
        yield from self.layers()
        yield from self.comments()
        yield from self.ods()
        yield from self.messages()

    def sizes(self):
        product = [f for f in self.product if f.endswith(SOURCE)]
        counts = sorted(self.lines[f] for f in product)
        yield "median / p90 file, lines", f"{counts[len(counts) // 2]} / {counts[len(counts) * 9 // 10]} of {len(counts)} files"
        biggest = max((f for f in self.tree.files if f.endswith(TESTS)), key=self.lines.get)
        yield "biggest hand-written file", f"{self.lines[biggest]}  {biggest}"
        functions = [(lines, f"{f}: {name}") for f in self.tree.files if f.endswith(CPP + (".py",))
                     for name, _, lines in _functions(f, self.tree.text(f))]
        long, longest = sum(lines > 100 for lines, _ in functions), max(functions)
        large = [w for w, _, lines, fields in classes.sizes_of_classes(self.tree) if lines > classes.LINES or fields > classes.FIELDS]
        yield f"classes > {classes.LINES} lines or {classes.FIELDS} fields", f"{len(large)}"
        yield "functions > 100 lines", f"{long} of {len(functions)}, longest {longest[0]}  {longest[1]}"

    def documented(self):
        found = [d for f in self.cpp if f.endswith(".h") for d in documentable(self.tree.text(f))]
        own, group = sum(d.own for d in found), sum(d.group for d in found)
        yield "header declarations documented", (f"{percent(own, len(found))} own comment, {percent(group, len(found))} with a "
                                                 f"comment that heads a group, of {len(found)}")

    def tests(self):
        passes = set()
        for path in self.product:
            if path.endswith((".cpp", ".h", ".td")):
                text = self.tree.text(path)
                passes |= set(re.findall(r'getArgument\(\)\s*const\s*\w*\s*\{\s*return\s*"(cleave-[\w-]+)"', text))
                passes |= set(re.findall(r'Pass<\s*"(cleave-[\w-]+)"', text))
        missing = sorted(p for p in passes if not self.test_of(p))
        yield "passes with a test of their name", (f"{len(passes) - len(missing)} of {len(passes)}"
                                                   + (f", without: {' '.join(missing)}" if missing else ""))
        text = "".join(self.tree.text(f) for f in self.tree.files if f.startswith("test/lit/"))
        undriven = sorted(p for p in passes if not re.search(rf"--{p}\b(?!-)", text))
        yield "passes that no lit test runs", f"{len(undriven)} {' '.join(undriven)}".strip()
        for folder in named_tests.SHARES:
            having, without = named_tests.tested(self.tree, folder)
            count = len(having) + len(without)
            yield f"named tests, {folder}", f"{percent(len(having), count)}, {len(having)} of {count} sources"
        test = sum(n for f, n in self.lines.items() if f.startswith("test/"))
        source = sum(self.lines[f] for f in self.product if f in self.lines)
        yield "test / source lines", f"{test / source:.2f}  ({test} / {source})"
        guide = "docs/howto/add-an-op.md"
        text = self.tree.text(guide).split("\n## ")[0] if os.path.exists(f"{self.tree.root}/{guide}") else ""
        files = set(re.findall(r"`([\w.-]+/[\w./-]+)`", text))
        yield "files to add an op", f"{len(files)}, by {guide}"

    def test_of(self, argument):
        """A file of test/lit that is named like the pass, `cleave-fuse-groups` -> fuse/groups; a pass that is named
        like its folder may have several."""
        name = argument.removeprefix("cleave-")
        places = [f"test/lit/{name}.", f"test/lit/{name}/", f"test/lit/{name.replace('-', '/', 1)}."]
        return any(f.startswith(tuple(places)) for f in self.tree.files)

    def layers(self):
        graph = {a: set(b) for a, b in layers.edges(self.tree).items() if not a.startswith("test")}
        folders = set(graph) | {b for others in graph.values() for b in others}
        yield "folders in a cycle", f"{len(in_cycles(graph))} of {len(folders)}"
        top = {}
        for folder, others in graph.items():
            top.setdefault(folder.split("/")[0], set()).update(
                o.split("/")[0] for o in others if o.split("/")[0] != folder.split("/")[0])
        knot = in_cycles(top)
        yield "top-level folders in a cycle", f"{len(knot)} {' '.join(sorted(knot))}".strip()

    def comments(self):
        own = trailing = lines = wide = 0
        for path in self.cpp + [f for f in self.product if f.endswith((".td", ".proto"))]:
            text = self.tree.text(path)
            _, only, others = blanked(text)
            own, trailing, lines = own + len(only), trailing + len(others), lines + text.count("\n")
            rows = text.split("\n")
            wide += sum(len(rows[n - 1]) > 100 for n in only | others)
        yield "comment lines", f"{100 * own / lines:.1f} %, {100 * (own + trailing) / lines:.1f} % with trailing ones"
        yield "comment lines > 100 columns", f"{wide}"

    def ods(self):
        """From the records of TableGen; families of ops get their descriptions from classes."""
        ops = described = examples = 0
        for folder in sorted({os.path.dirname(f) for f in self.product if f.endswith("Ops.td")}):
            for op in self.records(folder):
                text = op["description"] or ""
                ops, described, examples = ops + 1, described + bool(text.strip()), examples + ("```mlir" in text)
        yield "ODS description / example", f"{percent(described, ops)} / {percent(examples, ops)} of {ops} ops"

    def records(self, folder):
        """The records of all ops that the .td files of a folder define."""
        files = [f for f in self.product if os.path.dirname(f) == folder and f.endswith(".td")]
        command = [f"{LLVM}/bin/llvm-tblgen", "--dump-json", "-I", self.tree.root, "-I", f"{LLVM}/include", "-"]
        source = "".join(f'include "{f}"\n' for f in files)
        done = subprocess.run(command, input=source, capture_output=True, text=True, cwd=self.tree.root, check=True)
        dump = json.loads(done.stdout)
        own = {os.path.basename(f) for f in files}
        return [dump[name] for name in dump["!instanceof"]["Op"]
                if os.path.basename(dump[name]["!locs"][0].split(":")[0]) in own]

    def messages(self):
        notes = lines = numbers = everywhere = 0
        for path in self.cpp:
            text = self.tree.text(path)
            notes += len(re.findall(r"\battachNote\s*\(", text))
            lines += self.lines[path]
            everywhere += len(MESSAGE_NUMBER.findall(text))
            numbers += sum(1 for _ in numbers_in_messages(text))
        yield "notes per 1000 lines", f"{1000 * notes / lines:.2f}  ({notes} / {lines})"
        yield "std::to_string in messages", f"{numbers}, of {everywhere} in product code"


def numbers_in_messages(text):
    """Positions of std::to_string within a statement that has a message: a call of MESSAGE or literals joined by +."""
    plain, _, _ = blanked(text)
    for match in MESSAGE_NUMBER.finditer(plain):
        begin = max(plain.rfind(c, 0, match.start()) for c in ";{}")
        end = min(at for c in ";{}" if (at := plain.find(c, match.end())) >= 0 or (at := len(plain)))
        statement = plain[begin + 1:end]
        if MESSAGE.search(statement) or re.search(r'" *\n? *\+|\+\s*"', statement):
            yield match.start()


def in_cycles(graph):
    """The nodes that reach themselves."""
    def reached(start):
        seen, todo = set(), list(graph.get(start, ()))
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += graph.get(node, ())
        return seen
    return {node for node in graph if node in reached(node)}


def undocumented(tree, folder):
    folder = folder.strip("/") + "/"
    missing = 0
    for path in tree.files:
        if path.startswith(folder) and path.endswith(".h"):
            for declaration in documentable(tree.text(path)):
                if not declaration.group:
                    missing += 1
                    print(f"{path}:{declaration.line}: {'::'.join((*declaration.scope[-1:], declaration.name))}"
                          if declaration.in_class else f"{path}:{declaration.line}: {declaration.name}")
    print(f"{missing} without a comment")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--undocumented", metavar="FOLDER")
    options = parser.parse_args()
    if options.undocumented is not None:
        undocumented(Tree(options.root), options.undocumented)
        return
    for point, figure in House(options.root).rows():
        print(f"{point:34}{figure}")


if __name__ == "__main__":
    main()
