"""Names that collide where the sources of a target are compiled as one (the CMake option CLEAVE_UNITY)."""

import re

from declarations import declarations

DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
# Constants at namespace scope, which are named k…; several may share a statement.
CONSTANTS = re.compile(r"(?:static\s+|inline\s+)*const(?:expr)?\b([^;]*)$", re.S)
INITIALISER = re.compile(r"=[^,]*|\([^()]*\)|\{[^{}]*\}")
NAMED = re.compile(r"\b(k[A-Z]\w*)")
# TableGen's generated files undefine the macros that choose their parts.
GENERATED = re.compile(r"GET_\w+$")


def _parameter_types(text):
    """The types of a function's parameters, without names, qualifiers and const: enough to tell overloads apart."""
    begin = end = text.find("(")
    depth, parts, part = 0, [], ""
    for end in range(begin, len(text)):
        char = text[end]
        depth += (char in "(<[{") - (char in ")>]}")
        if depth == 0:
            break
        if char == "," and depth == 1:
            parts.append(part)
            part = ""
        elif end > begin:
            part += char
    template = re.match(r"template\s*<(.*?)>", text, re.S)
    own = re.findall(r"(?:typename|class)\s+(\w+)", template.group(1)) if template else []
    plain = []
    for part in parts + [part]:
        part = re.sub(r"=.*", "", part, flags=re.S).strip()
        part = re.sub(r"(?<=[\s&*>])\w+(\[\w*\])?$", "", part)
        for i, name in enumerate(own):
            part = re.sub(rf"\b{name}\b", f"${i}", part)
        plain.append(re.sub(r"\bconst\b|\b\w+::|\s", "", part))
    return tuple(plain)


def _definitions(text):
    """What a source defines at namespace scope, as keys that collide when they are equal, with the definition's text."""
    for d in declarations(text):
        if d.classes or not d.name or d.text.startswith("extern") or d.kind not in ("type", "enum", "alias", "variable", "function"):
            continue
        if constants := CONSTANTS.match(d.text):
            yield from (((d.namespaces, name, None), (d.kind, d.text)) 
                        for name in NAMED.findall(INITIALISER.sub("", constants.group(1))))
            continue
        is_function = d.kind == "function"
        if is_function and (not d.body or re.search(r"::~?" + d.name + r"\s*\(", d.text) or re.fullmatch(r"[A-Z_]+", d.name)):
            continue  # a declaration, a member of a class, or a macro such as TEST_CASE
        yield (d.namespaces, d.name, _parameter_types(d.text) if is_function else None), (d.kind, d.text)
    for name in DEFINE.findall(text):
        if not GENERATED.match(name) and not re.search(r"^[ \t]*#[ \t]*undef[ \t]+" + name + r"\b", text, re.M):
            yield (("#define",), name, None), ("macro", name)


def _separate(tree, target):
    """Sources with properties of their own, which CMake leaves out of batches."""
    text = tree.text(f"{target.folder}/CMakeLists.txt")
    return {name for call in re.findall(r"set_source_files_properties\(([^)]*)\)", text) for name in call.split()}


def _is_batched(tree, target):
    name = f"unit-{target.name}" if target.kind == "cleave_unit_test" else target.name.replace("/", "_")
    return not re.search(rf"set_target_properties\({name} PROPERTIES UNITY_BUILD OFF\)", tree.text(f"{target.folder}/CMakeLists.txt"))


def names_differ_within_a_target(tree):
    for target in filter(lambda target: _is_batched(tree, target), tree.targets):
        separate = _separate(tree, target)
        seen = {}
        headers = [path for path in target.files if path.endswith(".h")]
        sources = [path for path in target.srcs if path.endswith(".cpp") and path in tree.files]
        for path in headers + [path for path in sources if path.rsplit("/", 1)[1] not in separate]:
            for (scope, name, types), (kind, text) in _definitions(tree.text(path)):
                others = seen.setdefault((scope, name), {})
                # Functions with other parameters are overloads; anything else with the name of a function is not.
                rivals = [others[t] for t in others if t == types or types is None or t is None]
                others.setdefault(types, (path, kind, text))
                if rival := next((r for r in rivals if r[0] != path and not (kind == "alias" and r[2] == text)), None):
                    yield (f"{path}: defines `{name}`, which {rival[0]} defines, too; sources of one target are "
                           "compiled together: rename one, or move it to a header")


RULES = [names_differ_within_a_target]
