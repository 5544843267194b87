"""Writes the reference of one dialect from what TableGen knows about it.

    llvm-tblgen --dump-json -I . -I INCLUDE dialects/graph/GraphOps.td | tools/dev/op-reference.py graph > graph.md

Reads the records as JSON from standard input. Ops are grouped by the .td file (the family) that defines them, in that
file's order. An op that a formula says all about is a row of a table; the others have an entry each.
"""

import json
import re
import sys
import textwrap

# How the reference says what TableGen says at length, the first that matches.
WORDS = [
    (r"tensor of floating-point or signless integer .*", "tensor"),
    (r"tensor of floating-point values", "tensor of floats"),
    (r"tensor of signless integer .*", "tensor of integers"),
    (r"tensor of 1-bit signless integer values", "tensor of truth values"),
    (r"tensor of 64-bit signless integer values", "tensor of i64"),
    (r"0D tensor of 64-bit signless integer values", "scalar of i64"),
    (r"(i\d+) dense array", r"array of \1"),
    (r"(\d+)-bit signless integer", r"i\1"),
    (r"(\d+)-bit float", r"f\1"),
    (r"(\d+)-bit float attribute (between.*)", r"f\1 \2"),
    (r"unit", "flag"),
]


class Records:
    """TableGen's records, by name."""

    def __init__(self, dump):
        self.all = dump

    def of(self, kind):
        return [self.all[name] for name in self.all["!instanceof"].get(kind, [])]

    def get(self, reference):
        return self.all[reference["def"]]


def place(record):
    """(file, line) of a record."""
    file, line = record["!locs"][0].rsplit(":", 1)
    return file, int(line)


def plain(text):
    """A description as Markdown: no common indentation; what begins with the number of a constraint is a list."""
    lines = textwrap.dedent((text or "").strip("\n")).strip().split("\n")
    out, in_list = [], False
    for line in lines:
        item = re.match(r" *(\([A-Z]\d+\).*)", line)
        if item and not in_list:
            out += [""] if out else []
        in_list = bool(item) or in_list
        out.append(f"* {item[1]}" if item else f"  {line.strip()}" if in_list else line)
    return "\n".join(out).strip()


def sentence(text):
    """With a capital at the beginning, unless that is a formula or a name, and a full stop at the end."""
    text = (text or "").strip()
    if re.match(r"[a-z]{2,} |a [a-z]", text):
        text = text[0].upper() + text[1:]
    return text + ("." if text and text[-1] not in ".:" else "")


def kind_of(record, records):
    """An operand's, result's or attribute's kind in a few words."""
    supers = record["!superclasses"]
    if "Variadic" in supers:
        return "any number of: " + kind_of(records.get(record["baseType"]), records)
    if "Optional" in supers:
        return "optional " + kind_of(records.get(record["baseType"]), records)
    if "EnumAttr" in supers:
        return " | ".join(records.get(case)["str"] for case in records.get(record["enum"])["enumerants"])
    if record.get("mnemonic"):
        mark = "#" if "AttrDef" in supers else "!"
        return f"{mark}{records.get(record['dialect'])['name']}.{record['mnemonic']}"
    words = record.get("summary") or record["!name"]
    words = re.sub(r"^ranked ", "", re.sub(r" attribute$", "", words))
    for pattern, short in WORDS:
        if re.fullmatch(pattern, words):
            words = re.sub(pattern, short, words)
            break
    return words + (" (may be absent)" if record.get("isOptional") and words != "flag" else "")


def arguments_of(op, records):
    """Operands, attributes and results, each as (name, kind)."""
    parts = {"operands": [], "attributes": [], "results": []}
    for field in ("arguments", "results"):
        for reference, name in op[field]["args"]:
            record = records.get(reference)
            is_attribute = {"Attr", "AttrConstraint", "Property"} & set(record["!superclasses"])
            part = "results" if field == "results" else "attributes" if is_attribute else "operands"
            parts[part].append((name, kind_of(record, records)))
    return parts


def grouped(pairs):
    """`a, b: kind; c: kind`: neighbours of one kind together."""
    groups = []
    for name, kind in pairs:
        if groups and groups[-1][1] == kind:
            groups[-1][0].append(name)
        else:
            groups.append(([name], kind))
    return "; ".join(f"{', '.join(names)}: {kind}" for names, kind in groups)


def is_composite(op, records):
    return any("DecompositionInterface" in json.dumps(records.get(trait)) for trait in op["traits"])


def syntax_of(op, dialect):
    """How the op is written, with literals as they are and types left out."""
    words = " ".join((op["assemblyFormat"] or "").split())
    words = re.sub(r"custom<\w+>\(([^)]*)\)", r"\1", words)
    words = re.sub(r" `:`.*|attr-dict(-with-keyword)? ?", "", words).replace(" `,`", ",").replace("`", "").strip()
    return f"{dialect}.{op['opName']} {words}".strip() if op["assemblyFormat"] else ""


def entry(op, dialect, records):
    """A heading, what the op means, what goes in and comes out, how it is written."""
    lines = [f"### {dialect}.{op['opName']}", sentence(op["summary"]), plain(op["description"])]
    facts = {part: grouped(pairs) for part, pairs in arguments_of(op, records).items()}
    facts["written"] = syntax_of(op, dialect)
    facts["composite"] = "decomposes into simpler ops" if is_composite(op, records) else ""
    width = 12
    for part, text in facts.items():
        wrapped = textwrap.wrap(text, 96, break_long_words=False, break_on_hyphens=False)
        facts[part] = ("\n" + " " * (4 + width)).join(wrapped)
    lines.append("\n".join(f"    {part:<{width}}{text}" for part, text in facts.items() if text))
    return "\n\n".join(line for line in lines if line) + "\n"


def formula_of(op):
    """The formula of a pointwise op, as x, y, z instead of x[0], x[1], x[2]; empty if it has none."""
    text = op.get("scalar") or ""
    for index, letter in enumerate("xyz"):
        text = text.replace(f"x[{index}]", letter)
    return text.replace("std::", "")


def is_row(op):
    return bool(formula_of(op)) and not op["description"] and not op["summary"]


def table(ops, dialect, records):
    lines = ["Each element of the result is the formula of the operands' elements x, y, z.\n"]
    lines.append("| op | formula | operands |\n|---|---|---|")
    for op in ops:
        kinds = [kind for _, kind in arguments_of(op, records)["operands"]]
        words = grouped(zip("xyz", kinds))
        formula = formula_of(op).replace("|", "\\|")
        lines.append(f"| `{dialect}.{op['opName']}` | `{formula}` | {words} |")
    return "\n".join(lines) + "\n"


def family(name, ops, dialect, records):
    """The section of one .td file."""
    rows = [op for op in ops if is_row(op)]
    parts = [f"## {name}\n"] + ([table(rows, dialect, records)] if rows else [])
    return "\n".join(parts + [entry(op, dialect, records) for op in ops if not is_row(op)])


def attributes(dialect, records):
    """The section of the dialect's own attributes and types; enums stand where they are used."""
    parts = []
    for record in records.of("AttrDef") + records.of("TypeDef"):
        if "EnumAttr" not in record["!superclasses"] and records.get(record["dialect"])["name"] == dialect:
            about = f"{sentence(record['summary'])}\n\n{plain(record['description'])}"
            parts.append(f"### {kind_of(record, records)}\n\n{about.strip()}\n")
    return "\n".join(["## Attributes and types\n"] + parts) if parts else ""


def main():
    dialect = sys.argv[1]
    records = Records(json.load(sys.stdin))
    about = next(r for r in records.of("Dialect") if r["name"] == dialect)
    ops = [op for op in records.of("Op") if records.get(op["opDialect"])["name"] == dialect]
    families = {}
    for op in sorted(ops, key=place):
        families.setdefault(place(op)[0].rsplit("/", 1)[-1].removesuffix(".td"), []).append(op)
    parts = [
        f"# The {dialect} dialect\n",
        f"{len(ops)} ops. Written by `tools/dev/generate-docs.sh` from `dialects/{dialect}/*.td`.\n",
        f"{sentence(about['summary'])}\n\n{plain(about['description'])}\n",
    ]
    for name, group in families.items():
        parts.append(family("Ops" if len(families) == 1 else name, group, dialect, records))
    print("\n".join(part for part in [*parts, attributes(dialect, records)] if part).rstrip())


if __name__ == "__main__":
    main()
