"""The source tree as the rules see it: files, their #include lines, and the targets of every CMakeLists.txt."""

import os
import re
from dataclasses import dataclass, field

TOP_FOLDERS = ["dialects", "compiler", "passes", "runtime", "tools", "test", "third_party"]
CODE = (".h", ".cpp", ".c", ".cu", ".cuh", ".td", ".proto")
SCRIPTS = (".py", ".sh", ".cmake")

INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.M)
CALL = re.compile(r"\b(cleave_library|cleave_tool|cleave_unit_test)\s*\(([^()]*)\)")
KEYWORDS = {"SRCS", "DEPS", "LABEL"}


@dataclass
class Target:
    kind: str                                  # cleave_library, cleave_tool, cleave_unit_test
    name: str
    folder: str
    srcs: list = field(default_factory=list)   # paths from the root
    deps: set = field(default_factory=set)


class Tree:
    """All sources under `root`; paths are relative to it, with slashes."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(self._walk())
        self.targets = [t for f in self.files if f.endswith("CMakeLists.txt") for t in self._targets(f)]
        self.libraries = {t.folder: t for t in self.targets if t.kind == "cleave_library"}

    def _walk(self):
        for top in TOP_FOLDERS:
            for where, folders, names in os.walk(os.path.join(self.root, top)):
                folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
                for name in names:
                    yield os.path.relpath(os.path.join(where, name), self.root).replace(os.sep, "/")

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def code(self):
        return [f for f in self.files if f.endswith(CODE)]

    def includes(self, path):
        """The paths that a file includes, in order."""
        return INCLUDE.findall(self.text(path)) if path.endswith(CODE) else []

    def owner(self, path):
        """The folder of the innermost library that a path of the tree lies in, or None."""
        folder = os.path.dirname(path)
        while folder:
            if folder in self.libraries:
                return folder
            folder = os.path.dirname(folder)
        return None

    def _targets(self, cmake):
        folder = os.path.dirname(cmake)
        text = re.sub(r"#.*", "", self.text(cmake))
        for kind, body in CALL.findall(text):
            words = body.split()
            if not words:
                continue
            target = Target(kind, words[0], folder)
            into = None
            for word in words[1:]:
                if word in KEYWORDS:
                    into = word
                elif into == "SRCS":
                    target.srcs.append(os.path.normpath(f"{folder}/{word}"))
                elif into == "DEPS":
                    target.deps.add(word)
            yield target
