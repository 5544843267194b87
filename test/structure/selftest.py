"""Violates every rule once in a small tree and checks the report of check.py."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import check
import declarations
import sizes

README = {f"{f}/README.md": "what it is\n" for f in (
    "runtime/base", "runtime/comm", "dialects/interfaces", "dialects/graph", "compiler/solver",
    "passes/driver", "passes/shard", "tools/cleave-run", "test/unit")}
TESTS = {f"test/unit/{f}Test.cpp": "// what it tests\n" for f in ("driver/A", "solver/A", "solver/B", "solver/C")}


def library(folder, *deps):
    return {f"{folder}/CMakeLists.txt":
            f"cleave_library({folder} SRCS A.cpp\n  DEPS {' '.join(deps)})  # comment\n"}


def function(lines, head="void f()"):
    return head + " {\n" + "  g();\n" * (lines - 2) + "}\n"


class Structure(unittest.TestCase):
    def check(self, files, *expected):
        """The tree of `files` has exactly the violations that match `expected`."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**README, **TESTS, **files}.items():
                os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
                with open(f"{root}/{path}", "w", encoding="utf-8") as file:
                    file.write(text)
            found = check.violations(root)
        self.assertEqual(len(found), len(expected), found)
        for line, pattern in zip(found, expected):
            self.assertRegex(line, pattern)

    def test_a_good_tree_passes(self):
        self.check({**library("runtime/base"), **library("compiler/solver", "runtime/base"),
                    "runtime/base/A.cpp": '// a\n#include "runtime/base/A.h"\n',
                    "runtime/base/A.h": "// a\n#include <vector>\n",
                    "compiler/solver/A.cpp": '// a\n#include "runtime/base/A.h"\n'})

    def test_large_classes_need_a_reason(self):
        def declared(name, lines=2, fields=0):
            body = [f"  int a{i}_ = {i};" for i in range(fields)] + ["  void g();"] * (lines - fields - 2)
            return "// a\nnamespace cleave {\n" + "\n".join([f"class {name} {{", *body, "};", "}", ""])

        small = {"runtime/base/A.h": declared("A", lines=300), "runtime/base/B.h": declared("B", lines=20, fields=15),
                 "runtime/comm/A.cpp": "// a\n" + function(10, "void A::f()")}  # another A
        self.check(small)
        self.check({**small, "runtime/base/A.cpp": "// a\n" + function(10, "void A::f()"), "runtime/base/B.h": declared("B", 20, 16)},
                   "runtime/base/A.h:3: class A: 310 lines and 0 fields", "runtime/base/B.h:3: class B: 20 lines and 16 fields")
        self.check({**small, "test/structure/exceptions.txt": "runtime/base/A.h:class:A one reason\n"},
                   "A.h:class:A is within the limits: remove the entry")

    def test_the_runtime_does_not_use_the_compiler(self):
        self.check({"runtime/base/A.cpp": '// a\n#include "mlir/IR/Value.h"\n#include "compiler/x/X.h"\n'},
                   "mlir/IR/Value.h, but the runtime", "compiler/x/X.h, but the runtime")

    def test_dialects_do_not_use_passes(self):
        self.check({"dialects/graph/A.td": '// a\ninclude "passes/shard/A.td"\n'}, "dialects hold IR only")

    def test_dialects_use_the_base_of_the_runtime_only(self):
        self.check({"dialects/graph/A.h": '// a\n#include "runtime/base/Status.h"\n#include "runtime/comm/A.h"\n'},
                   "runtime/comm/A.h, but dialects use only")

    def test_the_compiler_does_not_use_passes(self):
        self.check({"compiler/solver/A.cpp": '// a\n#include "passes/shard/Shard.h"\n'},
                   "passes/shard/Shard.h, but passes use", "passes/shard/Shard.h, but the planner's algorithms")

    def test_nothing_depends_on_tools(self):
        self.check({"passes/shard/A.cpp": '// a\n#include "tools/cleave-run/A.h"\n'}, "but nothing depends on tools")

    def test_the_top_level_holds_nothing_else(self):
        self.check({"clusters/a.json": "{}"}, "clusters: the top level holds")

    def test_the_solver_does_not_use_mlir(self):
        self.check({"compiler/solver/A.cpp": '// a\n#include "mlir/IR/Value.h"\n'}, "plain C")

    def test_the_solver_uses_plain_headers_of_the_dialects_only(self):
        self.check({"compiler/solver/A.cpp": '// a\n#include "dialects/interfaces/Sharding.h"\n'
                                             '#include "dialects/graph/Graph.h"\n'}, "graph/Graph.h")

    def test_only_the_reader_of_the_step_sees_the_ir(self):
        text = '// a\n#include "llvm/ADT/STL.h"\n#include "dialects/graph/Graph.h"\n'
        files = {f"compiler/planner/{f}/README.md": "what it is\n" for f in ("model", "network")}
        self.check({**files, "compiler/planner/model/ReadStep.h": text, "compiler/planner/network/Costs.h": text},
                   "network/Costs.h: includes llvm/ADT/STL.h, but only", "network/Costs.h: includes dialects/graph/Graph.h, but only")

    def test_plain_headers_stay_plain(self):
        self.check({"dialects/interfaces/Sharding.h": '// a\n#include "llvm/ADT/STL.h"\n'}, "plain headers")

    def test_only_the_driver_runs_passes(self):
        include = '// a\n#include "passes/shard/Shard.h"\n'
        self.check({"passes/driver/A.cpp": include, "tools/cleave-run/A.cpp": include,
                    "passes/shard/A.cpp": include}, "tools/cleave-run/A.cpp: .* only cleave-opt")

    def test_outside_headers_stay_in_their_folder(self):
        self.check({"runtime/comm/A.cpp": "// a\n#include <gloo/context.h>\n"}, "which only runtime/comm/gloo")

    def test_cycles_between_folders_are_found(self):
        self.check({**library("dialects/interfaces", "dialects/graph"),
                    **library("dialects/graph", "dialects/interfaces"),
                    "dialects/graph/A.cpp": '// a\n#include "dialects/interfaces/A.h"\n',
                    "dialects/interfaces/A.cpp": '// a\n#include "dialects/graph/A.h"\n'},
                   "cycle dialects/graph -> dialects/interfaces -> dialects/graph")

    def test_a_missing_dep_is_found(self):
        self.check({**library("runtime/base"), **library("compiler/solver"),
                    "compiler/solver/A.cpp": '// a\n#include "runtime/base/A.h"\n#include <nlohmann/json.hpp>\n'},
                   "includes nlohmann_json", "includes runtime/base .*does not list it in DEPS")

    def test_generated_message_classes_are_a_library_of_their_own(self):
        self.check({**library("runtime/base", "runtime/base/plan"), **library("compiler/solver", "runtime/base"),
                    "runtime/base/A.cpp": '// a\n#include "runtime/base/plan.pb.h"\n',
                    "compiler/solver/A.cpp": '// a\n#include "runtime/base/plan.pb.h"\n'},
                   "includes runtime/base/plan", "lists runtime/base in DEPS but")

    def test_two_libraries_may_share_a_folder(self):
        cmake = {"dialects/graph/CMakeLists.txt": "cleave_library(dialects/graph SRCS A.cpp)\n"
                                                  "cleave_library(dialects/graph/ops SRCS B.cpp DEPS mlir)\n"}
        self.check({**cmake, "dialects/graph/A.cpp": "// a\n",
                    "dialects/graph/B.cpp": '// b\n#include "dialects/graph/A.h"\n#include "mlir/X.h"\n',
                    "dialects/graph/C.h": '// c\n#include "dialects/graph/B.h.inc"\n'},
                   "dialects/graph includes dialects/graph/ops", "dialects/graph/ops includes dialects/graph ")

    def test_a_dep_without_include_is_found(self):
        self.check({**library("runtime/base"), **library("compiler/solver", "runtime/base", "zlib")},
                   "runtime/base in DEPS but", "zlib in DEPS but")

    def test_the_runtime_only_build_has_what_its_tools_link(self):
        def tree(*folders):
            adds = "".join(f"  add_subdirectory({folder})\n" for folder in folders)
            return {"CMakeLists.txt": f"if(CLEAVE_RUNTIME_ONLY)\n{adds}else()\n  add_subdirectory(compiler)\nendif()\n",
                    "compiler/cost/README.md": "what it is\n", **library("compiler/cost", "compiler/solver"), **library("compiler/solver"),
                    "compiler/cost/A.cpp": '// a\n#include "compiler/solver/A.h"\n',
                    "tools/cleave-run/CMakeLists.txt": "cleave_tool(cleave-run SRCS A.cpp DEPS compiler/cost)\n",
                    "tools/cleave-run/A.cpp": '// a\n#include "compiler/cost/A.h"\n'}

        self.check(tree("compiler/cost", "compiler/solver"))
        self.check(tree("compiler/cost"), "the runtime-only build lacks compiler/solver, which its tools link")

    def test_the_deps_of_two_tests_in_one_folder_are_distinguished(self):
        self.check({**library("runtime/base"),
                    "test/unit/x/CMakeLists.txt": "cleave_unit_test(a SRCS A.cpp DEPS runtime/base)\n"
                                                  "cleave_unit_test(b SRCS B.cpp DEPS runtime/base)\n",
                    "test/unit/x/A.cpp": '// a\n#include "runtime/base/A.h"\n', "test/unit/x/B.cpp": "// b\n"},
                   "b lists runtime/base in DEPS but")

    def test_long_files_need_a_reason_and_have_a_limit(self):
        long, longer = "// a\n" + "//\n" * 700, "// a\n" + "//\n" * 1001
        exceptions = {"test/structure/exceptions.txt": "# reasons\nruntime/base/A.h  one table\n"
                                                       "runtime/base/C.h  one table\n"}
        readme = {"test/structure/README.md": "what it is\n"}
        self.check({"runtime/base/A.h": long}, "A.h: 701 lines, more than 600")
        self.check({"runtime/base/A.h": long, "runtime/base/C.h": longer, **exceptions, **readme},
                   "C.h: 1002 lines, more than 1000: split it$")

    def test_an_entry_that_is_not_needed_is_found(self):
        self.check({"test/structure/exceptions.txt": "runtime/base/A.h one table\n",
                    "test/structure/README.md": "what it is\n"}, "is within the limit")

    def test_long_functions_need_a_reason_and_have_a_limit(self):
        self.check({"runtime/base/A.cpp": "// a\nnamespace n {\n" + function(60) + function(61, "static int h(int a)")
                    + function(101, "int C::m() const") + "}\n"},
                   "A.cpp:63: h: 61 lines, more than 60", "m: 101 lines, more than 100: split")
        self.check({"runtime/base/a.py": "def f():\n" + "    g()\n" * 70}, "a.py:1: f: 71 lines")

    def test_functions_are_distinguished_from_other_braces(self):
        text = ('namespace n {\nstruct S {\n  S(int a) : a_(a) {\n    if (a) {\n    }\n  }\n'
                '  int get() const override { return a_; } // "}"\n};\nint table[] = {1, 2};\n'
                'auto f = [](int x) -> int {\n  const char *s = "{";\n  return x;\n};\n}\n')
        self.assertEqual([(name, first, lines) for name, first, lines in sizes.cpp_functions(text)],
                         [("S", 3, 4), ("get", 7, 1), ("f", 10, 4)])

    def test_every_folder_has_a_readme(self):
        self.check({"compiler/cost/A.cpp": "// a\n", "test/unit/cost/A.cpp": "// a\n"},
                   "no compiler/cost/README.md")

    def test_files_begin_with_a_comment(self):
        self.check({"runtime/base/A.h": "#pragma once\n", "runtime/base/A.cpp": "int a;\n"},
                   "A.h: does not begin with a comment")
        self.check({"runtime/base/A.cpp": "int a;\n"}, "A.cpp: does not begin with a comment")

    def test_empty_names_are_found(self):
        self.check({"runtime/base/StringUtils.h": "// a\n", "runtime/base/Commons.h": "// a\n",
                    "runtime/base/A.h": "// a\nnamespace cleave {\nstruct ParseHelper {};\n}\n"}, "ParseHelper", "StringUtils")

    def test_links_are_valid(self):
        self.check({"README.md": "see [a](docs/a.md), [w](https://example.org/x) and [b](docs/b.md#part)\n",
                    "docs/a.md": "see [readme](../README.md) and [c](c.md)\n"},
                   "docs/a.md: links to c.md", "README.md: links to docs/b.md")

    def check_lines(self, lines, *expected):
        """A header of runtime/comm with these lines has exactly these violations."""
        self.check({"runtime/comm/A.h": "// a\nnamespace cleave::comm {\n" + "\n".join(lines) + "\n}\n"}, *expected)

    def test_private_members_end_in_an_underscore(self):
        self.check_lines(["class A {", "public:", "  int open;", "private:", "  static constexpr int kMost = 3;",
                          "  struct B {", "    int plain = 0;", "  };", "  int good_ = 0;", "  std::vector<int> bad{1, 2};",
                          "};", "class C {", "  const std::map<int, B> *worse;", "  int f(int a);", "};"],
                         "A.h:12: the private member bad .* bad_$", "A.h:15: .* worse")

    def test_constants_begin_with_k(self):
        self.check_lines(["inline constexpr int kMost = 3, kLeast = 1;", "static const char *message = nullptr;",
                          "static const char *const names[] = {\"x\"};", "constexpr size_t most = f(1);",
                          "template <int n> constexpr int square = n * n;", "struct A {", "  static const int size = 2;",
                          "  const int &reference;", "};", "inline void f() { const int a = 1; constexpr int b = 2; }"],
                         "A.h:5: the constant names .* kNames", "A.h:6: .* kMost", "A.h:9: .* kSize")

    def test_namespaces_are_named_by_folders(self):
        declares = "// a\nnamespace cleave{} {{\nstruct A {{}};\n}}\n"
        self.check({"runtime/base/A.h": declares.format(""), "runtime/comm/A.h": declares.format("::comm"),
                    "runtime/comm/gloo/README.md": "what it is\n", "runtime/comm/gloo/A.h": declares.format("::comm"),
                    "tools/cleave-run/A.h": declares.format("::run::inner"),
                    "passes/shard/A.h": "// a\nnamespace mlir { struct A {}; }\nnamespace cleave::solver { class B; }\n",
                    "passes/shard/B.cpp": "// a\nusing namespace cleave;\nvoid shard::f() {}\n"})
        self.check({"runtime/base/A.h": declares.format("::comm"), "runtime/comm/A.h": declares.format(""),
                    "passes/shard/A.h": "// a\nvoid f();\n"},
                   "f is declared outside of namespace cleave::shard", "declares into cleave::comm, expected cleave$",
                   "declares into cleave, expected cleave::comm")

    def test_nothing_derives_from_containers(self):
        self.check_lines(["template <typename T> class A : public std::vector<T> {};",
                          "struct B : Base<std::vector<int>> {};"], "A derives from std::vector")

    def test_comments_fit_into_the_columns(self):
        self.check_lines(["// " + "ü" * 97, "int a; // " + "x" * 90, "/* " + "x" * 98 + " */",
                          'const char *kUrl = "http://' + "x" * 100 + '";'], "A.h:5: a comment of 104 columns")
        self.check_lines(["int a; // " + "x" * 91], "A.h:3: a comment of 101")

    def test_messages_take_numbers_as_they_are(self):
        self.check_lines(["inline Status f(int n) {", '  std::string s = "a" + std::to_string(n);',
                          '  return Status::userError("found " + name(1) +', "      std::to_string(n)); // )", "}"],
                         "A.h:6: std::to_string in a message")

    def test_names_of_one_target_differ(self):
        cmake = {"compiler/solver/CMakeLists.txt": "cleave_library(compiler/solver SRCS A.cpp B.cpp C.cpp)\n"
                                                   "set_source_files_properties(C.cpp PROPERTIES COMPILE_OPTIONS -O3)\n"}
        a = "// a\nusing T = int;\nstatic int f(const T &x, int y = 1) { return y; }\nstruct S {};\n#define M 1\nconstexpr int kK = 1;\n"
        self.check({**cmake, "compiler/solver/A.cpp": a, "compiler/solver/C.cpp": a,
                    "compiler/solver/B.cpp": "// b\nusing T = int;\nstatic int f(T x, double y) { return 0; }\nint S::f() { return 1; }\n"
                                             "namespace n { struct S {}; }\n#define M 1\n#undef M\nint kK();\n"})
        self.check({**cmake, "compiler/solver/A.cpp": a, "compiler/solver/C.cpp": "// c\n",
                    "compiler/solver/B.cpp": "// b\nusing T = long;\nint f(const T &value, int n) { return n; }\nenum S {};\n#define M 1\n"
                                             "static const int kK = 2;\n"},
                   *[f"B.cpp: defines `{name}`, which compiler/solver/A.cpp defines, too" for name in ("T", "f", "S", "kK", "M")])

    def test_the_share_of_tests_by_name_does_not_fall(self):
        self.check({"compiler/solver/A.cpp": "// a\n", "compiler/solver/D.cpp": "// d\n"},
                   "compiler/solver: 1 of 2 sources have a test of their name .* without: D.cpp")

    def test_documented_declarations_are_distinguished(self):
        text = ("// B: described above.\nnamespace n {\n// Of its own.\nint f(int a);\nint g();\n\nint h();\n"
                "class B {\npublic:\n  B(int one);\n  B(int size, int other);\n  ~B();\n  int size() const { return size_; }\n"
                "  int length() const override;\n  int left = 0; // what is left\n\nprivate:\n  int size_;\n};\n"
                "// Heads its fields.\nstruct C {\n  int x = 0;\n\n  int y = 0;\n};\nenum class D {\n  One, // first\n  Two\n};\n}\n")
        self.assertEqual([(d.name, d.own, d.group) for d in declarations.documentable(text)],
                         [("f", True, True), ("g", False, True), ("h", False, False), ("B", True, True), ("B", False, False),
                          ("left", True, True), ("C", True, True), ("x", False, True), ("y", False, False), ("D", True, True)])


if __name__ == "__main__":
    unittest.main()
