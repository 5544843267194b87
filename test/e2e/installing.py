"""An installation trains without its build: `cmake --install`, and the Debian package of `cpack -G DEB` unpacked into an empty folder."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import cleave

BUILD = cleave.BIN.resolve().parent
# Libraries that an installation leaves to the system.
SYSTEM = r"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|ibverbs|nl-3|nl-route-3)\.so"


def output_of(*command, **how):
    """The standard output of a command that has to succeed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


class Installation:
    """Tests of the files below `root`, which a class sets."""

    root = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.install()

    def test_a_training_with_nothing_of_the_build_in_reach(self):
        here = self.folder / "empty"
        here.mkdir()
        command = [self.root / "bin/cleave"]
        clean = {"PATH": "/usr/bin:/bin", "HOME": str(here)}
        options = map(str, cleave.compile_options(cleave.MLP["model"], "-o", "mlp.plan", ranks=2))
        output_of(*command, "compile", *options, cwd=here, env=clean)
        said = output_of(*command, "run", "mlp.plan", "--data", cleave.MLP["data"], "--steps", 20, "--threads", 1, cwd=here, env=clean)
        self.assertIn("20 steps in ", said)

    def test_all_libraries_but_those_of_the_system_are_installed(self):
        tools = list((self.root / "bin").iterdir())
        self.assertGreater(len(tools), 8)
        for tool in tools:
            for library, place in re.findall(r"^\s(\S+)(?: => (.*))? \(0x", output_of("ldd", tool), re.M):
                inside = place.startswith(f"{self.root}/")
                self.assertTrue(inside or re.match(SYSTEM, Path(library).name), f"{tool} loads {library} from {place}")

    def test_the_linker_starts_without_llvm(self):
        self.assertIn("LLD", output_of(self.root / "lib/cleave/bin/ld.lld", "--version", env={"PATH": "/usr/bin:/bin"}))

    def test_every_library_has_its_licence(self):
        self.assertIn("lld", os.listdir(self.root / "lib/cleave/licences"))
        self.assertGreater(len(os.listdir(self.root / "lib/cleave/licences")), 15)

    def test_shells_and_man_find_their_files(self):
        for file in ("bash-completion/completions/cleave-run", "zsh/vendor-completions/_cleave-run", "man/man1/cleave-run.1"):
            self.assertTrue((self.root / "share" / file).is_file(), file)


@unittest.skipIf(cleave.SANITIZED, "installed tools are not sanitized")
class Prefix(Installation, unittest.TestCase):
    @classmethod
    def install(cls):
        cls.root = cls.folder / "prefix"
        output_of("cmake", "--install", BUILD, "--strip", "--prefix", cls.root)


@unittest.skipIf(cleave.SANITIZED or not shutil.which("dpkg-deb"), "found sanitized tools, or no dpkg-deb")
class Package(Installation, unittest.TestCase):
    @classmethod
    def install(cls):
        output_of("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", cls.folder / "package")
        [cls.package] = (cls.folder / "package").glob("cleave_*.deb")
        output_of("dpkg-deb", "-x", cls.package, cls.folder / "unpacked")
        cls.root = cls.folder / "unpacked/usr"

    def test_it_depends_on_what_it_leaves_to_the_system(self):
        depends = output_of("dpkg-deb", "--field", self.package, "Depends")
        self.assertEqual([word.split()[0] for word in depends.split(", ")], ["libc6", "libstdc++6", "libgcc-s1", "libibverbs1"])
        self.assertRegex(depends, r"libc6 \(>= 2\.\d+\), libstdc\+\+6 \(>= \d+\)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
