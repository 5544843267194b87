"""Finding and calling the tools of Cleave.

Every option of a tool can be given as a keyword argument, so that new options need no change of this package: `save_every=10` is
`--save-every 10`, `shuffle=True` is `--shuffle`, a list or a dictionary gives the option once per element (`set={"batch": 8}` is
`--set batch=8`), and None or False leaves it away.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import warnings
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional

from .errors import Error, NotInstalled, Warning, error_of

# The Debian packages of the libraries that the tools load.
LIBRARY_PACKAGES = {"libMLIR": "libmlir-22", "libLLVM": "libllvm22", "libprotobuf": "libprotobuf32", "libdnnl": "libdnnl2",
                    "libgloo": "libgloo0", "libsodium": "libsodium23", "libgomp": "libgomp1", "libz.": "zlib1g",
                    "libjpeg": "libjpeg62-turbo", "libpng": "libpng16-16", "libmimalloc": "libmimalloc2.0", "libibverbs": "libibverbs1",
                    "libstdc++": "libstdc++6"}
# Options that take all pairs of a dictionary at once.
JOINED = {"mesh"}
LABELLED = re.compile(r"(?:(cleave-\w+): )?(remark|warning|note|error): (.*)")


class Answer(NamedTuple):
    """What a tool said: its standard output and error, and the lines of the latter by kind."""

    out: str
    err: str
    remarks: List[str]


def find(name: str, in_path: bool = True) -> pathlib.Path:
    """The executable of a tool: in the folder CLEAVE_BIN of the environment, in this package, in the build folder of the repository
    around this package, or in PATH if `in_path`."""
    package = pathlib.Path(__file__).resolve().parent
    folders = [package / "bin", package.parent.parent.parent / "build" / "bin"]
    if os.environ.get("CLEAVE_BIN"):
        folders = [pathlib.Path(os.environ["CLEAVE_BIN"])]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    elsewhere = shutil.which(name) if in_path and not os.environ.get("CLEAVE_BIN") else None
    if elsewhere:
        return pathlib.Path(elsewhere)
    raise NotInstalled(f"found no {name} in {' or '.join(map(str, folders))}, expected the tools of Cleave; build them with "
                       "tools/build.sh, or set CLEAVE_BIN to their folder")


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _values(name: str, value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        pairs = [f"{key}={_text(element)}" for key, element in value.items()]
        return [",".join(pairs)] if name in JOINED else pairs
    if isinstance(value, (list, tuple)):
        return map(_text, value)
    return [_text(value)]


def option_words(options: Mapping[str, Any]) -> List[str]:
    """The command-line words of keyword arguments."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
            continue
        for text in _values(name, value):
            # One word, so that a value may begin with a dash.
            words.append(f"{flag}={text}")
    return words


def read_lines(err: str) -> Dict[str, List[str]]:
    """The messages on standard error by kind: error, warning, remark, note. A line without a kind continues the one before."""
    found: Dict[str, List[str]] = {"error": [], "warning": [], "remark": [], "note": []}
    last: Optional[List[str]] = None
    for line in err.splitlines():
        match = LABELLED.match(line)
        if match:
            last = found[match.group(2)]
            last.append(match.group(3))
        elif last:
            last[-1] += "\n" + line
    return found


def missing_library(err: str) -> Optional[str]:
    """What the dynamic loader misses, as a message with a way out."""
    match = re.search(r"error while loading shared libraries: (\S+): (.*)", err)
    if not match:
        return None
    library = match.group(1)
    package = next((deb for start, deb in LIBRARY_PACKAGES.items() if library.startswith(start)), None)
    way_out = f"install it, on Debian with `apt-get install {package}`" if package else "install the library"
    return f"found no {library} on this machine ({match.group(2)}), which Cleave's tools need; {way_out}"


def raise_for(tool: str, code: int, err: str) -> None:
    """Raises the exception of a tool that failed."""
    if code == 0:
        return
    missing = missing_library(err)
    if missing:
        raise NotInstalled(missing, code, err)
    errors = read_lines(err)["error"]
    ending = f"signal {-code}" if code < 0 else f"exit code {code}"
    raise error_of(tool, code, errors[-1] if errors else f"{tool} ended with {ending}: {err.strip()[-2000:]}", err)


def warn(texts: Iterable[str], level: int = 3) -> None:
    for text in texts:
        warnings.warn(text, Warning, stacklevel=level)


def call(tool: str, *arguments: Any, verbose: bool = False, **options: Any) -> Answer:
    """Calls a tool, for example `call("cleave-calibrate", seconds=3)`, and returns what it said. Its warnings become warnings of
    Python, its failures exceptions; `verbose` prints what it says."""
    command = [str(find(tool)), *map(_text, arguments), *option_words(options)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        raise NotInstalled(f"cannot execute {command[0]}: {error.strerror}") from error
    if verbose:
        print(done.stdout + done.stderr, end="")
    raise_for(tool, done.returncode, done.stderr)
    said = read_lines(done.stderr)
    warn(said["warning"], level=4)
    return Answer(done.stdout, done.stderr, said["remark"])


__all__ = ["Answer", "Error", "call", "find", "option_words"]
