"""Sizes of files and functions. Above the soft limit, exceptions.txt must give a reason; the hard limit is absolute."""

import ast
import re

from sources import CODE, SCRIPTS

FILE_SOFT, FILE_HARD = 600, 1000
FUNCTION_SOFT, FUNCTION_HARD = 60, 100
EXCEPTIONS = "test/structure/exceptions.txt"
CLASS_ENTRY = ":class:"  # in entries of classes.py

NOT_FUNCTIONS = re.compile(r"^\s*(?:template\s*<.*>\s*)?(?:typedef\s+|export\s+)?"
                           r"(?:namespace|class|struct|enum|union|extern\s+\"|inline\s+namespace)\b")
ENDS_LIKE_FUNCTION = re.compile(
    r"\)\s*(?:const|noexcept|override|final|mutable|try|&&?|\s)*(?:->\s*[\w:<>,&*\s]+)?$")
LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.S)


def _blank(match):
    """Replaces comments and literals by spaces, so that positions stay valid."""
    return re.sub(r"[^\n]", " ", match.group(0))


def cpp_functions(text):
    """(name, first line, lines) of every function. A heuristic on braces that expects formatted code."""
    text = LITERAL.sub(_blank, text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", _blank, text, flags=re.M)
    stack = []    # per open brace the position where its function begins, or None
    begin = 0     # of the current statement
    for mark in re.finditer("[{};]", text):
        at, char = mark.start(), mark.group()
        if char == "{":
            inside = any(entry is not None for entry in stack)
            statement = text[begin:at]
            is_function = not inside and not NOT_FUNCTIONS.match(statement) \
                and ENDS_LIKE_FUNCTION.search(statement)
            start = begin + len(statement) - len(statement.lstrip())
            stack.append(start if is_function else None)
            begin = at + 1
        elif char == "}":
            start = stack.pop() if stack else None
            if start is not None:
                first = text.count("\n", 0, start) + 1
                yield _name(text[start:]), first, text.count("\n", start, at) + 1
            begin = at + 1
        elif char == ";":
            begin = at + 1


def _name(text):
    match = re.search(r"(\w+)\s*=\s*\[|(operator\S*|~?\w+)\s*\(", text)
    return match.group(1) or match.group(2) if match else "?"


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def _functions(path, text):
    if path.endswith((".h", ".cpp", ".c", ".cu", ".cuh")):
        return cpp_functions(text)
    return python_functions(text) if path.endswith(".py") else []


def exceptions(tree):
    """File or function above a soft limit -> reason."""
    result = {}
    lines = tree.text(EXCEPTIONS).splitlines() if EXCEPTIONS in tree.files else []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            what, *reason = line.split(None, 1)
            result[what] = reason[0] if reason else ""
    return result


def _too_large(tree):
    """(entry of exceptions.txt, place, lines, soft, hard) of everything above a soft limit."""
    for path in tree.files:
        if not path.endswith(CODE + SCRIPTS) and not path.endswith("CMakeLists.txt"):
            continue
        text = tree.text(path)
        lines = text.count("\n")
        if lines > FILE_SOFT:
            yield path, path, lines, FILE_SOFT, FILE_HARD
        for name, first, lines in _functions(path, text):
            if lines > FUNCTION_SOFT:
                yield f"{path}:{name}", f"{path}:{first}: {name}", lines, FUNCTION_SOFT, FUNCTION_HARD


def sizes(tree):
    reasons = exceptions(tree)
    needed = set()
    for what, where, lines, soft, hard in _too_large(tree):
        needed.add(what)
        if lines > hard:
            yield f"{where}: {lines} lines, more than {hard}: split it"
        elif not reasons.get(what):
            yield f"{where}: {lines} lines, more than {soft}: split it, or give a reason in {EXCEPTIONS}"
    for what in sorted(what for what in set(reasons) - needed if CLASS_ENTRY not in what):
        yield f"{EXCEPTIONS}: {what} is within the limit: remove the entry"


RULES = [sizes]
