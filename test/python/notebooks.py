"""Executes the notebooks of docs/notebooks: with nbclient where it is installed, else their cells in order.

A cell fails if it raises. What the last expression of a cell shows in a notebook is made, too.
"""

import ast
import json
import pathlib
import sys

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: found no PyTorch in this Python, which the notebooks need; -DCLEAVE_PYTHON=… gives another")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs/notebooks"


def execute_by_nbclient(path):
    """Executes a notebook in a kernel of its own; false without nbclient and such a kernel."""
    try:
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    except ImportError:
        return False
    nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=600, kernel_name="python3").execute()
    return True


def show(value):
    if value is not None:
        print(value._repr_html_()[:200] if hasattr(value, "_repr_html_") else repr(value))


def execute_cells(path):
    names = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}, cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
        if last:
            show(eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names))


def main():
    notebooks = sorted(FOLDER.glob("*.ipynb"))
    assert notebooks, f"found no notebook in {FOLDER}"
    for path in notebooks:
        print(f"== {path.name}", flush=True)
        if not execute_by_nbclient(path):
            execute_cells(path)
    for path in notebooks:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), f"{path.name} has outputs, expected none; clear them before a commit"


if __name__ == "__main__":
    main()
