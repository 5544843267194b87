"""The declarations of a C++ file: types, functions, data members, constants, with their lines and comments.

A heuristic on statements and braces that expects formatted code. It skips function bodies and initialisers and handles
templates, attributes and macros as far as this code base uses them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\d)'(?:\\.|[^'\\\n])+'""", re.S)
ACCESS = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
TYPE = re.compile(r"(?:typedef\s+)?(class|struct|union)\b(?:\s*\[\[.*?\]\])?(?:\s+alignas\s*\([^()]*\))?\s*([\w:]*)")
ENUM = re.compile(r"enum\b(?:\s+(?:class|struct))?\s*(\w*)")


@dataclass
class Declaration:
    kind: str           # type, enum, alias, function, constructor, variable, other
    name: str
    line: int           # the first one, from 1
    end: int            # the last one of the head: of a function without its body
    namespaces: tuple   # around it
    classes: tuple
    own_access: str     # public, protected, private: in the innermost class
    access: str         # the least of all classes around it
    text: str           # the statement up to its body, without comments and literals
    body: str = ""      # of an inline function
    own: bool = False   # has a comment of its own, above or trailing
    group: bool = False  # has one, or stands in an uninterrupted group that a comment heads

    @property
    def scope(self):
        return self.namespaces + self.classes

    @property
    def in_class(self):
        return bool(self.classes)

    @property
    def is_template(self):
        return self.text.startswith("template")

    def is_constant(self):
        """Of a namespace, or a static one of a class."""
        before = re.split(r"[={]", without_arguments(self.text))[0]
        if self.kind != "variable" or not self.name or (self.in_class and not re.search(r"\b(static|constexpr)\b", before)):
            return False
        return "constexpr" in before or bool(re.search(r"\*\s*const\b", before) or re.search(r"\bconst\b[^*&]*$", before))


@dataclass
class _Scope:
    kind: str           # namespace or class
    name: str
    access: str
    last: object = None   # the declaration before, of this scope
    headed: bool = False  # whether a comment heads the group that `last` is in
    last_end: int = 0     # the line where `last` ends, body included


@lru_cache(maxsize=None)
def blanked(text):
    """(text with comments, literals and directives as spaces, lines that are only comment, lines with a trailing one)"""
    comments = set()

    def blank(match):
        if match.group(0).startswith("/"):
            first = text.count("\n", 0, match.start()) + 1
            comments.update(range(first, first + match.group(0).count("\n") + 1))
        mark = '"' if match.group(0)[0] in "\"'R" else " "
        return mark + re.sub(r"[^\n]", " ", match.group(0)[1:])

    plain = LITERAL.sub(blank, text)
    plain = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), plain, flags=re.M)
    lines = plain.split("\n")
    original = text.split("\n")
    only = {n for n in comments if not lines[n - 1].strip() and not original[n - 1].lstrip().startswith("#")}
    return plain, only, comments - only


def _closing(text, at):
    """The position of the brace or parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "{(":
            depth += 1
        elif text[i] in "})":
            depth -= 1
            if depth == 0:
                return i
    return len(text) - 1


def _without_template(head):
    """The head without `template <…>`, requires-clauses and attributes in front."""
    while True:
        head = re.sub(r"^\s*(?:\[\[[^\]]*\]\]\s*|export\s+)", "", head).lstrip()
        if not re.match(r"template\s*<", head):
            return head
        depth = 0
        for i in range(head.index("<"), len(head)):
            depth += {"<": 1, ">": -1}.get(head[i], 0)
            if depth == 0:
                head = head[i + 1:]
                break
        else:
            return head


def without_arguments(head):
    """The head with the contents of <> and () taken out, innermost first; `(` and `)` stay."""
    head = re.sub(r"operator\s*(<=>|<<|>>|<=|>=|->|<|>)", lambda m: "operator" + "@" * len(m.group(1)), head)
    head = re.sub(r"->|<=|>=|<=>", "  ", head)
    while True:
        shorter = re.sub(r"<[^<>()]*>", "", head)
        shorter = re.sub(r"\((?!\))[^()]*\)", "()", shorter)
        if shorter == head:
            return head
        head = shorter


class Scanner:
    """The declarations of one file, in order; `declarations` is the result."""

    def __init__(self, text):
        self.text, self.only, self.trailing = blanked(text)
        self.declarations = []
        self.scopes = [_Scope("namespace", "", "public")]
        self._starts = [0]
        for match in re.finditer("\n", self.text):
            self._starts.append(match.end())
        self._scan()

    def _line(self, at):
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= at else (low, middle)
        return low + 1

    def _scan(self):
        at = begin = 0
        while at < len(self.text):
            char = self.text[at]
            if char == "(":
                at = _closing(self.text, at)
            elif char == ";":
                self._statement(begin, at)
                begin = at + 1
            elif char == "}":
                if len(self.scopes) > 1:
                    closed = self.scopes.pop()
                    self.scopes[-1].last_end = self._line(at)
                    if closed.kind == "class":  # `} name;` declares nothing that is used here
                        at = max(at, self.text.find(";", at))
                begin = at + 1
            elif char == "{":
                begin, at = self._open(begin, at)
            elif char == ":" and (match := ACCESS.match(self.text, begin)) and match.end() - 1 == at:
                if self.scopes[-1].kind == "class":
                    self.scopes[-1].access = match.group(1)
                    self.scopes[-1].last = None
                begin = at + 1
            at += 1

    def _open(self, begin, at):
        """What the brace at `at` opens; (begin, at) of where to go on."""
        head = _without_template(self.text[begin:at].strip())
        outer = without_arguments(head)
        if match := re.match(r"(?:inline\s+)?namespace\b\s*([\w:]*)", head):
            self.scopes.append(_Scope("namespace", match.group(1), "public"))
            return at + 1, at
        if re.match(r"extern\s*\"", head):
            self.scopes.append(_Scope("namespace", "", "public"))
            return at + 1, at
        if (match := ENUM.match(head)) and "(" not in outer:
            end = _closing(self.text, at)
            self._add("enum", match.group(1), begin, at, end)
            return self._after(end), self._after(end) - 1
        if (match := TYPE.match(head)) and "(" not in outer and "=" not in outer:
            self._add("type", match.group(2), begin, at, at)
            scope = _Scope("class", match.group(2), "private" if match.group(1) == "class" else "public")
            if match.group(1) == "struct":  # a comment above a struct heads its first fields, too
                scope.last, scope.last_end = self.declarations[-1], self._line(at)
                scope.headed = self.declarations[-1].own
            self.scopes.append(scope)
            return at + 1, at
        end = _closing(self.text, at)
        if "(" in outer and "=" not in re.sub(r"operator\s*\S+", "", outer.split("(")[0]):
            if re.search(r"\)\s*:[^:]", outer) and re.search(r"[\w>]\s*$", head) and self.text[end + 1:].lstrip()[:1] in ("{", ","):
                return begin, end  # a member that is initialised in braces
            name, kind = self._function(outer)
            self._add(kind, name, begin, at, end)
            return end + 1, end
        return begin, end  # an initialiser: the statement goes on

    def _after(self, end):
        """Behind the `;` that follows the brace at `end`."""
        found = self.text.find(";", end)
        return found + 1 if found >= 0 else len(self.text)

    def _function(self, outer):
        before = outer.split("(")[0]
        if "operator" in before:
            return "operator", "operator"
        match = re.search(r"(~?\w+)\s*$", before)
        name = match.group(1) if match else ""
        scope = self.scopes[-1]
        if scope.kind == "class" and name.lstrip("~") == scope.name.split("::")[-1]:
            return name, "destructor" if name.startswith("~") else "constructor"
        return name, "function"

    def _statement(self, begin, at):
        head = _without_template(self.text[begin:at].strip())
        if not head:
            return
        outer = without_arguments(head)
        outer = re.sub(r"\{.*", "", outer, flags=re.S)
        if match := re.match(r"using\s+(\w+)\s*=|typedef\b.*?(\w+)$", head, re.S):
            self._add("alias", match.group(1) or match.group(2), begin, at, at)
        elif re.match(r"(using|friend|static_assert|extern\s+template|namespace|return)\b", head) \
                or re.match(r"(class|struct|union|enum(\s+class)?)\s+[\w:]+(\s*:\s*[\w:]+)?$", outer) \
                or re.match(r"[A-Z][A-Z0-9_]+\s*\(", outer):
            self._add("other", "", begin, at, at)
        elif "(" in outer.split("=")[0] or "operator" in outer:
            name, kind = self._function(outer)
            self._add(kind, name, begin, at, at)
        else:
            before = re.sub(r"\[.*", "", outer.split("=")[0].split(",")[0], flags=re.S)
            before = re.sub(r":\s*\d+\s*$", "", before)
            match = re.search(r"(\w+)\s*$", before)
            self._add("variable" if match else "other", match.group(1) if match else "", begin, at, at)

    def _add(self, kind, name, begin, head_end, end):
        text = self.text[begin:head_end]
        begin += len(text) - len(text.lstrip())
        line, last = self._line(begin), self._line(max(begin, head_end - 1))
        last = max(last, self._line(head_end)) if self.text[head_end:head_end + 1] == ";" else last
        scope = self.scopes[-1]
        classes = [s for s in self.scopes if s.kind == "class"]
        access = next((a for a in ("private", "protected") if any(s.access == a for s in classes)), "public")
        above = line - 1 in self.only
        joined = scope.last is not None and line - scope.last_end in (0, 1)
        scope.headed = above or (joined and scope.headed)
        trails = any(n in self.trailing for n in range(line, last + 1)) \
            or (kind == "enum" and any(n in self.only | self.trailing for n in range(line, self._line(end) + 1)))
        own = above or trails
        namespaces = tuple(s.name for s in self.scopes[1:] if s.name and s.kind == "namespace")
        declaration = Declaration(kind, name, line, last, namespaces, tuple(s.name for s in classes),
                                  scope.access, access, text.strip(),
                                  self.text[head_end:end + 1] if end > head_end else "", own, own or scope.headed)
        scope.last, scope.last_end = declaration, self._line(end)
        self.declarations.append(declaration)


@lru_cache(maxsize=None)
def declarations(text):
    return Scanner(text).declarations


def _parameters(text):
    """The names of a function's parameters."""
    match = re.search(r"\((.*)\)", text.split(") :")[0] + (")" if ") :" in text else ""), re.S)
    inner = without_arguments(match.group(1)) if match else ""
    return [m.group(1) for part in inner.split(",") if (m := re.search(r"(\w+)\s*(?:=.*)?$", part.strip(), re.S))]


def _is_expected(declaration, members):
    """Whether a header should say what the declaration is; the choice is described in tools/dev/house.py."""
    if declaration.access == "private" or declaration.kind in ("other", "operator", "destructor"):
        return False
    if declaration.kind == "constructor":
        own = members.get(declaration.scope, set())
        is_copy = re.search(r"\(\s*(?:const\s+)?" + re.escape(declaration.name) + r"\s*(?:const\s*)?&", declaration.text)
        parameters = _parameters(declaration.text)
        return len(parameters) > 1 and not is_copy and any(p not in own and p + "_" not in own for p in parameters)
    if declaration.kind == "function":
        if re.search(r"=\s*(default|delete)\s*$|\b(override|final)\b", declaration.text):
            return False
        return not re.fullmatch(r"\{\s*return\s+\*?" + re.escape(declaration.name) + r"_;\s*\}", declaration.body)
    return bool(declaration.name)


def documentable(text):
    """The declarations of a header that a comment is expected for. A type may be described by the file's first
    comment, which then begins with its name: `// Mesh and Sharding: …`."""
    found = declarations(text)
    first = re.match(r"// ([^:\n]*)", text)
    described = set(re.findall(r"\w+", first.group(1))) if first else set()
    for declaration in found:
        if declaration.kind == "type" and declaration.name in described:
            declaration.own = declaration.group = True
    members = {}
    for declaration in found:
        if declaration.kind == "variable" and declaration.in_class:
            members.setdefault(declaration.scope, set()).add(declaration.name)
    return [d for d in found if _is_expected(d, members)]
