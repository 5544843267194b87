"""The source tree: files, their #include lines, and the targets of every CMakeLists.txt."""

import os
import re
import subprocess
from dataclasses import dataclass, field

TOP_FOLDERS = ["dialects", "compiler", "passes", "runtime", "tools", "test", "third_party"]
TOP_LEVEL = {*TOP_FOLDERS, "docs", "CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"}
CODE = (".h", ".cpp", ".c", ".cu", ".cuh", ".td", ".proto")
SCRIPTS = (".py", ".sh", ".cmake")

INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.M)
CALL = re.compile(r"\b(cleave_library|cleave_tool|cleave_unit_test)\s*\(([^()]*)\)")
LIST = re.compile(r"\bset\((\w+)\s([^()]*)\)")
VARIABLE = re.compile(r"\$\{(\w+)\}")
KEYWORDS = {"SRCS", "DEPS", "LABEL", "COLD", "PURPOSE"}


def _stem(path):
    """a/b/Ops.h.inc -> a/b/Ops"""
    folder, name = os.path.split(path)
    return f"{folder}/{name.split('.')[0]}"


@dataclass
class Target:
    kind: str                                  # cleave_library, cleave_tool, cleave_unit_test
    name: str
    folder: str
    srcs: list = field(default_factory=list)   # paths from the root
    deps: set = field(default_factory=set)
    files: list = field(default_factory=list)  # its existing sources and headers


class Tree:
    """All sources under `root`; paths are relative to it, with slashes."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(self._walk(TOP_FOLDERS))
        self.targets = [t for f in self.files if f.endswith("CMakeLists.txt") for t in self._targets(f)]
        self.documents = [f for f in self.files + sorted(self._walk(["docs"])) if f.endswith(".md")]
        self.documents += [f for f in os.listdir(root) if f.endswith(".md")]
        self.folders = {t.folder for t in self.targets}
        self._owners = {}
        for target in self.targets:
            target.files = sorted(self._files_of(target))
            if target.kind == "cleave_library":
                self._owners.update({_stem(f): target.name for f in target.files + target.srcs})

    def _walk(self, tops):
        for top in tops:
            for where, folders, names in os.walk(os.path.join(self.root, top)):
                folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(".")]
                for name in names:
                    yield os.path.relpath(os.path.join(where, name), self.root).replace(os.sep, "/")

    def is_kept(self, path):
        """Whether git does not ignore the path; true outside a repository."""
        try:
            ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=self.root, stderr=subprocess.DEVNULL)
        except FileNotFoundError:  # a machine without git
            return True
        return ignored.returncode != 0

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def code(self):
        return [f for f in self.files if f.endswith(CODE)]

    def includes(self, path):
        """The paths in a file's #include lines, in order."""
        return INCLUDE.findall(self.text(path)) if path.endswith(CODE) else []

    def folder(self, path):
        """The innermost folder around a path that has a target, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.folders:
            folder = os.path.dirname(folder)
        return folder or None

    def owner(self, path):
        """The library whose header, source or generated file a path is, or None."""
        if _stem(path) in self._owners:
            return self._owners[_stem(path)]
        folder = self.folder(path)
        names = [t.name for t in self.targets if t.folder == folder and t.kind == "cleave_library"]
        return folder if folder in names else names[0] if names else None

    def _files_of(self, target):
        """Files of a target. Targets that share a folder own their SRCS and the headers of the same names; other
        headers belong to the library with the folder's name."""
        siblings = [t for t in self.targets if t.folder == target.folder]
        here = [f for f in self.code() if self.folder(f) == target.folder]
        if len(siblings) == 1:
            return here
        stems = {_stem(src) for src in target.srcs}
        if target.name == target.folder:
            stems |= {_stem(f) for f in here} - {_stem(src) for t in siblings for src in t.srcs}
        return [f for f in here if _stem(f) in stems]

    def _targets(self, cmake):
        folder = os.path.dirname(cmake)
        text = re.sub(r"#.*", "", self.text(cmake))
        lists = {}
        for name, body in LIST.findall(text):
            lists.setdefault(name, body)  # others are for special builds
        for kind, body in CALL.findall(text):
            words = VARIABLE.sub(lambda use: lists.get(use.group(1), use.group(0)), body).split()
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
