"""C++ conventions beyond clang-format: names of members, constants and namespaces, the width of comments, base classes,
numbers in messages."""

import re

from declarations import blanked, declarations, without_arguments
from sources import CODE

COLUMNS = 100
CPP = (".h", ".cpp", ".c", ".cu", ".cuh")

# Folders with another namespace than cleave::<innermost folder> or cleave::<a folder around it>.
NAMESPACES = {
    "runtime/base": ("cleave",),
    "dialects/interfaces": ("cleave", "cleave::graph"),  # plain data; the interfaces of ops
    "tools/cleave": ("cleave",),
    "tools/commandline": ("cleave",),
    "tools/model-options": ("cleave::tools",),
}
CONTAINERS = re.compile(r":[^;{]*\bstd::(vector|map|set|unordered_map|unordered_set|string|array|deque|list|pair|tuple)\b")
MESSAGE = re.compile(r"\b(?:userError|infeasible|lost|defect|fail)\s*\(")


def _is_product(path):
    return path.endswith(CPP) and not path.startswith(("test/", "third_party/"))


def _declarations(tree):
    """(path, declarations) of every C++ file outside the tests."""
    for path in tree.files:
        if _is_product(path):
            yield path, declarations(tree.text(path))


def private_members_end_in_an_underscore(tree):
    for path, found in _declarations(tree):
        for d in found:
            if d.kind == "variable" and d.own_access == "private" and not d.name.endswith("_") and not d.is_constant():
                yield f"{path}:{d.line}: the private member {d.name} should be named {d.name}_"


def constants_begin_with_k(tree):
    """Constants at namespace scope and static ones of classes; variable templates are named like functions."""
    for path, found in _declarations(tree):
        for d in found:
            if d.is_constant() and not re.match(r"k[A-Z0-9]", d.name) and not d.is_template:
                yield f"{path}:{d.line}: the constant {d.name} should be named k{d.name[:1].upper()}{d.name[1:]}"


def _namespaces(path):
    """The namespaces that a file may declare into."""
    folders = path.split("/")[1:-1]
    names = [f"cleave::{f.removeprefix('cleave-').replace('-', '_')}" for f in reversed(folders)]
    return NAMESPACES.get("/".join(path.split("/")[:-1])) or names


def namespaces_are_named_by_folders(tree):
    """Names of cleave::… below the second are free, as are specialisations in mlir, llvm and std."""
    for path, found in _declarations(tree):
        allowed = _namespaces(path)
        seen = set()
        for d in found:
            name = "::".join("::".join(d.namespaces).split("::")[:2])
            if d.kind == "other" or d.in_class or name in seen or name.split("::")[0] in ("mlir", "llvm", "std"):
                continue
            seen.add(name)
            if not name.startswith("cleave") and path.endswith(".h"):
                yield f"{path}:{d.line}: {d.name} is declared outside of namespace {allowed[0]}"
            elif name.startswith("cleave") and name not in allowed:
                yield f"{path}:{d.line}: declares into {name}, expected {allowed[0]}"


def nothing_derives_from_containers(tree):
    for path, found in _declarations(tree):
        for d in found:
            if d.kind == "type" and (match := CONTAINERS.search(without_arguments(d.text))):
                yield f"{path}:{d.line}: {d.name} derives from std::{match.group(1)}, which has no virtual destructor: hold one"


def comments_fit_into_the_columns(tree):
    for path in tree.files:
        if path.endswith(CODE):
            text = tree.text(path)
            lines = text.split("\n")
            _, only, trailing = blanked(text)
            for n in sorted(only | trailing):
                if len(lines[n - 1]) > COLUMNS:
                    yield f"{path}:{n}: a comment of {len(lines[n - 1])} columns, more than {COLUMNS}"


def _arguments_end(text, at):
    depth = 1
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def messages_take_numbers_as_they_are(tree):
    """userError("found ", n, " inputs"), not userError("found " + std::to_string(n) + " inputs")."""
    for path in tree.files:
        if not _is_product(path):
            continue
        plain, _, _ = blanked(tree.text(path))
        lines = set()
        for match in MESSAGE.finditer(plain):
            inner = plain[match.end():_arguments_end(plain, match.end())]
            lines |= {plain.count("\n", 0, match.end() + m.start()) + 1 for m in re.finditer(r"\bto_string\s*\(", inner)}
        for line in sorted(lines):
            yield f"{path}:{line}: std::to_string in a message: pass the number itself"


RULES = [private_members_end_in_an_underscore, constants_begin_with_k, namespaces_are_named_by_folders,
         nothing_derives_from_containers, comments_fit_into_the_columns, messages_take_numbers_as_they_are]
