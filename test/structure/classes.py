"""Sizes of classes, the functions that are defined outside of them included. A class above a limit needs a reason in exceptions.txt."""

import re

from sizes import CLASS_ENTRY, EXCEPTIONS, LITERAL, _blank, exceptions

LINES, FIELDS = 300, 15
PRODUCT = ("dialects/", "compiler/", "passes/", "runtime/", "tools/")
CLASS = re.compile(r"^[ \t]*(?:template\s*<[^{};]*>\s*)?class\s+(?:\[\[\w+\]\]\s+)?(\w+)[^;{}()]*\{", re.M)
# A member whose name ends like that of a private field, and a function of a class that is defined outside of it.
FIELD = re.compile(r"\b\w+_(?:\[[^\]]*\])?\s*(?:=[^;]*|\{[^;]*\})?(?:,\s*\w+_\s*(?:=[^,;]*)?)*;")
OUTSIDE = re.compile(r"^[\w:<>,&*\s\[\]]*?\b(\w+)::~?\w+\([^;{}]*\{", re.M)


def closing(text, opening):
    """The position of the brace that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text) - 1


def own_text(body):
    """The text of a class body outside of inner braces; what initialises a field stays."""
    return re.sub(r"\{[^{};]*\}", "{}", _without_blocks(body))


def _without_blocks(body):
    result, depth = [], 0
    for at, char in enumerate(body):
        if char == "{" and (depth or body[:at].rstrip().endswith((")", "const", "override", "noexcept")) or _opens_type(body, at)):
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            result.append(";")
        elif depth == 0:
            result.append(char)
    return "".join(result)


def _opens_type(body, at):
    return re.search(r"\b(?:class|struct|enum|union)\b[^;{}()]*$", body[:at]) is not None


def classes_of(text):
    """(name, first line, lines, fields) of each class that a file defines."""
    text = LITERAL.sub(_blank, text)
    for match in CLASS.finditer(text):
        opening = match.end() - 1
        end = closing(text, opening)
        lines = text.count("\n", match.start(), end) + 1
        fields = sum(1 + found.group(0).count(", ") for found in FIELD.finditer(own_text(text[opening + 1 : end])))
        yield match.group(1), text.count("\n", 0, match.start(1)) + 1, lines, fields


def outside_of(text):
    """Name of a class -> lines of the functions of it that the file defines outside of it."""
    text, lines = LITERAL.sub(_blank, text), {}
    for match in OUTSIDE.finditer(text):
        end = closing(text, match.end() - 1)
        begin = match.end() - len(match.group(0).lstrip())
        lines[match.group(1)] = lines.get(match.group(1), 0) + text.count("\n", begin, end) + 1
    return lines


def sizes_of_classes(tree):
    """(entry of exceptions.txt, place, lines, fields) of each class of the product."""
    outside = {}  # by folder and class
    files = [f for f in tree.files if f.startswith(PRODUCT) and f.endswith((".h", ".cpp"))]
    for path in files:
        folder = path.rpartition("/")[0]
        for name, lines in outside_of(tree.text(path)).items():
            outside[folder, name] = outside.get((folder, name), 0) + lines
    for path in files:
        for name, first, lines, fields in classes_of(tree.text(path)):
            lines += outside.get((path.rpartition("/")[0], name), 0)
            yield f"{path}{CLASS_ENTRY}{name}", f"{path}:{first}: class {name}", lines, fields


def classes(tree):
    reasons = exceptions(tree)
    needed = set()
    for what, where, lines, fields in sizes_of_classes(tree):
        if lines <= LINES and fields <= FIELDS:
            continue
        needed.add(what)
        if not reasons.get(what):
            yield (f"{where}: {lines} lines and {fields} fields, more than {LINES} or {FIELDS}: split it, or give a reason in {EXCEPTIONS} "
                   f"for {what}")
    for what in sorted(what for what in set(reasons) - needed if CLASS_ENTRY in what):
        yield f"{EXCEPTIONS}: {what} is within the limits: remove the entry"


RULES = [classes]
