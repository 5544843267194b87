"""Writes the reference of one dialect from TableGen's records, which it reads as JSON.

    llvm-tblgen --dump-json -I . -I INCLUDE dialects/graph/GraphOps.td |
        tools/dev/op-reference.py graph > graph.md

Ops are grouped by the .td file (the family) that defines them, in the order of that file. Each op
has an entry: summary, description, constraints, example, operands, attributes, results, syntax. A
family with pointwise ops begins with a table of their formulas.
"""

import json
import re
import sys
import textwrap

# Patterns of TableGen's descriptions of types and attributes, and shorter words for them. The first
# pattern that matches applies.
WORDS = [
    (r"tensor of f64, f32, f16 or bf16 or i1, .*", "tensor"),
    (r"tensor of f64, f32, f16 or bf16 values", "tensor of floats"),
    (r"tensor of i1, i8 to i64 .*", "tensor of integers"),
    (r"tensor of 1-bit signless integer values", "tensor of booleans"),
    (r"tensor of 64-bit signless integer values", "tensor of i64"),
    (r"0D tensor of 64-bit signless integer values", "scalar of i64"),
    (r"0D tensor of f64, f32, f16 or bf16 values", "scalar of floats"),
    (r"(i\d+) dense array", r"array of \1"),
    (r"(\d+)-bit signless integer", r"i\1"),
    (r"(\d+)-bit float", r"f\1"),
    (r"(\d+)-bit float attribute (between.*)", r"f\1 \2"),
    (r"unit", "flag"),
]


class Records:
    """TableGen's records by name."""

    def __init__(self, dump):
        self.all = dump

    def of(self, kind):
        return [self.all[name] for name in self.all["!instanceof"].get(kind, [])]

    def get(self, reference):
        return self.all[reference["def"]]


def location(record):
    """(file, line) of a record."""
    file, line = record["!locs"][0].rsplit(":", 1)
    return file, int(line)


def filled(paragraph):
    """A paragraph with lines of at most 100 columns; a numbered constraint becomes a list item."""
    items = []
    for line in paragraph.split("\n"):
        if re.match(r" *(\* |\([A-Z]\d+\) )", line) or not items:
            items.append(line.strip())
        else:
            items[-1] += " " + line.strip()
    lines = []
    for item in items:
        if item.startswith("("):
            item = "* " + item
        indent = "  " if item.startswith("* ") else ""
        lines += textwrap.wrap(item, 100, subsequent_indent=indent, break_long_words=False,
                               break_on_hyphens=False)
    return "\n".join(lines)


def markdown(text):
    """A description as Markdown: without common indentation, code blocks as they are."""
    text = textwrap.dedent((text or "").strip("\n")).strip()
    parts = re.split(r"(^```mlir\n.*?^```$)", text, flags=re.M | re.S)
    blocks = []
    for part in parts:
        paragraphs = [part] if part.startswith("```") else re.split(r"\n\s*\n", part)
        blocks += [p if p.startswith("```") else filled(p) for p in paragraphs if p.strip()]
    return "\n\n".join(blocks)


def sentence(text):
    """`text` with a capital letter (unless it begins with a formula) and a full stop."""
    text = (text or "").strip()
    if re.match(r"[a-z]{2,} |a [a-z]", text):
        text = text[0].upper() + text[1:]
    return text + ("." if text and text[-1] not in ".:" else "")


def kind_of(record, records):
    """The type constraint of an operand or result, or the kind of an attribute, in a few words."""
    supers = record["!superclasses"]
    if "Variadic" in supers:
        return "any number of: " + kind_of(records.get(record["baseType"]), records)
    if "Optional" in supers:
        return "optional " + kind_of(records.get(record["baseType"]), records)
    if "EnumAttr" in supers:
        cases = records.get(record["enum"])["enumerants"]
        return " | ".join(records.get(case)["str"] for case in cases)
    if record.get("mnemonic"):
        mark = "#" if "AttrDef" in supers else "!"
        return f"{mark}{records.get(record['dialect'])['name']}.{record['mnemonic']}"
    words = record.get("summary") or record["!name"]
    words = re.sub(r"^ranked | with static or symbolic dims| attribute$", "", words)
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
    """`a, b: kind; c: kind`: neighbours of the same kind are one group."""
    groups = []
    for name, kind in pairs:
        if groups and groups[-1][1] == kind:
            groups[-1][0].append(name)
        else:
            groups.append(([name], kind))
    return "; ".join(f"{', '.join(names)}: {kind}" for names, kind in groups)


def is_composite(op, records):
    return any("DecompositionInterface" in json.dumps(records.get(t)) for t in op["traits"])


def syntax_of(op, dialect):
    """The op's assembly format without attr-dict and types."""
    words = " ".join((op["assemblyFormat"] or "").split())
    words = re.sub(r"custom<\w+>\(([^)]*)\)", r"\1", words)
    words = re.sub(r" `:`.*|attr-dict(-with-keyword)? ?", "", words)
    words = words.replace(" `,`", ",").replace("`", "").strip()
    return f"{dialect}.{op['opName']} {words}".strip() if op["assemblyFormat"] else ""


def entry(op, dialect, records):
    """The entry of an op: heading, summary, description, and a block of facts."""
    lines = [f"### {dialect}.{op['opName']}", sentence(op["summary"]), markdown(op["description"])]
    facts = {part: grouped(pairs) for part, pairs in arguments_of(op, records).items()}
    facts["syntax"] = syntax_of(op, dialect)
    facts["composite"] = "decomposes into simpler ops" if is_composite(op, records) else ""
    width = 12
    for part, text in facts.items():
        wrapped = textwrap.wrap(text, 84, break_long_words=False, break_on_hyphens=False)
        facts[part] = ("\n" + " " * (4 + width)).join(wrapped)
    lines.append("\n".join(f"    {part:<{width}}{text}" for part, text in facts.items() if text))
    return "\n\n".join(line for line in lines if line) + "\n"


def table(ops, dialect, records):
    """The table of pointwise ops."""
    lines = ["Each element of the result is a formula of the same element of the operands:\n"]
    lines.append("| op | element | operands |\n|---|---|---|")
    for op in ops:
        name, kinds = op["opName"], grouped(arguments_of(op, records)["operands"])
        formula = op["math"].replace("|", "\\|")
        anchor = f"#{dialect}{name}"
        lines.append(f"| [{dialect}.{name}]({anchor}) | `{formula}` | {kinds} |")
    return "\n".join(lines) + "\n"


def family(name, ops, dialect, records):
    """The section of one .td file."""
    pointwise = [op for op in ops if op.get("math")]
    parts = [f"## {name}\n"] + ([table(pointwise, dialect, records)] if pointwise else [])
    return "\n".join(parts + [entry(op, dialect, records) for op in ops])


def attributes(dialect, records):
    """The section of the dialect's attributes and types, without enums: entries of ops list their
    cases."""
    parts = []
    for record in records.of("AttrDef") + records.of("TypeDef"):
        is_own = records.get(record["dialect"])["name"] == dialect
        if is_own and "EnumAttr" not in record["!superclasses"]:
            about = f"{sentence(record['summary'])}\n\n{markdown(record['description'])}"
            parts.append(f"### {kind_of(record, records)}\n\n{about.strip()}\n")
    return "\n".join(["## Attributes and types\n"] + parts) if parts else ""


def main():
    dialect = sys.argv[1]
    records = Records(json.load(sys.stdin))
    about = next(r for r in records.of("Dialect") if r["name"] == dialect)
    ops = [op for op in records.of("Op") if records.get(op["opDialect"])["name"] == dialect]
    families = {}
    for op in sorted(ops, key=location):
        families.setdefault(location(op)[0].rsplit("/", 1)[-1].removesuffix(".td"), []).append(op)
    parts = [
        f"# The {dialect} dialect\n",
        f"{len(ops)} ops. Written by `tools/dev/generate-docs.sh` from "
        f"`dialects/{dialect}/*.td`.\n",
        f"{sentence(about['summary'])}\n\n{markdown(about['description'])}\n",
    ]
    for name, group in families.items():
        parts.append(family("Ops" if len(families) == 1 else name, group, dialect, records))
    print("\n".join(part for part in [*parts, attributes(dialect, records)] if part).rstrip())


if __name__ == "__main__":
    main()
