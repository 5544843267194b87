"""The tools as commands of an environment into which the package was installed: each becomes the tool of its name."""

import os
import pathlib
import sys

from .errors import NotInstalled
from .tools import find


def main() -> None:
    """Executes the tool with the name of this command."""
    name = pathlib.Path(sys.argv[0]).name
    try:
        tool = find(name, in_path=False)  # where this command itself lies
    except NotInstalled as error:
        sys.exit(f"{name}: error: {error}")
    os.execv(tool, [str(tool), *sys.argv[1:]])
