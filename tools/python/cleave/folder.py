"""Temporary folders that live as long as the objects that hold them."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
import weakref


class Folder:
    """A new folder, removed with its files when the last reference to this object goes, or Python ends."""

    def __init__(self, name: str):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"cleave-{name}-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
