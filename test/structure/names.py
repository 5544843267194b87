"""A README in every folder, a comment at the top of every file, meaningful names, valid links."""

import os
import re

from sources import CODE, SCRIPTS, TOP_LEVEL

EMPTY_WORDS = re.compile(r"^(utils?|utility|utilities|helpers?|common|misc)$", re.I)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
DECLARATION = re.compile(r"^\s*(?:class|struct|namespace)\s+(\w+)", re.M)
COMMENT = {".h": "//", ".cpp": "//", ".c": "//", ".cu": "//", ".td": "//", ".proto": "//",
           ".cmake": "#", ".sh": "#!"}


def every_folder_has_a_readme(tree):
    """Folders of one test suite (test/unit/solver) are described by the suite's README."""
    folders = {os.path.dirname(f) for f in tree.files if f.endswith(CODE + SCRIPTS)}
    for folder in sorted(folders):
        described = "/".join(folder.split("/")[:2]) if folder.startswith("test/") else folder
        if f"{described}/README.md" not in tree.files and folder != "tools":
            yield f"{folder}: has sources but no {described}/README.md"


def the_top_level_holds_nothing_else(tree):
    """Ignores build folders and hidden files."""
    for name in sorted(os.listdir(tree.root)):
        if name not in TOP_LEVEL and not name.startswith((".", "build")) and tree.is_kept(name):
            yield f"{name}: the top level holds {', '.join(sorted(TOP_LEVEL))} and nothing else"


def every_file_begins_with_a_comment(tree):
    """Except a source with a header of the same name, which has the comment."""
    for path in tree.files:
        stem, ending = os.path.splitext(path)
        mark = COMMENT.get(ending)
        if ending == ".cpp" and f"{stem}.h" in tree.files:
            continue
        if mark and not tree.text(path).startswith(mark):
            yield f"{path}: does not begin with a comment on its contents"


def names_are_meaningful(tree):
    for path in tree.files:
        stem = os.path.splitext(path)[0]
        names = re.split(r"[/_.-]", stem)
        if path.endswith(CODE):
            names += DECLARATION.findall(tree.text(path))
        for name in names:
            for word in WORD.findall(name):
                if EMPTY_WORDS.match(word):
                    yield f"{path}: the name {name} has no meaning; name the contents"


LINK = re.compile(r"\[[^\]]+\]\(([^)#\s]+)[^)]*\)")


def links_are_valid(tree):
    """Links of Markdown files to files of the tree."""
    for path in tree.documents:
        for link in LINK.findall(tree.text(path)):
            target = os.path.normpath(os.path.join(os.path.dirname(path), link))
            if "://" not in link and not os.path.exists(os.path.join(tree.root, target)):
                yield f"{path}: links to {link}, which does not exist"


RULES = [the_top_level_holds_nothing_else, every_folder_has_a_readme, every_file_begins_with_a_comment,
         names_are_meaningful, links_are_valid]
