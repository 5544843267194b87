"""Writes what MkDocs reads: the pages with their links to files of the repository, and the navigation.

    stage.py FOLDER [--index SITE]

Pages are README.md, docs, and the README.md files of folders that they link to. A link to a folder becomes one to its README.md, or to that of the
folder around it. Other files that pages link to are copied. With --index it writes the search index of a built SITE as a script, too."""

import argparse
import json
import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<=\]\()([^)#\s]+)")
# Sections and their pages; a folder is its README.md, then the pages that it lists, then the others.
NAVIGATION = {
    "Tutorials": ["docs/tutorials", "docs/notebooks"],
    "How-to guides": ["docs/howto"],
    "Reference": ["docs/interface.md", "docs/trust.md", "docs/predicted-beside-published.md", "docs/generated"],
    "Design": ["docs/tour.md", "docs/architecture.md", "docs/decisions"],
}


def target_of(link, page):
    """The file of the repository that a link means, or None."""
    place = pathlib.Path(os.path.normpath((ROOT / page).parent / link))
    if "://" in link or not place.is_relative_to(ROOT) or not place.exists():
        return None
    while place.is_dir():
        place = place / "README.md" if (place / "README.md").exists() else place.parent
    return place.relative_to(ROOT)


def stage(page, folder):
    """Copies a page with its links turned into links to files; returns these."""
    linked = []

    def turn(match):
        target = target_of(match[1], page)
        if target is None:
            return match[1]
        linked.append(target)
        return os.path.relpath(target, page.parent)

    text = LINK.sub(turn, (ROOT / page).read_text(encoding="utf-8"))
    (folder / page).parent.mkdir(parents=True, exist_ok=True)
    (folder / page).write_text(text, encoding="utf-8")
    return linked


def stage_all(folder):
    """Stages all pages; returns them."""
    waiting = [pathlib.Path("README.md"), *(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))]
    staged = set()
    while waiting:
        path = waiting.pop()
        if path in staged:
            continue
        staged.add(path)
        if path.suffix == ".md":
            waiting += stage(path, folder)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, folder / path)
    return sorted(path for path in staged if path.suffix == ".md")


def pages_of(folder):
    """The pages of a folder in the order of its README.md."""
    index = ROOT / folder / "README.md"
    listed = LINK.findall(index.read_text(encoding="utf-8")) if index.exists() else []
    names = dict.fromkeys(["README.md"] * index.exists() + listed + sorted(path.name for path in (ROOT / folder).glob("*.md")))
    return [f"{folder}/{name}" for name in names if name.endswith(".md") and "/" not in name]


def navigation(pages):
    """Sections with their pages; those of no section are the last one."""
    sections = {title: [page for place in places for page in (pages_of(place) if (ROOT / place).is_dir() else [place])]
                for title, places in NAVIGATION.items()}
    listed = {"README.md", *(page for inside in sections.values() for page in inside)}
    sections["Folders"] = [str(page) for page in pages if str(page) not in listed]
    return ["README.md", *({title: inside} for title, inside in sections.items())]


def write_index(site):
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    (site / "search/search_index.js").write_text(f"setSearchIndex({index})", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--index", metavar="SITE", type=pathlib.Path)
    options = parser.parse_args()
    if options.index:
        return write_index(options.index)
    pages = stage_all(options.folder / "pages")
    # MkDocs' files are YAML, of which JSON is a part.
    here = ROOT / "tools/docs"
    settings = {"INHERIT": str(here / "mkdocs.yml"), "docs_dir": "pages", "nav": navigation(pages), "theme": {"custom_dir": str(here / "overrides")}}
    (options.folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")


if __name__ == "__main__":
    main()
